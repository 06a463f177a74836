/*
 * test_span.c - small verbs on a borrowed view; an empty one may be NULL.
 */
#include "base/span.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const fl_span nothing = {0};

static void test_span_of_a_literal_knows_its_length(void **state)
{
    (void)state;
    assert_int_equal(FL_SPAN("a\0b").len, 3);
    assert_int_equal(FL_SPAN("").len, 0);
}

static void test_span_of_null_is_empty(void **state)
{
    (void)state;
    assert_null(fl_span_of(NULL).ptr);
    assert_int_equal(fl_span_of(NULL).len, 0);
    assert_int_equal(fl_span_of("abc").len, 3);
}

static void test_span_equal_compares_length_and_bytes(void **state)
{
    (void)state;
    assert_true(fl_span_equal(FL_SPAN("abc"), fl_span_of("abc")));
    assert_false(fl_span_equal(FL_SPAN("abc"), FL_SPAN("abd")));
    assert_false(fl_span_equal(FL_SPAN("abc"), FL_SPAN("ab")));
    assert_true(fl_span_equal(nothing, FL_SPAN("")));
    assert_true(fl_span_equal(nothing, nothing));
    assert_false(fl_span_equal(FL_SPAN("a\0b"), FL_SPAN("a\0c")));
}

static void test_span_starts_with_its_prefixes_only(void **state)
{
    (void)state;
    assert_true(fl_span_starts(FL_SPAN("abc"), FL_SPAN("ab")));
    assert_true(fl_span_starts(FL_SPAN("abc"), FL_SPAN("abc")));
    assert_true(fl_span_starts(FL_SPAN("abc"), nothing));
    assert_true(fl_span_starts(nothing, nothing));
    assert_false(fl_span_starts(FL_SPAN("abc"), FL_SPAN("abcd")));
    assert_false(fl_span_starts(FL_SPAN("abc"), FL_SPAN("b")));
}

static void test_span_from_gives_the_rest(void **state)
{
    (void)state;
    assert_true(fl_span_equal(fl_span_from(FL_SPAN("abc"), 1), FL_SPAN("bc")));
    assert_int_equal(fl_span_from(FL_SPAN("abc"), 3).len, 0);
    assert_null(fl_span_from(nothing, 0).ptr);
}

/* Of every length around those it knows, with every byte wrong in turn. */
static void test_span_same_name_is_span_equal(void **state)
{
    enum { LONG = 24 };
    char a[LONG], b[LONG];

    (void)state;
    assert_true(fl_span_same_name(nothing, FL_SPAN("")));
    for (size_t len = 0; len <= LONG; len++) {
        memset(a, 'x', LONG);
        memset(b, 'x', LONG);
        assert_true(fl_span_same_name((fl_span){a, len}, (fl_span){b, len}));
        for (size_t at = 0; at < len; at++) {
            b[at] = 'y';
            assert_false(
                fl_span_same_name((fl_span){a, len}, (fl_span){b, len}));
            assert_false(
                fl_span_same_name((fl_span){a, len}, (fl_span){a, at}));
            b[at] = 'x';
        }
    }
}

static void test_span_find_gives_the_first_or_the_length(void **state)
{
    (void)state;
    assert_int_equal(fl_span_find(FL_SPAN("abcb"), 'b'), 1);
    assert_int_equal(fl_span_find(FL_SPAN("abcb"), 'x'), 4);
    assert_int_equal(fl_span_find(FL_SPAN("ab\0"), '\0'), 2);
    assert_int_equal(fl_span_find(nothing, 'a'), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_span_of_a_literal_knows_its_length),
        cmocka_unit_test(test_span_of_null_is_empty),
        cmocka_unit_test(test_span_equal_compares_length_and_bytes),
        cmocka_unit_test(test_span_same_name_is_span_equal),
        cmocka_unit_test(test_span_starts_with_its_prefixes_only),
        cmocka_unit_test(test_span_from_gives_the_rest),
        cmocka_unit_test(test_span_find_gives_the_first_or_the_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
