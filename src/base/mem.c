/*
 * mem.c - the only door to the heap.
 *
 * A size of zero is asked for as one: what the C library does with zero is its
 * own affair (glibc's realloc frees the block and returns NULL, which here
 * would read as "no memory, and the old block stays").
 */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static size_t at_least_one(size_t size)
{
    return size > 0 ? size : 1;
}

void *fl_mem_alloc(size_t size)
{
    return malloc(at_least_one(size));
}

void *fl_mem_zalloc(size_t size)
{
    return calloc(1, at_least_one(size));
}

void *fl_mem_realloc(void *block, size_t size)
{
    return realloc(block, at_least_one(size));
}

void fl_mem_free(void *block)
{
    free(block);
}

char *fl_mem_string(fl_span text)
{
    char *copy = fl_mem_alloc(text.len + 1);

    if (copy == NULL)
        return NULL;
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

void fl_mem_wipe(void *block, size_t size)
{
    if (block != NULL)
        explicit_bzero(block, size);
}
