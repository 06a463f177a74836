/*
 * test_http_modern.c - Streamable HTTP of 2026-07-28: no sessions, headers that
 * repeat the body, statuses that mean something, and hanging up cancels.
 */
#include "http_host.h"

#define RUN(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static server_host host;
static http_answer answer;
static raw_peer second;

static int begin_with(const fl_options *options)
{
    http_begin(&host, options);
    second.fd = -1;
    return 0;
}

static int begin(void **state)
{
    (void)state;
    return begin_with(NULL);
}

static int finish(void **state)
{
    (void)state;
    if (second.fd >= 0)
        raw_close(&second);
    host_end(&host);
    return 0;
}

#define CALL_FIELDS(name) HTTP_MODERN("tools/call") "Mcp-Name: " name "\r\n"

static void post(const char *fields, const char *body, int status,
                 const char *part)
{
    http_post(&host.peer, fields, body);
    http_hear(&host.peer, &answer);
    if (answer.status != status || strstr(answer.body, part) == NULL)
        fail_msg("want %d with '%s', got %d: %s", status, part, answer.status,
                 answer.body);
}

#define ECHO_1 HTTP_MODERN_CALL("1", "echo", "{\"text\":\"hi\"}")

static void test_modern_call_needs_no_session(void **state)
{
    (void)state;
    post(CALL_FIELDS("echo"), ECHO_1, 200, "\"text\":\"hi\"");
    assert_non_null(strstr(answer.body, "\"resultType\":\"complete\""));
    assert_string_equal(http_field(&answer, "mcp-session-id"), "");
}

static void test_modern_request_ignores_a_session(void **state)
{
    (void)state;
    post(CALL_FIELDS("echo") "Mcp-Session-Id: nobody\r\n"
                             "Last-Event-ID: 1-1\r\n",
         ECHO_1, 200, "\"text\":\"hi\"");
}

static void test_headers_must_repeat_the_body(void **state)
{
    (void)state;
    post("Mcp-Method: tools/call\r\nMcp-Name: echo\r\n", ECHO_1, 400, "-32020");
    post("MCP-Protocol-Version: 2025-11-25\r\nMcp-Method: tools/call\r\n"
         "Mcp-Name: echo\r\n",
         ECHO_1, 400, "-32020");
    post("MCP-Protocol-Version: 2026-07-28\r\nMcp-Name: echo\r\n", ECHO_1, 400,
         "-32020");
    post(HTTP_MODERN("tools/list") "Mcp-Name: echo\r\n", ECHO_1, 400, "-32020");
    post(HTTP_MODERN("tools/call"), ECHO_1, 400, "-32020");
    post(CALL_FIELDS("add"), ECHO_1, 400, "-32020");
    assert_non_null(strstr(answer.body, "\"id\":1,"));
    post(CALL_FIELDS("=?base64?ZWNobw==?="), ECHO_1, 200, "\"text\":\"hi\"");
}

