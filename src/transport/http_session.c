/*
 * http_session.c - a conversation of 2025-03-26 to 2025-11-25: a link whose
 * requests come by POST, and whose own messages go to the standing stream the
 * client opened by GET.
 *
 * While no standing stream is open, what is sent waits in the event log; the
 * next one gets it. So the log is queue and memory in one: the last `waiting`
 * of what it holds are the queue, and Last-Event-ID moves its beginning back.
 */
#include "transport/http_server.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "rpc/extract.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    WAITING_MAX = 256,      /* messages that wait for a standing stream */
    EVICT_AFTER_MS = 60000, /* of silence, when there is no room for another */
    LOOK_AT = 256,          /* sessions, for one to take the place of */
};

static_assert(WAITING_MAX < 1 << 9, "a session can count them");

static const struct {
    fl_status status;
    const char *text;
} endings[] = {
    [FL_HTTP_OVER_CLOSED] = {FL_OK, "closed"},
    [FL_HTTP_OVER_DELETED] = {FL_END, "the client ended the session"},
    [FL_HTTP_OVER_REFUSED] = {FL_E_BAD_MESSAGE, "initialize failed"},
    [FL_HTTP_OVER_IDLE] = {FL_E_TIMEOUT, "the session was idle for too long"},
    [FL_HTTP_OVER_EVICTED] = {FL_E_LIMIT, "another session needed the room"},
};

/* Wakes up for the session's own end, and for what its log has to forget. One
 * that is over ends at once: what is still said on it must not put that off. */
static void watch(fl_http_session *session, uint64_t ms)
{
    uint64_t age = session->caller->hub->options.http.event_age_ms;

    if (session->link.state != FL_LINK_ACTIVE)
        return;
    if (session->log != NULL && age < ms)
        ms = age + 1;
    if (ms != FL_NEVER)
        fl_timer_start(&session->timer, ms);
}

static bool is_idle(const fl_http_session *session)
{
    return session->link.holds == 0 && fl_list_empty(&session->turns);
}

static uint64_t silence(const fl_http_session *session)
{
    return fl_loop_now(session->caller->hub->loop) -
           session->link.stats.last_seen_ms;
}

/* Whoever still waits for an answer is told that there will be none. */
static void end_turns(fl_http_session *session)
{
    fl_list *node;

    while ((node = fl_list_take(&session->turns)) != NULL) {
        fl_http_turn *turn = FL_LIST_ENTRY(node, fl_http_turn, session_node);
        if (turn->phase == FL_HTTP_WAITING && turn->exchange != NULL) {
            fl_http_refuse_with(turn, 404, FL_RPC_INVALID_REQUEST,
                                "the session has ended");
            continue;
        }
        fl_http_turn_finish(turn);
        fl_http_turn_free(turn);
    }
}

static void leave_hub(fl_http_session *session)
{
    fl_index_remove(&session->caller->hub->sessions, fl_http_id(session->id));
    fl_list_remove(&session->node);
    session->caller->sessions--;
}

/* on_closed comes later, always: the timer brings it. */
void fl_http_session_over(fl_http_session *session, fl_http_over why)
{
    if (fl_link_move(&session->link, FL_LINK_CLOSING) != FL_OK)
        return;
    session->over = why;
    leave_hub(session);
    fl_timer_start(&session->timer, 0);
}

static void settle_budget(fl_http_session *session);

static void end(fl_http_session *session)
{
    fl_error why;

    end_turns(session);
    if (session->log != NULL)
        fl_event_log_close(session->log);
    session->log = NULL;
    settle_budget(session);
    fl_error_set(&why, endings[session->over].status, "%s",
                 endings[session->over].text);
    fl_link_ended(&session->link, &why);
}

static void forget_old(fl_http_session *session)
{
    if (session->log == NULL)
        return;
    fl_event_log_expire(session->log, fl_loop_now(session->caller->hub->loop));
    settle_budget(session);
}

