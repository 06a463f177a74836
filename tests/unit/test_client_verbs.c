/*
 * test_client_verbs.c - what can be asked of a server by name: what it looks
 * like on the wire, in either era, and what comes of it.
 */
#include "client_talk.h"

#define ALL                                                                    \
    "{\"tools\":{},\"resources\":{\"subscribe\":true},\"prompts\":{},"         \
    "\"completions\":{},\"logging\":{}}"

static const char *const methods[] = {
    "tools/list", "resources/list", "resources/templates/list", "prompts/list"};
static const char *const keys[] = {"tools", "resources", "resourceTemplates",
                                   "prompts"};

static fl_status list(fl_list_kind kind)
{
    return fl_client_list(at.client, kind, NULL, desk_on_answer, NULL, NULL);
}

static void check_list(fl_list_kind kind)
{
    char page[128], whole[128];

    assert_int_equal(list(kind), FL_OK);
    talk_hears("2", methods[kind], "");
    snprintf(page, sizeof page,
             "{\"%s\":[{\"a\":1},2],\"nextCursor\":\"c\\u0031\"}", keys[kind]);
    talk_answer("2", page);
    talk_hears("3", methods[kind],
               "{\"cursor\":\"c\\u0031\"}"); /* as it came */
    snprintf(page, sizeof page, "{\"%s\":[],\"nextCursor\":\"c2\",\"x\":1}",
             keys[kind]);
    talk_answer("3", page);
    talk_hears("4", methods[kind], "{\"cursor\":\"c2\"}");
    snprintf(page, sizeof page, "{\"%s\":[ 3 ]}", keys[kind]);
    assert_int_equal(at.answers, 0);
    talk_answer("4", page);
    snprintf(whole, sizeof whole, "{\"%s\":[{\"a\":1},2,3]}", keys[kind]);
    talk_sees_answer(FL_OK, whole);
    assert_string_equal(at.result, whole);
}

static void test_client_verbs_lists_are_whole(void **state)
{
    (void)state;
    for (int kind = FL_LIST_TOOLS; kind <= FL_LIST_PROMPTS; kind++) {
        talk_legacy_with(NULL, ALL);
        check_list((fl_list_kind)kind);
        talk_end();
    }
}

static void test_client_verbs_a_modern_list_is_whole_too(void **state)
{
    (void)state;
    talk_modern_with(NULL, "{\"tools\":{}}");
    assert_int_equal(list(FL_LIST_TOOLS), FL_OK);
    talk_hears("2", "tools/list", "\"params\":{\"_meta\":{");
    talk_answer("2", "{\"resultType\":\"complete\",\"tools\":[1],"
                     "\"nextCursor\":\"c\",\"ttlMs\":0}");
    talk_hears("3", "tools/list", "},\"cursor\":\"c\"}}");
    talk_answer("3", "{\"resultType\":\"complete\",\"tools\":[2]}");
    talk_sees_answer(FL_OK, "{\"tools\":[1,2]}");
    talk_end();
}

static void test_client_verbs_an_empty_list_is_one(void **state)
{
    (void)state;
    talk_legacy_with(NULL, ALL);
    assert_int_equal(list(FL_LIST_PROMPTS), FL_OK);
    talk_hears("2", "prompts/list", "");
    talk_answer("2", "{\"prompts\":[]}");
    talk_sees_answer(FL_OK, "{\"prompts\":[]}");
    talk_end();
}

static void check_bad_list(const char *page, const char *part)
{
    talk_legacy_with(NULL, ALL);
    assert_int_equal(list(FL_LIST_TOOLS), FL_OK);
    talk_hears("2", "tools/list", "");
    talk_answer("2", page);
    talk_sees_answer(FL_E_BAD_MESSAGE, part);
    assert_string_equal(at.result, "");
    talk_end();
}

static void test_client_verbs_what_is_no_list_is_refused(void **state)
{
    (void)state;
    check_bad_list("{}", "tools/list has no list in it");
    check_bad_list("{\"tools\":{}}", "no list");
    check_bad_list("{\"resources\":[]}", "no list");
}

