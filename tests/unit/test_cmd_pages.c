/*
 * test_cmd_pages.c - pages put together, to the last and not for ever.
 */
#include "base/span.h"
#include "cmd/pages.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect_text(const fl_buf *buf, const char *want)
{
    fl_span got = fl_buf_view(buf);

    assert_int_equal(got.len, strlen(want));
    assert_memory_equal(got.ptr, want, got.len);
}

static void test_pages_of_one_are_the_list(void **state)
{
    fl_pages pages;

    (void)state;
    fl_pages_init(&pages, "tools");
    assert_int_equal(
        fl_pages_add(&pages, FL_SPAN("{\"tools\":[1, {\"a\":2}]}")), FL_OK);
    expect_text(&pages.list, "[1,{\"a\":2}]");
    fl_pages_deinit(&pages);
}

static void test_pages_hand_the_cursor_back_as_it_came(void **state)
{
    fl_pages pages;

    (void)state;
    fl_pages_init(&pages, "tools");
    assert_int_equal(fl_buf_len(&pages.params), 0);
    assert_int_equal(
        fl_pages_add(&pages,
                     FL_SPAN("{\"tools\":[1],\"nextCursor\":\"\\u0061/\"}")),
        FL_AGAIN);
    expect_text(&pages.params, "{\"cursor\":\"\\u0061/\"}");
    assert_int_equal(fl_pages_add(&pages, FL_SPAN("{\"tools\":[],"
                                                  "\"nextCursor\":\"\"}")),
                     FL_AGAIN);
    expect_text(&pages.params, "{\"cursor\":\"\"}");
    assert_int_equal(fl_pages_add(&pages, FL_SPAN("{\"tools\":[2],"
                                                  "\"nextCursor\":null}")),
                     FL_OK);
    expect_text(&pages.list, "[1,2]");
    fl_pages_deinit(&pages);
}

static void test_pages_that_are_empty_make_an_empty_list(void **state)
{
    fl_pages pages;

    (void)state;
    fl_pages_init(&pages, "tools");
    assert_int_equal(fl_pages_add(&pages, FL_SPAN("{\"tools\":[]}")), FL_OK);
    expect_text(&pages.list, "[]");
    fl_pages_deinit(&pages);
}

static void test_pages_must_hold_a_list(void **state)
{
    static const char *const wrong[] = {"{}", "{\"tools\":{}}", "[]",
                                        "{\"tools\":null}"};
    fl_pages pages;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fl_pages_init(&pages, "tools");
        assert_int_equal(fl_pages_add(&pages, fl_span_of(wrong[i])),
                         FL_E_BAD_MESSAGE);
        fl_pages_deinit(&pages);
    }
}

static void test_pages_end_at_the_limit(void **state)
{
    fl_span more = FL_SPAN("{\"tools\":[],\"nextCursor\":\"x\"}");
    fl_pages pages;

    (void)state;
    fl_pages_init(&pages, "tools");
    for (unsigned i = 1; i < FL_PAGES_MAX; i++)
        assert_int_equal(fl_pages_add(&pages, more), FL_AGAIN);
    assert_int_equal(fl_pages_add(&pages, more), FL_E_LIMIT);
    fl_pages_deinit(&pages);
}

static void add_two(void *user)
{
    fl_pages pages;

    (void)user;
    fl_pages_init(&pages, "tools");
    fl_status rc =
        fl_pages_add(&pages, FL_SPAN("{\"tools\":[1],\"nextCursor\":\"x\"}"));
    if (rc == FL_AGAIN)
        rc = fl_pages_add(&pages, FL_SPAN("{\"tools\":[2]}"));
    assert_int_equal(rc, ration_refused() ? FL_E_NOMEM : FL_OK);
    fl_pages_deinit(&pages);
}

static void test_pages_survive_any_lack_of_memory(void **state)
{
    (void)state;
    assert_true(ration_each(add_two, NULL) > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages_of_one_are_the_list),
        cmocka_unit_test(test_pages_hand_the_cursor_back_as_it_came),
        cmocka_unit_test(test_pages_that_are_empty_make_an_empty_list),
        cmocka_unit_test(test_pages_must_hold_a_list),
        cmocka_unit_test(test_pages_end_at_the_limit),
        cmocka_unit_test(test_pages_survive_any_lack_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