static void on_timer(fl_timer *timer)
{
    fl_http_session *session = FL_LIST_ENTRY(timer, fl_http_session, timer);
    uint64_t limit = session->caller->hub->options.http.session_idle_ms;

    if (session->link.state == FL_LINK_CLOSING) {
        end(session);
        return;
    }
    forget_old(session);
    if (!is_idle(session) || limit == FL_NEVER)
        watch(session, limit);
    else if (silence(session) < limit)
        watch(session, limit - silence(session));
    else
        fl_http_session_over(session, FL_HTTP_OVER_IDLE);
}

/* One that has been silent for long gives way: its client, should it come
 * back, initializes again. */
static bool make_room(fl_http_hub *hub)
{
    int looked_at = 0;

    if (fl_index_count(&hub->sessions) < hub->options.http.max_sessions)
        return true;
    for (fl_list *node = hub->by_use.next;
         node != &hub->by_use && looked_at < LOOK_AT; node = node->next) {
        fl_http_session *oldest = FL_LIST_ENTRY(node, fl_http_session, node);
        if (is_idle(oldest) && silence(oldest) >= EVICT_AFTER_MS) {
            fl_http_session_over(oldest, FL_HTTP_OVER_EVICTED);
            return true;
        }
        looked_at++;
    }
    return false;
}

static fl_http_session *make(fl_http_conn *conn)
{
    fl_http_session *session = fl_mem_zalloc(sizeof *session);

    if (session == NULL)
        return NULL;
    fl_link_init(&session->link, &fl_http_session_transport,
                 conn->caller->hub->loop, true);
    fl_http_hub_ref(conn->caller->hub);
    session->caller = conn->caller;
    session->caller->named++;
    fl_list_init(&session->turns);
    fl_list_init(&session->node);
    fl_timer_init(&session->timer, conn->caller->hub->loop, on_timer);
    return session;
}

static fl_status enter_hub(fl_http_session *session)
{
    fl_http_hub *hub = session->caller->hub;
    fl_status rc = fl_http_hub_mint(session->id);

    if (rc == FL_OK)
        rc = fl_index_add(&hub->sessions, &session->link);
    if (rc == FL_OK)
        rc = fl_link_move(&session->link, FL_LINK_ACTIVE);
    if (rc != FL_OK)
        return rc;
    session->link.stats.last_seen_ms = fl_loop_now(hub->loop);
    session->caller->sessions++;
    fl_list_append(&hub->by_use, &session->node);
    watch(session, hub->options.http.session_idle_ms);
    return FL_OK;
}

fl_status fl_http_session_new(const fl_http_turn *turn, fl_http_session **out)
{
    fl_http_conn *conn = turn->conn;
    fl_http_hub *hub = conn->caller->hub;
    fl_listener *from = &hub->listener->listener;

    *out = NULL;
    if (conn->caller->sessions >= hub->options.http.max_sessions_per_address ||
        !make_room(hub))
        return FL_E_LIMIT;
    fl_http_session *session = make(conn);
    if (session == NULL)
        return FL_E_NOMEM;
    session->link.endpoint = turn->endpoint;
    session->principal = turn->asked->principal;
    fl_status rc = enter_hub(session);
    if (rc != FL_OK) {
        fl_link_unref(&session->link);
        return rc;
    }
    from->events->on_link(from, &session->link, from->user);
    if (session->link.events == NULL) {
        fl_http_session_over(session, FL_HTTP_OVER_CLOSED);
        return FL_E_LIMIT;
    }
    *out = session;
    return session->link.state == FL_LINK_ACTIVE ? FL_OK : FL_E_LIMIT;
}

static void count_in(fl_http_session *session, const fl_msg *msg)
{
    fl_link_stats *stats = &session->link.stats;

    stats->messages_in++;
    stats->bytes_in += msg->text.len;
    stats->last_seen_ms = fl_loop_now(session->caller->hub->loop);
    fl_list_remove(&session->node);
    fl_list_append(&session->caller->hub->by_use, &session->node);
}

