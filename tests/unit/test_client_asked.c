/*
 * test_client_asked.c - what a legacy server asks of its client: what is
 * declared, what gets to the handlers, how it is answered, and what becomes of
 * a question that nobody waits for any more.
 */
#include "client_talk.h"

#define ASK(id, method, params)                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method                  \
    "\",\"params\":" params "}"

#define FORM                                                                   \
    "{\"message\":\"Who \\u0069s it?\",\"requestedSchema\":{\"type\":"         \
    "\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"default\":"    \
    "\"J\\u00f6\"},\"age\":{\"type\":\"integer\",\"default\":42},\"sure\":{"   \
    "\"type\":\"boolean\"}}}}"

static const fl_client_options handled = {.handlers = &talk_handlers};

static void begin(void)
{
    talk_legacy_with(&handled, "{\"tools\":{}}");
}

static fl_ask *take_ask(const char *line)
{
    int before = said.asked;

    raw_say(&said.server, line);
    io_until(at.loop, said.asked == before + 1);
    return said.asks[before];
}

static void check_declared(const fl_client_options *options, fl_era era,
                           const char *revision, const char *want)
{
    fl_client_options full = *options;
    char part[512];

    full.era = era;
    full.revision = revision;
    talk_open(&full, &desk_events);
    raw_accept(&said.server, at.loop, said.door);
    snprintf(part, sizeof part, "apabilities\":%s", want);
    raw_hears_part(&said.server, part);
    talk_end();
}

static void test_client_asked_declares_what_it_has(void **state)
{
    const fl_client_handlers form = {.elicit = talk_keep};
    const fl_client_handlers url = {.elicit_url = talk_keep};
    const fl_client_handlers models = {
        .sample = talk_keep, .sample_tools = true, .sample_context = true};
    const fl_client_options none = {0};

    (void)state;
    check_declared(&none, FL_ERA_LEGACY, NULL, "{}");
    check_declared(&handled, FL_ERA_LEGACY, NULL,
                   "{\"roots\":{\"listChanged\":true},\"sampling\":{},"
                   "\"elicitation\":{\"form\":{},\"url\":{}}}");
    check_declared(&handled, FL_ERA_LEGACY, "2025-06-18",
                   "{\"roots\":{\"listChanged\":true},\"sampling\":{},"
                   "\"elicitation\":{}}");
    check_declared(&handled, FL_ERA_LEGACY, "2025-03-26",
                   "{\"roots\":{\"listChanged\":true},\"sampling\":{}}");
    check_declared(&handled, FL_ERA_MODERN, NULL,
                   "{\"roots\":{},\"sampling\":{},"
                   "\"elicitation\":{\"form\":{},\"url\":{}}}");
    check_declared(&(fl_client_options){.handlers = &form}, FL_ERA_LEGACY, NULL,
                   "{\"elicitation\":{\"form\":{}}}");
    check_declared(&(fl_client_options){.handlers = &url}, FL_ERA_LEGACY, NULL,
                   "{\"elicitation\":{\"url\":{}}}");
    check_declared(&(fl_client_options){.handlers = &url}, FL_ERA_LEGACY,
                   "2025-06-18", "{}");
    check_declared(&(fl_client_options){.handlers = &models}, FL_ERA_LEGACY,
                   NULL, "{\"sampling\":{\"context\":{},\"tools\":{}}}");
    check_declared(&(fl_client_options){.handlers = &models}, FL_ERA_LEGACY,
                   "2025-06-18", "{\"sampling\":{}}");
}

static void test_client_asked_declares_extensions(void **state)
{
    const fl_client_options given = {.extensions = " {\"a/b\":{\"c\":1}} ",
                                     .experimental = "{\"x\":{}}"};
    fl_client_options tasks = given;

    (void)state;
    check_declared(&given, FL_ERA_LEGACY, NULL,
                   "{\"experimental\":{\"x\":{}},\"extensions\":{\"a/b\":{"
                   "\"c\":1}}}");
    tasks.tasks = true;
    check_declared(&tasks, FL_ERA_MODERN, NULL,
                   "{\"experimental\":{\"x\":{}},\"extensions\":{\"a/b\":{"
                   "\"c\":1},\"io.modelcontextprotocol/tasks\":{}}}");
    check_declared(&tasks, FL_ERA_LEGACY, NULL,
                   "{\"experimental\":{\"x\":{}},\"extensions\":{\"a/b\":{"
                   "\"c\":1}}}");
    tasks.extensions = NULL;
    tasks.experimental = NULL;
    check_declared(&tasks, FL_ERA_MODERN, NULL,
                   "{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}");
    tasks.extensions = "{}";
    check_declared(&tasks, FL_ERA_MODERN, NULL,
                   "{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}");
    tasks.extensions = "{\"io.modelcontextprotocol/tasks\":{\"own\":1}}";
    check_declared(
        &tasks, FL_ERA_MODERN, NULL,
        "{\"extensions\":{\"io.modelcontextprotocol/tasks\":{\"own\":1}}}");
}

