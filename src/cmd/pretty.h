/*
 * pretty.h - JSON laid out for people.
 */
#ifndef FL_CMD_PRETTY_H
#define FL_CMD_PRETTY_H

#include "base/buf.h"

/* Appends `json`, which is valid, with a line for each member, indented by
 * two columns for each level. Tokens stay as they came. */
FL_MUST_USE fl_status fl_pretty(fl_buf *out, fl_span json);

#endif