static void test_client_verbs_a_list_that_goes_round_is_stopped(void **state)
{
    (void)state;
    talk_legacy_with(NULL, ALL);
    assert_int_equal(list(FL_LIST_TOOLS), FL_OK);
    talk_hears("2", "tools/list", "");
    talk_answer("2", "{\"tools\":[1],\"nextCursor\":\"a\"}");
    talk_hears("3", "tools/list", "\"a\"");
    talk_answer("3", "{\"tools\":[1],\"nextCursor\":\"b\"}");
    talk_hears("4", "tools/list", "\"b\"");
    talk_answer("4", "{\"tools\":[1],\"nextCursor\":\"a\"}");
    talk_sees_answer(FL_E_BAD_MESSAGE, "its cursor came twice");
    raw_hears_nothing(&said.server);
    talk_end();
}

/* `more`: the last one says that there is one more. */
static void check_pages(int pages, bool more, fl_status status)
{
    char id[16], page[64];

    talk_legacy_with(NULL, ALL);
    assert_int_equal(list(FL_LIST_TOOLS), FL_OK);
    for (int i = 0; i < pages; i++) {
        snprintf(id, sizeof id, "%d", i + 2);
        talk_hears(id, "tools/list", "");
        if (i + 1 < pages || more)
            snprintf(page, sizeof page, "{\"tools\":[],\"nextCursor\":\"%d\"}",
                     i);
        else
            snprintf(page, sizeof page, "{\"tools\":[]}");
        talk_answer(id, page);
    }
    talk_sees_answer(status, status == FL_OK ? "" : "more than 1000 pages");
    talk_end();
}

static void test_client_verbs_a_list_has_a_thousand_pages_at_most(void **state)
{
    (void)state;
    check_pages(1000, false, FL_OK);
    check_pages(1000, true, FL_E_LIMIT);
}

static void test_client_verbs_a_list_can_be_cancelled_on_any_page(void **state)
{
    uint64_t id;

    (void)state;
    talk_legacy_with(NULL, ALL);
    assert_int_equal(fl_client_list(at.client, FL_LIST_TOOLS, NULL,
                                    desk_on_answer, NULL, &id),
                     FL_OK);
    assert_int_equal(id, 2);
    talk_hears("2", "tools/list", "");
    talk_answer("2", "{\"tools\":[],\"nextCursor\":\"c\"}");
    talk_hears("3", "tools/list", "");
    assert_int_equal(fl_client_cancel(at.client, 3, NULL), FL_E_NOT_FOUND);
    assert_int_equal(fl_client_cancel(at.client, id, NULL), FL_OK);
    raw_hears_part(&said.server, "\"requestId\":3"); /* what it knows it by */
    talk_sees_answer(FL_E_CANCELLED, "");
    talk_end();
}

static void test_client_verbs_a_page_is_as_it_is(void **state)
{
    (void)state;
    talk_legacy_with(NULL, ALL);
    assert_int_equal(fl_client_list_page(at.client, FL_LIST_RESOURCES,
                                         FL_SPAN(""), NULL, desk_on_answer,
                                         NULL, NULL),
                     FL_OK);
    raw_hears(&said.server, LEGACY("2", "resources/list"));
    talk_answer("2", "{\"resources\":[],\"nextCursor\":\"x\"}");
    talk_sees_answer(FL_OK, "{\"resources\":[],\"nextCursor\":\"x\"}");
    assert_int_equal(fl_client_list_page(at.client, FL_LIST_RESOURCES,
                                         FL_SPAN("a\"b"), NULL, desk_on_answer,
                                         NULL, NULL),
                     FL_OK);
    talk_hears("3", "resources/list", "\"params\":{\"cursor\":\"a\\\"b\"}}");
    assert_int_equal(list((fl_list_kind)4), FL_E_INVALID);
    assert_int_equal(fl_client_list_page(at.client, (fl_list_kind)-1,
                                         FL_SPAN(""), NULL, desk_on_answer,
                                         NULL, NULL),
                     FL_E_INVALID);
    talk_end();
}

