/*
 * call_line.h - the command line of "fairlead call", understood.
 */
#ifndef FL_CMD_CALL_LINE_H
#define FL_CMD_CALL_LINE_H

#include "base/buf.h"
#include "cmd/flags.h"
#include "cmd/headers.h"
#include "cmd/login.h"

#include <fairlead/client.h>

typedef enum fl_call_action {
    FL_CALL_TOOLS,
    FL_CALL_RESOURCES,
    FL_CALL_TEMPLATES,
    FL_CALL_PROMPTS,
    FL_CALL_TOOL,
    FL_CALL_READ,
    FL_CALL_PROMPT,
    FL_CALL_COMPLETE,
    FL_CALL_PING,
    FL_CALL_INFO,
} fl_call_action;

/* Borrows from argv, the arguments aside. */
typedef struct fl_call_line {
    const char *url; /* NULL: run client.connection.child */
    fl_call_action action;
    const char *object; /* the tool's or prompt's name, or a URI */
    bool of_resource;   /* complete: the object is a template's URI */
    fl_buf arguments;   /* of tool or prompt, a JSON object; complete: those
                           that are settled */
    fl_buf argument;    /* complete: its name... */
    fl_buf value;       /* ...and what there is of it */
    fl_client_options client;
    fl_flag_list env;
    fl_flag_list inherit;
    fl_headers headers;
    fl_login login;
    uint64_t timeout_ms; /* 0: not said */
    unsigned era;        /* fl_era, counted from 1; 0: not said */
    unsigned log_level;  /* fl_log_level; FL_LOG_DEFAULT: not said */
    unsigned server_log; /* which of fl_call_levels, from 1; 0: none of it */
    fl_flag_list roots;
    fl_flag_list answers; /* what the server asks the user: FIELD=VALUE */
    bool accept_defaults; /* the same... */
    bool decline;         /* ...without asking him */
    bool task;            /* the call may become one */
    bool progress;        /* shown also where there is no terminal */
    bool json;
    bool help;
} fl_call_line;

/* Of a server's log; NULL-terminated. */
extern const char *const fl_call_levels[];

/* Points into itself when done: must not be copied. Whatever this says,
 * fl_call_line_deinit() is called after it. */
FL_MUST_USE fl_status fl_call_line_parse(char **argv, fl_call_line *line,
                                         fl_error *error);
void fl_call_line_deinit(fl_call_line *line);

#endif
