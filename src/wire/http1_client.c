/*
 * http1_client.c - the client's side of an HTTP/1.1 connection.
 *
 * One exchange at a time. There is room for two, used in turn, because the
 * next request may be made from within the on_end of the last one, whose
 * exchange and head are still being looked at.
 *
 * A connection is used again only if nothing about it is in doubt: the
 * response was whole, our request was, and not a byte came that nobody asked
 * for. Such a byte would be taken for the answer to the next request.
 */
#include "base/mem.h"
#include "base/span.h"
#include "wire/http1.h"
#include "wire/http1_out.h"

#include <stdio.h>

enum { INTERIM_MAX = 10 };

typedef struct call {
    fl_exchange exchange; /* first */
    const fl_head *head;
    fl_http1_out out;
    bool no_body; /* HEAD: the response has none */
    bool tunnel;  /* CONNECT: what follows a success is not HTTP */
    bool upgrade; /* asks for another protocol */
    bool sent;    /* our message is whole */
} call;

typedef struct client {
    fl_http1 base;
    call calls[2];
    call *now;         /* the one in use, or used last */
    unsigned interims; /* responses that were skipped */
    bool open;         /* the exchange in `now` is */
    bool busy;         /* on_writable is owed */
    bool closing;      /* no request after this one */
    bool upgraded;     /* what follows is not HTTP */
    bool paused;       /* the exchange's owner will have no more for now */
} client;

static client *client_of(const fl_exchange *exchange)
{
    return (client *)(void *)exchange->http;
}

static const fl_http_events *events_of(const client *c)
{
    return c->base.http.events;
}

static void *user_of(const client *c)
{
    return c->base.http.user;
}

static void lose_exchange(client *c, fl_status status, const char *what)
{
    fl_error why = {.status = status};

    if (!c->open)
        return;
    c->open = false;
    c->now->head = NULL;
    snprintf(why.text, sizeof why.text, "%s", what);
    events_of(c)->on_lost(&c->now->exchange, &why, user_of(c));
}

static void break_off(client *c, fl_status status, const char *what)
{
    c->base.stage = FL_HTTP1_DEAF;
    lose_exchange(c, status, what);
    fl_http1_end(&c->base);
}

static void say_pause(client *c, bool paused)
{
    if (c->paused == paused)
        return;
    c->paused = paused;
    events_of(c)->on_pause(paused, user_of(c));
}

static void leave_body(client *c, bool again)
{
    if (again && !c->upgraded)
        fl_http1_await_head(&c->base);
    else
        c->base.stage = c->upgraded ? FL_HTTP1_BEYOND : FL_HTTP1_DEAF;
}

/* The response is whole, and `rest` came after it. */
static void end_response(client *c, fl_span rest)
{
    call *ended = c->now;
    bool again = !c->closing && ended->sent && rest.len == 0;

    leave_body(c, again);
    c->open = c->busy = false;
    say_pause(c, false);
    if (c->base.dead)
        return;
    events_of(c)->on_end(&ended->exchange, user_of(c));
    ended->head = NULL;
    if (!again && !c->upgraded)
        fl_http1_end(&c->base);
}

static void read_body(client *c, fl_span *in)
{
    fl_http1 *h = &c->base;
    fl_span piece;

    while (h->stage == FL_HTTP1_IN_BODY && !h->dead) {
        fl_status rc = fl_http1_body_next(&h->body, in, &piece);
        if (rc == FL_AGAIN)
            return;
        if (rc == FL_END)
            end_response(c, *in);
        else if (rc != FL_OK)
            break_off(c, FL_E_BAD_MESSAGE, h->body.what);
        else
            events_of(c)->on_body(&c->now->exchange, piece, user_of(c));
    }
}

/* RFC 9112 6.3, in its order. */
static void frame_body(client *c, fl_http1_message *m)
{
    fl_head *head = &m->head;
    fl_http1 *h = &c->base;
    unsigned status = head->status;

    c->upgraded = status == 101 || (c->now->tunnel && status / 100 == 2);
    if (c->now->no_body || c->upgraded || status == 204 || status == 304) {
        head->has_body = false;
        fl_http1_body_none(&h->body);
    } else if (m->chunked) {
        fl_http1_body_chunked(&h->body, h->http.limits);
    } else if (head->has_length) {
        fl_http1_body_length(&h->body, head->length);
    } else {
        head->has_body = true;
        fl_http1_body_endless(&h->body);
    }
    if (!m->keep_alive || c->upgraded || fl_http1_body_is_endless(&h->body))
        c->closing = true;
}

