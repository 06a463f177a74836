/*
 * test_ask_legacy.c - the same handlers that ask back, in the eras in which
 * they wait while we send requests of our own.
 */
#include "ask_tools.h"
#include "fake_door.h"
#include "http_host.h"
#include "support/ration.h"

static server_host host;
static ask_log seen;
static fake_door door;

#define ALL                                                                    \
    "{\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{},\"roots\":{}}"

#define HELLO(version, capabilities)                                           \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"     \
    "\"protocolVersion\":\"" version "\",\"capabilities\":" capabilities       \
    ",\"clientInfo\":{\"name\":\"raw\",\"version\":\"0\"}}}"

#define ASKED(id, method, params)                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method                  \
    "\",\"params\":" params "}"
#define NAME_ASKED(id)                                                         \
    ASKED(id, "elicitation/create",                                            \
          "{\"mode\":\"form\",\"message\":\"Who are \\\"you\\\"?\","           \
          "\"requestedSchema\":" NAME_SCHEMA "}")
#define RESULT(id, result)                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" result "}"
#define NO(id)                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"error\":{\"code\":-1,\"message\":\"no\"}}"
#define TAKEN_BACK(id, reason)                                                 \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{" \
    "\"requestId\":" id ",\"reason\":\"" reason "\"}}"

static void greet(raw_peer *peer, const char *hello)
{
    raw_say(peer, hello);
    raw_hears_part(peer, "\"protocolVersion\"");
    raw_say(peer, INITIALIZED);
}

static void begin(void)
{
    ask_begin(&host, &seen);
    greet(&host.peer, HELLO("2025-11-25", ALL));
}

static void test_ask_legacy_form_is_a_request_of_ours(void **state)
{
    (void)state;
    begin();
    raw_asks(&host.peer, CALL("\"a\"", "greet", "{}"), NAME_ASKED("1"));
    raw_asks(&host.peer, RESULT("1", ACCEPT("{\"name\":\"Al\"}")),
             TEXT_ANSWER("\"a\"", "name accepted {\\\"name\\\":\\\"Al\\\"}"));
    assert_int_equal(seen.runs, 2);
    /* numbers of ours are used once in a session */
    raw_asks(&host.peer, CALL("1", "greet", "{}"), NAME_ASKED("2"));
    raw_asks(&host.peer, RESULT("2", DECLINE),
             TEXT_ANSWER("1", "name declined "));
    host_end(&host);
}

static void test_ask_legacy_older_forms_have_no_mode(void **state)
{
    (void)state;
    ask_begin(&host, &seen);
    greet(&host.peer, HELLO("2025-06-18", "{\"elicitation\":{}}"));
    raw_asks(&host.peer, CALL("1", "greet", "{}"),
             ASKED("1", "elicitation/create",
                   "{\"message\":\"Who are "
                   "\\\"you\\\"?\",\"requestedSchema\":" NAME_SCHEMA "}"));
    raw_asks(&host.peer, RESULT("1", "{\"action\":\"cancel\"}"),
             TEXT_ANSWER("1", "name cancelled "));
    host_end(&host);
}

static void test_ask_legacy_url_has_an_id(void **state)
{
    char first[256];

    (void)state;
    begin();
    raw_say(&host.peer, CALL("1", "url", "{}"));
    snprintf(first, sizeof first, "%s",
             strstr(raw_hear(&host.peer), "\"params\":"));
    assert_non_null(strstr(first, "\"mode\":\"url\",\"message\":\"Pay\",\"url\""
                                  ":\"https://pay.example/1\","
                                  "\"elicitationId\":\""));
    raw_asks(&host.peer, RESULT("1", "{\"action\":\"accept\"}"),
             TEXT_ANSWER("1", "go accepted "));
    raw_say(&host.peer, CALL("2", "url", "{}"));
    assert_string_not_equal(strstr(raw_hear(&host.peer), "\"params\":"), first);
    host_end(&host);
}

