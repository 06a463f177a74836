/*
 * test_client_rounds.c - a modern server that asks before it answers: what the
 * request that is sent again looks like, and how long that may go on.
 */
#include "client_talk.h"

#define ALL "{\"tools\":{},\"resources\":{},\"prompts\":{}}"

#define CONFIRM                                                                \
    "\"confirm\":{\"method\":\"elicitation/create\",\"params\":{\"message\":"  \
    "\"Sure?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"      \
    "\"ok\":{\"type\":\"boolean\",\"default\":true}}}}}"

#define WANTS(inputs, more)                                                    \
    "{\"resultType\":\"input_required\",\"inputRequests\":{" inputs "}" more "}"

#define STATE ",\"requestState\":\"a\\u0062 \\/ \\\"c\""
#define PAUSE "{\"resultType\":\"input_required\",\"requestState\":\"s\"}"

static const fl_client_options handled = {.handlers = &talk_handlers};

static void begin(void)
{
    talk_modern_with(&handled, ALL);
}

static void wait_asks(int count)
{
    io_until(at.loop, said.asked == count);
}

static void test_client_rounds_repeats_with_the_answer(void **state)
{
    (void)state;
    begin();
    assert_int_equal(talk_call(NULL, NULL), FL_OK);
    talk_hears("2", "tools/call", "\"arguments\":{\"a\":1}}}");
    talk_answer("2", WANTS(CONFIRM, STATE));
    wait_asks(1);
    raw_hears_nothing(&said.server);
    desk_ask("tools/list"); /* others go on, and carry nothing of it */
    talk_hears("4", "tools/list", "clientCapabilities");
    talk_answer("4", "{\"tools\":[]}");
    talk_sees_answer(FL_OK, "tools");
    assert_int_equal(fl_ask_accept_defaults(said.asks[0]), FL_OK);
    talk_hears("3", "tools/call",
               ",\"name\":\"dig\",\"arguments\":{\"a\":1},\"inputResponses\":{"
               "\"confirm\":{\"action\":\"accept\",\"content\":{\"ok\":true}}},"
               "\"requestState\":\"a\\u0062 \\/ \\\"c\"}}");
    talk_answer("2", "{\"content\":[7]}"); /* that id is over */
    talk_answer("3", "{\"resultType\":\"complete\",\"content\":[1]}");
    talk_sees_answer(FL_OK, "\"content\":[1]");
    talk_end();
}

static void ignore_step(fl_client *client, double progress, double total,
                        fl_span message, void *user)
{
    (void)client, (void)progress, (void)total, (void)message, (void)user;
}

/* No message of ours is in more pieces. */
static void test_client_rounds_repeats_with_all_there_can_be(void **state)
{
    const fl_request_options options = {.on_progress = ignore_step};

    (void)state;
    begin();
    assert_int_equal(talk_call(&options, NULL), FL_OK);
    talk_hears("2", "tools/call", "\"_meta\":{\"progressToken\":2,");
    talk_answer("2", WANTS(CONFIRM, STATE));
    wait_asks(1);
    assert_int_equal(fl_ask_decline(said.asks[0]), FL_OK);
    talk_hears("3", "tools/call",
               "},\"name\":\"dig\",\"arguments\":{\"a\":1},"
               "\"inputResponses\":{\"confirm\":{\"action\":\"decline\"}},"
               "\"requestState\":\"a\\u0062 \\/ \\\"c\"}}");
    talk_answer("3", "{\"content\":[]}");
    talk_sees_answer(FL_OK, "content");
    talk_end();
}

static void test_client_rounds_without_a_state_there_is_none(void **state)
{
    (void)state;
    begin();
    assert_int_equal(talk_call(NULL, NULL), FL_OK);
    talk_hears("2", "tools/call", "");
    talk_answer("2", WANTS(CONFIRM, STATE));
    wait_asks(1);
    assert_int_equal(fl_ask_decline(said.asks[0]), FL_OK);
    talk_hears("3", "tools/call", "requestState");
    talk_answer("3", WANTS("\"b\":{\"method\":\"roots/list\"}", ""));
    wait_asks(2);
    assert_int_equal(fl_ask_reply(said.asks[1], FL_SPAN("{\"roots\":[]}")),
                     FL_OK);
    /* nor is there anything of the round before */
    talk_hears("4", "tools/call",
               "\"arguments\":{\"a\":1},\"inputResponses\":{\"b\":{\"roots\":"
               "[]}}}}");
    talk_answer("4", "{\"content\":[]}");
    talk_sees_answer(FL_OK, "content");
    talk_end();
}

