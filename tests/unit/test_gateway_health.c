/*
 * test_gateway_health.c - whose failures are whose, and who is found out, by
 * the clock.
 *
 * The servers are the test's; what runs across processes is tested elsewhere.
 */
#include "gateway/route.h"
#include "gateway_host.h"

#include "gateway/gateway.h"

#define HELLO                                                                  \
    ASK("0", "initialize",                                                     \
        "\"protocolVersion\":\"2025-11-25\","                                  \
        "\"capabilities\":{\"sampling\":{}},"                                  \
        "\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}")
#define BEGUN "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"
#define CHANGED                                                                \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"
#define TOOL(id, name) ASK(id, "tools/call", "\"name\":\"" name "\"")

static raw_peer other, own; /* another client, and a server of its own */

/* Numbers go on from one lane to the next. */
static void welcome(raw_peer *peer)
{
    raw_accept(peer, host.loop, host.door);
    const char *line = raw_hear(peer);
    const char *id = strstr(line, "\"id\":");
    char said[256];

    if (id == NULL || strstr(line, "\"method\":\"initialize\"") == NULL)
        fail_msg("no initialize: %s", line);
    snprintf(said, sizeof said,
             GIVE("%ld", "{\"protocolVersion\":\"2025-11-25\","
                         "\"capabilities\":{\"tools\":{}},\"serverInfo\":"
                         "{\"name\":\"s\",\"version\":\"1\"}}"),
             strtol(id + 5, NULL, 10));
    raw_say(peer, said);
    raw_hears_part(peer, "notifications/initialized");
}

static void begin(const fl_upstream *upstream)
{
    host_open(upstream);
    raw_say(&host.client, HELLO);
    welcome(&host.server);
    raw_hears_part(&host.client, "serverInfo");
    raw_say(&host.client, BEGUN);
    host_wait(0);
}

static void come(raw_peer *client)
{
    raw_take(client, host.loop, raw_dial(fl_gateway_port(host.gateway)));
    raw_say(client, HELLO);
}

static const char *state(void)
{
    fl_health_report report;

    assert_int_equal(fl_route_health(FL_LIST_ENTRY(host.gateway->routes.next,
                                                   fl_route, node),
                                     &report, 1),
                     1);
    return report.state;
}

/* A call that nobody answers, until its time is over. */
static void time_out(void)
{
    raw_say(&host.client, TOOL("1", "hang"));
    raw_hears_part(&host.server, "\"hang\"");
    host_wait(1001);
    raw_hears_part(&host.server, "cancelled");
    raw_hears_part(&host.client, "Upstream timeout");
}

static void test_greeting_from_memory_is_no_trial(void **unused)
{
    (void)unused;
    begin(&(fl_upstream){.child = FL_CHILD_SHARED,
                         .timeout_ms = 1000,
                         .breaker_failures = 2,
                         .breaker_pause_ms = 3000});
    time_out();
    time_out();
    assert_string_equal(state(), "down");
    come(&other);
    raw_hears_part(&other, "failed 2 times in a row");
    host_wait(3001);
    raw_say(&other, HELLO);
    raw_hears_part(&other, "serverInfo");
    raw_say(&other, BEGUN);
    assert_string_equal(state(), "down"); /* nobody has asked it anything */
    raw_say(&other, TOOL("1", "echo"));
    raw_hears_part(&host.server, "\"echo\"");
    assert_string_equal(state(), "trial");
    raw_say(&host.client, TOOL("2", "second"));
    raw_hears_part(&host.client, "failed 2 times in a row");
    raw_say(&host.server, GIVE("4", "{\"content\":[]}"));
    raw_hears_part(&other, "\"content\"");
    assert_string_equal(state(), "up");
    raw_close(&other);
    host_end();
}

static void test_time_outs_of_one_client_are_its_own(void **unused)
{
    (void)unused;
    begin(&(fl_upstream){
        .child = FL_CHILD_SESSION, .timeout_ms = 1000, .breaker_failures = 2});
    time_out();
    time_out();
    time_out();
    assert_string_equal(state(), "up");
    come(&other);
    welcome(&own);
    raw_hears_part(&other, "serverInfo");
    raw_close(&other);
    raw_close(&own);
    host_end();
}

