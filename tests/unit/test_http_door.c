/*
 * test_http_door.c - who is let in, and what the others are told.
 */
#include "http_host.h"

#define RUN(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static server_host host;
static http_answer answer;
static raw_peer second, third;

static int begin_with(const fl_options *options)
{
    http_begin(&host, options);
    second.fd = third.fd = -1;
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
    if (third.fd >= 0)
        raw_close(&third);
    host_end(&host);
    return 0;
}

/* The rest of a test needs other options than the default ones. */
static void restart(const fl_options *options)
{
    finish(NULL);
    begin_with(options);
}

static void expect(int status, const char *part)
{
    http_hear(&host.peer, &answer);
    if (answer.status != status || strstr(answer.body, part) == NULL)
        fail_msg("want %d with '%s', got %d: %s", status, part, answer.status,
                 answer.body);
    if (answer.len > 0) {
        assert_string_equal(http_field(&answer, "content-type"),
                            "application/json");
        assert_non_null(strstr(answer.body, "\"jsonrpc\":\"2.0\""));
    }
}

static void send_raw(const char *text)
{
    raw_put(&host.peer, text, strlen(text));
}

#define CALL_1 CALL("1", "echo", "{\"text\":\"hi\"}")

static void test_door_knows_its_paths(void **state)
{
    (void)state;
    http_send(&host.peer, "POST", "/other", HTTP_POST_FIELDS, CALL_1);
    expect(404, "path");
    http_send(&host.peer, "POST", "/mcp/", HTTP_POST_FIELDS, CALL_1);
    expect(404, "path");
    http_send(&host.peer, "POST", "/mcp?x=1", HTTP_POST_FIELDS, CALL_1);
    expect(400, "initialize");
}

static void test_door_knows_its_methods(void **state)
{
    (void)state;
    http_send(&host.peer, "PUT", "/mcp", HTTP_POST_FIELDS, CALL_1);
    expect(405, "method");
    assert_string_equal(http_field(&answer, "allow"),
                        "GET, POST, DELETE, OPTIONS");
    http_send(&host.peer, "POST", "/sse", HTTP_POST_FIELDS, CALL_1);
    expect(405, "method");
    assert_string_equal(http_field(&answer, "allow"), "GET, OPTIONS");
    http_send(&host.peer, "GET", "/messages", "", "");
    expect(405, "method");
    http_send(&host.peer, "GET", "/mcp", "Accept: text/html\r\n", "");
    expect(405, "text/event-stream");
    http_send(&host.peer, "GET", "/mcp", "", "");
    expect(405, "text/event-stream");
}

static void test_door_reads_json_alone(void **state)
{
    (void)state;
    http_send(&host.peer, "POST", "/mcp", "Content-Type: text/plain\r\n",
              CALL_1);
    expect(415, "application/json");
    http_send(&host.peer, "POST", "/mcp", "", CALL_1);
    expect(415, "application/json");
    http_send(&host.peer, "POST", "/mcp",
              "Content-Type: application/json; charset=utf-8\r\n", CALL_1);
    expect(400, "initialize");
    http_send(&host.peer, "POST", "/mcp",
              HTTP_POST_FIELDS "Content-Encoding: br\r\n", CALL_1);
    expect(415, "gzip");
    assert_string_equal(http_field(&answer, "accept-encoding"),
                        "gzip, deflate, identity");
}

static void test_door_wants_both_forms_accepted(void **state)
{
    static const char *const bad[] = {
        "application/json",
        "text/event-stream",
        "text/html",
        "application/json, text/event-stream;q=0",
    };
    static const char *const good[] = {
        "*/*",
        "application/json, text/event-stream",
        "text/*, application/*;q=0.1",
    };
    char fields[256];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(fields, sizeof fields,
                 "Content-Type: application/json\r\nAccept: %s\r\n", bad[i]);
        http_send(&host.peer, "POST", "/mcp", fields, CALL_1);
        expect(406, "Accept");
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(fields, sizeof fields,
                 "Content-Type: application/json\r\nAccept: %s\r\n", good[i]);
        http_send(&host.peer, "POST", "/mcp", fields, CALL_1);
        expect(400, "initialize");
    }
}

