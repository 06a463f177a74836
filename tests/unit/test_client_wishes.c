/*
 * test_client_wishes.c - subscriptions to resources: one at a time with a
 * legacy server, and all in one with a modern one, which is replaced whenever
 * they change. And what a client tells the next one about its server.
 */
#include "client_talk.h"

#define ALL "{\"resources\":{\"subscribe\":true}}"
#define LISTS "{\"resources\":{\"subscribe\":true,\"listChanged\":true}}"

#define ACK(id, uris)                                                          \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/"           \
    "acknowledged\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/"         \
    "subscriptionId\":" id                                                     \
    "},\"notifications\":{\"resourceSubscriptions\":" uris "}}}"

#define UPDATED(id, uri)                                                       \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\","     \
    "\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":" id    \
    "},\"uri\":\"" uri "\"}}"

static void subscribe(const char *uri)
{
    assert_int_equal(fl_client_subscribe(at.client, fl_span_of(uri), NULL,
                                         desk_on_answer, NULL, NULL),
                     FL_OK);
}

static void unsubscribe(const char *uri)
{
    assert_int_equal(fl_client_unsubscribe(at.client, fl_span_of(uri), NULL,
                                           desk_on_answer, NULL, NULL),
                     FL_OK);
}

static void test_client_wishes_of_a_legacy_server(void **state)
{
    (void)state;
    talk_legacy_with(NULL, ALL);
    assert_int_equal(fl_client_subscribe(at.client, FL_SPAN(""), NULL,
                                         desk_on_answer, NULL, NULL),
                     FL_E_INVALID);
    subscribe("f://a");
    raw_hears(&said.server,
              "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"resources/"
              "subscribe\",\"params\":{\"uri\":\"f://a\"}}");
    talk_answer("2", "{}");
    talk_sees_answer(FL_OK, "{}");
    subscribe("f://b");
    talk_hears("3", "resources/subscribe", "f://b");
    talk_answer("3", "{}");
    talk_sees_answer(FL_OK, "{}");
    subscribe("f://c");
    talk_hears("4", "resources/subscribe", "f://c");
    raw_say(&said.server, REFUSAL("4", "-32002", ""));
    talk_sees_answer(FL_E_REMOTE, "no");
    unsubscribe("f://a");
    talk_hears("5", "resources/unsubscribe", "f://a");
    talk_answer("5", "{}");
    talk_sees_answer(FL_OK, "{}");
    assert_int_equal(fl_client_set_log_level(at.client, "info", NULL,
                                             desk_on_answer, NULL, NULL),
                     FL_E_UNSUPPORTED);
    raw_close(&said.server);
    desk_digest();
    at.now += 100;
    talk_accept_legacy("6", "2025-11-25", ALL);
    talk_hears("7", "resources/subscribe", "f://b"); /* what is left of them */
    raw_hears_nothing(&said.server);
    talk_end();
}

/* What was said of a log before it was known that there is none must not cost
 * the subscriptions. */
static void test_client_wishes_are_restored_without_a_log(void **state)
{
    fl_client_options options = {.era = FL_ERA_LEGACY};

    (void)state;
    talk_open(&options, &talk_events);
    assert_int_equal(fl_client_set_log_level(at.client, "info", NULL,
                                             desk_on_answer, NULL, NULL),
                     FL_OK);
    talk_accept_legacy("2", "2025-11-25", ALL);
    talk_sees_answer(FL_E_UNSUPPORTED, "");
    subscribe("f://a");
    talk_hears("3", "resources/subscribe", "f://a");
    talk_answer("3", "{}");
    talk_sees_answer(FL_OK, "{}");
    raw_close(&said.server);
    desk_digest();
    at.now += 100;
    talk_accept_legacy("4", "2025-11-25", ALL);
    talk_hears("5", "resources/subscribe", "f://a");
    talk_end();
}

static void check_refused(const char *capabilities)
{
    talk_legacy_with(NULL, capabilities);
    assert_int_equal(fl_client_subscribe(at.client, FL_SPAN("a"), NULL,
                                         desk_on_answer, NULL, NULL),
                     FL_E_UNSUPPORTED);
    raw_hears_nothing(&said.server);
    talk_end();
}

static void test_client_wishes_not_of_who_takes_none(void **state)
{
    (void)state;
    check_refused("{\"resources\":{}}");
    check_refused("{\"resources\":{\"subscribe\":false}}");
}

static void test_client_wishes_of_a_modern_server_are_one(void **state)
{
    (void)state;
    talk_modern_with(NULL, ALL);
    subscribe("a");
    subscribe("b\"");
    talk_hears("4", "subscriptions/listen",
               "\"notifications\":{\"resourceSubscriptions\":[\"a\",\"b\\\"\"]"
               "}}}");
    assert_int_equal(at.answers, 0);
    raw_say(&said.server, ACK("4", "[\"\\u0061\",\"b\\\"\"]"));
    io_until(at.loop, at.answers == 2);
    assert_int_equal(at.status, FL_OK);
    assert_string_equal(at.result, "{}");
    at.answers = 0;
    raw_say(&said.server, UPDATED("4", "a"));
    io_until(at.loop, said.updates == 1);
    assert_string_equal(said.uri, "a");
    subscribe("a"); /* as it is */
    talk_sees_answer(FL_OK, "{}");
    raw_hears_nothing(&said.server);
    talk_end();
}

