/*
 * load.c - a load on a server, on as many threads as were asked for.
 *
 * Here is nothing but what the threads have in common: each gets its share,
 * all begin together when all are ready, and in the end their counts are one.
 */
#include "load/load.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/status.h"
#include "io/loop.h"
#include "io/timer.h"
#include "load/worker.h"

#include <stdio.h>
#include <string.h>

enum { LOOK_MS = 10, LOOKS = 20 /* from one view to the next */, MS = 1000000 };

struct fl_load {
    const fl_load_plan *plan;
    fl_loop *loop;
    fl_load_watch *watch;
    void *user;
    fl_timer timer; /* keeps the loop running */
    unsigned count;
    unsigned looks;
    uint64_t opened_ns, connect_ns, begun_ns;
    bool stopped;
    fl_worker workers[FL_LOAD_THREADS];
};

static uint64_t now_ms(uint64_t since_ns)
{
    return (fl_clock_ns() - since_ns) / MS;
}

static void tell(fl_load *load)
{
    fl_load_view view = {0};

    for (unsigned i = 0; i < load->count; i++) {
        fl_worker *worker = &load->workers[i];
        view.ready += atomic_load(&worker->ready);
        view.answers += atomic_load(&worker->answers);
        view.faults += atomic_load(&worker->all_faults);
    }
    if (load->begun_ns > 0) {
        view.passed_ms = now_ms(load->begun_ns);
        view.measuring = view.passed_ms >= load->plan->warmup_ms;
        if (view.measuring)
            view.passed_ms -= load->plan->warmup_ms;
    }
    if (load->watch != NULL)
        load->watch(load->user, &view);
}

static void begin_all(fl_load *load)
{
    load->begun_ns = fl_clock_ns();
    load->connect_ns = load->begun_ns - load->opened_ns;
    for (unsigned i = 0; i < load->count; i++)
        atomic_store(&load->workers[i].go, true);
}

/* One that ends before the others could not go on: then nobody does. */
static bool all_are_over(fl_load *load)
{
    unsigned over = 0;

    for (unsigned i = 0; i < load->count; i++)
        if (!load->workers[i].started || atomic_load(&load->workers[i].over))
            over++;
    if (over > 0 && load->begun_ns == 0)
        fl_load_stop(load);
    return over == load->count;
}

static void on_time(fl_timer *timer)
{
    fl_load *load = FL_LIST_ENTRY(timer, fl_load, timer);
    unsigned ready = 0;

    for (unsigned i = 0; i < load->count; i++)
        ready += atomic_load(&load->workers[i].ready);
    if (load->begun_ns == 0 && ready == load->plan->connections)
        begin_all(load);
    if (load->looks++ % LOOKS == 0)
        tell(load);
    if (!all_are_over(load))
        fl_timer_start(timer, LOOK_MS);
}

static unsigned share(unsigned all, unsigned count, unsigned i)
{
    return all / count + (i < all % count ? 1 : 0);
}

static uint64_t quota(const fl_load_plan *plan, unsigned count, unsigned i)
{
    return plan->requests == 0
               ? UINT64_MAX
               : plan->requests / count + (i < plan->requests % count ? 1 : 0);
}

static fl_status start(fl_load *load, unsigned i)
{
    const fl_load_plan *plan = load->plan;
    fl_worker *worker = &load->workers[i];
    unsigned mine = share(plan->connections, load->count, i);

    *worker = (fl_worker){
        .plan = plan,
        .connections = mine,
        .rate = plan->rate * mine / plan->connections,
        .quota = quota(plan, load->count, i),
        .seed = plan->scatter ? i + 1 : 0,
    };
    return fl_worker_start(worker);
}

