/*
 * code.h - asking a user: the authorization request, and what came back
 * (OAuth 2.1 4.1, PKCE RFC 7636, RFC 8707, RFC 9207).
 */
#ifndef FL_AUTH_CODE_H
#define FL_AUTH_CODE_H

#include "auth/metadata.h"
#include "base/buf.h"

enum { FL_CODE_SECRET = 44 }; /* 32 random bytes as text, and a NUL */

/* One question, from its asking to its answer. */
typedef struct fl_code {
    char verifier[FL_CODE_SECRET];
    char state[FL_CODE_SECRET];
} fl_code;

typedef struct fl_code_ask {
    fl_span endpoint;
    fl_span client_id;
    fl_span redirect_uri;
    fl_span scope;    /* {NULL, 0}: none */
    fl_span resource; /* {NULL, 0}: none */
    fl_span dpop_jkt; /* {NULL, 0}: none */
} fl_code_ask;

/* New secrets. */
FL_MUST_USE fl_status fl_code_begin(fl_code *code);
void fl_code_end(fl_code *code);

/* Appends the URL for the user. */
FL_MUST_USE fl_status fl_code_url(const fl_code *code, const fl_code_ask *ask,
                                  fl_buf *out);

/* Whether who came back there was sent by this question. */
bool fl_code_is_answered(const fl_code *code, fl_span redirected);

/*
 * Reads where the user came back to. FL_OK: `*out` is the code. FL_E_DENIED:
 * it is not the answer to this question, or says no; then `error` says why.
 */
FL_MUST_USE fl_status fl_code_read(const fl_code *code, const fl_as *as,
                                   fl_span redirected, char **out,
                                   fl_error *error);

#endif