static void test_time_out_of_a_server_that_speaks_is_the_calls(void **unused)
{
    (void)unused;
    begin(&(fl_upstream){
        .child = FL_CHILD_SHARED, .timeout_ms = 1000, .breaker_failures = 2});
    for (int i = 0; i < 3; i++) {
        raw_say(&host.client, TOOL("1", "hang"));
        raw_hears_part(&host.server, "\"hang\"");
        host_wait(500);
        raw_say(&host.server, CHANGED);
        raw_hears_part(&host.client, "list_changed");
        host_wait(501);
        raw_hears_part(&host.server, "cancelled");
        raw_hears_part(&host.client, "Upstream timeout");
    }
    assert_string_equal(state(), "up");
    host_end();
}

/* However often it dies of what its client asks. */
static void test_losses_of_one_client_are_its_own(void **unused)
{
    (void)unused;
    begin(&(fl_upstream){.child = FL_CHILD_SESSION, .breaker_failures = 2});
    for (int i = 0; i < 3; i++) {
        raw_say(&host.client, TOOL("1", "crash"));
        raw_hears_part(&host.server, "\"crash\"");
        raw_close(&host.server);
        raw_hears_part(&host.client, "Upstream connection lost");
        host_wait(1100);
        welcome(&host.server);
    }
    come(&other);
    welcome(&own);
    raw_hears_part(&other, "serverInfo");
    raw_close(&other);
    raw_close(&own);
    host_end();
}

static void test_losses_of_what_all_share_are_everybodys(void **unused)
{
    (void)unused;
    begin(&(fl_upstream){.child = FL_CHILD_SHARED, .breaker_failures = 2});
    for (int i = 0; i < 2; i++) {
        raw_say(&host.client, TOOL("1", "crash"));
        raw_hears_part(&host.server, "\"crash\"");
        raw_close(&host.server);
        raw_hears_part(&host.client, "Upstream connection lost");
        if (i == 0) {
            host_wait(1100);
            welcome(&host.server);
        }
    }
    assert_string_equal(state(), "down");
    host.server.fd = -1;
    host_end();
}

static void test_busy_conversation_that_says_nothing_is_closed(void **unused)
{
    (void)unused;
    begin(&(fl_upstream){.health_ms = 1000, .breaker_failures = 2});
    raw_say(&host.client, TOOL("1", "hang"));
    raw_hears_part(&host.server, "\"hang\"");
    host_wait(1001);
    raw_hears_part(&host.server, "\"method\":\"ping\"");
    host_wait(5001);
    raw_hears_part(&host.server, "cancelled");
    raw_hears_nothing(&host.client); /* once is not enough */
    host_wait(1001);
    raw_hears_part(&host.server, "\"method\":\"ping\"");
    host_wait(5001);
    raw_hears_part(&host.client, "no answer to a health check");
    raw_hears_part(&host.server, "cancelled");
    raw_hears_end(&host.server);
    raw_close(&host.server);
    host_wait(1100);
    welcome(&host.server);
    raw_say(&host.client, TOOL("2", "echo"));
    raw_hears_part(&host.server, "\"echo\"");
    host_end();
}

static void test_busy_conversation_that_answers_stays(void **unused)
{
    char said[64];

    (void)unused;
    begin(&(fl_upstream){.health_ms = 1000, .breaker_failures = 1});
    raw_say(&host.client, TOOL("1", "slow"));
    raw_hears_part(&host.server, "\"slow\"");
    for (int id = 3; id < 8; id++) {
        host_wait(1001);
        raw_hears_part(&host.server, "\"method\":\"ping\"");
        snprintf(said, sizeof said, GIVE("%d", "{}"), id);
        raw_say(&host.server, said);
        host_wait(0);
    }
    raw_say(&host.server, GIVE("2", "{\"content\":[]}"));
    raw_hears_part(&host.client, "\"content\"");
    host_end();
}