static void test_client_asked_names_an_extension_that_is_no_object(void **state)
{
    fl_loop *loop = io_loop();
    fl_client *client;
    fl_error error;

    (void)state;
    assert_int_equal(fl_client_open(loop, "tcp://127.0.0.1:1",
                                    &(fl_client_options){.extensions = "[]"},
                                    NULL, NULL, &client, &error),
                     FL_E_INVALID);
    assert_string_equal(error.text, "option extensions: want a JSON object");
    assert_int_equal(fl_client_open(loop, "tcp://127.0.0.1:1",
                                    &(fl_client_options){.experimental = "{"},
                                    NULL, NULL, &client, &error),
                     FL_E_INVALID);
    assert_int_equal(fl_client_open(loop, "tcp://127.0.0.1:1",
                                    &(fl_client_options){.verdict = {.era = 9}},
                                    NULL, NULL, &client, &error),
                     FL_E_INVALID);
    assert_null(client);
    fl_loop_free(loop);
}

static void check_span(fl_span span, const char *want)
{
    char text[512];

    desk_keep(text, sizeof text, span);
    assert_string_equal(text, want);
}

static void test_client_asked_shows_what_was_asked(void **state)
{
    (void)state;
    begin();
    fl_ask *ask = take_ask(ASK("\"s-1\"", "elicitation/create", FORM));
    check_span(fl_ask_method(ask), "elicitation/create");
    check_span(fl_ask_params(ask), FORM);
    check_span(fl_ask_message(ask), "Who is it?");
    check_span(fl_ask_url(ask), "");
    assert_true(fl_ask_schema(ask).ptr[0] == '{');
    assert_int_equal(fl_ask_decline(ask), FL_OK);
    raw_hears(&said.server, ANSWER("\"s-1\"", "{\"action\":\"decline\"}"));
    ask = take_ask(ASK("2", "elicitation/create",
                       "{\"mode\":\"url\",\"message\":\"m\",\"url\":\"https:"
                       "\\/\\/x\",\"elicitationId\":\"e\"}"));
    check_span(fl_ask_url(ask), "https://x");
    check_span(fl_ask_schema(ask), "");
    assert_int_equal(fl_ask_accept(ask, FL_SPAN("{}")), FL_E_INVALID);
    assert_int_equal(fl_ask_accept_defaults(ask), FL_OK);
    raw_hears(&said.server, ANSWER("2", "{\"action\":\"accept\"}"));
    talk_end();
}

static void check_accept(const char *form, const char *content,
                         const char *want)
{
    char line[1024];

    begin();
    snprintf(line, sizeof line, ASK("7", "elicitation/create", "%s"), form);
    fl_ask *ask = take_ask(line);
    assert_int_equal(fl_ask_accept(ask, fl_span_of(content)), FL_OK);
    snprintf(line, sizeof line,
             ANSWER("7", "{\"action\":\"accept\",\"content\":%s}"), want);
    raw_hears(&said.server, line);
    talk_end();
}

static void test_client_asked_fills_in_defaults(void **state)
{
    (void)state;
    check_accept(FORM, "", "{\"name\":\"J\\u00f6\",\"age\":42}");
    check_accept(FORM, "{}", "{\"name\":\"J\\u00f6\",\"age\":42}");
    check_accept(FORM, " { \"sure\" : true } ",
                 "{\"sure\":true,\"name\":\"J\\u00f6\",\"age\":42}");
    check_accept(FORM, "{\"n\\u0061me\":\"x\",\"age\":7}",
                 "{\"n\\u0061me\":\"x\",\"age\":7}");
    check_accept("{\"message\":\"m\"}", "{\"a\":1}", "{\"a\":1}");
    check_accept("{\"requestedSchema\":{\"properties\":[1]}}", "", "{}");
    check_accept("{\"requestedSchema\":{\"properties\":{\"a\":1,\"b\":{"
                 "\"default\":[\"x\"]}}}}",
                 "", "{\"b\":[\"x\"]}");
}