static void test_door_tells_bad_messages(void **state)
{
    (void)state;
    http_post(&host.peer, "", "{\"jsonrpc\":");
    expect(400, "-32700");
    http_post(&host.peer, "", "");
    expect(400, "-32700");
    http_post(&host.peer, "", "\"\xff\"");
    expect(400, "-32700");
    http_post(&host.peer, "",
              "{\"jsonrpc\":\"1.0\",\"id\":4,\"method\":\"x\"}");
    expect(400, "\"id\":4,\"error\":{\"code\":-32600");
    http_post(&host.peer, "", "[]");
    expect(400, "-32600");
    http_post(&host.peer, "", "[" CALL_1 "]");
    expect(400, "-32600");
}

static void test_stranger_s_page_is_turned_away(void **state)
{
    (void)state;
    http_post(&host.peer, "Origin: https://evil.example\r\n", CALL_1);
    expect(403, "--allow-origin");
    assert_string_equal(http_field(&answer, "access-control-allow-origin"), "");
    http_post(&host.peer, "Origin: http://localhost.evil.example\r\n", CALL_1);
    expect(403, "--allow-origin");
    http_post(&host.peer, "Origin: null\r\n", CALL_1);
    expect(403, "--allow-origin");
    http_post(&host.peer, "Origin: http://localhost:3000\r\n", CALL_1);
    expect(400, "initialize");
    assert_string_equal(http_field(&answer, "access-control-allow-origin"),
                        "http://localhost:3000");
    assert_string_equal(http_field(&answer, "vary"), "Origin");
    assert_non_null(strstr(http_field(&answer, "access-control-expose-headers"),
                           "Mcp-Session-Id"));
}

static void test_rebound_name_is_turned_away(void **state)
{
    (void)state;
    send_raw("POST /mcp HTTP/1.1\r\nHost: evil.example\r\n" HTTP_POST_FIELDS
             "Content-Length: 2\r\n\r\n{}");
    expect(421, "--allow-host");
    send_raw("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:99\r\n" HTTP_POST_FIELDS
             "Content-Length: 2\r\n\r\n{}");
    expect(400, "-32600");
}

static void test_allowed_pages_and_names_come_in(void **state)
{
    const char *const origins[] = {"https://*.example.org", NULL};
    const char *const hosts[] = {"mcp.example.org", NULL};

    (void)state;
    restart(&(fl_options){.http.allow_origins = origins,
                          .http.allow_hosts = hosts});
    send_raw("POST /mcp HTTP/1.1\r\nHost: mcp.example.org\r\nOrigin: "
             "https://app.example.org\r\n" HTTP_POST_FIELDS
             "Content-Length: 2\r\n\r\n{}");
    expect(400, "-32600");
    assert_string_equal(http_field(&answer, "access-control-allow-origin"),
                        "https://app.example.org");
}

static void test_preflight_is_answered(void **state)
{
    (void)state;
    http_send(
        &host.peer, "OPTIONS", "/mcp",
        "Origin: http://localhost:3000\r\n"
        "Access-Control-Request-Method: POST\r\n"
        "Access-Control-Request-Headers: content-type, mcp-param-city\r\n",
        "");
    expect(204, "");
    assert_string_equal(http_field(&answer, "access-control-allow-origin"),
                        "http://localhost:3000");
    assert_string_equal(http_field(&answer, "access-control-allow-methods"),
                        "GET, POST, DELETE, OPTIONS");
    assert_string_equal(http_field(&answer, "access-control-allow-headers"),
                        "content-type, mcp-param-city");
    http_send(&host.peer, "OPTIONS", "/mcp",
              "Origin: https://evil.example\r\n"
              "Access-Control-Request-Method: POST\r\n",
              "");
    expect(403, "");
    assert_string_equal(http_field(&answer, "access-control-allow-methods"),
                        "");
}

