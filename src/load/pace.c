/*
 * pace.c - when requests are due.
 *
 * Even times are counted from the start and not added up, so that millions of
 * them do not drift.
 */
#include "load/pace.h"

#include <math.h>

/* xorshift64*: cheap, and good enough to scatter arrivals. */
static uint64_t roll(uint64_t *dice)
{
    *dice ^= *dice >> 12;
    *dice ^= *dice << 25;
    *dice ^= *dice >> 27;
    return *dice * UINT64_C(0x2545F4914F6CDD1D);
}

/* Above 0, up to 1. */
static double roll_share(uint64_t *dice)
{
    return ((double)(roll(dice) >> 11) + 1) * 0x1p-53;
}

static void settle(fl_pace *pace)
{
    if (pace->dice == 0)
        pace->passed = (double)pace->taken * pace->interval;
    else
        pace->passed -= log(roll_share(&pace->dice)) * pace->interval;
    pace->due = pace->start + (uint64_t)pace->passed;
}

void fl_pace_init(fl_pace *pace, double rate, uint64_t start, uint64_t seed)
{
    *pace = (fl_pace){.start = start, .interval = 1e9 / rate, .dice = seed};
    settle(pace);
}

void fl_pace_take(fl_pace *pace)
{
    pace->taken++;
    settle(pace);
}