static void test_client_asked_takes_only_what_is_an_answer(void **state)
{
    (void)state;
    begin();
    fl_ask *ask = take_ask(ASK("7", "sampling/createMessage", "{}"));
    assert_int_equal(fl_ask_reply(ask, FL_SPAN("[]")), FL_E_INVALID);
    assert_int_equal(fl_ask_reply(ask, FL_SPAN("{},\"x\":1")), FL_E_INVALID);
    assert_int_equal(fl_ask_reply(ask, FL_SPAN("")), FL_E_INVALID);
    assert_int_equal(fl_ask_accept(ask, FL_SPAN("{}")), FL_E_INVALID);
    assert_int_equal(fl_ask_decline(ask), FL_E_INVALID);
    assert_int_equal(fl_ask_cancel(ask), FL_E_INVALID);
    raw_hears_nothing(&said.server);
    assert_int_equal(fl_ask_reply(ask, FL_SPAN(" {\"role\":\"assistant\"}")),
                     FL_OK);
    raw_hears(&said.server, ANSWER("7", "{\"role\":\"assistant\"}"));
    ask = take_ask(ASK("8", "sampling/createMessage", "{}"));
    fl_ask_error(ask, -1, "the user said \"no\"");
    raw_hears(&said.server,
              "{\"jsonrpc\":\"2.0\",\"id\":8,\"error\":{\"code\":-1,"
              "\"message\":\"the user said \\\"no\\\"\"}}");
    talk_end();
}

static void check_refused(const char *line, const char *id, const char *code)
{
    char part[64];

    raw_say(&said.server, line);
    snprintf(part, sizeof part, "\"id\":%s,\"error\":{\"code\":%s,", id, code);
    raw_hears_part(&said.server, part);
    assert_int_equal(said.asked, 0);
}

static void test_client_asked_refuses_what_it_has_not_declared(void **state)
{
    const fl_client_handlers form = {.elicit = talk_keep};

    (void)state;
    talk_legacy_with(NULL, "{}");
    check_refused(ASK("1", "elicitation/create", "{}"), "1", "-32601");
    check_refused(ASK("2", "sampling/createMessage", "{}"), "2", "-32601");
    check_refused(ASK("3", "roots/list", "{}"), "3", "-32601");
    talk_end();
    talk_legacy_with(&(fl_client_options){.handlers = &form}, "{}");
    check_refused(ASK("1", "elicitation/create", "{\"mode\":\"url\"}"), "1",
                  "-32602");
    check_refused(ASK("2", "elicitation/create", "{\"mode\":7}"), "2",
                  "-32602");
    check_refused(ASK("3", "elicitation/create", "[]"), "3", "-32602");
    check_refused(ASK("4", "elicitation/destroy", "{}"), "4", "-32601");
    talk_end();
    /* who offered a revision without it has not declared it */
    talk_open(&(fl_client_options){.handlers = &talk_handlers,
                                   .revision = "2025-03-26"},
              &talk_events);
    talk_accept_legacy("1", "2025-03-26", "{}");
    check_refused(ASK("1", "elicitation/create", FORM), "1", "-32601");
    talk_end();
}

static void test_client_asked_is_busy_past_its_limit(void **state)
{
    const fl_client_options two = {.handlers = &talk_handlers, .max_asks = 2};

    (void)state;
    talk_legacy_with(&two, "{}");
    fl_ask *first = take_ask(ASK("1", "roots/list", "{}"));
    raw_say(&said.server, ASK("1", "roots/list", "{}"));
    raw_hears_part(&said.server, "\"code\":-32600");
    fl_ask *second = take_ask(ASK("\"1\"", "roots/list", "{}"));
    raw_say(&said.server, ASK("3", "roots/list", "{}"));
    raw_hears_part(&said.server, "\"id\":3,\"error\":{\"code\":-32010,");
    assert_int_equal(fl_ask_reply(first, FL_SPAN("{\"roots\":[]}")), FL_OK);
    raw_hears(&said.server, ANSWER("1", "{\"roots\":[]}"));
    fl_ask *third = take_ask(ASK("4", "roots/list", "{}"));
    fl_ask_error(third, -32603, "no");
    fl_ask_error(second, -32603, "no");
    talk_end();
}

