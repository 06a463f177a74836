/*
 * test_http_session.c - Streamable HTTP of 2025-03-26 to 2025-11-25, from
 * outside: sessions, late answers, the standing stream, and coming back.
 */
#include "http_host.h"

#include "support/ration.h"

#define RUN(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static server_host host;
static http_answer answer;
static raw_peer second, third;
static char fields[256];

static int begin(void **state)
{
    (void)state;
    http_begin(&host, NULL);
    second.fd = third.fd = -1;
    return 0;
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

static void test_session_serves_calls_as_json(void **state)
{
    (void)state;
    http_open_session(&host.peer, "2025-06-18", fields);
    http_post(&host.peer, fields, CALL("7", "echo", "{\"text\":\"hi\"}"));
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(http_field(&answer, "content-type"),
                        "application/json");
    assert_string_equal(answer.body, TEXT_ANSWER("7", "hi"));
    assert_string_equal(http_field(&answer, "x-content-type-options"),
                        "nosniff");
    assert_string_equal(http_field(&answer, "mcp-session-id"), "");
    assert_int_equal(strlen(http_field(&answer, "date")), 29);
}

static void test_session_is_asked_for(void **state)
{
    (void)state;
    http_post(&host.peer, "", CALL("1", "echo", "{\"text\":\"hi\"}"));
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 400);
    http_post(&host.peer, "Mcp-Session-Id: nobody\r\n",
              CALL("1", "echo", "{\"text\":\"hi\"}"));
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 404);
    assert_non_null(strstr(answer.body, "\"id\":1,\"error\""));
    http_post(&host.peer, "", INITIALIZED);
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 400);
}

static void test_session_ends_by_delete(void **state)
{
    (void)state;
    http_open_session(&host.peer, "2025-11-25", fields);
    assert_int_equal(fl_server_links(host.server), 1);
    http_send(&host.peer, "DELETE", "/mcp", fields, "");
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 204);
    io_until(host.loop, fl_server_links(host.server) == 0);
    http_post(&host.peer, fields, CALL("1", "echo", "{\"text\":\"hi\"}"));
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 404);
    http_send(&host.peer, "DELETE", "/mcp", fields, "");
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 404);
    http_send(&host.peer, "DELETE", "/mcp", "", "");
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 405);
}

static void test_failed_initialize_leaves_no_session(void **state)
{
    (void)state;
    http_post(&host.peer, "",
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
              "\"params\":{}}");
    http_hear(&host.peer, &answer);
    assert_string_equal(http_field(&answer, "mcp-session-id"), "");
    assert_non_null(strstr(answer.body, "-32602"));
    io_until(host.loop, fl_server_links(host.server) == 0);
}

static void test_batch_belongs_to_2025_03_26(void **state)
{
    (void)state;
    const char *batch = "[" CALL("1", "echo", "{\"text\":\"a\"}") "," CALL(
        "\"2\"", "echo", "{\"text\":\"b\"}") "," INITIALIZED "]";

    http_open_session(&host.peer, "2025-03-26", fields);
    http_post(&host.peer, fields, batch);
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.body, "[" TEXT_ANSWER("1", "a") "," TEXT_ANSWER(
                                         "\"2\"", "b") "]");
    http_post(&host.peer, fields, "[" INITIALIZED "]");
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 202);
    http_open_session(&host.peer, "2025-06-18", fields);
    http_post(&host.peer, fields, batch);
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 400);
    assert_non_null(strstr(answer.body, "-32600"));
}

static void test_two_sessions_with_equal_ids_get_their_own(void **state)
{
    char other[256];

    (void)state;
    host_dial(&host, &second);
    http_open_session(&host.peer, "2025-11-25", fields);
    http_open_session(&second, "2025-11-25", other);
    http_post(&host.peer, fields, CALL("1", "wait", "{}"));
    host_kept(&host, 1);
    http_post(&second, other, CALL("1", "wait", "{}"));
    host_kept(&host, 2);
    host_answer(&host, 1, "second");
    http_hear(&second, &answer);
    assert_string_equal(answer.body, TEXT_ANSWER("1", "second"));
    host_answer(&host, 0, "first");
    http_hear(&host.peer, &answer);
    assert_string_equal(answer.body, TEXT_ANSWER("1", "first"));
}

