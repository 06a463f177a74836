/*
 * test_load_pace.c - requests are due when they should be, for hours on end.
 */
#include "load/pace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

enum { MANY = 10000000 };

static void test_pace_that_is_even_begins_at_once(void **state)
{
    fl_pace pace;

    (void)state;
    fl_pace_init(&pace, 1000, 12345, 0);
    assert_int_equal(pace.due, 12345);
    fl_pace_take(&pace);
    assert_int_equal(pace.due, 12345 + SECOND / 1000);
}

/* Within a nanosecond or two, which is what a double has left after years. */
static void assert_near(uint64_t got, uint64_t want)
{
    if (got + 2 < want || got > want + 2)
        fail_msg("want %llu, got %llu", (unsigned long long)want,
                 (unsigned long long)got);
}

static void test_pace_that_is_even_has_the_nth_at_n_times_as_long(void **state)
{
    static const unsigned rates[] = {1, 3, 7, 200, 1000, 9999, 100000, 3000000};

    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        fl_pace pace;
        fl_pace_init(&pace, rates[i], SECOND, 0);
        for (uint64_t n = 0; n < 1000; n++) {
            assert_near(pace.due, SECOND + n * SECOND / rates[i]);
            fl_pace_take(&pace);
        }
    }
}

static void test_pace_that_is_even_does_not_drift(void **state)
{
    fl_pace thirds, exact;

    (void)state;
    fl_pace_init(&thirds, 3000, 77, 0);
    fl_pace_init(&exact, 100000, 77, 0);
    for (unsigned n = 0; n < MANY; n++) {
        fl_pace_take(&thirds);
        fl_pace_take(&exact);
    }
    assert_near(thirds.due, 77 + MANY * SECOND / 3000);
    assert_int_equal(exact.due, 77 + MANY * (SECOND / 100000));
}

static void test_pace_at_random_comes_as_often_as_asked(void **state)
{
    static const double rates[] = {0.5, 200, 1e6};

    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (uint64_t seed = 1; seed <= 8; seed++) {
            fl_pace pace;
            fl_pace_init(&pace, rates[i], 0, seed);
            for (int n = 0; n < 100000; n++)
                fl_pace_take(&pace);
            double rate = 100001 * 1e9 / (double)pace.due;
            assert_true(rate > rates[i] * 0.97 && rate < rates[i] * 1.03);
        }
}

/* Of gaps like these a share of 1/e is longer than the mean: were they even,
 * or drawn evenly, it would be another. */
static void test_pace_at_random_is_that_of_independent_users(void **state)
{
    fl_pace pace;
    unsigned longer = 0;

    (void)state;
    fl_pace_init(&pace, 1000, 0, 5);
    for (int n = 0; n < 100000; n++) {
        uint64_t before = pace.due;
        fl_pace_take(&pace);
        longer += pace.due - before > SECOND / 1000;
    }
    assert_in_range(longer, 36000, 37600);
}

static void test_pace_at_random_never_goes_back(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 64; seed++) {
        fl_pace pace;
        fl_pace_init(&pace, 1e6, SECOND, seed);
        uint64_t before = SECOND;
        for (int n = 0; n < 10000; n++) {
            assert_true(pace.due >= before);
            before = pace.due;
            fl_pace_take(&pace);
        }
    }
}

static void test_pace_of_one_seed_is_always_the_same(void **state)
{
    fl_pace one, same, other;
    unsigned differ = 0;

    (void)state;
    fl_pace_init(&one, 100, 9, 1);
    fl_pace_init(&same, 100, 9, 1);
    fl_pace_init(&other, 100, 9, 2);
    for (int n = 0; n < 1000; n++) {
        assert_int_equal(one.due, same.due);
        differ += one.due != other.due;
        fl_pace_take(&one);
        fl_pace_take(&same);
        fl_pace_take(&other);
    }
    assert_true(differ > 990);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pace_that_is_even_begins_at_once),
        cmocka_unit_test(test_pace_that_is_even_has_the_nth_at_n_times_as_long),
        cmocka_unit_test(test_pace_that_is_even_does_not_drift),
        cmocka_unit_test(test_pace_at_random_comes_as_often_as_asked),
        cmocka_unit_test(test_pace_at_random_is_that_of_independent_users),
        cmocka_unit_test(test_pace_at_random_never_goes_back),
        cmocka_unit_test(test_pace_of_one_seed_is_always_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
