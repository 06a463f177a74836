/*
 * ration.c - memory that runs out when the test says so.
 *
 * The linker renames: a call of malloc lands in __wrap_malloc, and the real
 * one is __real_malloc. The numbers are atomic because a test may start
 * threads; the refusals are meant for one thread at a time.
 */
#include "support/ration.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);

/* Granted while asked is outside [refuse_from, refuse_to). */
static atomic_size_t asked, granted, largest, refusals;
static atomic_size_t refuse_from = SIZE_MAX, refuse_to = SIZE_MAX;
static atomic_llong live_blocks, live_bytes, peak_bytes;

static bool grant(size_t size)
{
    size_t nth = ++asked;

    if (size > largest)
        largest = size;
    if (nth >= refuse_from && nth < refuse_to) {
        refusals++;
        return false;
    }
    granted++;
    return true;
}

static void *enter(void *block)
{
    if (block != NULL) {
        live_blocks++;
        live_bytes += (long long)malloc_usable_size(block);
        if (live_bytes > peak_bytes)
            peak_bytes = (long long)live_bytes;
    }
    return block;
}

static void leave(void *block)
{
    if (block != NULL) {
        live_blocks--;
        live_bytes -= (long long)malloc_usable_size(block);
    }
}

void *__wrap_malloc(size_t size)
{
    return grant(size) ? enter(__real_malloc(size)) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total))
        total = SIZE_MAX;
    return grant(total) ? enter(__real_calloc(count, size)) : NULL;
}

void *__wrap_realloc(void *block, size_t size)
{
    if (!grant(size))
        return NULL;

    size_t before = block != NULL ? malloc_usable_size(block) : 0;
    void *moved = __real_realloc(block, size);
    if (block != NULL && (moved != NULL || size == 0)) {
        live_blocks--;
        live_bytes -= (long long)before;
    }
    return enter(moved);
}

void __wrap_free(void *block)
{
    leave(block);
    __real_free(block);
}

static void refuse(size_t from, size_t to)
{
    asked = 0;
    refusals = 0;
    refuse_from = from;
    refuse_to = to;
}

void ration_reset(void)
{
    refuse(SIZE_MAX, SIZE_MAX);
    granted = 0;
    largest = 0;
    peak_bytes = (long long)live_bytes;
}

void ration_fail_at(size_t n)
{
    refuse(n, n + 1);
}

void ration_allow(size_t n)
{
    refuse(n + 1, SIZE_MAX);
}

bool ration_refused(void)
{
    return refusals > 0;
}

size_t ration_count(void)
{
    return granted;
}

size_t ration_largest(void)
{
    return largest;
}

size_t ration_peak_bytes(void)
{
    return peak_bytes > 0 ? (size_t)peak_bytes : 0;
}

ptrdiff_t ration_live_blocks(void)
{
    return (ptrdiff_t)live_blocks;
}

ptrdiff_t ration_live_bytes(void)
{
    return (ptrdiff_t)live_bytes;
}

size_t ration_each(void (*scenario)(void *user), void *user)
{
    size_t runs = 0;
    bool refused = true;

    while (refused) {
        ptrdiff_t before = ration_live_blocks();
        ration_fail_at(++runs);
        scenario(user);
        refused = ration_refused();
        ration_reset();
        if (ration_live_blocks() != before)
            fail_msg("refusing allocation %zu leaves %td blocks behind", runs,
                     ration_live_blocks() - before);
    }
    return runs;
}

void *ration_raw_realloc(void *block, size_t size)
{
    return __real_realloc(block, size);
}

void ration_raw_free(void *block)
{
    __real_free(block);
}
