/*
 * test_modern.c - the stateless era on a server: what it answers, on every
 * kind of link, whatever was said before.
 */
#include "fake_door.h"
#include "modern.h"

static server_host host;
static fake_door door;

#define DISCOVERY(instructions)                                                \
    "{" STAMP ",\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{"     \
    "\"tools\":{\"listChanged\":true},\"logging\":{}}" instructions            \
    ",\"ttlMs\":60000,\"cacheScope\":\"private\"}"

#define RESULT(id, result)                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" result "}"

#define NOT_FOUND(id, method)                                                  \
    ERROR_ANSWER(id, "-32601",                                                 \
                 "\"method not found, or its capability was not declared\","   \
                 "\"data\":{\"method\":\"" method "\"}")

static void test_modern_needs_no_initialize(void **state)
{
    (void)state;
    host_begin_with(&host, NULL);
    raw_asks(&host.peer, MODERN("1", "server/discover", ""),
             RESULT("1", DISCOVERY("")));
    raw_asks(&host.peer, MODERN_CALL("2", "echo", "{\"text\":\"a\"}"),
             MODERN_TEXT("2", "a"));
    /* and it opens nothing */
    raw_say(&host.peer, CALL("3", "echo", "{\"text\":\"a\"}"));
    raw_hears_part(&host.peer, "\"id\":3,\"error\":{\"code\":-32602");
    host_end(&host);
}

static void test_modern_is_served_in_every_state_of_a_session(void **state)
{
    (void)state;
    host_begin_with(&host, NULL);
    raw_say(&host.peer, INITIALIZE("0", "2024-11-05"));
    raw_hears_part(&host.peer, "2024-11-05");
    raw_asks(&host.peer, MODERN_CALL("1", "echo", "{\"text\":\"a\"}"),
             MODERN_TEXT("1", "a"));
    raw_say(&host.peer, INITIALIZED);
    raw_asks(&host.peer, MODERN_CALL("2", "echo", "{\"text\":\"b\"}"),
             MODERN_TEXT("2", "b"));
    raw_asks(&host.peer, CALL("3", "echo", "{\"text\":\"c\"}"),
             TEXT_ANSWER("3", "c"));
    host_end(&host);
}

static void test_modern_discovery_tells_what_changes(void **state)
{
    (void)state;
    host_begin_bare(&host);
    host_listen(&host, NULL);
    raw_asks(&host.peer, MODERN("1", "server/discover", ""),
             RESULT("1", "{" STAMP ",\"supportedVersions\":[\"2026-07-28\"],"
                         "\"capabilities\":{\"logging\":{}},\"ttlMs\":60000,"
                         "\"cacheScope\":\"private\"}"));
    raw_asks(&host.peer, MODERN("2", "tools/list", ""),
             NOT_FOUND("2", "tools/list"));
    assert_int_equal(host_add_tools(&host), FL_OK);
    assert_int_equal(fl_server_set_instructions(host.server, "go \"on\""),
                     FL_OK);
    raw_asks(&host.peer, MODERN("\"x\"", "server/discover", ""),
             RESULT("\"x\"", DISCOVERY(",\"instructions\":\"go \\\"on\\\"\"")));
    host_end(&host);
}

static void test_modern_lists_tools_with_hints(void **state)
{
    (void)state;
    host_begin_bare(&host);
    assert_int_equal(fl_server_add_tool(host.server,
                                        &(fl_tool){
                                            .name = "echo",
                                            .title = "Echo",
                                            .call = tool_echo,
                                        }),
                     FL_OK);
    host_listen(&host, NULL);
    raw_asks(&host.peer, MODERN("1", "tools/list", ""),
             RESULT("1", "{" STAMP
                         ",\"tools\":[{\"name\":\"echo\",\"title\":\"Echo\","
                         "\"inputSchema\":{\"type\":\"object\"}}],"
                         "\"ttlMs\":60000,\"cacheScope\":\"private\"}"));
    raw_asks(&host.peer, MODERN("2", "tools/list", ",\"cursor\":\"x\""),
             ERROR_ANSWER("2", "-32602",
                          "\"unknown cursor: begin again without one\","
                          "\"data\":{\"cursor\":\"x\"}"));
    host_end(&host);
}

