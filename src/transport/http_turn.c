/*
 * http_turn.c - one request at our server, and what is said to it.
 *
 * A turn decides late what it is: if the answer is the first thing said, it is
 * a JSON body; if anything comes before it, or it takes long, the turn becomes
 * an event stream. Turns are used again, so that an answer costs no
 * allocation.
 */
#include "transport/http_server.h"

#include "base/mem.h"
#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "wire/sse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    SPARE_MAX = 64,
    FIELDS_MAX = 12,
    PACK_FROM = 2048,      /* bytes: less gains nothing on the wire */
    TEXT_KEPT = 64 * 1024, /* of the hub's buffer, between two events */
};

static void on_timer(fl_timer *timer);

static fl_http_turn *make(void)
{
    fl_http_turn *turn = fl_mem_alloc(sizeof *turn);
    fl_http_asked *asked = fl_mem_alloc(sizeof *asked);

    if (turn == NULL || asked == NULL) {
        fl_mem_free(turn);
        fl_mem_free(asked);
        return NULL;
    }
    turn->asked = asked;
    return turn;
}

void fl_http_turn_discard(fl_http_turn *turn)
{
    fl_mem_free(turn->asked);
    fl_mem_free(turn);
}

static fl_http_turn *take_spare(fl_http_hub *hub)
{
    fl_list *node = fl_list_take(&hub->spare);

    if (node == NULL)
        return NULL;
    hub->spares--;
    return FL_LIST_ENTRY(node, fl_http_turn, node);
}

static void ask_nothing(fl_http_asked *asked, const fl_http_hub *hub)
{
    memset(asked, 0, offsetof(fl_http_asked, id));
    asked->id[0] = asked->origin[0] = '\0';
    fl_buf_init(&asked->body, hub->options.max_message);
}

fl_http_turn *fl_http_turn_new(fl_http_conn *conn, fl_exchange *exchange)
{
    fl_http_hub *hub = conn->caller->hub;
    fl_http_turn *turn = take_spare(hub);

    if (turn == NULL)
        turn = make();
    if (turn == NULL)
        return NULL;
    *turn = (fl_http_turn){
        .hub = fl_http_hub_ref(hub),
        .conn = conn,
        .exchange = exchange,
        .asked = turn->asked,
    };
    ask_nothing(turn->asked, hub);
    fl_timer_init(&turn->timer, hub->loop, on_timer);
    fl_list_init(&turn->session_node);
    fl_list_append(&conn->turns, &turn->node);
    fl_exchange_set_user(exchange, turn);
    return turn;
}

/* Between the request and its answer nothing of it need be kept. */
void fl_http_turn_shed(fl_http_turn *turn)
{
    fl_http_asked *asked = turn->asked;

    if (asked == NULL)
        return;
    fl_buf_reset(&asked->body);
    fl_inflate_free(asked->inflate);
    asked->inflate = NULL;
    fl_budget_give(&turn->hub->budget, asked->budgeted);
    asked->budgeted = 0;
}

void fl_http_turn_forget(fl_http_turn *turn)
{
    fl_http_turn_shed(turn);
    fl_mem_free(turn->asked);
    turn->asked = NULL;
}

/* One that has lasted was no part of the traffic: it is not worth keeping. */
void fl_http_turn_free(fl_http_turn *turn)
{
    fl_http_hub *hub = turn->hub;

    fl_timer_stop(&turn->timer);
    fl_http_turn_shed(turn);
    if (turn->conn != NULL)
        fl_list_remove(&turn->node);
    fl_list_remove(&turn->session_node);
    if (turn->link != NULL)
        fl_link_unref(turn->link);
    if (hub->serving == turn)
        hub->serving = NULL;
    if (turn->asked != NULL && hub->spares < SPARE_MAX && hub->refs > 1) {
        hub->spares++;
        fl_list_append(&hub->spare, &turn->node);
    } else {
        fl_http_turn_discard(turn);
    }
    fl_http_hub_unref(hub);
}

