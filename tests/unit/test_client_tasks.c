/*
 * test_client_tasks.c - requests that a server makes tasks of: how they are
 * followed to their end, in the way of 2026-07-28 and in that of 2025-11-25.
 */
#include "client_talk.h"

#define EXTENSION                                                              \
    "{\"tools\":{},\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}"

#define CORE                                                                   \
    "{\"tools\":{},\"tasks\":{\"list\":{},\"cancel\":{},\"requests\":{"        \
    "\"tools\":{\"call\":{}}}}}"

#define CREATED                                                                \
    "{\"resultType\":\"task\",\"taskId\":\"t\\u0031\",\"status\":\"working\"," \
    "\"createdAt\":\"2026-01-01T00:00:00Z\",\"ttlMs\":null,"                   \
    "\"pollIntervalMs\":200}"

#define TASK(status, more)                                                     \
    "{\"resultType\":\"complete\",\"taskId\":\"t1\",\"status\":\"" status      \
    "\"" more "}"

#define CONFIRM(key)                                                           \
    "\"" key "\":{\"method\":\"elicitation/create\",\"params\":{\"message\":"  \
    "\"Sure?\",\"requestedSchema\":{\"properties\":{\"ok\":{\"default\":true}" \
    "}}}}"

static int told;
static char task[64];

static void on_task(fl_client *client, fl_span id, void *user)
{
    (void)client, (void)user;
    told++;
    desk_keep(task, sizeof task, id);
}

static const fl_client_options able = {.handlers = &talk_handlers,
                                       .tasks = true};
static const fl_request_options wanted = {
    .timeout_ms = 1000, .task = true, .on_task = on_task};

/* Up to a task that works. */
static void begin_modern(uint64_t *id)
{
    told = 0;
    talk_modern_with(&able, EXTENSION);
    assert_int_equal(talk_call(&wanted, id), FL_OK);
    talk_hears("2", "tools/call",
               "\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}");
    talk_answer("2", CREATED);
    io_until(at.loop, told == 1);
    assert_string_equal(task, "t1");
}

static void look(const char *id)
{
    desk_digest();
    at.now += 199;
    raw_hears_nothing(&said.server);
    at.now += 1;
    talk_hears(id, "tasks/get", "},\"taskId\":\"t\\u0031\"}}");
}

static void test_client_tasks_are_followed_to_their_result(void **state)
{
    (void)state;
    begin_modern(NULL);
    look("3");
    talk_answer("3", TASK("working", ""));
    look("4");
    talk_answer("4", TASK("working", ",\"pollIntervalMs\":100000000"));
    desk_digest();
    at.now += 3600 * 1000 - 1; /* not less often than once an hour */
    raw_hears_nothing(&said.server);
    at.now += 1;
    talk_hears("5", "tasks/get", "");
    assert_int_equal(at.answers, 0);
    talk_answer("5", TASK("completed", ",\"result\":{\"content\":[1]}"));
    talk_sees_answer(FL_OK, "{\"content\":[1]}");
    assert_string_equal(at.result, "{\"content\":[1]}");
    assert_int_equal(told, 1);
    talk_end();
}

static void check_end(const char *answer, fl_status status, const char *part)
{
    begin_modern(NULL);
    look("3");
    talk_answer("3", answer);
    talk_sees_answer(status, part);
    talk_end();
}

static void test_client_tasks_end_in_many_ways(void **state)
{
    (void)state;
    check_end(TASK("failed", ",\"error\":{\"code\":-7,\"message\":\"bang\"}"),
              FL_E_REMOTE, "bang");
    assert_int_equal(at.code, -7);
    check_end(TASK("cancelled", ""), FL_E_CANCELLED, "cancelled the task");
    check_end(TASK("completed", ""), FL_E_BAD_MESSAGE, "without a result");
    check_end(TASK("asleep", ""), FL_E_BAD_MESSAGE, "\"asleep\"");
    check_end("{}", FL_E_BAD_MESSAGE, "none");
}

static void test_client_tasks_that_are_gone_are_errors(void **state)
{
    (void)state;
    begin_modern(NULL);
    look("3");
    raw_say(&said.server, REFUSAL("3", "-32602", ""));
    talk_sees_answer(FL_E_REMOTE, "no");
    assert_int_equal(at.code, -32602);
    talk_end();
}

