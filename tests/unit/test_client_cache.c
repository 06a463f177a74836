/*
 * test_client_cache.c - results that a modern server lets us keep: for how
 * long, for which question, and until which news.
 */
#include "client_talk.h"

#define ALL "{\"tools\":{},\"resources\":{},\"prompts\":{}}"

#define KEPT(body, ttl)                                                        \
    "{\"resultType\":\"complete\"," body ",\"ttlMs\":" ttl                     \
    ",\"cacheScope\":\"private\"}"

#define NOTE(method, params)                                                   \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" method                  \
    "\",\"params\":" params "}"

static void read_uri(const char *uri)
{
    assert_int_equal(fl_client_read(at.client, fl_span_of(uri), NULL,
                                    desk_on_answer, NULL, NULL),
                     FL_OK);
}

/* Asks the server for a list, which may be kept. */
static void fill(const char *id, const char *ttl)
{
    char result[256];

    desk_ask("tools/list");
    talk_hears(id, "tools/list", "");
    snprintf(result, sizeof result, KEPT("\"tools\":[1]", "%s"), ttl);
    talk_answer(id, result);
    talk_sees_answer(FL_OK, "\"tools\":[1]");
}

static void is_known(void)
{
    desk_ask("tools/list");
    assert_int_equal(at.answers, 0); /* always later */
    talk_sees_answer(FL_OK, "\"tools\":[1]");
    raw_hears_nothing(&said.server);
}

static void is_asked(const char *id)
{
    desk_ask("tools/list");
    talk_hears(id, "tools/list", "");
}

static void test_client_cache_keeps_for_as_long_as_it_may(void **state)
{
    (void)state;
    talk_modern_with(NULL, ALL);
    fill("2", "1000");
    at.now += 999;
    is_known();
    at.now += 1;
    is_asked("4");
    talk_end();
}

static void check_not_kept(const char *ttl)
{
    talk_modern_with(NULL, ALL);
    fill("2", ttl);
    is_asked("3");
    talk_end();
}

static void test_client_cache_keeps_nothing_without_leave(void **state)
{
    (void)state;
    check_not_kept("0");
    check_not_kept("-1");
    check_not_kept("\"1000\"");
    check_not_kept("null");
}

static void test_client_cache_of_methods_that_have_it(void **state)
{
    (void)state;
    talk_modern_with(NULL, ALL);
    assert_int_equal(talk_call(NULL, NULL), FL_OK);
    talk_hears("2", "tools/call", "");
    talk_answer("2", KEPT("\"content\":[]", "60000"));
    talk_sees_answer(FL_OK, "");
    assert_int_equal(talk_call(NULL, NULL), FL_OK);
    talk_hears("3", "tools/call", "");
    desk_ask("server/discover");
    talk_hears("4", "server/discover", "");
    talk_answer("4", KEPT("\"supportedVersions\":[]", "60000"));
    talk_sees_answer(FL_OK, "");
    desk_ask("server/discover");
    talk_sees_answer(FL_OK, "supportedVersions");
    raw_hears_nothing(&said.server);
    talk_end();
}

static void test_client_cache_legacy_has_none(void **state)
{
    (void)state;
    talk_legacy_with(NULL, ALL);
    fill("2", "60000");
    is_asked("3");
    talk_end();
}

static void test_client_cache_is_of_the_very_question(void **state)
{
    (void)state;
    talk_modern_with(NULL, ALL);
    read_uri("a");
    talk_hears("2", "resources/read", "\"a\"");
    talk_answer("2", KEPT("\"contents\":[1]", "60000"));
    talk_sees_answer(FL_OK, "[1]");
    read_uri("b");
    talk_hears("3", "resources/read", "\"b\"");
    talk_answer("3", KEPT("\"contents\":[2]", "60000"));
    talk_sees_answer(FL_OK, "[2]");
    read_uri("a");
    talk_sees_answer(FL_OK, "[1]");
    read_uri("b");
    talk_sees_answer(FL_OK, "[2]");
    assert_int_equal(
        desk_try("resources/read", "{\"uri\":\"a\",\"_meta\":{\"x\":1}}"),
        FL_OK);
    talk_hears("6", "resources/read", "\"x\":1");
    assert_int_equal(
        desk_try("resources/read", "{\"uri\":\"a\",\"requestState\":\"s\"}"),
        FL_OK);
    talk_hears("7", "resources/read", "requestState");
    raw_hears_nothing(&said.server);
    talk_end();
}

