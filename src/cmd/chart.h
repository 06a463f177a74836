/*
 * chart.h - what was found out about a server, written down line by line.
 *
 * A finding belongs to a group, has a short name that scripts may go by, a
 * verdict, a sentence, and, unless all is well, another one that says what to
 * do. For people each is printed as it is found, so that somebody who waits
 * sees what is waited for; for scripts all of them are one JSON object at the
 * end.
 */
#ifndef FL_CMD_CHART_H
#define FL_CMD_CHART_H

#include "base/buf.h"
#include "cmd/term.h"
#include "json/write.h"

typedef enum fl_chart_level {
    FL_CHART_OK,
    FL_CHART_NOTE,    /* worth knowing */
    FL_CHART_WARNING, /* will hurt somebody */
    FL_CHART_FAULT,   /* does not work, or not as the protocol has it */
    FL_CHART_LEVELS,
} fl_chart_level;

typedef struct fl_chart {
    fl_term out;
    bool json;
    const char *target; /* what is looked at, for people; borrowed */
    const char *group;  /* of the findings that follow; static */
    const char *shown;  /* the group whose name was printed last */
    unsigned counts[FL_CHART_LEVELS];
    bool unreachable; /* there was nothing to be looked at */
    fl_buf text;      /* the JSON so far */
    fl_json_writer writer;
} fl_chart;

/* `target` is kept. */
void fl_chart_init(fl_chart *chart, bool json, const char *target);
void fl_chart_deinit(fl_chart *chart);

void fl_chart_group(fl_chart *chart, const char *name);

/* All is well with it. */
void fl_chart_ok(fl_chart *chart, const char *check, const char *format, ...)
    FL_PRINTF(3, 4);

/* It is not; `advice` says what to do. */
void fl_chart_find(fl_chart *chart, fl_chart_level level, const char *check,
                   const char *advice, const char *format, ...) FL_PRINTF(5, 6);

/* The last line, or all of it as JSON. False: it could not be written. */
FL_MUST_USE bool fl_chart_end(fl_chart *chart);

enum { FL_CHART_QUOTE = 256 };

/* A piece of what somebody else wrote, made fit to stand within one line of
 * ours: controls spelt out, and cut short when it is long. Returns `out`. */
const char *fl_chart_quote(fl_span text, char out[FL_CHART_QUOTE]);

#endif
