/*
 * doctor_child.h - one visit to a command: what was seen, and how it is told.
 */
#ifndef FL_CMD_DOCTOR_CHILD_H
#define FL_CMD_DOCTOR_CHILD_H

#include "cmd/exam.h"
#include "io/child.h"
#include "transport/last_words.h"
#include "wire/lines.h"

enum { FL_VISIT_GRACE_MS = 3000 }; /* from the end of stdin to SIGTERM */

typedef struct fl_visit {
    fl_exam *exam;
    fl_child *child; /* NULL once it has gone */
    fl_stream *stream;
    fl_lines lines, errors;
    fl_last_words words; /* of its stderr */
    fl_child_exit how;
    char noise[FL_CHART_QUOTE]; /* the first line that is no message */
    unsigned noises;
    bool answered, exited, settled; /* the last: either of them */
    bool child_closed, stream_closed;
} fl_visit;

/* How it started; true: it answered. */
bool fl_visit_report_start(fl_visit *at, uint64_t took_ms);

/* How it left. */
void fl_visit_report_leaving(fl_visit *at, uint64_t took_ms);

#endif