static void test_client_cache_can_be_passed_by(void **state)
{
    const fl_request_options fresh = {.fresh = true};

    (void)state;
    talk_modern_with(NULL, ALL);
    fill("2", "60000");
    assert_int_equal(fl_client_request(at.client, "tools/list", FL_SPAN(""),
                                       &fresh, desk_on_answer, NULL, NULL),
                     FL_OK);
    talk_hears("3", "tools/list", "");
    talk_answer("3", KEPT("\"tools\":[2]", "60000"));
    talk_sees_answer(FL_OK, "[2]");
    desk_ask("tools/list");
    talk_sees_answer(FL_OK, "[2]"); /* which is the newer one */
    fl_client_drop_cache(at.client);
    is_asked("5");
    talk_end();
    talk_modern_with(&(fl_client_options){.no_cache = true}, ALL);
    fill("2", "60000");
    is_asked("3");
    desk_ask("server/discover"); /* whose text has gone when it is answered */
    talk_hears("4", "server/discover", "");
    talk_answer("4", KEPT("\"supportedVersions\":[]", "60000"));
    talk_sees_answer(FL_OK, "supportedVersions");
    talk_end();
}

static void test_client_cache_heeds_the_news(void **state)
{
    (void)state;
    talk_modern_with(NULL, ALL);
    fill("2", "60000");
    raw_say(&said.server, NOTE("prompts/list_changed", "{}"));
    io_until(at.loop, said.changes == 1);
    is_known();
    raw_say(&said.server, NOTE("tools/list_changed", "{}"));
    io_until(at.loop, said.changes == 2);
    is_asked("4");
    talk_end();
    talk_modern_with(NULL, ALL);
    read_uri("a");
    talk_hears("2", "resources/read", "");
    talk_answer("2", KEPT("\"contents\":[1]", "60000"));
    talk_sees_answer(FL_OK, "[1]");
    raw_say(&said.server, NOTE("resources/updated", "{\"uri\":\"b\"}"));
    io_until(at.loop, said.updates == 1);
    read_uri("a");
    talk_sees_answer(FL_OK, "[1]");
    raw_say(&said.server, NOTE("resources/updated", "{\"uri\":\"a\"}"));
    io_until(at.loop, said.updates == 2);
    read_uri("a");
    talk_hears("4", "resources/read", "");
    talk_end();
}

/* The answer may be from before the change. */
static void test_client_cache_does_not_keep_what_changed_meanwhile(void **state)
{
    (void)state;
    talk_modern_with(NULL, ALL);
    is_asked("2");
    raw_say(&said.server, NOTE("tools/list_changed", "{}"));
    talk_answer("2", KEPT("\"tools\":[1]", "60000"));
    talk_sees_answer(FL_OK, "[1]");
    is_asked("3");
    talk_end();
}

static void test_client_cache_starts_anew_with_the_connection(void **state)
{
    (void)state;
    talk_modern_with(NULL, ALL);
    fill("2", "60000");
    raw_close(&said.server);
    desk_digest();
    at.now += 100;
    talk_accept_modern("3", ALL);
    is_asked("4");
    talk_end();
}

static void test_client_cache_never_has_what_input_led_to(void **state)
{
    (void)state;
    talk_modern_with(&(fl_client_options){.handlers = &talk_handlers}, ALL);
    read_uri("a");
    talk_hears("2", "resources/read", "");
    talk_answer("2", "{\"resultType\":\"input_required\",\"requestState\":"
                     "\"s\"}");
    desk_digest();
    at.now += 250;
    talk_hears("3", "resources/read", "requestState");
    talk_answer("3", KEPT("\"contents\":[1]", "60000"));
    talk_sees_answer(FL_OK, "[1]");
    read_uri("a");
    talk_hears("4", "resources/read", "");
    talk_end();
}

static void check_read(const char *uri, const char *id)
{
    read_uri(uri);
    talk_hears(id, "resources/read", "");
    talk_answer(id, KEPT("\"contents\":[1]", "60000"));
    talk_sees_answer(FL_OK, "[1]");
}

static void test_client_cache_drops_what_was_used_longest_ago(void **state)
{
    const fl_client_options two = {.cache_entries = 2};

    (void)state;
    talk_modern_with(&two, ALL);
    check_read("a", "2");
    check_read("b", "3");
    read_uri("a");
    talk_sees_answer(FL_OK, "[1]");
    check_read("c", "5"); /* b goes */
    read_uri("a");
    talk_sees_answer(FL_OK, "[1]");
    read_uri("b");
    talk_hears("7", "resources/read", "\"b\"");
    talk_end();
}

static void check_bytes(size_t limit, bool kept)
{
    const fl_client_options options = {.cache_bytes = limit};

    talk_modern_with(&options, ALL);
    fill("2", "60000");
    if (kept)
        is_known();
    else
        is_asked("3");
    talk_end();
}

static void test_client_cache_is_bounded_in_bytes(void **state)
{
    size_t needs = 0;

    (void)state;
    for (size_t limit = 100; needs == 0 && limit < 1000; limit++) {
        talk_modern_with(&(fl_client_options){.cache_bytes = limit}, ALL);
        fill("2", "60000");
        desk_ask("tools/list");
        desk_digest();
        if (at.answers > 0)
            needs = limit;
        talk_end();
    }
    assert_true(needs >
                strlen("tools/list") + strlen(KEPT("\"tools\":[1]", "60000")));
    check_bytes(needs, true);
    check_bytes(needs - 1, false);
}