static void test_ask_legacy_answers_come_in_any_order(void **state)
{
    (void)state;
    begin();
    raw_say(&host.peer, CALL("9", "trio", "{}"));
    raw_hears_part(&host.peer, "\"id\":1,\"method\":\"elicitation/create\"");
    raw_hears(&host.peer, ASKED("2", "sampling/createMessage", SAMPLE));
    raw_hears(&host.peer, ASKED("3", "roots/list", "{}"));
    raw_say(&host.peer, RESULT("3", ROOTS));
    raw_say(&host.peer, RESULT("3", ROOTS)); /* twice is once */
    raw_say(&host.peer, RESULT("1", DECLINE));
    raw_hears_nothing(&host.peer);
    assert_int_equal(seen.runs, 1);
    raw_say(&host.peer, RESULT("2", PARIS));
    raw_hears_part(&host.peer, "form declined , sample accepted");
    assert_int_equal(seen.runs, 2);
    host_end(&host);
}

static void test_ask_legacy_ignores_what_answers_nothing(void **state)
{
    (void)state;
    begin();
    raw_asks(&host.peer, CALL("1", "greet", "{}"), NAME_ASKED("1"));
    raw_say(&host.peer, RESULT("2", DECLINE));
    raw_say(&host.peer, RESULT("0", DECLINE));
    raw_say(&host.peer, RESULT("-1", DECLINE));
    raw_say(&host.peer, RESULT("\"1\"", DECLINE));
    raw_say(&host.peer, NO("77"));
    raw_hears_nothing(&host.peer);
    raw_asks(&host.peer, RESULT("1", DECLINE),
             TEXT_ANSWER("1", "name declined "));
    raw_say(&host.peer, RESULT("1", DECLINE)); /* late */
    raw_hears_nothing(&host.peer);
    host_end(&host);
}

static void test_ask_legacy_other_sessions_cannot_answer(void **state)
{
    static raw_peer other;

    (void)state;
    begin();
    host_dial(&host, &other);
    greet(&other, HELLO("2025-11-25", ALL));
    raw_asks(&host.peer, CALL("1", "greet", "{}"), NAME_ASKED("1"));
    raw_say(&other, RESULT("1", DECLINE));
    raw_hears_nothing(&host.peer);
    raw_asks(&other, CALL("1", "greet", "{}"), NAME_ASKED("1"));
    raw_close(&other);
    raw_asks(&host.peer, RESULT("1", DECLINE),
             TEXT_ANSWER("1", "name declined "));
    host_end(&host);
}

static void test_ask_legacy_errors_are_told(void **state)
{
    (void)state;
    begin();
    raw_say(&host.peer, CALL("9", "trio", "{}"));
    for (int i = 0; i < 3; i++)
        (void)raw_hear(&host.peer);
    raw_say(&host.peer, NO("1"));
    raw_say(&host.peer, NO("2"));
    raw_asks(&host.peer, RESULT("3", "{\"roots\":1}"),
             TEXT_ANSWER("9", "form cancelled , sample failed {\\\"code\\\":-1,"
                              "\\\"message\\\":\\\"no\\\"}, roots failed "
                              "{\\\"code\\\":-32602,\\\"message\\\":\\\"the "
                              "client's answer is not as it has to be\\\"}"));
    host_end(&host);
}

static void test_ask_legacy_form_must_fit(void **state)
{
    (void)state;
    begin();
    raw_asks(&host.peer, CALL("1", "greet", "{}"), NAME_ASKED("1"));
    raw_say(&host.peer, RESULT("1", ACCEPT("{\"name\":7}")));
    raw_hears_part(&host.peer, "name failed");
    host_end(&host);
}

static void test_ask_legacy_keeps_state_between_rounds(void **state)
{
    (void)state;
    begin();
    raw_say(&host.peer, CALL("1", "steps", "{}"));
    raw_hears_part(&host.peer, "\"id\":1,\"method\":\"elicitation/create\"");
    raw_say(&host.peer, RESULT("1", ACCEPT("{}")));
    raw_hears_part(&host.peer, "\"message\":\"2\"");
    raw_asks(&host.peer, RESULT("2", ACCEPT("{\"a\":1}")),
             TEXT_ANSWER("1", "ab accepted accepted {\\\"a\\\":1}"));
    host_end(&host);
}

