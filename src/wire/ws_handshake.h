/*
 * ws_handshake.h - how an HTTP request becomes a WebSocket (RFC 6455 4), and
 * how a stream of HTTP/2 does (RFC 8441).
 *
 * The accept value is a digest, and digests are io/'s: what is to be digested
 * is made here, and the result is given to whoever asks.
 */
#ifndef FL_WIRE_WS_HANDSHAKE_H
#define FL_WIRE_WS_HANDSHAKE_H

#include "wire/http.h"

enum {
    FL_WS_KEY = 25,          /* 16 random bytes in base64, and a NUL */
    FL_WS_ACCEPT = 29,       /* a SHA-1 in base64, and a NUL */
    FL_WS_ACCEPT_INPUT = 60, /* the key and a constant, no NUL */
    FL_WS_SHA1 = 20,
};

/* Whether a request wants to become a WebSocket: Upgrade names it, or it is a
 * CONNECT with that :protocol. It may still do so wrongly. */
bool fl_ws_wanted(const fl_head *head);

/* 0, or the status to refuse with: 400, 405 (a method other than GET), 426 (a
 * version other than 13). `what` is static text. */
unsigned fl_ws_refused(const fl_head *head, const char **what);

/* What to digest for Sec-WebSocket-Accept; `key` is 24 characters long. */
void fl_ws_accept_input(fl_span key, char out[FL_WS_ACCEPT_INPUT]);
void fl_ws_accept_text(const unsigned char sha1[FL_WS_SHA1],
                       char out[FL_WS_ACCEPT]);

/* The first of `known` (NULL-terminated, best first) that the request offers
 * in any line of Sec-WebSocket-Protocol; {NULL, 0} when it offers none. */
fl_span fl_ws_choose_protocol(const fl_head *head, const char *const *known);

/* All lines of a field of the head, joined with commas. FL_E_NOMEM. */
FL_MUST_USE fl_status fl_ws_join(const fl_head *head, fl_field_id id,
                                 fl_buf *out);

/* Client: from 16 random bytes. */
void fl_ws_key_text(const unsigned char random[16], char out[FL_WS_KEY]);

/* Client: NULL, or what is wrong with a response of status 101. `accept` is
 * the value it must have, `offered` the subprotocols we named (may be NULL);
 * the one that was chosen, or {NULL, 0}, goes to `protocol`. Extensions are
 * looked at by fl_ws_settle(). */
const char *fl_ws_check_response(const fl_head *head, fl_span accept,
                                 const char *const *offered, fl_span *protocol);

#endif
