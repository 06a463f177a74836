/*
 * test_tasks.c - the tasks extension of 2026-07-28: who gets a task, what it
 * tells, how it ends, and how much of it there can be.
 */
#include "task_host.h"

#include "support/ration.h"

static server_host host;
static raw_peer other;
static char id[FL_JOB_ID + 1];

#define REQUIRED                                                               \
    "\"data\":{\"requiredCapabilities\":{\"extensions\":{\"" IOMCP             \
    "tasks\":{}}}}"

static void finish(void)
{
    host_end(&host);
}

static void test_discovery_names_the_extension_and_no_capability(void **state)
{
    (void)state;
    task_begin(&host);
    raw_say(&host.peer, MODERN("1", "server/discover", ""));
    const char *line = HEARS(&host.peer, EXTENSION);
    assert_null(strstr(line, "\"tasks\":{\"list\""));
    raw_say(&host.peer, MODERN("2", "tools/list", ""));
    assert_null(strstr(raw_hear(&host.peer), "taskSupport"));
    finish();
}

static void test_server_without_such_tools_has_no_tasks(void **state)
{
    (void)state;
    host_begin_with(&host, NULL);
    raw_say(&host.peer, MODERN("1", "server/discover", ""));
    assert_null(strstr(raw_hear(&host.peer), "extensions"));
    task_say(&host.peer, TASK_ASK("2", "get", ""), "x");
    raw_hears_part(&host.peer, "\"id\":2,\"error\":{\"code\":-32601");
    assert_int_equal(task_add_tools(&host), FL_E_IN_USE); /* "fail" is there */
    task_say(&host.peer, TASK_ASK("2", "get", ""), "x");
    raw_hears_part(&host.peer, "\"id\":2,\"error\":{\"code\":-32602");
    static const char *const names[] = {"job", "later", "must", "quick"};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(fl_server_remove_tool(host.server, names[i]), FL_OK);
    task_say(&host.peer, TASK_ASK("2", "get", ""), "x");
    raw_hears_part(&host.peer, "\"id\":2,\"error\":{\"code\":-32601");
    finish();
}

static void test_task_is_created_flat(void **state)
{
    (void)state;
    task_begin(&host);
    raw_say(&host.peer, TASK_CALL("1", "job"));
    const char *line =
        HEARS(&host.peer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{", TAG,
              "\"resultType\":\"task\",\"taskId\":\"", "\"status\":\"working\"",
              "\"ttlMs\":3600000,\"pollIntervalMs\":500}}", "\"createdAt\":\"2",
              "Z\",\"lastUpdatedAt\":\"2");
    static const char *const never[] = {
        "\"task\":",     "\"ttl\":",  "\"pollInterval\":",
        "\"result\":{}", "\"error\"", "\"inputRequests\"",
        "requestState",  "complete",  "statusMess",
    };
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        assert_null(strstr(line, never[i]));
    task_copy_id(line, id);
    task_say(&host.peer, TASK_ASK("2", "get", ""), id);
    line = HEARS(&host.peer, "\"id\":2,\"result\":{" STAMP ",\"taskId\":\"", id,
                 "\"status\":\"working\"", "\"pollIntervalMs\":500}}");
    assert_null(strstr(line, "500,\"result\""));
    host_answer(&host, 0, "done");
    task_say(&host.peer, TASK_ASK("3", "get", ""), id);
    line = HEARS(&host.peer, "\"status\":\"completed\"",
                 ",\"result\":{\"resultType\":\"complete\",\"content\":[{"
                 "\"type\":\"text\",\"text\":\"done\"}]}}}");
    assert_null(strstr(line, "related-task"));
    finish();
}

static void test_task_may_begin_after_the_call_was_deferred(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "later");
    host_answer(&host, 0, "done");
    task_say(&host.peer, TASK_ASK("3", "get", ""), id);
    HEARS(&host.peer, "\"status\":\"completed\"", "\"text\":\"done\"");
    finish();
}