fl_load *fl_load_begin(fl_loop *loop, const fl_load_plan *plan,
                       fl_load_watch *watch, void *user)
{
    fl_load *load = fl_mem_zalloc(sizeof *load);

    if (load == NULL)
        return NULL;
    load->plan = plan;
    load->loop = loop;
    load->watch = watch;
    load->user = user;
    load->opened_ns = fl_clock_ns();
    load->count =
        plan->threads < plan->connections ? plan->threads : plan->connections;
    fl_timer_init(&load->timer, loop, on_time);
    for (unsigned i = 0; i < load->count; i++)
        if (start(load, i) != FL_OK) {
            fl_error_set(&load->workers[i].why, FL_E_NOMEM,
                         "out of memory, threads or descriptors");
            load->count = i + 1;
            fl_load_stop(load);
            break;
        }
    fl_timer_start(&load->timer, LOOK_MS);
    return load;
}

void fl_load_stop(fl_load *load)
{
    load->stopped = true;
    for (unsigned i = 0; i < load->count; i++)
        atomic_store(&load->workers[i].stop, true);
}

static void add(fl_load_outcome *to, const fl_load_outcome *from)
{
    fl_histogram_merge(&to->service, &from->service);
    for (unsigned i = 0; i < FL_LOAD_SLICES; i++) {
        fl_histogram_merge(&to->slices[i].latency, &from->slices[i].latency);
        fl_histogram_merge(&to->latency, &from->slices[i].latency);
        to->slices[i].faults += from->slices[i].faults;
    }
    for (unsigned i = 0; i < FL_LOAD_FAULTS; i++)
        to->faults[i] += from->faults[i];
    to->answers += from->answers;
    to->unsent += from->unsent;
    to->late += from->late;
    to->outages += from->outages;
    to->bytes_in += from->bytes_in;
    to->bytes_out += from->bytes_out;
    to->slice_ns = from->slice_ns;
    if (from->elapsed_ns > to->elapsed_ns)
        to->elapsed_ns = from->elapsed_ns;
    if (from->busy > to->busy)
        to->busy = from->busy;
    if (to->fault[0] == '\0')
        snprintf(to->fault, sizeof to->fault, "%s", from->fault);
    snprintf(to->revision, sizeof to->revision, "%s", from->revision);
}

/* Why the first that could not go on could not; an interruption is none. */
static const fl_error *find_trouble(const fl_load *load)
{
    for (unsigned i = 0; i < load->count; i++) {
        const fl_error *why = &load->workers[i].why;
        if (why->status != FL_OK && why->status != FL_E_CANCELLED)
            return why;
    }
    return NULL;
}

/* Figures that have been made are shown, whatever came then. */
static fl_status judge(const fl_load *load, fl_load_outcome *outcome,
                       fl_error *error)
{
    const fl_error *trouble = find_trouble(load);

    if (trouble != NULL && outcome->latency.count == 0) {
        *error = *trouble;
        return trouble->status;
    }
    outcome->deserted = trouble != NULL;
    if (trouble != NULL && outcome->fault[0] == '\0')
        snprintf(outcome->fault, sizeof outcome->fault, "%s", trouble->text);
    if (outcome->latency.count > 0 || outcome->unsent > 0)
        return FL_OK;
    if (load->stopped)
        return fl_error_set(error, FL_E_CANCELLED,
                            "interrupted before anything was measured");
    return fl_error_set(error, FL_E_REMOTE, "no answer was right: %s",
                        outcome->fault[0] != '\0' ? outcome->fault
                                                  : "there was none");
}

fl_status fl_load_end(fl_load *load, fl_load_outcome *outcome, fl_error *error)
{
    memset(outcome, 0, sizeof *outcome); /* too large for the stack */
    outcome->connect_ns = load->connect_ns;
    outcome->interrupted = load->stopped;
    for (unsigned i = 0; i < load->count; i++)
        if (load->workers[i].outcome != NULL && load->workers[i].started) {
            pthread_join(load->workers[i].thread, NULL);
            load->workers[i].started = false;
            add(outcome, load->workers[i].outcome);
        }
    fl_status rc = judge(load, outcome, error);
    for (unsigned i = 0; i < load->count; i++)
        fl_worker_deinit(&load->workers[i]);
    fl_mem_free(load);
    return rc;
}
