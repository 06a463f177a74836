/*
 * http_resume.c - GET in a session: the standing stream, and streams that go
 * on where they broke off.
 *
 * An event's id is STREAM-NUMBER; stream 0 is the standing one. What was missed
 * is replayed from the log first; a stream whose answer is still to come is
 * then live again on the new connection. An id the log never had, or has had to
 * forget, is told as such before the stream opens: a gap is never passed over
 * in silence.
 */
#include "transport/http_server.h"

#include "base/mem.h"
#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"

/* Digits alone, no more than 64 bits. */
static bool read_number(fl_span text, uint64_t *out)
{
    uint64_t value = 0;

    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned)(text.ptr[i] - '0');
        if (text.ptr[i] < '0' || text.ptr[i] > '9' ||
            value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

static bool read_event_id(fl_span text, uint64_t *stream, uint64_t *number)
{
    size_t hyphen = fl_span_find(text, '-');

    return hyphen < text.len &&
           read_number((fl_span){text.ptr, hyphen}, stream) &&
           read_number(fl_span_from(text, hyphen + 1), number);
}

/* The turn that is still waiting for its answer, or NULL. */
static fl_http_turn *find_running(const fl_http_session *session,
                                  uint64_t stream)
{
    for (fl_list *node = session->turns.next; node != &session->turns;
         node = node->next) {
        fl_http_turn *turn = FL_LIST_ENTRY(node, fl_http_turn, session_node);
        if (!turn->standing && !turn->replaying && turn->stream == stream)
            return turn;
    }
    return NULL;
}

static void on_event(void *user, uint64_t number, fl_span data)
{
    fl_http_turn *turn = user;
    char id[FL_HTTP_EVENT_ID];

    if (turn->exchange == NULL || fl_http_turn_stream(turn) != FL_OK)
        return;
    turn->events = number;
    /* past the mark if need be: it is bounded by what the log holds */
    (void)!fl_http_turn_event(turn, fl_http_turn_id(turn, id),
                              fl_http_event_type(turn->hub, false, &data, 1),
                              &data, 1, true);
}

static void refuse(fl_http_turn *turn, fl_status status)
{
    const fl_http_settings *http = &turn->hub->options.http;

    if (status == FL_E_LIMIT)
        fl_http_refuse_limit(turn, 410, FL_RPC_INVALID_PARAMS,
                             "events after that one are no longer kept "
                             "(http.event_max, http.event_bytes, "
                             "http.event_age_ms)",
                             http->event_max);
    else
        fl_http_refuse_with(turn, 400, FL_RPC_INVALID_PARAMS,
                            "Last-Event-ID names no event of this session");
}

static void go_live(fl_http_session *session, fl_http_turn *turn)
{
    turn->events = session->said; /* what was forgotten is passed over */
    if (fl_http_turn_stream(turn) != FL_OK) {
        fl_http_turn_break(turn);
        fl_http_turn_free(turn);
        return;
    }
    fl_http_turn_forget(turn);
    session->waiting = 0;
    fl_http_session_writable(session);
}

static void on_done(void *user, fl_status status)
{
    fl_http_turn *turn = user;
    fl_http_session *session = (fl_http_session *)turn->link;
    fl_http_turn *running = find_running(session, turn->stream);

    turn->replaying = false;
    if (turn->exchange == NULL) {
        fl_http_turn_free(turn);
        return;
    }
    /* nothing was missed, or nothing was asked for, whatever the log has had
     * to forget */
    bool alive = turn->standing || running != NULL;
    uint64_t said = turn->standing    ? session->said
                    : running != NULL ? running->events
                                      : 0;
    bool current = (alive && turn->events == said) || turn->unasked;
    if (status != FL_OK && !current) {
        refuse(turn, status);
    } else if (turn->standing) {
        go_live(session, turn);
    } else if (fl_http_turn_stream(turn) != FL_OK) {
        fl_http_turn_break(turn);
        fl_http_turn_free(turn);
    } else if (running != NULL) {
        fl_http_turn_adopt(running, turn);
    } else {
        fl_http_turn_finish(turn); /* the answer was the last thing replayed */
        fl_http_turn_free(turn);
    }
}

static const fl_replay replay = {.on_event = on_event, .on_done = on_done};

static void begin_replay(fl_http_session *session, fl_http_turn *turn)
{
    turn->replaying = true;
    if (session->log != NULL)
        fl_event_log_replay(session->log, turn->stream, turn->events,
                            fl_loop_now(session->caller->hub->loop), &replay,
                            turn);
    else
        on_done(turn, FL_E_NOT_FOUND);
}

/* The oldest makes way: it is most likely to have been given up. */
static void limit_standing(fl_http_session *session)
{
    unsigned count = 0;
    fl_http_turn *oldest = NULL;

    for (fl_list *node = session->turns.prev; node != &session->turns;
         node = node->prev) {
        fl_http_turn *turn = FL_LIST_ENTRY(node, fl_http_turn, session_node);
        if (!turn->standing)
            continue;
        oldest = turn;
        count++;
    }
    if (count < session->caller->hub->options.http.max_streams)
        return;
    fl_http_turn_finish(oldest);
    fl_http_turn_free(oldest);
}

void fl_http_session_listen(fl_http_session *session, fl_http_turn *turn,
                            fl_span last)
{
    uint64_t stream = 0, number = session->said - session->waiting;

    if (last.len > 0 && (session->caller->hub->options.http.no_resume ||
                         !read_event_id(last, &stream, &number))) {
        refuse(turn, FL_E_NOT_FOUND);
        return;
    }
    session->link.stats.last_seen_ms = fl_loop_now(session->caller->hub->loop);
    turn->standing = stream == 0;
    if (turn->standing)
        limit_standing(session);
    turn->link = fl_link_ref(&session->link);
    turn->resumable = !session->caller->hub->options.http.no_resume;
    turn->stream = stream;
    turn->events = number;
    turn->unasked = last.len == 0;
    fl_list_append(&session->turns, &turn->session_node);
    begin_replay(session, turn);
}
