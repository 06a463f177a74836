/*
 * test_msg.c - what is a message, where its parts lie, and why not.
 *
 * Every text is read from a heap block of exactly its size, so that a
 * sanitizer sees any step outside it. Parts are compared byte for byte with
 * what was sent: fairlead must not so much as move a space in them.
 */
#include "rpc/msg.h"

#include "base/span.h"
#include "support/data.h"
#include "support/ration.h"
#include "json/scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define FORTY "1234567890123456789012345678901234567890"

/* One text, read. */
struct reading {
    char *copy;
    fl_status rc;
    fl_msg msg;
    fl_msg_fault fault;
};

static struct reading read_span(fl_span text)
{
    struct reading it = {.copy = ration_raw_realloc(NULL, text.len)};

    assert_true(it.copy != NULL || text.len == 0);
    if (text.len > 0)
        memcpy(it.copy, text.ptr, text.len);
    it.rc = fl_msg_read((fl_span){it.copy, text.len}, &it.msg, &it.fault);
    return it;
}

static struct reading read_text(const char *text)
{
    return read_span(fl_span_of(text));
}

static void drop(struct reading *it)
{
    ration_raw_free(it->copy);
    it->copy = NULL;
}

static void same(const char *what, const char *text, const char *want,
                 fl_span got)
{
    if (!fl_span_equal(fl_span_of(want), got))
        fail_msg("%s of %s\n  want %s\n  got  %.*s", what, text,
                 want != NULL ? want : "nothing", (int)got.len, got.ptr);
}

static void test_msg_tells_every_kind_and_its_parts(void **state)
{
    static const struct {
        const char *text;
        fl_msg_kind kind;
        const char *id, *method, *params, *result, *error;
    } cases[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", FL_MSG_REQUEST,
         "1", "ping", NULL, NULL, NULL},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"a/b\",\"params\":{\"x\":[1, 2]}}",
         FL_MSG_NOTIFICATION, NULL, "a/b", "{\"x\":[1, 2]}", NULL, NULL},
        {"{\"params\":[ ],\"method\":\"\",\"id\":\"\",\"jsonrpc\":\"2.0\"}",
         FL_MSG_REQUEST, "\"\"", "", "[ ]", NULL, NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{ }}", FL_MSG_RESULT,
         "\"a\"", NULL, NULL, "{ }", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":null}", FL_MSG_RESULT, "7",
         NULL, NULL, "null", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-1,"
         "\"message\":\"m\",\"data\":[]}}",
         FL_MSG_ERROR, "7", NULL, NULL, NULL,
         "{\"code\":-1,\"message\":\"m\",\"data\":[]}"},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"
         "\"message\":\"\"}}",
         FL_MSG_ERROR, "null", NULL, NULL, NULL,
         "{\"code\":-32700,\"message\":\"\"}"},
        {"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1,\"message\":\"\"}}",
         FL_MSG_ERROR, NULL, NULL, NULL, NULL, "{\"code\":1,\"message\":\"\"}"},
        {"[1]", FL_MSG_BATCH, NULL, NULL, NULL, NULL, NULL},
        {"[{\"id\":1},[]]", FL_MSG_BATCH, NULL, NULL, NULL, NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *text = cases[i].text;
        struct reading it = read_text(text);
        if (it.rc != FL_OK)
            fail_msg("%s: %s", text, it.fault.what);
        assert_int_equal(it.msg.kind, cases[i].kind);
        assert_int_equal(it.fault.code, 0);
        same("text", text, text, it.msg.text);
        same("id", text, cases[i].id, it.msg.id);
        same("method", text, cases[i].method, it.msg.method);
        same("params", text, cases[i].params, it.msg.params);
        same("result", text, cases[i].result, it.msg.result);
        same("error", text, cases[i].error, it.msg.error);
        drop(&it);
    }
}

