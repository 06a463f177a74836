/*
 * test_gateway_solo.c - calls at a legacy server that does not say which one
 * its questions are about: one runs at a time, and nobody else is held up.
 */
#include "gateway_host.h"

#define QUESTION                                                               \
    "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\","     \
    "\"params\":{}}"
#define MUTE                                                                   \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","   \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"

static const fl_upstream in_turn = {.one_at_a_time = true, .timeout_ms = 1000};

/* Its first call is with the server, as number 2. */
static void begin(const fl_upstream *upstream)
{
    host_open(upstream);
    raw_say(&host.client, CALL("1"));
    host_welcome("2025-11-25", "{\"tools\":{}}");
    raw_hears_part(&host.server, "\"id\":2,\"method\":\"tools/call\"");
}

static void test_solo_calls_run_one_after_the_other(void **state)
{
    (void)state;
    begin(&in_turn);
    raw_say(&host.client, CALL("2"));
    raw_say(&host.client, CALL("3"));
    host_wait(0);
    raw_hears_nothing(&host.server);
    raw_say(&host.server, GIVE("2", "{\"content\":[]}"));
    raw_hears_part(&host.client, "\"id\":1,\"result\"");
    raw_hears_part(&host.server, "\"id\":3,\"method\":\"tools/call\"");
    host_wait(0);
    raw_hears_nothing(&host.server);
    raw_say(&host.server, GIVE("3", "{\"content\":[]}"));
    raw_hears_part(&host.client, "\"id\":2,\"result\"");
    raw_hears_part(&host.server, "\"id\":4,\"method\":\"tools/call\"");
    raw_say(&host.server, GIVE("4", "{\"content\":[]}"));
    raw_hears_part(&host.client, "\"id\":3,\"result\"");
    host_end();
}

static void test_solo_calls_hold_up_nobody_else(void **state)
{
    (void)state;
    begin(&in_turn);
    raw_say(&host.client, CALL("2"));
    raw_say(&host.client, ASK("3", "tools/list", CLAIM));
    raw_hears_part(&host.server, "\"method\":\"tools/list\"");
    raw_say(&host.server, GIVE("3", "{\"tools\":[]}"));
    raw_hears_part(&host.client, "\"id\":3,\"result\"");
    host_end();
}

static void test_solo_is_for_those_who_can_be_asked(void **state)
{
    (void)state;
    host_open(&in_turn);
    raw_say(&host.client, ASK("1", "tools/call", "\"name\":\"t\"," MUTE));
    host_welcome("2025-11-25", "{\"tools\":{}}");
    raw_say(&host.client, ASK("2", "tools/call", "\"name\":\"t\"," MUTE));
    raw_hears_part(&host.server, "\"id\":2,\"method\":\"tools/call\"");
    raw_hears_part(&host.server, "\"id\":3,\"method\":\"tools/call\"");
    host_end();
}

static void test_solo_is_not_for_a_connection_of_ones_own(void **state)
{
    (void)state;
    begin(NULL);
    raw_say(&host.client, CALL("2"));
    raw_hears_part(&host.server, "\"id\":3,\"method\":\"tools/call\"");
    host_end();
}

static char token[512];

static void hears_round(void)
{
    const char *at = strstr(raw_hear(&host.client), "\"requestState\":\"");

    assert_non_null(at);
    at += strlen("\"requestState\":\"");
    snprintf(token, sizeof token, "%.*s", (int)strcspn(at, "\""), at);
}

static void come_back(const char *id)
{
    char line[2048];

    snprintf(line, sizeof line,
             ASK("%s", "tools/call",
                 "\"name\":\"t\",\"requestState\":\"%s\",\"inputResponses\":"
                 "{\"k1\":{\"action\":\"decline\"}}," CLAIM),
             id, token);
    raw_say(&host.client, line);
}

static void test_solo_ends_while_a_client_thinks(void **state)
{
    (void)state;
    begin(&in_turn);
    raw_say(&host.client, CALL("2"));
    raw_say(&host.server, QUESTION);
    host_wait(0);
    raw_hears_nothing(&host.server);
    host_wait(20);
    hears_round();
    raw_hears_part(&host.server, "\"id\":3,\"method\":\"tools/call\"");

    /* an answer does not wait for the call that runs */
    come_back("5");
    raw_hears(&host.server, GIVE("\"q\"", "{\"action\":\"decline\"}"));
    host_end();
}

/* Two run after all: whose question it is nobody knows. */
static void test_solo_asks_nobody_rather_than_the_wrong_one(void **state)
{
    (void)state;
    begin(&in_turn);
    raw_say(&host.client, CALL("2"));
    raw_say(&host.server, QUESTION);
    host_wait(0);
    host_wait(20);
    hears_round();
    raw_hears_part(&host.server, "\"id\":3,\"method\":\"tools/call\"");
    come_back("5");
    raw_hears_part(&host.server, "\"id\":\"q\",\"result\"");
    raw_say(&host.server, QUESTION);
    raw_hears_part(&host.server, "\"id\":\"q\",\"error\":{\"code\":-32603,");
    raw_hears_nothing(&host.client);
    host_end();
}