static void test_ask_legacy_ends_after_ten_rounds(void **state)
{
    char line[128];

    (void)state;
    begin();
    raw_say(&host.peer, CALL("1", "forever", "{}"));
    for (int i = 1; i <= 10; i++) {
        raw_hears_part(&host.peer, "elicitation/create");
        snprintf(line, sizeof line, RESULT("%d", ACCEPT("{}")), i);
        raw_say(&host.peer, line);
    }
    raw_hears_part(&host.peer, "the client was asked 10 times");
    host_end(&host);
}

static void test_ask_legacy_time_is_limited(void **state)
{
    (void)state;
    begin();
    fl_server_set_input_timeout(host.server, 5000);
    raw_say(&host.peer, CALL("9", "trio", "{}"));
    for (int i = 0; i < 3; i++)
        (void)raw_hear(&host.peer);
    raw_say(&host.peer, RESULT("3", ROOTS));
    host.now += 4999;
    raw_hears_nothing(&host.peer);
    assert_int_equal(seen.runs, 1);
    host.now += 20;
    raw_hears(&host.peer, TAKEN_BACK("1", "it was not answered in time"));
    raw_hears(&host.peer, TAKEN_BACK("2", "it was not answered in time"));
    raw_hears_part(&host.peer, "form cancelled , sample failed "
                               "{\\\"code\\\":-32001");
    raw_say(&host.peer, RESULT("2", PARIS)); /* too late */
    raw_hears_nothing(&host.peer);
    host_end(&host);
}

static void
test_ask_legacy_cancelled_call_takes_its_questions_back(void **state)
{
    (void)state;
    begin();
    raw_say(&host.peer, CALL("9", "trio", "{}"));
    for (int i = 0; i < 3; i++)
        (void)raw_hear(&host.peer);
    raw_say(&host.peer, RESULT("2", PARIS));
    raw_say(&host.peer, CANCELLED("9"));
    raw_hears(&host.peer,
              TAKEN_BACK("1", "what it was asked for is cancelled"));
    raw_hears(&host.peer,
              TAKEN_BACK("3", "what it was asked for is cancelled"));
    raw_say(&host.peer, RESULT("1", DECLINE));
    raw_say(&host.peer, RESULT("3", ROOTS));
    raw_hears_nothing(&host.peer);
    assert_int_equal(seen.runs, 1);
    /* and its id is free again */
    raw_asks(&host.peer, CALL("9", "echo", "{\"text\":\"a\"}"),
             TEXT_ANSWER("9", "a"));
    host_end(&host);
}

static void test_ask_legacy_client_may_go_while_it_is_asked(void **state)
{
    (void)state;
    begin();
    raw_asks(&host.peer, CALL("1", "greet", "{}"), NAME_ASKED("1"));
    raw_close(&host.peer);
    io_until(host.loop, (host.now++, fl_server_links(host.server) == 0));
    assert_int_equal(seen.runs, 2); /* it may want to know that */
    host_end(&host);
}

static void test_ask_legacy_client_that_says_no_more_is_answered(void **state)
{
    (void)state;
    begin();
    raw_asks(&host.peer, CALL("1", "greet", "{}"), NAME_ASKED("1"));
    raw_finish(&host.peer);
    io_until(host.loop, (host.now++, seen.runs == 2));
    raw_hears_part(&host.peer, "notifications/cancelled");
    raw_hears(&host.peer, TEXT_ANSWER("1", "name cancelled "));
    host_end(&host);
}

static void test_ask_legacy_client_that_says_no_more_is_not_asked(void **state)
{
    (void)state;
    begin();
    raw_say(&host.peer, CALL("1", "forever", "{}"));
    raw_finish(&host.peer);
    io_until(host.loop, (host.now++, seen.runs == 11));
    for (int i = 0; i < 20; i++) /* ten questions, and ten taken back */
        (void)raw_hear(&host.peer);
    raw_hears_part(&host.peer, "the client was asked 10 times");
    host_end(&host);
}

