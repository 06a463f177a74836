/*
 * mount.h - a directory whose files are resources, between the files that
 * make it:
 *
 *   files.c       added, read from, gone
 *   mount_list.c  its files, listed
 */
#ifndef FL_SERVER_MOUNT_H
#define FL_SERVER_MOUNT_H

#include "server/manifest.h"
#include "server/server.h"

typedef struct fl_mount {
    fl_list node; /* among the server's */
    fl_server *server;
    int root;
    char *directory;
    char *prefix;
    char *annotations; /* or NULL */
    size_t max_bytes;
    size_t max_listed;
    bool template_only;
    unsigned how;
    fl_manifest files;
} fl_mount;

/* Reads the file that the call's URI means; `user` is the mount. */
fl_call_fn fl_mount_read;

/* Looks again at what there is, and lists that. `*changed` is set if what is
 * listed has. Goes on after a failure. */
FL_MUST_USE fl_status fl_mount_rescan(fl_mount *m, bool *changed);

#endif
