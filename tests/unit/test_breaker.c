/*
 * test_breaker.c - a circuit breaker at each of its edges.
 */
#include "guard/breaker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { FAILURES = 3, WINDOW = 1000, PAUSE = 500, START = 10000 };

static fl_breaker make(void)
{
    return (fl_breaker){
        .failures = FAILURES, .window_ms = WINDOW, .pause_ms = PAUSE};
}

static void assert_allowed(fl_breaker *breaker, uint64_t now)
{
    uint64_t wait_ms = 77;

    assert_true(fl_breaker_allow(breaker, now, &wait_ms));
    assert_int_equal(wait_ms, 0);
}

static void assert_refused(fl_breaker *breaker, uint64_t now, uint64_t wait)
{
    uint64_t wait_ms = 0;

    assert_false(fl_breaker_allow(breaker, now, &wait_ms));
    assert_int_equal(wait_ms, wait);
}

static fl_breaker open_at(uint64_t now)
{
    fl_breaker breaker = make();

    for (int i = 0; i < FAILURES; i++)
        fl_breaker_fail(&breaker, now);
    assert_int_equal(breaker.state, FL_BREAKER_OPEN);
    return breaker;
}

static void test_breaker_lets_all_through_at_first(void **state)
{
    fl_breaker breaker = make();

    (void)state;
    assert_allowed(&breaker, 0);
    assert_allowed(&breaker, START);
}

static void test_breaker_opens_at_the_last_failure_not_before(void **state)
{
    fl_breaker breaker = make();

    (void)state;
    for (int i = 0; i < FAILURES - 1; i++)
        fl_breaker_fail(&breaker, START);
    assert_allowed(&breaker, START);
    fl_breaker_fail(&breaker, START);
    assert_refused(&breaker, START, PAUSE);
}

static void test_breaker_opens_for_failures_just_within_the_window(void **state)
{
    fl_breaker breaker = make();

    (void)state;
    fl_breaker_fail(&breaker, START);
    fl_breaker_fail(&breaker, START + 1);
    fl_breaker_fail(&breaker, START + WINDOW);
    assert_int_equal(breaker.state, FL_BREAKER_OPEN);
}

static void test_breaker_forgets_failures_one_past_the_window(void **state)
{
    fl_breaker breaker = make();

    (void)state;
    fl_breaker_fail(&breaker, START);
    fl_breaker_fail(&breaker, START + 1);
    fl_breaker_fail(&breaker, START + WINDOW + 1); /* the first of a new row */
    assert_allowed(&breaker, START + WINDOW + 1);
    fl_breaker_fail(&breaker, START + WINDOW + 2);
    assert_allowed(&breaker, START + WINDOW + 2);
    fl_breaker_fail(&breaker, START + WINDOW + 3);
    assert_refused(&breaker, START + WINDOW + 3, PAUSE);
}

static void test_breaker_counts_failures_in_a_row_only(void **state)
{
    fl_breaker breaker = make();

    (void)state;
    fl_breaker_fail(&breaker, START);
    fl_breaker_fail(&breaker, START);
    fl_breaker_succeed(&breaker);
    fl_breaker_fail(&breaker, START);
    fl_breaker_fail(&breaker, START);
    assert_allowed(&breaker, START);
}

static void test_breaker_stays_open_for_the_pause_and_no_longer(void **state)
{
    fl_breaker breaker = open_at(START);

    (void)state;
    assert_refused(&breaker, START + 1, PAUSE - 1);
    assert_refused(&breaker, START + PAUSE - 1, 1);
    assert_allowed(&breaker, START + PAUSE);
}

static void test_breaker_lets_one_through_to_find_out(void **state)
{
    fl_breaker breaker = open_at(START);

    (void)state;
    assert_allowed(&breaker, START + PAUSE);
    assert_refused(&breaker, START + PAUSE, PAUSE);
    assert_refused(&breaker, START + PAUSE + 1, PAUSE - 1);
}

static void test_breaker_closes_when_the_trial_succeeds(void **state)
{
    fl_breaker breaker = open_at(START);

    (void)state;
    assert_allowed(&breaker, START + PAUSE);
    fl_breaker_succeed(&breaker);
    assert_allowed(&breaker, START + PAUSE);
    assert_allowed(&breaker, START + PAUSE);
    fl_breaker_fail(&breaker, START + PAUSE); /* counted from the beginning */
    assert_allowed(&breaker, START + PAUSE);
}

