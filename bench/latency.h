/*
 * latency.h - a histogram of times, exact to 1.6 %, that never allocates.
 *
 * Times are sorted by their highest bit and the six bits after it, so that a
 * microsecond and a second are both counted finely enough and adding one is
 * a shift and an increment.
 */
#ifndef BENCH_LATENCY_H
#define BENCH_LATENCY_H

#include <stddef.h>
#include <stdint.h>

enum { LATENCY_FINE = 64, LATENCY_BUCKETS = 59 * LATENCY_FINE };

typedef struct latency {
    uint64_t count;
    uint64_t buckets[LATENCY_BUCKETS];
} latency;

static inline void latency_add(latency *times, uint64_t ns)
{
    unsigned shift = ns < LATENCY_FINE ? 0 : 57 - (unsigned)__builtin_clzll(ns);
    size_t bucket = ns < LATENCY_FINE ? ns
                                      : (size_t)(shift + 1) * LATENCY_FINE +
                                            (ns >> shift) - LATENCY_FINE;

    times->buckets[bucket]++;
    times->count++;
}

/* The least time that is counted in a bucket. */
static inline uint64_t latency_floor(size_t bucket)
{
    if (bucket < LATENCY_FINE)
        return bucket;
    return (bucket % LATENCY_FINE + LATENCY_FINE)
           << (bucket / LATENCY_FINE - 1);
}

/* The time that a `share` of all (0.99, say) did not exceed; 0 if none. */
static inline uint64_t latency_at(const latency *times, double share)
{
    uint64_t wanted = (uint64_t)((double)times->count * share), seen = 0;

    for (size_t i = 0; i < LATENCY_BUCKETS; i++) {
        seen += times->buckets[i];
        if (seen > wanted)
            return latency_floor(i);
    }
    return 0;
}

#endif
