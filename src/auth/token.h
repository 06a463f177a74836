/*
 * token.h - asking for a token, and reading the answer (OAuth 2.1 3.2).
 */
#ifndef FL_AUTH_TOKEN_H
#define FL_AUTH_TOKEN_H

#include "auth/metadata.h"
#include "auth/record.h"
#include "io/signer.h"

/* Who asks. */
typedef struct fl_token_client {
    fl_span id; /* {NULL, 0}: nobody */
    fl_span secret;
    fl_client_method method;
    const fl_signer *key; /* for FL_METHOD_JWT */
    fl_span audience;     /* likewise: the issuer */
} fl_token_client;

/* Adds to the form, or appends the value of Authorization to `basic`. */
FL_MUST_USE fl_status fl_token_identify(const fl_token_client *client,
                                        int64_t now, fl_buf *form,
                                        fl_buf *basic);

/* The forms, without who asks. Spans that are {NULL, 0} are left out. */
FL_MUST_USE fl_status fl_token_form_code(fl_span code, fl_span verifier,
                                         fl_span redirect_uri, fl_span resource,
                                         fl_buf *form);
FL_MUST_USE fl_status fl_token_form_refresh(fl_span token, fl_span resource,
                                            fl_buf *form);
FL_MUST_USE fl_status fl_token_form_client(fl_span scope, fl_span resource,
                                           fl_buf *form);
FL_MUST_USE fl_status fl_token_form_assertion(fl_span assertion, fl_span scope,
                                              fl_span resource, fl_buf *form);
/* RFC 8693: an identity token for one that an authorization server takes. */
FL_MUST_USE fl_status fl_token_form_exchange(fl_span id_token, fl_span audience,
                                             fl_span scope, fl_span resource,
                                             fl_buf *form);

/*
 * Notes the tokens of a good answer in `record`, in place of those there. An
 * answer without a new refresh token leaves the old one, one without a scope
 * means `asked`. FL_E_REMOTE: there is no token in it.
 */
FL_MUST_USE fl_status fl_token_read(fl_span json, fl_span asked, int64_t now,
                                    fl_record *record, fl_error *error);

/* What the answer to an exchange carries, into a slot. */
FL_MUST_USE fl_status fl_token_read_exchange(fl_span json, char **slot,
                                             fl_error *error);

/* "invalid_grant": the error code of a bad answer; "" if it has none. */
enum { FL_TOKEN_ERROR = 64 };
void fl_token_read_error(fl_span json, char code[FL_TOKEN_ERROR]);

/* Whether it is time to have a new one: a while before it runs out. */
bool fl_token_is_stale(const fl_record *record, int64_t now);

#endif