static void test_client_that_holds_no_tasks_waits(void **state)
{
    (void)state;
    task_begin(&host);
    raw_say(&host.peer, MODERN_CALL("1", "job", "{}"));
    host_kept(&host, 1);
    assert_false(fl_call_client_can(host.kept[0], FL_CAN_HOLD_TASKS));
    fl_call_task_status(host.kept[0], "unheard");
    raw_hears_nothing(&host.peer);
    host_answer(&host, 0, "done");
    raw_hears(&host.peer, MODERN_TEXT("1", "done"));
    /* and so does one that calls a tool without tasks */
    raw_say(&host.peer, TASK_CALL("2", "never"));
    host_kept(&host, 2);
    host_answer(&host, 1, "done");
    raw_hears(&host.peer, MODERN_TEXT("2", "done"));
    finish();
}

static void test_tool_that_must_needs_the_extension(void **state)
{
    (void)state;
    task_begin(&host);
    raw_say(&host.peer, MODERN_CALL("1", "must", "{}"));
    HEARS(&host.peer, "\"id\":1,\"error\":{\"code\":-32021", REQUIRED);
    TASK_START(&host.peer, id, "must");
    finish();
}

static void test_methods_need_the_extension(void **state)
{
    static const char *const methods[] = {"get", "cancel", "update"};
    char line[512];

    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "job");
    for (size_t i = 0; i < 3; i++) {
        snprintf(line, sizeof line,
                 MODERN("1", "tasks/%s", ",\"taskId\":\"%s\""), methods[i], id);
        raw_say(&host.peer, line);
        HEARS(&host.peer, "\"id\":1,\"error\":{\"code\":-32021", REQUIRED);
    }
    task_say(&host.peer, TASK_ASK("2", "result", ""), id);
    raw_hears_part(&host.peer, "\"id\":2,\"error\":{\"code\":-32601");
    task_say(&host.peer, TASK_ASK("2", "list", ""), id);
    raw_hears_part(&host.peer, "\"id\":2,\"error\":{\"code\":-32601");
    finish();
}

static void test_wish_of_the_other_era_is_ignored(void **state)
{
    (void)state;
    task_begin(&host);
    raw_asks(&host.peer,
             MODERN_META("1", "tools/call", TASK_CLAIM,
                         ",\"name\":\"echo\",\"arguments\":{\"text\":\"x\"},"
                         "\"task\":{\"ttl\":1}"),
             MODERN_TEXT("1", "x"));
    finish();
}

static void test_unknown_task_is_refused(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "job");
    task_say(&host.peer, TASK_ASK("1", "get", ""), "nobody");
    raw_hears_part(&host.peer, "\"id\":1,\"error\":{\"code\":-32602");
    task_say(&host.peer, TASK_ASK("2", "cancel", ""), "");
    raw_hears_part(&host.peer, "\"id\":2,\"error\":{\"code\":-32602");
    task_say(&host.peer, TASK_ASK("3", "update", ",\"inputResponses\":{}"),
             "x");
    raw_hears_part(&host.peer, "\"id\":3,\"error\":{\"code\":-32602");
    raw_say(&host.peer,
            MODERN_META("4", "tasks/get", TASK_CLAIM, ",\"taskId\":7"));
    raw_hears_part(&host.peer, "\"id\":4,\"error\":{\"code\":-32602");
    raw_say(&host.peer, MODERN_META("5", "tasks/get", TASK_CLAIM, ""));
    raw_hears_part(&host.peer, "\"id\":5,\"error\":{\"code\":-32602");
    finish();
}

static void test_id_may_come_escaped(void **state)
{
    char escaped[FL_JOB_ID + 8];

    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "job");
    snprintf(escaped, sizeof escaped, "\\u%04x%s", id[0], id + 1);
    task_say(&host.peer, TASK_ASK("2", "get", ""), escaped);
    HEARS(&host.peer, "\"id\":2,\"result\"", id);
    finish();
}

static void test_tool_that_failed_is_a_task_that_completed(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "broken");
    task_say(&host.peer, TASK_ASK("2", "get", ""), id);
    HEARS(&host.peer, "\"status\":\"completed\"", "\"isError\":true");
    finish();
}

static void test_error_is_a_task_that_failed(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "wrong");
    task_say(&host.peer, TASK_ASK("2", "get", ""), id);
    const char *line = HEARS(
        &host.peer, "\"status\":\"failed\"", "\"statusMessage\":\"not today\"",
        "\"error\":{\"code\":-32603", "\"message\":\"not today\"");
    assert_null(strstr(line, "500,\"result\""));
    finish();
}

