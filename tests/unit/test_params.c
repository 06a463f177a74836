/*
 * test_params.c - what is found in params, and where it is not looked for.
 */
#include "rpc/params.h"

#include "base/span.h"
#include "rpc/msg.h"
#include "support/ration.h"
#include "json/nav.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static fl_msg read_it(const char *text)
{
    fl_msg_fault fault;
    fl_msg msg;

    assert_int_equal(fl_msg_read(fl_span_of(text), &msg, &fault), FL_OK);
    return msg;
}

static void same(fl_span got, const char *want)
{
    if (!fl_span_equal(got, fl_span_of(want)))
        fail_msg("want %s, got %.*s", want != NULL ? want : "nothing",
                 (int)got.len, got.ptr);
}

static void test_params_are_found_as_raw_tokens(void **state)
{
    fl_msg msg =
        read_it(" {\"params\" : { \"uri\":\"u\" , \"name\" : \"n\\u0061\", "
                "\"taskId\":7,\"task\":{},\"x\":{\"name\":1},\"arguments\": { "
                "\"a\" : [ ] } ,"
                "\"_meta\" : {\"progressToken\": \"p\" } },\"method\":\"m\","
                "\"id\":1,\"jsonrpc\":\"2.0\"}");

    (void)state;
    same(msg.inner.uri, "\"u\"");
    same(msg.inner.name, "\"n\\u0061\"");
    same(msg.inner.task_id, "7");
    same(msg.inner.task, "{}");
    same(msg.inner.arguments, "{ \"a\" : [ ] }");
    same(msg.inner.meta, "{\"progressToken\": \"p\" }");
    same(msg.inner.progress_token, "\"p\"");
    assert_false(msg.inner.claim.present);
}

static void test_params_may_be_spelled_with_escapes(void **state)
{
    fl_msg msg = read_it(
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{"
        "\"\\u006eame\":1,\"\\u0075ri\":2,\"task\\u0049d\":3,\"tas\\u006b\":6,"
        "\"argument\\u0073\":{},\"nam\\u0065s\":4,"
        "\"\\u005fmeta\":{\"progress\\u0054oken\":5}}}");

    (void)state;
    same(msg.inner.name, "1");
    same(msg.inner.uri, "2");
    same(msg.inner.task_id, "3");
    same(msg.inner.task, "6");
    same(msg.inner.arguments, "{}");
    same(msg.inner.progress_token, "5");
}

/* The delimiters are those of the arguments that count, and no others. */
static void test_params_know_where_arguments_are_cut(void **state)
{
    fl_msg msg = read_it("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{"
                         "\"_meta\":{\"a\":1,\"b\":2},\"arguments\":{\"c\":3},"
                         "\"arguments\":{\"d\":{\"e\":4},\"f\":5},"
                         "\"x\":{\"y\":6}}}");
    static const size_t want[] = {4, 12, 16, 18};

    (void)state;
    same(msg.inner.arguments, "{\"d\":{\"e\":4},\"f\":5}");
    assert_int_equal(msg.inner.cuts.count, 4);
    assert_memory_equal(msg.inner.cuts.at, want, sizeof want);
}

static void test_params_count_the_last_of_two(void **state)
{
    fl_msg msg = read_it("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{"
                         "\"name\":1,\"_meta\":{\"progressToken\":1},"
                         "\"\\u006eame\":2,\"_meta\":{}}}");

    (void)state;
    same(msg.inner.name, "2");
    same(msg.inner.meta, "{}");
    same(msg.inner.progress_token, NULL);
}

static void test_params_are_a_request_s_alone(void **state)
{
    static const char *const texts[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[{"
        "\"name\":1}]}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"name\":1,"
        "\"params\":{\"x\":{\"name\":1,\"_meta\":{\"progressToken\":1}}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"name\":1}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},"
        "\"params\":{\"name\":1}}",
        "[{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"name\":1}}]",
    };
    const fl_params none = {0};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fl_msg msg = read_it(texts[i]);
        assert_memory_equal(&msg.inner, &none, sizeof none);
    }
}

/* More of everything than the scan of the message notes. */
static void test_params_are_found_in_a_crowd(void **state)
{
    char text[8192];
    size_t n = (size_t)snprintf(text, sizeof text, "{");

    (void)state;
    for (int i = 0; i < 20; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "\"t%d\":0,", i);
    n += (size_t)snprintf(text + n, sizeof text - n,
                          "\"jsonrpc\":\"2.0\",\"method\":\"m\","
                          "\"params\":{\"arguments\":{");
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "\"a%d\":[%d],", i, i);
    n += (size_t)snprintf(text + n, sizeof text - n, "\"z\":0},");
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "\"p%d\":{},", i);
    n += (size_t)snprintf(text + n, sizeof text - n, "\"_meta\":{");
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "\"m%d\":0,", i);
    snprintf(text + n, sizeof text - n,
             "\"progressToken\":9,\"io.modelcontextprotocol/"
             "protocolVersion\":\"v\"},\"name\":\"last\"}}");
    fl_msg msg = read_it(text);
    same(msg.inner.name, "\"last\"");
    same(msg.inner.progress_token, "9");
    same(msg.inner.claim.version, "\"v\"");
    same(fl_json_get(msg.inner.arguments, FL_SPAN("z")), "0");
}

static void test_params_allocate_nothing(void **state)
{
    (void)state;
    ration_reset();
    ration_allow(0);
    (void)read_it("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{"
                  "\"name\":\"\\u0061\",\"_meta\":{\"progressToken\":1}}}");
    assert_false(ration_refused());
    ration_reset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_params_are_found_as_raw_tokens),
        cmocka_unit_test(test_params_may_be_spelled_with_escapes),
        cmocka_unit_test(test_params_know_where_arguments_are_cut),
        cmocka_unit_test(test_params_count_the_last_of_two),
        cmocka_unit_test(test_params_are_a_request_s_alone),
        cmocka_unit_test(test_params_are_found_in_a_crowd),
        cmocka_unit_test(test_params_allocate_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