static void test_client_rounds_all_three_methods_may(void **state)
{
    (void)state;
    begin();
    assert_int_equal(fl_client_read(at.client, FL_SPAN("u"), NULL,
                                    desk_on_answer, NULL, NULL),
                     FL_OK);
    talk_hears("2", "resources/read", "");
    talk_answer("2", WANTS(CONFIRM, ""));
    wait_asks(1);
    assert_int_equal(fl_ask_cancel(said.asks[0]), FL_OK);
    talk_hears("3", "resources/read", "\"inputResponses\":{\"confirm\":{");
    assert_int_equal(fl_client_get_prompt(at.client, FL_SPAN("p"), FL_SPAN(""),
                                          NULL, desk_on_answer, NULL, NULL),
                     FL_OK);
    talk_hears("4", "prompts/get", "");
    talk_answer("4", WANTS(CONFIRM, ""));
    wait_asks(2);
    assert_int_equal(fl_ask_cancel(said.asks[1]), FL_OK);
    talk_hears("5", "prompts/get", "\"inputResponses\":{\"confirm\":{");
    talk_end();
}

static void test_client_rounds_gathers_all_before_it_goes_on(void **state)
{
    (void)state;
    begin();
    assert_int_equal(talk_call(NULL, NULL), FL_OK);
    talk_hears("2", "tools/call", "");
    talk_answer("2", WANTS(CONFIRM ",\"m\\u006fdel\":{\"method\":"
                                   "\"sampling/createMessage\",\"params\":{}}",
                           ""));
    wait_asks(2);
    assert_int_equal(fl_ask_reply(said.asks[1], FL_SPAN("{\"role\":\"a\"}")),
                     FL_OK);
    raw_hears_nothing(&said.server);
    assert_int_equal(fl_ask_accept(said.asks[0], FL_SPAN("{\"ok\":false}")),
                     FL_OK);
    talk_hears("3", "tools/call",
               "\"inputResponses\":{\"m\\u006fdel\":{\"role\":\"a\"},"
               "\"confirm\":{\"action\":\"accept\",\"content\":{\"ok\":false}}"
               "}}}");
    talk_end();
}

static void test_client_rounds_knows_its_roots(void **state)
{
    const fl_root root = {FL_SPAN("file:///a"), FL_SPAN("")};

    (void)state;
    talk_open(NULL, &talk_events);
    assert_int_equal(fl_client_set_roots(at.client, &root, 1), FL_OK);
    talk_accept_modern("1", ALL);
    assert_int_equal(talk_call(NULL, NULL), FL_OK);
    talk_hears("2", "tools/call", "clientCapabilities\":{\"roots\":{}}");
    talk_answer("2", WANTS("\"r\":{\"method\":\"roots/list\"}", ""));
    talk_hears("3", "tools/call",
               "\"inputResponses\":{\"r\":{\"roots\":[{\"uri\":\"file:///a\"}]"
               "}}}}");
    talk_end();
}

static void check_failed(const char *result, fl_status status, const char *part)
{
    const fl_client_handlers form = {.elicit = talk_keep};

    talk_modern_with(&(fl_client_options){.handlers = &form, .max_asks = 1},
                     ALL);
    assert_int_equal(talk_call(NULL, NULL), FL_OK);
    talk_hears("2", "tools/call", "");
    talk_answer("2", result);
    talk_sees_answer(status, part);
    assert_int_equal(said.asked, 0);
    raw_hears_nothing(&said.server);
    talk_end();
}

static void test_client_rounds_refuses_what_it_cannot_give(void **state)
{
    (void)state;
    check_failed(WANTS("\"x\":{\"method\":\"sampling/createMessage\"}", ""),
                 FL_E_UNSUPPORTED, "\"sampling/createMessage\"");
    check_failed(WANTS(CONFIRM ",\"x\":{\"method\":\"a/b\"}", ""),
                 FL_E_UNSUPPORTED, "not declared: \"a/b\"");
    check_failed(WANTS("\"x\":{\"method\":\"elicitation/create\",\"params\":{"
                       "\"mode\":\"url\"}}",
                       ""),
                 FL_E_UNSUPPORTED, "elicitation/create");
    check_failed(WANTS("\"x\":7", ""), FL_E_UNSUPPORTED, "not declared");
    check_failed(WANTS(CONFIRM "," CONFIRM, ""), FL_E_LIMIT,
                 "takes: 1"); /* more than may wait */
    check_failed("{\"resultType\":\"input_required\"}", FL_E_BAD_MESSAGE,
                 "does not say which");
    check_failed("{\"resultType\":\"input_required\",\"requestState\":7}",
                 FL_E_BAD_MESSAGE, "");
    check_failed("{\"resultType\":\"input_required\",\"inputRequests\":[]}",
                 FL_E_BAD_MESSAGE, "");
    check_failed("{\"resultType\":\"task\",\"taskId\":\"t\"}", FL_E_BAD_MESSAGE,
                 "\"task\"");
}

