/*
 * test_schema_numeral.c - numbers as they are written, compared and divided.
 *
 * Small ones are compared with what doubles and integers say of them, in every
 * spelling; the large ones have no such oracle and are written out.
 */
#include "schema/numeral.h"

#include "base/span.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int compare(const char *a, const char *b)
{
    fl_numeral x = fl_numeral_read(fl_span_of(a));
    fl_numeral y = fl_numeral_read(fl_span_of(b));
    int order = fl_numeral_compare(&x, &y);

    assert_int_equal((order > 0) - (order < 0),
                     (fl_numeral_compare(&y, &x) < 0) -
                         (fl_numeral_compare(&y, &x) > 0));
    if (order == 0)
        assert_true(fl_numeral_hash(&x) == fl_numeral_hash(&y));
    return (order > 0) - (order < 0);
}

static bool divides(const char *divisor, const char *number)
{
    fl_numeral d = fl_numeral_read(fl_span_of(divisor));
    fl_numeral n = fl_numeral_read(fl_span_of(number));
    fl_divisor made;

    assert_true(fl_divisor_make(&made, &d));
    return fl_divisor_divides(&made, &n);
}

static void test_numeral_same_in_every_spelling(void **state)
{
    static const char *const spellings[][2] = {
        {"0", "-0"},           {"0", "0.000e99"},   {"1", "1.0"},
        {"1", "10e-1"},        {"1", "0.01E+2"},    {"-1.5", "-15e-1"},
        {"100", "1e2"},        {"120", "12.0e1"},   {"0.001", "1e-3"},
        {"10.01", "1001e-2"},  {"1e400", "10e399"}, {"1e-400", "0.1e-399"},
        {"1230.0", "0.123e4"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (compare(spellings[i][0], spellings[i][1]) != 0)
            fail_msg("%s is not %s", spellings[i][0], spellings[i][1]);
}

static void require_order(int a, int b)
{
    char x[32], y[32];
    int want = (a > b) - (a < b);

    snprintf(x, sizeof x, "%d", a);
    snprintf(y, sizeof y, "%d.00", b);
    assert_int_equal(compare(x, y), want);
    snprintf(x, sizeof x, "%de-1", a);
    snprintf(y, sizeof y, "%de-01", b);
    assert_int_equal(compare(x, y), want);
    snprintf(x, sizeof x, "%d.0e+1", a);
    snprintf(y, sizeof y, "%d0", b);
    assert_int_equal(compare(x, y), b == 0 ? (a > 0) - (a < 0) : want);
}

static void test_numeral_orders_as_numbers_do(void **state)
{
    (void)state;
    for (int a = -150; a <= 150; a += 7)
        for (int b = -150; b <= 150; b += 5)
            require_order(a, b);
}

static void test_numeral_orders_what_no_double_tells_apart(void **state)
{
    (void)state;
    assert_int_equal(compare("9007199254740993", "9007199254740992"), 1);
    assert_int_equal(compare("0.1000000000000000000000001", "0.1"), 1);
    assert_int_equal(compare("-1e400", "-1e401"), 1);
    assert_int_equal(compare("1e-400", "0"), 1);
    assert_int_equal(compare("-1e-400", "0"), -1);
    assert_int_equal(compare("123456789012345678901234567890.5",
                             "123456789012345678901234567890.49"),
                     1);
    assert_int_equal(compare("1e99999999999999999999", "1e5"), 1);
    assert_int_equal(compare("1e-99999999999999999999", "1e-5"), -1);
}

static void test_numeral_knows_whole_numbers(void **state)
{
    static const struct {
        const char *text;
        bool whole;
    } numbers[] = {
        {"0", true},       {"-0.0", true},    {"1.0", true},    {"1.5", false},
        {"1e-1", false},   {"10e-1", true},   {"0.5e1", true},  {"1e400", true},
        {"100e-3", false}, {"1.25e1", false}, {"1.25e2", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        fl_numeral n = fl_numeral_read(fl_span_of(numbers[i].text));
        assert_int_equal(fl_numeral_is_whole(&n), numbers[i].whole);
    }
}

static void test_divisor_divides_as_integers_do(void **state)
{
    (void)state;
    for (int d = 1; d <= 40; d++)
        for (int n = -90; n <= 90; n++) {
            char divisor[32], number[32];
            snprintf(divisor, sizeof divisor, "%de-2", d);
            snprintf(number, sizeof number, "%de-2", n);
            assert_int_equal(divides(divisor, number), n % d == 0);
            snprintf(number, sizeof number, "%d", n);
            assert_int_equal(divides(divisor, number), n * 100 % d == 0);
        }
}

static void test_divisor_divides_exactly(void **state)
{
    (void)state;
    assert_true(divides("0.0001", "0.0075"));
    assert_false(divides("0.0001", "0.00751"));
    assert_true(divides("0.5", "1e308"));
    assert_false(divides("7", "1e308"));
    assert_true(divides("7", "7e308"));
    assert_true(divides("18446744073709551615", "36893488147419103230"));
    assert_false(divides("18446744073709551615", "36893488147419103231"));
    assert_false(divides("1e300", "1e299"));
    assert_true(divides("3", "111111111111111111111111111111"));
}

static void test_divisor_refuses_what_it_cannot_hold(void **state)
{
    static const char *const bad[] = {"0", "-1", "18446744073709551616",
                                      "1.00000000000000000001"};
    fl_divisor made;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fl_numeral n = fl_numeral_read(fl_span_of(bad[i]));
        assert_false(fl_divisor_make(&made, &n));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numeral_same_in_every_spelling),
        cmocka_unit_test(test_numeral_orders_as_numbers_do),
        cmocka_unit_test(test_numeral_orders_what_no_double_tells_apart),
        cmocka_unit_test(test_numeral_knows_whole_numbers),
        cmocka_unit_test(test_divisor_divides_as_integers_do),
        cmocka_unit_test(test_divisor_divides_exactly),
        cmocka_unit_test(test_divisor_refuses_what_it_cannot_hold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
