/*
 * clock.h - time as a value one is given, so that tests can drive it.
 *
 * Nothing asks the system for the time but the clock it was handed. A test
 * hands in its own and moves it; nobody has to sleep to prove a timeout.
 */
#ifndef FL_BASE_CLOCK_H
#define FL_BASE_CLOCK_H

#include <stdint.h>

typedef struct fl_clock {
    uint64_t (*now_ms)(void *user); /* monotonic */
    void *user;
} fl_clock;

/* The system's monotonic clock. */
fl_clock fl_clock_system(void);

static inline uint64_t fl_clock_now(const fl_clock *clock)
{
    return clock->now_ms(clock->user);
}

/* Nanoseconds of the same clock, for measuring how long something took. */
uint64_t fl_clock_ns(void);

/* Wall-clock time for log lines: "2026-07-28T12:00:00.123Z" and its NUL. */
enum { FL_CLOCK_STAMP = 25 };
void fl_clock_stamp(char stamp[FL_CLOCK_STAMP]);

/* Seconds since 1970: for dates that others will read (tokens, files). It may
 * jump; nothing is timed with it. */
int64_t fl_clock_unix(void);

#endif
