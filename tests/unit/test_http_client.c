/*
 * test_http_client.c - what an HTTP client says to servers, and what it makes
 * of what they say.
 */
#include "http_rig.h"

#include <arpa/inet.h>

static void test_http_client_posts_and_hears_json(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_sends(ASK("1", "ping"));
    http_accept(&one);
    http_hear(&one, "POST /mcp HTTP/1.1\n");
    http_hears_body(ASK("1", "ping"));
    http_has("content-type", "application/json");
    http_has("accept", "application/json, text/event-stream");
    http_has("accept-encoding", "gzip");
    http_has("user-agent", "fairlead/0.1.0");
    char host[64];
    snprintf(host, sizeof host, "127.0.0.1:%u", at.port);
    http_has("host", host);
    http_lacks("mcp-session-id");
    http_lacks("mcp-protocol-version");
    http_lacks("mcp-method");
    http_lacks("x-request-id");
    http_say_json(&one, ANSWER("1"));
    rig_hears(0, ANSWER("1"));

    /* the connection is kept */
    rig_sends(ASK("2", "ping"));
    http_hear(&one, "POST /mcp HTTP/1.1\n");
    http_say_json(&one, ANSWER("2"));
    rig_hears(1, ANSWER("2"));
    assert_true(rig_nobody_comes());
    rig_end();
}

static void relay(const char *text, const char *id, fl_status want)
{
    fl_msg_fault fault;
    fl_msg msg;

    assert_int_equal(fl_msg_read(fl_span_of(text), &msg, &fault), FL_OK);
    assert_int_equal(fl_link_relay(at.link, &msg, fl_span_of(id)), want);
}

#define MODERN_CALL(id, token)                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\","            \
    "\"params\":{\"_meta\":{\"progressToken\":" token                          \
    ",\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"},"            \
    "\"name\":\"echo\"}}"

/* What its head says is of the text that is sent. */
static void test_http_client_relays_what_others_have_read(void **state)
{
    (void)state;
    rig_open(&(fl_options){.max_message = 256});
    relay(MODERN_CALL("\"a\"", "\"some token\""), "71", FL_OK);
    http_accept(&one);
    http_hear(&one, "POST /mcp HTTP/1.1\n");
    http_hears_body(MODERN_CALL("71", "71"));
    http_has("mcp-method", "tools/call");
    http_has("mcp-name", "echo");
    http_has("mcp-protocol-version", "2026-07-28");
    http_say_json(&one, ANSWER("71"));
    rig_hears(0, ANSWER("71"));
    relay(ASK("1", "ping"), "72", FL_OK);
    http_hear(&one, "POST /mcp HTTP/1.1\n");
    http_hears_body(ASK("72", "ping"));
    http_lacks("mcp-method");
    fl_link_cancel(at.link, FL_SPAN("72"));
    raw_hears_end(&one);
    char id[300];
    memset(id, '7', sizeof id);
    id[sizeof id - 1] = '\0';
    relay(ASK("1", "ping"), id, FL_E_TOO_BIG);
    rig_end();
}

/* What nobody has read is read, before anything of it is sent. */
static void test_http_client_sends_no_nonsense(void **state)
{
    static const char *const texts[] = {"", "{", "[]", "{\"jsonrpc\":\"2.0\"}",
                                        ASK("1", "m") "x"};

    (void)state;
    rig_open(NULL);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(rig_send(texts[i]), FL_E_BAD_MESSAGE);
    assert_true(rig_nobody_comes());
    rig_end();
}

static void exchange_one(void)
{
    rig_sends(MODERN_CALL("5", "5"));
    http_hear(&one, "POST /mcp HTTP/1.1\n");
    http_say_json(&one, ANSWER("5"));
    rig_hears(at.messages, ANSWER("5"));
}