static void take_request(fl_http_session *session, fl_http_turn *turn,
                         const fl_msg *msg)
{
    turn->link = fl_link_ref(&session->link);
    turn->resumable = !session->caller->hub->options.http.no_resume;
    fl_list_append(&session->turns, &turn->session_node);
    fl_http_turn_deliver(turn, &session->link, msg);
}

void fl_http_session_take(fl_http_session *session, fl_http_turn *turn,
                          const fl_msg *msg)
{
    fl_link *link = &session->link;

    count_in(session, msg);
    if (msg->kind == FL_MSG_REQUEST || msg->kind == FL_MSG_BATCH) {
        take_request(session, turn, msg);
        return;
    }
    fl_link_ref(link);
    link->events->on_message(link, msg, (fl_reply){link, NULL});
    fl_link_unref(link);
    fl_http_turn_answer(turn, 202, NULL, 0, NULL, 0);
    fl_http_turn_free(turn);
}

bool fl_http_session_opened(fl_http_session *session, fl_span answer)
{
    const fl_revision *revision = NULL;
    fl_msg msg;
    fl_msg_fault fault;

    if (fl_msg_read(answer, &msg, &fault) == FL_OK)
        revision = fl_extract_revision(&msg);
    if (revision != NULL) {
        session->revision = revision->id;
        return true;
    }
    fl_http_session_over(session, FL_HTTP_OVER_REFUSED);
    return false;
}

void fl_http_session_lost(fl_http_session *session, fl_http_turn *turn)
{
    uint64_t patience = session->caller->hub->options.http.give_up_ms;

    /* what is still to be said to a POST is kept for its client */
    if (turn->standing && !turn->replaying)
        fl_http_turn_free(turn);
    else if (patience > 0 && patience != FL_NEVER && !turn->standing)
        fl_timer_start(&turn->timer, patience);
    fl_http_session_writable(session); /* it was its reader that was slow */
}

void fl_http_session_writable(fl_http_session *session)
{
    fl_link *link = &session->link;

    if (!session->busy || link->state != FL_LINK_ACTIVE)
        return;
    session->busy = false;
    if (link->events->on_writable != NULL)
        link->events->on_writable(link);
}

/* What the logs hold counts against the budget, of which they may have half:
 * nobody is turned away for the sake of those who may come back. */
static void settle_budget(fl_http_session *session)
{
    fl_http_hub *hub = session->caller->hub;
    size_t held = session->log != NULL ? fl_event_log_memory(session->log) : 0;

    fl_budget_give(&hub->budget, session->budgeted);
    hub->logged -= session->budgeted;
    fl_budget_charge(&hub->budget, held); /* may_keep() has been asked */
    session->budgeted = held;
    hub->logged += held;
}

static bool may_keep(const fl_http_hub *hub, size_t bytes)
{
    size_t half = hub->budget.max / 2;

    return bytes <= half && hub->logged <= half - bytes &&
           hub->budget.used <= hub->budget.max - bytes;
}

/* The log is opened when there is something to put into it. What cannot be
 * kept leaves a hole, so that who comes back for it is told. */
static fl_status append(fl_http_session *session, uint64_t stream,
                        uint64_t number, fl_span data)
{
    fl_http_hub *hub = session->caller->hub;
    uint64_t now = fl_loop_now(hub->loop);
    fl_status rc = FL_OK;

    if (session->log == NULL) {
        rc =
            fl_events_open(hub->events, fl_http_id(session->id), &session->log);
        if (rc != FL_OK)
            return rc;
        /* from now on things grow old */
        watch(session, hub->options.http.session_idle_ms);
    }
    if (!may_keep(hub, data.len)) {
        fl_event_log_append(session->log, stream, number, (fl_span){0}, now);
        rc = FL_E_LIMIT;
    } else {
        rc = fl_event_log_append(session->log, stream, number, data, now);
    }
    settle_budget(session);
    return rc;
}

