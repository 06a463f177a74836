/*
 * jwt.h - the two kinds of JSON Web Token that a client signs.
 */
#ifndef FL_AUTH_JWT_H
#define FL_AUTH_JWT_H

#include "base/buf.h"
#include "io/signer.h"

/* Appends a token that says who the client is (RFC 7523 2.2): good for a few
 * minutes, at one authorization server. */
FL_MUST_USE fl_status fl_jwt_assertion(const fl_signer *signer,
                                       fl_span client_id, fl_span audience,
                                       int64_t now, fl_buf *out);

/* What a proof is for. */
typedef struct fl_dpop_use {
    fl_span method;
    fl_span url;   /* its query is left out */
    fl_span token; /* shown with it; {NULL, 0}: none */
    fl_span nonce; /* as the server wants it; {NULL, 0}: none */
} fl_dpop_use;

/* Appends a proof that whoever sends a request holds the key (RFC 9449 4).
 * Each one is for one request. */
FL_MUST_USE fl_status fl_dpop_proof(const fl_signer *signer,
                                    const fl_dpop_use *use, int64_t now,
                                    fl_buf *out);

#endif
