/*
 * test_numbers.c - what waits under a number is found there, and only
 * until it is taken out.
 */
#include "base/numbers.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MANY = 1000 };

static char places[MANY + 1]; /* only their addresses are used */

static void test_numbers_are_found_until_taken_out(void **state)
{
    fl_numbers numbers = {0};

    (void)state;
    assert_null(fl_numbers_get(&numbers, 1));
    assert_null(fl_numbers_remove(&numbers, 1));
    assert_int_equal(fl_numbers_add(&numbers, 1, &places[1]), FL_OK);
    assert_ptr_equal(fl_numbers_get(&numbers, 1), &places[1]);
    assert_null(fl_numbers_get(&numbers, 2));
    assert_null(fl_numbers_get(&numbers, 0));
    assert_ptr_equal(fl_numbers_remove(&numbers, 1), &places[1]);
    assert_null(fl_numbers_get(&numbers, 1));
    assert_null(fl_numbers_remove(&numbers, 1));
    fl_numbers_deinit(&numbers);
}

/* All that is in is found, and all that is not is not. */
static void check_all(const fl_numbers *numbers, const bool *in)
{
    for (size_t i = 1; i <= MANY; i++)
        assert_ptr_equal(fl_numbers_get(numbers, i), in[i] ? &places[i] : NULL);
}

/* Whatever is taken out, those that had to give way to it are still found. */
static void test_numbers_survive_any_order(void **state)
{
    static bool in[MANY + 1];
    fl_numbers numbers = {0};
    unsigned seed = 1;

    (void)state;
    for (unsigned turn = 0; turn < 20 * MANY; turn++) {
        seed = seed * 1103515245U + 12345U;
        size_t i = 1 + (seed >> 8) % MANY;
        if (in[i])
            assert_ptr_equal(fl_numbers_remove(&numbers, i), &places[i]);
        else
            assert_int_equal(fl_numbers_add(&numbers, i, &places[i]), FL_OK);
        in[i] = !in[i];
        if (turn % MANY == 0)
            check_all(&numbers, in);
    }
    check_all(&numbers, in);
    fl_numbers_deinit(&numbers);
}

/* As a gateway uses them: the memory is that of those waiting at one time. */
static void test_numbers_keep_their_memory(void **state)
{
    fl_numbers numbers = {0};

    (void)state;
    for (size_t i = 1; i <= 64; i++)
        assert_int_equal(fl_numbers_add(&numbers, i, &places[i]), FL_OK);
    size_t cap = numbers.cap;
    for (size_t i = 65; i <= MANY; i++) {
        assert_ptr_equal(fl_numbers_remove(&numbers, i - 64), &places[i - 64]);
        assert_int_equal(fl_numbers_add(&numbers, i, &places[i]), FL_OK);
    }
    assert_int_equal(numbers.cap, cap);
    fl_numbers_deinit(&numbers);
}

static void test_numbers_are_read_as_they_are_written(void **state)
{
    char text[FL_NUMBERS_TEXT];

    (void)state;
    assert_int_equal(fl_numbers_read(fl_numbers_write(1, text)), 1);
    assert_int_equal(fl_numbers_read(fl_numbers_write(9876543210, text)),
                     9876543210);
    assert_int_equal(fl_numbers_read(FL_SPAN("01")), 0);
    assert_int_equal(fl_numbers_read(FL_SPAN("1.0")), 0);
    assert_int_equal(fl_numbers_read(FL_SPAN("\"1\"")), 0);
    assert_int_equal(fl_numbers_read(FL_SPAN("")), 0);
    assert_int_equal(fl_numbers_read(FL_SPAN("12345678901234567890")), 0);
}

static void fill(void *user)
{
    fl_numbers numbers = {0};
    size_t count = 0;

    (void)user;
    while (count < 20 &&
           fl_numbers_add(&numbers, count + 1, &places[count + 1]) == FL_OK)
        count++;
    assert_true(count == 20 || ration_refused());
    for (size_t i = 1; i <= 20; i++)
        assert_ptr_equal(fl_numbers_get(&numbers, i),
                         i <= count ? &places[i] : NULL);
    fl_numbers_deinit(&numbers);
}

static void test_numbers_without_memory_are_as_they_were(void **state)
{
    (void)state;
    assert_true(ration_each(fill, NULL) > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_found_until_taken_out),
        cmocka_unit_test(test_numbers_survive_any_order),
        cmocka_unit_test(test_numbers_keep_their_memory),
        cmocka_unit_test(test_numbers_are_read_as_they_are_written),
        cmocka_unit_test(test_numbers_without_memory_are_as_they_were),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
