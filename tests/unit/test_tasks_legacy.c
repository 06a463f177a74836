/*
 * test_tasks_legacy.c - tasks as revision 2025-11-25 has them: asked for by
 * the client, and its session's.
 */
#include "task_host.h"

#include "support/ration.h"

static server_host host;
static raw_peer other;
static char id[FL_JOB_ID + 1];

#define TASK ",\"task\":{}"
#define METHOD_NOT_FOUND(n) "\"id\":" n ",\"error\":{\"code\":-32601"
#define INVALID(n) "\"id\":" n ",\"error\":{\"code\":-32602"
#define STATUS                                                                 \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tasks/"                   \
    "status\",\"params\""                                                      \
    ":{\"taskId\":\""

static void begin(void)
{
    task_begin(&host);
    host_greet(&host.peer, "2025-11-25");
}

static const char *start(raw_peer *peer, const char *line)
{
    raw_say(peer, line);
    const char *heard =
        HEARS(peer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"task\":{");
    task_copy_id(heard, id);
    return heard;
}

static void ask(const char *format, const char *want)
{
    task_say(&host.peer, format, id);
    raw_hears_part(&host.peer, want);
}

static void hears_status(const char *status)
{
    HEARS(&host.peer, STATUS, id, status);
}

static void test_capability_and_support_are_declared(void **state)
{
    (void)state;
    task_begin(&host);
    raw_say(&host.peer, INITIALIZE("0", "2025-11-25"));
    const char *line =
        HEARS(&host.peer, "\"tasks\":{\"list\":{},\"cancel\":{},\"requests\":{"
                          "\"tools\":{\"call\":{}}}}");
    assert_null(strstr(line, "extensions"));
    raw_say(&host.peer,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
    line = HEARS(&host.peer, "\"execution\":{\"taskSupport\":\"required\"}",
                 "\"execution\":{\"taskSupport\":\"optional\"}");
    const char *never = strstr(line, "\"name\":\"never\"");
    assert_non_null(never);
    assert_true(strstr(never, "execution") > strstr(never, "\"name\":\"quick"));
    host_end(&host);
}

static void test_older_revisions_have_no_tasks(void **state)
{
    (void)state;
    task_begin(&host);
    raw_say(&host.peer, INITIALIZE("0", "2025-06-18"));
    assert_null(strstr(raw_hear(&host.peer), "\"tasks\""));
    raw_say(&host.peer, INITIALIZED);
    raw_say(&host.peer,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
    assert_null(strstr(raw_hear(&host.peer), "taskSupport"));
    raw_say(&host.peer,
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tasks/list\"}");
    raw_hears_part(&host.peer, METHOD_NOT_FOUND("2"));
    raw_say(&host.peer, LEGACY_CALL("3", "must", TASK));
    raw_hears_part(&host.peer, METHOD_NOT_FOUND("3"));
    raw_say(&host.peer, LEGACY_CALL("4", "job", TASK)); /* is ignored */
    host_kept(&host, 1);
    host_answer(&host, 0, "done");
    raw_hears(&host.peer, TEXT_ANSWER("4", "done"));
    host_end(&host);
}

/* It was told at initialize what there is. */
static void test_wish_is_ignored_where_nothing_was_declared(void **state)
{
    const fl_tool tool = {
        .name = "new", .task = FL_TASK_MAY, .call = tool_job, .user = &host};

    (void)state;
    host_begin(&host, "2025-11-25");
    assert_int_equal(fl_server_add_tool(host.server, &tool), FL_OK);
    raw_hears_part(&host.peer, "list_changed");
    raw_say(&host.peer, LEGACY_CALL("1", "new", TASK));
    host_kept(&host, 1);
    host_answer(&host, 0, "done");
    raw_hears(&host.peer, TEXT_ANSWER("1", "done"));
    host_end(&host);
}

static void test_task_is_there_before_the_handler_runs(void **state)
{
    (void)state;
    begin();
    const char *line = start(&host.peer, LEGACY_CALL("1", "job", TASK));
    assert_non_null(strstr(line, "\"status\":\"working\""));
    assert_non_null(strstr(line, "\"ttl\":3600000,\"pollInterval\":500}}}"));
    assert_null(strstr(line, "resultType"));
    host_kept(&host, 1);
    assert_true(fl_call_client_can(host.kept[0], FL_CAN_HOLD_TASKS));
    ask(LEGACY_ASK("2", "get"), "\"id\":2,\"result\":{\"taskId\":\"");
    host_answer(&host, 0, "done");
    hears_status("\"status\":\"completed\"");
    ask(LEGACY_ASK("3", "get"), "\"status\":\"completed\"");
    task_say(&host.peer, LEGACY_ASK("4", "result"), id);
    HEARS(
        &host.peer,
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"_meta\":{" FL_JOB_RELATED,
        id, "\"}},\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}}");
    host_end(&host);
}

static void test_handler_that_answers_at_once_is_a_task_too(void **state)
{
    (void)state;
    begin();
    start(&host.peer, LEGACY_CALL("1", "fail", TASK));
    hears_status("\"status\":\"failed\"");
    ask(LEGACY_ASK("2", "get"), "\"statusMessage\":\"the tool failed");
    ask(LEGACY_ASK("3", "result"), "\"isError\":true");
    start(&host.peer, LEGACY_CALL("1", "quick", TASK)); /* says nothing */
    hears_status("\"status\":\"failed\"");
    ask(LEGACY_ASK("3", "result"),
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32603,\"message\":"
        "\"the handler did not answer\"}}");
    host_end(&host);
}

static void test_error_of_a_task_is_its_result(void **state)
{
    (void)state;
    begin();
    start(&host.peer, LEGACY_CALL("1", "wrong", TASK));
    hears_status("\"status\":\"failed\",\"statusMessage\":\"not today\"");
    ask(LEGACY_ASK("3", "result"),
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32050,\"message\":"
        "\"not today\"}}");
    host_end(&host);
}

static void test_meta_of_a_result_is_kept_and_ours_stands(void **state)
{
    (void)state;
    begin();
    start(&host.peer, LEGACY_CALL("1", "tagged", TASK));
    hears_status("\"status\":\"completed\"");
    task_say(&host.peer, LEGACY_ASK("3", "result"), id);
    const char *line = HEARS(&host.peer, id, "\"},\"a\":1},\"content\":[]}}");
    assert_null(strstr(line, "\"taskId\":\"x\""));
    host_end(&host);
}

static void test_tool_says_whether_it_can_be_one(void **state)
{
    (void)state;
    begin();
    raw_say(&host.peer, LEGACY_CALL("1", "never", TASK));
    raw_hears_part(&host.peer, METHOD_NOT_FOUND("1"));
    raw_say(&host.peer, LEGACY_CALL("2", "must", ""));
    raw_hears_part(&host.peer, METHOD_NOT_FOUND("2"));
    start(&host.peer, LEGACY_CALL("1", "must", TASK));
    raw_say(&host.peer, LEGACY_CALL("3", "job", "")); /* the client chooses */
    host_kept(&host, 2);
    host_answer(&host, 1, "done");
    raw_hears(&host.peer, TEXT_ANSWER("3", "done"));
    host_end(&host);
}

static void test_wish_that_is_wrong_is_refused(void **state)
{
    static const char *const wrong[] = {
        "[]", "7", "{\"ttl\":\"1\"}", "{\"ttl\":-1}", "{\"ttl\":1.5}",
    };
    char line[512];

    (void)state;
    begin();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(line, sizeof line, LEGACY_CALL("1", "job", ",\"task\":%s"),
                 wrong[i]);
        raw_say(&host.peer, line);
        raw_hears_part(&host.peer, INVALID("1"));
    }
    assert_int_equal(host.kept_count, 0);
    host_end(&host);
}

static void check_ttl(const char *task, const char *want)
{
    char line[512];

    snprintf(line, sizeof line, LEGACY_CALL("1", "job", "%s"), task);
    if (strstr(start(&host.peer, line), want) == NULL)
        fail_msg("no %s", want);
}

static void test_client_says_how_long(void **state)
{
    (void)state;
    begin();
    check_ttl(",\"task\":{\"ttl\":null}", "\"ttl\":3600000,");
    check_ttl(",\"task\":{\"ttl\":0}", "\"ttl\":1000,");
    check_ttl(",\"task\":{\"ttl\":1000000000000}", "\"ttl\":86400000,");
    check_ttl(",\"task\":{\"ttl\":60000}", "\"ttl\":60000,");
    host_kept(&host, 4);
    host_answer(&host, 3, "done");
    hears_status("\"status\":\"completed\"");
    host.now += 59999;
    io_some_turns(host.loop);
    ask(LEGACY_ASK("2", "get"), "\"status\":\"completed\"");
    host.now += 1000;
    io_some_turns(host.loop);
    ask(LEGACY_ASK("2", "get"), INVALID("2"));
    host_end(&host);
}

/* Unless the client has said so, the handler may. */
static void test_handler_says_how_long(void **state)
{
    (void)state;
    begin();
    raw_say(&host.peer,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\""
            ":{\"name\":\"job\",\"arguments\":{\"ttl\":5000},\"task\":{}}}");
    task_copy_id(HEARS(&host.peer, "\"ttl\":3600000,"), id);
    ask(LEGACY_ASK("2", "get"), "\"ttl\":5000,");
    raw_say(&host.peer,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\""
            ":{\"name\":\"job\",\"arguments\":{\"ttl\":5000},\"task\":{"
            "\"ttl\":9000}}}");
    task_copy_id(HEARS(&host.peer, "\"ttl\":9000,"), id);
    ask(LEGACY_ASK("2", "get"), "\"ttl\":9000,");
    host_end(&host);
}

static void test_result_waits_until_there_is_one(void **state)
{
    (void)state;
    begin();
    start(&host.peer, LEGACY_CALL("1", "job", TASK));
    task_say(&host.peer, LEGACY_ASK("2", "result"), id);
    task_say(&host.peer, LEGACY_ASK("3", "result"), id);
    raw_hears_nothing(&host.peer);
    ask(LEGACY_ASK("4", "get"), "\"status\":\"working\"");
    host_answer(&host, 0, "done");
    hears_status("\"status\":\"completed\"");
    HEARS(&host.peer, "\"id\":2,\"result\":{", "\"text\":\"done\"");
    HEARS(&host.peer, "\"id\":3,\"result\":{", "\"text\":\"done\"");
    host_end(&host);
}

static void test_waiting_can_be_given_up(void **state)
{
    (void)state;
    begin();
    start(&host.peer, LEGACY_CALL("1", "job", TASK));
    task_say(&host.peer, LEGACY_ASK("2", "result"), id);
    task_say(&host.peer, LEGACY_ASK("2", "result"), id);
    raw_hears_part(&host.peer, "a request with this id is in flight");
    raw_say(&host.peer, CANCELLED("2"));
    raw_hears_nothing(&host.peer);
    assert_int_equal(host.cancelled, 0); /* the task goes on */
    ask(LEGACY_ASK("2", "get"), "\"status\":\"working\"");
    host_answer(&host, 0, "done");
    hears_status("\"status\":\"completed\"");
    raw_hears_nothing(&host.peer);
    host_end(&host);
}

static void test_cancelled_task_is_told_and_stays_so(void **state)
{
    (void)state;
    begin();
    start(&host.peer, LEGACY_CALL("1", "job", TASK));
    task_say(&host.peer, LEGACY_ASK("2", "result"), id);
    task_say(&host.peer, LEGACY_ASK("3", "cancel"), id);
    raw_hears(&host.peer,
              ERROR_ANSWER("2", "-32600", "\"the task was cancelled\""));
    HEARS(&host.peer, "\"id\":3,\"result\":{\"taskId\":\"", id,
          "\"status\":\"cancelled\",\"statusMessage\":\"the task was "
          "cancelled\"");
    assert_int_equal(host.cancelled, 1);
    host_answer(&host, 0, "too late");
    ask(LEGACY_ASK("4", "get"), "\"status\":\"cancelled\"");
    ask(LEGACY_ASK("5", "result"), "\"code\":-32600");
    ask(LEGACY_ASK("6", "cancel"), INVALID("6"));
    host_end(&host);
}

static void test_task_that_is_over_cannot_be_cancelled(void **state)
{
    (void)state;
    begin();
    start(&host.peer, LEGACY_CALL("1", "wrong", TASK));
    hears_status("\"status\":\"failed\"");
    ask(LEGACY_ASK("6", "cancel"), INVALID("6"));
    host_end(&host);
}

static void test_other_sessions_cannot_see_it(void **state)
{
    static const char *const asks[] = {LEGACY_ASK("2", "get"),
                                       LEGACY_ASK("2", "cancel"),
                                       LEGACY_ASK("2", "result")};

    (void)state;
    begin();
    start(&host.peer, LEGACY_CALL("1", "job", TASK));
    host_dial(&host, &other);
    host_greet(&other, "2025-11-25");
    for (size_t i = 0; i < 3; i++) {
        task_say(&other, asks[i], id);
        raw_hears_part(&other, INVALID("2"));
    }
    raw_asks(&other, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tasks/list\"}",
             "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"tasks\":[]}}");
    task_say(&other, TASK_ASK("4", "get", ""), id); /* nor the other era */
    raw_hears_part(&other, INVALID("4"));
    raw_close(&other);
    host_end(&host);
}

static void test_session_that_is_over_takes_its_tasks_along(void **state)
{
    (void)state;
    begin();
    start(&host.peer, LEGACY_CALL("1", "job", TASK));
    start(&host.peer, LEGACY_CALL("1", "wrong", TASK));
    hears_status("\"status\":\"failed\"");
    raw_finish(&host.peer); /* nobody waits: the link need not stay */
    io_until(host.loop, (host.now += 100, host.cancelled == 1));
    raw_hears_end(&host.peer);
    io_until(host.loop, fl_server_links(host.server) == 0);
    assert_int_equal(fl_map_count(&host.server->jobs.by_id), 0);
    host_end(&host);
}

static void test_link_stays_for_who_waits(void **state)
{
    (void)state;
    begin();
    start(&host.peer, LEGACY_CALL("1", "job", TASK));
    task_say(&host.peer, LEGACY_ASK("2", "result"), id);
    raw_finish(&host.peer);
    io_some_turns(host.loop);
    assert_int_equal(host.cancelled, 0);
    host_answer(&host, 0, "done");
    hears_status("\"status\":\"completed\"");
    HEARS(&host.peer, "\"id\":2,\"result\":{", "\"text\":\"done\"");
    raw_hears_end(&host.peer);
    host_end(&host);
}

static void test_tasks_are_listed_in_pages(void **state)
{
    char ids[3][FL_JOB_ID + 1], line[512];

    (void)state;
    begin();
    fl_server_set_page_size(host.server, 2);
    for (int i = 0; i < 3; i++) {
        start(&host.peer, LEGACY_CALL("1", "job", TASK));
        memcpy(ids[i], id, sizeof id);
    }
    raw_say(&host.peer,
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tasks/list\"}");
    const char *heard =
        HEARS(&host.peer, ids[0], ids[1], "],\"nextCursor\":\"");
    assert_null(strstr(heard, ids[2]));
    const char *cursor = strstr(heard, "\"nextCursor\":") + 13;
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tasks/list\","
             "\"params\":{\"cursor\":%.*s}}",
             (int)(strchr(cursor + 1, '"') + 1 - cursor), cursor);
    raw_say(&host.peer, line);
    heard = HEARS(&host.peer, ids[2]);
    assert_null(strstr(heard, ids[1]));
    assert_null(strstr(heard, "nextCursor"));
    raw_say(&host.peer,
            "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tasks/list\","
            "\"params\":{\"cursor\":\"dG9vbHM6MQ==\"}}"); /* tools:1 */
    raw_hears_part(&host.peer, INVALID("4"));
    host_end(&host);
}