static void test_more_headers_are_for_pages(void **state)
{
    const char *const send[] = {"X-Team", "X-Trace", NULL};
    const char *const read[] = {"X-Cost", NULL};

    (void)state;
    restart(
        &(fl_options){.http.allow_headers = send, .http.expose_headers = read});
    http_send(&host.peer, "OPTIONS", "/mcp",
              "Origin: http://localhost:3000\r\n"
              "Access-Control-Request-Method: POST\r\n",
              "");
    expect(204, "");
    assert_string_equal(
        http_field(&answer, "access-control-allow-headers"),
        "Accept, Authorization, Content-Type, Last-Event-ID, Mcp-Session-Id, "
        "MCP-Protocol-Version, Mcp-Method, Mcp-Name, X-API-Key, X-Request-Id, "
        "X-Team, X-Trace");
    http_post(&host.peer, "Origin: http://localhost:3000\r\n", CALL_1);
    expect(400, "initialize");
    assert_string_equal(http_field(&answer, "access-control-expose-headers"),
                        "Mcp-Session-Id, MCP-Protocol-Version, Retry-After, "
                        "WWW-Authenticate, X-Request-Id, X-Cost");
}

static void test_request_id_comes_back(void **state)
{
    (void)state;
    http_post(&host.peer, "X-Request-Id: abc-1\r\n", CALL_1);
    expect(400, "");
    assert_string_equal(http_field(&answer, "x-request-id"), "abc-1");
    http_post(&host.peer, "", CALL_1);
    expect(400, "");
    assert_true(strlen(http_field(&answer, "x-request-id")) > 8);
}

static void
test_message_over_the_limit_is_refused_before_it_is_read(void **state)
{
    char body[202];

    (void)state;
    restart(&(fl_options){.max_message = 200});
    memset(body, ' ', sizeof body);
    memcpy(body, "{}", 2);
    body[200] = '\0';
    http_post(&host.peer, "", body);
    expect(400, "-32600"); /* at the limit it is read */
    send_raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\n" HTTP_POST_FIELDS
             "Content-Length: 201\r\n\r\n");
    expect(413, "{\"limit\":200}");
    assert_non_null(strstr(answer.body, "-32012"));
}

static void test_chunked_message_over_the_limit_is_cut_short(void **state)
{
    (void)state;
    restart(&(fl_options){.max_message = 100});
    send_raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\n" HTTP_POST_FIELDS
             "MCP-Protocol-Version: 2026-07-28\r\n"
             "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 10; i++)
        send_raw("a\r\n          \r\n");
    send_raw("1\r\n \r\n");
    expect(413, "{\"limit\":100}");
    assert_non_null(strstr(answer.body, "-32600"));
}

static void test_slow_head_is_given_up(void **state)
{
    (void)state;
    send_raw("POST /mcp HTTP/1.1\r\nHost: local");
    io_some_turns(host.loop);
    host.now += 9000;
    io_some_turns(host.loop);
    send_raw("h"); /* a byte now and then does not help */
    io_some_turns(host.loop);
    host.now += 1100;
    expect(408, "head");
    raw_hears_end(&host.peer);
}

static void test_slow_body_is_given_up(void **state)
{
    (void)state;
    send_raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\n" HTTP_POST_FIELDS
             "Content-Length: 100\r\n\r\n{");
    io_some_turns(host.loop);
    host.now += 29000;
    send_raw(" ");
    io_some_turns(host.loop);
    host.now += 1100;
    expect(408, "{\"limit\":30000}");
    raw_hears_end(&host.peer);
}

static void test_silent_connection_is_closed(void **state)
{
    (void)state;
    io_some_turns(host.loop);
    host.now += 30100;
    raw_hears_end(&host.peer);
}

static void test_idle_connection_is_closed(void **state)
{
    (void)state;
    http_post(&host.peer, "", CALL_1);
    expect(400, "");
    io_some_turns(host.loop);
    host.now += 299000;
    http_post(&host.peer, "", CALL_1);
    expect(400, "");
    io_some_turns(host.loop);
    host.now += 299000;
    io_some_turns(host.loop);
    raw_hears_nothing(&host.peer);
    host.now += 2000;
    raw_hears_end(&host.peer);
}

