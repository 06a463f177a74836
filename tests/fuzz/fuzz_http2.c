/*
 * fuzz_http2.c - no bytes may upset an HTTP/2 connection, on either side.
 *
 * The first byte chooses the side, how the owner behaves, and how the rest is
 * chopped. A server's input goes after the preface unless the byte says to
 * leave it out. The owner answers, streams, resets or frees from inside its
 * events; the promises of http.h about who hears what are checked on the way.
 */
#include "wire/http.h"

#include "base/span.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SERVER_RAW = 1, CLIENT = 2, FREES = 4, STREAMS = 8, BUSY = 16 };

typedef struct owner {
    fl_http *http;
    unsigned how;
    unsigned events;
    size_t open;
    bool over;
} owner;

static void require(bool fact)
{
    if (!fact)
        abort();
}

static fl_status write_out(void *user, const fl_span *parts, size_t count,
                           bool urgent)
{
    owner *o = user;

    require(count > 0 && fl_span_total(parts, count) > 0);
    o->events++;
    return (o->how & BUSY) != 0 && o->events % 3 == 0 && !urgent ? FL_BUSY
                                                                 : FL_OK;
}

/* Now and then the owner has enough. */
static bool leaves(owner *o)
{
    require(o->http != NULL);
    if ((o->how & FREES) == 0 || ++o->events % 7 != 0)
        return false;
    fl_http_free(o->http);
    o->http = NULL;
    return true;
}

static void answer(owner *o, fl_exchange *exchange)
{
    fl_heading heading = {.status = 200, .length = FL_HTTP_STREAMED};
    fl_span body = FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");

    o->open--;
    fl_exchange_set_user(exchange, NULL);
    if (o->events++ % 5 == 4) {
        fl_exchange_reset(exchange);
    } else if ((o->how & STREAMS) == 0) {
        require(fl_exchange_answer(exchange, &heading, &body, 1) == FL_OK);
    } else {
        require(fl_exchange_respond(exchange, &heading) == FL_OK);
        require(fl_exchange_send(exchange, &body, 1, false) == FL_OK);
        require(fl_exchange_send(exchange, &body, 1, true) == FL_OK);
        fl_exchange_finish(exchange);
    }
}

static void on_head(fl_exchange *exchange, const fl_head *head, void *user)
{
    owner *o = user;

    require(head->version == 20 && head->count <= FL_HTTP_FIELDS_MAX);
    require(fl_exchange_head(exchange) == head);
    for (size_t i = 0; i < head->count; i++)
        require(fl_field_name_ok(head->fields[i].name));
    if ((o->how & CLIENT) != 0) {
        require(head->status >= 200 && head->status <= 999);
        require(fl_exchange_user(exchange) == o);
    } else {
        require(head->method.len > 0 && head->authority.ptr != NULL);
        require(head->target.len > 0);
        fl_exchange_set_user(exchange, o);
        o->open++;
    }
    if (!leaves(o) && (o->how & CLIENT) == 0 && o->events % 4 == 3)
        answer(o, exchange);
}

static void on_body(fl_exchange *exchange, fl_span bytes, void *user)
{
    require(bytes.len > 0 && fl_exchange_user(exchange) == user);
    (void)leaves(user);
}

static void on_end(fl_exchange *exchange, void *user)
{
    owner *o = user;

    require(fl_exchange_user(exchange) == o);
    if (leaves(o))
        return;
    if ((o->how & CLIENT) != 0)
        o->open--;
    else if (o->events++ % 6 != 5)
        answer(o, exchange);
}

static void on_bad(fl_exchange *exchange, unsigned status, const char *what,
                   void *user)
{
    owner *o = user;

    require(status >= 400 && what != NULL && (o->how & CLIENT) == 0);
    o->open++;
    if (!leaves(o))
        answer(o, exchange);
}

static void on_lost(fl_exchange *exchange, const fl_error *why, void *user)
{
    owner *o = user;

    require(why->status < 0 && fl_exchange_user(exchange) == o);
    o->open--;
    (void)leaves(o);
}

static void on_over(void *user)
{
    owner *o = user;

    require(!o->over);
    o->over = true;
    (void)leaves(o);
}

static const fl_http_events events = {
    .write = write_out,
    .on_head = on_head,
    .on_body = on_body,
    .on_end = on_end,
    .on_bad = on_bad,
    .on_lost = on_lost,
    .on_over = on_over,
};

static void feed(owner *o, const char *bytes, size_t len)
{
    char *copy = malloc(len); /* exact, so ASan sees any overrun */

    require(copy != NULL);
    memcpy(copy, bytes, len);
    fl_http_feed(o->http, (fl_span){copy, len});
    free(copy);
    if (o->http == NULL)
        return;
    require(fl_http_open(o->http) == o->open);
    if ((o->how & BUSY) != 0)
        fl_http_drained(o->http);
}

static void begin(owner *o)
{
    const fl_heading heading = {.method = FL_SPAN("POST"),
                                .target = FL_SPAN("/"),
                                .scheme = FL_SPAN("http"),
                                .authority = FL_SPAN("a"),
                                .length = FL_HTTP_STREAMED};

    for (int i = 0; (o->how & CLIENT) != 0 && i < 3; i++) {
        fl_exchange *exchange;
        if (i == 2) { /* in one breath, with what stays until the end */
            require(fl_http_ask(o->http, &heading, FL_SPAN("body"), o,
                                &exchange) == FL_OK);
            o->open++;
            break;
        }
        require(fl_http_request(o->http, &heading, o, &exchange) == FL_OK);
        o->open++;
        if (i > 0)
            fl_exchange_finish(exchange);
    }
    if ((o->how & (SERVER_RAW | CLIENT)) == 0) {
        fl_span preface = FL_SPAN("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                                  "\0\0\0\x04\0\0\0\0\0");
        feed(o, preface.ptr, preface.len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const fl_http_limits limits = fl_http_limits_fill(
        &(fl_http_limits){.max_head = 2048, .max_fields = 20});
    owner o = {.how = size > 0 ? data[0] : 0};
    size_t step = (o.how & 0x80) != 0 ? 1 + (o.how >> 5 & 3) * 7 : SIZE_MAX;
    fl_http_options options = {.version = 20,
                               .client = (o.how & CLIENT) != 0,
                               .limits = &limits,
                               .events = &events,
                               .user = &o};

    require(fl_http_new(&options, &o.http) == FL_OK);
    begin(&o);
    for (size_t at = 1; at < size && o.http != NULL;) {
        size_t n = size - at < step ? size - at : step;
        feed(&o, (const char *)data + at, n);
        at += n;
    }
    if (o.http != NULL && (o.how & 0x40) != 0)
        fl_http_shut(o.http);
    if (o.http != NULL)
        fl_http_end_input(o.http);
    if (o.http != NULL)
        fl_http_lose(o.http, &(fl_error){.status = FL_E_CLOSED});
    if (o.http != NULL)
        require(o.open == 0 && fl_http_open(o.http) == 0);
    fl_http_free(o.http);
    return 0;
}
