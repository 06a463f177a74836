/*
 * back.c - the life of one conversation with a server.
 *
 *   opening -> ready -> (outage) opening ... -> closing
 *
 * A lane sees to outages of a connection itself. When it ends for good, a
 * child has died, most likely: what was in flight is failed at once, with what
 * the child said last, and another lane is opened after a while. What waits
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
    RESTART_FIRST_MS = 250,
    RESTART_MAX_MS = 30000,
    FIRST_ATTEMPTS = 2, /* more, for a server that was never there */
    WORDS_MAX = 64 * 1024,
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
    fl_timer_stop(&back->timer);
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

void fl_back_set_aside(fl_errand *errand)
{
    if (errand->number != 0)
        fl_numbers_remove(&errand->back->numbers, errand->number);
    errand->number = 0;
    errand->state = FL_ERRAND_WAITING;
    fl_list_remove(&errand->by_back);
}

/* Its number is void; it may be asked again. */
void fl_back_take_back(fl_errand *errand)
{
    fl_back_set_aside(errand);
    errand->again = true;
    fl_list_append(&errand->back->waiting, &errand->by_back);
}

static bool can_repeat(const fl_errand *errand)
{
    return !errand->again && errand->msg != NULL &&
           errand->state != FL_ERRAND_PARKED &&
           fl_method_is(errand->method, FL_METHOD_SAFE);
}

static void fail_own(fl_errand *errand, const fl_error *why)
{
    fl_own_fn *own = errand->own;
    void *user = errand->user;

    fl_errand_drop(errand);
    own(user, NULL, why);
}

static void fail(fl_errand *errand, const fl_error *why)
{
    fl_asker asker = errand->asker;

    if (errand->own != NULL) {
        fail_own(errand, why);
        return;
    }
    if (errand->state == FL_ERRAND_PARKED) {
        fl_to_legacy_lost(errand, why);
        return;
    }
    bool opening = errand->method == FL_METHOD_INITIALIZE;
    fl_gateway_refuse_with(&asker, errand->id, why,
                           fl_buf_view(&errand->back->words));
    fl_errand_drop(errand);
    if (opening)
        fl_front_unwelcome(asker.front);
}

static void lose_parked(fl_back *back, const fl_error *why)
{
    fl_list lost, *node;

    fl_list_move(&lost, &back->parked);
    while ((node = fl_list_take(&lost)) != NULL) {
        fl_list_append(&back->parked, node);
        fl_to_legacy_lost(FL_LIST_ENTRY(node, fl_errand, by_back), why);
    }
}

/* What was sent will not be answered. */
static void lose_sent(fl_back *back, const fl_error *why)
{
    fl_list lost;

    fl_list_move(&lost, &back->sent);
    while (!fl_list_empty(&lost)) {
        fl_errand *errand = FL_LIST_ENTRY(lost.next, fl_errand, by_back);
        if (can_repeat(errand) && !back->closing)
            fl_back_take_back(errand);
        else
            fail(errand, why);
    }
    lose_parked(back, why);
}

void fl_back_lose(fl_errand *errand, const fl_error *why)
{
    if (can_repeat(errand) && !errand->back->closing) {
        fl_back *back = errand->back;
        fl_back_take_back(errand);
        fl_back_carry_waiting(back);
    } else {
        fail(errand, why);
    }
}

void fl_back_carry_again(fl_errand *errand)
{
    fl_back *back = errand->back;

    if (back->closing) {
        fail(errand, &back->why);
        return;
    }
    errand->seen_ms = fl_loop_now(loop_of(back));
    fl_list_append(&back->waiting, &errand->by_back);
    fl_back_watch_time(back);
    fl_back_carry_waiting(back);
}

static void fail_waiting(fl_back *back, const fl_error *why)
{
    fl_list lost;

    fl_list_move(&lost, &back->waiting);
    while (!fl_list_empty(&lost))
        fail(FL_LIST_ENTRY(lost.next, fl_errand, by_back), why);
}

