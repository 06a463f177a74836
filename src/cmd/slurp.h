/*
 * slurp.h - a file, or stdin, read whole.
 */
#ifndef FL_CMD_SLURP_H
#define FL_CMD_SLURP_H

#include "base/buf.h"

/* Appends all of `path` ("-": stdin), up to the buffer's maximum. The error
 * names the file. */
FL_MUST_USE fl_status fl_slurp(const char *path, fl_buf *into, fl_error *error);

/* False: what is there is no file, and to read it may take for ever. */
bool fl_slurp_is_file(const char *path);

#endif
