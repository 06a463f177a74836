/*
 * test_method.c - methods by number.
 */
#include "rpc/method.h"

#include "base/span.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static fl_method method_of(const char *name)
{
    char text[128];
    fl_msg msg;
    fl_msg_fault fault;

    snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"}",
             name);
    assert_int_equal(fl_msg_read(fl_span_of(text), &msg, &fault), FL_OK);
    return fl_method_of(&msg);
}

static void test_method_finds_every_name_in_the_table(void **state)
{
    (void)state;
    for (unsigned i = FL_METHOD_OTHER + 1; i < FL_METHOD_COUNT; i++) {
        fl_span name = fl_method_name((fl_method)i);
        char text[64];

        assert_true(name.len > 0 && name.len < sizeof text);
        snprintf(text, sizeof text, "%.*s", (int)name.len, name.ptr);
        assert_int_equal(method_of(text), i);
    }
}

static void test_method_undoes_escapes(void **state)
{
    (void)state;
    assert_int_equal(method_of("tools\\/call"), FL_METHOD_TOOLS_CALL);
    assert_int_equal(method_of("\\u0070ing"), FL_METHOD_PING);
}

static void test_method_knows_nothing_of_others(void **state)
{
    (void)state;
    assert_int_equal(method_of("tools/calm"), FL_METHOD_OTHER);
    assert_int_equal(method_of(""), FL_METHOD_OTHER);
    assert_int_equal(method_of("tools/cal\\\\"), FL_METHOD_OTHER);
    assert_int_equal(fl_method_traits(FL_METHOD_OTHER), 0);
    assert_int_equal(fl_method_name(FL_METHOD_COUNT).len, 0);
}

/* MCP 2026-07-28: three methods may be answered by input_required, and the
 * results of six carry how long they may be kept. */
static void test_method_traits_are_those_of_the_specification(void **state)
{
    unsigned asking = 0, cacheable = 0;

    (void)state;
    for (unsigned i = 0; i < FL_METHOD_COUNT; i++) {
        asking += fl_method_is((fl_method)i, FL_METHOD_CAN_ASK);
        cacheable += fl_method_is((fl_method)i, FL_METHOD_CACHEABLE);
    }
    assert_int_equal(asking, 3);
    assert_int_equal(cacheable, 6);
    assert_false(fl_method_is(FL_METHOD_TOOLS_CALL, FL_METHOD_SAFE));
    assert_false(fl_method_is(FL_METHOD_INITIALIZE, FL_METHOD_MODERN));
    assert_false(fl_method_is(FL_METHOD_DISCOVER, FL_METHOD_LEGACY));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_method_finds_every_name_in_the_table),
        cmocka_unit_test(test_method_undoes_escapes),
        cmocka_unit_test(test_method_knows_nothing_of_others),
        cmocka_unit_test(test_method_traits_are_those_of_the_specification),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