static void test_modern_stamps_what_tools_answer(void **state)
{
    (void)state;
    host_begin_with(&host, NULL);
    raw_asks(&host.peer, MODERN_CALL("1", "fail", "{}"),
             RESULT("1", "{" STAMP ",\"content\":[{\"type\":\"text\",\"text\":"
                         "\"it \\\"broke\\\": 7\"}],\"isError\":true}"));
    raw_asks(&host.peer,
             MODERN_CALL("2", "json", "{\"result\":{\"content\":[]}}"),
             RESULT("2", "{\"_meta\":{" TAG
                         "},\"resultType\":\"complete\",\"content\":[]}"));
    raw_asks(&host.peer, MODERN_CALL("3", "json", "{\"result\":{ }}"),
             RESULT("3", "{\"_meta\":{" TAG "},\"resultType\":\"complete\" }"));
    raw_asks(
        &host.peer,
        MODERN_CALL("4", "json",
                    "{\"result\":{\"resultType\":\"input_required\"}}"),
        RESULT("4", "{\"_meta\":{" TAG "},\"resultType\":\"input_required\"}"));
    raw_asks(&host.peer,
             MODERN_CALL("5", "json", "{\"result\":{\"_meta\":{\"a\":1}}}"),
             RESULT("5", "{\"resultType\":\"complete\",\"_meta\":{\"a\":1}}"));
    raw_asks(&host.peer,
             MODERN_CALL("6", "json",
                         "{\"result\":{\"_meta\":{},\"resultType\":\"task\"}}"),
             RESULT("6", "{\"_meta\":{},\"resultType\":\"task\"}"));
    host_end(&host);
}

static void test_modern_has_none_of_the_methods_removed(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_asks(&host.peer, MODERN("1", "ping", ""), NOT_FOUND("1", "ping"));
    raw_asks(&host.peer, MODERN("2", "initialize", ""),
             NOT_FOUND("2", "initialize"));
    raw_asks(&host.peer, MODERN("3", "logging/setLevel", ""),
             NOT_FOUND("3", "logging/setLevel"));
    raw_asks(&host.peer, MODERN("4", "resources/subscribe", ""),
             NOT_FOUND("4", "resources/subscribe"));
    host_end(&host);
}

static void test_modern_methods_are_none_of_a_session(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_asks(&host.peer,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}",
             NOT_FOUND("1", "server/discover"));
    raw_asks(&host.peer,
             "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":"
             "\"subscriptions/listen\",\"params\":{\"notifications\":{}}}",
             NOT_FOUND("2", "subscriptions/listen"));
    host_end(&host);
}

static void check_initialize_claiming(const char *claim, const char *part)
{
    char line[512];

    host_begin_with(&host, NULL);
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
             "\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":"
             "{},\"clientInfo\":{},\"_meta\":{\"" IOMCP
             "protocolVersion\":%s,\"" IOMCP "clientCapabilities\":{}}}}",
             claim);
    raw_say(&host.peer, line);
    raw_hears_part(&host.peer, part);
    host_end(&host);
}

static void test_modern_initialize_must_claim_to_be(void **state)
{
    const char *opened = "\"protocolVersion\":\"2025-06-18\"";

    (void)state;
    check_initialize_claiming("\"2025-11-25\"", opened);
    check_initialize_claiming("\"2026-07-27\"", opened);
    check_initialize_claiming("\"latest\"", opened);
    check_initialize_claiming("7", opened);
    check_initialize_claiming("\"2026-07-28\"", "\"code\":-32601");
    check_initialize_claiming("\"2027-01-01\"", "\"code\":-32022");
}

