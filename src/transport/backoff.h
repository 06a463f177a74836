/*
 * backoff.h - how long to wait before trying again.
 *
 * Doubling from `first_ms` to `max_ms`, and of that a random part between half
 * and all: a thousand clients of a server that restarts must not come back in
 * the same millisecond.
 */
#ifndef FL_TRANSPORT_BACKOFF_H
#define FL_TRANSPORT_BACKOFF_H

#include <fairlead/types.h>

typedef struct fl_backoff {
    uint64_t first_ms;
    uint64_t max_ms;
    unsigned attempts; /* allowed in a row; 0: without end */
    unsigned made;
} fl_backoff;

/* FL_OK and the wait before the next attempt, or FL_E_LIMIT when all are
 * used up. */
FL_MUST_USE fl_status fl_backoff_next(fl_backoff *backoff, uint64_t *wait_ms);

/* It worked: start from the beginning next time. */
void fl_backoff_reset(fl_backoff *backoff);

/* The seconds that a Retry-After asks for, a day at most; 0: a date, or
 * nonsense. */
uint64_t fl_backoff_seconds(fl_span retry_after);

#endif
