/*
 * complain.h - saying on stderr what went wrong, and what to do about it.
 */
#ifndef FL_CMD_COMPLAIN_H
#define FL_CMD_COMPLAIN_H

#include <fairlead/types.h>

/* "fairlead demo: ..." and a line end; `command` may be NULL. */
void fl_complain(const char *command, const char *format, ...) FL_PRINTF(2, 3);

/* The same for a command line that was not understood, and where to read how
 * it is meant. Returns FL_EXIT_LOCAL, for main. */
int fl_complain_usage(const char *command, const fl_error *error);

#endif
