/*
 * zlib_stream.h - what every user of zlib needs: our memory, and numbers that
 * fit.
 */
#ifndef FL_WIRE_ZLIB_STREAM_H
#define FL_WIRE_ZLIB_STREAM_H

#include "base/mem.h"

#include <limits.h>

#define ZLIB_CONST
#include <zlib.h>

/* `opaque` counts the bytes; zlib gives none back before the end. */
static inline void *fl_zlib_allocate(void *opaque, unsigned items,
                                     unsigned size)
{
    size_t total = (size_t)items * size, *held = opaque;
    void *block = fl_mem_alloc(total);

    if (block != NULL && held != NULL)
        *held += total;
    return block;
}

static inline void fl_zlib_release(void *opaque, void *block)
{
    (void)opaque;
    fl_mem_free(block);
}

/* `held`, if not NULL, is added to with every allocation; kept. */
static inline z_stream fl_zlib_stream(size_t *held)
{
    return (z_stream){
        .zalloc = fl_zlib_allocate, .zfree = fl_zlib_release, .opaque = held};
}

/* zlib counts in 32 bits, and so gets no more than it can count. */
static inline void fl_zlib_offer(z_stream *z, fl_span in)
{
    const size_t most = UINT_MAX;

    z->next_in = (const unsigned char *)in.ptr;
    z->avail_in = (unsigned)(in.len < most ? in.len : most);
}

/* Memory follows the window (zlib's tech note: 1 << (bits + 2), and 1 <<
 * (memory level + 9)): 268 KB for 15 bits, 22 KB for 11. */
static inline int fl_zlib_memory_level(int bits)
{
    return bits - (MAX_WBITS - MAX_MEM_LEVEL + 1);
}

#endif
