/*
 * test_load_histogram.c - every percentile is right to 0.8 %, whatever came.
 *
 * A sorted array is the plain version of a histogram: both are filled with the
 * same values and asked for the same shares.
 */
#include "load/histogram.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 20000 };

static const double shares[] = {0,   0.001, 0.01, 0.1,   0.25,   0.5, 0.75,
                                0.9, 0.95,  0.99, 0.999, 0.9999, 1};

static fl_histogram *empty(void)
{
    fl_histogram *histogram = calloc(1, sizeof *histogram);

    assert_non_null(histogram);
    return histogram;
}

static int by_value(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return left < right ? -1 : left > right;
}

/* The value that so many are not above, of a sorted array. */
static uint64_t plain_at(const uint64_t *values, size_t count, double share)
{
    size_t rank = (size_t)ceil(share * (double)count);

    return values[rank > 0 ? rank - 1 : 0];
}

/* Never below what is right, and above it by a bucket's width at most. */
static void assert_close(uint64_t got, uint64_t want)
{
    if (got < want || got - want > want / 128)
        fail_msg("want %llu, got %llu", (unsigned long long)want,
                 (unsigned long long)got);
}

static void compare(uint64_t *values, size_t count)
{
    fl_histogram *histogram = empty();
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        fl_histogram_add(histogram, values[i]);
        sum += (double)values[i];
    }
    qsort(values, count, sizeof *values, by_value);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        assert_close(fl_histogram_at(histogram, shares[i]),
                     plain_at(values, count, shares[i]));
    assert_int_equal(histogram->count, count);
    assert_int_equal(histogram->min, values[0]);
    assert_int_equal(histogram->max, values[count - 1]);
    assert_int_equal(fl_histogram_at(histogram, 0), values[0]);
    assert_int_equal(fl_histogram_at(histogram, 1), values[count - 1]);
    assert_true(fabs(fl_histogram_mean(histogram) - sum / (double)count) <=
                sum * 1e-9);
    free(histogram);
}

static uint64_t roll(uint64_t *dice)
{
    *dice = *dice * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return *dice >> 20; /* 44 bits */
}

static void test_histogram_agrees_with_a_sorted_array(void **state)
{
    static uint64_t values[MANY];
    uint64_t dice = 7;

    (void)state;
    for (unsigned bits = 1; bits <= 43; bits++) {
        for (size_t i = 0; i < MANY; i++)
            values[i] = roll(&dice) & (((uint64_t)1 << bits) - 1);
        compare(values, MANY);
    }
    for (size_t i = 0; i < MANY; i++) /* as durations are: over all sizes */
        values[i] = roll(&dice) >> (1 + roll(&dice) % 43);
    compare(values, MANY);
}

static void test_histogram_agrees_when_there_are_few(void **state)
{
    uint64_t dice = 3;

    (void)state;
    for (size_t count = 1; count <= 40; count++) {
        uint64_t values[40];
        for (size_t i = 0; i < count; i++)
            values[i] = roll(&dice) % 1000000;
        compare(values, count);
    }
}

/* Where a value alone lands, with something above it to tell the bucket. */
static uint64_t top_of_bucket(uint64_t value)
{
    fl_histogram *histogram = empty();

    fl_histogram_add(histogram, value);
    fl_histogram_add(histogram, UINT64_MAX);
    uint64_t top = fl_histogram_at(histogram, 0.5);
    free(histogram);
    return top;
}

static void test_histogram_tells_small_values_apart(void **state)
{
    (void)state;
    for (uint64_t value = 0; value <= 255; value++)
        assert_int_equal(top_of_bucket(value), value);
    assert_int_equal(top_of_bucket(256), 257); /* two each from here on... */
    assert_int_equal(top_of_bucket(257), 257);
    assert_int_equal(top_of_bucket(511), 511);
    assert_int_equal(top_of_bucket(512), 515); /* ...and four */
    assert_int_equal(top_of_bucket(515), 515);
    assert_int_equal(top_of_bucket(516), 519);
    for (uint64_t value = 256; value <= 1000; value++)
        assert_close(top_of_bucket(value), value);
}

