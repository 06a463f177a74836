/*
 * ws-echo.c - ws-echo PORT [--max BYTES]: a WebSocket server that says back
 * what it hears, for suites that test how frames are read and written.
 *
 * What comes before the frames is the library's HTTP/1.1 and its handshake;
 * any other request is told that it should be one.
 */
#include "ws_echo.h"

#include "base/mem.h"
#include "base/span.h"
#include "io/acceptor.h"
#include "wire/ws_handshake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 64 * 1024 * 1024, FLUSH_MS = 1000, OFFERS_MAX = 4096, USAGE = 2 };

typedef struct conn {
    ws_shop *shop;
    fl_stream *stream;
    fl_http *http;
    ws_echo echo;
    bool open; /* it is a WebSocket now */
    bool closing;
} conn;

static fl_status write_out(void *user, const fl_span *parts, size_t count,
                           bool urgent)
{
    conn *c = user;

    return urgent ? fl_stream_write_urgent(c->stream, parts, count)
                  : fl_stream_write(c->stream, parts, count);
}

static void refuse(fl_exchange *exchange, unsigned status, const char *what)
{
    const fl_field fields[] = {
        FL_FIELD_SET(CONTENT_TYPE, FL_SPAN("text/plain")),
        FL_FIELD_SET(UPGRADE, FL_SPAN("websocket")),
        FL_FIELD_SET(SEC_WEBSOCKET_VERSION, FL_SPAN("13")),
    };
    const fl_heading heading = {.status = status,
                                .fields = fields,
                                .count = status == 426 ? 3 : 1,
                                .close = true};
    const fl_span body = fl_span_of(what);

    if (fl_exchange_answer(exchange, &heading, &body, 1) != FL_OK)
        fl_exchange_reset(exchange);
}

static fl_status say_yes(fl_exchange *exchange, fl_span accept, fl_span chosen)
{
    const fl_field fields[] = {
        FL_FIELD_SET(UPGRADE, FL_SPAN("websocket")),
        {FL_SPAN("sec-websocket-accept"), accept, FL_FIELD_OTHER},
        FL_FIELD_SET(SEC_WEBSOCKET_EXTENSIONS, chosen),
    };
    const fl_heading heading = {
        .status = 101, .fields = fields, .count = chosen.len > 0 ? 3 : 2};

    return fl_exchange_answer(exchange, &heading, NULL, 0);
}

static void accept_it(conn *c, fl_exchange *exchange, const fl_head *head)
{
    char accept[FL_WS_ACCEPT];
    fl_ws_agreed agreed = {0};
    fl_buf offers, chosen;

    fl_buf_init(&offers, OFFERS_MAX);
    fl_buf_init(&chosen, OFFERS_MAX);
    if (!ws_echo_accept(fl_head_get(head, FL_FIELD_SEC_WEBSOCKET_KEY),
                        accept) ||
        fl_ws_join(head, FL_FIELD_SEC_WEBSOCKET_EXTENSIONS, &offers) != FL_OK ||
        fl_ws_agree(fl_buf_view(&offers), &c->shop->policy, &agreed, &chosen) !=
            FL_OK ||
        !ws_echo_begin(&c->echo, c->shop, c->stream, &agreed))
        refuse(exchange, 503, "no memory\n");
    else if (say_yes(exchange, fl_span_of(accept), fl_buf_view(&chosen)) ==
             FL_OK)
        c->open = true;
    else
        fl_stream_close(c->stream);
    fl_buf_reset(&chosen);
    fl_buf_reset(&offers);
}

static void on_head(fl_exchange *exchange, const fl_head *head, void *user)
{
    (void)exchange;
    (void)head;
    (void)user;
}

static void on_body(fl_exchange *exchange, fl_span bytes, void *user)
{
    (void)exchange;
    (void)bytes;
    (void)user;
}

static void on_end(fl_exchange *exchange, void *user)
{
    const fl_head *head = fl_exchange_head(exchange);
    const char *what = "only WebSocket is spoken here\n";
    unsigned status = fl_ws_wanted(head) ? fl_ws_refused(head, &what) : 426;

    if (status != 0)
        refuse(exchange, status, what);
    else
        accept_it(user, exchange, head);
}