/* `m` outlives the events: a head that is not kept is in it until on_end. */
static void take_response(client *c, fl_http1_message *m, fl_span *in)
{
    fl_span text = {in->ptr, m->size};

    *in = fl_span_from(*in, m->size);
    frame_body(c, m);
    const fl_head *head = fl_http1_settle_head(&c->base, m, text, *in);
    if (head == NULL) {
        break_off(c, FL_E_NOMEM, fl_status_text(FL_E_NOMEM));
        return;
    }
    c->now->head = head;
    c->base.stage = FL_HTTP1_IN_BODY;
    events_of(c)->on_head(&c->now->exchange, head, user_of(c));
    read_body(c, in);
}

/* RFC 9110 8.6: 1xx and 204 have no body, and may not say that they have one.
 * And nobody changes the protocol without being asked. */
static const char *fault_of(const client *c, const fl_http1_message *m)
{
    unsigned status = m->head.status;

    if ((status < 200 || status == 204) && m->head.has_body)
        return "body in a response that has none";
    if (status < 200 && m->head.version == 10)
        return "interim response in HTTP/1.0"; /* RFC 9110 15.2 */
    if (status == 101 && !c->now->upgrade)
        return "change of protocol that was not asked for";
    return status == 101 && !c->now->sent
               ? "change of protocol before the request was whole"
               : NULL;
}

static void skip_interim(client *c, const fl_http1_message *m, fl_span *in)
{
    *in = fl_span_from(*in, m->size);
    if (++c->interims > INTERIM_MAX)
        break_off(c, FL_E_BAD_MESSAGE, "too many interim responses");
}

/* False: there is no whole head yet. */
static bool read_response(client *c, fl_span *in)
{
    fl_http1_message m;
    fl_http1 *h = &c->base;
    fl_status rc = fl_http1_head_read(&m, &h->mark, FL_HTTP1_RESPONSE,
                                      h->http.limits, *in);

    if (rc == FL_AGAIN)
        return false;
    h->mark = (fl_http1_mark){0};
    const char *fault = rc == FL_OK ? fault_of(c, &m) : m.fault.what;
    if (fault != NULL)
        break_off(c, FL_E_BAD_MESSAGE, fault);
    else if (m.head.status < 200 && m.head.status != 101)
        skip_interim(c, &m, in);
    else
        take_response(c, &m, in);
    return true;
}

/* What is to be read next. False: nothing, for want of input. */
static bool read_next(client *c, fl_span *in)
{
    fl_http1 *h = &c->base;

    if (h->stage == FL_HTTP1_DEAF)
        *in = fl_span_from(*in, in->len);
    if (h->stage == FL_HTTP1_BEYOND)
        fl_http1_pass(h, in);
    if (h->stage == FL_HTTP1_IN_BODY)
        read_body(c, in);
    if (in->len == 0 || h->dead || h->stage != FL_HTTP1_AT_HEAD)
        return in->len > 0;
    if (c->open)
        return read_response(c, in);
    fl_http1_end(h); /* nobody asked */
    return true;
}

static bool run(fl_http1 *h, fl_span *in)
{
    while (!h->dead && read_next((client *)h, in))
        ;
    return true;
}

static void feed(fl_http *http, fl_span bytes)
{
    client *c = (client *)http;

    fl_http1_enter(&c->base);
    fl_status rc = fl_http1_take(&c->base, bytes, run);
    if (!c->base.dead && rc != FL_OK)
        break_off(c, rc, "input could not be held");
    fl_http1_leave(&c->base);
}

static void end_input(fl_http *http)
{
    client *c = (client *)http;
    fl_http1 *h = &c->base;

    fl_http1_enter(h);
    if (h->stage == FL_HTTP1_IN_BODY && fl_http1_body_is_endless(&h->body))
        end_response(c, (fl_span){0});
    else
        break_off(c, FL_E_CLOSED, "the peer ended within its response");
    fl_http1_leave(h);
}

static void drained(fl_http *http)
{
    client *c = (client *)http;

    if (!c->busy)
        return;
    fl_http1_enter(&c->base);
    c->busy = false;
    if (c->open)
        events_of(c)->on_writable(&c->now->exchange, user_of(c));
    fl_http1_leave(&c->base);
}

static void lose(fl_http *http, const fl_error *why)
{
    client *c = (client *)http;

    fl_http1_enter(&c->base);
    c->base.stage = FL_HTTP1_DEAF;
    c->base.over = true;
    lose_exchange(c, why->status, why->text);
    fl_http1_leave(&c->base);
}

static size_t count_open(const fl_http *http)
{
    return ((const client *)http)->open ? 1 : 0;
}

static bool available(const fl_http *http)
{
    const client *c = (const client *)http;

    return !c->open && c->base.stage == FL_HTTP1_AT_HEAD;
}

static size_t memory(const fl_http *http)
{
    return sizeof(client) + fl_http1_held_memory((const fl_http1 *)http);
}

/* Methods that mean something by their body say that it is empty. */
static bool wants_length(const fl_heading *heading)
{
    return heading->length > 0 ||
           (heading->length == 0 &&
            (fl_span_equal(heading->method, FL_SPAN("POST")) ||
             fl_span_equal(heading->method, FL_SPAN("PUT")) ||
             fl_span_equal(heading->method, FL_SPAN("PATCH"))));
}

