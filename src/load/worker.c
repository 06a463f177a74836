/*
 * worker.c - one thread of a load.
 *
 * Connections are opened some at a time, so that no backlog overflows. When
 * those of all threads are ready the word comes to begin. From then on every
 * event ends in pump(), which sends what is to be sent: in a closed load as
 * long as anybody has room, in an open one as far as the pace has come. A timer
 * looks after what no event tells of.
 */
#include "load/worker.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "client/lane.h"
#include "io/loop.h"

#include <stdio.h>

enum {
    WAVE = 64, /* connections that are being opened */
    LOOK_MS = 20,
    MS = 1000000, /* in nanoseconds */
};

static void close_all(fl_worker *worker)
{
    for (unsigned i = 0; i < worker->opened; i++)
        fl_caller_close(&worker->callers[i]);
}

/* Nothing keeps the loop running any more but what is closing. */
static void finish(fl_worker *worker)
{
    worker->state = FL_WORKER_ENDING;
    fl_timer_stop(&worker->timer);
    fl_ticker_close(worker->ticker);
    worker->ticker = NULL;
    close_all(worker);
}

static void fail(fl_worker *worker, const fl_error *why)
{
    if (worker->why.status == FL_OK)
        worker->why = *why;
    if (worker->state == FL_WORKER_RUNNING) /* what was measured holds */
        fl_worker_end_measuring(worker);
    finish(worker);
}

void fl_worker_answered(fl_flight *flight, fl_load_fault fault, fl_span text)
{
    fl_worker *worker = flight->caller->worker;

    fl_worker_measure(flight, fault, text);
    atomic_fetch_add_explicit(&worker->answers, 1, memory_order_relaxed);
    fl_caller_settle(flight);
    fl_worker_pump(worker);
}

void fl_worker_lost(fl_caller *caller, const fl_error *why)
{
    fl_worker *worker = caller->worker;

    for (unsigned i = 0; i < worker->plan->depth; i++) {
        fl_flight *flight = &caller->flights[i];
        if (fl_numbers_get(&caller->numbers, flight->number) != flight)
            continue;
        fl_worker_measure(flight, FL_LOAD_LOST, fl_span_of(why->text));
        fl_caller_settle(flight);
    }
    if (caller->greeted && worker->state == FL_WORKER_RUNNING)
        worker->outcome->outages++;
}

static void open_more(fl_worker *worker)
{
    fl_error error = {0};

    while (worker->state == FL_WORKER_OPENING && worker->opening < WAVE &&
           worker->opened < worker->connections) {
        fl_caller *caller = &worker->callers[worker->opened];
        fl_status rc = fl_caller_open(caller, worker, &error);
        worker->opened++; /* if it failed, for deinit */
        if (rc != FL_OK) {
            fail(worker, &error);
            return;
        }
        worker->opening++;
        worker->live++;
    }
}

static fl_status make_refrain(fl_worker *worker, const fl_client *lane)
{
    const fl_load_plan *plan = worker->plan;

    if (worker->has_refrain)
        return FL_OK;
    worker->has_refrain = true;
    snprintf(worker->outcome->revision, sizeof worker->outcome->revision, "%s",
             fl_lane_revision(lane)->name);
    return fl_refrain_init(&worker->refrain, plan->method, plan->params,
                           fl_lane_claim(lane));
}

void fl_worker_greeted(fl_caller *caller)
{
    fl_worker *worker = caller->worker;
    fl_status rc = make_refrain(worker, caller->lane);

    worker->opening--;
    worker->greeted_at = fl_clock_ns();
    atomic_fetch_add_explicit(&worker->ready, 1, memory_order_relaxed);
    if (rc != FL_OK) {
        fl_error why;
        fl_error_set(&why, rc, "the request cannot be made: %s",
                     fl_status_text(rc));
        fail(worker, &why);
        return;
    }
    open_more(worker);
    if (worker->state == FL_WORKER_OPENING &&
        atomic_load(&worker->ready) == worker->connections)
        worker->state = FL_WORKER_READY;
}

