/*
 * test_gateway_whose.c - whose the log of a server is that several clients
 * share, and its last words: nobody hears what may be another's.
 */
#include "gateway_host.h"

#include "gateway/gateway.h"
#include "gateway/route.h"

#define HELLO                                                                  \
    ASK("1", "initialize",                                                     \
        "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"              \
        "\"clientInfo\":{\"name\":\"a\",\"version\":\"1\"}")
#define READY "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"
#define WORK(id, who) ASK(id, "tools/call", "\"name\":\"" who "\"")
#define LOG(level, text)                                                       \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{"   \
    "\"level\":\"" level "\",\"data\":\"" text "\"}}"
#define LEVEL(level) ",\"io.modelcontextprotocol/logLevel\":\"" level "\""
#define MODERN(id, who, level)                                                 \
    ASK(id, "tools/call", "\"name\":\"" who "\"," CLAIM_WITH(LEVEL(level)))

static raw_peer second;

static uint64_t withheld(void)
{
    return FL_LIST_ENTRY(host.gateway->routes.next, fl_route, node)->withheld;
}

static void greet(raw_peer *client)
{
    raw_hears_part(client, "\"serverInfo\"");
    raw_say(client, READY);
}

/* Two of them, on one conversation with the server. */
static int begin(void **state)
{
    (void)state;
    host_open(&(fl_upstream){.child = FL_CHILD_SHARED});
    raw_take(&second, host.loop, raw_dial(fl_gateway_port(host.gateway)));
    raw_say(&host.client, HELLO);
    host_welcome("2025-06-18", "{\"tools\":{},\"logging\":{}}");
    greet(&host.client);
    return 0;
}

static int begin_both(void **state)
{
    begin(state);
    raw_say(&second, HELLO);
    greet(&second);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    raw_close(&second);
    host_end();
    return 0;
}

/* A client's request arrives at the server: its number there. */
static long arrives(raw_peer *client, const char *line, const char *part)
{
    const char *heard, *id;

    raw_say(client, line);
    heard = raw_hear(&host.server);
    assert_non_null(strstr(heard, part));
    id = strstr(heard, "\"id\":");
    assert_non_null(id);
    return strtol(id + 5, NULL, 10);
}

static void answer(long number)
{
    char line[128];

    snprintf(line, sizeof line, GIVE("%ld", "{\"content\":[]}"), number);
    raw_say(&host.server, line);
}

static void nobody_hears(const char *line)
{
    uint64_t before = withheld();

    raw_say(&host.server, line);
    io_until(host.loop, withheld() == before + 1);
    raw_hears_nothing(&host.client);
    raw_hears_nothing(&second);
}

static void test_whose_is_the_only_one_who_works(void **state)
{
    (void)state;
    long number = arrives(&host.client, WORK("2", "x"), "\"x\"");
    raw_say(&host.server, LOG("info", "of one"));
    raw_hears_part(&host.client, "of one");
    answer(number);
    raw_hears_part(&host.client, "\"id\":2");
    nobody_hears(LOG("info", "trails")); /* two are there, nobody works */
    raw_hears_nothing(&second);
}

static void test_whose_is_nobodys_while_two_work(void **state)
{
    (void)state;
    long one = arrives(&host.client, WORK("2", "x"), "\"x\"");
    long two = arrives(&second, WORK("2", "y"), "\"y\"");
    nobody_hears(LOG("warning", "the card of two"));
    answer(two);
    raw_hears_part(&second, "\"id\":2");
    nobody_hears(LOG("warning", "the card of two, again"));
    host_wait(FL_WHOSE_TRAIL_MS + 1);
    raw_say(&host.server, LOG("info", "of one"));
    raw_hears_part(&host.client, "of one");
    answer(one);
    raw_hears_part(&host.client, "\"id\":2");
    raw_hears_nothing(&second);
}

static void test_whose_call_runs_on_when_nobody_waits(void **state)
{
    (void)state;
    arrives(&second, WORK("2", "y"), "\"y\"");
    raw_say(&second, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                     "cancelled\",\"params\":{\"requestId\":2}}");
    raw_hears_part(&host.server, "notifications/cancelled");
    arrives(&host.client, WORK("2", "x"), "\"x\"");
    host_wait(FL_WHOSE_TRAIL_MS + 1);
    nobody_hears(LOG("warning", "the card of two"));
    host_wait(FL_WHOSE_STRAY_MS);
    raw_say(&host.server, LOG("info", "of one"));
    raw_hears_part(&host.client, "of one");
}

