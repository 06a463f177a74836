/*
 * arena.c - memory that is given back all at once.
 *
 * A compiled schema is thousands of small things that live and die together.
 * They are cut off the front of blocks; a thing larger than a quarter of a
 * block gets a block of its own, so that little is left over at the ends.
 */
#include "schema/arena.h"

#include "base/mem.h"

#include <stddef.h>
#include <string.h>

enum { BLOCK = 4096, ALIGN = _Alignof(max_align_t) };

struct fl_arena_block {
    fl_arena_block *next;
    _Alignas(max_align_t) char bytes[];
};

void fl_arena_init(fl_arena *arena, size_t max)
{
    *arena = (fl_arena){.max = max};
}

void fl_arena_deinit(fl_arena *arena)
{
    while (arena->blocks != NULL) {
        fl_arena_block *block = arena->blocks;
        arena->blocks = block->next;
        fl_mem_free(block);
    }
    *arena = (fl_arena){0};
}

static char *add_block(fl_arena *arena, size_t size)
{
    if (size > arena->max - arena->used) {
        arena->full = true;
        return NULL;
    }
    fl_arena_block *block = fl_mem_zalloc(sizeof *block + size);
    if (block == NULL)
        return NULL;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->used += size;
    return block->bytes;
}

void *fl_arena_take(fl_arena *arena, size_t size)
{
    if (size > arena->max) {
        arena->full = true;
        return NULL;
    }
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (size > BLOCK / 4)
        return add_block(arena, size);
    if ((size_t)(arena->end - arena->at) < size) {
        char *bytes = add_block(arena, BLOCK);
        if (bytes == NULL)
            return NULL;
        arena->at = bytes;
        arena->end = bytes + BLOCK;
    }
    void *taken = arena->at;
    arena->at += size;
    return taken;
}

void *fl_arena_array(fl_arena *arena, size_t count, size_t size)
{
    return fl_arena_take(arena, count * size);
}

fl_span fl_arena_copy(fl_arena *arena, fl_span bytes)
{
    char *copy = fl_arena_take(arena, bytes.len + 1);

    if (copy != NULL && bytes.len > 0)
        memcpy(copy, bytes.ptr, bytes.len);
    return (fl_span){copy, copy != NULL ? bytes.len : 0};
}

fl_status fl_arena_why(const fl_arena *arena)
{
    return arena->full ? FL_E_LIMIT : FL_E_NOMEM;
}
