/*
 * manifest.h - a list of what was found below a directory, in order.
 */
#ifndef FL_SERVER_MANIFEST_H
#define FL_SERVER_MANIFEST_H

#include "io/tree.h"

typedef struct fl_manifest_item {
    char *path;
    uint64_t size;
    int64_t modified;
    bool is_directory;
    char *uri; /* under which it is listed, or NULL */
} fl_manifest_item;

/* Owned by whoever embeds it; {0} at first. */
typedef struct fl_manifest {
    fl_manifest_item *items; /* by path, bytewise */
    size_t count, cap;
    size_t max;
    bool more; /* it was cut at `max` */
    bool with_directories;
    fl_tree_skips skips;
} fl_manifest;

typedef struct fl_manifest_want {
    unsigned how; /* fl_below_how */
    size_t max;   /* items */
    bool with_directories;
} fl_manifest_want;

/* Fills an empty one. Waits for the disk. On failure it is left empty. */
FL_MUST_USE fl_status fl_manifest_read(fl_manifest *manifest, int root,
                                       const fl_manifest_want *want);
void fl_manifest_deinit(fl_manifest *manifest);

/* NULL when it is not there. */
fl_manifest_item *fl_manifest_find(const fl_manifest *manifest, fl_span path);

/* The place of the first whose path is not before `path`; count if none. */
size_t fl_manifest_seek(const fl_manifest *manifest, fl_span path);

#endif
