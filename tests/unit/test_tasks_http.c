/*
 * test_tasks_http.c - tasks over HTTP: field mirrors, statuses, connections
 * that come and go, sessions that end.
 */
#include "http_host.h"
#include "task_host.h"

#define RUN(test) cmocka_unit_test_setup_teardown(test, begin, finish)

static server_host host;
static http_answer answer;
static raw_peer second;
static char id[FL_JOB_ID + 1];

static int begin(void **state)
{
    (void)state;
    host_begin_bare(&host);
    assert_int_equal(task_add_tools(&host), FL_OK);
    http_listen(&host, "http://127.0.0.1:0/mcp", NULL);
    host_dial(&host, &host.peer);
    second.fd = -1;
    return 0;
}

static int finish(void **state)
{
    (void)state;
    if (second.fd >= 0)
        raw_close(&second);
    host_end(&host);
    return 0;
}

static void post(raw_peer *peer, const char *fields, const char *body,
                 int status, const char *part)
{
    http_post(peer, fields, body);
    http_hear(peer, &answer);
    if (answer.status != status || strstr(answer.body, part) == NULL)
        fail_msg("want %d with '%s', got %d: %s", status, part, answer.status,
                 answer.body);
}

static void start(const char *name)
{
    char fields[256], body[1024];

    snprintf(fields, sizeof fields,
             HTTP_MODERN("tools/call") "Mcp-Name: %s\r\n", name);
    snprintf(body, sizeof body, TASK_CALL("1", "%s"), name);
    post(&host.peer, fields, body, 200, "\"resultType\":\"task\"");
    task_copy_id(answer.body, id);
}

/* About this task, but the field names `named`. */
static void ask(raw_peer *peer, const char *method, const char *named,
                int status, const char *part)
{
    char fields[256], body[1024];

    snprintf(fields, sizeof fields, HTTP_MODERN("tasks/%s") "Mcp-Name: %s\r\n",
             method, named);
    snprintf(body, sizeof body,
             MODERN_META("2", "tasks/%s", TASK_CLAIM,
                         ",\"taskId\":\"%s\",\"inputResponses\":{}"),
             method, id);
    post(peer, fields, body, status, part);
}

static void test_task_is_fetched_by_another_connection(void **state)
{
    (void)state;
    start("job");
    raw_close(&host.peer);
    io_some_turns(host.loop);
    assert_int_equal(host.cancelled, 0); /* hanging up cancels requests only */
    host_dial(&host, &host.peer);
    ask(&host.peer, "get", id, 200, "\"status\":\"working\"");
    host_answer(&host, 0, "done");
    ask(&host.peer, "get", id, 200, "\"text\":\"done\"");
}

static void test_field_must_name_the_task(void **state)
{
    static const char *const methods[] = {"get", "update", "cancel"};

    (void)state;
    start("job");
    for (size_t i = 0; i < 3; i++) {
        ask(&host.peer, methods[i], "another", 400, "-32020");
        ask(&host.peer, methods[i], id, 200, "\"resultType\":\"complete\"");
    }
    assert_int_equal(host.cancelled, 1);
}

static void test_method_field_must_be_right(void **state)
{
    char fields[256], body[1024];

    (void)state;
    start("job");
    snprintf(fields, sizeof fields,
             HTTP_MODERN("tasks/cancel") "Mcp-Name: %s\r\n", id);
    snprintf(body, sizeof body, TASK_ASK("2", "get", ""), id);
    post(&host.peer, fields, body, 400, "-32020");
    snprintf(fields, sizeof fields, "%s", HTTP_MODERN("tasks/get"));
    post(&host.peer, fields, body, 400, "-32020"); /* no Mcp-Name */
}

static void test_statuses_say_what_is_wrong(void **state)
{
    char fields[256], body[1024];

    (void)state;
    start("job");
    snprintf(fields, sizeof fields, HTTP_MODERN("tasks/get") "Mcp-Name: %s\r\n",
             id);
    snprintf(body, sizeof body, MODERN("2", "tasks/get", ",\"taskId\":\"%s\""),
             id);
    post(&host.peer, fields, body, 400, "-32021");
    post(&host.peer, HTTP_MODERN("tools/call") "Mcp-Name: must\r\n",
         MODERN_CALL("1", "must", "{}"), 400, "-32021");
    ask(&host.peer, "list", id, 404, "-32601");
    ask(&host.peer, "result", id, 404, "-32601");
    snprintf(id, sizeof id, "unknown");
    ask(&host.peer, "get", id, 200, "-32602");
}