static void test_modern_claim_may_be_spelled_with_escapes(void **state)
{
    (void)state;
    host_begin_with(&host, NULL);
    raw_asks(&host.peer,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools\\/call\","
             "\"params\":{\"n\\u0061me\":\"echo\",\"argument\\u0073\":{"
             "\"text\":\"a\"},\"\\u005fmeta\":{\"io.modelcontextprotocol\\/"
             "protocolVersion\":\"2026\\u002d07-28\","
             "\"io.modelcontextprotocol\\/clientCapabilities\":{}}}}",
             MODERN_TEXT("1", "a"));
    host_end(&host);
}

static void test_modern_request_must_not_be_in_a_batch(void **state)
{
    (void)state;
    host_begin(&host, "2025-03-26");
    raw_asks(&host.peer, "[" MODERN("1", "tools/list", "") "]",
             "[" ERROR_ANSWER("1", "-32600",
                              "\"a request with a claim must not be in a "
                              "batch\"") "]");
    host_end(&host);
}

static void test_modern_call_may_be_deferred_and_tells_progress(void **state)
{
    (void)state;
    host_begin_with(&host, NULL);
    raw_say(&host.peer,
            MODERN_META("1", "tools/call", CLAIM ",\"progressToken\":\"p\"",
                        ",\"name\":\"wait\""));
    host_kept(&host, 1);
    fl_call_progress(host.kept[0], 1, 2, "half");
    raw_hears(&host.peer,
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
              "\"params\":{\"progressToken\":\"p\",\"progress\":1,\"total\":2,"
              "\"message\":\"half\"}}");
    /* an id is taken until it is answered, whatever the era */
    raw_asks(
        &host.peer, MODERN_CALL("1", "echo", "{\"text\":\"a\"}"),
        ERROR_ANSWER("1", "-32600", "\"a request with this id is in flight\""));
    host_answer(&host, 0, "done");
    raw_hears(&host.peer, MODERN_TEXT("1", "done"));
    host_end(&host);
}

static void test_modern_call_is_cancelled_on_a_channel(void **state)
{
    (void)state;
    host_begin_with(&host, NULL);
    raw_say(&host.peer, MODERN_CALL("1", "wait", "{}"));
    host_kept(&host, 1);
    raw_say(&host.peer, CANCELLED("1"));
    io_until(host.loop, host.cancelled > 0);
    host_answer(&host, 0, "never heard");
    raw_hears_nothing(&host.peer);
    host_end(&host);
}

static void test_modern_codes_are_those_it_knows(void **state)
{
    fl_options options = {.max_in_flight = 1};

    (void)state;
    host_begin_with(&host, &options);
    raw_asks(&host.peer, MODERN_CALL("1", "error", "{}"),
             ERROR_ANSWER("1", "-32603", "\"not today\""));
    raw_say(&host.peer, MODERN_CALL("2", "wait", "{}"));
    host_kept(&host, 1);
    raw_asks(&host.peer, MODERN_CALL("3", "echo", "{\"text\":\"a\"}"),
             ERROR_ANSWER("3", "-32603",
                          "\"too many requests in flight\",\"data\":{"
                          "\"limit\":1}"));
    host_end(&host);
}

static void test_modern_stream_hung_up_on_is_a_call_cancelled(void **state)
{
    static fake_stream first, second;

    (void)state;
    fake_begin(&door, &host, FL_LINK_STATELESS, 4);
    fake_set(&door, "mcp-protocol-version", "2026-07-28");
    fake_set(&door, "mcp-method", "tools/call");
    fake_set(&door, "mcp-name", "wait");
    /* ids may be the same: the stream is what names a request */
    fake_ask(&door, &first, MODERN_CALL("1", "wait", "{}"));
    fake_ask(&door, &second, MODERN_CALL("1", "wait", "{}"));
    assert_int_equal(host.kept_count, 2);
    fake_hang_up(&door, &second);
    assert_int_equal(host.cancelled, 1);
    fake_hang_up(&door, &second); /* once more changes nothing */
    assert_int_equal(host.cancelled, 1);
    assert_true(fl_call_cancelled(host.kept[1]));
    assert_false(fl_call_cancelled(host.kept[0]));
    host_answer(&host, 1, "nobody hears");
    assert_string_equal(second.text, "");
    assert_int_equal(second.ended, 1);
    host_answer(&host, 0, "a");
    assert_string_equal(first.text, MODERN_TEXT("1", "a") "\n");
    assert_int_equal(first.ended, 1);
    fake_end(&door, &host);
}

