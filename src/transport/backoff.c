/*
 * backoff.c - how long to wait before trying again.
 */
#include "transport/backoff.h"

#include "base/random.h"

enum { DAY_S = 24 * 3600 };

fl_status fl_backoff_next(fl_backoff *backoff, uint64_t *wait_ms)
{
    *wait_ms = 0;
    if (backoff->attempts > 0 && backoff->made >= backoff->attempts)
        return FL_E_LIMIT;

    uint64_t wait = backoff->first_ms;
    for (unsigned i = 0; i < backoff->made && wait < backoff->max_ms; i++)
        wait = wait <= backoff->max_ms / 2 ? wait * 2 : backoff->max_ms;
    if (wait > backoff->max_ms)
        wait = backoff->max_ms;
    backoff->made++;
    *wait_ms = wait - fl_random_below(wait / 2 + 1);
    return FL_OK;
}

void fl_backoff_reset(fl_backoff *backoff)
{
    backoff->made = 0;
}

uint64_t fl_backoff_seconds(fl_span retry_after)
{
    uint64_t value = 0;

    for (size_t i = 0; i < retry_after.len; i++) {
        char digit = retry_after.ptr[i];
        if (digit < '0' || digit > '9')
            return 0;
        value = value * 10 + (uint64_t)(digit - '0');
        if (value > DAY_S)
            value = DAY_S;
    }
    return value;
}
