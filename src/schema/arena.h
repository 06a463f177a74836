/*
 * arena.h - what a compiled schema is made of: taken piece by piece, given
 * back all at once, bounded at birth.
 */
#ifndef FL_SCHEMA_ARENA_H
#define FL_SCHEMA_ARENA_H

#include <fairlead/types.h>

typedef struct fl_arena_block fl_arena_block;

/* Owned by whoever embeds it. Fields are private to arena.c. */
typedef struct fl_arena {
    fl_arena_block *blocks;
    char *at, *end; /* what is left of the newest block */
    size_t used, max;
    bool full; /* the maximum was met */
} fl_arena;

/* Allocates nothing. */
void fl_arena_init(fl_arena *arena, size_t max);
void fl_arena_deinit(fl_arena *arena);

/* Zeroed memory for anything; NULL: see fl_arena_why(). */
FL_MUST_USE void *fl_arena_take(fl_arena *arena, size_t size);
/* Room for `count` things; the product may not be large enough to wrap. */
FL_MUST_USE void *fl_arena_array(fl_arena *arena, size_t count, size_t size);

/* A copy, with a NUL behind it; its ptr is NULL if there was no room. */
FL_MUST_USE fl_span fl_arena_copy(fl_arena *arena, fl_span bytes);

/* What a NULL meant: FL_E_LIMIT or FL_E_NOMEM. */
fl_status fl_arena_why(const fl_arena *arena);

#endif
