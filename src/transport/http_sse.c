/*
 * http_sse.c - HTTP+SSE of 2024-11-05: a channel whose two directions are
 * different sockets.
 *
 * The client opens an event stream, is told in its first event where to post,
 * and posts there; everything we say goes to the stream, answers too. When the
 * stream goes, so does the conversation.
 */
#include "transport/http_server.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "rpc/error.h"

#include <stdio.h>

typedef struct sse_link {
    fl_link link;
    fl_http_hub *hub;
    fl_http_caller *caller;
    fl_http_turn *turn; /* the event stream; NULL once it has gone */
    fl_timer timer;     /* the end */
    const char *why;    /* of the end; static text */
    uint64_t principal; /* whose it is */
    int8_t status;      /* fl_status: of the end, too */
    bool busy;
    char id[FL_HTTP_ID];
} sse_link;

static void on_timer(fl_timer *timer)
{
    sse_link *self = FL_LIST_ENTRY(timer, sse_link, timer);
    fl_error why;

    if (self->turn != NULL) {
        fl_http_turn_finish(self->turn);
        fl_http_turn_free(self->turn);
        self->turn = NULL;
    }
    fl_error_set(&why, (fl_status)self->status, "%s", self->why);
    fl_link_ended(&self->link, &why);
}

static void begin_end(sse_link *self, fl_status status, const char *why)
{
    if (fl_link_move(&self->link, FL_LINK_CLOSING) != FL_OK)
        return;
    self->status = (int8_t)status;
    self->why = why;
    fl_index_remove(&self->hub->sessions, fl_http_id(self->id));
    self->caller->sessions--;
    fl_timer_start(&self->timer, 0);
}

static fl_status enter_hub(sse_link *self)
{
    fl_status rc = fl_http_hub_mint(self->id);

    if (rc == FL_OK)
        rc = fl_index_add(&self->hub->sessions, &self->link);
    if (rc == FL_OK)
        rc = fl_link_move(&self->link, FL_LINK_ACTIVE);
    if (rc == FL_OK)
        self->caller->sessions++;
    return rc;
}

static fl_status make(fl_http_conn *conn, sse_link **out)
{
    fl_http_hub *hub = conn->caller->hub;
    sse_link *self = NULL;

    *out = NULL;
    if (conn->caller->sessions >= hub->options.http.max_sessions_per_address ||
        fl_index_count(&hub->sessions) >= hub->options.http.max_sessions)
        return FL_E_LIMIT;
    self = fl_mem_zalloc(sizeof *self);
    if (self == NULL)
        return FL_E_NOMEM;
    fl_link_init(&self->link, &fl_http_sse_transport, hub->loop, true);
    self->hub = fl_http_hub_ref(hub);
    self->caller = conn->caller;
    self->caller->named++;
    fl_timer_init(&self->timer, hub->loop, on_timer);
    fl_status rc = enter_hub(self);
    if (rc != FL_OK) {
        fl_link_unref(&self->link);
        return rc;
    }
    *out = self;
    return FL_OK;
}

static fl_status tell_endpoint(sse_link *self)
{
    uint16_t endpoint = self->link.endpoint;
    fl_span base = fl_http_endpoint_base(self->hub, endpoint);
    fl_span parts[] = {
        fl_span_of(self->hub->base_url),
        base,
        endpoint == 0 ? fl_span_of(self->hub->messages_path)
                      : FL_SPAN("/messages"),
        FL_SPAN("?sessionId="),
        fl_http_id(self->id),
    };
    fl_status rc = fl_http_turn_stream(self->turn);

    return rc == FL_OK ? fl_http_turn_event(self->turn, (fl_span){0},
                                            FL_SPAN("endpoint"), parts, 5, true)
                       : rc;
}