static void test_ask_legacy_server_may_close_while_it_asks(void **state)
{
    (void)state;
    begin();
    raw_asks(&host.peer, CALL("1", "greet", "{}"), NAME_ASKED("1"));
    fl_server_close(host.server, 0, host_closed, &host);
    raw_hears_part(&host.peer, "the server is shutting down");
    io_until(host.loop, (host.now += 1000, host.closed > 0));
    assert_int_equal(seen.runs, 1);
    host_end(&host);
}

static void test_ask_legacy_deferred_call_may_ask(void **state)
{
    (void)state;
    begin();
    raw_say(&host.peer, CALL("1", "later", "{}"));
    io_until(host.loop, seen.kept != NULL);
    fl_call_want_roots(seen.kept, "r");
    fl_call_ask(seen.kept);
    seen.kept = NULL;
    raw_hears(&host.peer, ASKED("1", "roots/list", "{}"));
    raw_say(&host.peer, RESULT("1", ROOTS));
    io_until(host.loop, seen.kept != NULL);
    assert_int_equal(seen.runs, 2);
    ask_tell(seen.kept, (const char *[]){"r", NULL});
    seen.kept = NULL;
    raw_hears_part(&host.peer, "r accepted");
    /* while it waits, nobody is told that it is cancelled */
    raw_say(&host.peer, CALL("2", "later", "{}"));
    io_until(host.loop, seen.kept != NULL);
    fl_call_want_roots(seen.kept, "r");
    fl_call_ask(seen.kept);
    seen.kept = NULL;
    raw_hears(&host.peer, ASKED("2", "roots/list", "{}"));
    raw_say(&host.peer, CANCELLED("2"));
    raw_hears_part(&host.peer, "notifications/cancelled");
    assert_int_equal(seen.cancelled, 0);
    /* in its second run it is */
    raw_say(&host.peer, CALL("3", "later", "{}"));
    io_until(host.loop, seen.kept != NULL);
    fl_call_want_roots(seen.kept, "r");
    fl_call_ask(seen.kept);
    seen.kept = NULL;
    raw_say(&host.peer, RESULT("3", ROOTS));
    io_until(host.loop, seen.kept != NULL);
    raw_say(&host.peer, CANCELLED("3"));
    io_until(host.loop, seen.cancelled == 1);
    host_end(&host);
}

static void test_ask_legacy_second_run_must_answer(void **state)
{
    (void)state;
    begin();
    raw_asks(&host.peer, CALL("1", "badly", "{\"how\":\"silent\"}"),
             ASKED("1", "roots/list", "{}"));
    raw_asks(&host.peer, RESULT("1", ROOTS),
             ERROR_ANSWER("1", "-32603", "\"the handler did not answer\""));
    host_end(&host);
}

static void test_ask_legacy_wants_only_what_was_declared(void **state)
{
    (void)state;
    ask_begin(&host, &seen);
    greet(&host.peer, HELLO("2025-11-25", "{\"elicitation\":{}}"));
    raw_say(&host.peer, CALL("1", "url", "{}"));
    raw_hears_part(&host.peer,
                   "\"error\":{\"code\":-32021,\"message\":\"this needs a "
                   "capability the client has not declared\",\"data\":{"
                   "\"requiredCapabilities\":{\"elicitation\":{\"url\":{}}}}");
    raw_say(&host.peer, CALL("2", "trio", "{}"));
    raw_hears_part(&host.peer, "{\"sampling\":{},\"roots\":{}}");
    host_end(&host);
}

static void test_ask_legacy_first_revisions_have_no_forms(void **state)
{
    (void)state;
    ask_begin(&host, &seen);
    greet(&host.peer, HELLO("2024-11-05", ALL));
    raw_say(&host.peer, CALL("1", "greet", "{}"));
    raw_hears_part(&host.peer, "-32021");
    raw_asks(&host.peer, CALL("2", "sample", "{\"params\":" SAMPLE "}"),
             ASKED("1", "sampling/createMessage", SAMPLE));
    raw_say(&host.peer, RESULT("1", PARIS));
    raw_hears_part(&host.peer, "s accepted");
    host_end(&host);
}

