/*
 * test_rpc_error.c - the table of error codes, and error responses.
 */
#include "rpc/error.h"

#include "base/span.h"
#include "rpc/msg.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void test_rpc_error_rows_are_what_the_protocol_says(void **state)
{
    static const struct {
        int code;
        const char *name;
        int legacy, modern, close;
    } want[] = {
        {-32700, "parse_error", 400, 400, 0},
        {-32600, "invalid_request", 400, 400, 0},
        {-32601, "method_not_found", 200, 404, 0},
        {-32602, "invalid_params", 200, 400, 0},
        {-32603, "internal_error", 200, 500, 0},
        {-32000, "connection_closed", 200, 502, 0},
        {-32001, "request_timeout", 200, 504, 0},
        {-32002, "resource_not_found", 200, 400, 0},
        {-32010, "busy", 503, 503, 0},
        {-32012, "message_too_large", 413, 413, 1009},
        {-32020, "header_mismatch", 400, 400, 0},
        {-32021, "missing_capability", 400, 400, 0},
        {-32022, "unsupported_version", 400, 400, 0},
        {-32042, "url_elicitation_required", 200, 400, 0},
    };
    const fl_rpc_error *row = fl_rpc_error_table();

    (void)state;
    for (size_t i = 0; i < COUNT(want); i++, row++) {
        assert_int_equal(row->code, want[i].code);
        assert_string_equal(row->name, want[i].name);
        assert_int_equal(row->http_legacy, want[i].legacy);
        assert_int_equal(row->http_modern, want[i].modern);
        assert_int_equal(row->close_code, want[i].close);
        assert_true(strlen(row->message) > 0);
        assert_ptr_equal(fl_rpc_error_find(row->code), row);
    }
    assert_int_equal(row->code, 0);
}

static void test_rpc_error_modern_has_codes_of_its_own(void **state)
{
    static const struct {
        int code, modern;
    } want[] = {
        {-32002, -32602}, {-32010, -32603}, {-32012, -32600}, {-32042, -32603},
        {-32023, -32603}, {-32099, -32603}, {-32100, -32100}, {-32019, -32019},
        {-32020, -32020}, {-32021, -32021}, {-32022, -32022}, {-32700, -32700},
        {-32601, -32601}, {-32001, -32001}, {1, 1},           {0, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(want); i++)
        assert_int_equal(fl_rpc_error_modern(want[i].code), want[i].modern);
}

static void test_rpc_error_unknown_codes_are_internal_errors(void **state)
{
    static const int codes[] = {0, 1, -1, -32604, -32099, 2147483647};

    (void)state;
    for (size_t i = 0; i < COUNT(codes); i++)
        assert_int_equal(fl_rpc_error_find(codes[i])->code, -32603);
}

static void expect(const char *want, fl_span id, int code, fl_span message,
                   fl_span data)
{
    fl_buf out;

    fl_buf_init(&out, 4096);
    assert_int_equal(fl_rpc_error_write(&out, id, code, message, data), FL_OK);
    fl_span got = fl_buf_view(&out);
    if (!fl_span_equal(got, fl_span_of(want)))
        fail_msg("want %s\n  got %.*s", want, (int)got.len, got.ptr);

    fl_msg msg;
    fl_msg_fault fault;
    assert_int_equal(fl_msg_read(got, &msg, &fault), FL_OK);
    assert_int_equal(msg.kind, FL_MSG_ERROR);
    fl_buf_reset(&out);
}

static void test_rpc_error_writes_a_response(void **state)
{
    fl_span none = {0};

    (void)state;
    expect("{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32601,"
           "\"message\":\"Method not found\"}}",
           FL_SPAN("7"), -32601, none, none);
    expect("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"
           "\"message\":\"Parse error\"}}",
           none, -32700, none, none);
    expect("{\"jsonrpc\":\"2.0\",\"id\":\"\\u0031\",\"error\":{"
           "\"code\":-32012,\"message\":\"Message too large\","
           "\"data\":{\"limit\":16777216}}}",
           FL_SPAN("\"\\u0031\""), -32012, none,
           FL_SPAN("{\"limit\":16777216}"));
    expect("{\"jsonrpc\":\"2.0\",\"id\":123456789012345678901234567890,"
           "\"error\":{\"code\":-1,\"message\":\"say \\\"no\\\"\\n\"}}",
           FL_SPAN("123456789012345678901234567890"), -1,
           FL_SPAN("say \"no\"\n"), none);
}

static void test_rpc_error_gives_an_unknown_code_a_general_text(void **state)
{
    (void)state;
    expect("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32099,"
           "\"message\":\"Internal error\"}}",
           FL_SPAN("1"), -32099, (fl_span){0}, (fl_span){0});
}

static void test_rpc_error_appends_or_leaves_nothing(void **state)
{
    static const char
        first[] = "[",
        whole[] = "[{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,"
                  "\"message\":\"Internal error\"}}";
    fl_span none = {0};

    (void)state;
    for (size_t max = 1; max < sizeof whole; max++) {
        fl_buf out;
        fl_buf_init(&out, max);
        assert_int_equal(fl_buf_append(&out, fl_span_of(first)), FL_OK);
        fl_status rc =
            fl_rpc_error_write(&out, FL_SPAN("1"), -32603, none, none);
        bool fits = max >= sizeof whole - 1;
        assert_int_equal(rc, fits ? FL_OK : FL_E_TOO_BIG);
        assert_true(
            fl_span_equal(fl_buf_view(&out), fl_span_of(fits ? whole : first)));
        fl_buf_reset(&out);
    }
}

static void write_starved(void *user)
{
    fl_buf out;
    char big[4000];

    (void)user;
    memset(big, 'x', sizeof big); /* so that the buffer grows on the way */
    fl_buf_init(&out, 65536);
    fl_status rc = fl_rpc_error_write(
        &out, FL_SPAN("1"), -32603, (fl_span){big, sizeof big}, FL_SPAN("{}"));
    if (ration_refused()) {
        assert_int_equal(rc, FL_E_NOMEM);
        assert_int_equal(fl_buf_len(&out), 0);
    } else {
        assert_int_equal(rc, FL_OK);
    }
    fl_buf_reset(&out);
}

static void test_rpc_error_survives_every_refused_allocation(void **state)
{
    (void)state;
    assert_true(ration_each(write_starved, NULL) > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rpc_error_rows_are_what_the_protocol_says),
        cmocka_unit_test(test_rpc_error_modern_has_codes_of_its_own),
        cmocka_unit_test(test_rpc_error_unknown_codes_are_internal_errors),
        cmocka_unit_test(test_rpc_error_writes_a_response),
        cmocka_unit_test(test_rpc_error_gives_an_unknown_code_a_general_text),
        cmocka_unit_test(test_rpc_error_appends_or_leaves_nothing),
        cmocka_unit_test(test_rpc_error_survives_every_refused_allocation),
    };

    return cmocka_run_group_tests_name("rpc_error", tests, NULL, NULL);
}