void fl_worker_closed(fl_caller *caller, const fl_error *why)
{
    fl_worker *worker = caller->worker;

    worker->live--;
    if (worker->state == FL_WORKER_ENDING)
        return;
    if (!caller->greeted || worker->live == 0)
        fail(worker, why);
}

static bool may_send(const fl_worker *worker)
{
    return worker->state == FL_WORKER_RUNNING && worker->quota > 0 &&
           !fl_list_empty(&worker->idle);
}

/* When the next is to be sent, if that is now or has been. */
static bool is_due(const fl_worker *worker, uint64_t now, uint64_t *due)
{
    *due = worker->rate > 0 ? worker->pace.due : now;
    return *due <= now && *due < worker->end;
}

static void send_one(fl_worker *worker, uint64_t due)
{
    fl_caller *caller = FL_LIST_ENTRY(worker->idle.next, fl_caller, node);
    fl_status rc = fl_caller_ask(caller, due);

    if (rc == FL_BUSY || rc == FL_E_STATE)
        return; /* another will do; this one comes back */
    if (rc != FL_OK) {
        fl_error why;
        fl_error_set(&why, rc, "cannot send: %s", fl_status_text(rc));
        fail(worker, &why);
        return;
    }
    if (worker->quota != UINT64_MAX && due >= worker->begin)
        worker->quota--;
    if (worker->rate > 0)
        fl_pace_take(&worker->pace);
}

/* What a warm-up could not send is not carried into what is measured. */
static void restart_pace(fl_worker *worker)
{
    if (worker->state != FL_WORKER_RUNNING || worker->rate <= 0 ||
        worker->paced || fl_clock_ns() < worker->begin)
        return;
    worker->paced = true;
    fl_pace_init(&worker->pace, worker->rate, worker->begin, worker->seed);
}

/* For the next that is due, even if it is so by now; or for the beginning, when
 * another pace begins. Without room there is nothing to wake up for: that comes
 * with an event. */
static void set_ticker(fl_worker *worker)
{
    uint64_t at = worker->pace.due;

    if (!worker->paced && at > worker->begin)
        at = worker->begin;
    if (may_send(worker) && at < worker->end)
        fl_ticker_set(worker->ticker, at);
}

void fl_worker_pump(fl_worker *worker)
{
    uint64_t due = 0;

    restart_pace(worker);
    while (may_send(worker) && is_due(worker, fl_clock_ns(), &due))
        send_one(worker, due);
    if (worker->state == FL_WORKER_RUNNING && worker->quota == 0 &&
        fl_list_empty(&worker->under_way)) {
        worker->end = fl_clock_ns();
        worker->state = FL_WORKER_ENDING; /* at the next look: not in here */
    }
    if (worker->rate > 0)
        set_ticker(worker);
}

static void on_tick(void *user)
{
    fl_worker_pump(user);
}

static void expire(fl_worker *worker, uint64_t now)
{
    uint64_t patience = worker->plan->timeout_ms * MS;

    while (!fl_list_empty(&worker->under_way)) {
        fl_flight *flight =
            FL_LIST_ENTRY(worker->under_way.next, fl_flight, node);
        if (now < flight->sent + patience)
            return;
        fl_worker_measure(flight, FL_LOAD_TIMEOUT,
                          FL_SPAN("no answer in time; --timeout gives more"));
        fl_caller_give_up(flight);
    }
}

/* A server that has enough may leave a connection waiting rather than refuse
 * it, and then for ever. */
static void expect_greeting(fl_worker *worker, uint64_t now)
{
    fl_error why;

    if (worker->state != FL_WORKER_OPENING ||
        now < worker->greeted_at + worker->plan->timeout_ms * MS)
        return;
    fl_error_set(&why, FL_E_LIMIT,
                 "not all of %u connections could be opened: the server leaves "
                 "one without an answer. Does it take so many? --timeout gives "
                 "it more time",
                 worker->plan->connections);
    fail(worker, &why);
}