static void test_connection_too_many_is_told(void **state)
{
    (void)state;
    restart(&(fl_options){.max_connections = 1});
    http_post(&host.peer, "", CALL_1);
    expect(400, "");
    host_dial(&host, &second);
    http_post(&second, "", CALL_1);
    http_hear(&second, &answer);
    assert_int_equal(answer.status, 503);
    assert_non_null(strstr(answer.body, "{\"limit\":1}"));
    assert_string_equal(http_field(&answer, "retry-after"), "1");
    raw_hears_end(&second);
    raw_close(&host.peer);
    io_some_turns(host.loop);
    host_dial(&host, &host.peer);
    http_post(&host.peer, "", CALL_1);
    expect(400, "");
}

static void test_address_with_too_many_connections_is_told(void **state)
{
    (void)state;
    restart(&(fl_options){.http.max_connections_per_address = 1});
    http_post(&host.peer, "", CALL_1);
    expect(400, "");
    host_dial(&host, &second);
    http_post(&second, "", CALL_1);
    http_hear(&second, &answer);
    assert_int_equal(answer.status, 503);
    assert_non_null(strstr(answer.body, "max_connections_per_address"));
}

static void test_address_that_comes_too_often_is_told(void **state)
{
    (void)state;
    restart(&(fl_options){.max_per_second = 1});
    http_post(&host.peer, "", CALL_1);
    expect(400, "");
    host_dial(&host, &second);
    http_post(&second, "", CALL_1);
    http_hear(&second, &answer);
    assert_int_equal(answer.status, 429);
    assert_string_equal(http_field(&answer, "retry-after"), "1");
}

static void test_session_too_many_is_told(void **state)
{
    char fields[256];

    (void)state;
    restart(&(fl_options){.http.max_sessions = 2});
    http_open_session(&host.peer, "2025-11-25", fields);
    http_open_session(&host.peer, "2025-11-25", fields);
    http_post(&host.peer, "", INITIALIZE("1", "2025-11-25"));
    expect(503, "max_sessions");
    /* one that nobody has used for a minute makes room */
    host.now += 61000;
    io_some_turns(host.loop);
    http_open_session(&host.peer, "2025-11-25", fields);
    assert_int_equal(fl_server_links(host.server), 2);
}

#define FROM_60K                                                               \
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" HTTP_POST_FIELDS               \
    "Content-Length: 65000\r\n\r\n"

static void test_memory_budget_refuses_what_is_new(void **state)
{
    static char part[60 * 1024];

    (void)state;
    restart(&(fl_options){.http.memory_budget = 64 * 1024});
    host_dial(&host, &second);
    raw_put(&second, FROM_60K, strlen(FROM_60K));
    http_post(&host.peer, "", CALL_1); /* to say a length takes nothing */
    expect(400, "initialize");
    memset(part, ' ', sizeof part);
    raw_put(&second, part, sizeof part);
    io_some_turns(host.loop);
    http_post(&host.peer, "", CALL_1);
    expect(503, "memory_budget");
    assert_string_equal(http_field(&answer, "retry-after"), "1");
    raw_close(&second);
    io_some_turns(host.loop);
    second.fd = -1;
    http_post(&host.peer, "", CALL_1);
    expect(400, "initialize");
}

/* What unpacks takes memory as well, from the first byte on. */
static void test_memory_budget_counts_what_unpacks(void **state)
{
    static const char head[] =
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" HTTP_POST_FIELDS
        "Content-Encoding: gzip\r\nContent-Length: 100\r\n\r\n";

    (void)state;
    restart(&(fl_options){.http.memory_budget = 64 * 1024});
    host_dial(&host, &second);
    raw_put(&second, head, sizeof head - 1);
    host_dial(&host, &third);
    raw_put(&third, head, sizeof head - 1);
    io_some_turns(host.loop);
    http_post(&host.peer, "", CALL_1); /* to say so takes nothing */
    expect(400, "initialize");
    raw_put(&second, "\x1f\x8b\x08", 3);
    io_some_turns(host.loop);
    raw_put(&third, "\x1f\x8b\x08", 3);
    http_hear(&third, &answer);
    assert_int_equal(answer.status, 503);
    assert_non_null(strstr(answer.body, "memory_budget"));
    http_post(&host.peer, "", CALL_1);
    expect(400, "initialize"); /* there is room for one */
}

