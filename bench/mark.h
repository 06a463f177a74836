/*
 * mark.h - what each message of the broadcaster carries: "crowd:" and two
 * numbers of fixed width, which message to this client it is and when it was
 * sent. Of fixed width, so that a reader finds it without parsing.
 */
#ifndef BENCH_MARK_H
#define BENCH_MARK_H

#include <inttypes.h>
#include <stdio.h>

#define MARK "crowd:"

enum { MARK_SIZE = 31 };

/* `ns` on the monotonic clock, which all processes of a machine share. */
static inline void mark_write(char out[MARK_SIZE + 1], uint64_t number,
                              uint64_t ns)
{
    snprintf(out, MARK_SIZE + 1, MARK "%08" PRIu64 ":%016" PRIu64, number, ns);
}

static inline int mark_read(const char *text, uint64_t *number, uint64_t *ns)
{
    return sscanf(text, MARK "%8" SCNu64 ":%16" SCNu64, number, ns) == 2;
}

#endif