static void test_progress_is_told_for_as_long_as_it_runs(void **state)
{
    (void)state;
    begin();
    start(&host.peer, LEGACY_CALL("1", "job", TASK));
    fl_call_progress(host.kept[0], 1, 2, NULL);
    HEARS(&host.peer,
          "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
          "\"params\":{\"_meta\":{" FL_JOB_RELATED,
          id, "\"}},\"progressToken\":7,\"progress\":1,\"total\":2}}");
    fl_call_logf(host.kept[0], FL_LEVEL_ERROR, NULL, "word");
    HEARS(&host.peer, "notifications/message", FL_JOB_RELATED, "word");
    task_say(&host.peer, LEGACY_ASK("3", "cancel"), id);
    raw_hears_part(&host.peer, "\"id\":3");
    fl_call_progress(host.kept[0], 2, 2, NULL);
    raw_hears_nothing(&host.peer);
    host_end(&host);
}

static void test_session_has_no_more_than_it_may(void **state)
{
    (void)state;
    begin();
    assert_int_equal(host.server->jobs.max_of_session, FL_JOBS_OF_SESSION);
    host.server->jobs.max_of_session = 2;
    start(&host.peer, LEGACY_CALL("1", "wrong", TASK));
    hears_status("failed");
    start(&host.peer, LEGACY_CALL("1", "job", TASK));
    raw_say(&host.peer, LEGACY_CALL("2", "job", TASK));
    raw_hears(&host.peer, ERROR_ANSWER("2", "-32010",
                                       "\"too many tasks\",\"data\":{\"limit\":"
                                       "2}"));
    assert_int_equal(host.kept_count, 1);
    host_dial(&host, &other); /* another session has its own */
    host_greet(&other, "2025-11-25");
    start(&other, LEGACY_CALL("1", "job", TASK));
    raw_close(&other);
    host_end(&host);
}

