/*
 * measure.c - what a worker counts, and from when to when.
 *
 * Whether a request counts is decided by when it was due. The rate is that of
 * the right answers between the beginning and the end; how long they took is
 * told of those that came after the end, too, or the slowest would be missing.
 */
#include "base/clock.h"
#include "base/span.h"
#include "load/worker.h"

#include <stdio.h>
#include <time.h>

uint64_t fl_worker_cpu(void)
{
    struct timespec used;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

static void note_fault(fl_worker *worker, fl_load_fault fault, fl_span text)
{
    fl_load_outcome *outcome = worker->outcome;

    outcome->faults[fault]++;
    atomic_fetch_add_explicit(&worker->all_faults, 1, memory_order_relaxed);
    if (outcome->fault[0] == '\0')
        snprintf(outcome->fault, sizeof outcome->fault, "%.*s",
                 (int)(text.len < 250 ? text.len : 250),
                 text.len > 0 ? text.ptr : "");
}

static fl_load_slice *slice_at(const fl_worker *worker, uint64_t now)
{
    uint64_t at = now > worker->begin
                      ? (now - worker->begin) / worker->outcome->slice_ns
                      : 0;

    return &worker->outcome
                ->slices[at < FL_LOAD_SLICES ? at : FL_LOAD_SLICES - 1];
}

/* Whether it counts is decided by when it was due, or was to be sent. */
static bool counts(const fl_worker *worker, const fl_flight *flight)
{
    return flight->due >= worker->begin && flight->due < worker->end;
}

void fl_worker_measure(const fl_flight *flight, fl_load_fault fault,
                       fl_span text)
{
    fl_worker *worker = flight->caller->worker;
    uint64_t now = fl_clock_ns();
    fl_load_slice *slice = slice_at(worker, now);
    fl_load_outcome *outcome = worker->outcome;

    if (!counts(worker, flight))
        return;
    if (fault != FL_LOAD_NO_FAULT) {
        slice->faults++;
        note_fault(worker, fault, text);
        return;
    }
    fl_histogram_add(&slice->latency, now - flight->due);
    if (worker->rate > 0)
        fl_histogram_add(&outcome->service, now - flight->sent);
    if (now < worker->end)
        outcome->answers++;
}

/* Open loads: what was due to the end and found no room. A warm-up that was
 * interrupted has a pace of its own, of which nothing counts. */
static void count_unsent(fl_worker *worker)
{
    while (worker->paced && worker->quota > 0 &&
           worker->pace.due < worker->end) {
        worker->outcome->unsent++;
        fl_pace_take(&worker->pace);
        if (worker->quota != UINT64_MAX)
            worker->quota--;
    }
}

void fl_worker_end_measuring(fl_worker *worker)
{
    fl_load_outcome *outcome = worker->outcome;

    if (outcome->elapsed_ns > 0)
        return;
    uint64_t now = fl_clock_ns();
    uint64_t end = now < worker->end ? now : worker->end;
    outcome->elapsed_ns = end > worker->begin ? end - worker->begin : 1;
    uint64_t took = now > worker->cpu_at ? now - worker->cpu_at : 1;
    outcome->busy = (double)(fl_worker_cpu() - worker->cpu) / (double)took;
    worker->end = end;
    count_unsent(worker);
}
