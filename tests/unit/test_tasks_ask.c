/*
 * test_tasks_ask.c - tasks that ask their client back, in both eras.
 */
#include "task_host.h"

#include "support/ration.h"

static server_host host;
static char id[FL_JOB_ID + 1];

#define ANSWERS(inner) ",\"inputResponses\":{" inner "}"
#define ACCEPT(name)                                                           \
    "{\"action\":\"accept\",\"content\":{\"name\":\"" name "\"}}"

static void ask(const char *format, const char *want)
{
    task_say(&host.peer, format, id);
    raw_hears_part(&host.peer, want);
}

static void test_task_asks_and_is_answered(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "asker");
    task_say(&host.peer, TASK_ASK("2", "get", ""), id);
    const char *line =
        HEARS(&host.peer, "\"status\":\"input_required\"",
              "\"inputRequests\":{\"name\":{\"method\":\"elicitation/create\","
              "\"params\":{",
              "\"message\":\"Who?\"");
    assert_null(strstr(line, "requestState"));
    assert_null(strstr(line, "500,\"result\""));
    ask(TASK_ASK("3", "update", ANSWERS("\"unknown\":{\"ignored\":true}")),
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"_meta\":{" TAG
        "},\"resultType\":\"complete\"}}");
    ask(TASK_ASK("4", "get", ""), "\"status\":\"input_required\"");
    ask(TASK_ASK("5", "update", ANSWERS("\"name\":" ACCEPT("Ann"))),
        "\"id\":5,\"result\":{");
    task_say(&host.peer, TASK_ASK("6", "get", ""), id);
    line = HEARS(&host.peer, "\"status\":\"completed\"", "Ann");
    assert_null(strstr(line, "inputRequests"));
    /* what is over takes no answers, and does not mind them */
    ask(TASK_ASK("7", "update", ANSWERS("\"name\":" ACCEPT("Eve"))),
        "\"id\":7,\"result\":{");
    ask(TASK_ASK("8", "get", ""), "Ann");
    host_end(&host);
}

static void test_answers_may_come_in_parts(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "two");
    task_say(&host.peer, TASK_ASK("2", "get", ""), id);
    HEARS(&host.peer, "\"inputRequests\":{\"one\":{", "\"two\":{\"method\"");
    ask(TASK_ASK("3", "update", ANSWERS("\"one\":" ACCEPT("A"))),
        "\"id\":3,\"result\":{");
    task_say(&host.peer, TASK_ASK("4", "get", ""), id);
    const char *line = HEARS(&host.peer, "\"status\":\"input_required\"",
                             "\"inputRequests\":{\"two\":{");
    assert_null(strstr(line, "\"one\""));
    ask(TASK_ASK("5", "update",
                 ANSWERS("\"one\":" ACCEPT("Z") ",\"two\":" ACCEPT("B"))),
        "\"id\":5,\"result\":{");
    task_say(&host.peer, TASK_ASK("6", "get", ""), id);
    line = HEARS(&host.peer, "\"status\":\"completed\"",
                 "{\\\"name\\\":\\\"A\\\"} {\\\"name\\\":\\\"B\\\"}");
    host_end(&host);
}

static void test_answers_must_be_an_object(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "asker");
    ask(TASK_ASK("3", "update", ",\"inputResponses\":[]"),
        "\"id\":3,\"error\":{\"code\":-32602");
    ask(TASK_ASK("3", "update", ""), "\"id\":3,\"error\":{\"code\":-32602");
    host_end(&host);
}

static void test_task_that_asks_can_be_cancelled(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "asker");
    ask(TASK_ASK("3", "cancel", ""), "\"id\":3,\"result\":{");
    task_say(&host.peer, TASK_ASK("4", "get", ""), id);
    const char *line = HEARS(&host.peer, "\"status\":\"cancelled\"");
    assert_null(strstr(line, "inputRequests"));
    assert_false(fl_jobs_are_busy(&host.server->jobs));
    ask(TASK_ASK("5", "update", ANSWERS("\"name\":" ACCEPT("Ann"))),
        "\"id\":5,\"result\":{");
    ask(TASK_ASK("6", "get", ""), "\"status\":\"cancelled\"");
    host_end(&host);
}

