/*
 * test_yaml.c - one YAML document, told as JSON.
 */
#include "base/span.h"
#include "support/ration.h"
#include "json/scan.h"
#include "json/yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *yaml, const char *json)
{
    fl_json_top top;
    fl_error error;
    fl_buf out;

    fl_buf_init(&out, 1 << 20);
    assert_int_equal(fl_yaml_to_json(fl_span_of(yaml), &out, &error), FL_OK);
    assert_int_equal(fl_json_scan(fl_buf_view(&out), 0, &top, NULL), FL_OK);
    assert_int_equal(fl_buf_append(&out, (fl_span){"", 1}), FL_OK);
    assert_string_equal(fl_buf_view(&out).ptr, json);
    fl_buf_reset(&out);
}

static void check_refused(fl_span yaml, fl_status status, const char *text)
{
    fl_error error;
    fl_buf out;

    fl_buf_init(&out, 1 << 20);
    assert_int_equal(fl_buf_append(&out, FL_SPAN("before")), FL_OK);
    assert_int_equal(fl_yaml_to_json(yaml, &out, &error), status);
    assert_string_equal(error.text, text);
    assert_true(fl_span_equal(fl_buf_view(&out), FL_SPAN("before")));
    assert_int_equal(fl_yaml_to_json(yaml, &out, NULL), status);
    fl_buf_reset(&out);
}

static void test_yaml_front_matter_is_an_object(void **state)
{
    (void)state;
    check(
        "name: git-workflow\n"
        "description: >\n  Follow it,\n  always.\n"
        "metadata:\n  version: \"2.1\"\n  tags: [a, 'b c', 3]\n",
        "{\"name\":\"git-workflow\",\"description\":\"Follow it, always.\\n\","
        "\"metadata\":{\"version\":\"2.1\",\"tags\":[\"a\",\"b c\",3]}}");
    check("", "null");
    check("# only a remark\n", "null");
    check("a: {}\nb: []\n", "{\"a\":{},\"b\":[]}");
    check("caf\xC3\xA9: \"\\u00e9 \\0\"\n",
          "{\"caf\xC3\xA9\":\"\xC3\xA9 \\u0000\"}");
    check("---\na: 1\n", "{\"a\":1}");
}