#define BOTH_LENGTHS                                                           \
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"           \
    "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"

static void test_bad_http_is_told_and_ends(void **state)
{
    static const char *const bad[] = {
        BOTH_LENGTHS,
        "POST /mcp HTTP/1.1\nHost: localhost\n\n",
        "POST  /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "POST /mcp HTTP/1.1\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX : y\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        host_dial(&host, &second);
        raw_put(&second, bad[i], strlen(bad[i]));
        http_hear(&second, &answer);
        assert_int_equal(answer.status, 400);
        raw_hears_end(&second);
        raw_close(&second);
    }
    second.fd = -1;
}

static void test_head_over_the_limit_is_refused(void **state)
{
    char text[1024];

    (void)state;
    restart(&(fl_options){.http.max_head = 512});
    int n = snprintf(text, sizeof text,
                     "GET /x HTTP/1.1\r\nHost: localhost\r\nX: ");
    memset(text + n, 'a', 600);
    raw_put(&host.peer, text, (size_t)n + 600);
    expect(431, "");
    raw_hears_end(&host.peer);
}

static void test_requests_in_a_row_are_answered_in_order(void **state)
{
    char fields[256], text[4096];

    (void)state;
    http_open_session(&host.peer, "2025-11-25", fields);
    int n = 0;
    for (int i = 0; i < 3; i++) {
        char body[256];
        snprintf(body, sizeof body, CALL("%d", "echo", "{\"text\":\"n%d\"}"), i,
                 i);
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
                      "%s" HTTP_POST_FIELDS "Content-Length: %zu\r\n\r\n%s",
                      fields, strlen(body), body);
    }
    raw_put(&host.peer, text, (size_t)n);
    for (int i = 0; i < 3; i++) {
        char want[32];
        snprintf(want, sizeof want, "\"n%d\"", i);
        expect(200, want);
    }
}

static void test_request_behind_one_that_waits_is_held(void **state)
{
    char fields[256];

    (void)state;
    http_open_session(&host.peer, "2025-11-25", fields);
    http_post(&host.peer, fields, CALL("1", "wait", "{}"));
    http_post(&host.peer, fields, CALL("2", "echo", "{\"text\":\"b\"}"));
    host_kept(&host, 1);
    io_some_turns(host.loop);
    host_answer(&host, 0, "a");
    expect(200, "\"a\"");
    expect(200, "\"b\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(test_door_knows_its_paths),
        RUN(test_door_knows_its_methods),
        RUN(test_door_reads_json_alone),
        RUN(test_door_wants_both_forms_accepted),
        RUN(test_door_tells_bad_messages),
        RUN(test_stranger_s_page_is_turned_away),
        RUN(test_rebound_name_is_turned_away),
        RUN(test_allowed_pages_and_names_come_in),
        RUN(test_preflight_is_answered),
        RUN(test_more_headers_are_for_pages),
        RUN(test_request_id_comes_back),
        RUN(test_message_over_the_limit_is_refused_before_it_is_read),
        RUN(test_chunked_message_over_the_limit_is_cut_short),
        RUN(test_slow_head_is_given_up),
        RUN(test_slow_body_is_given_up),
        RUN(test_silent_connection_is_closed),
        RUN(test_idle_connection_is_closed),
        RUN(test_connection_too_many_is_told),
        RUN(test_address_with_too_many_connections_is_told),
        RUN(test_address_that_comes_too_often_is_told),
        RUN(test_session_too_many_is_told),
        RUN(test_memory_budget_refuses_what_is_new),
        RUN(test_memory_budget_counts_what_unpacks),
        RUN(test_bad_http_is_told_and_ends),
        RUN(test_head_over_the_limit_is_refused),
        RUN(test_requests_in_a_row_are_answered_in_order),
        RUN(test_request_behind_one_that_waits_is_held),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
