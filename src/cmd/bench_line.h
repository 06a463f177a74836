/*
 * bench_line.h - the command line of "fairlead bench", understood.
 */
#ifndef FL_CMD_BENCH_LINE_H
#define FL_CMD_BENCH_LINE_H

#include "base/buf.h"
#include "cmd/flags.h"
#include "cmd/headers.h"
#include "load/load.h"

typedef enum fl_bench_action {
    FL_BENCH_ANY, /* a tool that echoes, or the list of tools */
    FL_BENCH_CALL,
    FL_BENCH_TOOLS,
    FL_BENCH_PING,
} fl_bench_action;

/* Borrows from argv, the arguments aside. */
typedef struct fl_bench_line {
    fl_load_plan plan; /* all but method and params */
    fl_bench_action action;
    const char *tool;
    fl_buf arguments; /* of the tool: a JSON object */
    size_t size;      /* bytes of text in one of them; 0: as it is */
    const char *html; /* a report to write; NULL: none */
    fl_flag_list env;
    fl_flag_list inherit;
    fl_headers headers;
    unsigned rate;
    unsigned requests;
    unsigned era;      /* fl_era, counted from 1; 0: not said */
    unsigned arrivals; /* 2: at random */
    bool no_warmup;
    bool json;
    bool help;
} fl_bench_line;

/* Points into itself when done: must not be copied. Whatever this says,
 * fl_bench_line_deinit() is called after it. */
FL_MUST_USE fl_status fl_bench_line_parse(char **argv, fl_bench_line *line,
                                          fl_error *error);
void fl_bench_line_deinit(fl_bench_line *line);

#endif
