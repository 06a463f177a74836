/*
 * test_gateway_filter.c - which tools may be seen and called.
 */
#include "gateway/filter.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool allows(const char *allow, const char *deny, const char *name)
{
    const char *const yes[] = {allow, NULL}, *const no[] = {deny, NULL};
    fl_filter filter;

    assert_int_equal(fl_filter_init(&filter, allow != NULL ? yes : NULL,
                                    deny != NULL ? no : NULL),
                     FL_OK);
    bool allowed = fl_filter_allows(&filter, fl_span_of(name));
    fl_filter_deinit(&filter);
    return allowed;
}

static void test_without_lists_everything_is_allowed(void **state)
{
    (void)state;
    assert_true(allows(NULL, NULL, "\"a\""));
}

static void test_only_what_is_named_is_allowed(void **state)
{
    (void)state;
    assert_true(allows("read", NULL, "\"read\""));
    assert_false(allows("read", NULL, "\"reader\""));
    assert_false(allows("read", NULL, "\"rea\""));
    assert_false(allows("read", NULL, "\"\""));
}

static void test_what_is_denied_is_not_allowed(void **state)
{
    (void)state;
    assert_false(allows(NULL, "wipe", "\"wipe\""));
    assert_true(allows(NULL, "wipe", "\"wipes\""));
    assert_false(allows("w*", "wipe", "\"wipe\""));
    assert_true(allows("w*", "wipe", "\"write\""));
}

static void test_globs_match_as_in_a_shell(void **state)
{
    (void)state;
    assert_true(allows("*", NULL, "\"\""));
    assert_true(allows("a*c", NULL, "\"abbc\""));
    assert_true(allows("a*b*c", NULL, "\"axbxbxc\""));
    assert_false(allows("a*b*c", NULL, "\"axbxbx\""));
    assert_true(allows("a?c", NULL, "\"abc\""));
    assert_false(allows("a?c", NULL, "\"ac\""));
    assert_true(allows("a**", NULL, "\"a\""));
    assert_true(allows("*_*", NULL, "\"search_x\""));
}

static void test_escapes_do_not_hide_a_name(void **state)
{
    (void)state;
    assert_false(allows(NULL, "wipe", "\"w\\u0069pe\""));
}

static void test_names_beyond_all_measure_are_denied(void **state)
{
    char name[1100] = "\"";

    (void)state;
    memset(name + 1, 'x', 1025);
    name[1025] = '"';
    assert_true(allows("x*", NULL, name));
    name[1025] = 'x';
    name[1026] = '"';
    assert_false(allows("x*", NULL, name));
}

static void filtered(const char *deny, const char *text, const char *want)
{
    const char *const no[] = {deny, NULL};
    fl_span result = fl_span_from(fl_span_of(text), strlen("{\"result\":"));
    fl_filter filter;
    fl_buf out;

    result.len--;
    fl_buf_init(&out, 1024);
    assert_int_equal(fl_filter_init(&filter, NULL, no), FL_OK);
    assert_int_equal(fl_filter_tools(&filter, fl_span_of(text), result, &out),
                     FL_OK);
    fl_span got = fl_buf_view(&out);
    assert_int_equal(got.len, strlen(want));
    assert_memory_equal(got.ptr, want, got.len);
    fl_buf_reset(&out);
    fl_filter_deinit(&filter);
}

static void test_lists_lose_what_is_not_allowed(void **state)
{
    (void)state;
    filtered("b",
             "{\"result\":{\"x\":1,\"tools\":[{\"name\":\"a\"}, "
             "{\"name\":\"b\"},{\"name\":\"c\"}],\"nextCursor\":\"q\"}}",
             "{\"result\":{\"x\":1,\"tools\":[{\"name\":\"a\"},"
             "{\"name\":\"c\"}],\"nextCursor\":\"q\"}}");
    filtered("*", "{\"result\":{\"tools\":[{\"name\":\"a\"}]}}",
             "{\"result\":{\"tools\":[]}}");
    filtered("*", "{\"result\":{\"tools\":[]}}", "{\"result\":{\"tools\":[]}}");
    filtered("*", "{\"result\":{\"tools\":7}}", "{\"result\":{\"tools\":7}}");
}

static void make(void *user)
{
    const char *const list[] = {"a", "b", NULL};
    fl_filter filter;
    fl_status rc = fl_filter_init(&filter, list, list);

    (void)user;
    assert_int_equal(rc, ration_refused() ? FL_E_NOMEM : FL_OK);
    fl_filter_deinit(&filter);
}

static void test_nothing_is_left_when_memory_runs_out(void **state)
{
    (void)state;
    assert_int_equal(ration_each(make, NULL), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_lists_everything_is_allowed),
        cmocka_unit_test(test_only_what_is_named_is_allowed),
        cmocka_unit_test(test_what_is_denied_is_not_allowed),
        cmocka_unit_test(test_globs_match_as_in_a_shell),
        cmocka_unit_test(test_escapes_do_not_hide_a_name),
        cmocka_unit_test(test_names_beyond_all_measure_are_denied),
        cmocka_unit_test(test_lists_lose_what_is_not_allowed),
        cmocka_unit_test(test_nothing_is_left_when_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