static void test_histogram_is_right_around_powers_of_two(void **state)
{
    (void)state;
    for (unsigned bits = 1; bits < 43; bits++) {
        uint64_t power = (uint64_t)1 << bits;
        assert_int_equal(top_of_bucket(power - 1), power - 1);
        assert_close(top_of_bucket(power), power);
        assert_close(top_of_bucket(power + 1), power + 1);
    }
}

static void test_histogram_keeps_what_is_too_long_in_one_bucket(void **state)
{
    fl_histogram *histogram = empty();

    (void)state;
    /* the one below the last is 2^43 - 2 * 2^35 to 2^43 - 2^35 - 1 */
    uint64_t below = ((uint64_t)1 << 43) - ((uint64_t)1 << 35) - 1;
    assert_int_equal(top_of_bucket(below), below);
    assert_true(top_of_bucket(below + 1) == UINT64_MAX);
    for (unsigned bits = 43; bits < 64; bits++) {
        uint64_t power = (uint64_t)1 << bits;
        assert_true(top_of_bucket(power - 1) == UINT64_MAX);
        assert_true(top_of_bucket(power) == UINT64_MAX);
        assert_true(top_of_bucket(power + 1) == UINT64_MAX);
    }
    fl_histogram_add(histogram, UINT64_MAX);
    assert_int_equal(histogram->count, 1);
    assert_true(histogram->min == UINT64_MAX && histogram->max == UINT64_MAX);
    assert_true(fl_histogram_at(histogram, 0) == UINT64_MAX);
    assert_true(fl_histogram_at(histogram, 0.5) == UINT64_MAX);
    assert_int_equal(histogram->buckets[FL_HISTOGRAM_BUCKETS - 1], 1);
    free(histogram);
}

static void test_histogram_never_says_more_than_the_largest(void **state)
{
    fl_histogram *histogram = empty();

    (void)state;
    fl_histogram_add(histogram, 1000000); /* whose bucket goes on above it */
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        assert_int_equal(fl_histogram_at(histogram, shares[i]), 1000000);
    free(histogram);
}

static void test_histogram_that_is_empty_says_zero(void **state)
{
    fl_histogram *histogram = empty();

    (void)state;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        assert_int_equal(fl_histogram_at(histogram, shares[i]), 0);
    assert_true(fl_histogram_mean(histogram) == 0);
    free(histogram);
}

static void test_histogram_merged_is_one_that_was_given_all(void **state)
{
    fl_histogram *parts[3] = {empty(), empty(), empty()};
    fl_histogram *all = empty(), *merged = empty();
    uint64_t dice = 11;

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        uint64_t value = roll(&dice) >> (roll(&dice) % 44);
        fl_histogram_add(parts[i % 2], value); /* the third stays empty */
        fl_histogram_add(all, value);
    }
    for (size_t i = 0; i < 3; i++)
        fl_histogram_merge(merged, parts[2 - i]);
    assert_int_equal(merged->count, all->count);
    assert_int_equal(merged->min, all->min);
    assert_int_equal(merged->max, all->max);
    assert_true(fabs(merged->sum - all->sum) <= all->sum * 1e-12);
    assert_memory_equal(merged->buckets, all->buckets, sizeof all->buckets);
    for (size_t i = 0; i < 3; i++)
        free(parts[i]);
    free(all);
    free(merged);
}

static void test_histogram_merged_with_nothing_is_as_it_was(void **state)
{
    fl_histogram *one = empty(), *none = empty();
    fl_histogram before;

    (void)state;
    fl_histogram_add(one, 42);
    before = *one;
    fl_histogram_merge(one, none);
    assert_memory_equal(one, &before, sizeof before);
    fl_histogram_merge(none, one);
    assert_memory_equal(none, &before, sizeof before);
    free(one);
    free(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_histogram_agrees_with_a_sorted_array),
        cmocka_unit_test(test_histogram_agrees_when_there_are_few),
        cmocka_unit_test(test_histogram_tells_small_values_apart),
        cmocka_unit_test(test_histogram_is_right_around_powers_of_two),
        cmocka_unit_test(test_histogram_keeps_what_is_too_long_in_one_bucket),
        cmocka_unit_test(test_histogram_never_says_more_than_the_largest),
        cmocka_unit_test(test_histogram_that_is_empty_says_zero),
        cmocka_unit_test(test_histogram_merged_is_one_that_was_given_all),
        cmocka_unit_test(test_histogram_merged_with_nothing_is_as_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