static void test_client_tasks_ask_for_input(void **state)
{
    (void)state;
    begin_modern(NULL);
    look("3");
    talk_answer("3", TASK("input_required", ",\"inputRequests\":{" CONFIRM(
                                                "a") "," CONFIRM("b") "}"));
    io_until(at.loop, said.asked == 2);
    at.now += 50000; /* people take their time */
    desk_digest();
    assert_int_equal(fl_ask_decline(said.asks[1]), FL_OK);
    raw_hears_nothing(&said.server);
    assert_int_equal(fl_ask_accept_defaults(said.asks[0]), FL_OK);
    talk_hears("4", "tasks/update",
               ",\"taskId\":\"t\\u0031\",\"inputResponses\":{\"b\":{\"action\":"
               "\"decline\"},\"a\":{\"action\":\"accept\",\"content\":{"
               "\"ok\":true}}}}}");
    talk_answer("4", "{\"resultType\":\"complete\"}");
    look("5");
    /* it has not heard of one, and has a new one */
    talk_answer("5", TASK("input_required", ",\"inputRequests\":{" CONFIRM(
                                                "b") "," CONFIRM("c") "}"));
    io_until(at.loop, said.asked == 3);
    assert_int_equal(fl_ask_cancel(said.asks[2]), FL_OK);
    talk_hears("6", "tasks/update", "\"inputResponses\":{\"c\":{\"action\":");
    talk_answer("6", "{}");
    look("7");
    talk_answer(
        "7", TASK("input_required", ",\"inputRequests\":{" CONFIRM("c") "}"));
    look("8"); /* all of that is known */
    talk_answer("8", TASK("completed", ",\"result\":{}"));
    talk_sees_answer(FL_OK, "{}");
    talk_end();
}

static void test_client_tasks_are_cancelled_by_a_request(void **state)
{
    uint64_t id;

    (void)state;
    begin_modern(&id);
    assert_int_equal(fl_client_cancel(at.client, id, "enough"), FL_OK);
    talk_hears("3", "tasks/cancel", "\"taskId\":\"t1\"");
    talk_sees_answer(FL_E_CANCELLED, "");
    talk_answer("3", "{}");
    talk_end();
    begin_modern(&id);
    look("3");
    assert_int_equal(fl_client_cancel(at.client, id, "enough"), FL_OK);
    talk_hears("4", "tasks/cancel", "\"taskId\":\"t1\"");
    talk_sees_answer(FL_E_CANCELLED, "");
    talk_end();
}

static void test_client_tasks_outlive_an_outage(void **state)
{
    (void)state;
    begin_modern(NULL);
    look("3");
    raw_close(&said.server);
    desk_digest();
    assert_int_equal(at.answers, 0);
    at.now += 100;
    talk_accept_modern("4", EXTENSION);
    talk_hears("3", "tasks/get", ""); /* the same again */
    talk_answer("3", TASK("completed", ",\"result\":{\"r\":1}"));
    talk_sees_answer(FL_OK, "{\"r\":1}");
    talk_end();
}

static void test_client_tasks_that_do_not_answer_time_out(void **state)
{
    (void)state;
    begin_modern(NULL);
    look("3");
    at.now += 1000;
    talk_hears("4", "tasks/cancel", "\"t1\"");
    talk_sees_answer(FL_E_TIMEOUT, "1000 ms");
    talk_end();
}

static void test_client_tasks_can_be_come_back_for(void **state)
{
    (void)state;
    talk_modern_with(&able, EXTENSION);
    assert_int_equal(fl_client_task_await(at.client, FL_SPAN("t\"1"), NULL,
                                          desk_on_answer, NULL, NULL),
                     FL_OK);
    talk_hears("2", "tasks/get", "\"taskId\":\"t\\\"1\"}}");
    talk_answer("2", TASK("working", ",\"pollIntervalMs\":1"));
    desk_digest();
    at.now += 10; /* not more often than this */
    talk_hears("3", "tasks/get", "");
    talk_answer("3", TASK("completed", ",\"result\":{\"r\":1}"));
    talk_sees_answer(FL_OK, "{\"r\":1}");
    talk_end();
}