static const struct {
    const char *text, *what, *id;
} refused[] = {
    {"1", "message must be an object", NULL},
    {"null", "message must be an object", NULL},
    {"\"jsonrpc\"", "message must be an object", NULL},
    {"[]", "batch is empty", NULL},
    {"[ ]", "batch is empty", NULL},
    {"{}", "\"jsonrpc\" must be \"2.0\"", NULL},
    {"{\"id\":1,\"method\":\"m\"}", "\"jsonrpc\" must be \"2.0\"", "1"},
    {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}",
     "\"jsonrpc\" must be \"2.0\"", "1"},
    {"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"m\"}",
     "\"jsonrpc\" must be \"2.0\"", "1"},
    {"{\"jsonrpc\":\"2.0\"}", "message has no method, no result and no error",
     NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":1}",
     "message has no method, no result and no error", "1"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"Method\":\"m\"}",
     "message has no method, no result and no error", "1"},
    {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}",
     "\"id\" of a request must not be null", NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"m\"}",
     "\"id\" must be a string or a number", NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"m\"}",
     "\"id\" must be a string or a number", NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"m\"}",
     "\"id\" must be a string or a number", NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":1}",
     "\"method\" must be a string", "1"},
    {"{\"jsonrpc\":\"2.0\",\"method\":null}", "\"method\" must be a string",
     NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"m\",\"params\":null}",
     "\"params\" must be an object or an array", "\"x\""},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":\"bar\"}",
     "\"params\" must be an object or an array", "1"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":0}",
     "\"params\" must be an object or an array", "1"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"result\":0}",
     "message has a method and also a result or an error", "1"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"error\":{}}",
     "message has a method and also a result or an error", "1"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":0,\"error\":{\"code\":1,"
     "\"message\":\"\"}}",
     "message has both a result and an error", "1"},
    {"{\"jsonrpc\":\"2.0\",\"result\":0}", "a result must have an \"id\"",
     NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":0}",
     "\"id\" of a result must not be null", NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":false,\"result\":0}",
     "\"id\" must be a string or a number", NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":[],\"error\":{\"code\":1,"
     "\"message\":\"\"}}",
     "\"id\" must be a string, a number or null", NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":null}",
     "\"error\" must be an object", "1"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"no\"}",
     "\"error\" must be an object", "1"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"message\":\"\"}}",
     "\"code\" of the error must be an integer", "1"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1.5,"
     "\"message\":\"\"}}",
     "\"code\" of the error must be an integer", "1"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":\"1\","
     "\"message\":\"\"}}",
     "\"code\" of the error must be an integer", "1"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1}}",
     "\"message\" of the error must be a string", "1"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,"
     "\"message\":null}}",
     "\"message\" of the error must be a string", "1"},
};

static void test_msg_says_what_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct reading it = read_text(refused[i].text);
        assert_int_equal(it.rc, FL_E_BAD_MESSAGE);
        assert_int_equal(it.msg.kind, FL_MSG_INVALID);
        assert_int_equal(it.fault.code, -32600);
        same("fault", refused[i].text, refused[i].what,
             fl_span_of(it.fault.what));
        same("id", refused[i].text, refused[i].id, it.msg.id);
        assert_int_equal(it.msg.method.len, 0);
        drop(&it);
    }
}

static void test_msg_refuses_a_member_given_twice_by_meaning(void **state)
{
    static const struct {
        const char *text, *what, *id;
    } cases[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"jsonrpc\":\"2.0\"}",
         "\"jsonrpc\" is given twice", "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"id\":1}",
         "\"id\" is given twice", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"\\u0069d\":2}",
         "\"id\" is given twice", NULL},
        {"{\"jsonrpc\":\"2.0\",\"\\u0069\\u0064\":1,\"method\":\"m\","
         "\"i\\u0064\":2}",
         "\"id\" is given twice", NULL},
        {"{\"method\":\"a\",\"method\":\"m\",\"jsonrpc\":\"2.0\",\"id\":9}",
         "\"method\" is given twice", "9"},
        {"{\"id\":1,\"method\":\"a\",\"method\":\"m\",\"id\":9}",
         "\"method\" is given twice", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{},"
         "\"p\\u0061rams\":{}}",
         "\"params\" is given twice", "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"result\":1}",
         "\"result\" is given twice", "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":1,\"erro\\u0072\":1}",
         "\"error\" is given twice", "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\","
         "\"\\u006a\\u0073\\u006F\\u006e\\u0072\\u0070\\u0063\":\"2.0\"}",
         "\"jsonrpc\" is given twice", "1"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct reading it = read_text(cases[i].text);
        assert_int_equal(it.rc, FL_E_BAD_MESSAGE);
        assert_int_equal(it.fault.code, -32600);
        same("fault", cases[i].text, cases[i].what, fl_span_of(it.fault.what));
        same("id", cases[i].text, cases[i].id, it.msg.id);
        drop(&it);
    }
}

