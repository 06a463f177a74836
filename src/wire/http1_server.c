/*
 * http1_server.c - the server's side of an HTTP/1.1 connection.
 *
 * One exchange at a time, and it is part of the connection: on a connection
 * that is kept alive, requests come and go without an allocation. The request
 * in hand may be ahead of its answer (its body is still coming when we have
 * finished: it is drained if that is short, or else the connection ends) or
 * behind (it is whole, and what the peer sends after it waits until we have
 * finished).
 *
 * Events are made by run(), which goes on as long as there is input and no
 * exchange in the way. An exchange that is finished from within one of them
 * simply lets the loop go on; one that is finished later asks to be fed.
 */
#include "wire/http1_server.h"

#include "base/mem.h"
#include "base/span.h"

#include <stdio.h>

enum { HELD_EXTRA = 64 * 1024 }; /* beyond a head, before the peer is paused */

typedef fl_http1_server server;

static const fl_http_events *events_of(const server *s)
{
    return s->base.http.events;
}

static void *user_of(const server *s)
{
    return s->base.http.user;
}

/* The exchange is over for its owner, before it was whole. */
static void lose_exchange(server *s, fl_status status, const char *what)
{
    fl_error why = {.status = status};

    if (!s->open)
        return;
    s->open = false;
    s->head = NULL;
    snprintf(why.text, sizeof why.text, "%s", what);
    events_of(s)->on_lost(&s->exchange, &why, user_of(s));
}

static void break_off(server *s, fl_status status, const char *what)
{
    s->base.stage = FL_HTTP1_DEAF;
    lose_exchange(s, status, what);
    fl_http1_end(&s->base);
}

static void begin(server *s)
{
    s->exchange = (fl_exchange){.http = &s->base.http};
    s->out = (fl_http1_out){0};
    s->head = NULL;
    s->version = 11;
    s->open = true;
    s->no_body = s->keep_alive = s->expects = false;
    s->closing = s->upgraded = s->busy = s->stopped = false;
}

/* What came is no request: the peer is told, and not listened to any more. */
static void refuse(server *s, unsigned status, const char *what)
{
    s->base.stage = FL_HTTP1_DEAF;
    s->head = NULL;
    s->closing = true;
    events_of(s)->on_bad(&s->exchange, status, what, user_of(s));
}

static void refuse_body(server *s)
{
    const char *what = s->base.body.what;

    if (!s->open || s->out.begun)
        break_off(s, FL_E_BAD_MESSAGE, what);
    else
        refuse(s, 400, what);
}

static void end_body(server *s)
{
    fl_http1_await_head(&s->base);
    if (s->open)
        events_of(s)->on_end(&s->exchange, user_of(s));
    s->head = NULL;
}

/* What an exchange that was finished early leaves behind is dropped. */
static void read_body(server *s, fl_span *in)
{
    fl_http1 *h = &s->base;
    fl_span piece;

    while (h->stage == FL_HTTP1_IN_BODY && !h->dead) {
        fl_status rc = fl_http1_body_next(&h->body, in, &piece);
        if (rc == FL_AGAIN)
            return;
        if (rc == FL_END)
            end_body(s);
        else if (rc != FL_OK)
            refuse_body(s);
        else if (s->open)
            events_of(s)->on_body(&s->exchange, piece, user_of(s));
    }
}

static void frame_body(fl_http1 *h, const fl_http1_message *m)
{
    if (m->chunked)
        fl_http1_body_chunked(&h->body, h->http.limits);
    else
        fl_http1_body_length(&h->body, m->head.length);
}

/* RFC 9110 10.1.1: the peer may be waiting for a word before it goes on. */
static void invite_body(server *s, fl_span rest)
{
    const fl_span interim = FL_SPAN("HTTP/1.1 100 Continue\r\n\r\n");

    if (!s->expects || s->base.dead)
        return;
    if (rest.len > 0) {
        s->expects = false;
    } else if (s->open && !s->out.begun) {
        s->expects = false;
        (void)events_of(s)->write(user_of(s), &interim, 1, true);
    }
}

/* `m` outlives the events: a head that is not kept is in it until on_end. */
static void serve(server *s, const fl_http1_message *m, fl_span *in)
{
    fl_span text = {in->ptr, m->size};

    *in = fl_span_from(*in, m->size);
    frame_body(&s->base, m);
    const fl_head *head = fl_http1_settle_head(&s->base, m, text, *in);
    if (head == NULL) {
        refuse(s, 503, "out of memory");
        return;
    }
    s->head = head;
    s->version = (uint8_t)head->version;
    s->keep_alive = m->keep_alive;
    s->expects = m->expects && head->has_body;
    s->no_body = fl_span_equal(head->method, FL_SPAN("HEAD"));
    s->base.stage = FL_HTTP1_IN_BODY;
    events_of(s)->on_head(&s->exchange, head, user_of(s));
    invite_body(s, *in);
    read_body(s, in);
}

