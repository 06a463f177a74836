/*
 * test_raw.c - the public way to look into JSON.
 */
#include "base/span.h"

#include <fairlead/json.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static const char json[] =
    "{\"a\":[1,{\"b\":\"x\\n\\u00e9\"}],\"a b\":true,\"e\":\"\"}";
static const fl_span text = {json, sizeof json - 1};

static void test_raw_path_is_a_chain(void **state)
{
    fl_span b = fl_raw_get(fl_raw_at(fl_raw_get(text, "a"), 1), "b");

    (void)state;
    assert_true(fl_span_equal(b, FL_SPAN("\"x\\n\\u00e9\"")));
    assert_true(fl_span_equal(fl_raw_get(text, "a b"), FL_SPAN("true")));
}

static void test_raw_nothing_can_be_looked_into(void **state)
{
    fl_span nothing = fl_raw_get(text, "c");

    (void)state;
    assert_int_equal(nothing.len, 0);
    assert_int_equal(fl_raw_get(fl_raw_at(nothing, 0), "d").len, 0);
    assert_int_equal(fl_raw_at(fl_raw_get(text, "a"), 2).len, 0);
    assert_int_equal(fl_raw_at(text, 0).len, 0); /* an object has no order */
    assert_int_equal(fl_raw_get(fl_raw_get(text, "a"), "0").len, 0);
}

static void test_raw_string_is_compared_by_its_meaning(void **state)
{
    fl_span b = fl_raw_get(fl_raw_at(fl_raw_get(text, "a"), 1), "b");

    (void)state;
    assert_true(fl_raw_is(b, "x\n\xc3\xa9"));
    assert_false(fl_raw_is(b, "x"));
    assert_true(fl_raw_is(fl_raw_get(text, "e"), ""));
    assert_false(fl_raw_is(fl_raw_get(text, "a b"), "true"));
    assert_false(fl_raw_is((fl_span){0}, ""));
}

static void test_raw_text_is_cut_as_by_snprintf(void **state)
{
    fl_span b = fl_raw_get(fl_raw_at(fl_raw_get(text, "a"), 1), "b");
    char out[8] = "?";

    (void)state;
    assert_int_equal(fl_raw_text(b, out, sizeof out), 4);
    assert_string_equal(out, "x\n\xc3\xa9");
    assert_int_equal(fl_raw_text(b, out, 5), 4); /* just fits */
    assert_string_equal(out, "x\n\xc3\xa9");
    assert_int_equal(fl_raw_text(b, out, 3), 4); /* does not */
    assert_string_equal(out, "x\n");
    assert_int_equal(fl_raw_text(b, out, 1), 4);
    assert_string_equal(out, "");
    assert_int_equal(fl_raw_text(b, NULL, 0), 4);
}

static void test_raw_text_of_no_string_is_empty(void **state)
{
    char out[8] = "?";

    (void)state;
    assert_int_equal(fl_raw_text(FL_SPAN("12"), out, sizeof out), 0);
    assert_string_equal(out, "");
    assert_int_equal(fl_raw_text((fl_span){0}, out, sizeof out), 0);
    assert_int_equal(fl_raw_text(FL_SPAN("\"\""), out, sizeof out), 0);
}

static void test_raw_integer_is_whole_and_fits(void **state)
{
    (void)state;
    assert_int_equal(fl_raw_integer(FL_SPAN("-12"), 7), -12);
    assert_int_equal(fl_raw_integer(FL_SPAN("2.0"), 7), 2);
    assert_int_equal(fl_raw_integer(FL_SPAN("2e3"), 7), 2000);
    assert_int_equal(fl_raw_integer(FL_SPAN("2.5"), 7), 7);
    assert_true(fl_raw_integer(FL_SPAN("9223372036854775807"), 7) == INT64_MAX);
    assert_int_equal(fl_raw_integer(FL_SPAN("9223372036854775808"), 7), 7);
    assert_true(fl_raw_integer(FL_SPAN("-9223372036854775808"), 7) ==
                INT64_MIN);
    assert_int_equal(fl_raw_integer(FL_SPAN("-9223372036854775809"), 7), 7);
}

static void test_raw_number_is_a_double(void **state)
{
    (void)state;
    assert_true(fl_raw_number(FL_SPAN("54.25"), 1) == 54.25);
    assert_true(fl_raw_number(FL_SPAN("-1e2"), 1) == -100.0);
    assert_true(fl_raw_number(FL_SPAN("0"), 1) == 0.0);
}

static void test_raw_bool_is_true_or_false(void **state)
{
    (void)state;
    assert_true(fl_raw_bool(fl_raw_get(text, "a b"), false));
    assert_false(fl_raw_bool(FL_SPAN("false"), true));
}

static void test_raw_otherwise_is_for_all_else(void **state)
{
    const fl_span others[] = {
        {0},           fl_raw_get(text, "c"), FL_SPAN("\"1\""), FL_SPAN("null"),
        FL_SPAN("{}"), FL_SPAN("[1]"),        FL_SPAN("truth"), FL_SPAN("-"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(fl_raw_integer(others[i], 7), 7);
        assert_true(fl_raw_number(others[i], 7) == 7.0);
        assert_true(fl_raw_bool(others[i], true));
        assert_false(fl_raw_bool(others[i], false));
    }
    assert_true(fl_raw_bool(FL_SPAN("1"), true)); /* nor is a number one */
    assert_false(fl_raw_bool(FL_SPAN("1"), false));
    assert_int_equal(fl_raw_integer(FL_SPAN("true"), 7), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_raw_path_is_a_chain),
        cmocka_unit_test(test_raw_nothing_can_be_looked_into),
        cmocka_unit_test(test_raw_string_is_compared_by_its_meaning),
        cmocka_unit_test(test_raw_text_is_cut_as_by_snprintf),
        cmocka_unit_test(test_raw_text_of_no_string_is_empty),
        cmocka_unit_test(test_raw_integer_is_whole_and_fits),
        cmocka_unit_test(test_raw_number_is_a_double),
        cmocka_unit_test(test_raw_bool_is_true_or_false),
        cmocka_unit_test(test_raw_otherwise_is_for_all_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
