/*
 * http.c - the front door of both versions of HTTP.
 *
 * Each function finds the one that does the work in the connection's table.
 * What must hold whatever the version is seen to here: limits have their
 * defaults, and a heading is checked before a codec sees it, so that nothing
 * a caller was talked into sending can end a line or begin another field.
 */
#include "wire/http.h"

#include "base/span.h"
#include "wire/bytes.h"
#include "wire/http2_frame.h"
#include "wire/http_impl.h"

#include <assert.h>

static const fl_http_limits defaults = {
    .max_head = (size_t)32 * 1024,
    .max_target = (size_t)8 * 1024,
    .max_fields = 100,
    .max_streams = 100,
    .max_resets = 100,
    .max_control = 100,
    .high_water = (size_t)256 * 1024,
    .max_message = (size_t)16 * 1024 * 1024,
};

/* Keeps sums of a few of them far from wrapping. */
enum { HEAD_MAX = 16 * 1024 * 1024 };

static size_t pick(size_t value, size_t fallback, size_t max)
{
    size_t chosen = value > 0 ? value : fallback;
    return chosen < max ? chosen : max;
}

static unsigned pick_count(unsigned value, unsigned fallback)
{
    return value > 0 ? value : fallback;
}

fl_http_limits fl_http_limits_fill(const fl_http_limits *given)
{
    const fl_http_limits *d = &defaults, *g = given != NULL ? given : d;

    return (fl_http_limits){
        .max_head = pick(g->max_head, d->max_head, HEAD_MAX),
        .max_target = pick(g->max_target, d->max_target, HEAD_MAX),
        .max_fields =
            (unsigned)pick(g->max_fields, d->max_fields, FL_HTTP_FIELDS_MAX),
        .max_streams = pick_count(g->max_streams, d->max_streams),
        .max_resets = pick_count(g->max_resets, d->max_resets),
        .max_control = pick_count(g->max_control, d->max_control),
        .high_water = pick(g->high_water, d->high_water, SIZE_MAX),
        .max_message = pick(g->max_message, d->max_message, SIZE_MAX / 16),
        .take_connect = g->take_connect,
        .recall = g->recall,
    };
}

static bool is_filled(const fl_http_limits *limits)
{
    fl_http_limits filled = fl_http_limits_fill(limits);

    return limits->max_head == filled.max_head &&
           limits->max_target == filled.max_target &&
           limits->max_fields == filled.max_fields &&
           limits->max_streams == filled.max_streams &&
           limits->max_resets == filled.max_resets &&
           limits->max_control == filled.max_control &&
           limits->high_water == filled.high_water &&
           limits->max_message == filled.max_message;
}

void fl_http_init(fl_http *http, const fl_http_ops *ops,
                  const fl_http_options *options)
{
    assert(options->limits == NULL || is_filled(options->limits));
    *http = (fl_http){
        .ops = ops,
        .events = options->events,
        .user = options->user,
        .limits = options->limits != NULL ? options->limits : &defaults,
    };
}

fl_status fl_http_new(const fl_http_options *options, fl_http **out)
{
    *out = NULL;
    if (options->events == NULL)
        return FL_E_INVALID;
    if (options->version == 20)
        return fl_http2_new(options, out);
    if (options->version != 11)
        return FL_E_INVALID;
    return options->client ? fl_http1_client_new(options, out)
                           : fl_http1_server_new(options, out);
}

void fl_http_free(fl_http *http)
{
    if (http != NULL)
        http->ops->free(http);
}

unsigned fl_http_sniff(fl_span first)
{
    size_t all = FL_HTTP2_PREFACE, n = first.len < all ? first.len : all;

    if (n > 0 && memcmp(first.ptr, FL_HTTP2_PREFACE_TEXT, n) != 0)
        return 11;
    return n == all ? 20 : 0;
}

void fl_http_feed(fl_http *http, fl_span bytes)
{
    http->ops->feed(http, bytes);
}

void fl_http_end_input(fl_http *http)
{
    http->ops->end_input(http);
}

void fl_http_drained(fl_http *http)
{
    http->ops->drained(http);
}

void fl_http_lose(fl_http *http, const fl_error *why)
{
    http->ops->lose(http, why);
}

void fl_http_shut(fl_http *http)
{
    if (http->ops->shut != NULL)
        http->ops->shut(http);
}

bool fl_http_was_cut(const fl_http *http)
{
    return http->was_cut;
}

bool fl_http_in_head(const fl_http *http)
{
    return http->ops->in_head != NULL && http->ops->in_head(http);
}

bool fl_http_give_up(fl_http *http, unsigned status, const char *what)
{
    return http->ops->give_up != NULL && http->ops->give_up(http, status, what);
}

size_t fl_http_open(const fl_http *http)
{
    return http->ops->open(http);
}

bool fl_http_available(const fl_http *http)
{
    return http->ops->available != NULL && http->ops->available(http);
}

size_t fl_http_memory(const fl_http *http)
{
    return http->ops->memory(http);
}

size_t fl_http_waiting(const fl_http *http)
{
    return http->ops->waiting != NULL ? http->ops->waiting(http) : 0;
}

size_t fl_http_look_for_stuck(fl_http *http, bool end)
{
    return http->ops->look_for_stuck != NULL
               ? http->ops->look_for_stuck(http, end)
               : 0;
}

static bool fields_ok(const fl_heading *heading)
{
    for (size_t i = 0; i < heading->count; i++)
        if (!fl_field_may_send(&heading->fields[i]))
            return false;
    return heading->length >= FL_HTTP_STREAMED;
}

