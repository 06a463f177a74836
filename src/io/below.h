/*
 * below.h - opening files below a directory, and nowhere else.
 *
 * A path comes from a peer, so no string that it could be may lead out: not
 * "..", not a leading slash, not a symbolic link that somebody has put there,
 * and not one that is put there while we look.
 */
#ifndef FL_IO_BELOW_H
#define FL_IO_BELOW_H

#include <fairlead/types.h>

/* A set of these is an unsigned. */
typedef enum fl_below_how {
    FL_BELOW_FOLLOW = 1 << 0,    /* symbolic links that stay below the root */
    FL_BELOW_HIDDEN = 1 << 1,    /* names that begin with a dot */
    FL_BELOW_DIRECTORY = 1 << 2, /* it is to be one */
    FL_BELOW_STEPWISE = 1 << 3,  /* as on a system without openat2() */
} fl_below_how;

enum { FL_BELOW_PATH_MAX = 4096 }; /* bytes of a path, with its end */

/* Opens the directory that others are below. `*root` is -1 on failure. */
FL_MUST_USE fl_status fl_below_root(const char *path, int *root);

/* Closes what was opened, if it was; -1 is left. */
void fl_below_close(int *fd);

/* Whether it is one or more names with a slash between each two: no name is
 * empty, "." or "..", or has a NUL in it. */
bool fl_below_is_path(fl_span path, unsigned how);

/*
 * Opens for reading, without ever waiting: a fifo nobody writes to is opened
 * at once. Links are followed only if asked for and if the system can confine
 * them. FL_E_NOT_FOUND covers everything that is not there for us; FL_E_DENIED,
 * FL_E_LIMIT (descriptors), FL_E_NOMEM, FL_E_IO. `*fd` is -1 on failure.
 */
FL_MUST_USE fl_status fl_below_open(int root, const char *path, unsigned how,
                                    int *fd);

#endif