static void begin_with_a(void)
{
    talk_modern_with(NULL, ALL);
    subscribe("a");
    talk_hears("3", "subscriptions/listen", "[\"a\"]");
    raw_say(&said.server, ACK("3", "[\"a\"]"));
    talk_sees_answer(FL_OK, "{}");
}

static void test_client_wishes_replace_first_and_close_then(void **state)
{
    (void)state;
    begin_with_a();
    subscribe("b");
    talk_hears("5", "subscriptions/listen", "[\"a\",\"b\"]");
    raw_say(&said.server, UPDATED("3", "a")); /* the old one still counts */
    io_until(at.loop, said.updates == 1);
    raw_hears_nothing(&said.server);
    raw_say(&said.server, ACK("5", "[\"a\",\"b\"]"));
    raw_hears_part(&said.server, "notifications/cancelled\",\"params\":{"
                                 "\"requestId\":3,");
    talk_sees_answer(FL_OK, "{}");
    raw_say(&said.server, UPDATED("3", "a")); /* no more */
    raw_say(&said.server, UPDATED("5", "b"));
    io_until(at.loop, said.updates == 2);
    assert_string_equal(said.uri, "b");
    unsubscribe("a");
    talk_hears("7", "subscriptions/listen", "[\"b\"]");
    raw_say(&said.server, ACK("7", "[\"b\"]"));
    talk_sees_answer(FL_OK, "{}");
    raw_hears_part(&said.server, "\"requestId\":5,");
    unsubscribe("b"); /* then there is nothing to be told of */
    raw_hears_part(&said.server, "\"requestId\":7,");
    talk_sees_answer(FL_OK, "{}");
    raw_hears_nothing(&said.server);
    talk_end();
}

static void test_client_wishes_that_come_meanwhile_wait(void **state)
{
    (void)state;
    begin_with_a();
    subscribe("b");
    talk_hears("5", "subscriptions/listen", "[\"a\",\"b\"]");
    subscribe("c");
    unsubscribe("a");
    raw_hears_nothing(&said.server);
    raw_say(&said.server, ACK("5", "[\"a\",\"b\"]"));
    raw_hears_part(&said.server, "\"requestId\":3,");
    talk_sees_answer(FL_OK, "{}");
    talk_hears("8", "subscriptions/listen", "[\"b\",\"c\"]");
    raw_say(&said.server, ACK("8", "[\"b\",\"c\"]"));
    io_until(at.loop, at.answers == 2);
    talk_end();
}

static void test_client_wishes_may_not_be_granted(void **state)
{
    (void)state;
    begin_with_a();
    subscribe("b");
    talk_hears("5", "subscriptions/listen", "[\"a\",\"b\"]");
    raw_say(&said.server, ACK("5", "[\"a\"]"));
    raw_hears_part(&said.server, "\"requestId\":3,");
    talk_sees_answer(FL_E_UNSUPPORTED, "does not agree");
    subscribe("c");
    talk_hears("7", "subscriptions/listen", "[\"a\",\"c\"]");
    raw_say(&said.server, REFUSAL("7", "-32603", ""));
    talk_sees_answer(FL_E_REMOTE, "no");
    raw_say(&said.server, UPDATED("5", "a")); /* what was there goes on */
    io_until(at.loop, said.updates == 1);
    at.now += 3600000;
    raw_hears_nothing(&said.server);
    subscribe("d");
    talk_hears("9", "subscriptions/listen", "[\"a\",\"d\"]");
    talk_answer("9", "{\"resultType\":\"complete\"}");
    talk_sees_answer(FL_E_UNSUPPORTED, "ended the subscription at once");
    talk_end();
}

static void test_client_wishes_time_out(void **state)
{
    const fl_request_options options = {.timeout_ms = 500};

    (void)state;
    talk_modern_with(NULL, ALL);
    assert_int_equal(fl_client_subscribe(at.client, FL_SPAN("a"), &options,
                                         desk_on_answer, NULL, NULL),
                     FL_OK);
    talk_hears("3", "subscriptions/listen", "[\"a\"]");
    at.now += 500;
    talk_sees_answer(FL_E_TIMEOUT, "500 ms");
    raw_say(&said.server, ACK("3", "[\"a\"]"));
    desk_digest();
    subscribe("b"); /* and it is forgotten */
    talk_hears("5", "subscriptions/listen", "[\"b\"]");
    talk_end();
}

