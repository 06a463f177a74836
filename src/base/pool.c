/*
 * pool.c - spare memory for buffers that come and go.
 */
#include "base/pool.h"

#include "base/mem.h"

#include <assert.h>

void fl_pool_init(fl_pool *pool)
{
    *pool = (fl_pool){0};
}

void fl_pool_deinit(fl_pool *pool)
{
    while (pool->count > 0)
        fl_mem_free(pool->blocks[--pool->count].ptr);
}

void fl_pool_lend(fl_pool *pool, fl_buf *buf)
{
    if (buf->ptr != NULL || pool->count == 0)
        return;
    if (pool->blocks[pool->count - 1].cap > buf->max)
        return;
    pool->count--;
    buf->ptr = pool->blocks[pool->count].ptr;
    buf->cap = pool->blocks[pool->count].cap;
    buf->start = buf->end = 0;
}

void fl_pool_return(fl_pool *pool, fl_buf *buf)
{
    assert(fl_buf_len(buf) == 0);
    if (buf->ptr == NULL)
        return;
    if (pool->count == FL_POOL_BLOCKS || buf->cap > FL_POOL_BLOCK_MAX) {
        fl_buf_reset(buf);
        return;
    }
    pool->blocks[pool->count].ptr = buf->ptr;
    pool->blocks[pool->count].cap = buf->cap;
    pool->count++;
    *buf = (fl_buf){.max = buf->max};
}
