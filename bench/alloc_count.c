/*
 * alloc_count.c - counts every allocation of an unmodified program.
 *
 *     FAIRLEAD_ALLOC_FILE=/dev/shm/counts LD_PRELOAD=./alloc_count.so program
 *
 * It stands before the C library's heap and keeps its figures in a shared
 * mapping, so that another process reads them while the program runs, at any
 * moment and without a signal or a stop. Calls made before the constructor
 * runs are counted in a struct of our own and carried over.
 *
 * The bytes of a block are what the allocator really gave, header included,
 * not what was asked for: that is what a connection costs. glibc exports its
 * own heap as __libc_malloc & co., which saves looking symbols up with dlsym,
 * a function that allocates.
 */
#include "alloc_count.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { BLOCK_HEADER = sizeof(size_t) };

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static alloc_count before_main;
static alloc_count *counts = &before_main;

static void add(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static void gone(void *block)
{
    if (block == NULL)
        return;
    add(&counts->live_bytes, 0 - (malloc_usable_size(block) + BLOCK_HEADER));
    add(&counts->live_blocks, UINT64_MAX);
}

static void *came(void *block)
{
    add(&counts->calls, 1);
    if (block != NULL) {
        add(&counts->live_bytes, malloc_usable_size(block) + BLOCK_HEADER);
        add(&counts->live_blocks, 1);
    }
    return block;
}

static void take_over(alloc_count *shared)
{
    add(&shared->calls, before_main.calls);
    add(&shared->frees, before_main.frees);
    add(&shared->live_bytes, before_main.live_bytes);
    add(&shared->live_blocks, before_main.live_blocks);
    counts = shared;
}

__attribute__((constructor)) static void publish(void)
{
    const char *path = getenv("FAIRLEAD_ALLOC_FILE");
    int fd = path != NULL
                 ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
                 : -1;

    if (fd < 0)
        return;
    if (ftruncate(fd, sizeof(alloc_count)) == 0) {
        void *shared = mmap(NULL, sizeof(alloc_count), PROT_READ | PROT_WRITE,
                            MAP_SHARED, fd, 0);
        if (shared != MAP_FAILED)
            take_over(shared);
    }
    close(fd);
}

EXPORT void *malloc(size_t size)
{
    return came(__libc_malloc(size));
}

EXPORT void *calloc(size_t count, size_t size)
{
    return came(__libc_calloc(count, size));
}

EXPORT void *realloc(void *block, size_t size)
{
    uint64_t old = block != NULL ? malloc_usable_size(block) + BLOCK_HEADER : 0;
    void *moved = __libc_realloc(block, size);

    /* Failed, and the old block stays; nothing came and nothing went. */
    if (moved == NULL && size > 0) {
        add(&counts->calls, 1);
        return NULL;
    }
    add(&counts->live_bytes, 0 - old);
    add(&counts->live_blocks, block != NULL ? UINT64_MAX : 0);
    return came(moved);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    return came(__libc_memalign(alignment, size));
}

EXPORT void *memalign(size_t alignment, size_t size)
{
    return came(__libc_memalign(alignment, size));
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *made = came(__libc_memalign(alignment, size));

    if (made == NULL)
        return ENOMEM;
    *block = made;
    return 0;
}

EXPORT void free(void *block)
{
    add(&counts->frees, block != NULL);
    gone(block);
    __libc_free(block);
}
