/*
 * http_front.c - HTTP around one function, for drivers.
 */
#include "http_front.h"

#include "base/mem.h"
#include "base/span.h"
#include "io/acceptor.h"

#include <fairlead/loop.h>

#include <stdio.h>
#include <stdlib.h>

enum { BODY_MAX = 16 << 20, FLUSH_MS = 1000 };

typedef struct front {
    http_front_fn *serve;
    fl_span content_type;
    fl_loop *loop;
} front;

typedef struct conn {
    front *front;
    fl_stream *stream;
    fl_http *http; /* NULL until the version is known */
    fl_buf first;
    bool closing;
} conn;

static void feed_held(void *user)
{
    conn *c = user;

    if (!c->closing)
        fl_http_feed(c->http, (fl_span){0});
}

static fl_status write_out(void *user, const fl_span *parts, size_t count,
                           bool urgent)
{
    conn *c = user;

    return urgent ? fl_stream_write_urgent(c->stream, parts, count)
                  : fl_stream_write(c->stream, parts, count);
}

static void answer(conn *c, fl_exchange *exchange, unsigned status,
                   fl_span body)
{
    fl_field field = FL_FIELD_SET(CONTENT_TYPE, c->front->content_type);
    fl_heading heading = {.status = status, .fields = &field, .count = 1};

    if (fl_exchange_answer(exchange, &heading, &body, body.len > 0 ? 1 : 0) !=
        FL_OK)
        fl_exchange_reset(exchange);
}

static void on_head(fl_exchange *exchange, const fl_head *head, void *user)
{
    fl_buf *body = fl_mem_alloc(sizeof *body);

    (void)head;
    (void)user;
    fl_exchange_set_user(exchange, body);
    if (body == NULL)
        fl_exchange_reset(exchange);
    else
        fl_buf_init(body, BODY_MAX);
}

static void drop(fl_buf *body)
{
    fl_buf_reset(body);
    fl_mem_free(body);
}

static void on_body(fl_exchange *exchange, fl_span bytes, void *user)
{
    fl_buf *body = fl_exchange_user(exchange);

    if (fl_buf_append(body, bytes) == FL_OK)
        return;
    answer(user, exchange, 413, FL_SPAN("too large\n"));
    drop(body);
}

static void on_end(fl_exchange *exchange, void *user)
{
    conn *c = user;
    fl_buf *body = fl_exchange_user(exchange);
    fl_buf text;

    fl_buf_init(&text, 2 * BODY_MAX);
    unsigned status =
        c->front->serve(fl_exchange_head(exchange), fl_buf_view(body), &text);
    answer(c, exchange, status, fl_buf_view(&text));
    fl_buf_reset(&text);
    drop(body);
}

static void on_bad(fl_exchange *exchange, unsigned status, const char *what,
                   void *user)
{
    fl_buf *body = fl_exchange_user(exchange); /* its request had begun */

    answer(user, exchange, status, fl_span_of(what));
    if (body != NULL)
        drop(body);
}

static void on_lost(fl_exchange *exchange, const fl_error *why, void *user)
{
    fl_buf *body = fl_exchange_user(exchange);

    (void)why;
    (void)user;
    if (body != NULL)
        drop(body);
}

static void on_writable(fl_exchange *exchange, void *user)
{
    (void)exchange;
    (void)user;
}

static void on_pause(bool paused, void *user)
{
    fl_stream_pause(((conn *)user)->stream, paused);
}

static void on_held(void *user)
{
    conn *c = user;

    if (fl_loop_post(c->front->loop, feed_held, c) != FL_OK)
        fl_stream_close(c->stream);
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
    .on_lost = on_lost,
    .on_writable = on_writable,
    .on_pause = on_pause,
    .on_held = on_held,
    .on_over = on_over,
};

static void on_data(void *user, fl_span bytes)
{
    conn *c = user;
    fl_status rc = FL_OK;

    if (c->http != NULL) {
        fl_http_feed(c->http, bytes);
        return;
    }
    rc = fl_buf_append(&c->first, bytes);
    fl_http_options options = {
        .version = fl_http_sniff(fl_buf_view(&c->first)),
        .events = &http_events,
        .user = c,
    };
    if (rc == FL_OK && options.version == 0)
        return;
    if (rc != FL_OK || fl_http_new(&options, &c->http) != FL_OK)
        fl_stream_close(c->stream);
    else
        fl_http_feed(c->http, fl_buf_view(&c->first));
    fl_buf_reset(&c->first);
}

static void on_end_of_input(void *user, const fl_error *why)
{
    conn *c = user;

    if (c->http != NULL && why->status == FL_END)
        fl_http_end_input(c->http);
    if (!c->closing)
        fl_stream_close_after_flush(c->stream, FLUSH_MS);
    c->closing = true;
}

static void on_drain(void *user)
{
    conn *c = user;

    if (c->http != NULL)
        fl_http_drained(c->http);
}

static void on_closed(void *user)
{
    conn *c = user;
    fl_error why = {.status = FL_E_CLOSED};

    if (c->http != NULL)
        fl_http_lose(c->http, &why);
    fl_http_free(c->http);
    fl_buf_reset(&c->first);
    fl_mem_free(c);
}

static void on_open(void *user)
{
    (void)user;
}

static const fl_stream_events stream_events = {
    .on_open = on_open,
    .on_data = on_data,
    .on_end = on_end_of_input,
    .on_drain = on_drain,
    .on_closed = on_closed,
};

static void on_accept(void *user, fl_stream *stream, const char *address)
{
    conn *c = fl_mem_zalloc(sizeof *c);

    (void)address;
    if (c == NULL) {
        fl_stream_close(stream);
        return;
    }
    c->front = user;
    c->stream = stream;
    fl_buf_init(&c->first, 1 << 20);
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

int http_front_run(const char *port, const char *content_type,
                   http_front_fn *serve)
{
    front f = {
        .serve = serve,
        .content_type = fl_span_of(content_type),
        .loop = fl_loop_new(),
    };
    fl_acceptor_options options = {
        .host = "127.0.0.1",
        .port = (uint16_t)strtoul(port, NULL, 10),
    };
    fl_acceptor *acceptor;
    fl_error error;

    if (f.loop == NULL || fl_acceptor_open(f.loop, &options, &acceptor_events,
                                           &f, &acceptor, &error) != FL_OK) {
        fprintf(stderr, "cannot listen on port %s\n", port);
        return 1;
    }
    printf("%u\n", fl_acceptor_port(acceptor));
    fflush(stdout);
    fl_loop_run(f.loop);
    return 0;
}
