/*
 * reach_flags.h - the flags by which a server is reached, for the tables of
 * every command that talks to one.
 *
 * Rows of an fl_flag table (cmd/flags.h): what they mean is the same wherever
 * they are taken, and so is where they go.
 */
#ifndef FL_CMD_REACH_FLAGS_H
#define FL_CMD_REACH_FLAGS_H

#include "cmd/flags.h"

/* `tls` is an fl_tls_settings *, of a client. */
#define FL_REACH_TLS(tls)                                                      \
    {"--tls-ca", FL_FLAG_TEXT, &(tls)->ca_file, NULL},                         \
        {"--tls-cert", FL_FLAG_TEXT, &(tls)->cert_file, NULL},                 \
        {"--tls-key", FL_FLAG_TEXT, &(tls)->key_file, NULL},                   \
        {"--tls-server-name", FL_FLAG_TEXT, &(tls)->server_name, NULL},        \
    {                                                                          \
        "--insecure-skip-verify", FL_FLAG_SWITCH,                              \
            &(tls)->insecure_skip_verify, NULL                                 \
    }

/* `line` has fl_flag_lists env and inherit; `child` is an fl_child_settings *.
 */
#define FL_REACH_CHILD(line, child)                                            \
    {"--env", FL_FLAG_LIST, &(line)->env, NULL},                               \
        {"--inherit-env", FL_FLAG_LIST, &(line)->inherit, NULL},               \
    {                                                                          \
        "--cwd", FL_FLAG_TEXT, &(child)->cwd, NULL                             \
    }

#endif
