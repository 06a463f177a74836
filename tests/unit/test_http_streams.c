/*
 * test_http_streams.c - event streams that break and go on, the one on which
 * a server speaks unasked, and servers that know no other way.
 */
#include "http_rig.h"

#define EVENT(id, data) "id: " id "\ndata: " data "\n\n"

static const fl_options quick = {.reconnect_first_ms = 1};

/* A request whose stream of the session `s` is open on connection one. */
static void open_stream(const char *first)
{
    rig_open(&quick);
    rig_initialize(WELCOME("2025-11-25"), "s");
    rig_sends(ASK("1", "m"));
    http_hear(&one, "POST /mcp");
    http_say_events(&one, "");
    if (first[0] != '\0')
        http_chunk(&one, first);
    io_some_turns(at.loop);
}

static void test_http_streams_resumes_from_the_last_event(void **state)
{
    (void)state;
    open_stream("retry: 1\n\n" EVENT("a-1", NOTE("one")) "id: a-2\nda");
    raw_close(&one);
    http_accept(&two);
    http_hear(&two, "GET /mcp HTTP/1.1\n");
    http_has("last-event-id", "a-1"); /* a-2 had not come whole */
    http_has("accept", "text/event-stream");
    http_has("mcp-session-id", "s");
    http_has("mcp-protocol-version", "2025-11-25");
    http_say_events(&two, "");
    http_chunk(&two, EVENT("a-2", NOTE("two")));
    io_until(at.loop, at.messages == 3);
    http_end_chunks(&two); /* in order this time, as a polling server does */

    http_hear(&two, "GET /mcp HTTP/1.1\n");
    http_has("last-event-id", "a-2");
    http_say_events(&two, "");
    http_chunk(&two, EVENT("a-3", ANSWER("1")));
    http_end_chunks(&two);
    rig_hears(1, NOTE("one"));
    rig_hears(2, NOTE("two"));
    rig_hears(3, ANSWER("1"));
    assert_true(rig_nobody_comes());
    raw_hears_nothing(&two);
    rig_end();
}

static void test_http_streams_a_priming_event_is_enough(void **state)
{
    (void)state;
    open_stream("id: p\nretry: 1\ndata:\n\n");
    http_end_chunks(&one);
    http_hear(&one, "GET /mcp");
    http_has("last-event-id", "p");
    http_say_events(&one, "");
    http_chunk(&one, EVENT("q", ANSWER("1")));
    http_end_chunks(&one);
    rig_hears(1, ANSWER("1"));
    rig_end();
}

static void test_http_streams_without_names_are_not_resumed(void **state)
{
    (void)state;
    open_stream("retry: 1\ndata: " NOTE("one") "\n\n");
    raw_close(&one);
    rig_hears_part(2, "\"id\":1,\"error\":{\"code\":-32000,");
    rig_hears_part(2, "\"httpStatus\":200");
    assert_true(rig_nobody_comes());
    rig_end();
}

static void test_http_streams_of_2026_are_not_resumed(void **state)
{
    (void)state;
    rig_open(&quick);
    rig_sends("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{"
              "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
              "\"2026-07-28\"}}}");
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say_events(&one, "");
    http_chunk(&one, "retry: 1\n\n" EVENT("x", NOTE("one")));
    rig_hears(0, NOTE("one"));
    raw_close(&one);
    rig_hears_part(1, "\"id\":1,\"error\":{\"code\":-32000,");
    rig_end();
}

static void test_http_streams_gives_up_resuming_some_time(void **state)
{
    (void)state;
    open_stream("retry: 1\n\n" EVENT("a-1", NOTE("one")));
    raw_close(&one);
    for (int i = 0; i < 5; i++) {
        http_accept(&two);
        http_hear(&two, "GET /mcp");
        raw_close(&two);
    }
    rig_hears_part(2, "\"id\":1,\"error\":{\"code\":-32000,");
    assert_true(rig_nobody_comes());
    rig_end();
}

static void test_http_streams_a_refused_resume_is_the_answer(void **state)
{
    (void)state;
    open_stream("retry: 1\n\n" EVENT("a-1", NOTE("one")));
    raw_close(&one);
    http_accept(&two);
    http_hear(&two, "GET /mcp");
    http_say(&two, "400 Bad Request", "", "");
    rig_hears_part(2, "\"httpStatus\":400");
    rig_end();
}