#define LEGACY_TASK LEGACY_CALL("1", "job", ",\"task\":{}")

static void start_legacy(char fields[256])
{
    http_open_session(&host.peer, "2025-11-25", fields);
    post(&host.peer, fields, LEGACY_TASK, 200, "{\"task\":{");
    task_copy_id(answer.body, id);
}

static void ask_legacy(const char *fields, const char *method, int status,
                       const char *part)
{
    char body[512];

    snprintf(body, sizeof body, LEGACY_ASK("2", "%s"), method, id);
    post(&host.peer, fields, body, status, part);
}

static void test_legacy_task_outlives_its_connection(void **state)
{
    char fields[256];

    (void)state;
    start_legacy(fields);
    raw_close(&host.peer);
    io_some_turns(host.loop);
    host_dial(&host, &host.peer);
    assert_int_equal(host.cancelled, 0);
    ask_legacy(fields, "get", 200, "\"status\":\"working\"");
    host_answer(&host, 0, "done");
    ask_legacy(fields, "result", 200, "\"text\":\"done\"");
}

static void test_legacy_result_is_waited_for(void **state)
{
    char fields[256], body[512];

    (void)state;
    start_legacy(fields);
    snprintf(body, sizeof body, LEGACY_ASK("2", "result"), id);
    http_post(&host.peer, fields, body);
    io_some_turns(host.loop);
    host_answer(&host, 0, "done");
    http_hear(&host.peer, &answer);
    assert_non_null(strstr(answer.body, "\"text\":\"done\""));
    assert_non_null(strstr(answer.body, "related-task"));
}

static void test_legacy_task_is_its_sessions(void **state)
{
    char fields[256], others[256];

    (void)state;
    start_legacy(fields);
    http_open_session(&host.peer, "2025-11-25", others);
    ask_legacy(others, "get", 200, "-32602");
    ask_legacy(others, "cancel", 200, "-32602");
    ask_legacy(fields, "get", 200, "\"status\":\"working\"");
}

static void test_legacy_session_that_ends_cancels_its_tasks(void **state)
{
    char fields[256];

    (void)state;
    start_legacy(fields);
    http_send(&host.peer, "DELETE", "/mcp", fields, "");
    http_hear(&host.peer, &answer);
    io_until(host.loop, host.cancelled == 1);
    assert_int_equal(fl_map_count(&host.server->jobs.by_id), 0);
}

static void test_legacy_question_comes_on_the_stream_of_the_result(void **state)
{
    char fields[256], body[512];

    (void)state;
    post(&host.peer, "",
         "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
         "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"elicitation\":"
         "{}},\"clientInfo\":{\"name\":\"raw\",\"version\":\"0\"}}}",
         200, "2025-11-25");
    snprintf(fields, sizeof fields,
             "Mcp-Session-Id: %.64s\r\nMCP-Protocol-Version: 2025-11-25\r\n",
             http_field(&answer, "mcp-session-id"));
    post(&host.peer, fields, INITIALIZED, 202, "");
    post(&host.peer, fields, LEGACY_CALL("1", "asker", ",\"task\":{}"), 200,
         "{\"task\":{");
    task_copy_id(answer.body, id);
    snprintf(body, sizeof body, LEGACY_ASK("2", "result"), id);
    http_post(&host.peer, fields, body);
    http_hear_head(&host.peer, &answer);
    assert_string_equal(http_field(&answer, "content-type"),
                        "text/event-stream");
    const char *event;
    do
        event = http_hear_event(&host.peer, &answer);
    while (strstr(event, "elicitation/create") == NULL);
    const char *at = strstr(event, "\"id\":");
    assert_non_null(strstr(event, FL_JOB_RELATED));
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"action\":"
             "\"accept\",\"content\":{\"name\":\"Ann\"}}}",
             (int)strspn(at + 5, "0123456789"), at + 5);
    host_dial(&host, &second);
    post(&second, fields, body, 202, "");
    do
        event = http_hear_event(&host.peer, &answer);
    while (strstr(event, "\"id\":2,\"result\"") == NULL);
    assert_non_null(strstr(event, "Ann"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(test_task_is_fetched_by_another_connection),
        RUN(test_field_must_name_the_task),
        RUN(test_method_field_must_be_right),
        RUN(test_statuses_say_what_is_wrong),
        RUN(test_legacy_task_outlives_its_connection),
        RUN(test_legacy_result_is_waited_for),
        RUN(test_legacy_task_is_its_sessions),
        RUN(test_legacy_session_that_ends_cancels_its_tasks),
        RUN(test_legacy_question_comes_on_the_stream_of_the_result),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