static void test_handler_says_how_it_is_doing(void **state)
{
    char wide[FL_JOB_MESSAGE + 2];

    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "job");
    fl_call_task_status(host.kept[0], "half a \"loaf\"");
    task_say(&host.peer, TASK_ASK("2", "get", ""), id);
    HEARS(&host.peer, "\"statusMessage\":\"half a \\\"loaf\\\"\"");
    memset(wide, 'x', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    fl_call_task_status(host.kept[0], wide);
    task_say(&host.peer, TASK_ASK("2", "get", ""), id);
    const char *at = strstr(raw_hear(&host.peer), "xxx");
    assert_int_equal(strspn(at, "x"), FL_JOB_MESSAGE);
    fl_call_task_status(host.kept[0], wide + 1); /* the most there may be */
    task_say(&host.peer, TASK_ASK("2", "get", ""), id);
    at = strstr(raw_hear(&host.peer), "xxx");
    assert_int_equal(strspn(at, "x"), FL_JOB_MESSAGE);
    fl_call_task_status(host.kept[0], NULL);
    task_say(&host.peer, TASK_ASK("2", "get", ""), id);
    assert_null(strstr(raw_hear(&host.peer), "statusMessage"));
    finish();
}

static void test_cancelled_task_stays_so(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "job");
    task_say(&host.peer, TASK_ASK("2", "cancel", ""), id);
    raw_hears(&host.peer,
              "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"_meta\":{" TAG
              "},\"resultType\":\"complete\"}}");
    assert_int_equal(host.cancelled, 1);
    assert_true(fl_call_cancelled(host.kept[0]));
    task_say(&host.peer, TASK_ASK("3", "get", ""), id);
    HEARS(&host.peer, "\"status\":\"cancelled\"");
    fl_call_task_status(host.kept[0], "unheard");
    host_answer(&host, 0, "too late");
    task_say(&host.peer, TASK_ASK("4", "get", ""), id);
    const char *line = HEARS(&host.peer, "\"status\":\"cancelled\"");
    assert_null(strstr(line, "too late"));
    assert_null(strstr(line, "unheard"));
    task_say(&host.peer, TASK_ASK("5", "cancel", ""), id); /* idempotent */
    HEARS(&host.peer, "\"id\":5,\"result\":{");
    assert_int_equal(host.cancelled, 1);
    finish();
}

static void test_task_is_not_cancelled_as_a_request(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "job");
    raw_say(&host.peer, CANCELLED("1"));
    raw_asks(&host.peer,
             MODERN_CALL("1", "echo", "{\"text\":\"its id is free\"}"),
             MODERN_TEXT("1", "its id is free"));
    assert_int_equal(host.cancelled, 0);
    finish();
}

static void test_task_outlives_its_client(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "job");
    raw_close(&host.peer);
    io_until(host.loop, fl_server_links(host.server) == 0);
    assert_int_equal(host.cancelled, 0);
    fl_call_progress(host.kept[0], 1, 2, "unheard");
    fl_call_logf(host.kept[0], FL_LEVEL_ERROR, NULL, "unheard");
    assert_string_equal(fl_call_revision(host.kept[0]), "2026-07-28");
    assert_ptr_equal(fl_call_loop(host.kept[0]), host.loop);
    host_dial(&host, &other);
    task_say(&other, TASK_ASK("2", "get", ""), id);
    HEARS(&other, "\"status\":\"working\"");
    host_answer(&host, 0, "done");
    task_say(&other, TASK_ASK("3", "get", ""), id);
    HEARS(&other, "\"status\":\"completed\"", "\"text\":\"done\"");
    raw_close(&other);
    finish();
}

static void test_sessions_of_the_other_era_do_not_see_it(void **state)
{
    (void)state;
    task_begin(&host);
    host_greet(&host.peer, "2025-11-25");
    TASK_START(&host.peer, id, "job");
    task_say(&host.peer, LEGACY_ASK("2", "get"), id);
    raw_hears_part(&host.peer, "\"id\":2,\"error\":{\"code\":-32602");
    raw_asks(&host.peer,
             "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tasks/list\"}",
             "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"tasks\":[]}}");
    finish();
}

