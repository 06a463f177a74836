/*
 * test_call_abuse.c - handlers that do what they should not, or at a moment
 * nobody expects: nothing is lost, leaked, said twice, or used after it went.
 */
#include "support/ration.h"
#include "task_host.h"

static server_host host;

typedef void deed(fl_call *call);

static void run_deed(fl_call *call, void *user)
{
    deed *const *todo = user;

    (*todo)(call);
}

/* One tool, prompt and resource named "it", all of which do this. */
static void begin(deed *const *todo, const char *revision)
{
    void *user = (void *)(uintptr_t)todo;

    host_begin_bare(&host);
    assert_int_equal(
        fl_server_add_tool(
            host.server,
            &(fl_tool){.name = "it", .call = run_deed, .user = user}),
        FL_OK);
    assert_int_equal(
        fl_server_add_prompt(
            host.server,
            &(fl_prompt){.name = "it", .get = run_deed, .user = user}),
        FL_OK);
    assert_int_equal(
        fl_server_add_resource(
            host.server,
            &(fl_resource){
                .uri = "it:", .name = "it", .read = run_deed, .user = user}),
        FL_OK);
    host_listen(&host, NULL);
    host_greet(&host.peer, revision);
}

#define GET_PROMPT(id)                                                         \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"prompts/get\",\"params\":{\"name\":\"it\"}}"
#define READ(id)                                                               \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"resources/read\",\"params\":{\"uri\":\"it:\"}}"
#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"
#define PONG(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}"

static void do_everything(fl_call *call)
{
    fl_call_add_text(call, FL_SPAN("more"));
    fl_call_set_structured(call, FL_SPAN("{}"));
    fl_call_set_meta(call, "k", FL_SPAN("1"));
    fl_call_set_state(call, FL_SPAN("state"));
    (void)fl_call_text(call, "t");
    fl_call_want_form(call, "k", "?", NULL);
    fl_call_ask(call);
    fl_call_progress(call, 1, 2, "m");
    fl_call_logf(call, FL_LEVEL_ALERT, NULL, "m");
    fl_call_task_status(call, "m");
    fl_call_hang_up(call, 1);
    fl_call_reply_text(call, FL_SPAN("two"));
    fl_call_fail(call, "three");
    fl_call_reply_json(call, FL_SPAN("{}"));
    fl_call_error(call, -1, "four");
    fl_call_not_found(call);
    fl_call_finish(call);
    assert_null(fl_call_as_task(call, 0));
}

static void answer_twice(fl_call *call)
{
    fl_call_reply_text(call, FL_SPAN("one"));
    do_everything(call);
}

static void test_call_abuse_second_answers_go_nowhere(void **state)
{
    static deed *const todo = answer_twice;

    (void)state;
    begin(&todo, "2025-11-25");
    raw_asks(&host.peer, CALL("1", "it", "{\"t\":\"\\u0061\"}"),
             TEXT_ANSWER("1", "one"));
    raw_say(&host.peer, GET_PROMPT("2"));
    raw_hears_part(&host.peer, "\"text\":\"one\"");
    raw_say(&host.peer, READ("3"));
    raw_hears_part(&host.peer, "\"text\":\"one\"");
    raw_asks(&host.peer, PING("4"), PONG("4"));
    host_end(&host);
}

static fl_call *kept;

static void use_old_pointer(fl_call *call)
{
    kept = fl_call_defer(call);
    do_everything(call);
}

static void test_call_abuse_deferred_call_is_used_up(void **state)
{
    static deed *const todo = use_old_pointer;

    (void)state;
    begin(&todo, "2025-11-25");
    raw_say(&host.peer, CALL("1", "it", "{\"t\":\"\\u0061\"}"));
    raw_asks(&host.peer, PING("4"), PONG("4"));
    fl_call_reply_text(kept, FL_SPAN("late"));
    raw_hears(&host.peer, TEXT_ANSWER("1", "late"));
    host_end(&host);
}

static void remove_all(fl_call *call)
{
    assert_int_equal(fl_server_remove_tool(host.server, "it"), FL_OK);
    assert_int_equal(fl_server_remove_prompt(host.server, "it"), FL_OK);
    assert_int_equal(fl_server_remove_resource(host.server, "it:"), FL_OK);
    fl_call_replyf(call, "%s", fl_call_revision(call));
}

static void test_call_abuse_handler_removes_itself(void **state)
{
    static deed *const todo = remove_all;

    (void)state;
    begin(&todo, "2025-11-25");
    raw_say(&host.peer, READ("1"));
    raw_hears_part(&host.peer, "tools/list_changed");
    raw_hears_part(&host.peer, "prompts/list_changed");
    raw_hears_part(&host.peer, "resources/list_changed");
    raw_hears_part(&host.peer, "\"text\":\"2025-11-25\"");
    host_end(&host);
}

static void close_server(fl_call *call)
{
    fl_server_close(host.server, 0, host_closed, &host);
    fl_call_reply_text(call, FL_SPAN("bye"));
}

static void test_call_abuse_handler_closes_the_server(void **state)
{
    static deed *const todo = close_server;

    (void)state;
    begin(&todo, "2025-11-25");
    raw_asks(&host.peer, CALL("1", "it", "{}"), TEXT_ANSWER("1", "bye"));
    io_until(host.loop, (host.now += 1000, host.closed > 0));
    host_end(&host);
}

static void close_and_keep(fl_call *call)
{
    fl_server_close(host.server, 0, host_closed, &host);
    kept = fl_call_defer(call);
}

