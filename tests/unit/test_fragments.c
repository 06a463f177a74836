/*
 * test_fragments.c - answers that come in fragments, made whole.
 */
#include "rpc/fragments.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define BLOCK(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define RESPONSE(result) "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":" result "}"

static fl_fragments set;
static fl_buf out;

static void begin(size_t max)
{
    fl_fragments_init(&set, max);
    fl_buf_init(&out, 4096);
}

static void add(const char *data, fl_status rc)
{
    assert_int_equal(fl_fragments_add(&set, fl_span_of(data)), rc);
}

static void is_out(const char *text)
{
    fl_span got = fl_buf_view(&out);

    assert_int_equal(got.len, strlen(text));
    assert_memory_equal(got.ptr, text, got.len);
    fl_buf_reset(&out);
    fl_fragments_deinit(&set);
}

static void complete(const char *data, const char *text)
{
    assert_int_equal(
        fl_fragments_complete(&set, fl_span_of(data), FL_SPAN("7"), &out),
        FL_OK);
    is_out(text);
}

static void test_fragments_of_any_shape_are_joined(void **state)
{
    (void)state;
    begin(4096);
    add("{\"content\":[" BLOCK("a") " , " BLOCK("b") " ]}", FL_OK);
    add("{\"content\":[ ]}", FL_OK);
    add("{\"result\":{\"content\":[" BLOCK("c") "]}}", FL_OK);
    add(BLOCK("d"), FL_OK);
    add("\"e\\n\"", FL_OK);
    complete("{\"isError\":false,\"structuredContent\":{\"x\":1}}",
             RESPONSE("{\"content\":[" BLOCK("a") " , " BLOCK("b") "," BLOCK(
                 "c") "," BLOCK("d") "," BLOCK("e\\n") "],\"isError\":false,"
                                                       "\"structuredContent\":{"
                                                       "\"x\":1}}"));
}

static void test_fragments_are_only_a_preview_of_a_whole_result(void **state)
{
    (void)state;
    begin(4096);
    add(BLOCK("a"), FL_OK);
    complete("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[" BLOCK(
                 "all") "]}}",
             RESPONSE("{\"content\":[" BLOCK("all") "]}"));
}

static void test_fragments_may_be_none(void **state)
{
    (void)state;
    begin(4096);
    complete("{\"content\":[],\"x\":1}", RESPONSE("{\"content\":[],\"x\":1}"));
    begin(4096);
    complete("", RESPONSE("{\"content\":[]}"));
    begin(4096);
    add(BLOCK("a"), FL_OK);
    complete("not JSON", RESPONSE("{\"content\":[" BLOCK("a") "]}"));
}

static void test_fragments_that_are_none_are_refused(void **state)
{
    (void)state;
    begin(4096);
    add("", FL_E_INVALID);
    add("{", FL_E_INVALID);
    add("12", FL_E_INVALID);
    add("{\"x\":1}", FL_E_INVALID);
    add("[]", FL_E_INVALID);
    complete("{}", RESPONSE("{}"));
}

static void test_fragments_are_held_to_their_limit(void **state)
{
    (void)state;
    begin(2 * strlen(BLOCK("a")) + 1);
    add(BLOCK("a"), FL_OK);
    add(BLOCK("b"), FL_OK); /* with its comma, exactly full */
    add("\"\"", FL_E_TOO_BIG);
    complete("{}", RESPONSE("{\"content\":[" BLOCK("a") "," BLOCK("b") "]}"));
}

static void fail_with(const char *data, const char *text)
{
    begin(4096);
    assert_int_equal(fl_fragments_error(fl_span_of(data), FL_SPAN("7"), &out),
                     FL_OK);
    is_out(text);
}

static void test_fragments_errors_are_errors(void **state)
{
    (void)state;
    fail_with("{\"error\":{\"code\":-1,\"message\":\"m\\t\",\"data\":[1]}}",
              "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-1,"
              "\"message\":\"m\\t\",\"data\":[1]}}");
    fail_with("{\"message\":\"plain\"}",
              "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32603,"
              "\"message\":\"plain\"}}");
    fail_with("gone",
              "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32603,"
              "\"message\":\"the server ended the stream with an error\"}}");
    begin(4096);
    complete("{\"error\":{\"code\":5,\"message\":\"late\"}}",
             "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":5,"
             "\"message\":\"late\"}}");
}

static void join(void *user)
{
    (void)user;
    begin(4096);
    if (fl_fragments_add(&set, FL_SPAN(BLOCK("a"))) == FL_OK)
        (void)!fl_fragments_complete(&set, FL_SPAN("{}"), FL_SPAN("7"), &out);
    fl_buf_reset(&out);
    (void)!fl_fragments_error(FL_SPAN("{\"message\":\"m\"}"), FL_SPAN("7"),
                              &out);
    fl_buf_reset(&out);
    fl_fragments_deinit(&set);
}

static void test_fragments_survive_any_allocation_refused(void **state)
{
    (void)state;
    assert_true(ration_each(join, NULL) > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fragments_of_any_shape_are_joined),
        cmocka_unit_test(test_fragments_are_only_a_preview_of_a_whole_result),
        cmocka_unit_test(test_fragments_may_be_none),
        cmocka_unit_test(test_fragments_that_are_none_are_refused),
        cmocka_unit_test(test_fragments_are_held_to_their_limit),
        cmocka_unit_test(test_fragments_errors_are_errors),
        cmocka_unit_test(test_fragments_survive_any_allocation_refused),
    };

    return cmocka_run_group_tests_name("fragments", tests, NULL, NULL);
}