static void test_who_waits_is_told_that_it_expired(void **state)
{
    (void)state;
    begin();
    start(&host.peer, LEGACY_CALL("1", "job", ",\"task\":{\"ttl\":2000}"));
    task_say(&host.peer, LEGACY_ASK("2", "result"), id);
    io_some_turns(host.loop);
    host.now += 3000;
    raw_hears(&host.peer,
              ERROR_ANSWER("2", "-32602", "\"the task has expired\""));
    io_until(host.loop, host.cancelled == 1);
    host_end(&host);
}

static void test_closing_cancels_tasks_and_tells_who_waits(void **state)
{
    (void)state;
    begin();
    start(&host.peer, LEGACY_CALL("1", "job", TASK));
    task_say(&host.peer, LEGACY_ASK("2", "result"), id);
    io_some_turns(host.loop);
    fl_server_close(host.server, 0, host_closed, &host);
    raw_hears_part(&host.peer, "the server is shutting down");
    raw_hears_end(&host.peer);
    assert_int_equal(host.cancelled, 1);
    host_end(&host);
}

static void visit(void *user)
{
    char lines[2048];

    snprintf(lines, sizeof lines, "%s\n%s\n%s\n%s\n%s\n%s\n",
             INITIALIZE("0", "2025-11-25"), INITIALIZED,
             LEGACY_CALL("1", "job", TASK), LEGACY_CALL("2", "tagged", TASK),
             LEGACY_CALL("3", "quick", TASK), LEGACY_CALL("4", "fail", TASK));
    (void)user;
    task_visit(&host, lines);
}