/* The server goes first, then whoever still has a call answers it. */
static void test_call_abuse_call_outlives_its_server(void **state)
{
    static deed *const todo = close_and_keep;

    (void)state;
    begin(&todo, "2025-11-25");
    raw_say(&host.peer, CALL("1", "it", "{\"t\":\"\\u0061\"}"));
    raw_hears_part(&host.peer, "shutting down");
    io_until(host.loop, (host.now += 1000, host.closed > 0));
    fl_server_free(host.server);
    assert_true(fl_call_cancelled(kept));
    (void)fl_call_client_can(kept, FL_CAN_HOLD_TASKS);
    (void)fl_call_client_info(kept);
    fl_call_set_state(kept, FL_SPAN("state"));
    fl_call_want_form(kept, "k", "?", NULL);
    fl_call_set_meta(kept, "k", FL_SPAN("1"));
    fl_call_progress(kept, 1, 2, NULL);
    fl_call_logf(kept, FL_LEVEL_ALERT, NULL, "m");
    kept = fl_call_as_task(kept, 5);
    assert_non_null(kept);
    fl_call_ask(kept);
    fl_loop_free(host.loop);
    close(host.peer.fd);
}

static void test_call_abuse_modern_call_outlives_its_server(void **state)
{
    static deed *const todo = close_and_keep;

    (void)state;
    begin(&todo, "2025-11-25");
    raw_say(&host.peer, MODERN_CALL("1", "it", "{}"));
    raw_hears_part(&host.peer, "shutting down");
    io_until(host.loop, (host.now += 1000, host.closed > 0));
    fl_server_free(host.server);
    fl_call_set_meta(kept, "k", FL_SPAN("1"));
    fl_call_set_structured(kept, FL_SPAN("{}"));
    fl_call_finish(kept);
    fl_loop_free(host.loop);
    close(host.peer.fd);
}

static void structure_array(fl_call *call)
{
    fl_call_set_structured(call, FL_SPAN("[1,2]"));
    fl_call_finish(call);
}

/* Up to 2025-11-25 structuredContent is an object. */
static void test_call_abuse_structured_array_fits_the_revision(void **state)
{
    static deed *const todo = structure_array;
    const char *line;

    (void)state;
    begin(&todo, "2025-11-25");
    raw_say(&host.peer, CALL("1", "it", "{}"));
    line = raw_hear(&host.peer);
    assert_null(strstr(line, "\"structuredContent\":["));
    raw_say(&host.peer, MODERN_CALL("2", "it", "{}"));
    raw_hears_part(&host.peer, "\"structuredContent\":[1,2]");
    host_end(&host);
}

static void log_garbage(fl_call *call)
{
    fl_call_log_json(call, FL_LEVEL_ALERT, NULL, FL_SPAN("not\njson"));
    fl_call_log_json(call, FL_LEVEL_ALERT, NULL, FL_SPAN(" {} "));
    fl_call_reply_text(call, FL_SPAN("said"));
}

static void test_call_abuse_log_is_json_or_not_said(void **state)
{
    static deed *const todo = log_garbage;

    (void)state;
    begin(&todo, "2025-11-25");
    raw_say(&host.peer, CALL("1", "it", "{}"));
    raw_hears(&host.peer,
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\","
              "\"params\":{\"level\":\"alert\",\"data\":{}}}");
    raw_hears(&host.peer, TEXT_ANSWER("1", "said"));
    host_end(&host);
}

/* Two of them: when the first hears that nobody waits, it makes a task of the
 * second, which nobody has told yet. */
static fl_call *pair[2];
static int paired;

static void make_task_of_second(fl_call *call, void *user)
{
    (void)user;
    pair[1] = fl_call_as_task(pair[1], 0);
    assert_non_null(pair[1]);
    fl_call_reply_text(call, FL_SPAN("gone"));
}

static void keep_pair(fl_call *call, void *user)
{
    (void)user;
    pair[paired] = fl_call_defer(call);
    fl_call_on_cancel(pair[paired], paired == 0 ? make_task_of_second : NULL,
                      NULL);
    paired++;
}

static void test_call_abuse_task_is_born_while_its_link_goes(void **state)
{
    (void)state;
    paired = 0;
    host_begin_bare(&host);
    assert_int_equal(
        fl_server_add_tool(
            host.server,
            &(fl_tool){.name = "pair", .call = keep_pair, .task = FL_TASK_MAY}),
        FL_OK);
    host_listen(&host, NULL);
    raw_say(&host.peer, TASK_CALL("1", "pair"));
    raw_say(&host.peer, TASK_CALL("2", "pair"));
    io_until(host.loop, paired == 2);
    /* a reset: the end of what it says alone would have us answer first */
    setsockopt(host.peer.fd, SOL_SOCKET, SO_LINGER,
               &(struct linger){.l_onoff = 1}, sizeof(struct linger));
    raw_close(&host.peer);
    io_until(host.loop, fl_server_links(host.server) == 0);
    fl_call_reply_text(pair[1], FL_SPAN("gone, too"));
    host_end(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_abuse_second_answers_go_nowhere),
        cmocka_unit_test(test_call_abuse_deferred_call_is_used_up),
        cmocka_unit_test(test_call_abuse_handler_removes_itself),
        cmocka_unit_test(test_call_abuse_handler_closes_the_server),
        cmocka_unit_test(test_call_abuse_call_outlives_its_server),
        cmocka_unit_test(test_call_abuse_modern_call_outlives_its_server),
        cmocka_unit_test(test_call_abuse_structured_array_fits_the_revision),
        cmocka_unit_test(test_call_abuse_task_is_born_while_its_link_goes),
        cmocka_unit_test(test_call_abuse_log_is_json_or_not_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