static void test_modern_strangers_cannot_cancel_by_id(void **state)
{
    static fake_stream stream, note;

    (void)state;
    fake_begin(&door, &host, FL_LINK_STATELESS, 4);
    fake_set(&door, "mcp-protocol-version", "2026-07-28");
    fake_set(&door, "mcp-method", "tools/call");
    fake_set(&door, "mcp-name", "wait");
    fake_ask(&door, &stream, MODERN_CALL("1", "wait", "{}"));
    fake_ask(&door, &note, CANCELLED("1"));
    assert_int_equal(host.cancelled, 0);
    host_answer(&host, 0, "a");
    assert_string_equal(stream.text, MODERN_TEXT("1", "a") "\n");
    fake_end(&door, &host);
}

static void test_modern_link_without_sessions_wants_a_claim(void **state)
{
    const char *unclaimed =
        "\"code\":-32602,\"message\":\"Missing _meta io.modelcontextprotocol/"
        "protocolVersion; or send initialize\",\"data\":{\"supported\":["
        "\"2026-07-28\"]}";

    (void)state;
    fake_begin(&door, &host, FL_LINK_STATELESS, 4);
    /* told as a request that was not understood: 400, in either era */
    fake_asks_part(&door, CALL("1", "echo", "{}"), -32600, unclaimed);
    fake_asks_part(&door, INITIALIZE("1", "2025-11-25"), -32600,
                   "there are no sessions here");
    fake_asks_part(&door, CALL("1", "echo", "{}"), -32600, unclaimed);
    fake_asks(&door, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", 0,
              RESULT("1", "{}"));
    fake_end(&door, &host);
}

static void test_modern_open_link_serves_the_legacy_era_too(void **state)
{
    (void)state;
    fake_begin(&door, &host, FL_LINK_STATELESS | FL_LINK_OPEN, 4);
    fake_asks(&door, CALL("1", "echo", "{\"text\":\"a\"}"), 0,
              TEXT_ANSWER("1", "a"));
    /* of 2025-03-26: annotations, but no titles */
    fake_asks_part(
        &door, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", 0,
        "{\"tools\":[{\"name\":\"echo\",\"description\":\"Says it "
        "\\\"again\\\"\",\"inputSchema\":{\"type\":\"object\","
        "\"required\":[\"text\"]},\"annotations\":");
    fake_asks(&door, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", 0,
              RESULT("1", "{}"));
    fake_asks_part(&door, INITIALIZE("1", "2025-11-25"), -32600,
                   "there are no sessions here");
    /* what one of those who share it wants to hear is not the others' */
    fake_asks_part(&door,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"logging/"
                   "setLevel\",\"params\":{\"level\":\"emergency\"}}",
                   -32600, "there are no sessions here");
    fake_asks_part(
        &door, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}",
        -32601, "\"code\":-32601");
    fake_set(&door, "mcp-protocol-version", "2026-07-28");
    fake_set(&door, "mcp-method", "tools/call");
    fake_set(&door, "mcp-name", "echo");
    fake_asks(&door, MODERN_CALL("1", "echo", "{\"text\":\"a\"}"), 0,
              MODERN_TEXT("1", "a"));
    fake_end(&door, &host);
}