void fl_http_turn_let_go(fl_http_turn *turn)
{
    fl_http_conn *conn = turn->conn;

    fl_list_remove(&turn->node);
    turn->conn = NULL;
    turn->exchange = NULL;
    if (fl_list_empty(&conn->turns))
        conn->quiet_since = fl_loop_now(turn->hub->loop);
}

static fl_field other(const char *name, fl_span value)
{
    return (fl_field){fl_span_of(name), value, FL_FIELD_OTHER};
}

/* The fields that differ from answer to answer. */
static size_t collect(fl_http_turn *turn, fl_field fields[FIELDS_MAX])
{
    const fl_http_asked *asked = turn->asked;
    size_t count = 0;

    fl_http_hub_tick(turn->hub);
    if (asked->id[0] != '\0')
        fields[count++] = FL_FIELD_SET(X_REQUEST_ID, fl_span_of(asked->id));
    if (turn->initialize && turn->link != NULL)
        fields[count++] = FL_FIELD_SET(
            MCP_SESSION_ID, fl_http_id(((fl_http_session *)turn->link)->id));
    if (asked->origin[0] == '\0')
        return count;
    fields[count++] =
        other("access-control-allow-origin", fl_span_of(asked->origin));
    fields[count++] = other("vary", FL_SPAN("Origin"));
    fields[count++] =
        other("access-control-expose-headers", fl_span_of(turn->hub->may_read));
    return count;
}

/* Packs the parts into the hub's buffer; false: better as they are. */
static bool pack(fl_http_turn *turn, const fl_span *parts, size_t count)
{
    fl_buf *out = &turn->hub->text;

    if (!turn->gzip || fl_span_total(parts, count) < PACK_FROM)
        return false;
    fl_deflate *deflate = fl_deflate_new(FL_CODING_GZIP, 0);
    fl_buf_truncate(out, 0);
    bool packed =
        deflate != NULL &&
        fl_deflate_feed(deflate, parts, count, FL_DEFLATE_END, out) == FL_OK;
    fl_deflate_free(deflate);
    return packed;
}

static void rest_text(fl_http_hub *hub)
{
    fl_buf_truncate(&hub->text, 0);
    if (hub->text.cap > TEXT_KEPT)
        fl_buf_reset(&hub->text);
}

fl_status fl_http_turn_answer(fl_http_turn *turn, unsigned status,
                              const fl_field *more, size_t more_count,
                              const fl_span *parts, size_t count)
{
    fl_field fields[FIELDS_MAX];
    size_t field_count = collect(turn, fields);
    fl_span packed;

    for (size_t i = 0; i < more_count; i++)
        fields[field_count++] = more[i];
    if (pack(turn, parts, count)) {
        fields[field_count++] = FL_FIELD_SET(CONTENT_ENCODING, FL_SPAN("gzip"));
        packed = fl_buf_view(&turn->hub->text);
        parts = &packed;
        count = 1;
    }
    fl_heading heading = {
        .status = status,
        .common =
            count > 0 ? &turn->hub->json_fields : &turn->hub->empty_fields,
        .fields = fields,
        .count = field_count,
        .close = turn->conn->refusal != FL_HTTP_WELCOME || turn->conn->shut ||
                 status == 408,
    };
    fl_exchange *exchange = turn->exchange;
    fl_http_conn *conn = turn->conn;
    fl_status rc = fl_exchange_answer(exchange, &heading, parts, count);
    rest_text(turn->hub);
    fl_http_turn_let_go(turn);
    turn->phase = FL_HTTP_ENDED;
    if (rc != FL_OK)
        fl_exchange_reset(exchange); /* better than a wait for nothing */
    fl_http_backlog_charge(conn);
    return rc;
}

/* A number for those alone that have events: most turns have none. */
static void number_stream(fl_http_turn *turn)
{
    if (turn->resumable && !turn->standing && turn->stream == 0)
        turn->stream = ++((fl_http_session *)turn->link)->streams;
}

