/*
 * test_hang_up.c - a server that lets a connection go before it answers on it,
 * at every moment a handler can choose (MCP 2025-11-25: polling).
 */
#include "http_host.h"

static server_host host;
static http_answer answer;
static raw_peer caller;
static char fields[256];
static fl_call *kept;

static void hang_up_at_once(fl_call *call, void *user)
{
    (void)user;
    kept = fl_call_defer(call);
    fl_call_hang_up(kept, 7);
    fl_call_hang_up(kept, 7); /* once is enough */
}

static void hang_up_and_answer(fl_call *call, void *user)
{
    (void)user;
    call = fl_call_defer(call);
    fl_call_hang_up(call, 7);
    fl_call_reply_text(call, FL_SPAN("here"));
}

static void post(const char *more, const char *body)
{
    http_post(&host.peer, more, body);
    http_hear(&host.peer, &answer);
}

static void begin(const char *revision)
{
    char line[512];

    http_begin(&host, NULL);
    assert_int_equal(
        fl_server_add_tool(host.server,
                           &(fl_tool){.name = "go", .call = hang_up_at_once}),
        FL_OK);
    assert_int_equal(
        fl_server_add_tool(host.server, &(fl_tool){.name = "both",
                                                   .call = hang_up_and_answer}),
        FL_OK);
    snprintf(line, sizeof line, INITIALIZE("0", "%s"), revision);
    post("", line);
    snprintf(fields, sizeof fields,
             "Mcp-Session-Id: %.64s\r\nMCP-Protocol-Version: %s\r\n",
             http_field(&answer, "mcp-session-id"), revision);
    post(fields, INITIALIZED);
}

/* Calls a tool that hangs up, and notes the id of the event to come back
 * with. */
static void call_and_lose(const char *call, char id[64])
{
    host_dial(&host, &caller);
    http_post(&caller, fields, call);
    http_hear(&caller, &answer);
    assert_non_null(
        strstr(http_field(&answer, "content-type"), "event-stream"));
    assert_non_null(strstr(answer.body, "retry: 7\n"));
    assert_null(strstr(answer.body, "result"));
    const char *from = strstr(answer.body, "id: ");
    assert_non_null(from);
    snprintf(id, 64, "%.*s", (int)strcspn(from + 4, "\n"), from + 4);
}

static void come_back(const char *id)
{
    char more[512];

    snprintf(more, sizeof more,
             "%sLast-Event-ID: %s\r\nAccept: text/event-stream\r\n", fields,
             id);
    http_send(&host.peer, "GET", "/mcp", more, "");
    http_hear(&host.peer, &answer);
}

static void test_hang_up_from_the_handler_itself(void **state)
{
    char id[64];

    (void)state;
    begin("2025-11-25");
    call_and_lose(CALL("1", "go", "{}"), id);
    /* the connection serves the next request */
    http_post(&caller, fields, CALL("2", "echo", "{\"text\":\"still\"}"));
    http_hear(&caller, &answer);
    assert_string_equal(answer.body, TEXT_ANSWER("2", "still"));
    fl_call_reply_text(kept, FL_SPAN("late"));
    come_back(id);
    assert_non_null(strstr(answer.body, TEXT_ANSWER("1", "late")));
    raw_close(&caller);
    host_end(&host);
}

static void test_hang_up_and_answer_in_one_breath(void **state)
{
    char id[64];

    (void)state;
    begin("2025-11-25");
    call_and_lose(CALL("1", "both", "{}"), id);
    come_back(id);
    assert_non_null(strstr(answer.body, TEXT_ANSWER("1", "here")));
    raw_close(&caller);
    host_end(&host);
}

static void test_hang_up_then_session_ends(void **state)
{
    char id[64];

    (void)state;
    begin("2025-11-25");
    call_and_lose(CALL("1", "go", "{}"), id);
    http_send(&host.peer, "DELETE", "/mcp", fields, "");
    http_hear(&host.peer, &answer);
    assert_true(answer.status < 300);
    io_until(host.loop, fl_call_cancelled(kept));
    fl_call_hang_up(kept, 1);
    fl_call_reply_text(kept, FL_SPAN("late"));
    raw_close(&caller);
    host_end(&host);
}

/* The next request is there already when its connection is let go. */
static void test_hang_up_on_a_pipeline(void **state)
{
    (void)state;
    begin("2025-11-25");
    host_dial(&host, &caller);
    for (int i = 0; i < 3; i++)
        http_post(&caller, fields, CALL("1", "both", "{}"));
    http_post(&caller, fields, CALL("2", "echo", "{\"text\":\"still\"}"));
    for (int i = 0; i < 3; i++) {
        http_hear(&caller, &answer);
        assert_non_null(strstr(answer.body, "retry: 7\n"));
    }
    http_hear(&caller, &answer);
    assert_string_equal(answer.body, TEXT_ANSWER("2", "still"));
    raw_close(&caller);
    host_end(&host);
}

/* Where it is not known, the answer comes where it is waited for. */
static void test_hang_up_is_nothing_before_its_revision(void **state)
{
    (void)state;
    begin("2025-06-18");
    host_dial(&host, &caller);
    http_post(&caller, fields, CALL("1", "both", "{}"));
    http_hear(&caller, &answer);
    assert_string_equal(answer.body, TEXT_ANSWER("1", "here"));
    raw_close(&caller);
    host_end(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hang_up_from_the_handler_itself),
        cmocka_unit_test(test_hang_up_and_answer_in_one_breath),
        cmocka_unit_test(test_hang_up_then_session_ends),
        cmocka_unit_test(test_hang_up_on_a_pipeline),
        cmocka_unit_test(test_hang_up_is_nothing_before_its_revision),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
