/*
 * keep.c - strings that live as long as what was read, and no longer.
 *
 * Pieces are cut off the front of blocks. A large one gets a block of its own,
 * and what is left of the block before it is given up: there are few.
 */
#include "config/keep.h"

#include "base/mem.h"

#include <stddef.h>
#include <string.h>

enum { BLOCK = 4096, ALIGN = _Alignof(max_align_t) };

struct fl_keep_block {
    fl_keep_block *next;
    size_t size;
    _Alignas(max_align_t) char bytes[];
};

void fl_keep_init(fl_keep *keep, size_t max)
{
    *keep = (fl_keep){.max = max};
}

void fl_keep_deinit(fl_keep *keep)
{
    while (keep->blocks != NULL) {
        fl_keep_block *block = keep->blocks;
        keep->blocks = block->next;
        fl_mem_wipe(block->bytes, block->size);
        fl_mem_free(block);
    }
    *keep = (fl_keep){0};
}

static fl_status add_block(fl_keep *keep, size_t size)
{
    if (size > keep->max - keep->total)
        return FL_E_LIMIT;
    fl_keep_block *block = fl_mem_zalloc(sizeof *block + size);
    if (block == NULL)
        return FL_E_NOMEM;
    block->next = keep->blocks;
    block->size = size;
    keep->blocks = block;
    keep->used = 0;
    keep->total += size;
    return FL_OK;
}

fl_status fl_keep_take(fl_keep *keep, size_t size, void **out)
{
    size_t room = keep->blocks != NULL ? keep->blocks->size - keep->used : 0;

    *out = NULL;
    if (size > keep->max)
        return FL_E_LIMIT;
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (size > room) {
        fl_status rc = add_block(keep, size > BLOCK ? size : BLOCK);
        if (rc != FL_OK)
            return rc;
    }
    *out = keep->blocks->bytes + keep->used;
    keep->used += size;
    return FL_OK;
}

fl_status fl_keep_text(fl_keep *keep, fl_span text, const char **out)
{
    void *copy;
    fl_status rc = fl_keep_take(keep, text.len + 1, &copy);

    if (copy != NULL && text.len > 0)
        memcpy(copy, text.ptr, text.len);
    *out = copy;
    return rc;
}
