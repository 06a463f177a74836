/*
 * load.h - a load on a server: how it is asked, and what came of it.
 *
 * Closed: each of `connections` keeps `depth` requests under way; the next is
 * sent when an answer comes. Such a load waits for a server that is slow, and
 * so asks less just when it would hurt: its percentiles are of the requests
 * that were made, not of those that users would have made.
 *
 * Open: requests are due at a pace (load/pace.h), and how long one takes is
 * counted from when it was due, not from when it could be sent. Nothing is
 * omitted, then; a request that finds no room waits, and its waiting counts.
 */
#ifndef FL_LOAD_LOAD_H
#define FL_LOAD_LOAD_H

#include "load/histogram.h"
#include "load/refrain.h"

#include <fairlead/client.h>

enum { FL_LOAD_SLICES = 60, FL_LOAD_THREADS = 64 };

typedef struct fl_load_plan {
    const char *url; /* NULL: a child for each connection */
    fl_client_options client;
    const char *method;
    fl_span params; /* a JSON object, or empty */
    unsigned threads;
    unsigned connections;
    unsigned depth;
    double rate;  /* requests a second, of all together; 0: closed */
    bool scatter; /* they come at random */
    uint64_t warmup_ms;
    uint64_t duration_ms;
    uint64_t requests;   /* ends it, too, when so many were measured; 0: no */
    uint64_t timeout_ms; /* for one answer */
} fl_load_plan;

/* One part of the time that was measured. */
typedef struct fl_load_slice {
    fl_histogram latency;
    uint64_t faults;
} fl_load_slice;

/* Of all threads together, or of one. Some 2.3 MB: on the heap. */
typedef struct fl_load_outcome {
    fl_histogram latency; /* nanoseconds: from when it was due; of all slices,
                             put together in the end */
    fl_histogram service; /* from when it was sent; open loads only */
    fl_load_slice slices[FL_LOAD_SLICES];
    uint64_t slice_ns;
    uint64_t answers; /* right ones, while it was measured */
    uint64_t faults[FL_LOAD_FAULTS];
    uint64_t unsent; /* due, but there was no room to the end */
    uint64_t late;   /* answers that came after their timeout */
    uint64_t outages;
    uint64_t bytes_in, bytes_out; /* of all links, greetings included */
    uint64_t connect_ns;          /* until all were ready */
    uint64_t elapsed_ns;
    double busy;       /* our busiest thread, of one processor */
    char fault[256];   /* the first, in words; "" if there was none */
    char revision[16]; /* that was agreed on */
    bool interrupted;
    bool deserted; /* a thread lost all its connections for good, and ended */
} fl_load_outcome;

/* What is told while it runs, about five times a second. */
typedef struct fl_load_view {
    unsigned ready; /* connections */
    bool measuring;
    uint64_t passed_ms; /* of warm-up or of the measuring */
    uint64_t answers;   /* since it began */
    uint64_t faults;
} fl_load_view;

typedef void fl_load_watch(void *user, const fl_load_view *view);

typedef struct fl_load fl_load;

/*
 * Begins on threads of its own; `loop` is the caller's, and is kept running
 * until they are done. `plan` is borrowed until fl_load_end(). NULL: no memory;
 * all else that goes wrong is told there.
 */
FL_MUST_USE fl_load *fl_load_begin(fl_loop *loop, const fl_load_plan *plan,
                                   fl_load_watch *watch, void *user);

/* Measures no longer: what is under way is waited for, and it ends. */
void fl_load_stop(fl_load *load);

/*
 * When the loop has nothing left to do. FL_OK: `outcome` has the figures.
 * Otherwise `error` says why there are none: a connection could not be opened,
 * or no answer was right.
 */
FL_MUST_USE fl_status fl_load_end(fl_load *load, fl_load_outcome *outcome,
                                  fl_error *error);

#endif