static void test_http_streams_an_event_too_large_ends_one_call(void **state)
{
    static char big[8192];

    (void)state;
    rig_open(&(fl_options){.max_message = 1024});
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say_events(&one, "");
    memset(big, 'x', sizeof big - 1);
    memcpy(big, "data: ", 6);
    memcpy(big + sizeof big - 3, "\n\n", 2);
    http_chunk(&one, big);
    rig_hears_part(0, "\"id\":1,\"error\":{\"code\":-32012,");
    assert_int_equal(at.link->state, FL_LINK_ACTIVE);
    rig_end();
}

/* To ask for everything again would be to hear things twice. */
static void test_http_streams_a_name_that_cannot_be_said_is_none(void **state)
{
    (void)state;
    open_stream("retry: 1\n\n" EVENT("a\x01", NOTE("one")));
    raw_close(&one);
    rig_hears_part(2, "\"id\":1,\"error\":{\"code\":-32000,");
    assert_true(rig_nobody_comes());
    rig_end();
}

/* The standing stream. */

static void open_standing(const char *first)
{
    rig_open(&quick);
    rig_initialize(WELCOME("2025-06-18"), "s");
    rig_sends(INITIALIZED);
    http_hear(&one, "POST /mcp");
    http_say(&one, "202 Accepted", "", "");
    http_hear(&one, "GET /mcp");
    http_say_events(&one, "");
    http_chunk(&one, first);
    io_some_turns(at.loop);
}

static void test_http_streams_hears_what_nobody_asked_for(void **state)
{
    (void)state;
    open_standing("retry: 1\n\n" EVENT("g-1", ASK("5", "roots/list")));
    rig_hears(1, ASK("5", "roots/list"));
    fl_span answer = FL_SPAN(ANSWER("5"));
    assert_int_equal(fl_reply_end(at.reply, &answer, 1), FL_OK);
    http_accept(&two);
    http_hear(&two, "POST /mcp");
    http_hears_body(ANSWER("5"));
    http_say(&two, "202 Accepted", "", "");
    rig_end();
}

static void test_http_streams_keeps_the_standing_one_open(void **state)
{
    (void)state;
    open_standing("retry: 1\n\n" EVENT("g-1", NOTE("one")));
    raw_close(&one);
    http_accept(&two);
    http_hear(&two, "GET /mcp");
    http_has("last-event-id", "g-1");
    http_say(&two, "503 Service Unavailable", "", "");
    http_hear(&two, "GET /mcp");
    http_has("last-event-id", "g-1");
    http_say_events(&two, "");
    http_chunk(&two, EVENT("g-2", NOTE("two")));
    rig_hears(1, NOTE("one"));
    rig_hears(2, NOTE("two"));
    rig_end();
}

static void test_http_streams_a_404_there_loses_the_session(void **state)
{
    (void)state;
    open_standing("retry: 1\n\n" EVENT("g-1", NOTE("one")));
    http_end_chunks(&one);
    http_hear(&one, "GET /mcp");
    http_say(&one, "404 Not Found", "", "");
    io_until(at.loop, at.downs == 1);
    io_until(at.loop, at.opened == 2);
    rig_end();
}

/* HTTP+SSE of 2024-11-05. */

static void open_channel(void)
{
    rig_begin();
    at.scheme = "sse+http";
    rig_connect("/sse?k=1", &quick);
    http_accept(&one);
    http_hear(&one, "GET /sse?k=1 HTTP/1.1\n");
    http_has("accept", "text/event-stream");
    assert_int_equal(at.link->state, FL_LINK_CONNECTING);
    http_say_events(&one, "");
    http_chunk(&one, "event: endpoint\ndata: /messages?sessionId=7\n\n");
    io_until(at.loop, at.opened == 1);
}

static void test_http_streams_speaks_the_2024_transport(void **state)
{
    (void)state;
    open_channel();
    rig_sends(INITIALIZE);
    http_accept(&two);
    http_hear(&two, "POST /messages?sessionId=7 HTTP/1.1\n");
    http_hears_body(INITIALIZE);
    http_say(&two, "202 Accepted", "", "Accepted");
    io_some_turns(at.loop);
    assert_int_equal(at.messages, 0);
    http_chunk(&one, "event: message\ndata: " WELCOME("2024-11-05") "\n\n");
    rig_hears(0, WELCOME("2024-11-05"));
    rig_sends(INITIALIZED);
    http_hear(&two, "POST /messages?sessionId=7 HTTP/1.1\n");
    http_lacks("mcp-session-id");
    http_lacks("mcp-protocol-version");
    http_say(&two, "202 Accepted", "", "");
    http_chunk(&one, "event: message\ndata: " ASK("9", "ping") "\n\n");
    rig_hears(1, ASK("9", "ping"));
    fl_span answer = FL_SPAN(ANSWER("9"));
    assert_int_equal(fl_reply_end(at.reply, &answer, 1), FL_OK);
    http_hear(&two, "POST /messages?sessionId=7 HTTP/1.1\n");
    http_hears_body(ANSWER("9"));
    http_say(&two, "202 Accepted", "", "");

    rig_sends(ASK("2", "m"));
    http_hear(&two, "POST /messages");
    http_say(&two, "500 Internal Server Error", "", "");
    rig_hears_part(2, "\"id\":2,\"error\"");
    rig_end();
}