static void test_statuses_of_what_is_not_understood(void **state)
{
    (void)state;
    post(HTTP_MODERN("no/such"),
         "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"no/"
         "such\",\"params\":{" HTTP_META("") "}}",
         404, "-32601");
    post("MCP-Protocol-Version: 1900-01-01\r\nMcp-Method: tools/list\r\n",
         "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":{"
         "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
         "\"1900-01-01\",\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
         400, "-32022");
    assert_non_null(strstr(answer.body, "\"2026-07-28\""));
    post(HTTP_MODERN("tools/list"),
         "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":{"
         "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
         "\"2026-07-28\"}}}",
         400, "-32602");
    post("MCP-Protocol-Version: 2026-07-28\r\n",
         "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\"}", 400,
         "-32602");
}

static void test_notification_is_accepted_and_means_nothing(void **state)
{
    (void)state;
    http_post(&host.peer, "MCP-Protocol-Version: 2026-07-28\r\n",
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}");
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 202);
}

static void test_discover_is_answered(void **state)
{
    (void)state;
    post(HTTP_MODERN("server/discover"),
         "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"server/discover\","
         "\"params\":{" HTTP_META("") "}}",
         200, "\"supportedVersions\":[\"2026-07-28\"]");
}

static void wait_for_stream(void)
{
    http_post(&host.peer, CALL_FIELDS("wait"),
              HTTP_MODERN_CALL("1", "wait", "{}"));
    host_kept(&host, 1);
}

static void test_hanging_up_cancels(void **state)
{
    (void)state;
    host.answer_cancelled = true;
    wait_for_stream();
    io_some_turns(host.loop);
    host.now += 300;
    http_hear_head(&host.peer, &answer);
    raw_close(&host.peer);
    io_until(host.loop, host.cancelled == 1);
    host_dial(&host, &host.peer);
}

static void test_hanging_up_on_a_late_handler_leaks_nothing(void **state)
{
    (void)state;
    wait_for_stream();
    raw_close(&host.peer);
    io_until(host.loop, (host.now += 100, host.cancelled == 1));
    io_until(host.loop, fl_server_links(host.server) == 0);
    host_dial(&host, &host.peer); /* and the handler answers at the end */
}

static void test_stream_has_neither_ids_nor_priming(void **state)
{
    (void)state;
    wait_for_stream();
    io_some_turns(host.loop);
    host.now += 300;
    http_hear_head(&host.peer, &answer);
    raw_hears_nothing(&host.peer);
    host_answer(&host, 0, "done");
    assert_int_equal(strncmp(http_hear_event(&host.peer, &answer),
                             "event: message\ndata: {", 22),
                     0);
    assert_false(http_hear_chunk(&host.peer, &answer));
}

static void test_listen_brings_list_changes(void **state)
{
    fl_tool tool = {.name = "late", .call = tool_echo};

    (void)state;
    http_post(&host.peer, HTTP_MODERN("subscriptions/listen"),
              "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":"
              "\"subscriptions/listen\",\"params\":{\"notifications\":{"
              "\"toolsListChanged\":true}," HTTP_META("") "}}");
    http_hear_head(&host.peer, &answer);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(http_hear_event(&host.peer, &answer),
                           "notifications/subscriptions/acknowledged"));
    assert_int_equal(fl_server_add_tool(host.server, &tool), FL_OK);
    assert_non_null(strstr(http_hear_event(&host.peer, &answer),
                           "notifications/tools/list_changed"));
    raw_close(&host.peer);
    io_until(host.loop, fl_server_links(host.server) == 0);
    host_dial(&host, &host.peer);
}

static void test_both_eras_live_on_one_connection(void **state)
{
    char fields[256];

    (void)state;
    http_open_session(&host.peer, "2025-11-25", fields);
    post(CALL_FIELDS("echo"), ECHO_1, 200, "resultType");
    post(fields, CALL("1", "echo", "{\"text\":\"old\"}"), 200, "\"old\"");
    assert_null(strstr(answer.body, "resultType"));
    assert_int_equal(fl_server_links(host.server), 2);
}

static void test_initialize_with_a_modern_version_is_legacy(void **state)
{
    (void)state;
    post("", INITIALIZE("0", "2026-07-28"), 200,
         "\"protocolVersion\":\"2025-11-25\"");
    assert_int_equal(strlen(http_field(&answer, "mcp-session-id")), 22);
}

static void test_stateless_server_asks_for_no_session(void **state)
{
    (void)state;
    finish(NULL);
    begin_with(&(fl_options){.http.stateless = true});
    post("", CALL("1", "echo", "{\"text\":\"hi\"}"), 200, "\"text\":\"hi\"");
    http_send(&host.peer, "POST", "/mcp",
              "Content-Type: application/json\r\nAccept: application/json\r\n",
              CALL("1", "echo", "{\"text\":\"hi\"}"));
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 200);
}