static bool can_prime(const fl_http_turn *turn)
{
    const fl_revision *revision =
        turn->resumable
            ? fl_revision_get(((const fl_http_session *)turn->link)->revision)
            : NULL;

    return revision != NULL && fl_revision_has(revision, FL_HAS_SSE_POLLING);
}

static fl_status send_text(fl_http_turn *turn, fl_status composed, bool urgent)
{
    fl_span text = fl_buf_view(&turn->hub->text);
    fl_status rc = composed;

    if (rc == FL_OK)
        rc = fl_exchange_send(turn->exchange, &text, 1, urgent);
    rest_text(turn->hub);
    fl_http_backlog_charge(turn->conn);
    return rc;
}

fl_span fl_http_turn_id(const fl_http_turn *turn, char text[FL_HTTP_EVENT_ID])
{
    int n = snprintf(text, FL_HTTP_EVENT_ID, "%" PRIu64 "-%" PRIu64,
                     turn->stream, turn->events);

    return turn->resumable ? (fl_span){text, (size_t)n} : (fl_span){0};
}

/* 2025-11-25: an event with an id and no data, so that the client can come
 * back however early the stream breaks. */
static fl_status prime(fl_http_turn *turn, uint64_t retry_ms)
{
    char id[FL_HTTP_EVENT_ID];
    fl_sse_out out = {
        .id = fl_http_turn_id(turn, id),
        .retry_ms = retry_ms,
    };

    turn->told_retry = true;
    return send_text(turn, fl_sse_write(&turn->hub->text, &out, NULL, 0), true);
}

fl_status fl_http_turn_stream(fl_http_turn *turn)
{
    fl_field fields[FIELDS_MAX];

    if (turn->phase == FL_HTTP_STREAMING)
        return FL_OK;
    if (turn->exchange == NULL)
        return FL_E_STATE;
    fl_heading heading = {
        .status = 200,
        .common = &turn->hub->stream_fields,
        .fields = fields,
        .count = collect(turn, fields),
        .length = FL_HTTP_STREAMED,
    };
    fl_status rc = fl_exchange_respond(turn->exchange, &heading);
    if (rc != FL_OK)
        return rc;
    turn->phase = FL_HTTP_STREAMING;
    number_stream(turn);
    fl_timer_start(&turn->timer, turn->hub->options.http.keepalive_ms);
    return can_prime(turn) ? prime(turn, turn->hub->options.http.retry_ms)
                           : FL_OK;
}

/* The stream ends as if it had broken; what is said to it from now on is kept
 * for the client, who was given an id to come back with. */
void fl_http_turn_hang_up(fl_link *link, void *stream, uint64_t retry_ms)
{
    fl_http_turn *turn = stream;

    if (turn == NULL || turn->exchange == NULL || !can_prime(turn) ||
        fl_http_turn_stream(turn) != FL_OK || prime(turn, retry_ms) != FL_OK)
        return;
    fl_exchange *exchange = turn->exchange;
    fl_timer_stop(&turn->timer);
    fl_http_turn_let_go(turn);
    fl_exchange_finish(exchange);
    fl_http_session_lost((fl_http_session *)link, turn);
}

fl_status fl_http_turn_event(fl_http_turn *turn, fl_span id, fl_span type,
                             const fl_span *parts, size_t count, bool urgent)
{
    fl_sse_out out = {.id = id, .event = type};

    if (turn->exchange == NULL)
        return FL_E_STATE;
    if (turn->resumable && !turn->told_retry)
        out.retry_ms = turn->hub->options.http.retry_ms;
    fl_status rc = send_text(
        turn, fl_sse_write(&turn->hub->text, &out, parts, count), urgent);
    turn->told_retry |= rc == FL_OK;
    return rc;
}

void fl_http_turn_finish(fl_http_turn *turn)
{
    fl_exchange *exchange = turn->exchange;

    turn->phase = FL_HTTP_ENDED;
    if (exchange == NULL)
        return;
    if (turn->hub->options.http.event_types)
        (void)!fl_http_turn_event(turn, (fl_span){0}, FL_SPAN("close"),
                                  &FL_SPAN("{}"), 1, true);
    fl_http_turn_let_go(turn);
    fl_exchange_finish(exchange);
}

