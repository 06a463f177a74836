/*
 * http1_server.h - the server's side of an HTTP/1.1 connection, as its two
 * halves share it: http1_server.c hears, http1_answer.c speaks.
 */
#ifndef FL_WIRE_HTTP1_SERVER_H
#define FL_WIRE_HTTP1_SERVER_H

#include "wire/http1.h"
#include "wire/http1_out.h"

#include <assert.h>

typedef struct fl_http1_server {
    fl_http1 base;
    fl_exchange exchange;
    const fl_head *head;
    fl_http1_out out;
    uint8_t version;     /* of the request */
    bool open : 1;       /* the exchange is */
    bool no_body : 1;    /* HEAD: the answer has none */
    bool keep_alive : 1; /* the peer is ready for it */
    bool expects : 1;    /* the peer waits for a 100 before it sends its body */
    bool closing : 1;    /* the connection ends with the exchange in hand */
    bool upgraded : 1;   /* 101: what follows is not HTTP */
    bool busy : 1;       /* on_writable is owed */
    bool feeding : 1;    /* within feed(), which will go on by itself */
    bool full : 1;       /* as much is held as may be */
    bool stopped : 1;    /* the exchange's owner will have no more for now */
    bool paused : 1;     /* on_pause was said, for either reason */
    bool waiting : 1;    /* on_held was said */
    bool ended : 1;      /* the peer's side has */
    bool shut : 1;       /* ours will, after this exchange */
} fl_http1_server;

static_assert(sizeof(fl_http1_server) <= 152, "an idle connection stays small");

/* Says on_pause if there is a reason now, or none any more. */
void fl_http1_server_balance(fl_http1_server *s);

/* For the ops table. */
FL_MUST_USE fl_status fl_http1_server_respond(fl_exchange *exchange,
                                              const fl_heading *heading);
FL_MUST_USE fl_status fl_http1_server_send(fl_exchange *exchange,
                                           const fl_span *parts, size_t count,
                                           bool urgent);
FL_MUST_USE fl_status fl_http1_server_answer(fl_exchange *exchange,
                                             const fl_heading *heading,
                                             const fl_span *parts,
                                             size_t count);
void fl_http1_server_finish(fl_exchange *exchange);
void fl_http1_server_reset(fl_exchange *exchange);
void fl_http1_server_pause(fl_exchange *exchange, bool paused);

#endif
