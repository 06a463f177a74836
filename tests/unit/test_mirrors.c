/*
 * test_mirrors.c - what a client remembers of annotated tools.
 */
#include "rpc/mirrors.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static fl_mirrors mirrors;
static char told[512];

static fl_msg read_it(const char *text)
{
    fl_msg_fault fault;
    fl_msg msg;

    assert_int_equal(fl_msg_read(fl_span_of(text), &msg, &fault), FL_OK);
    return msg;
}

#define TOOL(name, schema) "{\"name\":" name ",\"inputSchema\":" schema "}"
#define TOOLS(list)                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[" list "]}}"
#define A "{\"properties\":{\"a\":{\"x-mcp-header\":\"A\"}}}"
#define B "{\"properties\":{\"b\":{\"x-mcp-header\":\"B\"}}}"

static void learn(const char *text)
{
    fl_msg msg = read_it(text);

    fl_mirrors_learn(&mirrors, &msg);
}

static fl_status note(void *user, fl_span name, fl_span text)
{
    size_t len = strlen(told);

    (void)user;
    snprintf(told + len, sizeof told - len, "%.*s=%.*s;", (int)name.len,
             name.ptr, (int)text.len, text.ptr);
    return FL_OK;
}

static void check(const char *name, const char *arguments, const char *want)
{
    char text[512];

    snprintf(text, sizeof text,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
             "\"params\":{\"name\":%s,\"arguments\":%s}}",
             name, arguments);
    fl_msg msg = read_it(text);
    told[0] = '\0';
    assert_int_equal(fl_mirrors_each(&mirrors, &msg, note, NULL), FL_OK);
    assert_string_equal(told, want);
}

static void test_mirrors_tell_what_is_annotated(void **state)
{
    (void)state;
    fl_mirrors_init(&mirrors);
    check("\"x\"", "{\"a\":1}", "");
    learn(TOOLS(TOOL("\"x\"", A) "," TOOL("\"\\u0079\"", B)));
    check("\"x\"", "{\"a\":1,\"b\":2}", "A=1;");
    check("\"y\"", "{\"a\":1,\"b\":\"t\\n\"}", "B=t\n;");
    check("\"x\"", "{\"a\":true}", "A=true;");
    check("\"x\"", "{\"a\":\"\"}", "A=;");
    check("\"x\"", "{\"a\":-7}", "A=-7;");
    check("\"x\"", "{\"a\":null}", "");
    check("\"x\"", "{\"a\":1.5}", "");
    check("\"x\"", "{\"a\":[1]}", "");
    check("\"x\"", "{\"a\":{\"a\":1}}", "");
    check("\"x\"", "[]", "");
    check("\"z\"", "{\"a\":1}", "");
    check("7", "{\"a\":1}", "");
    fl_msg other = read_it("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\","
                           "\"params\":{\"name\":\"x\"}}");
    told[0] = '\0';
    assert_int_equal(fl_mirrors_each(&mirrors, &other, note, NULL), FL_OK);
    assert_string_equal(told, "");
    fl_mirrors_deinit(&mirrors);
}

static void test_mirrors_learn_anew(void **state)
{
    (void)state;
    fl_mirrors_init(&mirrors);
    learn(TOOLS(TOOL("\"x\"", A) "," TOOL("\"y\"", A)));
    learn(TOOLS(TOOL("\"x\"", B)));
    check("\"x\"", "{\"a\":1,\"b\":2}", "B=2;");
    check("\"y\"", "{\"a\":1,\"b\":2}", "A=1;"); /* of another page */
    learn(TOOLS(TOOL("\"x\"", "{}")));
    check("\"x\"", "{\"a\":1,\"b\":2}", "");
    learn("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":{\"a\":1}}}");
    learn("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[]}");
    check("\"y\"", "{\"a\":1}", "A=1;");
    fl_mirrors_deinit(&mirrors);
    assert_int_equal(mirrors.bytes, 0);
}

static fl_status stop(void *user, fl_span name, fl_span text)
{
    (void)name;
    (void)text;
    ++*(int *)user;
    return FL_E_LIMIT;
}

static void test_mirrors_stop_when_told(void **state)
{
    int count = 0;
    fl_msg msg = read_it("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
                         "\"tools/call\",\"params\":{\"name\":\"x\","
                         "\"arguments\":{\"a\":1,\"b\":1}}}");

    (void)state;
    fl_mirrors_init(&mirrors);
    learn(TOOLS(TOOL("\"x\"", "{\"properties\":{\"a\":{\"x-mcp-header\":"
                              "\"A\"},\"b\":{\"x-mcp-header\":\"B\"}}}")));
    assert_int_equal(fl_mirrors_each(&mirrors, &msg, stop, &count), FL_E_LIMIT);
    assert_int_equal(count, 1);
    fl_mirrors_deinit(&mirrors);
}

static void use(void *user)
{
    fl_msg msg = read_it("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
                         "\"tools/call\",\"params\":{\"name\":\"x\","
                         "\"arguments\":{\"a\":\"t\"}}}");

    (void)user;
    fl_mirrors_init(&mirrors);
    learn(TOOLS(TOOL("\"x\"", A)));
    told[0] = '\0';
    (void)!fl_mirrors_each(&mirrors, &msg, note, NULL);
    fl_mirrors_deinit(&mirrors);
}

static void test_mirrors_survive_any_allocation_refused(void **state)
{
    (void)state;
    assert_true(ration_each(use, NULL) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mirrors_tell_what_is_annotated),
        cmocka_unit_test(test_mirrors_learn_anew),
        cmocka_unit_test(test_mirrors_stop_when_told),
        cmocka_unit_test(test_mirrors_survive_any_allocation_refused),
    };

    return cmocka_run_group_tests_name("mirrors", tests, NULL, NULL);
}
