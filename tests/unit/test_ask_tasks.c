/*
 * test_ask_tasks.c - a handler that asks back after its call has become a
 * task: whoever asks about the task is asked.
 */
#include "ask_tools.h"
#include "modern.h"

static server_host host;
static ask_log seen;

#define CAPABILITIES                                                           \
    "{\"elicitation\":{},\"roots\":{},\"extensions\":{\"" IOMCP "tasks\":{}}}"
#define SAID VERSION_IS("\"2026-07-28\"") "," CAPABILITIES_ARE(CAPABILITIES)

/* Asks as a task, two things at once. */
static void tool_errand(fl_call *call, void *user)
{
    fl_span content;

    ((ask_log *)user)->runs++;
    call = fl_call_as_task(call, 0);
    if (call == NULL)
        return;
    if (fl_call_input(call, "name", &content) == FL_INPUT_NONE ||
        fl_call_input(call, "roots", &content) == FL_INPUT_NONE) {
        fl_call_want_form(call, "name", "?", NAME_SCHEMA);
        fl_call_want_roots(call, "roots");
        fl_call_ask(call);
        return;
    }
    ask_tell(call, (const char *[]){"name", "roots", NULL});
}

/* Does not say that it takes long: its client wants a task all the same. */
static void tool_plain(fl_call *call, void *user)
{
    ask_greet(call, user);
}

static void begin(void)
{
    const fl_tool tools[] = {
        {.name = "errand",
         .task = FL_TASK_MAY,
         .call = tool_errand,
         .user = &seen},
        {.name = "plain",
         .task = FL_TASK_MAY,
         .call = tool_plain,
         .user = &seen},
    };

    seen = (ask_log){0};
    host_begin_bare(&host);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        assert_int_equal(fl_server_add_tool(host.server, &tools[i]), FL_OK);
    host_listen(&host, NULL);
}

static char task[128];

static void note_task(const char *heard)
{
    const char *from = strstr(heard, "\"taskId\":\"");

    if (from == NULL)
        fail_msg("no task in %s", heard);
    from += strlen("\"taskId\":\"");
    snprintf(task, sizeof task, "%.*s", (int)strcspn(from, "\""), from);
}

static const char *about(const char *method, const char *rest)
{
    static char line[2048];

    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"%s\",\"params\":{%s"
             "\"taskId\":\"%s\"%s}}",
             method, method[6] == 'r' ? "" : "\"_meta\":{" SAID "},", task,
             rest);
    raw_say(&host.peer, line);
    return raw_hear(&host.peer);
}

static void has(const char *text, const char *part)
{
    assert_non_null(text);
    if (strstr(text, part) == NULL)
        fail_msg("no '%s' in '%s'", part, text);
}

static void test_ask_tasks_are_asked_about_in_the_modern_era(void **state)
{
    (void)state;
    begin();
    raw_say(&host.peer, MODERN_META("1", "tools/call", SAID,
                                    ",\"name\":\"errand\",\"arguments\":{}"));
    note_task(raw_hear(&host.peer));
    const char *heard = about("tasks/get", "");
    has(heard, "\"status\":\"input_required\"");
    has(heard,
        "\"inputRequests\":{\"name\":{\"method\":\"elicitation/create\"");
    has(about("tasks/update",
              ",\"inputResponses\":{\"roots\":" ROOTS ",\"x\":1,\"name\":7}"),
        "\"resultType\":\"complete\"");
    heard = about("tasks/get", "");
    has(heard, "\"inputRequests\":{\"name\":");
    assert_null(strstr(heard, "roots/list"));
    assert_int_equal(seen.runs, 1);
    has(about("tasks/update",
              ",\"inputResponses\":{\"name\":" ACCEPT("{\"name\":\"a\"}") "}"),
        "\"resultType\":\"complete\"");
    assert_int_equal(seen.runs, 2);
    heard = about("tasks/get", "");
    has(heard, "\"status\":\"completed\"");
    has(heard, "name accepted");
    host_end(&host);
}