static void start_with_ttl(const char *ttl, const char *want)
{
    char line[512];

    snprintf(line, sizeof line,
             MODERN_META("1", "tools/call", TASK_CLAIM,
                         ",\"name\":\"job\",\"arguments\":{\"ttl\":%s}"),
             ttl);
    raw_say(&host.peer, line);
    task_copy_id(HEARS(&host.peer, want), id);
}

static void test_ttl_is_bounded(void **state)
{
    (void)state;
    task_begin(&host);
    start_with_ttl("1", "\"ttlMs\":1000,");
    start_with_ttl("999", "\"ttlMs\":1000,");
    start_with_ttl("1001", "\"ttlMs\":1001,");
    start_with_ttl("86400000", "\"ttlMs\":86400000,");
    start_with_ttl("86400001", "\"ttlMs\":86400000,");
    finish();
}

static void check_get(const char *want)
{
    task_say(&host.peer, TASK_ASK("9", "get", ""), id);
    raw_hears_part(&host.peer, want);
}

static void test_result_is_kept_for_its_time_and_no_longer(void **state)
{
    (void)state;
    task_begin(&host);
    start_with_ttl("60000", "\"ttlMs\":60000,");
    start_with_ttl("5000", "\"ttlMs\":5000,");
    host_answer(&host, 1, "done");
    host.now += 4999;
    io_some_turns(host.loop);
    check_get("\"text\":\"done\"");
    host.now += 200; /* timers may be late, never early */
    io_some_turns(host.loop);
    check_get("-32602");
    assert_int_equal(fl_map_count(&host.server->jobs.by_id), 1);
    assert_int_equal(host.server->jobs.bytes, 0);
    finish();
}

static void test_work_past_its_time_is_cancelled(void **state)
{
    (void)state;
    task_begin(&host);
    start_with_ttl("5000", "\"ttlMs\":5000,");
    start_with_ttl("6000", "\"ttlMs\":6000,");
    host.answer_cancelled = true; /* which ends the call at that moment */
    host.now += 8000;
    io_until(host.loop, host.cancelled == 2);
    check_get("-32602");
    assert_false(fl_jobs_are_busy(&host.server->jobs));
    finish();
}

static void test_no_more_tasks_than_there_may_be(void **state)
{
    (void)state;
    task_begin(&host);
    assert_int_equal(host.server->jobs.max, FL_JOBS_MAX);
    host.server->jobs.max = 2;
    TASK_START(&host.peer, id, "job");
    TASK_START(&host.peer, id, "job");
    raw_say(&host.peer, TASK_CALL("2", "job")); /* waits, as others do */
    host_kept(&host, 3);
    raw_hears_nothing(&host.peer);
    host_answer(&host, 2, "done");
    raw_hears(&host.peer, MODERN_TEXT("2", "done"));
    finish();
}

/* {"resultType":"complete","content":[{"type":"text","text":"12345678"}]} */
enum { KEPT_RESULT = 63 + 8 };

static void test_results_are_bounded_together(void **state)
{
    (void)state;
    task_begin(&host);
    assert_int_equal(host.server->jobs.max_bytes, FL_JOBS_BYTES);
    host.server->jobs.max_bytes = 2 * KEPT_RESULT;
    for (int i = 0; i < 3; i++) {
        TASK_START(&host.peer, id, "job");
        host_answer(&host, i, i == 1 ? "12345678" : "abcdefgh");
        assert_int_equal(host.server->jobs.bytes > 2 * KEPT_RESULT, i == 2);
        check_get(i < 2 ? "\"completed\""
                        : "\"message\":\"the result is too large to be kept\"");
    }
    finish();
}

static void test_one_byte_too_many_is_not_kept(void **state)
{
    (void)state;
    task_begin(&host);
    host.server->jobs.max_bytes = KEPT_RESULT;
    TASK_START(&host.peer, id, "job");
    host_answer(&host, 0, "123456789");
    check_get("\"status\":\"failed\"");
    finish();
}