static void begin(fl_worker *worker)
{
    const fl_load_plan *plan = worker->plan;
    uint64_t now = fl_clock_ns();

    worker->state = FL_WORKER_RUNNING;
    worker->begin = now + plan->warmup_ms * MS;
    worker->end = worker->begin + plan->duration_ms * MS;
    worker->cpu = fl_worker_cpu();
    worker->cpu_at = now;
    worker->outcome->slice_ns = plan->duration_ms * MS / FL_LOAD_SLICES + 1;
    if (worker->rate > 0)
        fl_pace_init(&worker->pace, worker->rate, now, worker->seed);
}

static void stop(fl_worker *worker, uint64_t now)
{
    fl_error why;

    if (worker->state == FL_WORKER_RUNNING) {
        worker->state = FL_WORKER_ENDING;
        if (now < worker->end)
            worker->end = now;
    } else if (worker->state != FL_WORKER_ENDING) {
        fl_error_set(&why, FL_E_CANCELLED, "interrupted");
        fail(worker, &why);
    }
}

static void note_time(fl_worker *worker, uint64_t now)
{
    if (worker->cpu_at < worker->begin && now >= worker->begin) {
        worker->cpu = fl_worker_cpu();
        worker->cpu_at = now;
    }
    if (worker->state == FL_WORKER_RUNNING && now >= worker->end)
        worker->state = FL_WORKER_ENDING;
}

static void look(fl_timer *timer)
{
    fl_worker *worker = FL_LIST_ENTRY(timer, fl_worker, timer);
    uint64_t now = fl_clock_ns();

    fl_timer_start(timer, LOOK_MS);
    if (worker->state == FL_WORKER_READY && atomic_load(&worker->go))
        begin(worker);
    restart_pace(worker);
    if (worker->state == FL_WORKER_RUNNING)
        note_time(worker, now);
    if (atomic_load(&worker->stop))
        stop(worker, now);
    expect_greeting(worker, now);
    expire(worker, now);
    if (worker->state == FL_WORKER_ENDING) {
        fl_worker_end_measuring(worker);
        if (fl_list_empty(&worker->under_way))
            finish(worker);
    }
    fl_worker_pump(worker);
}

static void sum_bytes(fl_worker *worker)
{
    for (unsigned i = 0; i < worker->opened; i++) {
        worker->outcome->bytes_in += worker->callers[i].bytes_in;
        worker->outcome->bytes_out += worker->callers[i].bytes_out;
    }
}

static void *work(void *user)
{
    fl_worker *worker = user;

    fl_timer_start(&worker->timer, LOOK_MS);
    worker->greeted_at = fl_clock_ns();
    open_more(worker);
    fl_loop_run(worker->loop);
    sum_bytes(worker);
    atomic_store(&worker->over, true);
    return NULL;
}

fl_status fl_worker_start(fl_worker *worker)
{
    fl_list_init(&worker->idle);
    fl_list_init(&worker->under_way);
    worker->outcome = fl_mem_zalloc(sizeof *worker->outcome);
    worker->callers =
        fl_mem_zalloc(worker->connections * sizeof *worker->callers);
    worker->loop = fl_loop_new();
    if (worker->outcome == NULL || worker->callers == NULL ||
        worker->loop == NULL)
        return FL_E_NOMEM;
    worker->outcome->slice_ns = 1;
    fl_timer_init(&worker->timer, worker->loop, look);
    worker->ticker = fl_ticker_open(worker->loop, on_tick, worker);
    if (worker->ticker == NULL ||
        pthread_create(&worker->thread, NULL, work, worker) != 0)
        return FL_E_NOMEM;
    worker->started = true;
    return FL_OK;
}

void fl_worker_deinit(fl_worker *worker)
{
    if (worker->started)
        pthread_join(worker->thread, NULL);
    for (unsigned i = 0; i < worker->opened; i++)
        fl_caller_deinit(&worker->callers[i]);
    if (worker->has_refrain)
        fl_refrain_deinit(&worker->refrain);
    if (worker->ticker != NULL) { /* its thread was never there */
        fl_ticker_close(worker->ticker);
        fl_loop_run(worker->loop);
    }
    fl_loop_free(worker->loop);
    fl_mem_free(worker->callers);
    fl_mem_free(worker->outcome);
}
