/*
 * guess.h - which of its tools, or prompts, somebody meant whose name for it
 * the server does not know.
 */
#ifndef FL_CMD_GUESS_H
#define FL_CMD_GUESS_H

#include "base/buf.h"

/* Appends "There is no tool 'ad'. Did you mean add?", or how to see which there
 * are; nothing if `list`, a JSON array of objects with a name, has it. `what`
 * is what they are: "tool". */
FL_MUST_USE fl_status fl_guess_name(fl_span list, const char *what,
                                    const char *name, fl_buf *out);

#endif
