/*
 * serve_line.h - the command line of "fairlead serve" and "fairlead connect",
 * understood.
 */
#ifndef FL_CMD_SERVE_LINE_H
#define FL_CMD_SERVE_LINE_H

#include "cmd/door.h"
#include "cmd/door_keys.h"
#include "cmd/headers.h"
#include "cmd/login.h"

#include <fairlead/gateway.h>

/* Borrows from argv. */
typedef struct fl_serve_line {
    const char *command; /* "serve" or "connect" */
    fl_door_settings door;
    fl_door_keys keys;
    fl_headers headers;
    fl_login login;
    fl_flag_list env, inherit, hidden;
    fl_flag_list replicas;   /* "URL [weight=N]" */
    uint64_t drain_ms;       /* 0: not said */
    bool unchecked;          /* --no-health-checks */
    fl_tls_settings tls;     /* of the server's side */
    unsigned child, era;     /* counted from 1; 0: not said */
    const char *config;      /* a file with servers; "-": stdin; or NULL */
    const char *config_json; /* the same as a text; or NULL */
    bool check;
    bool until_stdin;     /* it ends when stdin, if that is a pipe, is closed */
    const char *control;  /* a path, "none", or NULL: the usual place */
    bool has_target;      /* `upstream` is one by itself, */
    fl_upstream upstream; /* and what servers of the file have in common */
} fl_serve_line;

/* FL_E_INVALID: `error` says what to write instead. */
FL_MUST_USE fl_status fl_serve_line_read(fl_serve_line *line, char **argv,
                                         fl_error *error);
/* Whether it is at http:// or ws:// on another machine: only --allow-http lets
 * it be asked there. */
bool fl_serve_is_plain(const char *url);
void fl_serve_line_deinit(fl_serve_line *line);

#endif