static void test_client_verbs_read_and_get(void **state)
{
    (void)state;
    talk_legacy_with(NULL, ALL);
    assert_int_equal(fl_client_read(at.client, FL_SPAN("file:///a b"), NULL,
                                    desk_on_answer, NULL, NULL),
                     FL_OK);
    talk_hears("2", "resources/read", "\"params\":{\"uri\":\"file:///a b\"}}");
    assert_int_equal(fl_client_get_prompt(at.client, FL_SPAN("p"), FL_SPAN(""),
                                          NULL, desk_on_answer, NULL, NULL),
                     FL_OK);
    talk_hears("3", "prompts/get", "\"params\":{\"name\":\"p\"}}");
    assert_int_equal(fl_client_get_prompt(at.client, FL_SPAN("p"),
                                          FL_SPAN(" {\"x\":\"1\"} "), NULL,
                                          desk_on_answer, NULL, NULL),
                     FL_OK);
    talk_hears("4", "prompts/get",
               "{\"name\":\"p\",\"arguments\":{\"x\":\"1\"}}}");
    assert_int_equal(fl_client_get_prompt(at.client, FL_SPAN("p"),
                                          FL_SPAN("[]"), NULL, desk_on_answer,
                                          NULL, NULL),
                     FL_E_INVALID);
    assert_int_equal(fl_client_get_prompt(at.client, FL_SPAN("p"),
                                          FL_SPAN("{},\"x\":1"), NULL,
                                          desk_on_answer, NULL, NULL),
                     FL_E_INVALID);
    talk_end();
}

static fl_status complete(const fl_completion *of)
{
    return fl_client_complete(at.client, of, NULL, desk_on_answer, NULL, NULL);
}

static void test_client_verbs_complete(void **state)
{
    (void)state;
    talk_legacy_with(NULL, ALL);
    assert_int_equal(complete(&(fl_completion){.prompt = FL_SPAN("p"),
                                               .argument = FL_SPAN("a"),
                                               .value = FL_SPAN("v")}),
                     FL_OK);
    talk_hears("2", "completion/complete",
               "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"p\"},"
               "\"argument\":{\"name\":\"a\",\"value\":\"v\"}}}");
    assert_int_equal(
        complete(&(fl_completion){.resource = FL_SPAN("f://{x}"),
                                  .argument = FL_SPAN("x"),
                                  .context = FL_SPAN("{\"y\":\"1\"}")}),
        FL_OK);
    talk_hears("3", "completion/complete",
               "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"f://{x}\"},"
               "\"argument\":{\"name\":\"x\",\"value\":\"\"},\"context\":{"
               "\"arguments\":{\"y\":\"1\"}}}}");
    assert_int_equal(complete(&(fl_completion){.argument = FL_SPAN("x")}),
                     FL_E_INVALID);
    assert_int_equal(complete(&(fl_completion){.prompt = FL_SPAN("x")}),
                     FL_E_INVALID);
    assert_int_equal(complete(&(fl_completion){.prompt = FL_SPAN("x"),
                                               .resource = FL_SPAN("x"),
                                               .argument = FL_SPAN("x")}),
                     FL_E_INVALID);
    assert_int_equal(complete(&(fl_completion){.prompt = FL_SPAN("x"),
                                               .argument = FL_SPAN("x"),
                                               .context = FL_SPAN("7")}),
                     FL_E_INVALID);
    talk_end();
}

/* The first revision had completion without a capability for it. */
static void test_client_verbs_complete_before_it_was_declared(void **state)
{
    const fl_completion of = {.prompt = FL_SPAN("p"),
                              .argument = FL_SPAN("a"),
                              .context = FL_SPAN("{\"b\":\"1\"}")};

    (void)state;
    talk_open(&(fl_client_options){.era = FL_ERA_LEGACY}, &talk_events);
    talk_accept_legacy("1", "2024-11-05", "{\"prompts\":{}}");
    assert_int_equal(complete(&of), FL_OK);
    talk_hears("2", "completion/complete", /* which has no context yet */
               "\"argument\":{\"name\":\"a\",\"value\":\"\"}}}");
    talk_end();
    talk_legacy_with(NULL, "{\"prompts\":{}}");
    assert_int_equal(complete(&of), FL_E_UNSUPPORTED);
    talk_end();
}

