/*
 * test_random.c - bytes from the operating system, within the bounds asked.
 */
#include "base/random.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

#include <cmocka.h>

static void test_random_fills_every_byte(void **state)
{
    enum { SIZE = 64 };
    unsigned char got[SIZE + 1], changed[SIZE] = {0};

    (void)state;
    for (int round = 0; round < 8; round++) {
        memset(got, 0, sizeof got);
        got[SIZE] = 0xa5;
        assert_int_equal(fl_random_bytes(got, SIZE), FL_OK);
        assert_int_equal(got[SIZE], 0xa5);
        for (size_t i = 0; i < SIZE; i++)
            changed[i] |= got[i];
    }
    /* a byte that was zero eight times: once in 2^64 */
    for (size_t i = 0; i < SIZE; i++)
        assert_int_not_equal(changed[i], 0);
}

static void test_random_of_nothing_is_fine(void **state)
{
    (void)state;
    assert_int_equal(fl_random_bytes(NULL, 0), FL_OK);
}

static void test_random_below_stays_below(void **state)
{
    bool seen[7] = {false};

    (void)state;
    assert_true(fl_random_below(0) == 0);
    assert_true(fl_random_below(1) == 0);
    for (int i = 0; i < 2000; i++) {
        uint64_t got = fl_random_below(7);
        assert_true(got < 7);
        seen[got] = true;
    }
    for (size_t i = 0; i < 7; i++)
        assert_true(seen[i]);
    assert_true(fl_random_below(UINT64_MAX) < UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_fills_every_byte),
        cmocka_unit_test(test_random_of_nothing_is_fine),
        cmocka_unit_test(test_random_below_stays_below),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