static void on_bad(fl_exchange *exchange, unsigned status, const char *what,
                   void *user)
{
    (void)user;
    refuse(exchange, status, what);
}

static void on_rest(fl_span bytes, void *user)
{
    conn *c = user;

    if (c->open)
        ws_echo_feed(&c->echo, bytes);
}

static void on_lost(fl_exchange *exchange, const fl_error *why, void *user)
{
    (void)exchange;
    (void)why;
    (void)user;
}

static void on_pause(bool paused, void *user)
{
    fl_stream_pause(((conn *)user)->stream, paused);
}

static void on_held(void *user)
{
    (void)user; /* every request is answered when it is whole */
}

static void on_over(void *user)
{
    conn *c = user;

    c->closing = true;
    fl_stream_close_after_flush(c->stream, FLUSH_MS);
}

static const fl_http_events http_events = {
    .write = write_out,
    .on_head = on_head,
    .on_body = on_body,
    .on_end = on_end,
    .on_bad = on_bad,
    .on_rest = on_rest,
    .on_lost = on_lost,
    .on_pause = on_pause,
    .on_held = on_held,
    .on_over = on_over,
};

static void on_data(void *user, fl_span bytes)
{
    fl_http_feed(((conn *)user)->http, bytes);
}

static void on_end_of_input(void *user, const fl_error *why)
{
    conn *c = user;

    (void)why;
    if (!c->closing)
        fl_stream_close_after_flush(c->stream, FLUSH_MS);
    c->closing = true;
}

static void on_closed(void *user)
{
    conn *c = user;

    fl_http_free(c->http);
    fl_mem_free(c);
}

static const fl_stream_events stream_events = {
    .on_data = on_data,
    .on_end = on_end_of_input,
    .on_closed = on_closed,
};

static void on_accept(void *user, fl_stream *stream, const char *address)
{
    conn *c = fl_mem_zalloc(sizeof *c);
    fl_http_options options = {
        .version = 11, .events = &http_events, .user = c};

    (void)address;
    if (c == NULL || fl_http_new(&options, &c->http) != FL_OK) {
        fl_mem_free(c);
        fl_stream_close(stream);
        return;
    }
    c->shop = user;
    c->stream = stream;
    c->echo.gone = on_closed;
    c->echo.user = c;
    (void)!fl_stream_start(stream, &stream_events, c);
}

static void on_acceptor_closed(void *user)
{
    (void)user;
}

static const fl_acceptor_events acceptor_events = {
    .on_accept = on_accept,
    .on_closed = on_acceptor_closed,
};

static int serve(ws_shop *shop, const char *port)
{
    fl_acceptor_options options = {
        .host = "127.0.0.1",
        .port = (uint16_t)strtoul(port, NULL, 10),
        .limits = shop->limits,
    };
    fl_acceptor *acceptor;
    fl_error error;

    if (fl_acceptor_open(shop->loop, &options, &acceptor_events, shop,
                         &acceptor, &error) != FL_OK) {
        fprintf(stderr, "cannot listen on port %s: %s\n", port, error.text);
        return 1;
    }
    printf("%u\n", fl_acceptor_port(acceptor));
    fflush(stdout);
    fl_loop_run(shop->loop);
    return 0;
}

int main(int argc, char **argv)
{
    ws_shop shop;
    size_t max = MAX;

    if (argc == 4 && strcmp(argv[2], "--max") == 0)
        max = strtoul(argv[3], NULL, 10);
    if ((argc != 2 && argc != 4) || max == 0 || max > (size_t)1 << 30) {
        fprintf(stderr, "usage: ws-echo PORT [--max BYTES]\n");
        return USAGE;
    }
    if (!ws_shop_init(&shop, false, max)) {
        fprintf(stderr, "no memory\n");
        return 1;
    }
    return serve(&shop, argv[1]);
}
