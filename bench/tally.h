/*
 * tally.h - what all connections of a run count together.
 */
#ifndef BENCH_TALLY_H
#define BENCH_TALLY_H

#include "latency.h"

#include <stdbool.h>

typedef struct bench_tally {
    uint64_t answers;
    uint64_t bad; /* answers with no known id, or without the text sent */
    size_t outstanding;
    bool stop; /* send no more */
    latency times;
} bench_tally;

#endif
