/*
 * random.c - getrandom(2), whole or not at all.
 */
#include "base/random.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>

fl_status fl_random_bytes(void *out, size_t size)
{
    char *at = out;

    while (size > 0) {
        ssize_t got = getrandom(at, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return FL_E_IO;
        at += got;
        size -= (size_t)got;
    }
    return FL_OK;
}

uint64_t fl_random_below(uint64_t below)
{
    uint64_t value;

    if (below == 0)
        return 0;
    if (fl_random_bytes(&value, sizeof value) != FL_OK) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        value = (uint64_t)now.tv_nsec * 2654435761u;
    }
    /* the bias of the remainder is 2^-64 * below: nothing, for jitter */
    return value % below;
}