static void test_http_client_allocates_nothing_for_the_next_call(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_sends(ASK("1", "ping"));
    http_accept(&one);
    http_hear(&one, "POST /mcp HTTP/1.1\n");
    http_say_json(&one, ANSWER("1"));
    rig_hears(0, ANSWER("1"));
    for (int i = 0; i < 4; i++)
        exchange_one();
    ration_reset();
    for (int i = 0; i < 20; i++)
        exchange_one();
    assert_int_equal(ration_count(), 0);
    rig_end();
}

static void test_http_client_hears_a_stream_cut_anywhere(void **state)
{
    static const char *const events[] = {
        "data: {\"jsonrpc\":\"2.0\",", "\"method\":\"a\"}\n", "\nid: 7\nda",
        "ta: {\"jsonrpc\":\"2.0\",\"id\":1,\ndata: \"result\":{}}\n\n"};

    (void)state;
    rig_open(NULL);
    rig_sends(ASK("1", "slow"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say_events(&one, "");
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        http_chunk(&one, events[i]);
        io_some_turns(at.loop);
    }
    rig_hears(0, NOTE("a"));
    rig_hears(1, "{\"jsonrpc\":\"2.0\",\"id\":1,\n\"result\":{}}");
    http_end_chunks(&one);

    rig_sends(ASK("2", "ping"));
    http_hear(&one, "POST /mcp"); /* the stream's end freed the connection */
    http_say_json(&one, ANSWER("2"));
    rig_hears(2, ANSWER("2"));
    rig_end();
}

static void test_http_client_skips_what_is_no_message(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_sends(ASK("1", "slow"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say_events(&one, "");
    http_chunk(&one, "data: nonsense\n\nevent: other\ndata: " ANSWER(
                         "1") "\n\n: comment\n\ndata: " ANSWER("1") "\n\n");
    http_end_chunks(&one);
    rig_hears(0, ANSWER("1"));
    io_some_turns(at.loop);
    assert_int_equal(at.messages, 1);
    assert_int_equal(at.link->stats.errors, 1);
    rig_end();
}

static void test_http_client_keeps_to_its_session(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_initialize(WELCOME("2025-06-18"), "s-1");
    rig_sends(INITIALIZED);
    http_hear(&one, "POST /mcp");
    http_has("mcp-session-id", "s-1");
    http_has("mcp-protocol-version", "2025-06-18");
    http_say(&one, "202 Accepted", "", "");

    /* the standing stream, on a connection of its own or this one */
    http_hear(&one, "GET /mcp HTTP/1.1\n");
    http_has("accept", "text/event-stream");
    http_has("mcp-session-id", "s-1");
    http_has("mcp-protocol-version", "2025-06-18");
    http_lacks("last-event-id");
    http_say(&one, "405 Method Not Allowed", "", "");

    rig_sends(ASK("1", "tools/list"));
    http_hear(&one, "POST /mcp");
    http_has("mcp-session-id", "s-1");
    http_say_json(&one, ANSWER("1"));
    rig_hears(1, ANSWER("1"));

    fl_link_close(at.link);
    http_hear(&one, "DELETE /mcp HTTP/1.1\n");
    http_has("mcp-session-id", "s-1");
    http_say(&one, "200 OK", "", "");
    rig_end();
    assert_int_equal(at.why.status, FL_OK);
}

static void test_http_client_has_no_version_header_before_2025_06(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_initialize(WELCOME("2025-03-26"), NULL);
    rig_sends(ASK("1", "ping"));
    http_hear(&one, "POST /mcp");
    http_lacks("mcp-session-id");
    http_lacks("mcp-protocol-version");
    http_say_json(&one, ANSWER("1"));
    rig_hears(1, ANSWER("1"));
    rig_end();
}

static void test_http_client_refuses_a_session_name_that_is_none(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_initialize(WELCOME("2025-06-18"), "has space");
    rig_sends(ASK("1", "ping"));
    http_hear(&one, "POST /mcp");
    http_lacks("mcp-session-id");
    http_has("mcp-protocol-version", "2025-06-18");
    http_say_json(&one, ANSWER("1"));
    rig_end();
}

#define META                                                                   \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}"
#define CALL(method, params)                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"" method                       \
    "\",\"params\":{" params "," META "}}"

static void check_name(const char *call, const char *method, const char *name)
{
    int before = at.messages;

    rig_sends(call);
    http_hear(&one, "POST /mcp");
    http_has("mcp-protocol-version", "2026-07-28");
    http_has("mcp-method", method);
    if (name != NULL)
        http_has("mcp-name", name);
    else
        http_lacks("mcp-name");
    http_lacks("mcp-session-id");
    http_say_json(&one, ANSWER("5"));
    rig_hears(before, ANSWER("5"));
}

static void test_http_client_names_modern_requests(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_initialize(WELCOME("2025-06-18"), "s-1"); /* not for these */
    check_name(CALL("tools/call", "\"name\":\"get_weather\""), "tools/call",
               "get_weather");
    check_name(CALL("prompts/get", "\"name\":\"two words\""), "prompts/get",
               "two words");
    check_name(CALL("resources/read", "\"uri\":\"file:///a\\/b\""),
               "resources/read", "file:///a/b");
    check_name(CALL("tasks/get", "\"taskId\":\"t1\""), "tasks/get", "t1");
    check_name(CALL("tools/list", "\"name\":\"x\""), "tools/list", NULL);
    /* the examples of "Value Encoding" */
    check_name(
        CALL("tools/call", "\"name\":\"Hello, \xe4\xb8\x96\xe7\x95\x8c\""),
        "tools/call", "=?base64?SGVsbG8sIOS4lueVjA==?=");
    check_name(CALL("tools/call", "\"name\":\" padded \""), "tools/call",
               "=?base64?IHBhZGRlZCA=?=");
    check_name(CALL("tools/call", "\"name\":\"line1\\nline2\""), "tools/call",
               "=?base64?bGluZTEKbGluZTI=?=");
    check_name(CALL("tools/call", "\"name\":\"=?base64?literal?=\""),
               "tools/call", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
    rig_end();
}

#define SCHEMA                                                                 \
    "{\"properties\":{"                                                        \
    "\"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"},"            \
    "\"deep\":{\"properties\":{\"n\":{\"x-mcp-header\":\"Deep-N\"}}},"         \
    "\"on\":{\"x-mcp-header\":\"On\"},"                                        \
    "\"list\":{\"items\":{\"x-mcp-header\":\"Never\"}},"                       \
    "\"bad\":{\"x-mcp-header\":\"not a token\"}}}"

static void call_with(const char *arguments)
{
    char text[1024];

    snprintf(text, sizeof text,
             CALL("tools/call", "\"name\":\"sql\",\"arguments\":%s"),
             arguments);
    rig_sends(text);
    http_hear(&one, "POST /mcp");
}

static void test_http_client_repeats_annotated_arguments(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_sends(CALL("tools/list", "\"x\":1"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say_json(&one, "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"tools\":["
                        "{\"name\":\"sql\",\"inputSchema\":" SCHEMA "},"
                        "{\"name\":\"other\",\"inputSchema\":{}}]}}");
    io_until(at.loop, at.messages == 1);
    call_with("{\"region\":\"us-west1\",\"deep\":{\"n\":4.2e1},\"on\":false,"
              "\"list\":[1],\"bad\":\"x\"}");
    http_has("mcp-param-region", "us-west1");
    http_has("mcp-param-deep-n", "42");
    http_has("mcp-param-on", "false");
    http_lacks("mcp-param-never");
    http_lacks("mcp-param-not a token");
    http_say_json(&one, ANSWER("5"));
    io_until(at.loop, at.messages == 2);
    call_with("{\"region\":\" \\u4e16\",\"deep\":null,\"on\":null}");
    http_has("mcp-param-region", "=?base64?IOS4lg==?=");
    http_lacks("mcp-param-deep-n");
    http_lacks("mcp-param-on");
    http_say_json(&one, ANSWER("5"));
    io_until(at.loop, at.messages == 3);
    rig_end();
}

static void test_http_client_makes_errors_of_statuses(void **state)
{
    static const struct {
        const char *status;
        int code;
        const char *data;
    } cases[] = {
        {"400 Bad Request", -32600, "{\"httpStatus\":400}"},
        {"401 Unauthorized", -32600, "{\"httpStatus\":401}"},
        {"404 Not Found", -32600, "{\"httpStatus\":404}"},
        {"408 Request Timeout", -32001, "{\"httpStatus\":408}"},
        {"413 Content Too Large", -32012, "{\"httpStatus\":413}"},
        {"429 Too Many Requests\r\nRetry-After: 7", -32010,
         "{\"httpStatus\":429,\"retryAfter\":7}"},
        {"500 Internal Server Error", -32603, "{\"httpStatus\":500}"},
        {"502 Bad Gateway", -32603, "{\"httpStatus\":502}"},
        {"503 Service Unavailable", -32010, "{\"httpStatus\":503}"},
    };

    (void)state;
    rig_open(NULL);
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        char code[64];
        rig_sends(ASK("\"x\"", "m"));
        if (i == 0)
            http_accept(&one);
        http_hear(&one, "POST /mcp");
        http_say(&one, cases[i].status, "Content-Type: text/html\r\n", "<p>");
        snprintf(code, sizeof code, "\"code\":%d,", cases[i].code);
        rig_hears_part(i, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":");
        rig_hears_part(i, code);
        rig_hears_part(i, cases[i].data);
    }
    rig_end();
}

#define ERROR(id, code)                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code             \
    ",\"message\":\"m\"}}"

static void test_http_client_passes_errors_on(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say(&one, "404 Not Found", JSON, ERROR("1", "-32601"));
    rig_hears(0, ERROR("1", "-32601"));

    rig_sends(ASK("2", "m"));
    http_hear(&one, "POST /mcp");
    http_say(&one, "400 Bad Request", JSON, ERROR("null", "-32020"));
    rig_hears(1, ERROR("2", "-32020"));

    rig_sends(ASK("3", "m"));
    http_hear(&one, "POST /mcp"); /* 2025-11-25: without an id at all */
    http_say(&one, "403 Forbidden", JSON,
             "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32000,"
             "\"message\":\"m\"}}");
    rig_hears(2, ERROR("3", "-32000"));

    rig_sends(ASK("4", "m"));
    http_hear(&one, "POST /mcp"); /* somebody else's */
    http_say(&one, "400 Bad Request", JSON, ERROR("99", "-32020"));
    rig_hears_part(3, "\"id\":4,");
    rig_hears_part(3, "\"httpStatus\":400");
    rig_end();
}

static void answer_and_expect(const char *body, const char *part)
{
    int before = at.messages;

    rig_sends(ASK("8", "m"));
    http_hear(&one, "POST /mcp");
    http_say_json(&one, body);
    rig_hears_part(before, "\"id\":8,\"error\"");
    rig_hears_part(before, part);
}

static void test_http_client_answers_for_servers_that_do_not(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say(&one, "202 Accepted", "", "");
    rig_hears_part(0, "\"id\":1,\"error\"");
    rig_hears_part(0, "\"httpStatus\":202");
    answer_and_expect("hello", "\"httpStatus\":200");
    answer_and_expect(ANSWER("9"), "none to this request");
    answer_and_expect("", "no answer");
    answer_and_expect(NOTE("n"), "none to this request");

    rig_sends(ASK("2", "m"));
    http_hear(&one, "POST /mcp");
    http_say_events(&one, "");
    http_chunk(&one, "data: " NOTE("n") "\n\n");
    http_end_chunks(&one);
    rig_hears(5, NOTE("n"));
    rig_hears_part(6, "the stream ended before the answer");
    rig_end();
}

static void test_http_client_tells_when_nobody_is_there(void **state)
{
    (void)state;
    rig_begin();
    close(at.listener);
    rig_connect("/mcp", &(fl_options){.no_reconnect = true});
    io_until(at.loop, at.opened == 1);
    rig_sends(ASK("1", "m"));
    rig_hears_part(0, "\"id\":1,\"error\":{\"code\":-32000,");
    rig_hears_part(0, "\"transport\":\"E_REFUSED\"");
    rig_hears_part(0, "\"httpStatus\":0");
    assert_int_equal(at.link->state, FL_LINK_ACTIVE);
    assert_int_equal(at.downs, 0);
    at.listener = raw_listen(&at.port);
    rig_end();
}

static void test_http_client_tries_once_more_to_connect(void **state)
{
    (void)state;
    rig_begin();
    close(at.listener);
    rig_connect("/mcp", &(fl_options){.reconnect_first_ms = 200});
    io_until(at.loop, at.opened == 1);
    rig_sends(ASK("1", "m"));
    for (int i = 0; i < 3; i++)
        io_turn(at.loop);
    at.listener = raw_listen(&at.port);
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say_json(&one, ANSWER("1"));
    rig_hears(0, ANSWER("1"));
    rig_end();
}

static void test_http_client_never_sends_twice_what_may_have_run(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    raw_close(&one);
    rig_hears_part(0, "\"id\":1,\"error\":{\"code\":-32000,");
    assert_true(rig_nobody_comes());
    rig_end();
}

static void test_http_client_takes_what_a_server_asks(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_initialize(WELCOME("2025-06-18"), "s");
    rig_sends(ASK("1", "m"));
    http_hear(&one, "POST /mcp");
    http_say_events(&one, "");
    http_chunk(&one, "data: " ASK("77", "sampling/createMessage") "\n\n");
    rig_hears(1, ASK("77", "sampling/createMessage"));
    fl_span answer = FL_SPAN(ANSWER("77"));
    assert_int_equal(fl_reply_end(at.reply, &answer, 1), FL_OK);
    http_accept(&two);
    http_hear(&two, "POST /mcp");
    http_hears_body(ANSWER("77"));
    http_has("mcp-session-id", "s");
    http_say(&two, "202 Accepted", "", "");
    http_chunk(&one, "data: " ANSWER("1") "\n\n");
    http_end_chunks(&one);
    rig_hears(2, ANSWER("1"));
    rig_end();
}

static void
test_http_client_closes_the_stream_of_what_is_cancelled(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say_events(&one, "");
    io_some_turns(at.loop);
    fl_link_cancel(at.link, FL_SPAN("2"));
    raw_hears_nothing(&one);
    fl_link_cancel(at.link, FL_SPAN("1"));
    raw_hears_end(&one);
    assert_int_equal(at.messages, 0);
    rig_end();
}

static void test_http_client_may_be_closed_in_any_callback(void **state)
{
    (void)state;
    rig_begin();
    at.close_in_open = true;
    rig_connect("/mcp", NULL);
    io_until(at.loop, at.closed == 1);
    rig_end();

    rig_open(NULL);
    at.close_in_message = true;
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say_events(&one, "");
    http_chunk(&one, "data: " NOTE("n") "\n\ndata: " NOTE("n") "\n\n");
    io_until(at.loop, at.closed == 1);
    assert_int_equal(at.messages, 1);
    rig_end();

    rig_open(NULL);
    at.close_in_message = true;
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say_json(&one, ANSWER("1"));
    io_until(at.loop, at.closed == 1);
    assert_int_equal(at.messages, 1);
    rig_end();

    rig_open(NULL);
    at.close_in_down = true;
    rig_initialize(WELCOME("2025-06-18"), "s");
    rig_sends(ASK("1", "m"));
    http_hear(&one, "POST /mcp");
    http_say(&one, "404 Not Found", "", "");
    io_until(at.loop, at.closed == 1);
    assert_int_equal(at.downs, 1);
    rig_end();
}

static void test_http_client_begins_anew_when_its_session_is_lost(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_initialize(WELCOME("2025-06-18"), "old");
    rig_sends(ASK("1", "m"));
    http_hear(&one, "POST /mcp");
    rig_sends(ASK("2", "m"));
    http_accept(&two);
    http_hear(&two, "POST /mcp");
    http_say(&two, "404 Not Found", JSON, ERROR("null", "-32001"));
    io_until(at.loop, at.downs == 1);
    assert_int_equal(at.messages, 2); /* its sender heard of it first */
    io_until(at.loop, at.opened == 2);
    http_say(&one, "404 Not Found", "", ""); /* and so does each other */
    io_until(at.loop, at.messages == 3);
    assert_int_equal(at.downs, 1);
    rig_sends(INITIALIZE);
    http_hear(&one, "POST /mcp");
    http_lacks("mcp-session-id");
    http_lacks("mcp-protocol-version");
    http_say_json(&one, WELCOME("2025-06-18"));
    rig_hears(3, WELCOME("2025-06-18"));
    rig_end();
}

static void test_http_client_ends_with_its_session_if_told_so(void **state)
{
    (void)state;
    rig_open(&(fl_options){.no_reconnect = true});
    rig_initialize(WELCOME("2025-06-18"), "old");
    rig_sends(ASK("1", "m"));
    http_hear(&one, "POST /mcp");
    http_say(&one, "404 Not Found", "", "");
    io_until(at.loop, at.closed == 1);
    assert_int_equal(at.why.status, FL_E_CLOSED);
    assert_non_null(strstr(at.why.text, "session"));
    rig_end();
}

static void test_http_client_lets_nothing_overtake_initialized(void **state)
{
    (void)state;
    rig_open(NULL);
    rig_initialize(WELCOME("2025-06-18"), "s");
    rig_sends(INITIALIZED);
    rig_sends(ASK("1", "tools/list"));
    http_hear(&one, "POST /mcp");
    http_hears_body(INITIALIZED);
    assert_true(rig_nobody_comes());
    http_say(&one, "202 Accepted", "", "");
    /* two requests now: the standing stream and the list */
    http_accept(&two);
    http_hear(&one, "");
    bool first_gets = req.head[0] == 'G';
    http_hear(&two, first_gets ? "POST /mcp" : "GET /mcp");
    http_say(first_gets ? &one : &two, "405 Method Not Allowed", "", "");
    http_say_json(first_gets ? &two : &one, ANSWER("1"));
    rig_hears(1, ANSWER("1"));
    rig_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http_client_posts_and_hears_json),
        cmocka_unit_test(test_http_client_relays_what_others_have_read),
        cmocka_unit_test(test_http_client_sends_no_nonsense),
        cmocka_unit_test(test_http_client_allocates_nothing_for_the_next_call),
        cmocka_unit_test(test_http_client_hears_a_stream_cut_anywhere),
        cmocka_unit_test(test_http_client_skips_what_is_no_message),
        cmocka_unit_test(test_http_client_keeps_to_its_session),
        cmocka_unit_test(test_http_client_has_no_version_header_before_2025_06),
        cmocka_unit_test(test_http_client_refuses_a_session_name_that_is_none),
        cmocka_unit_test(test_http_client_names_modern_requests),
        cmocka_unit_test(test_http_client_repeats_annotated_arguments),
        cmocka_unit_test(test_http_client_makes_errors_of_statuses),
        cmocka_unit_test(test_http_client_passes_errors_on),
        cmocka_unit_test(test_http_client_answers_for_servers_that_do_not),
        cmocka_unit_test(test_http_client_tells_when_nobody_is_there),
        cmocka_unit_test(test_http_client_tries_once_more_to_connect),
        cmocka_unit_test(test_http_client_never_sends_twice_what_may_have_run),
        cmocka_unit_test(test_http_client_takes_what_a_server_asks),
        cmocka_unit_test(
            test_http_client_closes_the_stream_of_what_is_cancelled),
        cmocka_unit_test(test_http_client_may_be_closed_in_any_callback),
        cmocka_unit_test(test_http_client_begins_anew_when_its_session_is_lost),
        cmocka_unit_test(test_http_client_ends_with_its_session_if_told_so),
        cmocka_unit_test(test_http_client_lets_nothing_overtake_initialized),
    };

    return cmocka_run_group_tests_name("http_client", tests, NULL, NULL);
}
