/*
 * http_reply.c - what the links above say through a turn: messages about a
 * request, and its answer.
 */
#include "transport/http_server.h"

#include "base/span.h"
#include "rpc/error.h"

#include <stdio.h>
#include <string.h>

/* For both kinds of link whose replies are turns. What is not answered at once
 * gives its body back, and becomes a stream before long. */
void fl_http_turn_deliver(fl_http_turn *turn, fl_link *link, const fl_msg *msg)
{
    fl_http_hub *hub = turn->hub;
    uint64_t after = hub->options.http.stream_after_ms;

    hub->serving = turn;
    link->events->on_message(link, msg, (fl_reply){link, turn});
    if (hub->serving != turn)
        return; /* answered */
    hub->serving = NULL;
    fl_http_turn_shed(turn);
    if (turn->phase == FL_HTTP_WAITING && after != FL_NEVER)
        fl_timer_start(&turn->timer, after);
}

static fl_msg_kind kind_of(fl_http_hub *hub, const fl_span *parts, size_t count)
{
    fl_msg msg;
    fl_msg_fault fault;
    fl_span whole;
    fl_status rc = fl_http_hub_join(hub, parts, count, &whole);

    if (rc == FL_OK)
        rc = fl_msg_read(whole, &msg, &fault);
    fl_buf_truncate(&hub->text, 0);
    return rc == FL_OK ? msg.kind : FL_MSG_INVALID;
}

/* The dialects name what an event is; plain MCP calls all of them message. */
fl_span fl_http_event_type(fl_http_hub *hub, bool streamed,
                           const fl_span *parts, size_t count)
{
    if (!streamed && !hub->options.http.event_types)
        return FL_SPAN("message");
    fl_msg_kind kind = kind_of(hub, parts, count);
    if (kind == FL_MSG_ERROR)
        return FL_SPAN("error");
    if (streamed)
        return kind == FL_MSG_RESULT ? FL_SPAN("complete") : FL_SPAN("result");
    return kind == FL_MSG_NOTIFICATION ? FL_SPAN("notification")
                                       : FL_SPAN("message");
}

/* Where nobody reads, an event is said to the log alone. */
static fl_status say(fl_http_turn *turn, bool answer, const fl_span *parts,
                     size_t count)
{
    char id[FL_HTTP_EVENT_ID];
    fl_status rc = FL_OK;

    /* who went before there was a stream has no id to come back with */
    if (turn->exchange == NULL && (!turn->resumable || turn->stream == 0))
        return FL_E_STATE;
    turn->events++;
    if (turn->exchange != NULL)
        rc = fl_http_turn_event(
            turn, fl_http_turn_id(turn, id),
            fl_http_event_type(turn->hub, turn->dialect, parts, count), parts,
            count, answer);
    if (rc != FL_OK)
        turn->events--; /* nothing was sent under that number */
    if (rc == FL_BUSY && turn->link->transport == &fl_http_session_transport)
        ((fl_http_session *)turn->link)->busy = true;
    if (rc != FL_OK || !turn->resumable)
        return rc;
    rc =
        fl_http_session_keep((fl_http_session *)turn->link, turn, parts, count);
    return turn->exchange != NULL ? FL_OK : rc;
}

fl_status fl_http_turn_reply(fl_link *link, fl_http_turn *turn,
                             const fl_span *parts, size_t count)
{
    (void)link;
    if (fl_span_total(parts, count) > turn->hub->options.max_message)
        return FL_E_TOO_BIG;
    fl_status rc = turn->exchange != NULL ? fl_http_turn_stream(turn) : FL_OK;
    return rc == FL_OK ? say(turn, false, parts, count) : rc;
}

static unsigned status_of(const fl_link *link, int code)
{
    if (code == 0)
        return 200;
    const fl_rpc_error *row = fl_rpc_error_find(code);
    if (row->code != code) /* of a tool's own: an answer like any other */
        return 200;
    return link->transport == &fl_http_session_transport ? row->http_legacy
                                                         : row->http_modern;
}

/* Its result decides whether there is a session at all. */
static void open_session(fl_http_turn *turn, const fl_span *parts, size_t count)
{
    fl_span whole;
    fl_status rc = fl_http_hub_join(turn->hub, parts, count, &whole);

    turn->initialize = rc == FL_OK && fl_http_session_opened(
                                          (fl_http_session *)turn->link, whole);
    fl_buf_truncate(&turn->hub->text, 0);
}

void fl_http_turn_retry(fl_link *link, void *stream, unsigned seconds)
{
    fl_http_turn *turn = stream;

    (void)link;
    if (turn != NULL && turn->asked != NULL) /* a stream has no status left */
        turn->asked->retry_s = seconds;
}

static fl_status answer_busy(fl_http_turn *turn, const fl_span *parts,
                             size_t count)
{
    char seconds[16];
    int n = snprintf(seconds, sizeof seconds, "%u",
                     turn->asked->retry_s > 0 ? turn->asked->retry_s : 1);
    fl_field retry = FL_FIELD_SET(RETRY_AFTER, ((fl_span){seconds, (size_t)n}));

    return fl_http_turn_answer(turn, 503, &retry, 1, parts, count);
}

static fl_status answer_json(fl_link *link, fl_http_turn *turn, int code,
                             const fl_span *parts, size_t count)
{
    unsigned status = status_of(link, code);

    return status == 503
               ? answer_busy(turn, parts, count)
               : fl_http_turn_answer(turn, status, NULL, 0, parts, count);
}

/* The end of an event stream, seen by the client or kept for it. */
static fl_status answer_event(fl_http_turn *turn, const fl_span *parts,
                              size_t count)
{
    fl_status rc = count > 0 ? say(turn, true, parts, count) : FL_OK;

    if (rc == FL_OK)
        fl_http_turn_finish(turn);
    else
        fl_http_turn_break(turn); /* better than a stream without an end */
    return rc;
}

/* A result alone is JSON, unless the client has said that it likes events
 * better. An error is known by its status, a session by a field. */
static bool wants_event(const fl_http_turn *turn, int code, size_t count)
{
    if (turn->exchange == NULL)
        return false;
    return turn->dialect || (turn->prefers_events && code == 0 && count > 0 &&
                             !turn->initialize);
}

fl_status fl_http_turn_end(fl_link *link, fl_http_turn *turn, int code,
                           const fl_span *parts, size_t count)
{
    fl_status rc = FL_OK;
    bool streaming = turn->phase == FL_HTTP_STREAMING;

    if (fl_span_total(parts, count) > turn->hub->options.max_message)
        return FL_E_TOO_BIG;
    if (turn->initialize)
        open_session(turn, parts, count);
    if (!streaming && wants_event(turn, code, count))
        streaming = fl_http_turn_stream(turn) == FL_OK;
    if (streaming)
        rc = answer_event(turn, parts, count);
    else if (turn->exchange == NULL)
        rc = FL_E_STATE;
    else if (count > 0)
        rc = answer_json(link, turn, code, parts, count);
    else
        rc = fl_http_turn_answer(turn, 202, NULL, 0, NULL, 0);
    fl_http_turn_free(turn);
    /* the reply has ended, whatever became of it: nothing smaller to be said,
     * and no reason to close the link */
    return rc < 0 ? FL_E_STATE : rc;
}
