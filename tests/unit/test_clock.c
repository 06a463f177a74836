/*
 * test_clock.c - the system's clock goes forward; a test's goes where told.
 */
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static uint64_t told(void *user)
{
    return *(uint64_t *)user;
}

static void test_clock_can_be_driven(void **state)
{
    uint64_t now = 5;
    fl_clock clock = {.now_ms = told, .user = &now};

    (void)state;
    assert_true(fl_clock_now(&clock) == 5);
    now += 30000;
    assert_true(fl_clock_now(&clock) == 30005);
}

static void test_clock_of_the_system_counts_milliseconds(void **state)
{
    fl_clock clock = fl_clock_system();
    struct timespec before, after;

    (void)state;
    clock_gettime(CLOCK_MONOTONIC, &before);
    uint64_t now = fl_clock_now(&clock);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(now >= (uint64_t)before.tv_sec * 1000 +
                           (uint64_t)before.tv_nsec / 1000000);
    assert_true(now <= (uint64_t)after.tv_sec * 1000 +
                           (uint64_t)after.tv_nsec / 1000000);
}

static void test_clock_stamp_is_the_present_in_utc(void **state)
{
    char stamp[FL_CLOCK_STAMP];
    struct tm parsed = {0};
    int milliseconds;
    time_t before = time(NULL);

    (void)state;
    fl_clock_stamp(stamp);
    assert_int_equal(strlen(stamp), FL_CLOCK_STAMP - 1);
    const char *rest = strptime(stamp, "%Y-%m-%dT%H:%M:%S", &parsed);
    assert_non_null(rest);
    assert_int_equal(sscanf(rest, ".%3dZ", &milliseconds), 1);
    assert_int_equal(rest[4], 'Z');
    time_t then = timegm(&parsed);
    /* time() may lag the precise clock by a tick */
    assert_true(then >= before - 1 && then <= time(NULL) + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock_can_be_driven),
        cmocka_unit_test(test_clock_of_the_system_counts_milliseconds),
        cmocka_unit_test(test_clock_stamp_is_the_present_in_utc),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