static void test_task_that_asks_expires(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "asker");
    host.now += FL_JOB_TTL_MS + 10000;
    io_some_turns(host.loop);
    raw_close(&host.peer); /* that link was idle for too long */
    host_dial(&host, &host.peer);
    ask(TASK_ASK("4", "get", ""), "-32602");
    assert_false(fl_jobs_are_busy(&host.server->jobs));
    host_end(&host);
}

static void test_client_goes_and_another_answers(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "asker");
    raw_close(&host.peer);
    io_until(host.loop, fl_server_links(host.server) == 0);
    host_dial(&host, &host.peer);
    ask(TASK_ASK("5", "update", ANSWERS("\"name\":" ACCEPT("Ann"))),
        "\"id\":5,\"result\":{");
    ask(TASK_ASK("6", "get", ""), "Ann");
    host_end(&host);
}

static void test_server_closes_while_a_task_asks(void **state)
{
    (void)state;
    task_begin(&host);
    TASK_START(&host.peer, id, "asker");
    fl_server_close(host.server, 1000, host_closed, &host);
    io_some_turns(host.loop);
    host.now += 2000;
    raw_hears_end(&host.peer);
    host_end(&host);
}

/* What was asked before there was a task is known to it. */
static void test_rounds_before_the_task(void **state)
{
    char state_token[4096], line[8192];

    (void)state;
    task_begin(&host);
    raw_say(&host.peer, TASK_CALL("1", "composed"));
    const char *heard =
        HEARS(&host.peer, "\"resultType\":\"input_required\"", "\"user_name\"");
    assert_null(strstr(heard, "taskId"));
    const char *from = strstr(heard, "\"requestState\":\"");
    assert_non_null(from);
    snprintf(state_token, sizeof state_token, "%.*s",
             (int)strcspn(from + 16, "\""), from + 16);
    snprintf(line, sizeof line,
             MODERN_META("2", "tools/call", TASK_CLAIM,
                         ",\"name\":\"composed\",\"arguments\":{},"
                         "\"requestState\":\"%s\"" ANSWERS(
                             "\"user_name\":" ACCEPT("Alice"))),
             state_token);
    raw_say(&host.peer, line);
    heard = HEARS(&host.peer, "\"id\":2,", "\"resultType\":\"task\"");
    assert_null(strstr(heard, "requestState"));
    assert_null(strstr(heard, "inputRequests"));
    task_copy_id(heard, id);
    task_say(&host.peer, TASK_ASK("3", "get", ""), id);
    HEARS(&host.peer, "\"status\":\"completed\"", "Alice");
    host_end(&host);
}

static void begin_legacy(const char *name)
{
    char line[512];

    task_begin(&host);
    raw_say(&host.peer,
            "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\""
            ":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{"
            "\"elicitation\":{}},\"clientInfo\":{\"name\":\"raw\","
            "\"version\":\"0\"}}}");
    raw_hears_part(&host.peer, "2025-11-25");
    raw_say(&host.peer, INITIALIZED);
    snprintf(line, sizeof line, LEGACY_CALL("1", "%s", ",\"task\":{}"), name);
    raw_say(&host.peer, line);
    task_copy_id(HEARS(&host.peer, "\"id\":1,\"result\":{\"task\":{"), id);
}

#define QUESTION "\"method\":\"elicitation/create\""

/* The number of the question that is heard next. */
static void hears_question(char number[24])
{
    const char *line =
        HEARS(&host.peer, QUESTION, "\"_meta\":{" FL_JOB_RELATED, id);
    const char *at = strstr(line, "\"id\":");

    assert_non_null(at);
    snprintf(number, 24, "%.*s", (int)strspn(at + 5, "0123456789"), at + 5);
}

static void answer(const char *number)
{
    char line[256];

    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":" ACCEPT("Ann") "}",
             number);
    raw_say(&host.peer, line);
}

/* By the result of whose request it is asked (MCP 2025-11-25 tasks, "Input
 * Required Status"). */
static void test_legacy_task_asks_who_wants_its_result(void **state)
{
    char number[24];

    (void)state;
    begin_legacy("asker");
    HEARS(&host.peer, "notifications/tasks/status", "input_required");
    raw_hears_nothing(&host.peer);
    ask(LEGACY_ASK("2", "get"), "\"status\":\"input_required\"");
    task_say(&host.peer, LEGACY_ASK("3", "result"), id);
    hears_question(number);
    answer(number);
    HEARS(&host.peer, "notifications/tasks/status", "working");
    HEARS(&host.peer, "notifications/tasks/status", "completed");
    HEARS(&host.peer, "\"id\":3,\"result\":{", "Ann");
    host_end(&host);
}