static void on_ready(void *user)
{
    fl_back *back = user;
    fl_route *route = back->route;

    fl_backoff_reset(&back->backoff);
    back->backoff.attempts =
        route->upstream.client.connection.reconnect_attempts;
    back->revision = fl_lane_revision(back->lane);
    route->verdict = fl_client_verdict(back->lane);
    route->verdict_ms = fl_loop_now(loop_of(back));
    fl_buf_reset(&back->words);
    fl_hellos_learn(&route->hellos, back->offered, back->revision,
                    fl_lane_said(back->lane));
    fl_health_opened(route);
    fl_spares_works(route);
    fl_route_share(route, back);
    if (fl_back_is_modern(back)) {
        fl_to_modern_ready(back);
    } else {
        fl_standing_replay(back);
        fl_to_legacy_ready(back);
    }
    fl_back_carry_waiting(back);
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
        lose_sent(back, why);
}

/* What is wrong with a command or an address stays wrong. */
static bool is_worth_a_try(const fl_error *why)
{
    return why->status != FL_E_INVALID && why->status != FL_E_NOT_FOUND &&
           why->status != FL_E_DENIED && why->status != FL_E_UNSUPPORTED;
}

/* It will not be opened again. */
static void end(fl_back *back)
{
    back->closing = true;
    lose_sent(back, &back->why);
    fail_waiting(back, &back->why);
    fl_to_legacy_end(back);
}

static void restart(fl_back *back, uint64_t wait_ms)
{
    fl_log_say(fl_loop_log(loop_of(back)), FL_LOG_WARN,
               "the server has gone; it is started again",
               fl_log_text("server", fl_span_of(back->route->name)),
               fl_log_text("reason", fl_span_of(back->why.text)),
               fl_log_int("wait_ms", (int64_t)wait_ms));
    fl_timer_start(&back->timer, wait_ms);
}

/* Nobody is made to wait for a server that fails again and again. */
static void note_failure(fl_back *back)
{
    fl_health_failed(back->route, &back->why);
    if (back->route->health.breaker.state == FL_BREAKER_OPEN)
        fail_waiting(back, &back->why);
}

/* An answer may be kept for a client that is to come back, and finds it by its
 * number: the next lane must not give that to another. */
static void keep_count(fl_back *back)
{
    if (back->lane != NULL)
        back->last_number = fl_lane_number(back->lane);
}

static void on_closed(void *user, const fl_error *why)
{
    fl_back *back = user;
    uint64_t wait_ms;

    fl_back_take_words(back);
    fl_report_keep(back);
    keep_count(back);
    back->lane = NULL;
    if (why->status != FL_OK)
        back->why = *why;
    else
        fl_error_set(&back->why, FL_E_CLOSED, "Upstream connection closed");
    fl_back_lean(back); /* who is told may be the last to leave */
    fl_inquiries_lose_back(back);
    fl_to_legacy_down(back);
    lose_sent(back, &back->why);
    if (!back->closing)
        note_failure(back);
    if (back->closing || !fl_route_is_open(back->route) ||
        !is_worth_a_try(&back->why) ||
        fl_backoff_next(&back->backoff, &wait_ms) != FL_OK) {
        fl_spares_lost(back);
        end(back);
    } else {
        restart(back, wait_ms);
    }
    fl_back_leave(back);
}

static const fl_lane_events lane_events = {
    .on_ready = on_ready,
    .on_message = fl_back_hear,
    .on_writable = on_writable,
    .on_down = on_down,
    .on_closed = on_closed,
};

static void open_lane(fl_back *back)
{
    fl_route *route = back->route;
    fl_client_options options = route->upstream.client;
    fl_buf text;
    fl_error error;

    fl_buf_init(&text, KEY_MAX);
    options.connection = route->target.options;
    options.verdict = route->verdict;
    options.verdict.age_ms += fl_loop_now(loop_of(back)) - route->verdict_ms;
    fl_lane_hello hello = fl_back_hello(back, &text);
    back->lane = fl_lane_open(loop_of(back), route->target.url, &options,
                              &hello, &lane_events, back, &error);
    fl_buf_reset(&text);
    if (back->lane == NULL)
        on_closed(back, &error);
}