/* A target may be of any form, but it is visible ASCII, or it could end the
 * line that it stands on. */
static bool is_visible(fl_span text)
{
    return text.len > 0 &&
           fl_bytes_until_hidden(text.ptr, text.len) == text.len;
}

bool fl_heading_ok(const fl_heading *heading, bool request)
{
    if (!request)
        return (heading->status == 101 ||
                (heading->status >= 200 && heading->status <= 999)) &&
               fields_ok(heading);
    return fl_field_name_ok(heading->method) && is_visible(heading->target) &&
           is_visible(heading->authority) && fields_ok(heading);
}

fl_status fl_http_request(fl_http *http, const fl_heading *heading,
                          void *exchange_user, fl_exchange **out)
{
    *out = NULL;
    if (http->ops->request == NULL)
        return FL_E_STATE;
    if (!fl_heading_ok(heading, true))
        return FL_E_INVALID;
    return http->ops->request(http, heading, exchange_user, out);
}

fl_status fl_http_ask(fl_http *http, const fl_heading *heading, fl_span body,
                      void *exchange_user, fl_exchange **out)
{
    fl_heading whole = *heading;

    *out = NULL;
    if (http->ops->ask == NULL)
        return FL_E_STATE;
    whole.length = (int64_t)body.len;
    if (!fl_heading_ok(&whole, true))
        return FL_E_INVALID;
    return http->ops->ask(http, &whole, body, exchange_user, out);
}

fl_status fl_exchange_respond(fl_exchange *exchange, const fl_heading *heading)
{
    const fl_http_ops *ops = exchange->http->ops;

    if (ops->respond == NULL)
        return FL_E_STATE;
    if (!fl_heading_ok(heading, false))
        return FL_E_INVALID;
    return ops->respond(exchange, heading);
}

fl_status fl_exchange_send(fl_exchange *exchange, const fl_span *parts,
                           size_t count, bool urgent)
{
    return exchange->http->ops->send(exchange, parts, count, urgent);
}

void fl_exchange_finish(fl_exchange *exchange)
{
    exchange->http->ops->finish(exchange);
}

/* Should the body fail after the head has gone, the exchange cannot be left
 * unanswered any more: it is broken off. */
static fl_status answer_in_steps(fl_exchange *exchange,
                                 const fl_heading *heading,
                                 const fl_span *parts, size_t count)
{
    const fl_http_ops *ops = exchange->http->ops;
    fl_status rc = ops->respond(exchange, heading);

    if (rc != FL_OK)
        return rc;
    if (ops->send(exchange, parts, count, true) == FL_OK)
        ops->finish(exchange);
    else
        ops->reset(exchange);
    return FL_OK;
}

fl_status fl_exchange_answer(fl_exchange *exchange, const fl_heading *heading,
                             const fl_span *parts, size_t count)
{
    const fl_http_ops *ops = exchange->http->ops;
    fl_heading whole = *heading;

    if (ops->respond == NULL)
        return FL_E_STATE;
    whole.length = (int64_t)fl_span_total(parts, count);
    if (!fl_heading_ok(&whole, false))
        return FL_E_INVALID;
    return ops->answer != NULL
               ? ops->answer(exchange, &whole, parts, count)
               : answer_in_steps(exchange, &whole, parts, count);
}

void fl_exchange_reset(fl_exchange *exchange)
{
    exchange->http->ops->reset(exchange);
}

void fl_exchange_pause(fl_exchange *exchange, bool paused)
{
    exchange->http->ops->pause(exchange, paused);
}

void fl_exchange_drain_at(fl_exchange *exchange, size_t level)
{
    if (exchange->http->ops->drain_at != NULL)
        exchange->http->ops->drain_at(exchange, level);
}

size_t fl_exchange_pending(const fl_exchange *exchange)
{
    const fl_http_ops *ops = exchange->http->ops;

    return ops->pending != NULL ? ops->pending(exchange) : 0;
}

bool fl_exchange_is_ending(const fl_exchange *exchange)
{
    return exchange->http->ops->is_ending(exchange);
}

const fl_head *fl_exchange_head(const fl_exchange *exchange)
{
    return exchange->http->ops->head(exchange);
}

void fl_exchange_set_user(fl_exchange *exchange, void *user)
{
    exchange->user = user;
}

void *fl_exchange_user(const fl_exchange *exchange)
{
    return exchange->user;
}

fl_span fl_head_find(const fl_head *head, fl_span name)
{
    fl_field_id id = fl_field_find(name);

    if (id != FL_FIELD_OTHER)
        return fl_head_get(head, id);
    for (size_t i = 0; i < head->count; i++)
        if (head->fields[i].id == FL_FIELD_OTHER &&
            fl_field_name_equal(head->fields[i].name, name))
            return head->fields[i].value;
    return (fl_span){0};
}

bool fl_head_lists(const fl_head *head, fl_field_id id, fl_span token)
{
    size_t first = head->at[id];

    for (size_t i = first; first > 0 && i <= head->count; i++)
        if (head->fields[i - 1].id == id &&
            fl_field_list_has(head->fields[i - 1].value, token))
            return true;
    return false;
}

const char *fl_http_reason(unsigned status)
{
    switch (status) {
#define REASON(code, text)                                                     \
    case code:                                                                 \
        return text;
        FL_HTTP_REASON_MAP(REASON)
#undef REASON
    default:
        return "Unknown";
    }
}