static void test_msg_shows_that_a_bad_message_was_a_response(void **state)
{
    struct reading result = read_text("{\"id\":1,\"result\":[]}");
    struct reading error = read_text("{\"id\":1,\"error\":[]}");
    struct reading request = read_text("{\"id\":1,\"method\":[]}");

    (void)state;
    assert_int_equal(result.rc, FL_E_BAD_MESSAGE);
    same("result", result.copy, "[]", result.msg.result);
    assert_int_equal(error.rc, FL_E_BAD_MESSAGE);
    same("error", error.copy, "[]", error.msg.error);
    assert_int_equal(request.rc, FL_E_BAD_MESSAGE);
    assert_int_equal(request.msg.result.len + request.msg.error.len, 0);
    drop(&result);
    drop(&error);
    drop(&request);
}

static void test_msg_calls_what_is_no_json_a_parse_error(void **state)
{
    static const struct {
        const char *text;
        fl_status rc;
        const char *what;
        size_t at;
    } cases[] = {
        {"", FL_E_BAD_JSON, "not valid JSON", 0},
        {"   ", FL_E_BAD_JSON, "not valid JSON", 3},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,}", FL_E_BAD_JSON, "not valid JSON",
         24},
        {"{\"jsonrpc\":\"2.0\"} x", FL_E_BAD_JSON, "not valid JSON", 18},
        {"{\"jsonrpc\":\"2.0\",\"id\":1", FL_E_BAD_JSON, "not valid JSON", 23},
        {"{\"id\":\"\xff\"}", FL_E_BAD_TEXT, "not valid UTF-8", 7},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct reading it = read_text(cases[i].text);
        assert_int_equal(it.rc, cases[i].rc);
        assert_int_equal(it.msg.kind, FL_MSG_INVALID);
        assert_int_equal(it.fault.code, -32700);
        assert_int_equal(it.fault.at, cases[i].at);
        same("fault", cases[i].text, cases[i].what, fl_span_of(it.fault.what));
        assert_int_equal(it.msg.id.len, 0);
        drop(&it);
    }
}

/* A request whose deepest bracket is the depth-th. */
static struct reading read_nested(size_t depth)
{
    static const char head[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":";
    char text[sizeof head + 2 * (size_t)(FL_JSON_MAX_DEPTH + 1)];
    size_t len = sizeof head - 1;

    memcpy(text, head, len);
    memset(text + len, '[', depth - 1);
    memset(text + len + depth - 1, ']', depth - 1);
    len += 2 * (depth - 1);
    text[len++] = '}';
    return read_span((fl_span){text, len});
}

static void test_msg_refuses_one_bracket_past_the_deepest(void **state)
{
    struct reading deep = read_nested(FL_JSON_MAX_DEPTH);
    struct reading deeper = read_nested(FL_JSON_MAX_DEPTH + 1);

    (void)state;
    assert_int_equal(deep.rc, FL_OK);
    assert_int_equal(deep.msg.kind, FL_MSG_NOTIFICATION);
    assert_int_equal(deeper.rc, FL_E_TOO_DEEP);
    assert_int_equal(deeper.fault.code, -32700);
    drop(&deep);
    drop(&deeper);
}

static void test_msg_keeps_ids_byte_for_byte(void **state)
{
    static const char *const ids[] = {
        "0",
        "1",
        "-1",
        "-0",
        "1.50",
        "1E+3",
        "1e400",
        FORTY,
        "-" FORTY "." FORTY "e-" FORTY,
        "\"1\"",
        "\"\"",
        "\"\\u0031\"",
        "\"a\\\"b\\\\\"",
        "\"\xc3\xa9\xf0\x9f\x98\x80\"",
        "\"\\ud800\"",
        "\"{\\\"id\\\":1}\"",
        "\" 1 \"",
    };
    char text[512];

    (void)state;
    for (size_t i = 0; i < COUNT(ids); i++) {
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"id\": %s\t,\"method\":\"m\"}", ids[i]);
        struct reading it = read_text(text);
        assert_int_equal(it.rc, FL_OK);
        assert_int_equal(it.msg.kind, FL_MSG_REQUEST);
        same("id", text, ids[i], it.msg.id);
        drop(&it);
    }
}

