/*
 * test_cmd_pretty.c - JSON laid out, and nothing in it changed.
 */
#include "base/span.h"
#include "cmd/pretty.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *want, const char *json)
{
    fl_buf out;

    fl_buf_init(&out, 65536);
    assert_int_equal(fl_pretty(&out, fl_span_of(json)), FL_OK);
    fl_span got = fl_buf_view(&out);
    assert_int_equal(got.len, strlen(want));
    assert_memory_equal(got.ptr, want, got.len);
    fl_buf_reset(&out);
}

static void test_pretty_leaves_scalars_alone(void **state)
{
    (void)state;
    expect("1.50e2", " 1.50e2 ");
    expect("null", "null");
    expect("\"a, b: {[\\\"\\\"", "\"a, b: {[\\\"\\\"");
}

static void test_pretty_gives_each_member_a_line(void **state)
{
    (void)state;
    expect("{\n  \"a\": 1,\n  \"b\": [\n    true,\n    \"x\"\n  ]\n}",
           "{\"a\":1,\"b\":[true,\"x\"]}");
    expect("[\n  1,\n  2\n]", "[ 1 ,\n 2 ]");
}

static void test_pretty_keeps_empty_containers_on_their_line(void **state)
{
    (void)state;
    expect("{}", "{}");
    expect("[\n  [],\n  {}\n]", "[ [ ] , {\t} ]");
}

static void test_pretty_says_when_there_is_no_room(void **state)
{
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 7);
    assert_int_equal(fl_pretty(&out, FL_SPAN("[1]")), FL_OK);
    fl_buf_reset(&out);
    fl_buf_init(&out, 6);
    assert_int_equal(fl_pretty(&out, FL_SPAN("[1]")), FL_E_TOO_BIG);
    fl_buf_reset(&out);
}

/* Not JSON; it must end all the same, and stay inside. */
static void test_pretty_ends_on_anything(void **state)
{
    static const char *const texts[] = {"\"open", "\"open\\", "]]]",
                                        ",:",     "[[[",      "{\"a\":"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t len = strlen(texts[i]);
        char *exact = malloc(len);
        fl_buf out;
        assert_non_null(exact);
        memcpy(exact, texts[i], len);
        fl_buf_init(&out, 4096);
        assert_int_equal(fl_pretty(&out, (fl_span){exact, len}), FL_OK);
        fl_buf_reset(&out);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pretty_leaves_scalars_alone),
        cmocka_unit_test(test_pretty_gives_each_member_a_line),
        cmocka_unit_test(test_pretty_keeps_empty_containers_on_their_line),
        cmocka_unit_test(test_pretty_says_when_there_is_no_room),
        cmocka_unit_test(test_pretty_ends_on_anything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