static void test_ask_legacy_batch_cannot_ask_but_may_answer(void **state)
{
    (void)state;
    ask_begin(&host, &seen);
    greet(&host.peer, HELLO("2025-03-26", ALL));
    raw_say(&host.peer, "[" CALL("1", "sample", "{\"params\":" SAMPLE "}") "]");
    raw_hears_part(&host.peer, "a request in a batch cannot ask");
    raw_say(&host.peer, CALL("2", "sample", "{\"params\":" SAMPLE "}"));
    raw_hears_part(&host.peer, "sampling/createMessage");
    raw_say(&host.peer, "[" RESULT("1", PARIS) "]");
    raw_hears_part(&host.peer, "s accepted");
    host_end(&host);
}

/* 1024 questions are the most a client has to answer. */
static void test_ask_legacy_questions_are_limited(void **state)
{
    char line[128];

    (void)state;
    begin();
    for (int i = 0; i < 32; i++) {
        snprintf(line, sizeof line,
                 CALL("%d", "badly", "{\"how\":\"many\",\"n\":32}"), i);
        raw_say(&host.peer, line);
        for (int k = 0; k < 32; k++)
            raw_hears_part(&host.peer, "roots/list");
    }
    raw_say(&host.peer, CALL("99", "greet", "{}"));
    raw_hears_part(&host.peer, "\"id\":99,\"error\":{\"code\":-32010");
    raw_say(&host.peer, RESULT("7", ROOTS));
    raw_asks(&host.peer, CALL("99", "greet", "{}"), NAME_ASKED("1025"));
    host_end(&host);
}

static void post(const char *fields, const char *body, http_answer *answer)
{
    http_post(&host.peer, fields, body);
    http_hear(&host.peer, answer);
}

static void test_ask_legacy_over_http(void **state)
{
    static http_answer answer;
    static raw_peer caller;
    char fields[256];

    (void)state;
    seen = (ask_log){0};
    http_begin(&host, NULL);
    ask_add_tools(&host, &seen);
    post("", HELLO("2025-06-18", ALL), &answer);
    snprintf(fields, sizeof fields,
             "Mcp-Session-Id: %.64s\r\nMCP-Protocol-Version: 2025-06-18\r\n",
             http_field(&answer, "mcp-session-id"));
    post(fields, INITIALIZED, &answer);
    host_dial(&host, &caller);
    http_post(&caller, fields, CALL("1", "greet", "{}"));
    http_hear_head(&caller, &answer);
    assert_non_null(
        strstr(http_field(&answer, "content-type"), "event-stream"));
    assert_non_null(strstr(http_hear_event(&caller, &answer),
                           "\"id\":1,\"method\":\"elicitation/create\""));
    post(fields, RESULT("1", ACCEPT("{\"name\":\"Al\"}")), &answer);
    assert_int_equal(answer.status, 202);
    assert_non_null(strstr(http_hear_event(&caller, &answer), "name accepted"));
    /* and the answer to one that was cancelled is taken, and ignored */
    raw_close(&caller);
    host_dial(&host, &caller);
    http_post(&caller, fields, CALL("2", "greet", "{}"));
    http_hear_head(&caller, &answer);
    assert_non_null(strstr(http_hear_event(&caller, &answer), "\"id\":2"));
    post(fields, CANCELLED("2"), &answer);
    assert_non_null(
        strstr(http_hear_event(&caller, &answer), "notifications/cancelled"));
    post(fields, RESULT("2", DECLINE), &answer);
    assert_int_equal(answer.status, 202);
    assert_int_equal(seen.runs, 3);
    raw_close(&caller);
    host_end(&host);
}

/* A client whose stream is gone cannot be asked there; its session ends while
 * it is. */
static void test_ask_legacy_session_may_end_while_it_is_asked(void **state)
{
    static http_answer answer;
    static raw_peer caller;
    char fields[256];

    (void)state;
    seen = (ask_log){0};
    http_begin(&host, NULL);
    ask_add_tools(&host, &seen);
    post("", HELLO("2025-11-25", ALL), &answer);
    snprintf(fields, sizeof fields,
             "Mcp-Session-Id: %.64s\r\nMCP-Protocol-Version: 2025-11-25\r\n",
             http_field(&answer, "mcp-session-id"));
    post(fields, INITIALIZED, &answer);
    host_dial(&host, &caller);
    http_post(&caller, fields, CALL("1", "greet", "{}"));
    http_hear_head(&caller, &answer);
    http_send(&host.peer, "DELETE", "/mcp", fields, "");
    http_hear(&host.peer, &answer);
    assert_true(answer.status < 300);
    raw_close(&caller);
    assert_int_equal(seen.runs, 1);
    host_end(&host);
}

