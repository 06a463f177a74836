/*
 * rate.h - how often one address may do a thing: token buckets in a bounded
 * table.
 *
 * Each key has a bucket of `burst` tokens that refills at `per_second`. The
 * table holds at most `max_keys`; when it is full, a bucket that has filled up
 * again says nothing and makes room, else the stranger shares one common
 * bucket: a flood from many addresses cannot grow memory. The clock is passed
 * in.
 */
#ifndef FL_GUARD_RATE_H
#define FL_GUARD_RATE_H

#include <fairlead/types.h>

typedef struct fl_rate fl_rate;

FL_MUST_USE fl_rate *fl_rate_new(unsigned per_second, unsigned burst,
                                 size_t max_keys);
void fl_rate_free(fl_rate *rate);

/* Takes one token. If there is none, says false and, in `wait_ms`, when the
 * next one is due. */
bool fl_rate_take(fl_rate *rate, fl_span key, uint64_t now_ms,
                  uint64_t *wait_ms);

#endif