void fl_http_turn_break(fl_http_turn *turn)
{
    fl_exchange *exchange = turn->exchange;

    turn->phase = FL_HTTP_ENDED;
    if (exchange == NULL)
        return;
    fl_http_turn_let_go(turn);
    fl_exchange_reset(exchange);
}

void fl_http_turn_adopt(fl_http_turn *running, fl_http_turn *fresh)
{
    fl_exchange *old = running->exchange;

    if (old != NULL) { /* half open: its client is the one that came back */
        fl_http_turn_let_go(running);
        fl_exchange_reset(old);
    }
    running->conn = fresh->conn;
    running->exchange = fresh->exchange;
    running->phase = fresh->phase;
    fl_list_remove(&fresh->node);
    fl_list_append(&running->conn->turns, &running->node);
    fl_exchange_set_user(running->exchange, running);
    fresh->conn = NULL;
    fresh->exchange = NULL;
    fl_timer_start(&running->timer, running->hub->options.http.keepalive_ms);
    fl_http_turn_free(fresh);
}

static void abandon(fl_http_turn *turn)
{
    fl_link *link = turn->link;

    if (link->events->on_abandoned != NULL)
        link->events->on_abandoned(link, (fl_reply){link, turn});
}

void fl_http_turn_lost(fl_http_turn *turn, const fl_error *why)
{
    fl_http_turn_let_go(turn);
    if (turn->socket) {
        fl_ws_h2_lost(turn, why);
        return;
    }
    if (turn->phase == FL_HTTP_RECEIVING || turn->link == NULL) {
        fl_http_turn_free(turn);
        return;
    }
    fl_timer_stop(&turn->timer);
    if (turn->link->transport == &fl_http_session_transport)
        fl_http_session_lost((fl_http_session *)turn->link, turn);
    else if (turn->link->transport == &fl_http_sse_transport)
        fl_http_sse_lost(turn->link);
    else
        abandon(turn);
}

static void keep_alive(fl_http_turn *turn)
{
    bool typed = turn->hub->options.http.event_types;
    fl_sse_out out = {.event = FL_SPAN("keepalive")};
    fl_buf *text = &turn->hub->text;

    fl_http_turn_forget(turn);
    fl_timer_start(&turn->timer, turn->hub->options.http.keepalive_ms);
    (void)!send_text(turn,
                     typed ? fl_sse_write(text, &out, &FL_SPAN("{}"), 1)
                           : fl_sse_write_comment(text, FL_SPAN("keep-alive")),
                     false);
}

/* Its stream broke, and nobody came back for the answer. */
static void give_up(fl_http_turn *turn)
{
    if (turn->link != NULL && turn->phase != FL_HTTP_ENDED)
        abandon(turn);
}

static void on_timer(fl_timer *timer)
{
    fl_http_turn *turn = FL_LIST_ENTRY(timer, fl_http_turn, timer);

    if (turn->socket) {
        fl_ws_h2_gone(turn);
        return;
    }
    if (turn->exchange == NULL) {
        give_up(turn);
        return;
    }
    switch ((fl_http_phase)turn->phase) {
    case FL_HTTP_RECEIVING:
        fl_http_refuse_limit(turn, 408, FL_RPC_INVALID_REQUEST,
                             "the request was not whole in time",
                             turn->hub->options.http.body_timeout_ms);
        break;
    case FL_HTTP_WAITING: /* long enough: something to keep alive */
        (void)!fl_http_turn_stream(turn);
        break;
    case FL_HTTP_STREAMING:
        keep_alive(turn);
        break;
    case FL_HTTP_ENDED:
        break;
    }
}

fl_span fl_http_turn_field(fl_link *link, void *stream, fl_span name)
{
    fl_http_turn *turn = stream;
    const fl_head *head = turn != NULL && turn->exchange != NULL
                              ? fl_exchange_head(turn->exchange)
                              : NULL;

    (void)link;
    return head != NULL ? fl_head_find(head, name) : (fl_span){0};
}