static void test_conversation_that_is_heard_of_is_not_asked(void **unused)
{
    (void)unused;
    begin(&(fl_upstream){.health_ms = 1000});
    raw_say(&host.client, TOOL("1", "slow"));
    raw_hears_part(&host.server, "\"slow\"");
    for (int i = 0; i < 5; i++) {
        host_wait(600);
        raw_hears_nothing(&host.server);
        raw_say(&host.server, CHANGED);
        raw_hears_part(&host.client, "list_changed");
    }
    host_end();
}

/* It may do one thing at a time, and that is to wait for a user. */
static void
test_conversation_that_waits_for_a_client_is_not_asked(void **unused)
{
    (void)unused;
    begin(&(fl_upstream){.health_ms = 1000});
    raw_say(&host.client, TOOL("1", "asks"));
    raw_hears_part(&host.server, "\"asks\"");
    raw_say(&host.server, "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":"
                          "\"sampling/createMessage\",\"params\":{}}");
    raw_hears_part(&host.client, "sampling/createMessage");
    host_wait(20000);
    raw_hears_nothing(&host.server);
    host_end();
}

/* Each has a process of its own, perhaps. */
static void test_each_silent_conversation_is_asked(void **unused)
{
    (void)unused;
    begin(&(fl_upstream){.child = FL_CHILD_SESSION, .health_ms = 1000});
    come(&other);
    welcome(&own);
    raw_hears_part(&other, "serverInfo");
    raw_say(&host.client, TOOL("1", "hang"));
    raw_say(&other, TOOL("1", "hang"));
    raw_hears_part(&host.server, "\"hang\"");
    raw_hears_part(&own, "\"hang\"");
    host_wait(1001);
    raw_hears_part(&host.server, "\"method\":\"ping\"");
    raw_say(&host.server, GIVE("3", "{}"));
    host_wait(1);
    raw_hears_part(&own, "\"method\":\"ping\"");
    raw_close(&other);
    raw_close(&own);
    host_end();
}

/* A call may be given less time than a check. */
static void test_check_is_not_cut_short_by_the_time_of_calls(void **unused)
{
    (void)unused;
    begin(&(fl_upstream){
        .health_ms = 3000, .timeout_ms = 1000, .breaker_failures = 1});
    host_wait(3001);
    raw_hears_part(&host.server, "\"method\":\"ping\"");
    host_wait(1001);
    raw_hears_nothing(&host.server);
    host_wait(4001);
    raw_hears_part(&host.server, "cancelled");
    raw_hears_end(&host.server);
    host.server.fd = -1;
    host_end();
}

static void test_silence_at_initialize_is_named(void **unused)
{
    (void)unused;
    host_open(&(fl_upstream){.queue_ms = 2000});
    raw_say(&host.client, CALL("1"));
    raw_accept(&host.server, host.loop, host.door);
    raw_hears_part(&host.server, "\"method\":\"initialize\"");
    host_wait(2001);
    raw_hears_part(&host.client, "has not answered initialize");
    host_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_greeting_from_memory_is_no_trial),
        cmocka_unit_test(test_time_outs_of_one_client_are_its_own),
        cmocka_unit_test(test_time_out_of_a_server_that_speaks_is_the_calls),
        cmocka_unit_test(test_losses_of_one_client_are_its_own),
        cmocka_unit_test(test_losses_of_what_all_share_are_everybodys),
        cmocka_unit_test(test_busy_conversation_that_says_nothing_is_closed),
        cmocka_unit_test(test_busy_conversation_that_answers_stays),
        cmocka_unit_test(test_conversation_that_is_heard_of_is_not_asked),
        cmocka_unit_test(
            test_conversation_that_waits_for_a_client_is_not_asked),
        cmocka_unit_test(test_each_silent_conversation_is_asked),
        cmocka_unit_test(test_check_is_not_cut_short_by_the_time_of_calls),
        cmocka_unit_test(test_silence_at_initialize_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