static void test_tasks_survive_every_failed_allocation(void **state)
{
    (void)state;
    assert_true(ration_each(visit, NULL) > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capability_and_support_are_declared),
        cmocka_unit_test(test_older_revisions_have_no_tasks),
        cmocka_unit_test(test_wish_is_ignored_where_nothing_was_declared),
        cmocka_unit_test(test_task_is_there_before_the_handler_runs),
        cmocka_unit_test(test_handler_that_answers_at_once_is_a_task_too),
        cmocka_unit_test(test_error_of_a_task_is_its_result),
        cmocka_unit_test(test_meta_of_a_result_is_kept_and_ours_stands),
        cmocka_unit_test(test_tool_says_whether_it_can_be_one),
        cmocka_unit_test(test_wish_that_is_wrong_is_refused),
        cmocka_unit_test(test_client_says_how_long),
        cmocka_unit_test(test_handler_says_how_long),
        cmocka_unit_test(test_result_waits_until_there_is_one),
        cmocka_unit_test(test_waiting_can_be_given_up),
        cmocka_unit_test(test_cancelled_task_is_told_and_stays_so),
        cmocka_unit_test(test_task_that_is_over_cannot_be_cancelled),
        cmocka_unit_test(test_other_sessions_cannot_see_it),
        cmocka_unit_test(test_session_that_is_over_takes_its_tasks_along),
        cmocka_unit_test(test_link_stays_for_who_waits),
        cmocka_unit_test(test_tasks_are_listed_in_pages),
        cmocka_unit_test(test_progress_is_told_for_as_long_as_it_runs),
        cmocka_unit_test(test_session_has_no_more_than_it_may),
        cmocka_unit_test(test_who_waits_is_told_that_it_expired),
        cmocka_unit_test(test_closing_cancels_tasks_and_tells_who_waits),
        cmocka_unit_test(test_tasks_survive_every_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