static bool asks_upgrade(const fl_heading *heading)
{
    const fl_fields *own = heading->own;

    for (size_t i = 0; i < heading->count; i++)
        if (fl_field_find(heading->fields[i].name) == FL_FIELD_UPGRADE)
            return true;
    for (size_t i = 0; own != NULL && i < own->count; i++)
        if (own->fields[i].id == FL_FIELD_UPGRADE)
            return true;
    return false;
}

static fl_span choose_connection(const fl_heading *heading)
{
    if (asks_upgrade(heading))
        return FL_SPAN("upgrade");
    return heading->close ? FL_SPAN("close") : (fl_span){0};
}

static call *begin(client *c, const fl_heading *heading, void *user)
{
    call *next = c->now == &c->calls[0] ? &c->calls[1] : &c->calls[0];

    *next = (call){
        .exchange = {.http = &c->base.http, .user = user},
        .no_body = fl_span_equal(heading->method, FL_SPAN("HEAD")),
        .tunnel = fl_span_equal(heading->method, FL_SPAN("CONNECT")),
        .upgrade = asks_upgrade(heading),
        .sent = heading->length == 0,
    };
    return next;
}

/* With the body, if it is there. */
static fl_status ask(fl_http *http, const fl_heading *heading, fl_span body,
                     void *user, fl_exchange **out)
{
    client *c = (client *)http;
    fl_http1_start start = {
        .request = true,
        .framing = heading->length >= 0 ? FL_HTTP1_SIZED : FL_HTTP1_CHUNKED,
        .length = wants_length(heading),
        .connection = choose_connection(heading),
    };

    if (c->base.stage == FL_HTTP1_DEAF || c->base.stage == FL_HTTP1_BEYOND)
        return FL_E_STATE;
    if (c->open)
        return FL_BUSY;
    call *next = begin(c, heading, user);
    fl_http1_enter(&c->base);
    fl_status rc = fl_http1_out_head(&next->out, http, heading, &start, &body,
                                     body.len > 0);
    if (rc == FL_OK) {
        next->sent = next->sent || body.len > 0;
        c->now = next;
        c->open = true;
        c->busy = false;
        c->closing = heading->close;
        c->interims = 0;
        *out = &next->exchange;
    }
    fl_http1_leave(&c->base);
    return rc;
}

static fl_status request(fl_http *http, const fl_heading *heading, void *user,
                         fl_exchange **out)
{
    return ask(http, heading, (fl_span){0}, user, out);
}

static fl_status send_body(fl_exchange *exchange, const fl_span *parts,
                           size_t count, bool urgent)
{
    client *c = client_of(exchange);

    if (!c->open || c->now->sent)
        return FL_E_STATE;
    fl_http1_enter(&c->base);
    fl_status rc =
        fl_http1_out_body(&c->now->out, &c->base.http, parts, count, urgent);
    if (rc == FL_BUSY)
        c->busy = true;
    fl_http1_leave(&c->base);
    return rc;
}

static void reset(fl_exchange *exchange)
{
    client *c = client_of(exchange);

    fl_http1_enter(&c->base);
    c->open = c->busy = false;
    fl_http1_end(&c->base);
    fl_http1_leave(&c->base);
}

/* A request that is not whole can only be told by the connection's end. */
static void finish(fl_exchange *exchange)
{
    client *c = client_of(exchange);

    if (!c->open || c->now->sent)
        return;
    fl_http1_enter(&c->base);
    c->now->sent = true;
    if (fl_http1_out_end(&c->now->out, &c->base.http) != FL_OK)
        reset(exchange);
    fl_http1_leave(&c->base);
}

static void pause_input(fl_exchange *exchange, bool paused)
{
    client *c = client_of(exchange);

    if (!c->open)
        return;
    fl_http1_enter(&c->base);
    say_pause(c, paused);
    fl_http1_leave(&c->base);
}

static const fl_head *head_of(const fl_exchange *exchange)
{
    return ((const call *)exchange)->head;
}

static const fl_http_ops ops = {
    .free = fl_http1_free,
    .feed = feed,
    .end_input = end_input,
    .drained = drained,
    .lose = lose,
    .open = count_open,
    .available = available,
    .memory = memory,
    .request = request,
    .ask = ask,
    .send = send_body,
    .finish = finish,
    .reset = reset,
    .pause = pause_input,
    .head = head_of,
    .is_ending = fl_http1_is_ending,
};

fl_status fl_http1_client_new(const fl_http_options *options, fl_http **out)
{
    client *c = fl_mem_zalloc(sizeof *c);

    *out = NULL;
    if (c == NULL)
        return FL_E_NOMEM;
    fl_http1_init(&c->base, &ops, options);
    c->now = &c->calls[1];
    *out = &c->base.http;
    return FL_OK;
}