void fl_http_sse_open(fl_http_turn *turn)
{
    fl_listener *from = &turn->hub->listener->listener;
    sse_link *self;
    fl_status rc = make(turn->conn, &self);

    if (rc != FL_OK) {
        fl_http_refuse_limit(turn, 503, FL_RPC_BUSY,
                             "too many sessions (http.max_sessions, "
                             "http.max_sessions_per_address)",
                             turn->hub->options.http.max_sessions);
        return;
    }
    self->link.endpoint = turn->endpoint;
    self->principal = turn->asked->principal;
    turn->link = fl_link_ref(&self->link);
    self->turn = turn;
    if (tell_endpoint(self) != FL_OK) {
        begin_end(self, FL_E_NOMEM, fl_status_text(FL_E_NOMEM));
        return;
    }
    fl_http_turn_forget(turn);
    from->events->on_link(from, &self->link, from->user);
    if (self->link.events == NULL)
        fl_link_close(&self->link);
}

/* Answers cannot be held back, so new questions are. */
static bool is_full(const sse_link *self)
{
    const fl_http_turn *turn = self->turn;

    return fl_stream_pending(turn->conn->stream) +
               fl_exchange_pending(turn->exchange) >=
           self->hub->options.high_water;
}

void fl_http_sse_take(fl_link *link, fl_http_turn *turn, const fl_msg *msg)
{
    sse_link *self = (sse_link *)link;

    if (self->turn == NULL || is_full(self)) {
        fl_http_refuse_limit(turn, 503, FL_RPC_BUSY,
                             "the event stream is not being read (high_water)",
                             self->hub->options.high_water);
        return;
    }
    link->stats.messages_in++;
    link->stats.bytes_in += msg->text.len;
    link->stats.last_seen_ms = fl_loop_now(link->loop);
    fl_link_ref(link);
    link->events->on_message(link, msg, (fl_reply){link, NULL});
    fl_link_unref(link);
    fl_http_turn_answer(turn, 202, NULL, 0, NULL, 0);
    fl_http_turn_free(turn);
}

static fl_status send(sse_link *self, const fl_span *parts, size_t count,
                      bool urgent)
{
    if (fl_span_total(parts, count) > self->hub->options.max_message)
        return FL_E_TOO_BIG;
    if (self->turn == NULL)
        return FL_E_STATE;
    fl_span type = fl_http_event_type(self->hub, false, parts, count);
    fl_status rc = fl_http_turn_event(self->turn, (fl_span){0}, type, parts,
                                      count, urgent);
    self->busy |= rc == FL_BUSY;
    return rc;
}

fl_status fl_http_sse_send(fl_link *link, void *stream, const fl_span *parts,
                           size_t count)
{
    (void)stream;
    return send((sse_link *)link, parts, count, false);
}

fl_status fl_http_sse_answer(fl_link *link, void *stream, int code,
                             const fl_span *parts, size_t count)
{
    (void)stream;
    (void)code;
    return count > 0 ? send((sse_link *)link, parts, count, true) : FL_OK;
}

void fl_http_sse_lost(fl_link *link)
{
    sse_link *self = (sse_link *)link;
    fl_http_turn *turn = self->turn;

    self->turn = NULL;
    begin_end(self, FL_END, "the client closed the event stream");
    fl_http_turn_free(turn);
}

void fl_http_sse_writable(fl_link *link)
{
    sse_link *self = (sse_link *)link;

    if (!self->busy || link->state != FL_LINK_ACTIVE)
        return;
    self->busy = false;
    if (link->events->on_writable != NULL)
        link->events->on_writable(link);
}

void fl_http_sse_close(fl_link *link)
{
    begin_end((sse_link *)link, FL_OK, "closed");
}

void fl_http_sse_free(fl_link *link)
{
    sse_link *self = (sse_link *)link;

    fl_timer_stop(&self->timer);
    self->caller->named--;
    fl_http_hub_let_go(self->hub, self->caller);
    fl_http_hub_unref(self->hub);
    fl_mem_free(self);
}

uint64_t fl_http_sse_principal(const fl_link *link)
{
    return ((const sse_link *)link)->principal;
}

fl_span fl_http_sse_id(const fl_link *link)
{
    return fl_http_id(((const sse_link *)link)->id);
}

void fl_http_sse_info(const fl_link *link, fl_link_info *info)
{
    const sse_link *self = (const sse_link *)link;

    info->max_message = self->hub->options.max_message;
    info->principal = self->principal;
    snprintf(info->peer, sizeof info->peer, "%s", self->caller->name);
    if (self->turn != NULL && self->turn->conn != NULL)
        info->buffered = fl_stream_pending(self->turn->conn->stream);
}
