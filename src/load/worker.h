/*
 * worker.h - one thread of a load: its connections, and its requests.
 *
 *   OPENING -> READY -> (told to begin) -> RUNNING -> ENDING -> over
 *
 * The thread that began it all and the worker's own look at each other's
 * atomics, every few milliseconds, and at nothing else.
 */
#ifndef FL_LOAD_WORKER_H
#define FL_LOAD_WORKER_H

#include "base/list.h"
#include "base/numbers.h"
#include "io/ticker.h"
#include "io/timer.h"
#include "load/load.h"
#include "load/pace.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct fl_worker fl_worker;
typedef struct fl_caller fl_caller;

/* A request under way. */
typedef struct fl_flight {
    fl_list node; /* in worker->under_way, oldest first; or caller->free */
    fl_caller *caller;
    uint64_t number;
    uint64_t due;  /* when it was to be sent... */
    uint64_t sent; /* ...and was */
} fl_flight;

/* One connection. */
struct fl_caller {
    fl_list node; /* in worker->idle while it can take a request */
    fl_worker *worker;
    fl_client *lane; /* NULL once it has gone */
    fl_numbers numbers;
    fl_flight *flights;
    fl_list free;
    bool greeted; /* was ready once */
    bool full;    /* said FL_BUSY */
    uint64_t bytes_in, bytes_out;
};

typedef enum fl_worker_state {
    FL_WORKER_OPENING,
    FL_WORKER_READY,
    FL_WORKER_RUNNING,
    FL_WORKER_ENDING,
} fl_worker_state;

struct fl_worker {
    const fl_load_plan *plan;
    fl_loop *loop;
    pthread_t thread;
    bool started;

    fl_worker_state state;
    unsigned connections; /* its share */
    double rate;
    uint64_t quota; /* requests to be measured yet; UINT64_MAX: any */
    uint64_t seed;
    fl_caller *callers;
    unsigned opened, opening, live;
    uint64_t greeted_at; /* ns: the last, or when the first was begun */
    fl_list idle;
    fl_list under_way;
    fl_refrain refrain;
    bool has_refrain;
    fl_pace pace;
    bool paced; /* the pace is that of what is measured */
    fl_ticker *ticker;
    fl_timer timer;       /* once a while: time-outs, the end */
    uint64_t begin, end;  /* of what is measured, ns */
    uint64_t cpu, cpu_at; /* ns of this thread, and when that was */

    fl_load_outcome *outcome;
    fl_error why; /* it could not go on */

    _Atomic unsigned ready;      /* connections */
    _Atomic uint64_t answers;    /* warm-up included */
    _Atomic uint64_t all_faults; /* while it is measured */
    _Atomic bool over;           /* the thread is at its end */
    _Atomic bool go;             /* wanted: begin */
    _Atomic bool stop;           /* wanted: the end, soon */
};

/* Its thread, and what that needs. FL_E_NOMEM: fl_worker_deinit() it. */
FL_MUST_USE fl_status fl_worker_start(fl_worker *worker);

/* Waits for its thread, and frees what it had. */
void fl_worker_deinit(fl_worker *worker);

/* Between its files. In measure.c: */
uint64_t fl_worker_cpu(void); /* nanoseconds that this thread has used */
void fl_worker_measure(const fl_flight *flight, fl_load_fault fault,
                       fl_span text);
void fl_worker_end_measuring(fl_worker *worker); /* the first time counts */

/* In caller.c: */
FL_MUST_USE fl_status fl_caller_open(fl_caller *caller, fl_worker *worker,
                                     fl_error *error);
void fl_caller_close(fl_caller *caller);
void fl_caller_deinit(fl_caller *caller);

/* FL_OK: sent. Otherwise it is not idle any more. */
FL_MUST_USE fl_status fl_caller_ask(fl_caller *caller, uint64_t due);

/* Forgets it, and has room for another. */
void fl_caller_settle(fl_flight *flight);
/* The same for one that came to nothing in time. */
void fl_caller_give_up(fl_flight *flight);

/* In worker.c: */
void fl_worker_greeted(fl_caller *caller);
void fl_worker_answered(fl_flight *flight, fl_load_fault fault, fl_span text);
void fl_worker_lost(fl_caller *caller, const fl_error *why);
void fl_worker_closed(fl_caller *caller, const fl_error *why);
/* Sends what is to be sent. */
void fl_worker_pump(fl_worker *worker);

#endif
