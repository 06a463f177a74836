/*
 * call_line.h - the command line of "fairlead call", understood.
 */
#ifndef FL_CMD_CALL_LINE_H
#define FL_CMD_CALL_LINE_H

#include "base/buf.h"
#include "cmd/flags.h"
#include "cmd/headers.h"

#include <fairlead/client.h>

typedef enum fl_call_action {
    FL_CALL_TOOLS,
    FL_CALL_TOOL,
    FL_CALL_PING,
    FL_CALL_INFO,
} fl_call_action;

/* Borrows from argv, the arguments aside. */
typedef struct fl_call_line {
    const char *url; /* NULL: run client.connection.child */
    fl_call_action action;
    const char *tool;
    fl_buf arguments; /* of the tool, a JSON object */
    fl_client_options client;
    fl_flag_list env;
    fl_flag_list inherit;
    fl_headers headers;
    uint64_t timeout_ms; /* 0: not said */
    unsigned era;        /* fl_era, counted from 1; 0: not said */
    unsigned log_level;  /* fl_log_level; FL_LOG_DEFAULT: not said */
    bool json;
    bool help;
} fl_call_line;

/* Points into itself when done: must not be copied. Whatever this says,
 * fl_call_line_deinit() is called after it. */
FL_MUST_USE fl_status fl_call_line_parse(char **argv, fl_call_line *line,
                                         fl_error *error);
void fl_call_line_deinit(fl_call_line *line);

#endif
