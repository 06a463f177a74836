/*
 * test_http_sse.c - HTTP+SSE of 2024-11-05: a stream to hear on, a place to
 * post to.
 */
#include "http_host.h"

#define RUN(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static server_host host;
static http_answer answer;
static raw_peer poster;
static char target[128];

static int begin_with(const fl_options *options)
{
    http_begin(&host, options);
    host_dial(&host, &poster);
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
    if (poster.fd >= 0)
        raw_close(&poster);
    host_end(&host);
    return 0;
}

static void open_stream(const char *path)
{
    static const char start[] = "event: endpoint\ndata: /messages?sessionId=";

    http_get(&host.peer, path, "");
    http_hear_head(&host.peer, &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(http_field(&answer, "content-type"),
                        "text/event-stream");
    const char *event = http_hear_event(&host.peer, &answer);
    assert_int_equal(strncmp(event, start, sizeof start - 1), 0);
    snprintf(target, sizeof target, "%.*s",
             (int)strcspn(event + strlen("event: endpoint\ndata: "), "\n"),
             event + strlen("event: endpoint\ndata: "));
}

static void post(const char *body, int status)
{
    static http_answer said;

    http_send(&poster, "POST", target, "Content-Type: application/json\r\n",
              body);
    http_hear(&poster, &said);
    assert_int_equal(said.status, status);
}

static void hears(const char *message)
{
    char want[1024];

    snprintf(want, sizeof want, "event: message\ndata: %s\n\n", message);
    assert_string_equal(http_hear_event(&host.peer, &answer), want);
}

static void greet(void)
{
    post(INITIALIZE("0", "2024-11-05"), 202);
    assert_non_null(strstr(http_hear_event(&host.peer, &answer),
                           "\"protocolVersion\":\"2024-11-05\""));
    post(INITIALIZED, 202);
}

static void test_answers_come_on_the_stream(void **state)
{
    (void)state;
    open_stream("/sse");
    greet();
    post(CALL("\"1\"", "echo", "{\"text\":\"hi\"}"), 202);
    hears(TEXT_ANSWER("\"1\"", "hi"));
}

static void told(const char *base, const char *want)
{
    finish(NULL);
    begin_with(&(fl_options){.http.base_url = base});
    http_get(&host.peer, "/sse", "");
    http_hear_head(&host.peer, &answer);
    const char *event = http_hear_event(&host.peer, &answer);
    if (strncmp(event, want, strlen(want)) != 0)
        fail_msg("want '%s', got '%s'", want, event);
}

static void test_a_base_comes_before_the_path(void **state)
{
    (void)state;
    told("https://example.org/gate",
         "event: endpoint\n"
         "data: https://example.org/gate/messages?sessionId=");
    told("https://example.org:8443/",
         "event: endpoint\n"
         "data: https://example.org:8443/messages?sessionId=");
}

static void test_plain_get_on_the_endpoint_opens_one_too(void **state)
{
    (void)state;
    open_stream("/mcp");
    greet();
    post(CALL("1", "echo", "{\"text\":\"hi\"}"), 202);
    hears(TEXT_ANSWER("1", "hi"));
}

static void test_list_changes_come_on_the_stream(void **state)
{
    fl_tool tool = {.name = "late", .call = tool_echo};

    (void)state;
    open_stream("/sse");
    greet();
    io_some_turns(host.loop);
    assert_int_equal(fl_server_add_tool(host.server, &tool), FL_OK);
    hears("{\"jsonrpc\":\"2.0\",\"method\":"
          "\"notifications/tools/list_changed\"}");
}

static void test_conversation_ends_with_its_stream(void **state)
{
    (void)state;
    open_stream("/sse");
    greet();
    post(CALL("1", "wait", "{}"), 202);
    host_kept(&host, 1);
    assert_int_equal(fl_server_links(host.server), 1);
    raw_close(&host.peer);
    io_until(host.loop, fl_server_links(host.server) == 0);
    assert_int_equal(host.cancelled, 1);
    post(CALL("2", "echo", "{\"text\":\"x\"}"), 404);
    host_dial(&host, &host.peer);
}

static void test_post_to_nobody_is_refused(void **state)
{
    (void)state;
    open_stream("/sse");
    snprintf(target, sizeof target, "/messages?sessionId=0123");
    post(CALL("2", "echo", "{\"text\":\"x\"}"), 404);
    snprintf(target, sizeof target, "/messages");
    post(CALL("2", "echo", "{\"text\":\"x\"}"), 404);
}

static void test_bad_message_is_refused_where_it_was_posted(void **state)
{
    (void)state;
    open_stream("/sse");
    post("{", 400);
    post("{\"id\":1}", 400);
    raw_hears_nothing(&host.peer);
}

static void test_session_of_one_kind_is_none_of_the_other(void **state)
{
    char fields[256];

    (void)state;
    http_open_session(&host.peer, "2025-11-25", fields);
    snprintf(target, sizeof target, "/messages?sessionId=%.22s",
             fields + strlen("Mcp-Session-Id: "));
    post(CALL("2", "echo", "{\"text\":\"x\"}"), 404);
}

static void test_stream_is_kept_alive(void **state)
{
    (void)state;
    open_stream("/sse");
    io_some_turns(host.loop);
    host.now += 15000;
    assert_string_equal(http_hear_event(&host.peer, &answer),
                        ": keep-alive\n\n");
}

static void test_dialect_names_its_events(void **state)
{
    (void)state;
    finish(NULL);
    begin_with(&(fl_options){.http.event_types = true});
    open_stream("/sse");
    greet();
    post(CALL("1", "nope", "{}"), 202);
    assert_int_equal(strncmp(http_hear_event(&host.peer, &answer),
                             "event: error\ndata: {", 20),
                     0);
    io_some_turns(host.loop);
    host.now += 15000;
    assert_string_equal(http_hear_event(&host.peer, &answer),
                        "event: keepalive\ndata: {}\n\n");
}

static void test_it_can_be_switched_off(void **state)
{
    (void)state;
    finish(NULL);
    begin_with(&(fl_options){.http.no_sse = true});
    http_get(&host.peer, "/sse", "");
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 404);
    http_get(&host.peer, "/mcp", "");
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 405);
    assert_string_equal(http_field(&answer, "allow"), "POST, DELETE, OPTIONS");
}