static fl_status set_level(const char *level)
{
    return fl_client_set_log_level(at.client, level, NULL, desk_on_answer, NULL,
                                   NULL);
}

static void test_client_verbs_a_legacy_log_is_asked_for_once(void **state)
{
    (void)state;
    talk_legacy_with(NULL, ALL);
    assert_int_equal(set_level("loud"), FL_E_INVALID);
    assert_int_equal(set_level(NULL), FL_E_INVALID);
    assert_int_equal(set_level("warning"), FL_OK);
    talk_hears("2", "logging/setLevel", "{\"level\":\"warning\"}}");
    talk_answer("2", "{}");
    talk_sees_answer(FL_OK, "{}");
    raw_say(&said.server,
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\","
            "\"params\":{\"level\":\"error\",\"logger\":\"d\\u0062\","
            "\"data\":{\"a\":[1]}}}");
    io_until(at.loop, said.logs == 1);
    assert_string_equal(said.log, "error db {\"a\":[1]}");
    assert_int_equal(at.notes, 0);
    talk_end();
}

static void test_client_verbs_a_modern_log_is_asked_for_each_time(void **state)
{
    (void)state;
    talk_modern_with(NULL, ALL);
    assert_int_equal(set_level("info"), FL_OK);
    assert_int_equal(at.answers, 0);
    talk_sees_answer(FL_OK, "{}");
    raw_hears_nothing(&said.server);
    desk_ask("tools/list");
    talk_hears("3", "tools/list",
               "\"io.modelcontextprotocol/logLevel\":\"info\"}");
    assert_int_equal(set_level("debug"), FL_OK);
    desk_ask("tools/list");
    talk_hears("5", "tools/list",
               "\"io.modelcontextprotocol/logLevel\":\"debug\"}");
    talk_end();
    talk_modern_with(NULL, "{\"tools\":{}}");
    assert_int_equal(set_level("info"), FL_E_UNSUPPORTED);
    desk_ask("tools/list");
    if (strstr(raw_hear(&said.server), "logLevel") != NULL)
        fail_msg("a level was said that was refused");
    talk_end();
}

static void test_client_verbs_ping_is_legacy(void **state)
{
    (void)state;
    talk_legacy_with(NULL, "{}");
    assert_int_equal(
        fl_client_ping(at.client, NULL, desk_on_answer, NULL, NULL), FL_OK);
    raw_hears(&said.server, LEGACY("2", "ping"));
    talk_answer("2", "{}");
    talk_sees_answer(FL_OK, "{}");
    talk_end();
    talk_modern_with(NULL, "{}");
    assert_int_equal(
        fl_client_ping(at.client, NULL, desk_on_answer, NULL, NULL),
        FL_E_UNSUPPORTED);
    talk_end();
}

#define NOTE(method, params)                                                   \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" method                  \
    "\",\"params\":" params "}"

static void test_client_verbs_events_are_told_by_kind(void **state)
{
    (void)state;
    talk_legacy_with(NULL, ALL);
    raw_say(&said.server, NOTE("tools/list_changed", "{}"));
    io_until(at.loop, said.changes == 1);
    assert_int_equal(said.changed, FL_LIST_TOOLS);
    raw_say(&said.server, NOTE("prompts/list_changed", "{}"));
    io_until(at.loop, said.changes == 2);
    assert_int_equal(said.changed, FL_LIST_PROMPTS);
    raw_say(&said.server, NOTE("resources/list_changed", "{}"));
    io_until(at.loop, said.changes == 3);
    assert_int_equal(said.changed, FL_LIST_RESOURCES);
    raw_say(&said.server, NOTE("resources/updated", "{\"uri\":\"a\\u0062\"}"));
    io_until(at.loop, said.updates == 1);
    assert_string_equal(said.uri, "ab");
    assert_int_equal(at.notes, 0);
    raw_say(&said.server, NOTE("resources/updated", "{}")); /* of what? */
    raw_say(&said.server, NOTE("elicitation/complete", "{}"));
    io_until(at.loop, at.notes == 2);
    talk_end();
}