/* A link that can be sent to, and is slow. */
static fake_stream stream;

static void fake_say(const char *text)
{
    fake_ask(&door, &stream, text);
}

static void fake_hello(unsigned traits)
{
    seen = (ask_log){0};
    fake_begin(&door, &host, traits, 16);
    ask_add_tools(&host, &seen);
    fake_say(HELLO("2025-11-25", ALL));
    fake_say(INITIALIZED);
}

static void test_ask_legacy_busy_client_is_asked_later(void **state)
{
    (void)state;
    fake_hello(0);
    door.busy = true;
    fake_say(CALL("1", "greet", "{}"));
    assert_string_equal(stream.text, "");
    /* nobody can answer what was not asked yet */
    fl_msg msg;
    fl_msg_fault fault;
    assert_int_equal(fl_msg_read(FL_SPAN(RESULT("1", DECLINE)), &msg, &fault),
                     FL_OK);
    door.link.events->on_message(&door.link, &msg,
                                 (fl_reply){&door.link, NULL});
    assert_int_equal(seen.runs, 1);
    door.busy = false;
    door.link.events->on_writable(&door.link);
    assert_string_equal(stream.text, NAME_ASKED("1") "\n");
    door.link.events->on_writable(&door.link); /* once is enough */
    door.link.events->on_message(&door.link, &msg,
                                 (fl_reply){&door.link, NULL});
    assert_int_equal(stream.ended, 1);
    assert_non_null(strstr(stream.text, "name declined"));
    fake_end(&door, &host);
}

static void test_ask_legacy_question_too_large_ends_the_call(void **state)
{
    static char line[FAKE_ROOM * 2];

    (void)state;
    fake_hello(0);
    size_t at = (size_t)snprintf(
        line, sizeof line,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
        "\"name\":\"sample\",\"arguments\":{\"params\":{\"messages\":[],"
        "\"maxTokens\":1,\"x\":\"");
    memset(line + at, 'x', FAKE_ROOM);
    snprintf(line + at + FAKE_ROOM, 16, "\"}}}}");
    fake_say(line);
    assert_int_equal(stream.ended, 0);
    io_until(host.loop, (host.now++, stream.ended > 0));
    assert_non_null(strstr(stream.text, "larger than a message may be"));
    fake_end(&door, &host);
}

static void test_ask_legacy_link_without_a_session_cannot_be_asked(void **state)
{
    (void)state;
    fake_hello(FL_LINK_STATELESS | FL_LINK_OPEN);
    fake_say(CALL("1", "greet", "{}"));
    assert_non_null(strstr(stream.text, "a request without a session cannot"));
    fake_end(&door, &host);
}

/* Every request of one exchange with its first allocation refused, then its
 * second, and so on: the first run of a handler, or the second one. */
static void refuse_each(bool second, const char *good)
{
    bool refused = true;

    for (size_t n = 1; refused; n++) {
        if (second) {
            raw_say(&host.peer, CALL("1", "steps", "{}"));
            raw_hears_part(&host.peer, "elicitation/create");
        }
        ration_reset();
        ration_fail_at(n);
        raw_say(&host.peer,
                second ? RESULT("1", ACCEPT("{}")) : CALL("1", "steps", "{}"));
        io_until(host.loop,
                 (raw_read(&host.peer),
                  raw_find_end(&host.peer) != NULL || host.peer.ended));
        refused = ration_refused();
        ration_reset();
        const char *heard = host.peer.ended ? good : raw_hear(&host.peer);
        if (strstr(heard, good) == NULL && strstr(heard, "-32603") == NULL)
            fail_msg("heard %s", heard);
        close(host.peer.fd);
        host_dial(&host, &host.peer);
        greet(&host.peer, HELLO("2025-11-25", ALL));
        assert_true(n < 1000);
    }
}

