/*
 * test_backoff.c - waits that double, with jitter, and come to an end.
 *
 * The waits are random, so each is held to its bounds, many times over.
 */
#include "transport/backoff.h"

#include "base/span.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { RUNS = 2000 };

static void assert_next_between(fl_backoff *backoff, uint64_t least,
                                uint64_t most)
{
    uint64_t wait_ms = 0;

    assert_int_equal(fl_backoff_next(backoff, &wait_ms), FL_OK);
    assert_in_range(wait_ms, least, most);
}

static void test_backoff_doubles_up_to_the_maximum(void **state)
{
    (void)state;
    for (int i = 0; i < RUNS; i++) {
        fl_backoff backoff = {.first_ms = 1000, .max_ms = 6000};
        assert_next_between(&backoff, 500, 1000);
        assert_next_between(&backoff, 1000, 2000);
        assert_next_between(&backoff, 2000, 4000);
        assert_next_between(&backoff, 3000, 6000);
        assert_next_between(&backoff, 3000, 6000);
    }
}

static void test_backoff_waits_differ_and_reach_both_bounds(void **state)
{
    bool seen[11] = {false};
    uint64_t wait_ms;

    (void)state;
    for (int i = 0; i < RUNS; i++) {
        fl_backoff backoff = {.first_ms = 10, .max_ms = 10};
        assert_int_equal(fl_backoff_next(&backoff, &wait_ms), FL_OK);
        assert_in_range(wait_ms, 5, 10);
        seen[wait_ms] = true;
    }
    for (int wait = 5; wait <= 10; wait++)
        assert_true(seen[wait]);
}

static void test_backoff_gives_its_attempts_and_not_one_more(void **state)
{
    fl_backoff backoff = {.first_ms = 1, .max_ms = 1, .attempts = 3};
    uint64_t wait_ms;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(fl_backoff_next(&backoff, &wait_ms), FL_OK);
    for (int i = 0; i < 3; i++) {
        wait_ms = 99;
        assert_int_equal(fl_backoff_next(&backoff, &wait_ms), FL_E_LIMIT);
        assert_int_equal(wait_ms, 0);
    }
}

static void test_backoff_starts_again_after_success(void **state)
{
    fl_backoff backoff = {.first_ms = 100, .max_ms = 100000, .attempts = 2};
    uint64_t wait_ms;

    (void)state;
    assert_next_between(&backoff, 50, 100);
    assert_next_between(&backoff, 100, 200);
    fl_backoff_reset(&backoff);
    assert_next_between(&backoff, 50, 100);
    assert_next_between(&backoff, 100, 200);
    assert_int_equal(fl_backoff_next(&backoff, &wait_ms), FL_E_LIMIT);
}

static void test_backoff_without_end_goes_on_for_ever(void **state)
{
    fl_backoff backoff = {.first_ms = 1, .max_ms = 8, .made = UINT32_MAX - 1};

    (void)state;
    assert_next_between(&backoff, 4, 8);
    for (int i = 0; i < 100; i++)
        assert_next_between(&backoff, 0, 8); /* the count may begin anew */
}

/* Options reach from 1 ms to a day, and a maximum may be "never". */
static void test_backoff_never_wraps(void **state)
{
    fl_backoff backoff = {.first_ms = 3, .max_ms = UINT64_MAX};
    uint64_t before = 0;

    (void)state;
    for (int i = 0; i < 200; i++) {
        uint64_t wait_ms;
        assert_int_equal(fl_backoff_next(&backoff, &wait_ms), FL_OK);
        assert_true(wait_ms >= before / 2);
        before = wait_ms;
    }
    assert_true(before >= UINT64_MAX / 2);
}

static void test_backoff_first_above_the_maximum_is_held_to_it(void **state)
{
    fl_backoff backoff = {.first_ms = 500, .max_ms = 100};

    (void)state;
    assert_next_between(&backoff, 50, 100);
}

static void test_backoff_reads_a_retry_after(void **state)
{
    (void)state;
    assert_int_equal(fl_backoff_seconds(FL_SPAN("0")), 0);
    assert_int_equal(fl_backoff_seconds(FL_SPAN("120")), 120);
    assert_int_equal(fl_backoff_seconds(FL_SPAN("86400")), 86400);
    assert_int_equal(fl_backoff_seconds(FL_SPAN("86401")), 86400);
    assert_int_equal(fl_backoff_seconds(FL_SPAN("99999999999999999999999")),
                     86400);
    assert_int_equal(fl_backoff_seconds(FL_SPAN("")), 0);
    assert_int_equal(fl_backoff_seconds(FL_SPAN("-1")), 0);
    assert_int_equal(fl_backoff_seconds(FL_SPAN("Fri, 31 Dec 1999")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_backoff_doubles_up_to_the_maximum),
        cmocka_unit_test(test_backoff_waits_differ_and_reach_both_bounds),
        cmocka_unit_test(test_backoff_gives_its_attempts_and_not_one_more),
        cmocka_unit_test(test_backoff_starts_again_after_success),
        cmocka_unit_test(test_backoff_without_end_goes_on_for_ever),
        cmocka_unit_test(test_backoff_never_wraps),
        cmocka_unit_test(test_backoff_first_above_the_maximum_is_held_to_it),
        cmocka_unit_test(test_backoff_reads_a_retry_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