static void test_client_tasks_plain_requests(void **state)
{
    (void)state;
    talk_modern_with(&able, EXTENSION);
    assert_int_equal(fl_client_task_get(at.client, FL_SPAN("t"), NULL,
                                        desk_on_answer, NULL, NULL),
                     FL_OK);
    talk_hears("2", "tasks/get", "\"taskId\":\"t\"");
    talk_answer("2", TASK("working", ""));
    talk_sees_answer(FL_OK, "working"); /* as it stands */
    assert_int_equal(fl_client_task_cancel(at.client, FL_SPAN("t"), NULL,
                                           desk_on_answer, NULL, NULL),
                     FL_OK);
    talk_hears("3", "tasks/cancel", "\"taskId\":\"t\"");
    assert_int_equal(fl_client_task_list(at.client, FL_SPAN(""), NULL,
                                         desk_on_answer, NULL, NULL),
                     FL_E_UNSUPPORTED);
    talk_end();
    talk_modern_with(&able, "{\"tools\":{}}");
    assert_int_equal(fl_client_task_get(at.client, FL_SPAN("t"), NULL,
                                        desk_on_answer, NULL, NULL),
                     FL_E_UNSUPPORTED);
    talk_end();
    talk_legacy_with(&able, CORE);
    assert_int_equal(fl_client_task_list(at.client, FL_SPAN("c"), NULL,
                                         desk_on_answer, NULL, NULL),
                     FL_OK);
    talk_hears("2", "tasks/list", "{\"cursor\":\"c\"}");
    talk_end();
}

static void test_client_tasks_need_an_id(void **state)
{
    (void)state;
    talk_modern_with(&able, EXTENSION);
    assert_int_equal(talk_call(&wanted, NULL), FL_OK);
    talk_hears("2", "tools/call", "");
    talk_answer("2", "{\"resultType\":\"task\",\"taskId\":7}");
    talk_sees_answer(FL_E_BAD_MESSAGE, "no taskId");
    talk_end();
}

#define TOOL(name, support)                                                    \
    "{\"name\":\"" name "\",\"execution\":{\"taskSupport\":\"" support "\"}}"

/* Up to a client that has seen the tools of a legacy server. */
static void begin_legacy(const char *capabilities, const char *tool)
{
    char list[256];

    told = 0;
    talk_legacy_with(&able, capabilities);
    desk_ask("tools/list");
    talk_hears("2", "tools/list", "");
    snprintf(list, sizeof list, "{\"tools\":[%s]}", tool);
    talk_answer("2", list);
    talk_sees_answer(FL_OK, "");
}

static void check_offer(const char *capabilities, const char *tool,
                        const fl_request_options *options, const char *want)
{
    begin_legacy(capabilities, tool);
    assert_int_equal(talk_call(options, NULL), FL_OK);
    talk_hears("3", "tools/call", want);
    talk_end();
}

static void test_client_tasks_legacy_only_where_all_agree(void **state)
{
    static const char plain[] = "{\"name\":\"dig\",\"arguments\":{\"a\":1}}}";
    static const char asks[] =
        "{\"name\":\"dig\",\"arguments\":{\"a\":1},\"task\":{}}}";
    fl_request_options ttl = wanted;

    (void)state;
    check_offer(CORE, TOOL("dig", "optional"), &wanted, asks);
    check_offer(CORE, TOOL("dig", "required"), &wanted, asks);
    ttl.task_ttl_ms = 60000;
    check_offer(CORE, TOOL("dig", "required"), &ttl,
                "\"task\":{\"ttl\":60000}}}");
    check_offer(CORE, TOOL("dig", "optional"), NULL, plain);
    check_offer(CORE, TOOL("dig", "forbidden"), &wanted, plain);
    check_offer(CORE, "{\"name\":\"dig\"}", &wanted, plain);
    check_offer(CORE, TOOL("other", "required"), &wanted, plain);
    check_offer("{\"tools\":{}}", TOOL("dig", "required"), &wanted, plain);
}

