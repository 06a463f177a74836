/*
 * ws_echo.h - one WebSocket that says back what it hears, for drivers.
 *
 * It takes a stream over when the handshake is done. Text and binary messages
 * are echoed, packed if that was agreed on; pings are answered; a close is
 * answered, and then a server hangs up at once and a client waits for that,
 * a second at most. While too much waits to be sent, nothing is read.
 */
#ifndef TESTS_DRIVERS_WS_ECHO_H
#define TESTS_DRIVERS_WS_ECHO_H

#include "io/stream.h"
#include "io/timer.h"
#include "wire/ws.h"

/* What the sockets of one program share. */
typedef struct ws_shop {
    fl_loop *loop;
    fl_ws_settings settings;
    fl_ws_policy policy;
    fl_stream_limits limits; /* for the streams they are to have */
    fl_pool pool;
    fl_buf packed; /* the message being sent */
} ws_shop;

typedef struct ws_echo {
    ws_shop *shop;
    fl_stream *stream;
    fl_ws ws;
    fl_ws_agreed agreed;
    fl_ws_pack *pack;
    fl_buf held; /* input that came before we could take it */
    fl_timer patience;
    bool stopped; /* too much waits to be sent */
    bool over;
    void (*take)(void *user, fl_span message); /* NULL: echo it */
    void (*gone)(void *user);                  /* it may be freed now */
    void *user;
} ws_echo;

/* NULL: no memory for it, or no loop. */
FL_MUST_USE bool ws_shop_init(ws_shop *shop, bool client, size_t max);
void ws_shop_deinit(ws_shop *shop);

/* From here on the stream's events are this socket's; `take`, `gone` and
 * `user` have been set. False: no memory, and nothing has changed. */
FL_MUST_USE bool ws_echo_begin(ws_echo *echo, ws_shop *shop, fl_stream *stream,
                               const fl_ws_agreed *agreed);

/* What came with the handshake. */
void ws_echo_feed(ws_echo *echo, fl_span bytes);

/* What Sec-WebSocket-Accept must say to this key; false: no SHA-1 here. */
FL_MUST_USE bool ws_echo_accept(fl_span key, char accept[29]);

#endif
