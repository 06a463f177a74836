/*
 * memory.c - how the command's allocator deals with large messages.
 *
 * glibc gives a large block back to the kernel as soon as it is free, and each
 * page that comes again costs a fault. A message of 512 KiB with its answer
 * has 200 of them, and they took more time than all else that was done for it.
 * So the heap keeps a little of what was in use last. That is for a program to
 * say, not for a library in somebody's process: hence here.
 */
#include "cmd/memory.h"

#include <malloc.h>

enum {
    KEPT = 8 << 20,     /* bytes at the end of the heap */
    IN_HEAP = 32 << 20, /* smaller blocks come from it; glibc's own limit for
                           that, which it would climb to by and by */
};

void fl_memory_tune(void)
{
#if defined(M_TRIM_THRESHOLD) && defined(M_MMAP_THRESHOLD)
    /* NOLINTBEGIN(concurrency-mt-unsafe): nothing else runs yet */
    mallopt(M_MMAP_THRESHOLD, IN_HEAP);
    mallopt(M_TRIM_THRESHOLD, KEPT);
    /* NOLINTEND(concurrency-mt-unsafe) */
#endif
}