static void test_http_streams_a_channel_comes_back(void **state)
{
    (void)state;
    open_channel();
    raw_close(&one);
    io_until(at.loop, at.downs == 1);
    assert_int_equal(rig_send(ASK("1", "m")), FL_BUSY);
    http_accept(&one);
    http_hear(&one, "GET /sse?k=1");
    http_say_events(&one, "");
    http_chunk(&one, "event: endpoint\ndata: /other\n\n");
    io_until(at.loop, at.opened == 2 && at.writables == 1);
    rig_sends(ASK("1", "m"));
    http_accept(&two);
    http_hear(&two, "POST /other HTTP/1.1\n");
    rig_end();
}

static void test_http_streams_a_channel_keeps_to_its_origin(void **state)
{
    (void)state;
    rig_begin();
    at.scheme = "sse+http";
    rig_connect("/sse", &(fl_options){.no_reconnect = true});
    http_accept(&one);
    http_hear(&one, "GET /sse");
    http_say_events(&one, "");
    http_chunk(&one, "event: endpoint\ndata: http://example.org/m\n\n");
    io_until(at.loop, at.closed == 1);
    assert_int_equal(at.why.status, FL_E_DENIED);
    assert_non_null(strstr(at.why.text, "origin"));
    assert_int_equal(at.opened, 0);
    rig_end();
}

static void test_http_streams_says_why_there_is_no_channel(void **state)
{
    (void)state;
    rig_begin();
    at.scheme = "sse+http";
    rig_connect("/sse", &(fl_options){.no_reconnect = true});
    http_accept(&one);
    http_hear(&one, "GET /sse");
    http_say(&one, "401 Unauthorized", "", "");
    io_until(at.loop, at.closed == 1);
    assert_non_null(strstr(at.why.text, "401 Unauthorized"));
    rig_end();
}

static void test_http_streams_falls_back_to_2024(void **state)
{
    (void)state;
    rig_open(&quick);
    rig_sends(INITIALIZE);
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say(&one, "405 Method Not Allowed", "", "");
    http_hear(&one, "GET /mcp HTTP/1.1\n");
    http_has("accept", "text/event-stream");
    assert_int_equal(rig_send(ASK("9", "m")), FL_BUSY);
    http_say_events(&one, "");
    http_chunk(&one, "event: endpoint\ndata: messages?s=1\n\n");
    http_accept(&two);
    http_hear(&two, "POST /messages?s=1 HTTP/1.1\n");
    http_hears_body(INITIALIZE);
    http_say(&two, "202 Accepted", "", "");
    http_chunk(&one, "data: " WELCOME("2024-11-05") "\n\n");
    rig_hears(0, WELCOME("2024-11-05"));
    io_until(at.loop, at.writables == 1);
    rig_sends(INITIALIZED);
    http_hear(&two, "POST /messages?s=1 HTTP/1.1\n");
    http_say(&two, "202 Accepted", "", "");
    raw_hears_nothing(&two); /* no standing stream: there is one */
    rig_end();
}

static void refuse_both(const char *status, const char *body)
{
    rig_open(&quick);
    rig_sends(INITIALIZE);
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say(&one, status, JSON, body);
    http_hear(&one, "GET /mcp");
    http_say(&one, "405 Method Not Allowed", "", "");
}

#define LEGACY_ERROR                                                           \
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32602,"             \
    "\"message\":\"m\"}}"

static void test_http_streams_gives_the_first_refusal_back(void **state)
{
    (void)state;
    refuse_both("404 Not Found", "");
    rig_hears_part(0, "\"id\":0,\"error\":{\"code\":-32600,");
    rig_hears_part(0, "\"httpStatus\":404");
    rig_sends(ASK("1", "m")); /* and all is as it was */
    http_hear(&one, "POST /mcp");
    rig_end();

    refuse_both("400 Bad Request", LEGACY_ERROR);
    rig_hears(0, "{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-32602,"
                 "\"message\":\"m\"}}");
    rig_end();
}

