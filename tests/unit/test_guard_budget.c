/*
 * test_guard_budget.c - what may be held for others, to the byte.
 */
#include "guard/budget.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_budget_takes_all_of_it_for_work_under_way(void **state)
{
    fl_budget budget;

    (void)state;
    fl_budget_init(&budget, 800);
    assert_true(fl_budget_take(&budget, 800, true));
    assert_false(fl_budget_take(&budget, 1, true));
    assert_int_equal(budget.used, 800);
    fl_budget_give(&budget, 1);
    assert_false(fl_budget_take(&budget, 2, true));
    assert_true(fl_budget_take(&budget, 1, true));
}

static void test_budget_keeps_the_last_eighth_from_new_work(void **state)
{
    fl_budget budget;

    (void)state;
    fl_budget_init(&budget, 800);
    assert_false(fl_budget_take(&budget, 701, false));
    assert_int_equal(budget.used, 0);
    assert_true(fl_budget_take(&budget, 699, false));
    assert_true(fl_budget_open(&budget));
    assert_true(fl_budget_take(&budget, 1, false));
    assert_false(fl_budget_open(&budget));
    assert_false(fl_budget_take(&budget, 1, false));
    assert_true(fl_budget_take(&budget, 100, true));
    assert_false(fl_budget_take(&budget, 0, false));
    fl_budget_give(&budget, 101);
    assert_true(fl_budget_open(&budget));
}

static void test_budget_refuses_without_wrapping(void **state)
{
    fl_budget budget;

    (void)state;
    fl_budget_init(&budget, SIZE_MAX);
    assert_true(fl_budget_take(&budget, 10, true));
    assert_false(fl_budget_take(&budget, SIZE_MAX, true));
    assert_true(fl_budget_take(&budget, SIZE_MAX - 10, true));
    assert_false(fl_budget_take(&budget, 1, true));
    fl_budget_give(&budget, SIZE_MAX);
    assert_int_equal(budget.used, 0);
}

static void test_budget_remembers_its_peak(void **state)
{
    fl_budget budget;

    (void)state;
    fl_budget_init(&budget, 100);
    assert_true(fl_budget_take(&budget, 60, true));
    fl_budget_give(&budget, 50);
    assert_true(fl_budget_take(&budget, 20, true));
    assert_false(fl_budget_take(&budget, 100, true));
    assert_int_equal(budget.used, 30);
    assert_int_equal(budget.peak, 60);
}

static void test_budget_of_nothing_is_closed(void **state)
{
    fl_budget budget;

    (void)state;
    fl_budget_init(&budget, 0);
    assert_false(fl_budget_open(&budget));
    assert_false(fl_budget_take(&budget, 1, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budget_takes_all_of_it_for_work_under_way),
        cmocka_unit_test(test_budget_keeps_the_last_eighth_from_new_work),
        cmocka_unit_test(test_budget_refuses_without_wrapping),
        cmocka_unit_test(test_budget_remembers_its_peak),
        cmocka_unit_test(test_budget_of_nothing_is_closed),
    };

    return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
