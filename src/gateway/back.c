/*
 * back.c - the life of one conversation with a server.
 *
 *   opening -> ready -> (outage) opening ... -> closing
 *
 * When a lane ends the connection is lost, or a child has died: what was in
 * flight is failed at once, with what the child said last, and another lane is
 * opened, at another place at once if one is well, or after a while. What waits
 * meanwhile waits on, until its own time is over.
 */
#include "gateway/back.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "gateway/cells.h"
#include "gateway/gateway.h"
#include "gateway/inquiry.h"
#include "gateway/report.h"
#include "gateway/route.h"
#include "gateway/spares.h"
#include "gateway/standing.h"
#include "io/loop.h"
#include "rpc/error.h"

enum {
    KEY_MAX = 4 * 1024 * 1024,
    OUTPUTS_MAX = 10000,
    WORDS_MAX = 64 * 1024,
    LATE_MS = 5000,
};

static void open_lane(fl_back *back);

static fl_loop *loop_of(const fl_back *back)
{
    return back->route->gateway->loop;
}

bool fl_back_is_ready(const fl_back *back)
{
    return back->lane != NULL && fl_lane_is_ready(back->lane);
}

bool fl_back_is_modern(const fl_back *back)
{
    return back->revision != NULL && !back->revision->legacy;
}

bool fl_back_is_private(const fl_back *back)
{
    return back->own || fl_buf_len(&back->key) > 0;
}

bool fl_back_stands(const fl_back *back)
{
    return fl_back_is_ready(back) && fl_back_is_private(back) &&
           fl_replica_is_child(back->replica);
}

const fl_revision *fl_revision_speaks(const fl_revision *agreed)
{
    return agreed != NULL && agreed->legacy
               ? fl_revision_get(FL_REVISION_2025_11_25)
               : agreed;
}

const fl_revision *fl_back_speaks(const fl_back *back)
{
    return fl_revision_speaks(back->revision);
}

bool fl_errand_crosses(const fl_errand *errand)
{
    return fl_back_is_modern(errand->back) == errand->asker.revision->legacy;
}

static void free_back(fl_back *back)
{
    fl_route *route = back->route;

    fl_timer_stop(&back->turn);
    fl_timer_stop(&back->late);
    fl_timer_stop(&back->timer);
    fl_timer_stop(&back->hold);
    fl_list_remove(&back->node);
    fl_route_forget(route, back);
    route->back_count--;
    route->gateway->backs--;
    fl_to_legacy_free(back);
    fl_to_modern_free(back);
    fl_numbers_deinit(&back->numbers);
    fl_outputs_deinit(&back->outputs);
    fl_buf_reset(&back->key);
    fl_buf_reset(&back->params);
    fl_buf_reset(&back->words);
    fl_mem_free(back);
    fl_spares_turn(route);
    fl_gateway_settle(route->gateway);
}

static void note_heard(fl_back *back)
{
    back->heard_ms = fl_loop_now(loop_of(back));
    back->vain = 0;
}

static void on_ready(void *user)
{
    fl_back *back = user;
    fl_route *route = back->route;

    fl_backoff_reset(&back->backoff);
    back->backoff.attempts =
        route->upstream.client.connection.reconnect_attempts;
    fl_timer_stop(&back->late);
    back->up = true;
    note_heard(back);
    back->revision = fl_lane_revision(back->lane);
    back->replica->verdict = fl_client_verdict(back->lane);
    back->replica->verdict_ms = back->heard_ms;
    fl_buf_reset(&back->words);
    fl_hellos_learn(&route->hellos, back->offered, back->revision,
                    fl_lane_said(back->lane));
    fl_health_opened(back->replica);
    fl_spares_works(route);
    fl_route_share(back);
    if (fl_back_is_modern(back)) {
        fl_to_modern_ready(back);
    } else {
        fl_standing_replay(back);
        fl_to_legacy_ready(back);
    }
    fl_back_carry_waiting(back);
}

/* What the transport made up is no word of the server's. */
static void on_message(void *user, const fl_msg *msg, fl_reply reply)
{
    fl_back *back = user;

    if (back->lane != NULL && fl_link_blame(fl_lane_link(back->lane)) == NULL)
        note_heard(back);
    fl_back_hear(back, msg, reply);
}

