/*
 * http1_answer.c - what a server says on an HTTP/1.1 connection.
 *
 * The head of an answer tells the peer what becomes of the connection, so that
 * is decided when the head is written, with what is known of the request by
 * then: whether the peer wants to go on, and whether what is still to come of
 * its body is short enough to be read and dropped.
 */
#include "wire/http1_server.h"

#include "base/span.h"

enum { DRAIN_MAX = 64 * 1024 }; /* of a body that nobody wants any more */

typedef fl_http1_server server;

static server *server_of(const fl_exchange *exchange)
{
    return (server *)(void *)exchange->http;
}

/* Whether what is still to come of the request may be waited for. A peer that
 * was not told to go on may or may not send its body now: nobody knows. */
static bool can_drain(const server *s)
{
    return s->base.stage != FL_HTTP1_IN_BODY ||
           (!s->expects && fl_http1_body_ends_soon(&s->base.body, DRAIN_MAX));
}

/* A request that is not whole, or not of a version that knows how, cannot be
 * the last one (RFC 9110 7.8). */
static bool may_upgrade(const server *s)
{
    return s->version == 11 && !s->closing &&
           (s->base.stage != FL_HTTP1_IN_BODY ||
            fl_http1_body_ends_soon(&s->base.body, 0));
}

static fl_http1_framing choose_framing(const server *s,
                                       const fl_heading *heading)
{
    unsigned status = heading->status;

    if (s->no_body || status == 101 || status == 204 || status == 304)
        return FL_HTTP1_BODILESS;
    if (heading->length >= 0)
        return FL_HTTP1_SIZED;
    return s->version == 11 ? FL_HTTP1_CHUNKED : FL_HTTP1_RAW;
}

static fl_span choose_connection(const server *s, const fl_heading *heading,
                                 bool close)
{
    if (heading->status == 101)
        return FL_SPAN("upgrade");
    if (heading->status == 426) /* its Upgrade is for this hop (RFC 9110 7.8) */
        return close ? FL_SPAN("close, upgrade") : FL_SPAN("upgrade");
    if (close)
        return FL_SPAN("close");
    return s->version == 10 ? FL_SPAN("keep-alive") : (fl_span){0};
}

/* The head, and the body with it if it is there. */
static fl_status say(server *s, const fl_heading *heading, const fl_span *parts,
                     size_t count)
{
    fl_http1_framing framing = choose_framing(s, heading);
    bool close = s->closing || heading->close || !s->keep_alive || s->shut ||
                 framing == FL_HTTP1_RAW || !can_drain(s);
    fl_http1_start start = {
        .framing = framing,
        .length = framing == FL_HTTP1_SIZED ||
                  (s->no_body && heading->status != 204 &&
                   heading->status != 304 && heading->status != 101),
        .connection = choose_connection(s, heading, close),
    };

    if (!s->open || s->out.begun || (heading->status == 101 && !may_upgrade(s)))
        return FL_E_STATE;
    fl_status rc = fl_http1_out_head(&s->out, &s->base.http, heading, &start,
                                     parts, count);
    if (rc == FL_OK) {
        s->closing = close;
        s->upgraded = heading->status == 101;
    }
    return rc;
}

/* Outside of feed() somebody has to see to the input that waited. */
static void carry_on(server *s)
{
    fl_http1 *h = &s->base;

    if (h->stage != FL_HTTP1_IN_BODY && fl_http1_held(h) > 0) {
        s->waiting = true;
        h->http.events->on_held(h->http.user);
    } else if (s->ended) {
        fl_http1_end(h);
    }
}

/* The exchange is finished: on to the next, or to the end. */
static void close_exchange(server *s)
{
    s->open = s->busy = s->stopped = false;
    if (s->upgraded) {
        s->base.stage = FL_HTTP1_BEYOND;
    } else if (s->closing || s->shut || !can_drain(s)) {
        fl_http1_end(&s->base);
        return;
    }
    /* Who takes over from HTTP finds the peer going on. */
    if (s->upgraded || !s->feeding)
        fl_http1_server_balance(s);
    if (!s->base.dead && !s->feeding)
        carry_on(s);
}

fl_status fl_http1_server_respond(fl_exchange *exchange,
                                  const fl_heading *heading)
{
    server *s = server_of(exchange);

    fl_http1_enter(&s->base);
    fl_status rc = say(s, heading, NULL, 0);
    fl_http1_leave(&s->base);
    return rc;
}

fl_status fl_http1_server_send(fl_exchange *exchange, const fl_span *parts,
                               size_t count, bool urgent)
{
    server *s = server_of(exchange);

    if (!s->open)
        return FL_E_STATE;
    fl_http1_enter(&s->base);
    fl_status rc =
        fl_http1_out_body(&s->out, &s->base.http, parts, count, urgent);
    if (rc == FL_BUSY)
        s->busy = true;
    fl_http1_leave(&s->base);
    return rc;
}

/* An answer that is not whole can only be told by the connection's end. */
void fl_http1_server_finish(fl_exchange *exchange)
{
    server *s = server_of(exchange);

    if (!s->open)
        return;
    fl_http1_enter(&s->base);
    if (fl_http1_out_end(&s->out, &s->base.http) != FL_OK)
        s->closing = true;
    if (!s->base.dead && s->open)
        close_exchange(s);
    fl_http1_leave(&s->base);
}

fl_status fl_http1_server_answer(fl_exchange *exchange,
                                 const fl_heading *heading,
                                 const fl_span *parts, size_t count)
{
    server *s = server_of(exchange);

    fl_http1_enter(&s->base);
    fl_status rc = say(s, heading, parts, count);
    if (rc == FL_OK && !s->base.dead && s->open)
        close_exchange(s);
    fl_http1_leave(&s->base);
    return rc;
}

void fl_http1_server_reset(fl_exchange *exchange)
{
    server *s = server_of(exchange);

    fl_http1_enter(&s->base);
    s->open = s->busy = false;
    fl_http1_end(&s->base);
    fl_http1_leave(&s->base);
}

void fl_http1_server_pause(fl_exchange *exchange, bool paused)
{
    server *s = server_of(exchange);

    if (!s->open)
        return;
    fl_http1_enter(&s->base);
    s->stopped = paused;
    fl_http1_server_balance(s);
    fl_http1_leave(&s->base);
}