static void test_ask_legacy_survives_want_of_memory(void **state)
{
    (void)state;
    begin();
    refuse_each(false, "elicitation/create");
    refuse_each(true, "\"message\":\"2\"");
    host_end(&host);
}

/* What clients answer stays as long as the call does, and counts with it. */
static void test_ask_legacy_answers_are_limited_together(void **state)
{
    static char answer[(1 << 20) + 256];
    char line[128];
    int taken = 0;

    (void)state;
    begin();
    for (const char *heard = "\"message\":\"2\"";
         strstr(heard, "\"message\":\"2\"") != NULL; taken++) {
        assert_true(taken < 40);
        snprintf(line, sizeof line, CALL("%d", "steps", "{}"), taken);
        raw_say(&host.peer, line);
        raw_hears_part(&host.peer, "\"message\":\"1\"");
        size_t at = (size_t)snprintf(
            answer, sizeof answer,
            "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"action\":"
            "\"accept\",\"content\":{\"x\":\"",
            2 * taken + 1);
        memset(answer + at, 'x', 1 << 20);
        snprintf(answer + at + (1 << 20), 16, "\"}}}");
        raw_say(&host.peer, answer);
        heard = raw_hear(&host.peer);
    }
    assert_int_equal(taken, 32);
    /* those that wait are none the worse */
    raw_say(&host.peer, RESULT("2", ACCEPT("{}")));
    raw_hears_part(&host.peer, "ab accepted accepted");
    /* and there is room again */
    raw_say(&host.peer, CALL("99", "steps", "{}"));
    raw_hears_part(&host.peer, "\"message\":\"1\"");
    raw_say(&host.peer, RESULT("64", ACCEPT("{}")));
    raw_hears_part(&host.peer, "\"message\":\"2\"");
    host_end(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ask_legacy_form_is_a_request_of_ours),
        cmocka_unit_test(test_ask_legacy_older_forms_have_no_mode),
        cmocka_unit_test(test_ask_legacy_url_has_an_id),
        cmocka_unit_test(test_ask_legacy_answers_come_in_any_order),
        cmocka_unit_test(test_ask_legacy_ignores_what_answers_nothing),
        cmocka_unit_test(test_ask_legacy_other_sessions_cannot_answer),
        cmocka_unit_test(test_ask_legacy_errors_are_told),
        cmocka_unit_test(test_ask_legacy_form_must_fit),
        cmocka_unit_test(test_ask_legacy_keeps_state_between_rounds),
        cmocka_unit_test(test_ask_legacy_ends_after_ten_rounds),
        cmocka_unit_test(test_ask_legacy_time_is_limited),
        cmocka_unit_test(
            test_ask_legacy_cancelled_call_takes_its_questions_back),
        cmocka_unit_test(test_ask_legacy_client_may_go_while_it_is_asked),
        cmocka_unit_test(test_ask_legacy_client_that_says_no_more_is_answered),
        cmocka_unit_test(test_ask_legacy_client_that_says_no_more_is_not_asked),
        cmocka_unit_test(test_ask_legacy_server_may_close_while_it_asks),
        cmocka_unit_test(test_ask_legacy_deferred_call_may_ask),
        cmocka_unit_test(test_ask_legacy_second_run_must_answer),
        cmocka_unit_test(test_ask_legacy_wants_only_what_was_declared),
        cmocka_unit_test(test_ask_legacy_first_revisions_have_no_forms),
        cmocka_unit_test(test_ask_legacy_batch_cannot_ask_but_may_answer),
        cmocka_unit_test(test_ask_legacy_questions_are_limited),
        cmocka_unit_test(test_ask_legacy_answers_are_limited_together),
        cmocka_unit_test(test_ask_legacy_over_http),
        cmocka_unit_test(test_ask_legacy_session_may_end_while_it_is_asked),
        cmocka_unit_test(test_ask_legacy_busy_client_is_asked_later),
        cmocka_unit_test(test_ask_legacy_question_too_large_ends_the_call),
        cmocka_unit_test(
            test_ask_legacy_link_without_a_session_cannot_be_asked),
        cmocka_unit_test(test_ask_legacy_survives_want_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
