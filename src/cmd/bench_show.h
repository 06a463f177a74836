/*
 * bench_show.h - what came of a load: for people, for scripts, as a page.
 */
#ifndef FL_CMD_BENCH_SHOW_H
#define FL_CMD_BENCH_SHOW_H

#include "cmd/bench_scout.h"
#include "cmd/term.h"

/* Borrows all of it. */
typedef struct fl_bench_report {
    const fl_bench_line *line;
    const fl_bench_scout *scout;
    const fl_load_outcome *outcome;
} fl_bench_report;

enum { FL_BENCH_TARGET = 256, FL_BENCH_NOTES = 6, FL_BENCH_AMOUNT = 32 };

/* The address without its query, or the words of the command. */
void fl_bench_target(const fl_bench_line *line, char out[FL_BENCH_TARGET]);

/* "64 connections, 1 request under way on each, closed loop" */
void fl_bench_describe(const fl_bench_line *line, char out[FL_BENCH_TARGET]);

/* What one should know of these figures, a sentence each; how many. */
size_t fl_bench_notes(const fl_bench_report *report,
                      const char *notes[FL_BENCH_NOTES]);

double fl_bench_rate(const fl_load_outcome *outcome);
uint64_t fl_bench_faults(const fl_load_outcome *outcome);

/* "548 us", "1.21 ms", "2.5 s": three digits. */
const char *fl_bench_time(uint64_t ns, char out[FL_BENCH_AMOUNT]);

void fl_bench_show(const fl_term *to, const fl_bench_report *report);
FL_MUST_USE fl_status fl_bench_json(const fl_bench_report *report, fl_buf *out);

/* A page that needs nothing but itself. */
FL_MUST_USE fl_status fl_bench_page(const fl_bench_report *report, fl_buf *out);

#endif