static void on_writable(void *user)
{
    fl_back_carry_waiting(user);
}

/* A request with a stream of its own may still be answered. */
static void on_down(void *user, const fl_error *why)
{
    fl_back *back = user;

    fl_inquiries_lose_back(back);
    fl_to_legacy_down(back);
    if (!fl_lane_has_streams(back->lane))
        fl_back_lose_sent(back, why);
}

/* What is wrong with a command or an address stays wrong; but there may be
 * another. */
static bool is_worth_a_try(const fl_back *back)
{
    fl_status status = back->why.status;

    return back->route->replica_count > 1 ||
           (status != FL_E_INVALID && status != FL_E_NOT_FOUND &&
            status != FL_E_DENIED && status != FL_E_UNSUPPORTED);
}

/* It will not be opened again. */
static void end(fl_back *back)
{
    back->closing = true;
    fl_back_lose_sent(back, &back->why);
    fl_back_fail_waiting(back, &back->why);
    fl_to_legacy_end(back);
}

static void restart(fl_back *back, uint64_t wait_ms)
{
    fl_log_say(fl_loop_log(loop_of(back)), FL_LOG_WARN,
               "the server has gone; it is started again",
               fl_log_text("server", fl_span_of(back->route->name)),
               fl_log_text("replica", fl_span_of(back->replica->label)),
               fl_log_text("reason", fl_span_of(back->why.text)),
               fl_log_int("wait_ms", (int64_t)wait_ms));
    fl_timer_start(&back->hold, wait_ms);
}

/* What was opened, was asked something and went may have died of that: it says
 * nothing to those who have another. */
static bool is_its_own_loss(const fl_back *back)
{
    return back->up && back->used && fl_back_is_private(back);
}

/* Nobody needs another, or can be given one. */
static void say_gone(const fl_back *back)
{
    fl_log_say(fl_loop_log(loop_of(back)), FL_LOG_WARN, "the server has gone",
               fl_log_text("server", fl_span_of(back->route->name)),
               fl_log_text("replica", fl_span_of(back->replica->label)),
               fl_log_text("reason", fl_span_of(back->why.text)));
}

/* Nobody is made to wait for a server that fails again and again. */
static void note_failure(fl_back *back)
{
    fl_error why = back->why;

    if (back->users.only != 0) /* it may be about a call: not for all to know */
        fl_whose_hush(&why);
    if (is_its_own_loss(back))
        fl_health_lost_one(back->replica, &why);
    else
        fl_health_lost(back->replica, &why);
    if (!fl_health_has_hope(back->route))
        fl_back_fail_waiting(back, &back->why);
}

/* An answer may be kept for a client that is to come back, and finds it by its
 * number: the next lane must not give that to another. */
static void keep_count(fl_back *back)
{
    if (back->lane != NULL)
        back->last_number = fl_lane_number(back->lane);
}

/* Nobody is on it but who asks; it is not opened for nobody. */
static bool is_needed(const fl_back *back)
{
    return back->leans > 1 || back->spare;
}

/* Another place that is well; or any, if this one must not be asked. */
static fl_replica *find_other(fl_back *back)
{
    fl_replica *here = back->replica;
    fl_replica *well = fl_replica_pick_well(back->route, here);
    uint64_t wait_ms;

    if (well != NULL || (!here->leaving && fl_health_would(here, &wait_ms)))
        return well;
    return fl_replica_pick(back->route, here);
}

static void go_to(fl_back *back, fl_replica *other)
{
    fl_log_say(fl_loop_log(loop_of(back)), FL_LOG_WARN,
               "the server has gone; another replica takes its place",
               fl_log_text("server", fl_span_of(back->route->name)),
               fl_log_text("replica", fl_span_of(back->replica->label)),
               fl_log_text("next", fl_span_of(other->label)),
               fl_log_text("reason", fl_span_of(back->why.text)));
    back->replica = other;
    open_lane(back);
}

/* All attempts were made. One that was there once is tried without end, as
 * long as somebody needs it. */
static bool is_spent(fl_back *back, uint64_t *wait_ms)
{
    back->backoff.first_ms = fl_replica_backoff_first(back->replica);
    back->backoff.max_ms = fl_replica_backoff_max(back->replica);
    return (back->revision == NULL &&
            back->route->upstream.connect_attempts == 1) ||
           fl_backoff_next(&back->backoff, wait_ms) != FL_OK;
}