static uint64_t due_in(const fl_back *back, uint64_t now)
{
    const fl_upstream *upstream = &back->route->upstream;
    uint64_t first = UINT64_MAX;
    const fl_list *lists[] = {&back->waiting, &back->sent};

    for (size_t i = 0; i < 2; i++)
        if (!fl_list_empty(lists[i])) {
            uint64_t due =
                FL_LIST_ENTRY(lists[i]->next, fl_errand, by_back)->seen_ms +
                upstream->timeout_ms;
            first = due < first ? due : first;
        }
    return first == UINT64_MAX ? first : first > now ? first - now : 0;
}

static void expire(fl_errand *errand)
{
    fl_error why;

    fl_error_set(&why, FL_E_TIMEOUT, "Upstream timeout");
    fl_health_failed(errand->back->route, &why);
    fl_back_call_off(errand, FL_SPAN("\"timeout\""));
    fail(errand, &why);
}

/* Others wait for a client, or until somebody has heard enough. */
static bool is_timed(const fl_errand *errand)
{
    return !errand->standing && errand->state != FL_ERRAND_PARKED;
}

/* The oldest of each list is the first to be late: both are kept by when they
 * were heard of last. */
static void expire_late(fl_back *back, fl_list *list, uint64_t now)
{
    uint64_t patience = back->route->upstream.timeout_ms;

    while (!fl_list_empty(list)) {
        fl_errand *errand = FL_LIST_ENTRY(list->next, fl_errand, by_back);
        if (now - errand->seen_ms < patience)
            return;
        if (is_timed(errand)) {
            expire(errand);
            continue;
        }
        errand->seen_ms = now;
        fl_list_remove(&errand->by_back);
        fl_list_append(list, &errand->by_back);
    }
}

static void close_idle(fl_back *back)
{
    fl_error why = {.status = FL_OK};

    fl_back_close(back, &why);
}

static void on_timer(fl_timer *timer, void *user)
{
    fl_back *back = user;
    uint64_t now = fl_loop_now(loop_of(back));

    (void)timer;
    if (back->leans == 0 && !back->spare) {
        close_idle(back);
        return;
    }
    fl_back_lean(back);
    if (back->lane == NULL && !back->closing) {
        back->route->restarts++;
        open_lane(back);
    }
    expire_late(back, &back->sent, now);
    expire_late(back, &back->waiting, now);
    fl_back_watch_time(back);
    fl_back_leave(back);
}

void fl_back_watch_time(fl_back *back)
{
    uint64_t in = due_in(back, fl_loop_now(loop_of(back)));

    if (in != UINT64_MAX && !fl_timer_running(&back->timer))
        fl_timer_start(&back->timer, in > 0 ? in : 1);
}

static void on_turn(fl_timer *timer, void *user)
{
    (void)timer;
    fl_back_carry_waiting(user);
}

/* A timer that runs while there is no lane is that of the next one. */
void fl_back_lean(fl_back *back)
{
    back->leans++;
    if (back->leans == 1 && back->lane != NULL)
        fl_timer_stop(&back->timer);
}

/* One of nobody's own stays for a while, for the next who comes; but not if
 * it has died meanwhile. */
void fl_back_leave(fl_back *back)
{
    uint64_t idle_ms = back->route->upstream.idle_ms;

    if (--back->leans > 0)
        return;
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
    lose_sent(back, why);
    fail_waiting(back, why);
    fl_to_legacy_end(back);
    fl_timer_stop(&back->timer);
    if (back->lane != NULL)
        fl_client_close(back->lane); /* on_closed does the rest */
    fl_back_leave(back);
}

fl_back *fl_back_new(fl_route *route, fl_span key, fl_span params,
                     const fl_revision *offered, fl_error *error)
{
    if (!fl_route_is_open(route)) {
        fl_error_set(error, FL_E_CLOSED, "the gateway is shutting down");
        return NULL;
    }
    fl_back *back = fl_mem_zalloc(sizeof *back);
    fl_error_set(error, FL_E_NOMEM, "out of memory");
    if (back == NULL)
        return NULL;
    back->route = route;
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
    fl_timer_init(&back->timer, route->gateway->loop, on_timer, back);
    fl_timer_init(&back->turn, route->gateway->loop, on_turn, back);
    back->backoff = (fl_backoff){
        .first_ms = RESTART_FIRST_MS,
        .max_ms = RESTART_MAX_MS,
        .attempts = FIRST_ATTEMPTS,
    };
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
