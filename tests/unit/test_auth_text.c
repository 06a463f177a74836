/*
 * test_auth_text.c - strings that may be secrets, scopes, and forms.
 */
#include "auth/text.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect(const fl_buf *buf, const char *want)
{
    assert_true(fl_span_equal(fl_buf_view(buf), fl_span_of(want)));
}

static void test_text_replaces_and_empties_a_slot(void **state)
{
    char *slot = NULL;

    (void)state;
    assert_int_equal(fl_text_set(&slot, FL_SPAN("one")), FL_OK);
    assert_int_equal(fl_text_set(&slot, FL_SPAN("two")), FL_OK);
    assert_string_equal(slot, "two");
    assert_int_equal(fl_text_set(&slot, FL_SPAN("")), FL_OK);
    assert_string_equal(slot, "");
    assert_int_equal(fl_text_set(&slot, (fl_span){0}), FL_OK);
    assert_null(slot);
}

static void test_scopes_are_added_once(void **state)
{
    fl_buf all;

    (void)state;
    fl_buf_init(&all, 100);
    assert_int_equal(fl_scopes_add(&all, FL_SPAN("a  b a")), FL_OK);
    expect(&all, "a b");
    assert_int_equal(fl_scopes_add(&all, FL_SPAN(" b c ab")), FL_OK);
    expect(&all, "a b c ab");
    assert_int_equal(fl_scopes_add(&all, (fl_span){0}), FL_OK);
    expect(&all, "a b c ab");
    fl_buf_reset(&all);
}

static void test_scopes_that_cannot_be_are_left_out(void **state)
{
    fl_buf all;

    (void)state;
    fl_buf_init(&all, 100);
    assert_int_equal(
        fl_scopes_add(&all, FL_SPAN("a \"b\" c\\d e\x01 f\nscope g\x80 h")),
        FL_OK);
    expect(&all, "a h");
    fl_buf_reset(&all);
}

static void test_scopes_include_is_about_whole_words(void **state)
{
    fl_span all = FL_SPAN("files:read files:write");

    (void)state;
    assert_true(fl_scopes_include(all, FL_SPAN("files:write")));
    assert_true(fl_scopes_include(all, FL_SPAN("files:write files:read")));
    assert_true(fl_scopes_include(all, FL_SPAN("")));
    assert_false(fl_scopes_include(all, FL_SPAN("files")));
    assert_false(fl_scopes_include(all, FL_SPAN("files:read admin")));
    assert_false(fl_scopes_include((fl_span){0}, FL_SPAN("x")));
}

static void test_scopes_at_the_limit_and_one_past(void **state)
{
    fl_buf all;

    (void)state;
    fl_buf_init(&all, 3);
    assert_int_equal(fl_scopes_add(&all, FL_SPAN("a b")), FL_OK);
    assert_int_equal(fl_scopes_add(&all, FL_SPAN("c")), FL_E_TOO_BIG);
    fl_buf_reset(&all);
}

static void test_form_encodes_all_but_what_is_plain(void **state)
{
    fl_buf form;

    (void)state;
    fl_buf_init(&form, 200);
    assert_int_equal(fl_form_add(&form, "a", FL_SPAN("x y&z=1+%\xc3\xa9")),
                     FL_OK);
    assert_int_equal(fl_form_add(&form, "none", (fl_span){0}), FL_OK);
    assert_int_equal(fl_form_add(&form, "empty", FL_SPAN("")), FL_OK);
    assert_int_equal(fl_form_add(&form, "u", FL_SPAN("https://h/~p-_.")),
                     FL_OK);
    expect(&form, "a=x%20y%26z%3D1%2B%25%C3%A9&empty=&u=https%3A%2F%2Fh%2F~p-"
                  "_.");
    fl_buf_reset(&form);
}

static void get(const char *query, const char *name, fl_status want,
                const char *value)
{
    fl_buf out;

    fl_buf_init(&out, 100);
    assert_int_equal(fl_form_get(fl_span_of(query), name, &out), want);
    expect(&out, value);
    fl_buf_reset(&out);
}

static void test_form_get_decodes(void **state)
{
    (void)state;
    get("code=a%2Fb+c&state=s", "code", FL_OK, "a/b c");
    get("code=a&state=s", "state", FL_OK, "s");
    get("xcode=a&code", "code", FL_OK, "");
    get("code=", "code", FL_OK, "");
    get("a=1&&b=2", "b", FL_OK, "2");
    get("a=1", "b", FL_E_NOT_FOUND, "");
    get("", "b", FL_E_NOT_FOUND, "");
}

static void test_form_get_refuses_what_is_ambiguous(void **state)
{
    (void)state;
    get("code=a&code=b", "code", FL_E_INVALID, "");
    get("code=a&code=a", "code", FL_E_INVALID, "");
    get("code=%4", "code", FL_E_INVALID, "");
    get("code=%", "code", FL_E_INVALID, "");
    get("code=%zz", "code", FL_E_INVALID, "");
    get("code=a%00b", "code", FL_E_INVALID, "");
}

static void work(void *user)
{
    char *slot = NULL;
    fl_buf out;

    (void)user;
    fl_buf_init(&out, 100);
    fl_status rc = fl_text_set(&slot, FL_SPAN("x"));
    if (rc == FL_OK)
        rc = fl_form_get(FL_SPAN("a=1"), "a", &out);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    fl_text_drop(&slot);
    fl_text_wipe(&out);
}

static void test_text_without_memory_leaks_nothing(void **state)
{
    (void)state;
    assert_int_equal(ration_each(work, NULL), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_replaces_and_empties_a_slot),
        cmocka_unit_test(test_scopes_are_added_once),
        cmocka_unit_test(test_scopes_that_cannot_be_are_left_out),
        cmocka_unit_test(test_scopes_include_is_about_whole_words),
        cmocka_unit_test(test_scopes_at_the_limit_and_one_past),
        cmocka_unit_test(test_form_encodes_all_but_what_is_plain),
        cmocka_unit_test(test_form_get_decodes),
        cmocka_unit_test(test_form_get_refuses_what_is_ambiguous),
        cmocka_unit_test(test_text_without_memory_leaks_nothing),
    };

    return cmocka_run_group_tests_name("auth text", tests, NULL, NULL);
}
