/*
 * clock.c - the system's clocks.
 */
#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static uint64_t monotonic_ms(void *user)
{
    struct timespec now;

    (void)user;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

fl_clock fl_clock_system(void)
{
    return (fl_clock){.now_ms = monotonic_ms};
}

uint64_t fl_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void fl_clock_stamp(char stamp[FL_CLOCK_STAMP])
{
    struct timespec now;
    struct tm utc;
    char text[64];

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ",
             utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour,
             utc.tm_min, utc.tm_sec, now.tv_nsec / 1000000);
    memcpy(stamp, text, FL_CLOCK_STAMP);
    stamp[FL_CLOCK_STAMP - 1] = '\0';
}

int64_t fl_clock_unix(void)
{
    return (int64_t)time(NULL);
}
