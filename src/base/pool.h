/*
 * pool.h - spare memory for buffers that come and go.
 *
 * An idle link holds no buffer, and a busy one must not call malloc for every
 * message. So buffers that ran empty leave their memory here, and the next
 * one that fills takes it. The pool keeps a bounded number of blocks of
 * bounded size; what does not fit is freed.
 */
#ifndef FL_BASE_POOL_H
#define FL_BASE_POOL_H

#include "base/buf.h"

enum {
    FL_POOL_BLOCKS = 64,
    FL_POOL_BLOCK_MAX = 64 * 1024, /* larger blocks are not kept */
};

/* Owned by whoever embeds it. Fields are private to pool.c. */
typedef struct fl_pool {
    struct {
        char *ptr;
        size_t cap;
    } blocks[FL_POOL_BLOCKS];
    size_t count;
} fl_pool;

void fl_pool_init(fl_pool *pool);
void fl_pool_deinit(fl_pool *pool);

/* Gives an empty buffer without memory a spare block, if there is one that
 * does not pass its maximum. Never fails: the buffer allocates if need be. */
void fl_pool_lend(fl_pool *pool, fl_buf *buf);

/* Takes the memory of an empty buffer back. */
void fl_pool_return(fl_pool *pool, fl_buf *buf);

#endif