static void test_whose_is_the_only_one_there(void **state)
{
    (void)state;
    raw_say(&host.client, ASK("2", "logging/setLevel", "\"level\":\"info\""));
    raw_hears_part(&host.server, "logging/setLevel");
    raw_say(&host.server, GIVE("2", "{}"));
    raw_hears_part(&host.client, "\"id\":2");
    raw_say(&host.server, LOG("debug", "less than it wants"));
    raw_say(&host.server, LOG("info", "tick"));
    raw_hears_part(&host.client, "tick");
    assert_int_equal(withheld(), 0);
}

static void test_whose_left_a_trail_all_the_same(void **state)
{
    (void)state;
    long number = arrives(&second, WORK("2", "y"), "\"y\"");
    answer(number);
    raw_hears_part(&second, "\"id\":2");
    raw_close(&second);
    host_wait(100);
    raw_take(&second, host.loop, raw_dial(fl_gateway_port(host.gateway)));
    nobody_hears(LOG("warning", "the card of two"));
    host_wait(FL_WHOSE_TRAIL_MS + 1);
    raw_say(&host.server, LOG("info", "tick"));
    raw_hears_part(&host.client, "tick");
}

static void test_whose_modern_request_hears_its_own_alone(void **state)
{
    (void)state;
    raw_say(&host.client, MODERN("5", "x", "warning"));
    raw_hears_part(&host.server, "logging/setLevel");
    raw_hears_part(&host.server, "tools/call");
    raw_say(&second, MODERN("5", "y", "warning"));
    raw_hears_part(&host.server, "tools/call");
    nobody_hears(LOG("error", "the card of two"));
}

#define ELICIT                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\","     \
    "\"params\":{\"message\":\"?\",\"requestedSchema\":{\"type\":\"object\","  \
    "\"properties\":{}}}}"

/* The server has a call of a modern client's. */
static int begin_modern(void **state)
{
    (void)state;
    host_open(&(fl_upstream){.child = FL_CHILD_SHARED});
    raw_take(&second, host.loop, raw_dial(fl_gateway_port(host.gateway)));
    raw_say(&host.client, MODERN("4", "first", "debug"));
    host_welcome("2025-06-18", "{\"tools\":{},\"logging\":{}}");
    raw_hears_part(&host.server, "logging/setLevel");
    raw_hears_part(&host.server, "tools/call");
    return 0;
}

/* Its client's user is asked something, and takes his time. */
static void park(void)
{
    raw_say(&host.server, ELICIT);
    host_wait(0);
    host_wait(20);
    raw_hears_part(&host.client, "input_required");
}

static void test_whose_parked_call_is_no_strangers(void **state)
{
    (void)state;
    park();
    raw_say(&host.client, MODERN("5", "x", "debug"));
    raw_hears_part(&host.server, "tools/call");
    raw_say(&host.server, LOG("info", "of one"));
    raw_hears_part(&host.client, "of one");
}

static void test_whose_parked_call_may_be_told_of(void **state)
{
    (void)state;
    park();
    raw_say(&second, MODERN("5", "x", "debug"));
    raw_hears_part(&host.server, "tools/call");
    nobody_hears(LOG("warning", "the card of one"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_whose_is_the_only_one_who_works,
                                        begin_both, finish),
        cmocka_unit_test_setup_teardown(test_whose_is_nobodys_while_two_work,
                                        begin_both, finish),
        cmocka_unit_test_setup_teardown(
            test_whose_call_runs_on_when_nobody_waits, begin_both, finish),
        cmocka_unit_test_setup_teardown(test_whose_is_the_only_one_there, begin,
                                        finish),
        cmocka_unit_test_setup_teardown(test_whose_left_a_trail_all_the_same,
                                        begin_both, finish),
        cmocka_unit_test_setup_teardown(
            test_whose_modern_request_hears_its_own_alone, begin, finish),
        cmocka_unit_test_setup_teardown(test_whose_parked_call_is_no_strangers,
                                        begin_modern, finish),
        cmocka_unit_test_setup_teardown(test_whose_parked_call_may_be_told_of,
                                        begin_modern, finish),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