static void test_address_of_its_own_serves_nothing_else(void **state)
{
    (void)state;
    http_listen(&host, "sse+http://127.0.0.1:0/events", NULL);
    raw_close(&host.peer);
    raw_close(&poster);
    host_dial(&host, &host.peer);
    host_dial(&host, &poster);
    open_stream("/events");
    greet();
    http_post(&poster, "", INITIALIZE("1", "2025-11-25"));
    http_hear(&poster, &answer);
    assert_int_equal(answer.status, 404);
}

static void test_sessions_are_counted(void **state)
{
    (void)state;
    finish(NULL);
    begin_with(&(fl_options){.http.max_sessions = 1});
    open_stream("/sse");
    http_get(&poster, "/sse", "");
    http_hear(&poster, &answer);
    assert_int_equal(answer.status, 503);
}

static void test_closing_server_ends_the_stream(void **state)
{
    (void)state;
    open_stream("/sse");
    fl_server_close(host.server, 0, host_closed, &host);
    assert_false(http_hear_chunk(&host.peer, &answer));
    raw_hears_end(&host.peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(test_answers_come_on_the_stream),
        RUN(test_a_base_comes_before_the_path),
        RUN(test_plain_get_on_the_endpoint_opens_one_too),
        RUN(test_list_changes_come_on_the_stream),
        RUN(test_conversation_ends_with_its_stream),
        RUN(test_post_to_nobody_is_refused),
        RUN(test_bad_message_is_refused_where_it_was_posted),
        RUN(test_session_of_one_kind_is_none_of_the_other),
        RUN(test_stream_is_kept_alive),
        RUN(test_dialect_names_its_events),
        RUN(test_it_can_be_switched_off),
        RUN(test_address_of_its_own_serves_nothing_else),
        RUN(test_sessions_are_counted),
        RUN(test_closing_server_ends_the_stream),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