static void test_yaml_scalars_are_of_the_core_schema(void **state)
{
    static const char *const pairs[][2] = {
        {"null", "null"},
        {"~", "null"},
        {"Null", "null"},
        {"nuLL", "\"nuLL\""},
        {"true", "true"},
        {"FALSE", "false"},
        {"yes", "\"yes\""},
        {"no", "\"no\""},
        {"on", "\"on\""},
        {"y", "\"y\""},
        {"0", "0"},
        {"-0", "-0"},
        {"+12", "12"},
        {"007", "7"},
        {"-010", "-10"},
        {"0o17", "15"},
        {"0x1F", "31"},
        {"0b1", "\"0b1\""},
        {"1.0", "1.0"},
        {"1.", "1"},
        {".5", "0.5"},
        {"-.5e+3", "-0.5e+3"},
        {"1e3", "1e3"},
        {"01.50", "1.50"},
        {".", "\".\""},
        {"-", "[null]"},
        {"1e", "\"1e\""},
        {"1.2.3", "\"1.2.3\""},
        {".inf", "null"},
        {"-.INF", "null"},
        {".nan", "null"},
        {"1_000", "\"1_000\""},
        {"12:30", "\"12:30\""},
        {"2026-07-28", "\"2026-07-28\""},
        {"2026-07-28T01:02:03Z", "\"2026-07-28T01:02:03Z\""},
        {"\"1\"", "\"1\""},
        {"'true'", "\"true\""},
        {"\"\"", "\"\""},
        {"0x", "\"0x\""},
        {"0o8", "\"0o8\""},
        {"+", "\"+\""},
        {"0x7fffffffffffffff", "9223372036854775807"},
        {"0x8000000000000000", "\"0x8000000000000000\""},
        {"123456789012345678901234567890", "123456789012345678901234567890"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        check(pairs[i][0], pairs[i][1]);
}

static void test_yaml_tags_of_its_own_are_heeded(void **state)
{
    (void)state;
    check("!!str 12", "\"12\"");
    check("! 12", "\"12\"");
    check("!!int \"12\"", "12");
    check("!!float 12", "12");
    check("!!bool 'true'", "true");
    check("!!null ''", "null");
    check("!!map {a: !!seq [1]}", "{\"a\":[1]}");
    check_refused(FL_SPAN("!!int x"), FL_E_INVALID,
                  "line 1: it has a tag that does not fit or is not known");
    check_refused(FL_SPAN("a: 1\nb: !mine 2"), FL_E_INVALID,
                  "line 2: it has a tag that does not fit or is not known");
    check_refused(FL_SPAN("!!set {a}"), FL_E_INVALID,
                  "line 1: it has a tag that does not fit or is not known");
}

static void test_yaml_refuses_what_json_cannot_say(void **state)
{
    (void)state;
    check_refused(FL_SPAN("a: &x [1]\nb: *x"), FL_E_INVALID,
                  "line 2: aliases are not taken");
    check_refused(FL_SPAN("a: 1\nb: 2\na: 3\n"), FL_E_INVALID,
                  "line 3: a key is given twice");
    check_refused(FL_SPAN("? [a]\n: b"), FL_E_INVALID,
                  "line 1: a key must be a scalar");
    check_refused(FL_SPAN("? {a: b}\n: b"), FL_E_INVALID,
                  "line 1: a key must be a scalar");
    check_refused(FL_SPAN("\"a\\0\": b"), FL_E_INVALID,
                  "line 1: a key has a NUL in it");
    check_refused(FL_SPAN("a: 1\n---\nb: 2\n"), FL_E_INVALID,
                  "line 2: there is a second document");
    check_refused(FL_SPAN("a: \xff"), FL_E_BAD_TEXT, "it is not UTF-8");
    check_refused(FL_SPAN("a: [1\nb: 2"), FL_E_INVALID,
                  "line 2: did not find expected ',' or ']'");
    /* the same key in other mappings is another */
    check("{a: {a: 1}, b: {a: 2}}", "{\"a\":{\"a\":1},\"b\":{\"a\":2}}");
}

static fl_status convert(fl_span yaml)
{
    fl_buf out;

    fl_buf_init(&out, 4 << 20);
    fl_status rc = fl_yaml_to_json(yaml, &out, NULL);
    fl_buf_reset(&out);
    return rc;
}

static void test_yaml_is_bounded_in_depth(void **state)
{
    char text[2 * FL_YAML_DEPTH + 8];

    (void)state;
    memset(text, '[', FL_YAML_DEPTH + 1);
    memset(text + FL_YAML_DEPTH + 1, ']', FL_YAML_DEPTH + 1);
    fl_span deep = {text, 2 * FL_YAML_DEPTH + 2};
    assert_int_equal(convert(deep), FL_E_TOO_DEEP);
    assert_int_equal(convert((fl_span){text + 1, deep.len - 2}), FL_OK);
}

static void test_yaml_is_bounded_in_values(void **state)
{
    static char text[2 * FL_YAML_NODES + 8];

    (void)state;
    text[0] = '[';
    for (size_t i = 0; i < FL_YAML_NODES; i++)
        memcpy(text + 1 + 2 * i, "1,", 2);
    /* the list is one, too */
    text[2 * FL_YAML_NODES - 2] = ']';
    assert_int_equal(convert((fl_span){text, 2 * FL_YAML_NODES - 1}), FL_OK);
    text[2 * FL_YAML_NODES - 2] = ',';
    text[2 * FL_YAML_NODES] = ']';
    assert_int_equal(convert((fl_span){text, 2 * FL_YAML_NODES + 1}),
                     FL_E_LIMIT);
}

static void test_yaml_is_bounded_in_bytes(void **state)
{
    static char text[FL_YAML_BYTES + 1];

    (void)state;
    memset(text, ' ', sizeof text);
    text[0] = 'a';
    assert_int_equal(convert((fl_span){text, FL_YAML_BYTES}), FL_OK);
    assert_int_equal(convert((fl_span){text, FL_YAML_BYTES + 1}), FL_E_TOO_BIG);
}

static void test_yaml_says_when_its_output_has_no_room(void **state)
{
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 8);
    assert_int_equal(fl_yaml_to_json(FL_SPAN("a: [1, 2, 3]"), &out, NULL),
                     FL_E_TOO_BIG);
    assert_int_equal(fl_buf_len(&out), 0);
    fl_buf_reset(&out);
}

static void convert_once(void *user)
{
    fl_status rc = convert(FL_SPAN("a: {b: [1, two]}\nc: 3\n"));

    (void)user;
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
}

static void test_yaml_survives_any_failing_allocation(void **state)
{
    (void)state;
    assert_true(ration_each(convert_once, NULL) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_yaml_front_matter_is_an_object),
        cmocka_unit_test(test_yaml_scalars_are_of_the_core_schema),
        cmocka_unit_test(test_yaml_tags_of_its_own_are_heeded),
        cmocka_unit_test(test_yaml_refuses_what_json_cannot_say),
        cmocka_unit_test(test_yaml_is_bounded_in_depth),
        cmocka_unit_test(test_yaml_is_bounded_in_values),
        cmocka_unit_test(test_yaml_is_bounded_in_bytes),
        cmocka_unit_test(test_yaml_says_when_its_output_has_no_room),
        cmocka_unit_test(test_yaml_survives_any_failing_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
