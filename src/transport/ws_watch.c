/*
 * ws_watch.c - a WebSocket link's sense of time.
 *
 * One timer serves all that is waited for: the next ping, the first message
 * (the lease), any message (idleness), the rest of one, a peer that reads, the
 * answer to our Close. It is not touched by messages that come and go: when it
 * runs out it looks at what happened meanwhile and at what is due next. Only
 * what can be due before it, which is rare, starts it anew.
 */
#include "base/status.h"
#include "io/loop.h"
#include "transport/ws_link_impl.h"

#include <inttypes.h>

enum { SAMPLES = 4 };

/* FL_NEVER if it is not being waited for. */
static uint64_t after(uint64_t since_ms, uint64_t ms)
{
    return since_ms == 0 || ms == FL_NEVER ? FL_NEVER : since_ms + ms;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t now_of(const fl_ws_link *ws)
{
    return fl_loop_now(ws->link.loop);
}

static void run(fl_ws_link *ws, uint64_t due)
{
    uint64_t now = now_of(ws);

    ws->due_ms = due;
    if (due == FL_NEVER)
        fl_timer_stop(&ws->timer);
    else
        fl_timer_start(&ws->timer, due > now ? due - now : 0);
}

/* A server's patience with who says nothing. */
static uint64_t quiet_due(const fl_ws_link *ws)
{
    const fl_link_stats *stats = &ws->link.stats;

    if (!ws->link.server)
        return FL_NEVER;
    if (stats->messages_in == 0)
        return after(stats->opened_ms, ws->settings->lease_ms);
    return after(ws->link.holds > 0 ? now_of(ws) : stats->last_seen_ms,
                 ws->settings->idle_ms);
}

/* While we take nothing in, the rest of a message cannot come. */
static uint64_t message_due(const fl_ws_link *ws)
{
    return ws->paused ? FL_NEVER
                      : after(ws->begun_ms, ws->settings->fragment_ms);
}

static uint64_t stuck_due(const fl_ws_link *ws)
{
    return after(ws->stuck_ms, ws->settings->stuck_ms);
}

/* Output is not told of as it moves: it is looked at a few times. */
static uint64_t sample_due(const fl_ws_link *ws)
{
    uint64_t due = stuck_due(ws);

    return due == FL_NEVER
               ? due
               : earlier(due,
                         now_of(ws) + ws->settings->stuck_ms / SAMPLES + 1);
}

static void schedule(fl_ws_link *ws)
{
    run(ws, earlier(earlier(ws->ping_at_ms, quiet_due(ws)),
                    earlier(message_due(ws), sample_due(ws))));
}

static void hasten(fl_ws_link *ws, uint64_t due)
{
    if (due < ws->due_ms && ws->link.state == FL_LINK_ACTIVE)
        run(ws, due);
}

void fl_ws_watch_open(fl_ws_link *ws)
{
    uint64_t now = now_of(ws);

    ws->link.stats.last_seen_ms = now;
    ws->pinged_ms = ws->begun_ms = ws->stuck_ms = ws->closing_ms = 0;
    ws->ping_at_ms = after(now, ws->settings->ping_ms);
    schedule(ws);
}

void fl_ws_watch_again(fl_ws_link *ws)
{
    hasten(ws, quiet_due(ws));
}

void fl_ws_watch_message(fl_ws_link *ws, bool begun)
{
    if (!begun) {
        ws->begun_ms = 0;
    } else if (ws->begun_ms == 0) {
        ws->begun_ms = now_of(ws);
        hasten(ws, message_due(ws));
    }
}

void fl_ws_watch_paused(fl_ws_link *ws)
{
    ws->pinged_ms = 0;
    if (ws->begun_ms == 0)
        return;
    ws->begun_ms = now_of(ws);
    hasten(ws, message_due(ws));
}

static uint64_t taken(const fl_ws_link *ws)
{
    return ws->written - ws->pipe->pending(ws);
}

void fl_ws_watch_output(fl_ws_link *ws)
{
    bool full = fl_ws_input_is_full(ws);

    fl_ws_output_charge(ws, full);
    if (!full) {
        ws->stuck_ms = 0;
    } else if (ws->stuck_ms == 0) {
        ws->stuck_ms = now_of(ws);
        ws->stuck_at = taken(ws);
        hasten(ws, sample_due(ws));
    }
}

void fl_ws_watch_close(fl_ws_link *ws)
{
    ws->closing_ms = now_of(ws);
    run(ws, after(ws->closing_ms, ws->settings->close_ms));
}

static bool is_stuck(fl_ws_link *ws)
{
    if (ws->stuck_ms == 0)
        return false;
    if (taken(ws) == ws->stuck_at)
        return now_of(ws) >= stuck_due(ws);
    ws->stuck_ms = 0;
    fl_ws_watch_output(ws);
    return false;
}

static void end_stuck(fl_ws_link *ws)
{
    fl_error why;

    fl_error_set(&why, FL_E_TIMEOUT,
                 "the peer takes nothing: no progress in %" PRIu64
                 " ms (send_timeout_ms)",
                 ws->settings->stuck_ms);
    if (ws->hooks->on_lost != NULL)
        fl_ws_link_lose(ws, &why, 0); /* another connection may do better */
    else
        fl_ws_link_fail(ws, FL_WS_INTERNAL, &why);
}

static void end_message(fl_ws_link *ws)
{
    fl_error why;

    fl_error_set(&why, FL_E_TIMEOUT,
                 "a message was not whole within %" PRIu64
                 " ms (ws.fragment_ms)",
                 ws->settings->fragment_ms);
    if (ws->hooks->on_lost != NULL)
        fl_ws_link_drop(ws, FL_WS_POLICY, &why); /* as above */
    else
        fl_ws_link_fail(ws, FL_WS_POLICY, &why);
}

static void end_quiet(fl_ws_link *ws)
{
    bool leased = ws->link.stats.messages_in == 0;
    fl_error why;

    fl_error_set(&why, FL_E_TIMEOUT,
                 leased ? "nothing was said within the lease of %" PRIu64
                          " ms (lease_ms)"
                        : "idle for %" PRIu64 " ms (idle_timeout_ms)",
                 leased ? ws->settings->lease_ms : ws->settings->idle_ms);
    fl_ws_link_fail(ws, leased ? FL_WS_POLICY : FL_WS_GOING_AWAY, &why);
}

/* Nobody is there to be told. */
static void end_dead(fl_ws_link *ws)
{
    fl_error why;

    ws->close_code = FL_WS_ABNORMAL;
    fl_error_set(&why, FL_E_TIMEOUT,
                 "nothing came from the peer between two pings, %" PRIu64
                 " ms apart (ws.ping_ms)",
                 ws->settings->ping_ms);
    fl_ws_link_lose(ws, &why, 0);
}

/* To a peer that does not read, pings would only pile up; is_stuck() ends
 * that. */
static void ping(fl_ws_link *ws)
{
    ws->ping_at_ms = after(now_of(ws), ws->settings->ping_ms);
    if (fl_ws_input_is_full(ws) ||
        fl_ws_link_control(ws, FL_WS_PING, (fl_span){0}) != FL_OK)
        return;
    ws->pinged_ms = now_of(ws);
    ws->link.stats.pings++;
}

static void look_round(fl_ws_link *ws)
{
    uint64_t now = now_of(ws);

    if (now >= message_due(ws))
        end_message(ws);
    else if (is_stuck(ws))
        end_stuck(ws);
    else if (ws->link.holds == 0 && now >= quiet_due(ws))
        end_quiet(ws);
    else if (now >= ws->ping_at_ms && ws->pinged_ms != 0 && !ws->paused)
        end_dead(ws);
    else if (now >= ws->ping_at_ms)
        ping(ws);
    if (ws->link.state == FL_LINK_ACTIVE)
        schedule(ws);
}

void fl_ws_watch_run_out(fl_timer *timer)
{
    fl_ws_link *ws = FL_LIST_ENTRY(timer, fl_ws_link, timer);

    fl_link_ref(&ws->link);
    if (ws->link.state == FL_LINK_ACTIVE)
        look_round(ws);
    else if (ws->link.state != FL_LINK_CLOSING)
        ws->hooks->on_retry(ws);
    else if (ws->pipe != NULL)
        fl_ws_link_shut(ws); /* their Close did not come */
    else
        fl_ws_link_end(ws);
    fl_link_unref(&ws->link);
}
