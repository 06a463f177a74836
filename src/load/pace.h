/*
 * pace.h - when requests are due, if it is not the answers that say so.
 *
 * An open load asks as often as it was told, whether or not the server keeps
 * up: users do not wait for each other. A pace is the times at which that
 * happens, one after the other; whoever is late takes the time it was due as
 * its beginning. Even: all apart by the same time. Random: as users who know
 * nothing of each other come (a Poisson process), the same ones for the same
 * seed.
 */
#ifndef FL_LOAD_PACE_H
#define FL_LOAD_PACE_H

#include <fairlead/types.h>

/* Owned by whoever embeds it. Fields but `due` are private to pace.c. */
typedef struct fl_pace {
    uint64_t due; /* nanoseconds: when the next request is to be sent */
    uint64_t start;
    double interval; /* nanoseconds, on average */
    double passed;   /* since the start */
    uint64_t taken;
    uint64_t dice; /* 0: even */
} fl_pace;

/* `rate` is above 0; `seed` 0: even. The first is due at once if even, and
 * after a random while if not. */
void fl_pace_init(fl_pace *pace, double rate, uint64_t start, uint64_t seed);

/* The one that was due is sent: on to the next. */
void fl_pace_take(fl_pace *pace);

#endif