static void test_breaker_opens_anew_when_the_trial_fails(void **state)
{
    fl_breaker breaker = open_at(START);

    (void)state;
    assert_allowed(&breaker, START + PAUSE);
    fl_breaker_fail(&breaker, START + PAUSE + 7);
    assert_refused(&breaker, START + PAUSE + 7, PAUSE);
    assert_allowed(&breaker, START + PAUSE + 7 + PAUSE);
}

static void test_breaker_forgets_a_trial_that_nobody_ended(void **state)
{
    fl_breaker breaker = open_at(START);

    (void)state;
    assert_allowed(&breaker, START + PAUSE);
    assert_refused(&breaker, START + 2 * PAUSE - 1, 1);
    assert_allowed(&breaker, START + 2 * PAUSE);
}

static void test_breaker_is_not_kept_open_by_late_failures(void **state)
{
    fl_breaker breaker = open_at(START);

    (void)state;
    fl_breaker_fail(&breaker, START + PAUSE - 1);
    assert_allowed(&breaker, START + PAUSE);
}

static void test_breaker_closes_for_a_late_answer(void **state)
{
    fl_breaker breaker = open_at(START);

    (void)state;
    fl_breaker_succeed(&breaker);
    assert_allowed(&breaker, START);
}

static void test_breaker_without_a_number_never_opens(void **state)
{
    fl_breaker breaker = {.window_ms = WINDOW, .pause_ms = PAUSE};

    (void)state;
    for (int i = 0; i < 100; i++)
        fl_breaker_fail(&breaker, START);
    assert_allowed(&breaker, START);
}

static void test_breaker_says_what_it_would_and_stays(void **state)
{
    fl_breaker breaker = open_at(START);
    uint64_t wait_ms;

    (void)state;
    assert_false(fl_breaker_would(&breaker, START + PAUSE - 1, &wait_ms));
    assert_int_equal(wait_ms, 1);
    assert_true(fl_breaker_would(&breaker, START + PAUSE, &wait_ms));
    assert_int_equal(wait_ms, 0);
    assert_int_equal(breaker.state, FL_BREAKER_OPEN);
}

static void test_breaker_relents_for_one(void **state)
{
    fl_breaker breaker = open_at(START);

    (void)state;
    fl_breaker_relent(&breaker);
    assert_allowed(&breaker, START + 1);
    assert_refused(&breaker, START + 2, PAUSE - 1); /* the trial is on */
    fl_breaker_fail(&breaker, START + 3);
    assert_refused(&breaker, START + 3, PAUSE);
}

static void test_breaker_that_is_closed_has_nothing_to_relent(void **state)
{
    fl_breaker breaker = make();

    (void)state;
    fl_breaker_relent(&breaker);
    for (int i = 0; i < FAILURES; i++)
        fl_breaker_fail(&breaker, START);
    assert_refused(&breaker, START, PAUSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_breaker_lets_all_through_at_first),
        cmocka_unit_test(test_breaker_opens_at_the_last_failure_not_before),
        cmocka_unit_test(
            test_breaker_opens_for_failures_just_within_the_window),
        cmocka_unit_test(test_breaker_forgets_failures_one_past_the_window),
        cmocka_unit_test(test_breaker_counts_failures_in_a_row_only),
        cmocka_unit_test(test_breaker_stays_open_for_the_pause_and_no_longer),
        cmocka_unit_test(test_breaker_lets_one_through_to_find_out),
        cmocka_unit_test(test_breaker_closes_when_the_trial_succeeds),
        cmocka_unit_test(test_breaker_opens_anew_when_the_trial_fails),
        cmocka_unit_test(test_breaker_forgets_a_trial_that_nobody_ended),
        cmocka_unit_test(test_breaker_is_not_kept_open_by_late_failures),
        cmocka_unit_test(test_breaker_closes_for_a_late_answer),
        cmocka_unit_test(test_breaker_without_a_number_never_opens),
        cmocka_unit_test(test_breaker_says_what_it_would_and_stays),
        cmocka_unit_test(test_breaker_relents_for_one),
        cmocka_unit_test(test_breaker_that_is_closed_has_nothing_to_relent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
