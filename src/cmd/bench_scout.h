/*
 * bench_scout.h - a look at the server, before it is put under load.
 *
 * Who it is, which revision it speaks, whether it has the tool, and whether
 * one request is answered as it should be: all that would otherwise be found
 * out a thousand times at once.
 */
#ifndef FL_CMD_BENCH_SCOUT_H
#define FL_CMD_BENCH_SCOUT_H

#include "cmd/bench_line.h"

#include <fairlead/loop.h>

typedef struct fl_bench_scout {
    fl_buf server; /* for people: "everything 2.0.0" */
    fl_buf what;   /* "tools/call echo" */
    fl_buf params;
    const char *method;
    fl_verdict verdict;
} fl_bench_scout;

/*
 * Runs the loop until it knows. FL_OK, or `error` says what to do about it.
 * fl_bench_scout_deinit() in either case.
 */
FL_MUST_USE fl_status fl_bench_scout_run(fl_bench_scout *scout, fl_loop *loop,
                                         const fl_bench_line *line,
                                         fl_error *error);
void fl_bench_scout_deinit(fl_bench_scout *scout);

#endif