static void test_msg_reads_keys_and_version_by_meaning(void **state)
{
    struct reading it =
        read_text("{\"json\\u0072pc\":\"2\\u002e0\",\"\\u0069d\":5,"
                  "\"\\u006dethod\":\"m\",\"param\\u0073\":{}}");

    (void)state;
    assert_int_equal(it.rc, FL_OK);
    assert_int_equal(it.msg.kind, FL_MSG_REQUEST);
    same("id", it.copy, "5", it.msg.id);
    same("method", it.copy, "m", it.msg.method);
    same("params", it.copy, "{}", it.msg.params);
    drop(&it);
}

static void test_msg_lets_other_members_pass(void **state)
{
    struct reading it = read_text(
        "{\"\":0,\"ID\":1,\"xd\":1,\"ix\":1,\"errox\":1,\"paramx\":1,"
        "\"jsonrpx\":1,"
        "\"\\u0069x\":1,\"i\\\\\\\\\\\\\":2,\"nested\":{\"id\":3,\"id\":4},"
        "\"jsonrpc\":\"2.0\",\"nested\":5,\"method\":\"m\"}");

    (void)state;
    assert_int_equal(it.rc, FL_OK);
    assert_int_equal(it.msg.kind, FL_MSG_NOTIFICATION);
    drop(&it);
}

/* `id` stands behind `count` members of other names. */
static struct reading read_wide(size_t count, const char *id)
{
    char text[1024];
    size_t len = 0;

    text[len++] = '{';
    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "\"x%zu\":[%zu], ", i, i);
    len += (size_t)snprintf(text + len, sizeof text - len,
                            "\"jsonrpc\":\"2.0\",\"method\":\"m\",%s}", id);
    assert_in_range(len, 1, sizeof text - 1);
    return read_text(text);
}

static void test_msg_finds_the_id_behind_any_number_of_members(void **state)
{
    (void)state;
    for (size_t count = 0; count < 3 * (size_t)FL_JSON_MEMBERS; count++) {
        struct reading it = read_wide(count, "\"id\":77");
        assert_int_equal(it.rc, FL_OK);
        assert_int_equal(it.msg.kind, FL_MSG_REQUEST);
        same("id", it.copy, "77", it.msg.id);
        drop(&it);
        it = read_wide(count, "\"id\":1,\"i\\u0064\":2");
        assert_int_equal(it.rc, FL_E_BAD_MESSAGE);
        same("fault", it.copy, "\"id\" is given twice",
             fl_span_of(it.fault.what));
        drop(&it);
    }
}

static void test_msg_leaves_white_space_around_it_out(void **state)
{
    struct reading it = read_text(" \t\r\n{ \"jsonrpc\" : \"2.0\" , \"id\" : 1 "
                                  ", \"method\" : \"m\" }\r\n");

    (void)state;
    assert_int_equal(it.rc, FL_OK);
    same("text", it.copy,
         "{ \"jsonrpc\" : \"2.0\" , \"id\" : 1 , \"method\" : \"m\" }",
         it.msg.text);
    drop(&it);
}

