/*
 * doctor_line.h - the command line of "fairlead doctor", understood.
 */
#ifndef FL_CMD_DOCTOR_LINE_H
#define FL_CMD_DOCTOR_LINE_H

#include "cmd/flags.h"
#include "cmd/headers.h"

#include <fairlead/options.h>

/* Borrows from argv. */
typedef struct fl_doctor_line {
    const char *url; /* NULL: run options.child */
    fl_options options;
    fl_flag_list env;
    fl_flag_list inherit;
    fl_headers headers;
    uint64_t timeout_ms; /* for one probe */
    bool json;
    bool help;
} fl_doctor_line;

/* Points into itself when done: must not be copied. Whatever this says,
 * fl_doctor_line_deinit() is called after it. */
FL_MUST_USE fl_status fl_doctor_line_parse(char **argv, fl_doctor_line *line,
                                           fl_error *error);
void fl_doctor_line_deinit(fl_doctor_line *line);

#endif
