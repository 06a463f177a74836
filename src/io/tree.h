/*
 * tree.h - what there is below a directory: its files, and the directories
 * they are in.
 */
#ifndef FL_IO_TREE_H
#define FL_IO_TREE_H

#include "io/below.h"

enum { FL_TREE_DEPTH = 32, FL_TREE_LOOKS = 100000 };

typedef struct fl_tree_entry {
    const char *path; /* below the root; UTF-8. Borrowed */
    bool is_directory;
    uint64_t size;
    int64_t modified; /* nanoseconds since 1970 */
} fl_tree_entry;

/* What was passed over. */
typedef struct fl_tree_skips {
    size_t unnamed;  /* names that are not UTF-8 */
    size_t unlisted; /* neither file nor directory, links that are not followed,
                      what cannot be looked into, or lies too deep */
    bool cut;        /* FL_TREE_LOOKS was reached */
} fl_tree_skips;

/* Anything but FL_OK ends the walk, and is what it returns. */
typedef fl_status fl_tree_fn(void *user, const fl_tree_entry *entry);

/*
 * Calls `visit` for each regular file and each directory, in no order, a
 * directory before what is in it. Waits for the disk. Of `how`, links are
 * followed to files only, hidden names are left out unless they are asked for.
 */
FL_MUST_USE fl_status fl_tree_walk(int root, unsigned how, fl_tree_fn *visit,
                                   void *user, fl_tree_skips *skips);

#endif