static void test_msg_allocates_nothing(void **state)
{
    (void)state;
    ration_reset();
    ration_allow(0);
    struct reading it = read_wide(40, "\"id\":\"\\u0031\"");
    assert_int_equal(it.rc, FL_OK);
    assert_true(fl_msg_id_equal(it.msg.id, FL_SPAN("\"1\"")));
    assert_false(ration_refused());
    ration_reset();
    drop(&it);
}

static void test_msg_method_is_compared_by_meaning(void **state)
{
    static const struct {
        const char *raw, *method;
        bool same;
    } cases[] = {
        {"ping", "ping", true},
        {"ping", "pong", false},
        {"ping", "pin", false},
        {"ping", "pings", false},
        {"", "", true},
        {"", "p", false},
        {"tools\\/call", "tools/call", true},
        {"tools\\/call", "tools\\/call", false},
        {"\\u0070ing", "ping", true},
        {"\\u0070ing", "pong", false},
        {"a\\\\b", "a\\b", true},
        {"a\\\\b", "a\\\\b", false},
        {"\\ud83d\\ude00", "\xf0\x9f\x98\x80", true},
    };
    char text[256];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"}",
                 cases[i].raw);
        struct reading it = read_text(text);
        assert_int_equal(it.rc, FL_OK);
        same("method", text, cases[i].raw, it.msg.method);
        if (fl_msg_method_is(&it.msg, fl_span_of(cases[i].method)) !=
            cases[i].same)
            fail_msg("%s against %s", cases[i].raw, cases[i].method);
        drop(&it);
    }
}

static void test_msg_splices_another_id_in(void **state)
{
    static const struct {
        const char *text, *id, *want;
    } cases[] = {
        {"{\"id\":1,\"jsonrpc\":\"2.0\",\"method\":\"m\"}", "\"x\"",
         "{\"id\":\"x\",\"jsonrpc\":\"2.0\",\"method\":\"m\"}"},
        {"{\"jsonrpc\":\"2.0\",\"id\" : \"abc\" ,\"method\":\"m\"}", "2",
         "{\"jsonrpc\":\"2.0\",\"id\" : 2 ,\"method\":\"m\"}"},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"id\":1}", FORTY,
         "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"id\":" FORTY "}"},
        {" \n{\"jsonrpc\":\"2.0\",\"result\":{\"id\":1},\"id\":1 }\t", "9",
         "{\"jsonrpc\":\"2.0\",\"result\":{\"id\":1},\"id\":9 }"},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,"
         "\"message\":\"\"}}",
         "3",
         "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":1,"
         "\"message\":\"\"}}"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char joined[256];
        size_t len = 0;
        fl_span parts[3];
        struct reading it = read_text(cases[i].text);
        assert_int_equal(it.rc, FL_OK);
        fl_msg_splice_id(&it.msg, fl_span_of(cases[i].id), parts);
        for (size_t part = 0; part < 3; part++) {
            memcpy(joined + len, parts[part].ptr, parts[part].len);
            len += parts[part].len;
        }
        same("splice", cases[i].text, cases[i].want, (fl_span){joined, len});
        drop(&it);
    }
}

static fl_span join(const fl_span *parts, size_t count, char *room)
{
    size_t len = 0;

    for (size_t i = 0; i < count; i++) {
        memcpy(room + len, parts[i].ptr, parts[i].len);
        len += parts[i].len;
    }
    return (fl_span){room, len};
}