static void test_client_rounds_ten_are_enough(void **state)
{
    char id[16];

    (void)state;
    begin();
    assert_int_equal(talk_call(NULL, NULL), FL_OK);
    for (int i = 0; i < 10; i++) {
        said.asked = 0;
        snprintf(id, sizeof id, "%d", i + 2);
        talk_hears(id, "tools/call", "");
        talk_answer(id, WANTS(CONFIRM, ""));
        wait_asks(1);
        assert_int_equal(fl_ask_accept_defaults(said.asks[0]), FL_OK);
    }
    talk_hears("12", "tools/call", "");
    talk_answer("12", WANTS(CONFIRM, ""));
    talk_sees_answer(FL_E_LIMIT, "10 times");
    talk_end();
}

static void test_client_rounds_waits_longer_each_time(void **state)
{
    static const unsigned waits[] = {250, 500, 1000, 2000, 4000, 5000, 5000};
    char id[16];

    (void)state;
    begin();
    assert_int_equal(talk_call(NULL, NULL), FL_OK);
    for (int i = 0; i < 7; i++) {
        snprintf(id, sizeof id, "%d", i + 2);
        talk_hears(id, "tools/call", i > 0 ? ",\"requestState\":\"s\"}}" : "");
        talk_answer(id, PAUSE);
        desk_digest();
        at.now += waits[i] - 1;
        raw_hears_nothing(&said.server);
        at.now += 1;
    }
    talk_hears("9", "tools/call", "{\"a\":1},\"requestState\":\"s\"}}");
    talk_end();
}

static void test_client_rounds_time_of_people_is_not_silence(void **state)
{
    const fl_request_options options = {.timeout_ms = 1000,
                                        .max_total_ms = 10000};

    (void)state;
    begin();
    assert_int_equal(talk_call(&options, NULL), FL_OK);
    talk_hears("2", "tools/call", "");
    talk_answer("2", WANTS(CONFIRM, ""));
    wait_asks(1);
    at.now += 8000;
    desk_digest();
    assert_int_equal(fl_ask_accept_defaults(said.asks[0]), FL_OK);
    talk_hears("3", "tools/call", "");
    at.now += 900;
    desk_digest();
    assert_int_equal(at.answers, 0);
    talk_answer("3", WANTS(CONFIRM, ""));
    wait_asks(2);
    at.now += 1100; /* ten seconds in all: that goes on */
    talk_sees_answer(FL_E_TIMEOUT, "10000 ms in all");
    assert_int_equal(said.withdrawn, 1);
    assert_int_equal(fl_ask_decline(said.asks[1]), FL_OK);
    raw_hears_nothing(&said.server);
    talk_end();
}

static void test_client_rounds_can_be_cancelled(void **state)
{
    uint64_t id;

    (void)state;
    begin();
    assert_int_equal(talk_call(NULL, &id), FL_OK);
    talk_hears("2", "tools/call", "");
    talk_answer("2", WANTS(CONFIRM, ""));
    wait_asks(1);
    assert_int_equal(fl_client_cancel(at.client, id, NULL), FL_OK);
    assert_int_equal(fl_ask_accept_defaults(said.asks[0]), FL_OK);
    talk_sees_answer(FL_E_CANCELLED, "");
    raw_hears_nothing(&said.server); /* it has nothing of ours */
    assert_int_equal(talk_call(NULL, &id), FL_OK);
    talk_hears("4", "tools/call", "");
    talk_answer("4", WANTS(CONFIRM, ""));
    wait_asks(2);
    assert_int_equal(fl_client_cancel(at.client, id, NULL), FL_OK);
    talk_sees_answer(FL_E_CANCELLED, "");
    assert_int_equal(said.withdrawn, 1);
    assert_int_equal(fl_ask_accept_defaults(said.asks[1]), FL_OK);
    talk_end();
}

