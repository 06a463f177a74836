/*
 * line_input.h - what a line link takes in, for line_link.c alone.
 */
#ifndef FL_TRANSPORT_LINE_INPUT_H
#define FL_TRANSPORT_LINE_INPUT_H

#include "transport/line_link.h"

/* So much waits to leave that nothing more is taken in. */
bool fl_line_input_is_full(const fl_line_link *line);

/* Bytes came. The caller holds a reference: any message may close the link. */
void fl_line_input_take(fl_line_link *line, fl_span bytes);

/* There is room again for answers: takes up what was held. */
void fl_line_input_resume(fl_line_link *line);

/* Drops what was held, and what was kept of a line that was skipped. */
void fl_line_input_forget(fl_line_link *line);

/* No more bytes will come: what is left counts as a line. */
void fl_line_input_finish(fl_line_link *line);

#endif