static void test_client_wishes_stand_beside_lists(void **state)
{
    (void)state;
    talk_modern_with(NULL, LISTS);
    talk_hears("2", "subscriptions/listen",
               "\"notifications\":{\"resourcesListChanged\":true}}}");
    subscribe("a");
    raw_say(&said.server, ACK("2", "[]"));
    talk_hears("4", "subscriptions/listen",
               "\"notifications\":{\"resourcesListChanged\":true,"
               "\"resourceSubscriptions\":[\"a\"]}}}");
    talk_end();
}

static void test_client_wishes_outlive_an_outage(void **state)
{
    (void)state;
    begin_with_a();
    subscribe("b");
    talk_hears("5", "subscriptions/listen", "");
    raw_close(&said.server);
    desk_digest();
    assert_int_equal(at.answers, 0);
    at.now += 100;
    talk_accept_modern("6", ALL);
    talk_hears("7", "subscriptions/listen", "[\"a\",\"b\"]");
    raw_say(&said.server, ACK("7", "[\"a\",\"b\"]"));
    talk_sees_answer(FL_OK, "{}");
    talk_end();
}

static void test_client_wishes_are_bounded(void **state)
{
    char uri[16];

    (void)state;
    talk_modern_with(&(fl_client_options){.connection.max_in_flight = 2000},
                     ALL);
    for (int i = 0; i < 1024; i++) {
        snprintf(uri, sizeof uri, "u%d", i);
        subscribe(uri);
    }
    desk_digest();
    assert_int_equal(at.answers, 0);
    subscribe("one more");
    talk_sees_answer(FL_E_LIMIT, "");
    talk_end();
}

static int wish_twice(fl_client *client)
{
    return (fl_client_subscribe(client, FL_SPAN("a"), NULL, desk_on_answer,
                                NULL, NULL) == FL_OK) +
           (fl_client_unsubscribe(client, FL_SPAN("b"), NULL, desk_on_answer,
                                  NULL, NULL) == FL_OK);
}

static void test_client_wishes_survive_every_failed_allocation(void **state)
{
    static const robot_rule rules[] = {
        {"server/discover", ANSWER("%s", DISCOVERED("[\"2026-07-28\"]", ALL))},
        {"subscriptions/listen", ACK("%s", "[\"a\"]")},
        {0},
    };
    robot_life life = {.rules = rules, .begin = wish_twice};

    (void)state;
    robot_run(&life);
}

static void test_client_wishes_verdict_can_be_kept(void **state)
{
    fl_client_options next = {0};

    (void)state;
    talk_open(NULL, &desk_events);
    assert_int_equal(fl_client_verdict(at.client).era, FL_ERA_AUTO);
    talk_accept_modern("1", ALL);
    at.now += 500;
    desk_digest();
    next.verdict = fl_client_verdict(at.client);
    assert_int_equal(next.verdict.era, FL_ERA_MODERN);
    assert_int_equal(next.verdict.age_ms, 500);
    talk_end();
    talk_open(&next, &desk_events);
    raw_accept(&said.server, at.loop, said.door);
    raw_hears_part(&said.server, "server/discover");
    at.now += 10000; /* it is slow, not legacy */
    raw_hears_nothing(&said.server);
    talk_end();
}

static void check_legacy_verdict(uint64_t age_ms, const char *first)
{
    talk_open(&(fl_client_options){.verdict = {FL_ERA_LEGACY, age_ms}},
              &desk_events);
    raw_accept(&said.server, at.loop, said.door);
    raw_hears_part(&said.server, first);
    talk_end();
}

static void test_client_wishes_legacy_verdict_holds_for_a_day(void **state)
{
    const uint64_t day = UINT64_C(24) * 3600 * 1000;

    (void)state;
    check_legacy_verdict(0, "\"method\":\"initialize\"");
    check_legacy_verdict(day - 1000, "\"method\":\"initialize\"");
    check_legacy_verdict(day, "server/discover");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_client_wishes_of_a_legacy_server),
        cmocka_unit_test(test_client_wishes_are_restored_without_a_log),
        cmocka_unit_test(test_client_wishes_not_of_who_takes_none),
        cmocka_unit_test(test_client_wishes_of_a_modern_server_are_one),
        cmocka_unit_test(test_client_wishes_replace_first_and_close_then),
        cmocka_unit_test(test_client_wishes_that_come_meanwhile_wait),
        cmocka_unit_test(test_client_wishes_may_not_be_granted),
        cmocka_unit_test(test_client_wishes_time_out),
        cmocka_unit_test(test_client_wishes_stand_beside_lists),
        cmocka_unit_test(test_client_wishes_outlive_an_outage),
        cmocka_unit_test(test_client_wishes_are_bounded),
        cmocka_unit_test(test_client_wishes_survive_every_failed_allocation),
        cmocka_unit_test(test_client_wishes_verdict_can_be_kept),
        cmocka_unit_test(test_client_wishes_legacy_verdict_holds_for_a_day),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
