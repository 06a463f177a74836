/*
 * alloc_count.h - what the allocation counter writes and others read.
 *
 * Four native 64-bit words at the start of the file that the environment
 * variable FAIRLEAD_ALLOC_FILE names; bench/run unpacks the same layout.
 */
#ifndef BENCH_ALLOC_COUNT_H
#define BENCH_ALLOC_COUNT_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct alloc_count {
    _Atomic uint64_t calls; /* malloc, calloc, realloc and their aligned kin */
    _Atomic uint64_t frees;
    _Atomic uint64_t live_bytes; /* as handed out, with the block's header */
    _Atomic uint64_t live_blocks;
} alloc_count;

#endif