fl_status fl_http_session_keep(fl_http_session *session, fl_http_turn *turn,
                               const fl_span *parts, size_t count)
{
    fl_span whole;
    fl_status rc = fl_http_hub_join(session->caller->hub, parts, count, &whole);

    if (rc == FL_OK)
        rc = append(session, turn->stream, turn->events, whole);
    fl_buf_truncate(&session->caller->hub->text, 0);
    return rc;
}

/* The latest standing stream; a client that lost one has opened another. */
static fl_http_turn *receiver(const fl_http_session *session)
{
    for (fl_list *node = session->turns.prev; node != &session->turns;
         node = node->prev) {
        fl_http_turn *turn = FL_LIST_ENTRY(node, fl_http_turn, session_node);
        if (turn->standing && turn->exchange != NULL && !turn->replaying)
            return turn;
    }
    return NULL;
}

/* Nobody reads. What the log would not take is not put to it: the hole would
 * cost what waits there already, and here the sender can be told. */
static fl_status put_aside(fl_http_session *session, const fl_span *parts,
                           size_t count)
{
    fl_http_turn nobody = {.events = session->said + 1};
    size_t bytes = fl_span_total(parts, count);

    if (bytes > session->caller->hub->options.http.event_bytes)
        return FL_E_TOO_BIG;
    if (session->waiting >= WAITING_MAX ||
        !may_keep(session->caller->hub, bytes))
        return FL_BUSY;
    session->said++; /* used up, even if there was no memory */
    session->waiting++;
    return fl_http_session_keep(session, &nobody, parts, count);
}

static fl_status send_live(fl_http_session *session, fl_http_turn *turn,
                           const fl_span *parts, size_t count)
{
    char id[FL_HTTP_EVENT_ID];

    turn->events = session->said + 1;
    fl_status rc = fl_http_turn_event(
        turn, fl_http_turn_id(turn, id),
        fl_http_event_type(session->caller->hub, false, parts, count), parts,
        count, false);
    if (rc != FL_OK)
        return rc;
    if (turn->resumable)
        fl_http_session_keep(session, turn, parts, count);
    session->said++;
    session->waiting = 0;
    return FL_OK;
}

static fl_status send_standing(fl_http_session *session, const fl_span *parts,
                               size_t count)
{
    fl_http_turn *turn = receiver(session);
    fl_status rc = turn != NULL ? send_live(session, turn, parts, count)
                                : put_aside(session, parts, count);

    session->busy |= rc == FL_BUSY;
    return rc;
}

fl_status fl_http_session_send(fl_link *link, void *stream,
                               const fl_span *parts, size_t count)
{
    fl_http_session *session = (fl_http_session *)link;

    if (stream != NULL)
        return fl_http_turn_reply(link, stream, parts, count);
    if (fl_span_total(parts, count) > session->caller->hub->options.max_message)
        return FL_E_TOO_BIG;
    return send_standing(session, parts, count);
}

fl_status fl_http_session_answer(fl_link *link, void *stream, int code,
                                 const fl_span *parts, size_t count)
{
    /* without a turn it was a notification: nobody waits */
    return stream != NULL ? fl_http_turn_end(link, stream, code, parts, count)
                          : FL_OK;
}

void fl_http_session_close(fl_link *link)
{
    fl_http_session_over((fl_http_session *)link, FL_HTTP_OVER_CLOSED);
}

void fl_http_session_free(fl_link *link)
{
    fl_http_session *session = (fl_http_session *)link;
    fl_http_hub *hub = session->caller->hub;

    fl_timer_stop(&session->timer);
    session->caller->named--;
    fl_http_hub_let_go(hub, session->caller);
    fl_http_hub_unref(hub);
    fl_mem_free(session);
}

void fl_http_session_info(const fl_link *link, fl_link_info *info)
{
    const fl_http_session *session = (const fl_http_session *)link;

    info->max_message = session->caller->hub->options.max_message;
    info->principal = session->principal;
    snprintf(info->peer, sizeof info->peer, "%s", session->caller->name);
}