static void test_client_rounds_an_error_of_ours_ends_it(void **state)
{
    (void)state;
    begin();
    assert_int_equal(talk_call(NULL, NULL), FL_OK);
    talk_hears("2", "tools/call", "");
    talk_answer("2", WANTS(CONFIRM ",\"m\":{\"method\":"
                                   "\"sampling/createMessage\",\"params\":{}}",
                           ""));
    wait_asks(2);
    fl_ask_error(said.asks[1], -1, "no model here");
    assert_int_equal(said.withdrawn, 1); /* the other one */
    assert_int_equal(fl_ask_accept_defaults(said.asks[0]), FL_OK);
    talk_sees_answer(FL_E_CANCELLED, "no model here");
    raw_hears_nothing(&said.server);
    assert_int_equal(talk_call(NULL, NULL), FL_OK);
    talk_hears("4", "tools/call", "");
    talk_answer("4", WANTS(CONFIRM, ""));
    wait_asks(3);
    fl_ask_error(said.asks[2], -1, "no user here");
    talk_hears("5", "tools/call", "{\"confirm\":{\"action\":\"cancel\"}}");
    talk_end();
}

static void test_client_rounds_goes_on_after_an_outage(void **state)
{
    (void)state;
    begin();
    assert_int_equal(talk_call(NULL, NULL), FL_OK);
    talk_hears("2", "tools/call", "");
    talk_answer("2", WANTS(CONFIRM, ""));
    wait_asks(1);
    raw_close(&said.server);
    desk_digest();
    assert_int_equal(fl_ask_accept_defaults(said.asks[0]), FL_OK);
    at.now += 100;
    talk_accept_modern("4", ALL);
    talk_hears("3", "tools/call", "\"inputResponses\":{\"confirm\":{");
    talk_answer("3", "{\"content\":[]}");
    talk_sees_answer(FL_OK, "content");
    talk_end();
}

static void test_client_rounds_outlive_the_client(void **state)
{
    (void)state;
    begin();
    assert_int_equal(talk_call(NULL, NULL), FL_OK);
    talk_hears("2", "tools/call", "");
    talk_answer("2", WANTS(CONFIRM, ""));
    wait_asks(1);
    talk_end();
    assert_int_equal(said.withdrawn, 1);
    assert_int_equal(at.status, FL_E_CLOSED);
    assert_int_equal(fl_ask_accept_defaults(said.asks[0]), FL_OK);
}

static void test_client_rounds_may_close_in_a_handler(void **state)
{
    (void)state;
    begin();
    assert_int_equal(talk_call(NULL, NULL), FL_OK);
    talk_hears("2", "tools/call", "");
    said.close_in_event = true;
    talk_answer("2", WANTS(CONFIRM ",\"r\":{\"method\":\"roots/list\"}", ""));
    io_until(at.loop, (at.now += 500, at.closed > 0));
    for (int i = 0; i < said.asked; i++)
        fl_ask_error(said.asks[i], -1, "");
    assert_int_equal(said.withdrawn, said.asked);
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

static void test_client_rounds_survive_every_failed_allocation(void **state)
{
    static const robot_rule rules[] = {
        {"server/discover", ANSWER("%s", DISCOVERED("[\"2026-07-28\"]", ALL))},
        {"\"inputResponses\"", ANSWER("%s", PAUSE)},
        {"\"requestState\"", ANSWER("%s", "{\"content\":[]}")},
        {"tools/call", ANSWER("%s", WANTS(CONFIRM, ""))},
        {0},
    };
    const fl_client_handlers handlers = {.elicit = accept_now};
    robot_life life = {
        .rules = rules,
        .begin = call_once,
        .options = {.handlers = &handlers},
    };

    (void)state;
    robot_run(&life);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_client_rounds_repeats_with_the_answer),
        cmocka_unit_test(test_client_rounds_repeats_with_all_there_can_be),
        cmocka_unit_test(test_client_rounds_without_a_state_there_is_none),
        cmocka_unit_test(test_client_rounds_all_three_methods_may),
        cmocka_unit_test(test_client_rounds_gathers_all_before_it_goes_on),
        cmocka_unit_test(test_client_rounds_knows_its_roots),
        cmocka_unit_test(test_client_rounds_refuses_what_it_cannot_give),
        cmocka_unit_test(test_client_rounds_ten_are_enough),
        cmocka_unit_test(test_client_rounds_waits_longer_each_time),
        cmocka_unit_test(test_client_rounds_time_of_people_is_not_silence),
        cmocka_unit_test(test_client_rounds_can_be_cancelled),
        cmocka_unit_test(test_client_rounds_an_error_of_ours_ends_it),
        cmocka_unit_test(test_client_rounds_goes_on_after_an_outage),
        cmocka_unit_test(test_client_rounds_outlive_the_client),
        cmocka_unit_test(test_client_rounds_may_close_in_a_handler),
        cmocka_unit_test(test_client_rounds_survive_every_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