/* Where to from here, and when. */
static void go_on(fl_back *back)
{
    bool over =
        back->closing || !fl_route_is_open(back->route) || !is_needed(back);
    fl_replica *other = !over ? find_other(back) : NULL;
    uint64_t wait_ms;

    if (other != NULL) {
        go_to(back, other);
    } else if (over || !is_worth_a_try(back) || is_spent(back, &wait_ms)) {
        if (!back->closing)
            say_gone(back);
        fl_spares_lost(back);
        end(back);
    } else {
        restart(back, wait_ms);
    }
}

/* The lane has gone, or is let go of. */
static void lose_lane(fl_back *back, const fl_error *why)
{
    fl_back_take_words(back);
    fl_report_keep(back);
    keep_count(back);
    back->lane = NULL;
    fl_timer_stop(&back->late);
    fl_timer_stop(&back->hold);
    if (why->status != FL_OK)
        back->why = *why;
    else
        fl_error_set(&back->why, FL_E_CLOSED, "Upstream connection closed");
    fl_inquiries_lose_back(back);
    fl_to_legacy_down(back);
    fl_back_lose_sent(back, &back->why);
}

static void on_closed(void *user, const fl_error *why)
{
    fl_back *back = user;

    fl_back_lean(back); /* who is told may be the last to leave */
    lose_lane(back, why);
    if (!back->closing)
        note_failure(back);
    go_on(back);
    fl_back_leave(back);
}

void fl_back_move(fl_back *back, const fl_error *why)
{
    fl_client *lane = back->lane;

    if (back->closing)
        return;
    fl_back_lean(back);
    back->moving = true;
    lose_lane(back, why);
    back->moving = false;
    if (lane != NULL)
        fl_lane_drop(lane);
    go_on(back);
    fl_back_leave(back);
}

void fl_back_attend(fl_back *back)
{
    fl_replica *replica = back->replica;
    uint64_t wait_ms;

    if (!fl_back_stands(back) && !fl_health_would(replica, &wait_ms))
        fl_back_move(back, &replica->health.why);
}

static const fl_lane_events lane_events = {
    .on_ready = on_ready,
    .on_message = on_message,
    .on_writable = on_writable,
    .on_down = on_down,
    .on_closed = on_closed,
};

static void open_lane(fl_back *back)
{
    fl_client_options options = fl_replica_options(back->replica);
    fl_buf text;
    fl_error error;

    back->up = false;
    fl_health_tried(back->replica);
    fl_whose_begins(&back->users);
    fl_buf_init(&text, KEY_MAX);
    fl_lane_hello hello = fl_back_hello(back, &text);
    back->lane = fl_lane_open(loop_of(back), back->replica->target.url,
                              &options, &hello, &lane_events, back, &error);
    fl_buf_reset(&text);
    if (back->lane == NULL)
        on_closed(back, &error);
    else
        fl_timer_start(&back->late, LATE_MS);
}

static void close_idle(fl_back *back)
{
    fl_error why = {.status = FL_OK};

    fl_back_close(back, &why);
}

/* Where it may be tried first; the same place if nowhere. */
static void open_again(fl_back *back)
{
    fl_replica *next = fl_replica_pick(back->route, NULL);

    if (next == NULL && back->replica->leaving)
        next = FL_LIST_ENTRY(back->route->replicas.next, fl_replica, node);
    if (next != NULL)
        back->replica = next;
    back->route->restarts++;
    open_lane(back);
}

static void on_hold(fl_timer *timer)
{
    fl_back *back = FL_LIST_ENTRY(timer, fl_back, hold);

    fl_back_lean(back);
    if (back->lane == NULL && !back->closing)
        open_again(back);
    else
        fl_back_carry_waiting(back);
    fl_back_leave(back);
}

/* Many wait for it meanwhile, and nothing else would tell of it before it is
 * given up, which may be never. */