/* Both views are of the same text. */
static void same_view(const char *text, const fl_msg *want, const fl_msg *got)
{
#define SAME(member)                                                           \
    do {                                                                       \
        if (want->member.ptr != got->member.ptr ||                             \
            want->member.len != got->member.len)                               \
            fail_msg("%s of %s: %.*s", #member, text, (int)got->member.len,    \
                     got->member.ptr);                                         \
    } while (0)
    SAME(text);
    SAME(id);
    SAME(method);
    SAME(params);
    SAME(result);
    SAME(error);
    SAME(inner.name);
    SAME(inner.uri);
    SAME(inner.task_id);
    SAME(inner.task);
    SAME(inner.arguments);
    SAME(inner.input_responses);
    SAME(inner.request_state);
    SAME(inner.meta);
    SAME(inner.progress_token);
    SAME(inner.claim.version);
    SAME(inner.claim.client_capabilities);
    SAME(inner.claim.client_info);
    SAME(inner.claim.log_level);
#undef SAME
    assert_int_equal(want->kind, got->kind);
    assert_int_equal(want->inner.claim.present, got->inner.claim.present);
    assert_memory_equal(&want->inner.cuts, &got->inner.cuts,
                        sizeof want->inner.cuts);
}

#define PREFIX "io.modelcontextprotocol/"

static void test_msg_renumbered_is_what_reading_it_would_find(void **state)
{
    static const char *const ids[] = {"7", "\"x\"", FORTY};
    static const char *const texts[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}",
        " {\"id\":\"long enough\",\"method\":\"m\",\"jsonrpc\":\"2.0\"}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":12,\"method\":\"tools/call\",\"params\":{"
        "\"name\":\"a\",\"_meta\":{\"progressToken\":\"token\"},"
        "\"arguments\":{\"a\":1,\"b\":[2]}}}",
        "{\"params\":{\"arguments\":{\"progressToken\":12},\"uri\":\"u\","
        "\"_meta\":{\"" PREFIX "protocolVersion\":\"2026-07-28\",\"" PREFIX
        "clientInfo\":{},\"progressToken\":12345678901234567890123456789012,"
        "\"" PREFIX "clientCapabilities\":{},\"" PREFIX "logLevel\":\"info\"},"
        "\"taskId\":\"t\",\"task\":{},\"inputResponses\":{},"
        "\"requestState\":\"s\",\"name\":\"n\"},"
        "\"method\":\"tools/call\",\"id\":1,\"jsonrpc\":\"2.0\"}",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(texts) * COUNT(ids); i++) {
        const char *text = texts[i / COUNT(ids)];
        fl_span id = fl_span_of(ids[i % COUNT(ids)]);
        fl_span parts[FL_MSG_RENUMBERED];
        char joined[1024];
        fl_msg view, read;
        fl_msg_fault fault;
        struct reading it = read_text(text);
        assert_int_equal(it.rc, FL_OK);
        fl_span whole =
            join(parts, fl_msg_renumber(&it.msg, id, parts), joined);
        fl_msg_renumbered(&it.msg, id, joined, &view);
        assert_int_equal(fl_msg_read(whole, &read, &fault), FL_OK);
        same_view(text, &read, &view);
        assert_true(fl_span_equal(view.id, id));
        assert_true(it.msg.inner.progress_token.len == 0 ||
                    fl_span_equal(view.inner.progress_token, id));
        drop(&it);
    }
}

static fl_span copy_exact(const char *text)
{
    size_t len = strlen(text);
    char *copy = ration_raw_realloc(NULL, len);

    assert_non_null(copy);
    memcpy(copy, text, len);
    return (fl_span){copy, len};
}

static bool ids_equal(const char *left, const char *right)
{
    fl_span a = copy_exact(left), b = copy_exact(right);
    bool equal = fl_msg_id_equal(a, b);

    assert_int_equal(equal, fl_msg_id_equal(b, a));
    data_free(a);
    data_free(b);
    return equal;
}

