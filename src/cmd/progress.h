/*
 * progress.h - how far a call is: a bar on a terminal, lines elsewhere.
 */
#ifndef FL_CMD_PROGRESS_H
#define FL_CMD_PROGRESS_H

#include "cmd/term.h"

typedef struct fl_progress {
    fl_term term;
    bool lines; /* wanted where there is no terminal */
    bool shown; /* a bar is on the screen */
} fl_progress;

/* Draws in place of the one before. If that is no terminal it prints a line,
 * if lines are wanted. `total` 0: unknown. */
void fl_progress_show(fl_progress *progress, double done, double total,
                      fl_span message);

/* Leaves the line as if there had been nothing. */
void fl_progress_clear(fl_progress *progress);

/* The bar as text, at most `columns` wide. */
FL_MUST_USE fl_status fl_progress_draw(fl_buf *out, double done, double total,
                                       fl_span message, size_t columns);

/* The same without a bar, for files: "progress: 2/4 half". */
FL_MUST_USE fl_status fl_progress_line(fl_buf *out, double done, double total,
                                       fl_span message);

#endif
