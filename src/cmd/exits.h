/*
 * exits.h - what the command's exit status means.
 *
 * Part of what the command promises: scripts branch on these. The table in
 * --help and in the manual says the same.
 */
#ifndef FL_CMD_EXITS_H
#define FL_CMD_EXITS_H

typedef enum fl_exit {
    FL_EXIT_OK = 0,
    FL_EXIT_LOCAL = 1,      /* wrong usage, or something here went wrong */
    FL_EXIT_CONNECTION = 2, /* cannot connect, or the connection was lost */
    FL_EXIT_REMOTE = 3,     /* the server answered with a JSON-RPC error */
    FL_EXIT_TOOL = 4,       /* the tool reported an error (isError): it
                               failed, or (from revision 2025-11-25 on, before
                               that it is 3) would not have its arguments */
    FL_EXIT_TIMEOUT = 5,
    FL_EXIT_INTERRUPTED = 130, /* SIGINT or SIGTERM, as the shells count */
} fl_exit;

#endif