static void test_solo_is_not_waited_for_for_ever(void **state)
{
    (void)state;
    begin(&in_turn);
    host_wait(500);
    raw_say(&host.client, CALL("2"));
    host_wait(0);
    host_wait(600); /* the first has had its time */
    raw_hears_part(&host.client, "\"id\":1,\"error\"");
    raw_hears_part(&host.server, "notifications/cancelled");
    raw_hears_part(&host.server, "\"id\":3,\"method\":\"tools/call\"");
    raw_say(&host.server, GIVE("3", "{\"content\":[]}"));
    raw_hears_part(&host.client, "\"id\":2,\"result\"");
    host_end();
}

/* However many wait, and however long, the server is at work. */
static void test_solo_is_not_the_servers_fault(void **state)
{
    char line[512];

    (void)state;
    host_open(&(fl_upstream){
        .one_at_a_time = true, .timeout_ms = 1000, .breaker_failures = 2});
    raw_say(&host.client,
            ASK("1", "tools/call",
                "\"name\":\"t\"," CLAIM_WITH(",\"progressToken\":7")));
    host_welcome("2025-11-25", "{\"tools\":{}}");
    raw_hears_part(&host.server, "\"id\":2,\"method\":\"tools/call\"");
    for (int id = 2; id < 6; id++) {
        snprintf(line, sizeof line, CALL("%d"), id);
        raw_say(&host.client, line);
    }
    host_wait(0);
    for (int i = 0; i < 4; i++) {
        host_wait(300);
        raw_say(&host.server,
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
                "\"params\":{\"progressToken\":2,\"progress\":1}}");
        host_wait(0);
    }
    for (int i = 0; i < 3; i++)
        raw_hears_part(&host.client, "notifications/progress");
    for (int id = 2; id < 6; id++)
        raw_hears_part(&host.client, "they run one at a time");
    raw_hears_part(&host.client, "notifications/progress");
    raw_say(&host.client, ASK("9", "tools/list", CLAIM));
    raw_hears_part(&host.server, "\"method\":\"tools/list\"");
    host_end();
}

static void test_solo_goes_on_when_somebody_gives_up(void **state)
{
    (void)state;
    begin(&in_turn);
    raw_say(&host.client, CALL("2"));
    raw_say(&host.client, CALL("3"));
    host_wait(0);
    raw_say(&host.client, "{\"jsonrpc\":\"2.0\",\"method\":"
                          "\"notifications/cancelled\",\"params\":"
                          "{\"requestId\":2}}");
    raw_say(&host.client, "{\"jsonrpc\":\"2.0\",\"method\":"
                          "\"notifications/cancelled\",\"params\":"
                          "{\"requestId\":1}}");
    raw_hears_part(&host.server, "notifications/cancelled\",\"params\":"
                                 "{\"requestId\":2");
    raw_hears_part(&host.server, "\"id\":3,\"method\":\"tools/call\"");
    raw_say(&host.server, GIVE("3", "{\"content\":[]}"));
    raw_hears_part(&host.client, "\"id\":3,\"result\"");
    host_end();
}

/* Its client has gone before the server said that the call is a task now. */
static void test_a_task_that_nobody_knows_is_cancelled(void **state)
{
    (void)state;
    begin(NULL);
    raw_say(&host.client, "{\"jsonrpc\":\"2.0\",\"method\":"
                          "\"notifications/cancelled\",\"params\":"
                          "{\"requestId\":1}}");
    raw_hears_part(&host.server, "notifications/cancelled");
    raw_say(&host.server,
            GIVE("2", "{\"task\":{\"taskId\":\"t\\\"1\",\"status\":"
                      "\"working\"}}"));
    raw_hears(&host.server, ASK("3", "tasks/cancel", "\"taskId\":\"t\\\"1\""));
    host_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solo_calls_run_one_after_the_other),
        cmocka_unit_test(test_solo_calls_hold_up_nobody_else),
        cmocka_unit_test(test_solo_is_for_those_who_can_be_asked),
        cmocka_unit_test(test_solo_is_not_for_a_connection_of_ones_own),
        cmocka_unit_test(test_solo_ends_while_a_client_thinks),
        cmocka_unit_test(test_solo_asks_nobody_rather_than_the_wrong_one),
        cmocka_unit_test(test_solo_is_not_waited_for_for_ever),
        cmocka_unit_test(test_solo_is_not_the_servers_fault),
        cmocka_unit_test(test_solo_goes_on_when_somebody_gives_up),
        cmocka_unit_test(test_a_task_that_nobody_knows_is_cancelled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