static void test_result_is_an_event_for_who_likes_events_better(void **state)
{
    static const char *const accept[] = {
        "text/event-stream, application/json",
        "application/json;q=0.5, text/event-stream",
    };
    char fields[512];

    (void)state;
    for (size_t i = 0; i < sizeof accept / sizeof *accept; i++) {
        snprintf(fields, sizeof fields,
                 "Content-Type: application/json\r\nAccept: %s\r\n" CALL_FIELDS(
                     "echo"),
                 accept[i]);
        http_send(&host.peer, "POST", "/mcp", fields, ECHO_1);
        http_hear_head(&host.peer, &answer);
        assert_string_equal(http_field(&answer, "content-type"),
                            "text/event-stream");
        assert_non_null(
            strstr(http_hear_event(&host.peer, &answer), "\"text\":\"hi\""));
        assert_false(http_hear_chunk(&host.peer, &answer));
    }
}

static void test_error_is_json_whatever_is_liked_better(void **state)
{
    (void)state;
    http_send(&host.peer, "POST", "/mcp",
              "Content-Type: application/json\r\n"
              "Accept: text/event-stream, application/json\r\n" HTTP_MODERN(
                  "no/such"),
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\","
              "\"params\":{" HTTP_META("") "}}");
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 404);
    assert_string_equal(http_field(&answer, "content-type"),
                        "application/json");
}

static void test_streaming_dialect_ends_with_complete(void **state)
{
    (void)state;
    finish(NULL);
    begin_with(
        &(fl_options){.http.stateless = true, .http.streaming_dialect = true});
    http_send(&host.peer, "POST", "/mcp",
              "Content-Type: application/json\r\nAccept: text/event-stream\r\n",
              CALL("1", "echo", "{\"text\":\"hi\"}"));
    http_hear_head(&host.peer, &answer);
    assert_string_equal(
        http_hear_event(&host.peer, &answer),
        "event: complete\ndata: " TEXT_ANSWER("1", "hi") "\n\n");
    assert_false(http_hear_chunk(&host.peer, &answer));
    http_send(&host.peer, "POST", "/mcp",
              "Content-Type: application/json\r\nAccept: text/event-stream\r\n",
              CALL("1", "nope", "{}"));
    http_hear_head(&host.peer, &answer);
    assert_int_equal(strncmp(http_hear_event(&host.peer, &answer),
                             "event: error\ndata: {", 20),
                     0);
    assert_false(http_hear_chunk(&host.peer, &answer));
}

static void test_unguessed_connection_ends_with_the_server(void **state)
{
    (void)state;
    post(CALL_FIELDS("echo"), ECHO_1, 200, "");
    wait_for_stream();
    fl_server_close(host.server, 0, host_closed, &host);
    http_hear(&host.peer, &answer);
    assert_true(answer.status == 503 || answer.status == 200);
    raw_hears_end(&host.peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(test_modern_call_needs_no_session),
        RUN(test_modern_request_ignores_a_session),
        RUN(test_headers_must_repeat_the_body),
        RUN(test_statuses_of_what_is_not_understood),
        RUN(test_notification_is_accepted_and_means_nothing),
        RUN(test_discover_is_answered),
        RUN(test_hanging_up_cancels),
        RUN(test_hanging_up_on_a_late_handler_leaks_nothing),
        RUN(test_stream_has_neither_ids_nor_priming),
        RUN(test_listen_brings_list_changes),
        RUN(test_both_eras_live_on_one_connection),
        RUN(test_initialize_with_a_modern_version_is_legacy),
        RUN(test_stateless_server_asks_for_no_session),
        RUN(test_result_is_an_event_for_who_likes_events_better),
        RUN(test_error_is_json_whatever_is_liked_better),
        RUN(test_streaming_dialect_ends_with_complete),
        RUN(test_unguessed_connection_ends_with_the_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