static void test_client_tasks_legacy_fetch_their_result(void **state)
{
    (void)state;
    begin_legacy(CORE, TOOL("dig", "optional"));
    assert_int_equal(talk_call(&wanted, NULL), FL_OK);
    talk_hears("3", "tools/call", "\"task\":{}");
    talk_answer("3", "{\"task\":{\"taskId\":\"t1\",\"status\":\"working\","
                     "\"ttl\":1,\"pollInterval\":300}}");
    io_until(at.loop, told == 1);
    desk_digest();
    at.now += 300;
    raw_hears(&said.server,
              "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tasks/get\","
              "\"params\":{\"taskId\":\"t1\"}}");
    talk_answer("4", "{\"taskId\":\"t1\",\"status\":\"input_required\"}");
    talk_hears("5", "tasks/result", "{\"taskId\":\"t1\"}");
    raw_say(&said.server,
            "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"elicitation/create\","
            "\"params\":{\"_meta\":{\"io.modelcontextprotocol/related-task\":{"
            "\"taskId\":\"t1\"}},\"message\":\"m\"}}");
    io_until(at.loop, said.asked == 1);
    assert_int_equal(fl_ask_decline(said.asks[0]), FL_OK);
    raw_hears(&said.server, ANSWER("9", "{\"action\":\"decline\"}"));
    at.now += 3600 * 1000; /* it may take as long as the work does */
    desk_digest();
    talk_answer("5", "{\"content\":[3]}");
    talk_sees_answer(FL_OK, "{\"content\":[3]}");
    talk_end();
}

static int progresses;

static void on_progress(fl_client *client, double progress, double total,
                        fl_span message, void *user)
{
    (void)client, (void)progress, (void)total, (void)message, (void)user;
    progresses++;
}

static void test_client_tasks_progress_by_their_first_id(void **state)
{
    fl_request_options options = wanted;

    (void)state;
    progresses = 0;
    options.on_progress = on_progress;
    begin_legacy(CORE, TOOL("dig", "optional"));
    assert_int_equal(talk_call(&options, NULL), FL_OK);
    talk_hears("3", "tools/call", "\"progressToken\":3");
    talk_answer("3", "{\"task\":{\"taskId\":\"t1\",\"status\":\"working\"}}");
    io_until(at.loop, told == 1);
    desk_digest();
    at.now += 1000;
    talk_hears("4", "tasks/get", "\"params\":{\"taskId\":\"t1\"}}");
    raw_say(&said.server,
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
            "\"params\":{\"progressToken\":3,\"progress\":1}}");
    io_until(at.loop, progresses == 1);
    talk_end();
}

static void accept_now(fl_client *client, fl_ask *ask, void *user)
{
    (void)client, (void)user;
    if (fl_ask_accept_defaults(ask) != FL_OK)
        fl_ask_error(ask, -32603, "out of memory");
}

static int call_once(fl_client *client)
{
    return fl_client_call_tool(client, FL_SPAN("x"), FL_SPAN("{}"), &wanted,
                               desk_on_answer, NULL, NULL) == FL_OK;
}

static void test_client_tasks_survive_every_failed_allocation(void **state)
{
    static const robot_rule rules[] = {
        {"server/discover",
         ANSWER("%s", DISCOVERED("[\"2026-07-28\"]", EXTENSION))},
        {"\"inputResponses\"", ANSWER("%s", "{}")},
        {"\"id\":3,",
         ANSWER("%s", TASK("input_required",
                           ",\"inputRequests\":{" CONFIRM("a") "}"))},
        {"tasks/get", ANSWER("%s", TASK("completed", ",\"result\":{}"))},
        {"tools/call", ANSWER("%s", CREATED)},
        {0},
    };
    const fl_client_handlers handlers = {.elicit = accept_now};
    robot_life life = {
        .rules = rules,
        .begin = call_once,
        .options = {.handlers = &handlers, .tasks = true},
    };

    (void)state;
    robot_run(&life);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_client_tasks_are_followed_to_their_result),
        cmocka_unit_test(test_client_tasks_end_in_many_ways),
        cmocka_unit_test(test_client_tasks_that_are_gone_are_errors),
        cmocka_unit_test(test_client_tasks_ask_for_input),
        cmocka_unit_test(test_client_tasks_are_cancelled_by_a_request),
        cmocka_unit_test(test_client_tasks_outlive_an_outage),
        cmocka_unit_test(test_client_tasks_that_do_not_answer_time_out),
        cmocka_unit_test(test_client_tasks_can_be_come_back_for),
        cmocka_unit_test(test_client_tasks_plain_requests),
        cmocka_unit_test(test_client_tasks_need_an_id),
        cmocka_unit_test(test_client_tasks_legacy_only_where_all_agree),
        cmocka_unit_test(test_client_tasks_legacy_fetch_their_result),
        cmocka_unit_test(test_client_tasks_progress_by_their_first_id),
        cmocka_unit_test(test_client_tasks_survive_every_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