static void test_client_asked_can_be_taken_back(void **state)
{
    (void)state;
    begin();
    fl_ask *ask = take_ask(ASK("\"a\"", "elicitation/create", FORM));
    raw_say(&said.server,
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
            "\"params\":{\"requestId\":\"\\u0061\"}}");
    io_until(at.loop, said.withdrawn == 1);
    assert_int_equal(at.notes, 0);
    check_span(fl_ask_message(ask), "Who is it?"); /* still there */
    assert_int_equal(fl_ask_accept_defaults(ask), FL_OK);
    raw_hears_nothing(&said.server);
    raw_say(&said.server,
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
            "\"params\":{\"requestId\":\"a\"}}");
    io_until(at.loop, at.notes == 1); /* of what, we do not know */
    talk_end();
}

static void test_client_asked_outlives_link_and_client(void **state)
{
    (void)state;
    begin();
    fl_ask *first = take_ask(ASK("1", "elicitation/create", FORM));
    raw_close(&said.server);
    io_until(at.loop, said.withdrawn == 1);
    at.now += 100;
    talk_accept_legacy("2", "2025-11-25", "{}");
    assert_int_equal(fl_ask_decline(first), FL_OK);
    raw_hears_nothing(&said.server); /* it is another conversation */
    fl_ask *second = take_ask(ASK("1", "elicitation/create", FORM));
    fl_ask *third = take_ask(ASK("2", "roots/list", "{}"));
    talk_end();
    assert_int_equal(said.withdrawn, 3);
    assert_int_equal(fl_ask_accept(second, FL_SPAN("{}")), FL_OK);
    fl_ask_error(third, -1, "too late");
}

/* The server is opened anew, without a probe: whatever it asked before that
 * was asked in a conversation that has ended. */
static void
test_client_asked_is_taken_back_when_a_link_is_replaced(void **state)
{
    fl_client_options options = {
        .handlers = &talk_handlers,
        .connection.no_reconnect = true,
    };

    (void)state;
    talk_open(&options, &talk_events);
    raw_accept(&said.server, at.loop, said.door);
    raw_hears_part(&said.server, "\"method\":\"server/discover\"");
    fl_ask *early = take_ask(ASK("1", "elicitation/create", FORM));
    raw_close(&said.server);
    talk_accept_legacy("2", "2025-11-25", "{}");
    assert_int_equal(said.withdrawn, 1);
    assert_int_equal(fl_ask_decline(early), FL_OK);
    raw_hears_nothing(&said.server);
    talk_end();
}

static void test_client_asked_may_close_in_a_handler(void **state)
{
    (void)state;
    begin();
    said.close_in_event = true;
    raw_say(&said.server, ASK("1", "elicitation/create", FORM));
    raw_say(&said.server, ASK("2", "elicitation/create", FORM));
    io_until(at.loop, (at.now += 500, at.closed > 0));
    assert_int_equal(said.asked, 1);
    assert_int_equal(said.withdrawn, 1);
    assert_int_equal(fl_ask_cancel(said.asks[0]), FL_OK);
    talk_end();
}

/* The server waits for us: that is not its silence. */
static void test_client_asked_stops_the_clock_of_requests(void **state)
{
    const fl_request_options options = {.timeout_ms = 1000,
                                        .max_total_ms = 60000};

    (void)state;
    begin();
    assert_int_equal(talk_call(&options, NULL), FL_OK);
    talk_hears("2", "tools/call", "");
    fl_ask *ask = take_ask(ASK("1", "elicitation/create", FORM));
    at.now += 30000;
    raw_hears_nothing(&said.server);
    assert_int_equal(at.answers, 0);
    assert_int_equal(fl_ask_decline(ask), FL_OK);
    raw_hears_part(&said.server, "decline");
    at.now += 999;
    desk_digest();
    assert_int_equal(at.answers, 0);
    at.now += 1;
    talk_sees_answer(FL_E_TIMEOUT, "for 1000 ms");
    talk_end();
}

static void test_client_asked_does_not_stop_the_limit_in_all(void **state)
{
    const fl_request_options options = {.timeout_ms = 1000,
                                        .max_total_ms = 5000};

    (void)state;
    begin();
    assert_int_equal(talk_call(&options, NULL), FL_OK);
    talk_hears("2", "tools/call", "");
    fl_ask *ask = take_ask(ASK("1", "elicitation/create", FORM));
    for (int i = 0; i < 5; i++) {
        at.now += 1000;
        desk_digest();
    }
    talk_sees_answer(FL_E_TIMEOUT, "within 5000 ms in all");
    fl_ask_error(ask, -1, "");
    talk_end();
}