static void test_client_verbs_events_fall_back_to_notifications(void **state)
{
    (void)state;
    talk_open(&(fl_client_options){.era = FL_ERA_LEGACY}, &desk_hears_all);
    talk_accept_legacy("1", "2025-11-25", ALL);
    raw_say(&said.server, NOTE("tools/list_changed", "{}"));
    raw_say(&said.server, NOTE("resources/updated", "{\"uri\":\"a\"}"));
    raw_say(&said.server, NOTE("message", "{\"level\":\"info\"}"));
    io_until(at.loop, at.notes == 3);
    talk_end();
}

static void test_client_verbs_may_close_in_any_event(void **state)
{
    static const char *const notes[] = {
        NOTE("tools/list_changed", "{}"),
        NOTE("resources/updated", "{\"uri\":\"a\"}"),
        NOTE("message", "{\"level\":\"info\"}"),
    };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        talk_legacy_with(NULL, ALL);
        said.close_in_event = true;
        raw_say(&said.server, notes[i]);
        raw_say(&said.server, notes[i]);
        io_until(at.loop, (at.now += 500, at.closed > 0));
        assert_int_equal(said.changes + said.updates + said.logs, 1);
        talk_end();
    }
}

static int ask_much(fl_client *client)
{
    const fl_completion of = {.prompt = FL_SPAN("p"), .argument = FL_SPAN("a")};

    return (fl_client_list(client, FL_LIST_TOOLS, NULL, desk_on_answer, NULL,
                           NULL) == FL_OK) +
           (fl_client_complete(client, &of, NULL, desk_on_answer, NULL, NULL) ==
            FL_OK) +
           (fl_client_set_log_level(client, "info", NULL, desk_on_answer, NULL,
                                    NULL) == FL_OK);
}

static void test_client_verbs_survive_every_failed_allocation(void **state)
{
    static const robot_rule rules[] = {
        {"server/discover", ANSWER("%s", DISCOVERED("[\"2026-07-28\"]", ALL))},
        {"\"cursor\"", ANSWER("%s", "{\"tools\":[2]}")},
        {"tools/list", ANSWER("%s", "{\"tools\":[1],\"nextCursor\":\"n\"}")},
        {"complete", ANSWER("%s", "{\"completion\":{}}")},
        {0},
    };
    robot_life life = {.rules = rules, .begin = ask_much};

    (void)state;
    robot_run(&life);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_client_verbs_lists_are_whole),
        cmocka_unit_test(test_client_verbs_a_modern_list_is_whole_too),
        cmocka_unit_test(test_client_verbs_an_empty_list_is_one),
        cmocka_unit_test(test_client_verbs_what_is_no_list_is_refused),
        cmocka_unit_test(test_client_verbs_a_list_that_goes_round_is_stopped),
        cmocka_unit_test(test_client_verbs_a_list_has_a_thousand_pages_at_most),
        cmocka_unit_test(test_client_verbs_a_list_can_be_cancelled_on_any_page),
        cmocka_unit_test(test_client_verbs_a_page_is_as_it_is),
        cmocka_unit_test(test_client_verbs_read_and_get),
        cmocka_unit_test(test_client_verbs_complete),
        cmocka_unit_test(test_client_verbs_complete_before_it_was_declared),
        cmocka_unit_test(test_client_verbs_a_legacy_log_is_asked_for_once),
        cmocka_unit_test(test_client_verbs_a_modern_log_is_asked_for_each_time),
        cmocka_unit_test(test_client_verbs_ping_is_legacy),
        cmocka_unit_test(test_client_verbs_events_are_told_by_kind),
        cmocka_unit_test(test_client_verbs_events_fall_back_to_notifications),
        cmocka_unit_test(test_client_verbs_may_close_in_any_event),
        cmocka_unit_test(test_client_verbs_survive_every_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