static void on_late(fl_timer *timer)
{
    fl_back *back = FL_LIST_ENTRY(timer, fl_back, late);

    fl_log_say(fl_loop_log(loop_of(back)), FL_LOG_WARN,
               fl_back_is_reached(back)
                   ? "the server has not answered initialize yet"
                   : "the server has not been reached yet",
               fl_log_text("server", fl_span_of(back->route->name)),
               fl_log_text("replica", fl_span_of(back->replica->label)),
               fl_log_int("waited_ms", LATE_MS));
}

static void on_timer(fl_timer *timer)
{
    fl_back *back = FL_LIST_ENTRY(timer, fl_back, timer);

    if (back->leans == 0 && !back->spare) {
        close_idle(back);
        return;
    }
    fl_back_lean(back);
    fl_back_expire(back);
    fl_back_watch_time(back);
    fl_back_leave(back);
}

static void on_turn(fl_timer *timer)
{
    fl_back_carry_waiting(FL_LIST_ENTRY(timer, fl_back, turn));
}

void fl_back_lean(fl_back *back)
{
    back->leans++;
    if (back->leans == 1)
        fl_timer_stop(&back->timer);
}

/* One of nobody's own stays for a while, for the next who comes; but not if
 * it has died meanwhile. */
void fl_back_leave(fl_back *back)
{
    uint64_t idle_ms = back->route->upstream.idle_ms;

    if (back->replica->leaving)
        fl_route_desert(back->replica);
    if (--back->leans > 0)
        return;
    back->idle_since = fl_loop_now(loop_of(back));
    if (back->closing) {
        if (back->lane == NULL)
            free_back(back);
        return; /* or on_closed comes */
    }
    if (back->spare || fl_spares_keeps(back))
        return;
    if (back->own || back->lane == NULL)
        fl_timer_start(&back->timer, 0);
    else if (idle_ms != FL_NEVER)
        fl_timer_start(&back->timer, idle_ms);
    else
        fl_timer_stop(&back->timer);
}

void fl_back_close(fl_back *back, const fl_error *why)
{
    back->closing = true;
    fl_back_lean(back);
    fl_inquiries_lose_back(back);
    fl_back_lose_sent(back, why);
    fl_back_fail_waiting(back, why);
    fl_to_legacy_end(back);
    fl_timer_stop(&back->timer);
    fl_timer_stop(&back->hold);
    fl_timer_stop(&back->late);
    if (back->lane != NULL)
        fl_client_close(back->lane); /* on_closed does the rest */
    fl_back_leave(back);
}

fl_back *fl_back_new(fl_replica *replica, fl_span key, fl_span params,
                     const fl_revision *offered, fl_error *error)
{
    fl_route *route = replica->route;

    if (!fl_route_is_open(route)) {
        fl_error_set(error, FL_E_CLOSED, "the gateway is shutting down");
        return NULL;
    }
    fl_back *back = fl_mem_zalloc(sizeof *back);
    fl_error_set(error, FL_E_NOMEM, "out of memory");
    if (back == NULL)
        return NULL;
    back->route = route;
    back->replica = replica;
    back->offered = offered;
    fl_buf_init(&back->key, KEY_MAX);
    fl_buf_init(&back->params, KEY_MAX);
    fl_buf_init(&back->words, WORDS_MAX);
    fl_list_init(&back->fronts);
    fl_list_init(&back->waiting);
    fl_list_init(&back->sent);
    fl_list_init(&back->parked);
    fl_list_init(&back->questions);
    fl_outputs_init(&back->outputs, OUTPUTS_MAX);
    fl_timer_init(&back->timer, route->gateway->loop, on_timer);
    fl_timer_init(&back->turn, route->gateway->loop, on_turn);
    fl_timer_init(&back->hold, route->gateway->loop, on_hold);
    fl_timer_init(&back->late, route->gateway->loop, on_late);
    back->backoff.attempts = route->upstream.connect_attempts - 1;
    if (fl_buf_append(&back->key, key) != FL_OK ||
        fl_buf_append(&back->params, params) != FL_OK) {
        fl_buf_reset(&back->key);
        fl_buf_reset(&back->params);
        fl_mem_free(back);
        return NULL;
    }
    fl_list_append(&route->backs, &back->node);
    route->back_count++;
    route->gateway->backs++;
    fl_back_lean(back); /* opening it may fail at once */
    open_lane(back);
    back->leans--;
    if (!back->closing)
        return back;
    *error = back->why;
    free_back(back);
    return NULL;
}