static void test_client_asked_gives_its_roots(void **state)
{
    const fl_root roots[] = {{FL_SPAN("file:///a"), FL_SPAN("A")},
                             {FL_SPAN("file:///b"), FL_SPAN("")}};

    (void)state;
    talk_open(&(fl_client_options){.era = FL_ERA_LEGACY}, &talk_events);
    assert_int_equal(fl_client_set_roots(at.client, NULL, 0), FL_OK);
    raw_accept(&said.server, at.loop, said.door);
    raw_hears_part(&said.server, "{\"roots\":{\"listChanged\":true}}");
    raw_say(&said.server, ANSWER("1", WELCOME));
    raw_hears(&said.server, INITIALIZED);
    raw_say(&said.server, LEGACY("5", "roots/list"));
    raw_hears(&said.server, ANSWER("5", "{\"roots\":[]}"));
    assert_int_equal(fl_client_set_roots(at.client, roots, 2), FL_OK);
    raw_hears(&said.server, "{\"jsonrpc\":\"2.0\",\"method\":"
                            "\"notifications/roots/list_changed\"}");
    raw_say(&said.server, LEGACY("6", "roots/list"));
    raw_hears(&said.server,
              ANSWER("6", "{\"roots\":[{\"uri\":\"file:///a\",\"name\":\"A\"},"
                          "{\"uri\":\"file:///b\"}]}"));
    fl_client_close(at.client);
    assert_int_equal(fl_client_set_roots(at.client, roots, 1), FL_E_CLOSED);
    talk_end();
}

static void test_client_asked_cannot_have_roots_all_of_a_sudden(void **state)
{
    (void)state;
    talk_legacy_with(NULL, "{}");
    assert_int_equal(fl_client_set_roots(at.client, NULL, 0), FL_E_STATE);
    raw_say(&said.server, LEGACY("5", "roots/list"));
    raw_hears_part(&said.server, "-32601");
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
    return fl_client_call_tool(client, FL_SPAN("x"), FL_SPAN("{}"), NULL,
                               desk_on_answer, NULL, NULL) == FL_OK;
}

static void test_client_asked_survives_every_failed_allocation(void **state)
{
    /* the call is made before initialize is: its id is 1 */
    static const robot_rule rules[] = {
        {"\"initialize\"", ANSWER("%s", WELCOME)},
        {"tools/call", ASK("77", "elicitation/create", FORM)},
        {"\"id\":77", ANSWER("1", "{\"content\":[]}")},
        {0},
    };
    const fl_client_handlers handlers = {.elicit = accept_now};
    robot_life life = {
        .rules = rules,
        .begin = call_once,
        .options = {.handlers = &handlers, .era = FL_ERA_LEGACY},
    };

    (void)state;
    robot_run(&life);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_client_asked_declares_what_it_has),
        cmocka_unit_test(test_client_asked_declares_extensions),
        cmocka_unit_test(
            test_client_asked_names_an_extension_that_is_no_object),
        cmocka_unit_test(test_client_asked_shows_what_was_asked),
        cmocka_unit_test(test_client_asked_fills_in_defaults),
        cmocka_unit_test(test_client_asked_takes_only_what_is_an_answer),
        cmocka_unit_test(test_client_asked_refuses_what_it_has_not_declared),
        cmocka_unit_test(test_client_asked_is_busy_past_its_limit),
        cmocka_unit_test(test_client_asked_can_be_taken_back),
        cmocka_unit_test(test_client_asked_outlives_link_and_client),
        cmocka_unit_test(
            test_client_asked_is_taken_back_when_a_link_is_replaced),
        cmocka_unit_test(test_client_asked_may_close_in_a_handler),
        cmocka_unit_test(test_client_asked_stops_the_clock_of_requests),
        cmocka_unit_test(test_client_asked_does_not_stop_the_limit_in_all),
        cmocka_unit_test(test_client_asked_gives_its_roots),
        cmocka_unit_test(test_client_asked_cannot_have_roots_all_of_a_sudden),
        cmocka_unit_test(test_client_asked_survives_every_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