/* False: there is no whole head yet. */
static bool read_request(server *s, fl_span *in)
{
    fl_http1_message m;
    fl_http1 *h = &s->base;
    fl_status rc =
        fl_http1_head_read(&m, &h->mark, FL_HTTP1_REQUEST, h->http.limits, *in);

    if (rc == FL_AGAIN)
        return false;
    begin(s);
    if (rc == FL_OK)
        serve(s, &m, in);
    else
        refuse(s, m.fault.status, m.fault.what);
    return true;
}

static bool run(fl_http1 *h, fl_span *in)
{
    server *s = (server *)h;

    while (!h->dead) {
        if (h->stage == FL_HTTP1_DEAF) {
            *in = fl_span_from(*in, in->len);
            return true;
        }
        if (h->stage == FL_HTTP1_BEYOND) {
            fl_http1_pass(h, in);
            return true;
        }
        if (h->stage == FL_HTTP1_IN_BODY) {
            read_body(s, in);
            if (h->stage == FL_HTTP1_IN_BODY)
                return true;
        } else if (s->open) {
            return false;
        } else if (in->len == 0 || !read_request(s, in)) {
            return true;
        }
    }
    return true;
}

void fl_http1_server_balance(server *s)
{
    size_t held = fl_http1_held(&s->base);
    size_t most = s->base.http.limits->max_head + HELD_EXTRA;

    s->full = s->base.stage != FL_HTTP1_BEYOND &&
              (s->full ? held >= most / 2 : held >= most);
    bool pause = s->full || s->stopped;
    if (pause == s->paused)
        return;
    s->paused = pause;
    events_of(s)->on_pause(pause, user_of(s));
}

static void feed(fl_http *http, fl_span bytes)
{
    server *s = (server *)http;
    fl_http1 *h = &s->base;

    fl_http1_enter(h);
    s->waiting = false;
    s->feeding = true;
    fl_status rc = fl_http1_take(h, bytes, run);
    s->feeding = false;
    if (!h->dead && rc != FL_OK)
        break_off(s, rc, "input could not be held");
    if (!h->dead && h->stage != FL_HTTP1_DEAF)
        fl_http1_server_balance(s);
    if (!h->dead && s->ended && !s->open)
        fl_http1_end(h);
    fl_http1_leave(h);
}

static void end_input(fl_http *http)
{
    server *s = (server *)http;
    fl_http1 *h = &s->base;

    fl_http1_enter(h);
    s->ended = true;
    if (h->stage == FL_HTTP1_IN_BODY)
        break_off(s, FL_E_CLOSED, "the peer ended within its request");
    else if (!s->open && !s->waiting)
        fl_http1_end(h);
    fl_http1_leave(h);
}

static void drained(fl_http *http)
{
    server *s = (server *)http;

    if (!s->busy)
        return;
    fl_http1_enter(&s->base);
    s->busy = false;
    if (s->open)
        events_of(s)->on_writable(&s->exchange, user_of(s));
    fl_http1_leave(&s->base);
}

static void lose(fl_http *http, const fl_error *why)
{
    server *s = (server *)http;

    fl_http1_enter(&s->base);
    s->base.stage = FL_HTTP1_DEAF;
    s->base.over = true;
    lose_exchange(s, why->status, why->text);
    fl_http1_leave(&s->base);
}

static void shut(fl_http *http)
{
    server *s = (server *)http;

    fl_http1_enter(&s->base);
    s->shut = true;
    if (!s->open)
        fl_http1_end(&s->base);
    fl_http1_leave(&s->base);
}

static bool in_head(const fl_http *http)
{
    const server *s = (const server *)http;

    return !s->open && s->base.stage == FL_HTTP1_AT_HEAD &&
           fl_http1_held(&s->base) > 0;
}

static bool give_up(fl_http *http, unsigned status, const char *what)
{
    server *s = (server *)http;

    if (s->open || s->base.stage != FL_HTTP1_AT_HEAD)
        return false;
    fl_http1_enter(&s->base);
    begin(s);
    refuse(s, status, what);
    fl_http1_leave(&s->base);
    return true;
}

static size_t count_open(const fl_http *http)
{
    return ((const server *)http)->open ? 1 : 0;
}

static size_t memory(const fl_http *http)
{
    return sizeof(server) + fl_http1_held_memory((const fl_http1 *)http);
}

static const fl_head *head_of(const fl_exchange *exchange)
{
    return ((const server *)(const void *)exchange->http)->head;
}

static const fl_http_ops ops = {
    .free = fl_http1_free,
    .feed = feed,
    .end_input = end_input,
    .drained = drained,
    .lose = lose,
    .shut = shut,
    .in_head = in_head,
    .give_up = give_up,
    .open = count_open,
    .memory = memory,
    .respond = fl_http1_server_respond,
    .send = fl_http1_server_send,
    .finish = fl_http1_server_finish,
    .answer = fl_http1_server_answer,
    .reset = fl_http1_server_reset,
    .pause = fl_http1_server_pause,
    .head = head_of,
    .is_ending = fl_http1_is_ending,
};

fl_status fl_http1_server_new(const fl_http_options *options, fl_http **out)
{
    server *s = fl_mem_zalloc(sizeof *s);

    *out = NULL;
    if (s == NULL)
        return FL_E_NOMEM;
    fl_http1_init(&s->base, &ops, options);
    *out = &s->base.http;
    return FL_OK;
}