static void test_ask_tasks_that_wait_can_be_cancelled(void **state)
{
    (void)state;
    begin();
    raw_say(&host.peer, MODERN_META("1", "tools/call", SAID,
                                    ",\"name\":\"errand\",\"arguments\":{}"));
    note_task(raw_hear(&host.peer));
    has(about("tasks/cancel", ""), "\"resultType\":\"complete\"");
    has(about("tasks/get", ""), "\"status\":\"cancelled\"");
    assert_int_equal(seen.runs, 1);
    host_end(&host);
}

#define HELLO                                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"     \
    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":" CAPABILITIES        \
    ",\"clientInfo\":{\"name\":\"raw\",\"version\":\"0\"}}}"
#define TASK_CALL(name)                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"     \
    "\"name\":\"" name "\",\"arguments\":{},\"task\":{}}}"

/* The next line that is no word about a task's status. */
static const char *hear(void)
{
    const char *heard;

    do
        heard = raw_hear(&host.peer);
    while (strstr(heard, "notifications/tasks/status") != NULL);
    return heard;
}

static void begin_legacy(const char *call)
{
    begin();
    raw_say(&host.peer, HELLO);
    raw_hears_part(&host.peer, "2025-11-25");
    raw_say(&host.peer, INITIALIZED);
    raw_say(&host.peer, call);
    note_task(hear());
}

static void ask_for_result(const char *id)
{
    char line[256];

    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tasks/result\","
             "\"params\":{\"taskId\":\"%s\"}}",
             id, task);
    raw_say(&host.peer, line);
}

static void test_ask_tasks_ask_who_waits_in_the_legacy_era(void **state)
{
    char related[256];

    (void)state;
    begin_legacy(TASK_CALL("errand"));
    ask_for_result("2");
    const char *heard = hear();
    snprintf(related, sizeof related,
             "\"params\":{\"_meta\":{\"" IOMCP
             "related-task\":{\"taskId\":\"%s\"}},\"mode\":",
             task);
    has(heard, "\"id\":1,\"method\":\"elicitation/create\"");
    has(heard, related);
    heard = hear();
    has(heard, "\"id\":2,\"method\":\"roots/list\"");
    has(heard, "\"}}}}"); /* and nothing else in its params */
    /* who comes later is asked instead */
    ask_for_result("3");
    has(hear(), "\"id\":3,\"method\":\"elicitation/create\"");
    has(hear(), "\"id\":4,\"method\":\"roots/list\"");
    raw_say(&host.peer, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":" ROOTS "}");
    raw_say(&host.peer, "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":" ROOTS "}");
    raw_say(&host.peer,
            "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":" DECLINE "}");
    has(hear(), "name declined");
    has(hear(), "name declined");
    assert_int_equal(seen.runs, 2);
    host_end(&host);
}

static void test_ask_tasks_nobody_waits_for_can_wait_themselves(void **state)
{
    (void)state;
    begin_legacy(TASK_CALL("plain"));
    assert_int_equal(seen.runs, 1);
    ask_for_result("2");
    has(hear(), "\"id\":1,\"method\":\"elicitation/create\"");
    raw_say(&host.peer, CANCELLED("2"));
    ask_for_result("3");
    has(hear(), "\"id\":2,\"method\":\"elicitation/create\"");
    raw_say(&host.peer,
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":" DECLINE "}");
    has(hear(), "name declined");
    host_end(&host);
}

static void test_ask_tasks_client_may_go(void **state)
{
    (void)state;
    begin_legacy(TASK_CALL("plain"));
    ask_for_result("2");
    has(hear(), "\"id\":1,\"method\":\"elicitation/create\"");
    raw_close(&host.peer);
    io_until(host.loop, (host.now++, fl_server_links(host.server) == 0));
    host_end(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ask_tasks_are_asked_about_in_the_modern_era),
        cmocka_unit_test(test_ask_tasks_that_wait_can_be_cancelled),
        cmocka_unit_test(test_ask_tasks_ask_who_waits_in_the_legacy_era),
        cmocka_unit_test(test_ask_tasks_nobody_waits_for_can_wait_themselves),
        cmocka_unit_test(test_ask_tasks_client_may_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