static void test_msg_ids_are_equal_by_type_and_meaning(void **state)
{
    static const char *const pairs[][2] = {
        {"1", "1"},
        {FORTY, FORTY},
        {"\"a\"", "\"a\""},
        {"\"a\"", "\"\\u0061\""},
        {"\"\\u004A\"", "\"\\u004a\""},
        {"\"\\u0061b\"", "\"a\\u0062\""},
        {"\"\\n\\t\\b\\f\\r\"", "\"\\u000a\\u0009\\u0008\\u000C\\u000d\""},
        {"\"\\/\\\\\\\"\"", "\"\\u002f\\u005c\\u0022\""},
        {"\"\xc3\xa9\"", "\"\\u00e9\""},
        {"\"\xe2\x82\xac\"", "\"\\u20AC\""},
        {"\"\xf0\x9f\x98\x80x\"", "\"\\ud83d\\uDE00x\""},
        {"\"\\ud800\\/\"", "\"\\uD800/\""},
        {"\"\\ud800\\u0061\"", "\"\\ud800a\""},
        {"\"\\udbff\\udfff\"", "\"\xf4\x8f\xbf\xbf\""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++)
        if (!ids_equal(pairs[i][0], pairs[i][1]))
            fail_msg("%s is not %s", pairs[i][0], pairs[i][1]);
}

static void test_msg_ids_differ_by_type_or_meaning(void **state)
{
    static const char *const pairs[][2] = {
        {"1", "\"1\""},
        {"1", "1.0"},
        {"1", "2"},
        {FORTY, FORTY "1"},
        {"\"a\"", "\"A\""},
        {"\"a\"", "\"aa\""},
        {"\"\\u0061\"", "\"aa\""},
        {"\"\\u0061\"", "\"\\u0062\""},
        {"\"\\u0061\"", "\"\\u0061\\u0061\""},
        {"\"\\ud800\"", "\"\\ud801\""},
        {"\"\\ud800\\udc00\"", "\"\\ud800\\udc01\""},
        {"\"\\ud800\"", "\"\xef\xbf\xbd\\u0061\""},
        {"null", "\"null\""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++)
        if (ids_equal(pairs[i][0], pairs[i][1]))
            fail_msg("%s is %s", pairs[i][0], pairs[i][1]);
    assert_false(fl_msg_id_equal((fl_span){0}, (fl_span){0}));
    assert_false(fl_msg_id_equal((fl_span){0}, FL_SPAN("1")));
}

static void test_msg_ids_that_were_not_validated_stay_in_bounds(void **state)
{
    (void)state;
    assert_false(ids_equal("\"\\u00", "\"\\u0061\""));
    assert_false(ids_equal("\"\\", "\"\\\\\""));
    assert_false(ids_equal("\"\\u0061", "\"a\""));
    assert_false(ids_equal("\"\\ud800\\u", "\"\\ud800\\udc00\""));
    assert_false(ids_equal("\"\xf0\x9f", "\"\\u0061\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_msg_tells_every_kind_and_its_parts),
        cmocka_unit_test(test_msg_says_what_is_wrong),
        cmocka_unit_test(test_msg_refuses_a_member_given_twice_by_meaning),
        cmocka_unit_test(test_msg_shows_that_a_bad_message_was_a_response),
        cmocka_unit_test(test_msg_calls_what_is_no_json_a_parse_error),
        cmocka_unit_test(test_msg_refuses_one_bracket_past_the_deepest),
        cmocka_unit_test(test_msg_keeps_ids_byte_for_byte),
        cmocka_unit_test(test_msg_reads_keys_and_version_by_meaning),
        cmocka_unit_test(test_msg_lets_other_members_pass),
        cmocka_unit_test(test_msg_finds_the_id_behind_any_number_of_members),
        cmocka_unit_test(test_msg_leaves_white_space_around_it_out),
        cmocka_unit_test(test_msg_allocates_nothing),
        cmocka_unit_test(test_msg_method_is_compared_by_meaning),
        cmocka_unit_test(test_msg_splices_another_id_in),
        cmocka_unit_test(test_msg_renumbered_is_what_reading_it_would_find),
        cmocka_unit_test(test_msg_ids_are_equal_by_type_and_meaning),
        cmocka_unit_test(test_msg_ids_differ_by_type_or_meaning),
        cmocka_unit_test(test_msg_ids_that_were_not_validated_stay_in_bounds),
    };

    return cmocka_run_group_tests_name("msg", tests, NULL, NULL);
}
