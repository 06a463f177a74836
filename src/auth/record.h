/*
 * record.h - what an authorization comes to, and what of it is kept: who we
 * are at which authorization server, and the tokens it gave us.
 *
 * All of it belongs together. A client_id is good at the issuer that gave it
 * and nowhere else, and so are the tokens; when the issuer changes, the record
 * is emptied.
 */
#ifndef FL_AUTH_RECORD_H
#define FL_AUTH_RECORD_H

#include "base/buf.h"

/* name, key in the stored text */
#define FL_RECORD_MAP(X)                                                       \
    X(SERVER, "server") /* the URL it is for */                                \
    X(ISSUER, "issuer")                                                        \
    X(CLIENT_ID, "client_id")                                                  \
    X(CLIENT_SECRET, "client_secret")                                          \
    X(METHOD, "token_endpoint_auth_method")                                    \
    X(REDIRECT, "redirect_uri")                                                \
    X(ENDPOINT, "token_endpoint")                                              \
    X(RESOURCE, "resource")                                                    \
    X(ACCESS, "access_token")                                                  \
    X(REFRESH, "refresh_token")                                                \
    X(TYPE, "token_type") /* "Bearer" or "DPoP" */                             \
    X(SCOPE, "scope")     /* what was asked for, or granted */                 \
    X(KEY, "dpop_key")    /* PEM */

typedef enum fl_record_slot {
#define FL_RECORD_ENUM(name, key) FL_RECORD_##name,
    FL_RECORD_MAP(FL_RECORD_ENUM)
#undef FL_RECORD_ENUM
        FL_RECORD_COUNT
} fl_record_slot;

typedef struct fl_record {
    char *text[FL_RECORD_COUNT]; /* NULL: not known */
    int64_t expires;             /* of the access token, unix; 0: not known */
    int64_t renew;               /* and when to have a new one; 0: never */
} fl_record;

enum { FL_RECORD_MAX = 256 * 1024 };

FL_MUST_USE fl_status fl_record_set(fl_record *record, fl_record_slot slot,
                                    fl_span text);
fl_span fl_record_get(const fl_record *record, fl_record_slot slot);

/* Wiped. The second forgets the tokens and stays who it is. */
void fl_record_clear(fl_record *record);
void fl_record_drop_tokens(fl_record *record);

/* Says that it will be of this issuer from now on: empty, if it was another's,
 * but for the server and the key. */
FL_MUST_USE fl_status fl_record_bind(fl_record *record, fl_span issuer);

/* As JSON text. Reading replaces what was there; FL_E_BAD_JSON: it stays. */
FL_MUST_USE fl_status fl_record_write(const fl_record *record, fl_buf *out);
FL_MUST_USE fl_status fl_record_read(fl_record *record, fl_span json);

#endif