static void test_one_session_may_use_an_id_twice_at_once(void **state)
{
    (void)state;
    host_dial(&host, &second);
    http_open_session(&host.peer, "2025-11-25", fields);
    http_post(&host.peer, fields, CALL("1", "wait", "{}"));
    host_kept(&host, 1);
    http_post(&second, fields, CALL("1", "wait", "{}"));
    host_kept(&host, 2);
    host_answer(&host, 0, "first");
    host_answer(&host, 1, "second");
    http_hear(&host.peer, &answer);
    assert_string_equal(answer.body, TEXT_ANSWER("1", "first"));
    http_hear(&second, &answer);
    assert_string_equal(answer.body, TEXT_ANSWER("1", "second"));
}

static void begin_stream(raw_peer *peer, const char *revision)
{
    http_open_session(peer, revision, fields);
    http_post(peer, fields, CALL("5", "wait", "{}"));
    host_kept(&host, 1);
    io_some_turns(host.loop);
    host.now += 300;
    http_hear_head(peer, &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(http_field(&answer, "content-type"),
                        "text/event-stream");
    assert_string_equal(http_field(&answer, "x-accel-buffering"), "no");
    assert_string_equal(http_field(&answer, "cache-control"),
                        "no-cache, no-transform");
}

static void test_answer_that_takes_long_becomes_a_stream(void **state)
{
    (void)state;
    begin_stream(&host.peer, "2025-06-18");
    host_answer(&host, 0, "done");
    assert_string_equal(
        http_hear_event(&host.peer, &answer),
        "id: 1-1\nevent: message\nretry: 5000\ndata: " TEXT_ANSWER(
            "5", "done") "\n\n");
    assert_false(http_hear_chunk(&host.peer, &answer));
    /* and the connection goes on */
    http_post(&host.peer, fields, CALL("6", "echo", "{\"text\":\"x\"}"));
    http_hear(&host.peer, &answer);
    assert_string_equal(answer.body, TEXT_ANSWER("6", "x"));
}

static void test_stream_of_2025_11_25_is_primed(void **state)
{
    (void)state;
    begin_stream(&host.peer, "2025-11-25");
    assert_string_equal(http_hear_event(&host.peer, &answer),
                        "id: 1-0\nretry: 5000\ndata:\n\n");
    host_answer(&host, 0, "done");
    http_hear_event(&host.peer, &answer);
    assert_false(http_hear_chunk(&host.peer, &answer));
}

static void test_open_stream_is_kept_alive(void **state)
{
    (void)state;
    begin_stream(&host.peer, "2025-06-18");
    for (int i = 0; i < 3; i++) {
        io_some_turns(host.loop);
        host.now += 15000;
        assert_string_equal(http_hear_event(&host.peer, &answer),
                            ": keep-alive\n\n");
    }
}

static void test_progress_comes_before_the_answer(void **state)
{
    (void)state;
    http_open_session(&host.peer, "2025-06-18", fields);
    http_post(&host.peer, fields,
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
              "\"params\":{\"name\":\"wait\",\"arguments\":{},"
              "\"_meta\":{\"progressToken\":\"t\"}}}");
    host_kept(&host, 1);
    fl_call_progress(host.kept[0], 1, 2, "half");
    http_hear_head(&host.peer, &answer);
    assert_non_null(
        strstr(http_hear_event(&host.peer, &answer), "notifications/progress"));
    assert_non_null(strstr(answer.body, "id: 1-1\n"));
    host_answer(&host, 0, "done");
    assert_non_null(strstr(http_hear_event(&host.peer, &answer), "id: 1-2\n"));
    assert_false(http_hear_chunk(&host.peer, &answer));
}

static void test_broken_stream_is_resumed_where_it_broke(void **state)
{
    char again[300];

    (void)state;
    begin_stream(&host.peer, "2025-11-25");
    http_hear_event(&host.peer, &answer);
    raw_close(&host.peer);
    io_some_turns(host.loop);
    host_answer(&host, 0, "missed");
    io_some_turns(host.loop);

    host_dial(&host, &second);
    snprintf(again, sizeof again, "%sLast-Event-ID: 1-0\r\n", fields);
    http_get(&second, "/mcp", again);
    http_hear_head(&second, &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(http_hear_event(&second, &answer),
                        "id: 1-0\nretry: 5000\ndata:\n\n");
    assert_string_equal(
        http_hear_event(&second, &answer),
        "id: 1-1\nevent: message\ndata: " TEXT_ANSWER("5", "missed") "\n\n");
    assert_false(http_hear_chunk(&second, &answer));
}

static void test_resumed_stream_goes_on_live(void **state)
{
    char again[300];

    (void)state;
    begin_stream(&host.peer, "2025-06-18");
    raw_close(&host.peer);
    io_some_turns(host.loop);
    host_dial(&host, &second);
    snprintf(again, sizeof again, "%sLast-Event-ID: 1-0\r\n", fields);
    http_get(&second, "/mcp", again);
    http_hear_head(&second, &answer);
    assert_int_equal(answer.status, 200);
    host_answer(&host, 0, "live");
    assert_string_equal(
        http_hear_event(&second, &answer),
        "id: 1-1\nevent: message\nretry: 5000\ndata: " TEXT_ANSWER(
            "5", "live") "\n\n");
    assert_false(http_hear_chunk(&second, &answer));
}

static void refused_resume(const char *last, int status)
{
    char again[300];

    snprintf(again, sizeof again, "%sLast-Event-ID: %s\r\n", fields, last);
    http_get(&host.peer, "/mcp", again);
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, status);
}

static void test_resume_of_what_never_was_is_refused(void **state)
{
    (void)state;
    http_open_session(&host.peer, "2025-11-25", fields);
    refused_resume("9-1", 400);
    refused_resume("0-1", 400);
    refused_resume("1", 400);
    refused_resume("-", 400);
    refused_resume("1-99999999999999999999", 400);
    refused_resume("x-1", 400);
}

static void test_resume_belongs_to_its_session(void **state)
{
    char mine[256];

    (void)state;
    host_dial(&host, &second);
    begin_stream(&second, "2025-11-25");
    http_hear_event(&second, &answer);
    snprintf(mine, sizeof mine, "%s", fields);
    http_open_session(&host.peer, "2025-11-25", fields);
    refused_resume("1-0", 400);
}

static void test_standing_stream_carries_list_changes(void **state)
{
    fl_tool tool = {.name = "late", .call = tool_echo};

    (void)state;
    http_open_session(&host.peer, "2025-11-25", fields);
    host_dial(&host, &second);
    http_get(&second, "/mcp", fields);
    http_hear_head(&second, &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(http_hear_event(&second, &answer),
                        "id: 0-0\nretry: 5000\ndata:\n\n");
    assert_int_equal(fl_server_add_tool(host.server, &tool), FL_OK);
    assert_string_equal(
        http_hear_event(&second, &answer),
        "id: 0-1\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":"
        "\"notifications/tools/list_changed\"}\n\n");
}

/* Spare turns know how to be asked something; one that only talks does not. */
static void test_standing_stream_forgets_its_request(void **state)
{
    (void)state;
    http_open_session(&host.peer, "2025-11-25", fields);
    ptrdiff_t before = ration_live_bytes();
    http_get(&host.peer, "/mcp", fields);
    http_hear_head(&host.peer, &answer);
    http_hear_event(&host.peer, &answer);
    assert_true(ration_live_bytes() < before);
}

static void test_messages_wait_for_the_standing_stream(void **state)
{
    fl_tool tool = {.name = "late", .call = tool_echo};
    fl_tool later = {.name = "later", .call = tool_echo};
    char again[300];

    (void)state;
    http_open_session(&host.peer, "2025-06-18", fields);
    assert_int_equal(fl_server_add_tool(host.server, &tool), FL_OK);
    host_dial(&host, &second);
    http_get(&second, "/mcp", fields);
    http_hear_head(&second, &answer);
    assert_non_null(strstr(http_hear_event(&second, &answer), "id: 0-1\n"));
    raw_close(&second);
    io_some_turns(host.loop);
    assert_int_equal(fl_server_add_tool(host.server, &later), FL_OK);
    host_dial(&host, &second);
    snprintf(again, sizeof again, "%sLast-Event-ID: 0-1\r\n", fields);
    http_get(&second, "/mcp", again);
    http_hear_head(&second, &answer);
    assert_non_null(strstr(http_hear_event(&second, &answer), "id: 0-2\n"));
    raw_hears_nothing(&second);
}

static void test_message_goes_to_one_of_two_standing_streams(void **state)
{
    fl_tool tool = {.name = "late", .call = tool_echo};

    (void)state;
    http_open_session(&host.peer, "2025-06-18", fields);
    host_dial(&host, &second);
    http_get(&second, "/mcp", fields);
    http_hear_head(&second, &answer);
    host_dial(&host, &third);
    http_get(&third, "/mcp", fields);
    http_hear_head(&third, &answer);
    assert_int_equal(fl_server_add_tool(host.server, &tool), FL_OK);
    http_hear_event(&third, &answer);
    raw_hears_nothing(&second);
}

static void test_hanging_up_does_not_cancel(void **state)
{
    (void)state;
    begin_stream(&host.peer, "2025-11-25");
    raw_close(&host.peer);
    io_some_turns(host.loop);
    assert_int_equal(host.cancelled, 0);
    host_dial(&host, &host.peer);
}

static void test_cancelled_request_ends_without_an_answer(void **state)
{
    (void)state;
    host.answer_cancelled = true;
    http_open_session(&host.peer, "2025-11-25", fields);
    http_post(&host.peer, fields, CALL("5", "wait", "{}"));
    host_kept(&host, 1);
    host_dial(&host, &second);
    http_post(&second, fields, CANCELLED("5"));
    http_hear(&second, &answer);
    assert_int_equal(answer.status, 202);
    assert_int_equal(host.cancelled, 1);
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 202);
    assert_int_equal(answer.len, 0);
}

static void test_idle_session_expires(void **state)
{
    (void)state;
    http_open_session(&host.peer, "2025-11-25", fields);
    io_some_turns(host.loop);
    host.now += 3600 * 1000 + 10;
    io_until(host.loop, fl_server_links(host.server) == 0);
}

static void test_session_with_an_open_stream_does_not(void **state)
{
    (void)state;
    http_open_session(&host.peer, "2025-06-18", fields);
    host_dial(&host, &second);
    http_get(&second, "/mcp", fields);
    http_hear_head(&second, &answer);
    for (int i = 0; i < 3; i++) {
        host.now += 3600 * 1000 + 10;
        io_some_turns(host.loop);
    }
    assert_int_equal(fl_server_links(host.server), 1);
}

static void test_closing_server_answers_what_is_open(void **state)
{
    (void)state;
    http_open_session(&host.peer, "2025-11-25", fields);
    http_post(&host.peer, fields, CALL("5", "wait", "{}"));
    host_kept(&host, 1);
    fl_server_close(host.server, 1000, host_closed, &host);
    io_some_turns(host.loop);
    host_answer(&host, 0, "in time");
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.body, TEXT_ANSWER("5", "in time"));
    raw_hears_end(&host.peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(test_session_serves_calls_as_json),
        RUN(test_session_is_asked_for),
        RUN(test_session_ends_by_delete),
        RUN(test_failed_initialize_leaves_no_session),
        RUN(test_batch_belongs_to_2025_03_26),
        RUN(test_two_sessions_with_equal_ids_get_their_own),
        RUN(test_one_session_may_use_an_id_twice_at_once),
        RUN(test_answer_that_takes_long_becomes_a_stream),
        RUN(test_stream_of_2025_11_25_is_primed),
        RUN(test_open_stream_is_kept_alive),
        RUN(test_progress_comes_before_the_answer),
        RUN(test_broken_stream_is_resumed_where_it_broke),
        RUN(test_resumed_stream_goes_on_live),
        RUN(test_resume_of_what_never_was_is_refused),
        RUN(test_resume_belongs_to_its_session),
        RUN(test_standing_stream_carries_list_changes),
        RUN(test_standing_stream_forgets_its_request),
        RUN(test_messages_wait_for_the_standing_stream),
        RUN(test_message_goes_to_one_of_two_standing_streams),
        RUN(test_hanging_up_does_not_cancel),
        RUN(test_cancelled_request_ends_without_an_answer),
        RUN(test_idle_session_expires),
        RUN(test_session_with_an_open_stream_does_not),
        RUN(test_closing_server_answers_what_is_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