static void test_client_cache_serves_the_pages_of_a_list(void **state)
{
    (void)state;
    talk_modern_with(NULL, ALL);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(fl_client_list(at.client, FL_LIST_TOOLS, NULL,
                                        desk_on_answer, NULL, NULL),
                         FL_OK);
        if (i == 0) {
            talk_hears("2", "tools/list", "");
            talk_answer("2",
                        KEPT("\"tools\":[1],\"nextCursor\":\"c\"", "60000"));
            talk_hears("3", "tools/list", "\"cursor\":\"c\"");
            talk_answer("3", KEPT("\"tools\":[2]", "60000"));
        }
        talk_sees_answer(FL_OK, "{\"tools\":[1,2]}");
    }
    raw_hears_nothing(&said.server);
    talk_end();
}

static void list_tools(void)
{
    assert_int_equal(fl_client_list(at.client, FL_LIST_TOOLS, NULL,
                                    desk_on_answer, NULL, NULL),
                     FL_OK);
}

/* That one page came from here says nothing about the next. */
static void test_client_cache_keeps_a_page_behind_a_kept_one(void **state)
{
    (void)state;
    talk_modern_with(NULL, ALL);
    list_tools();
    talk_hears("2", "tools/list", "");
    talk_answer("2", KEPT("\"tools\":[1],\"nextCursor\":\"c\"", "60000"));
    talk_hears("3", "tools/list", "\"cursor\":\"c\"");
    talk_answer("3", KEPT("\"tools\":[2]", "10"));
    talk_sees_answer(FL_OK, "{\"tools\":[1,2]}");
    at.now += 10;
    list_tools();
    talk_hears("5", "tools/list", "\"cursor\":\"c\"");
    talk_answer("5", KEPT("\"tools\":[3]", "60000"));
    talk_sees_answer(FL_OK, "{\"tools\":[1,3]}");
    list_tools();
    talk_sees_answer(FL_OK, "{\"tools\":[1,3]}");
    raw_hears_nothing(&said.server);
    talk_end();
}

static void test_client_cache_what_is_known_can_be_cancelled(void **state)
{
    uint64_t id;

    (void)state;
    talk_modern_with(NULL, ALL);
    fill("2", "60000");
    assert_int_equal(fl_client_request(at.client, "tools/list", FL_SPAN(""),
                                       NULL, desk_on_answer, NULL, &id),
                     FL_OK);
    assert_int_equal(fl_client_cancel(at.client, id, NULL), FL_OK);
    talk_sees_answer(FL_E_CANCELLED, "");
    raw_hears_nothing(&said.server);
    talk_end();
}

static void on_first(fl_client *client, const fl_answer *answer, void *user)
{
    desk_on_answer(client, answer, user);
    if (fl_client_request(client, "tools/list", FL_SPAN(""), NULL,
                          desk_on_answer, NULL, NULL) != FL_OK)
        at.answers++; /* it will not come */
}

static int ask_twice(fl_client *client)
{
    return fl_client_request(client, "tools/list", FL_SPAN(""), NULL, on_first,
                             NULL, NULL) == FL_OK
               ? 2
               : 0;
}

static void test_client_cache_survives_every_failed_allocation(void **state)
{
    static const robot_rule rules[] = {
        {"server/discover", ANSWER("%s", DISCOVERED("[\"2026-07-28\"]", ALL))},
        {"tools/list", ANSWER("%s", KEPT("\"tools\":[1]", "60000"))},
        {0},
    };
    robot_life life = {.rules = rules, .begin = ask_twice};

    (void)state;
    robot_run(&life);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_client_cache_keeps_for_as_long_as_it_may),
        cmocka_unit_test(test_client_cache_keeps_nothing_without_leave),
        cmocka_unit_test(test_client_cache_of_methods_that_have_it),
        cmocka_unit_test(test_client_cache_legacy_has_none),
        cmocka_unit_test(test_client_cache_is_of_the_very_question),
        cmocka_unit_test(test_client_cache_can_be_passed_by),
        cmocka_unit_test(test_client_cache_heeds_the_news),
        cmocka_unit_test(
            test_client_cache_does_not_keep_what_changed_meanwhile),
        cmocka_unit_test(test_client_cache_starts_anew_with_the_connection),
        cmocka_unit_test(test_client_cache_never_has_what_input_led_to),
        cmocka_unit_test(test_client_cache_drops_what_was_used_longest_ago),
        cmocka_unit_test(test_client_cache_is_bounded_in_bytes),
        cmocka_unit_test(test_client_cache_serves_the_pages_of_a_list),
        cmocka_unit_test(test_client_cache_keeps_a_page_behind_a_kept_one),
        cmocka_unit_test(test_client_cache_what_is_known_can_be_cancelled),
        cmocka_unit_test(test_client_cache_survives_every_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