/* A handler that neither defers nor becomes one is a task all the same. */
static void test_legacy_task_may_ask_before_it_is_deferred(void **state)
{
    char number[24];

    (void)state;
    begin_legacy("composed");
    HEARS(&host.peer, "notifications/tasks/status", "input_required");
    task_say(&host.peer, LEGACY_ASK("3", "result"), id);
    hears_question(number);
    answer(number);
    HEARS(&host.peer, "notifications/tasks/status", "working");
    HEARS(&host.peer, "notifications/tasks/status", "completed");
    HEARS(&host.peer, "\"id\":3,\"result\":{", "Ann");
    host_end(&host);
}

static void test_legacy_question_outlives_who_waited(void **state)
{
    char number[24];

    (void)state;
    begin_legacy("asker");
    HEARS(&host.peer, "notifications/tasks/status", "input_required");
    task_say(&host.peer, LEGACY_ASK("3", "result"), id);
    hears_question(number);
    raw_say(&host.peer, CANCELLED("3"));
    answer(number);
    HEARS(&host.peer, "notifications/tasks/status", "working");
    HEARS(&host.peer, "notifications/tasks/status", "completed");
    raw_hears_nothing(&host.peer);
    ask(LEGACY_ASK("4", "result"), "Ann");
    host_end(&host);
}

static void test_legacy_question_is_taken_back(void **state)
{
    char number[24];

    (void)state;
    begin_legacy("asker");
    HEARS(&host.peer, "notifications/tasks/status", "input_required");
    task_say(&host.peer, LEGACY_ASK("3", "result"), id);
    hears_question(number);
    task_say(&host.peer, LEGACY_ASK("4", "cancel"), id);
    HEARS(&host.peer, "\"id\":3,\"error\":{\"code\":-32600");
    HEARS(&host.peer, "notifications/cancelled", number);
    HEARS(&host.peer, "\"id\":4,\"result\":{", "\"status\":\"cancelled\"");
    host_end(&host);
}

static void test_legacy_session_goes_while_its_task_asks(void **state)
{
    char number[24];

    (void)state;
    begin_legacy("asker");
    HEARS(&host.peer, "notifications/tasks/status", "input_required");
    task_say(&host.peer, LEGACY_ASK("3", "result"), id);
    hears_question(number);
    raw_close(&host.peer);
    io_until(host.loop, (host.now += 500, fl_server_links(host.server) == 0));
    assert_int_equal(fl_map_count(&host.server->jobs.by_id), 0);
    host_end(&host);
}

static void visit(void *user)
{
    (void)user;
    task_visit(
        &host,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
        "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"elicitation\":"
        "{}},\"clientInfo\":{\"name\":\"raw\",\"version\":\"0\"}}}"
        "\n" INITIALIZED
        "\n" LEGACY_CALL("1", "asker", ",\"task\":{}") "\n" TASK_CALL(
            "2", "asker") "\n" TASK_CALL("3", "two") "\n");
}

static void test_asking_survives_every_failed_allocation(void **state)
{
    (void)state;
    assert_true(ration_each(visit, NULL) > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_task_asks_and_is_answered),
        cmocka_unit_test(test_answers_may_come_in_parts),
        cmocka_unit_test(test_answers_must_be_an_object),
        cmocka_unit_test(test_task_that_asks_can_be_cancelled),
        cmocka_unit_test(test_task_that_asks_expires),
        cmocka_unit_test(test_client_goes_and_another_answers),
        cmocka_unit_test(test_server_closes_while_a_task_asks),
        cmocka_unit_test(test_rounds_before_the_task),
        cmocka_unit_test(test_legacy_task_asks_who_wants_its_result),
        cmocka_unit_test(test_legacy_task_may_ask_before_it_is_deferred),
        cmocka_unit_test(test_legacy_question_outlives_who_waited),
        cmocka_unit_test(test_legacy_question_is_taken_back),
        cmocka_unit_test(test_legacy_session_goes_while_its_task_asks),
        cmocka_unit_test(test_asking_survives_every_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