static void test_running_calls_are_bounded_together(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "job");
    host.server->jobs.errands->kept += FL_SESSION_KEPT_MAX;
    raw_say(&host.peer, TASK_CALL("2", "job"));
    host_kept(&host, 2);
    raw_hears_nothing(&host.peer);
    host_answer(&host, 1, "done");
    raw_hears(&host.peer, MODERN_TEXT("2", "done"));
    host.server->jobs.errands->kept -= FL_SESSION_KEPT_MAX;
    finish();
}

static void test_closing_waits_for_tasks_and_then_cancels(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "job");
    fl_server_close(host.server, 5000, host_closed, &host);
    host.now += 4000;
    io_some_turns(host.loop);
    assert_int_equal(host.cancelled, 0);
    host.now += 2000;
    io_until(host.loop, host.cancelled == 1);
    raw_hears_end(&host.peer);
    finish();
}

static void test_closing_is_over_when_the_task_is(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "job");
    fl_server_close(host.server, 5000, host_closed, &host);
    io_some_turns(host.loop);
    host_answer(&host, 0, "done");
    raw_hears_end(&host.peer);
    assert_int_equal(host.cancelled, 0);
    finish();
}

static void test_work_outlives_its_server(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "job");
    fl_server_close(host.server, 0, host_closed, &host);
    raw_hears_end(&host.peer);
    raw_close(&host.peer);
    io_until(host.loop, host.closed == 1);
    fl_server_free(host.server);
    assert_false(fl_call_client_can(host.kept[0], FL_CAN_HOLD_TASKS));
    fl_call_progress(host.kept[0], 1, 2, "unheard");
    fl_call_task_status(host.kept[0], "unheard");
    host_answer(&host, 0, "unheard");
    fl_loop_free(host.loop);
}

#define LISTEN_TASKS(id)                                                       \
    MODERN_META(id, "subscriptions/listen", TASK_CLAIM,                        \
                ",\"notifications\":{\"taskIds\":[\"%s\",\"unknown\"]}")

static void test_whoever_listens_is_told(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "job");
    host_dial(&host, &other);
    task_say(&other, LISTEN_TASKS("\"l\""), id);
    const char *line = HEARS(&other, "subscriptions/acknowledged",
                             "\"notifications\":{\"taskIds\":[\"", id, "\"]}");
    assert_null(strstr(line, "unknown"));
    HEARS(&other,
          "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tasks\",\"params\":"
          "{\"_meta\":{\"" IOMCP "subscriptionId\":\"l\"},\"taskId\":\"",
          id, "\"status\":\"working\"", "\"pollIntervalMs\":500}}");
    raw_hears_nothing(&host.peer);
    host_answer(&host, 0, "done");
    HEARS(&other, "notifications/tasks", "\"status\":\"completed\"",
          "\"text\":\"done\"}]}}}");
    raw_hears_nothing(&host.peer);
    raw_close(&other);
    finish();
}

static void test_whoever_listens_hears_of_cancelling(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "asker");
    task_say(&host.peer, LISTEN_TASKS("7"), id);
    HEARS(&host.peer, "subscriptions/acknowledged");
    HEARS(&host.peer, "notifications/tasks", "\"inputRequests\":{\"name\"");
    task_say(&host.peer, TASK_ASK("8", "cancel", ""), id);
    HEARS(&host.peer, "notifications/tasks", "\"status\":\"cancelled\"");
    HEARS(&host.peer, "\"id\":8,\"result\":{");
    finish();
}

static void test_to_listen_needs_the_extension(void **state)
{
    (void)state;
    task_begin(&host);
    raw_say(&host.peer, LISTEN("1", "{\"taskIds\":[\"x\"]}"));
    HEARS(&host.peer, "\"id\":1,\"error\":{\"code\":-32021", REQUIRED);
    raw_say(&host.peer, LISTEN("2", "{\"taskIds\":7}"));
    HEARS(&host.peer, "\"id\":2,\"error\":{\"code\":-32602",
          "taskIds must be a list");
    raw_say(&host.peer, LISTEN("3", "{\"taskIds\":[7]}"));
    HEARS(&host.peer, "\"id\":3,\"error\":{\"code\":-32602",
          "taskIds must be a list of strings");
    finish();
}

