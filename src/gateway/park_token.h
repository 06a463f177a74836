/*
 * park_token.h - requestState: what a client of ours carries while its call is
 * parked.
 *
 *     "v1." base64url(body || HMAC-SHA-256(key, body))
 *
 * The call itself stays with us; the token only names it, says until when, and
 * is bound to who was told and what was asked. Nothing in it is secret, so it
 * is signed and not enciphered. The generation goes up with every round: a
 * token is good once.
 */
#ifndef FL_GATEWAY_PARK_TOKEN_H
#define FL_GATEWAY_PARK_TOKEN_H

#include "base/buf.h"
#include "io/digest.h"
#include "rpc/method.h"

enum { FL_PARK_ID = 16, FL_PARK_TOKEN_TEXT = 256 };

typedef enum fl_park_kind {
    FL_PARK_CALL = 1,   /* it is in flight, and waits for answers */
    FL_PARK_REPLAY = 2, /* it was refused until something is done: ask again */
    FL_PARK_POLL = 3,   /* ... which was promised, and takes its time */
} fl_park_kind;

/* Why a token is no good. */
typedef enum fl_park_fault {
    FL_PARK_FINE,
    FL_PARK_TAMPERED,
    FL_PARK_EXPIRED,
    FL_PARK_REPLAYED,
    FL_PARK_MISMATCH, /* another request, or another's */
    FL_PARK_LOST,     /* what it names has gone, or is not ours */
    FL_PARK_FAILED,   /* no memory to find out */
} fl_park_fault;

/* "tampered" and so on: data.reason. */
const char *fl_park_fault_name(fl_park_fault fault);

typedef struct fl_park_key {
    unsigned char secret[FL_SHA256];
    unsigned char gateway[8];
    unsigned char number;
} fl_park_key;

/* A new one, from the system's random source. */
FL_MUST_USE fl_status fl_park_key_make(fl_park_key *key);

typedef struct fl_park_token {
    unsigned char park[FL_PARK_ID];
    uint32_t generation;
    uint64_t issued_ms, expires_ms; /* of the epoch */
    fl_park_kind kind;
    fl_method method;
    unsigned char params[FL_SHA256];
    unsigned char principal[FL_SHA256];
} fl_park_token;

/* Fills in what a token is bound to: params without _meta, inputResponses and
 * requestState, in whatever order they come; and whose they are. FL_E_NOMEM,
 * FL_E_TOO_BIG, FL_E_UNSUPPORTED. */
FL_MUST_USE fl_status fl_park_token_bind(const fl_park_key *key,
                                         fl_method method, fl_span params,
                                         fl_span principal,
                                         fl_park_token *token);

/* Appends the text, at most FL_PARK_TOKEN_TEXT bytes. */
FL_MUST_USE fl_status fl_park_token_write(const fl_park_key *key,
                                          const fl_park_token *token,
                                          fl_buf *out);

/* FL_PARK_FINE: it is ours and of today; what it is bound to is to be judged
 * yet. Otherwise `token` is zeroed. */
fl_park_fault fl_park_token_read(const fl_park_key *key, fl_span text,
                                 uint64_t now_ms, fl_park_token *token);

/* Whether it was made for this request, as fl_park_token_bind() says it. */
fl_park_fault fl_park_token_judge(const fl_park_token *token,
                                  const fl_park_token *bound);

#endif