static void test_http_streams_waits_five_seconds_for_an_endpoint(void **state)
{
    uint64_t now = 1000;

    (void)state;
    at = (rig){.loop = io_driven_loop(&now)};
    at.listener = raw_listen(&at.port);
    rig_connect("/mcp", NULL);
    io_until(at.loop, at.opened == 1);
    rig_sends(INITIALIZE);
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say(&one, "404 Not Found", "", "");
    http_hear(&one, "GET /mcp");
    http_say_events(&one, "");
    now += 4999;
    io_some_turns(at.loop);
    assert_int_equal(at.messages, 0);
    now += 1;
    rig_hears_part(0, "\"httpStatus\":404");
    rig_end();
}

static void test_http_streams_modern_errors_mean_no_2024_server(void **state)
{
    static const char *const codes[] = {"-32020", "-32021", "-32022"};
    char body[256];

    (void)state;
    for (int i = 0; i < 3; i++) {
        rig_open(NULL);
        rig_sends(INITIALIZE);
        http_accept(&one);
        http_hear(&one, "POST /mcp");
        snprintf(body, sizeof body,
                 "{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":%s,"
                 "\"message\":\"m\"}}",
                 codes[i]);
        http_say(&one, "400 Bad Request", JSON, body);
        rig_hears(0, body);
        raw_hears_nothing(&one);
        rig_end();
    }
}

/* Answers in fragments. */

static void test_http_streams_joins_fragments(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_sends(ASK("1", "tools/call"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say_events(&one, "");
    http_chunk(&one, "event: result\ndata: {\"content\":[{\"type\":\"text\","
                     "\"text\":\"a\"}]}\n\n"
                     "event: result\ndata: {\"content\":[{\"type\":\"text\","
                     "\"text\":\"b\"}]}\n\n"
                     "event: complete\ndata: {\"isError\":false}\n\n");
    http_end_chunks(&one);
    rig_hears(0, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":["
                 "{\"type\":\"text\",\"text\":\"a\"},"
                 "{\"type\":\"text\",\"text\":\"b\"}],\"isError\":false}}");
    rig_sends(ASK("2", "tools/call"));
    http_hear(&one, "POST /mcp");
    http_say_events(&one, "");
    http_chunk(&one, "event: result\ndata: \"half\"\n\n"
                     "event: error\ndata: {\"code\":-32050,"
                     "\"message\":\"broke\"}\n\n");
    rig_hears(1, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32050,"
                 "\"message\":\"broke\"}}");
    rig_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http_streams_resumes_from_the_last_event),
        cmocka_unit_test(test_http_streams_a_priming_event_is_enough),
        cmocka_unit_test(test_http_streams_without_names_are_not_resumed),
        cmocka_unit_test(test_http_streams_of_2026_are_not_resumed),
        cmocka_unit_test(test_http_streams_gives_up_resuming_some_time),
        cmocka_unit_test(test_http_streams_a_refused_resume_is_the_answer),
        cmocka_unit_test(test_http_streams_an_event_too_large_ends_one_call),
        cmocka_unit_test(test_http_streams_a_name_that_cannot_be_said_is_none),
        cmocka_unit_test(test_http_streams_hears_what_nobody_asked_for),
        cmocka_unit_test(test_http_streams_keeps_the_standing_one_open),
        cmocka_unit_test(test_http_streams_a_404_there_loses_the_session),
        cmocka_unit_test(test_http_streams_speaks_the_2024_transport),
        cmocka_unit_test(test_http_streams_a_channel_comes_back),
        cmocka_unit_test(test_http_streams_a_channel_keeps_to_its_origin),
        cmocka_unit_test(test_http_streams_says_why_there_is_no_channel),
        cmocka_unit_test(test_http_streams_falls_back_to_2024),
        cmocka_unit_test(test_http_streams_gives_the_first_refusal_back),
        cmocka_unit_test(test_http_streams_waits_five_seconds_for_an_endpoint),
        cmocka_unit_test(test_http_streams_modern_errors_mean_no_2024_server),
        cmocka_unit_test(test_http_streams_joins_fragments),
    };

    return cmocka_run_group_tests_name("http_streams", tests, NULL, NULL);
}
