/*
 * test_extract.c - what a transport learns of a message's inside.
 */
#include "rpc/extract.h"

#include "base/span.h"

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

static void check_object(const char *method, const char *params,
                         const char *token)
{
    char text[256];

    snprintf(text, sizeof text,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":%s}",
             method, params);
    fl_msg msg = read_it(text);
    fl_span found = fl_extract_object(&msg);
    assert_int_equal(found.len, strlen(token));
    if (found.len > 0)
        assert_memory_equal(found.ptr, token, found.len);
}

static void test_extract_knows_what_a_request_is_about(void **state)
{
    (void)state;
    check_object("tools/call", "{\"name\":\"a\\u0062\"}", "\"a\\u0062\"");
    check_object("tools\\/call", "{\"name\":\"a\"}", "\"a\"");
    check_object("prompts/get", "{\"name\":\"p\",\"uri\":\"u\"}", "\"p\"");
    check_object("resources/read", "{\"name\":\"p\",\"uri\":\"u\"}", "\"u\"");
    check_object("tasks/get", "{\"taskId\":\"t\"}", "\"t\"");
    check_object("tasks/update", "{\"taskId\":\"t\"}", "\"t\"");
    check_object("tasks/cancel", "{\"taskId\":\"t\"}", "\"t\"");
    check_object("tasks/result", "{\"taskId\":\"t\"}", "\"t\"");
    check_object("tools/call", "{\"name\":7}", "");
    check_object("tools/call", "{}", "");
    check_object("tools/call", "[]", "");
    check_object("tools/list", "{\"name\":\"a\"}", "");
}

static void test_extract_tells_no_name_from_none_needed(void **state)
{
    fl_msg msg = read_it("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
                         "\"tools/call\",\"params\":{\"name\":7}}");

    (void)state;
    assert_non_null(fl_extract_named(&msg));
    assert_true(fl_span_equal(*fl_extract_named(&msg), FL_SPAN("7")));
    msg = read_it("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}");
    assert_non_null(fl_extract_named(&msg));
    assert_int_equal(fl_extract_named(&msg)->len, 0);
    msg = read_it("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
                  "\"params\":{\"name\":\"a\"}}");
    assert_null(fl_extract_named(&msg));
}

static void test_extract_undoes_escapes(void **state)
{
    fl_msg msg = read_it("{\"jsonrpc\":\"2.0\",\"method\":\"a\\/b\"}");
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 64);
    assert_int_equal(fl_extract_meaning(msg.method, &out), FL_OK);
    assert_int_equal(fl_extract_text(FL_SPAN("\"\\u00e9\""), &out), FL_OK);
    assert_int_equal(fl_extract_text(FL_SPAN("12"), &out), FL_OK);
    assert_int_equal(fl_extract_text((fl_span){0}, &out), FL_OK);
    assert_int_equal(fl_buf_len(&out), 5);
    assert_memory_equal(fl_buf_view(&out).ptr, "a/b\xc3\xa9", 5);
    fl_buf_reset(&out);
}

static void test_extract_finds_the_revision(void **state)
{
    fl_msg msg = read_it("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"
                         "\"protocolVersion\":\"2025-06-18\"}}");

    (void)state;
    assert_int_equal(fl_extract_revision(&msg)->id, FL_REVISION_2025_06_18);
    msg = read_it("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"
                  "\"protocolVersion\":\"1999-01-01\"}}");
    assert_null(fl_extract_revision(&msg));
    msg = read_it("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":7}");
    assert_null(fl_extract_revision(&msg));
}

static void test_extract_finds_the_error_code(void **state)
{
    fl_msg msg = read_it("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{"
                         "\"code\":-32020,\"message\":\"m\"}}");

    (void)state;
    assert_int_equal(fl_extract_error_code(&msg), -32020);
    assert_true(
        fl_span_equal(fl_extract_error_message(&msg), FL_SPAN("\"m\"")));
    msg = read_it("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":7}");
    assert_int_equal(fl_extract_error_code(&msg), 0);
    assert_int_equal(fl_extract_error_message(&msg).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_extract_knows_what_a_request_is_about),
        cmocka_unit_test(test_extract_tells_no_name_from_none_needed),
        cmocka_unit_test(test_extract_undoes_escapes),
        cmocka_unit_test(test_extract_finds_the_revision),
        cmocka_unit_test(test_extract_finds_the_error_code),
    };

    return cmocka_run_group_tests_name("extract", tests, NULL, NULL);
}