/* So many ids, of which none is known. */
static void listen_to(size_t count, const char *want)
{
    static char line[16384];
    size_t at = (size_t)snprintf(
        line, sizeof line,
        "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"subscriptions/listen\","
        "\"params\":{\"_meta\":{" TASK_CLAIM "},\"notifications\":{"
        "\"taskIds\":[\"a\"",
        count);

    for (size_t i = 1; i < count; i++)
        at += (size_t)snprintf(line + at, sizeof line - at, ",\"a\"");
    snprintf(line + at, sizeof line - at, "]}}}");
    raw_say(&host.peer, line);
    raw_hears_part(&host.peer, want);
}

static void test_listen_takes_so_many_tasks_and_no_more(void **state)
{
    (void)state;
    task_begin(&host);
    listen_to(1024, "subscriptions/acknowledged");
    listen_to(1025, "taskIds must not have more than 1024 elements");
    finish();
}

static void test_task_that_expired_is_not_spoken_of(void **state)
{
    (void)state;
    task_begin(&host);
    start_with_ttl("5000", "\"ttlMs\":5000,");
    task_say(&host.peer, LISTEN_TASKS("7"), id);
    HEARS(&host.peer, "subscriptions/acknowledged");
    HEARS(&host.peer, "notifications/tasks", "\"status\":\"working\"");
    host.now += 6000;
    io_until(host.loop, host.cancelled == 1);
    raw_hears_nothing(&host.peer);
    finish();
}

static void visit(void *user)
{
    (void)user;
    task_visit(
        &host,
        TASK_CALL("1", "job") "\n" TASK_CALL("2", "wrong") "\n" TASK_CALL(
            "3", "two") "\n" TASK_CALL("4", "job") "\n");
}

static void test_tasks_survive_every_failed_allocation(void **state)
{
    (void)state;
    assert_true(ration_each(visit, NULL) > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_discovery_names_the_extension_and_no_capability),
        cmocka_unit_test(test_server_without_such_tools_has_no_tasks),
        cmocka_unit_test(test_task_is_created_flat),
        cmocka_unit_test(test_task_may_begin_after_the_call_was_deferred),
        cmocka_unit_test(test_client_that_holds_no_tasks_waits),
        cmocka_unit_test(test_tool_that_must_needs_the_extension),
        cmocka_unit_test(test_methods_need_the_extension),
        cmocka_unit_test(test_wish_of_the_other_era_is_ignored),
        cmocka_unit_test(test_unknown_task_is_refused),
        cmocka_unit_test(test_id_may_come_escaped),
        cmocka_unit_test(test_tool_that_failed_is_a_task_that_completed),
        cmocka_unit_test(test_error_is_a_task_that_failed),
        cmocka_unit_test(test_handler_says_how_it_is_doing),
        cmocka_unit_test(test_cancelled_task_stays_so),
        cmocka_unit_test(test_task_is_not_cancelled_as_a_request),
        cmocka_unit_test(test_task_outlives_its_client),
        cmocka_unit_test(test_sessions_of_the_other_era_do_not_see_it),
        cmocka_unit_test(test_ttl_is_bounded),
        cmocka_unit_test(test_result_is_kept_for_its_time_and_no_longer),
        cmocka_unit_test(test_work_past_its_time_is_cancelled),
        cmocka_unit_test(test_no_more_tasks_than_there_may_be),
        cmocka_unit_test(test_results_are_bounded_together),
        cmocka_unit_test(test_one_byte_too_many_is_not_kept),
        cmocka_unit_test(test_running_calls_are_bounded_together),
        cmocka_unit_test(test_closing_waits_for_tasks_and_then_cancels),
        cmocka_unit_test(test_closing_is_over_when_the_task_is),
        cmocka_unit_test(test_work_outlives_its_server),
        cmocka_unit_test(test_whoever_listens_is_told),
        cmocka_unit_test(test_whoever_listens_hears_of_cancelling),
        cmocka_unit_test(test_to_listen_needs_the_extension),
        cmocka_unit_test(test_listen_takes_so_many_tasks_and_no_more),
        cmocka_unit_test(test_task_that_expired_is_not_spoken_of),
        cmocka_unit_test(test_tasks_survive_every_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