static void test_modern_session_over_http_is_like_any_other(void **state)
{
    static fake_stream first, second, note;

    (void)state;
    fake_begin(&door, &host, 0, 4);
    fake_asks_part(&door, INITIALIZE("0", "2025-06-18"), 0, "2025-06-18");
    fake_ask(&door, &note, INITIALIZED);
    fake_asks(&door, CALL("1", "echo", "{\"text\":\"a\"}"), 0,
              TEXT_ANSWER("1", "a"));
    fake_ask(&door, &first, CALL("1", "wait", "{}"));
    fake_ask(&door, &second, CALL("1", "wait", "{}"));
    assert_int_equal(host.kept_count, 2);
    fake_ask(&door, &note, CANCELLED("1"));
    assert_int_equal(host.cancelled, 1);
    fake_ask(&door, &note, CANCELLED("1")); /* the other of that id */
    assert_int_equal(host.cancelled, 2);
    fake_end(&door, &host);
}

/* What a transport with statuses of its own is told beside the answer. */
static void test_modern_method_errors_are_answers_like_any_other(void **state)
{
    static fake_stream stream;

    (void)state;
    fake_begin(&door, &host, FL_LINK_STATELESS, 1);
    fake_set(&door, "mcp-protocol-version", "2026-07-28");
    fake_set(&door, "mcp-method", "tools/call");
    fake_set(&door, "mcp-name", "nope");
    fake_asks_part(&door, MODERN_CALL("1", "nope", "{}"), 0, "unknown tool");
    fake_set(&door, "mcp-name", "echo");
    fake_asks_part(&door, MODERN_CALL("1", "echo", "{}"), 0,
                   "\"isError\":true");
    fake_set(&door, "mcp-name", "silent");
    fake_asks_part(&door, MODERN_CALL("1", "silent", "{}"), 0,
                   "\"code\":-32603");
    fake_set(&door, "mcp-name", "error");
    fake_asks_part(&door, MODERN_CALL("1", "error", "{}"), 0,
                   "\"code\":-32603");
    fake_set(&door, "mcp-name", "wait");
    fake_ask(&door, &stream, MODERN_CALL("1", "wait", "{}"));
    fake_asks_part(&door, MODERN_CALL("1", "wait", "{}"), -32010,
                   "\"code\":-32603");
    fake_set(&door, "mcp-method", "tools/none");
    fake_asks_part(&door, MODERN("1", "tools/none", ""), -32601,
                   "\"code\":-32601");
    fake_end(&door, &host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modern_needs_no_initialize),
        cmocka_unit_test(test_modern_is_served_in_every_state_of_a_session),
        cmocka_unit_test(test_modern_discovery_tells_what_changes),
        cmocka_unit_test(test_modern_lists_tools_with_hints),
        cmocka_unit_test(test_modern_stamps_what_tools_answer),
        cmocka_unit_test(test_modern_has_none_of_the_methods_removed),
        cmocka_unit_test(test_modern_methods_are_none_of_a_session),
        cmocka_unit_test(test_modern_initialize_must_claim_to_be),
        cmocka_unit_test(test_modern_claim_may_be_spelled_with_escapes),
        cmocka_unit_test(test_modern_request_must_not_be_in_a_batch),
        cmocka_unit_test(test_modern_call_may_be_deferred_and_tells_progress),
        cmocka_unit_test(test_modern_call_is_cancelled_on_a_channel),
        cmocka_unit_test(test_modern_codes_are_those_it_knows),
        cmocka_unit_test(test_modern_stream_hung_up_on_is_a_call_cancelled),
        cmocka_unit_test(test_modern_strangers_cannot_cancel_by_id),
        cmocka_unit_test(test_modern_link_without_sessions_wants_a_claim),
        cmocka_unit_test(test_modern_open_link_serves_the_legacy_era_too),
        cmocka_unit_test(test_modern_session_over_http_is_like_any_other),
        cmocka_unit_test(test_modern_method_errors_are_answers_like_any_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
