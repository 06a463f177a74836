/*
 * keep.h - strings that live as long as what was read, and no longer.
 *
 * Many small pieces that go together, some of them secrets: they are
 * overwritten when they go.
 */
#ifndef FL_CONFIG_KEEP_H
#define FL_CONFIG_KEEP_H

#include <fairlead/types.h>

typedef struct fl_keep_block fl_keep_block;

/* Owned by whoever embeds it. Fields are private to keep.c. */
typedef struct fl_keep {
    fl_keep_block *blocks; /* the newest first */
    size_t used;           /* of the newest */
    size_t total, max;
} fl_keep;

/* Allocates nothing. */
void fl_keep_init(fl_keep *keep, size_t max);
void fl_keep_deinit(fl_keep *keep);

/* Zeroed memory for anything. FL_E_NOMEM; FL_E_LIMIT past the maximum. */
FL_MUST_USE fl_status fl_keep_take(fl_keep *keep, size_t size, void **out);

/* A copy, with a NUL behind it. */
FL_MUST_USE fl_status fl_keep_text(fl_keep *keep, fl_span text,
                                   const char **out);

#endif
