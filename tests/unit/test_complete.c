/*
 * test_complete.c - completion/complete: of prompts and of templates, with and
 * without what is filled in already.
 */
#include "lists.h"

#include "support/ration.h"

static server_host host;

/* Suggests what it was asked, and what it knows. */
static void suggest(fl_call *call, void *user)
{
    fl_span texts[] = {fl_call_completing(call), fl_call_prefix(call),
                       fl_call_arguments(call)};

    (void)user;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        fl_call_suggest(call, texts[i]);
    fl_call_finish(call);
}

static void suggest_many(fl_call *call, void *user)
{
    fl_span count = fl_call_prefix(call);

    (void)user;
    assert_int_equal(count.len, 3);
    for (int i = 0; i < (int)strtol(count.ptr, NULL, 10); i++)
        fl_call_suggest(call, FL_SPAN("x"));
    fl_call_finish(call);
}

static void begin(const char *revision)
{
    const fl_prompt_argument who[] = {{.name = "who"}, {.name = "\"how\""}};
    const fl_prompt prompts[] = {
        {.name = "greet",
         .arguments = who,
         .argument_count = 2,
         .get = tool_echo,
         .complete = suggest},
        {.name = "mute",
         .arguments = who,
         .argument_count = 1,
         .get = tool_echo},
        {.name = "late",
         .arguments = who,
         .argument_count = 1,
         .get = tool_echo,
         .complete = tool_wait,
         .user = &host},
    };
    const fl_resource template = {.uri = "log:{day}{?hour}",
                                  .name = "log",
                                  .read = read_echo,
                                  .complete = suggest};
    const fl_resource many = {.uri = "many:{n}",
                              .name = "many",
                              .read = read_echo,
                              .complete = suggest_many};

    host_begin_bare(&host);
    for (size_t i = 0; i < sizeof prompts / sizeof *prompts; i++)
        assert_int_equal(fl_server_add_prompt(host.server, &prompts[i]), FL_OK);
    assert_int_equal(fl_server_add_template(host.server, &template), FL_OK);
    assert_int_equal(fl_server_add_template(host.server, &many), FL_OK);
    lists_begin(&host, revision);
}

#define PROMPT(name) "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"" name "\"}"
#define TEMPLATE(uri) "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"" uri "\"}"
#define ARGUMENT(name, value)                                                  \
    ",\"argument\":{\"name\":\"" name "\",\"value\":\"" value "\"}"
#define CONTEXT(arguments) ",\"context\":{\"arguments\":" arguments "}"
#define COMPLETE(id, params) ASK(id, "completion/complete", "{" params "}")
#define VALUES(values, total)                                                  \
    "{\"completion\":{\"values\":[" values "],\"total\":" total                \
    ",\"hasMore\":false}}"

static void test_complete_suggests_for_a_prompt(void **state)
{
    (void)state;
    begin("2025-11-25");
    raw_asks(&host.peer, COMPLETE("1", PROMPT("greet") ARGUMENT("who", "b")),
             RESULT("1", VALUES("\"who\",\"b\",\"\"", "3")));
    raw_asks(&host.peer,
             COMPLETE("2", PROMPT("gr\\u0065et")
                               ARGUMENT("\\u0022how\\\"", "\\u0062")),
             RESULT("2", VALUES("\"\\\"how\\\"\",\"b\",\"\"", "3")));
    host_end(&host);
}

static void test_complete_suggests_for_a_template(void **state)
{
    (void)state;
    begin("2025-11-25");
    raw_asks(
        &host.peer,
        COMPLETE("1", TEMPLATE("log:{day}{?hour}") ARGUMENT("hour", "")
                          CONTEXT("{\"day\":\"1\"}")),
        RESULT("1", VALUES("\"hour\",\"\",\"{\\\"day\\\":\\\"1\\\"}\"", "3")));
    host_end(&host);
}

static void test_complete_context_came_with_titles(void **state)
{
    const char *ask = COMPLETE("1", PROMPT("greet") ARGUMENT("who", "b")
                                        CONTEXT("{\"x\":\"y\"}"));
    const char *with =
        RESULT("1", VALUES("\"who\",\"b\",\"{\\\"x\\\":\\\"y\\\"}\"", "3"));
    const char *without = RESULT("1", VALUES("\"who\",\"b\",\"\"", "3"));

    (void)state;
    begin("2025-03-26");
    raw_asks(&host.peer, ask, without);
    host_end(&host);
    begin("2025-06-18");
    raw_asks(&host.peer, ask, with);
    host_end(&host);
}

static void test_complete_in_the_modern_era(void **state)
{
    (void)state;
    begin(NULL);
    raw_say(&host.peer, MODERN("1", "completion/complete",
                               "," PROMPT("greet") ARGUMENT("who", "b")));
    raw_hears_part(&host.peer, "\"completion\":{\"values\":[\"who\",\"b\",\"\""
                               "],\"total\":3,\"hasMore\":false}");
    raw_asks(&host.peer,
             MODERN("2", "completion/complete",
                    "," PROMPT("mute") ARGUMENT("who", "b")),
             RESULT("2", "{" STAMP ",\"completion\":{\"values\":[],\"total\":0,"
                         "\"hasMore\":false}}"));
    host_end(&host);
}

static void test_complete_has_nothing_to_say_without_a_handler(void **state)
{
    (void)state;
    begin("2025-11-25");
    raw_asks(&host.peer, COMPLETE("1", PROMPT("mute") ARGUMENT("who", "b")),
             RESULT("1", VALUES("", "0")));
    host_end(&host);
}

static void test_complete_counts_what_is_too_many(void **state)
{
    (void)state;
    begin("2025-11-25");
    raw_say(&host.peer,
            COMPLETE("1", TEMPLATE("many:{n}") ARGUMENT("n", "100")));
    raw_hears_part(&host.peer, "],\"total\":100,\"hasMore\":false}");
    raw_say(&host.peer,
            COMPLETE("2", TEMPLATE("many:{n}") ARGUMENT("n", "101")));
    raw_hears_part(&host.peer, "],\"total\":101,\"hasMore\":true}");
    host_end(&host);
}

static void test_complete_may_be_later(void **state)
{
    (void)state;
    begin("2025-11-25");
    raw_say(&host.peer, COMPLETE("1", PROMPT("late") ARGUMENT("who", "b\\u0063")
                                          CONTEXT("{\"x\":\"y\"}")));
    host_kept(&host, 1);
    raw_asks(&host.peer, COMPLETE("2", PROMPT("mute") ARGUMENT("who", "b")),
             RESULT("2", VALUES("", "0")));
    fl_call *late = host.kept[0];
    host.kept[0] = NULL;
    fl_call_suggest(late, fl_call_completing(late));
    fl_call_suggest(late, fl_call_prefix(late));
    fl_call_suggest(late, fl_call_text(late, "x"));
    fl_call_finish(late);
    raw_hears(&host.peer, RESULT("1", VALUES("\"who\",\"bc\",\"y\"", "3")));
    host_end(&host);
}

static void test_complete_refuses_what_is_not_there(void **state)
{
    static const struct {
        const char *params;
        const char *what;
    } wrong[] = {
        {PROMPT("nope") ARGUMENT("who", ""),
         "\"unknown prompt\",\"data\":{\"name\":\"nope\"}"},
        {TEMPLATE("nope:") ARGUMENT("who", ""),
         "\"unknown resource template\",\"data\":{\"uri\":\"nope:\"}"},
        {PROMPT("greet") ARGUMENT("day", ""),
         "\"unknown argument\",\"data\":{\"argument\":\"day\"}"},
        {PROMPT("mute") ARGUMENT("\\\"how\\\"", ""),
         "\"unknown argument\",\"data\":{\"argument\":\"\\\"how\\\"\"}"},
        {TEMPLATE("log:{day}{?hour}") ARGUMENT("da", ""),
         "\"unknown argument\",\"data\":{\"argument\":\"da\"}"},
        {"\"ref\":{\"type\":\"ref/tool\",\"name\":\"x\"}" ARGUMENT("who", ""),
         "\"params.ref.type must be ref/prompt or ref/resource\""},
        {"\"ref\":{\"type\":\"ref/prompt\"}" ARGUMENT("who", ""),
         "\"params.ref.name must be a string\""},
        {"\"ref\":{\"type\":\"ref/resource\",\"uri\":1}" ARGUMENT("who", ""),
         "\"params.ref.uri must be a string\""},
        {"\"ref\":[]" ARGUMENT("who", ""),
         "\"params.ref.type must be ref/prompt or ref/resource\""},
        {PROMPT("greet"),
         "\"params.argument must have a name and a value, both strings\""},
        {PROMPT("greet") ",\"argument\":{\"name\":\"who\"}",
         "\"params.argument must have a name and a value, both strings\""},
        {PROMPT("greet") ",\"argument\":{\"name\":1,\"value\":\"\"}",
         "\"params.argument must have a name and a value, both strings\""},
        {PROMPT("greet") ARGUMENT("who", "") CONTEXT("[]"),
         "\"params.context.arguments must be an object of strings\""},
        {PROMPT("greet") ARGUMENT("who", "") CONTEXT("{\"a\":1}"),
         "\"params.context.arguments must be an object of strings\""},
    };
    char line[512], want[512];

    (void)state;
    begin("2025-11-25");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(line, sizeof line, COMPLETE("1", "%s"), wrong[i].params);
        snprintf(want, sizeof want, ERROR_ANSWER("1", "-32602", "%s"),
                 wrong[i].what);
        raw_asks(&host.peer, line, want);
    }
    host_end(&host);
}

static void tool_nothing_to_complete(fl_call *call, void *user)
{
    (void)user;
    fl_call_replyf(call, "%zu%zu", fl_call_completing(call).len,
                   fl_call_prefix(call).len);
}

static void test_complete_is_not_what_other_calls_are_about(void **state)
{
    const fl_tool odd = {.name = "odd", .call = tool_nothing_to_complete};

    (void)state;
    host_begin_bare(&host);
    assert_int_equal(fl_server_add_tool(host.server, &odd), FL_OK);
    lists_begin(&host, "2025-11-25");
    raw_asks(&host.peer,
             ASK("1", "tools/call",
                 "{\"name\":\"odd\",\"argument\":{\"name\":\"who\","
                 "\"value\":\"b\"}}"),
             TEXT_ANSWER("1", "00"));
    /* and where there is nothing to complete the method is not there */
    raw_say(&host.peer, COMPLETE("2", PROMPT("greet") ARGUMENT("who", "b")));
    raw_hears_part(&host.peer, "-32601");
    host_end(&host);
}

static void test_complete_says_when_there_is_no_memory(void **state)
{
    const char *ask =
        COMPLETE("1", TEMPLATE("log:{day}{?hour}") ARGUMENT("\\u0068our", "")
                          CONTEXT("{\"day\":\"1\"}"));

    (void)state;
    begin("2025-11-25");
    for (size_t n = 1;; n++) {
        ration_reset();
        ration_fail_at(n);
        raw_say(&host.peer, ask);
        const char *heard = raw_hear(&host.peer);
        bool refused = ration_refused();
        ration_reset();
        if (strstr(heard, "out of memory") == NULL &&
            strstr(heard, "\"total\":3") == NULL)
            fail_msg("%s", heard);
        if (!refused)
            break;
        assert_true(n < 100);
    }
    host_end(&host);
}

static void add_prompts(bool completing)
{
    const fl_prompt_argument who = {.name = "who"};
    const fl_prompt mute = {.name = "mute",
                            .arguments = &who,
                            .argument_count = 1,
                            .get = tool_echo};
    const fl_prompt greet = {
        .name = "greet", .get = tool_echo, .complete = suggest};

    host_begin_bare(&host);
    assert_int_equal(fl_server_add_prompt(host.server, &mute), FL_OK);
    assert_int_equal(fl_server_add_prompt(host.server, &greet), FL_OK);
    if (!completing)
        assert_int_equal(fl_server_remove_prompt(host.server, "greet"), FL_OK);
    host_listen(&host, NULL);
}

#define PROMPTS_AND(more)                                                      \
    "\"capabilities\":{\"prompts\":{\"listChanged\":true}," more               \
    "\"logging\":{}}"

static void test_complete_is_declared_while_something_can(void **state)
{
    (void)state;
    add_prompts(true);
    raw_say(&host.peer, INITIALIZE("0", "2025-11-25"));
    raw_hears_part(&host.peer, PROMPTS_AND("\"completions\":{},"));
    host_end(&host);

    add_prompts(false);
    raw_say(&host.peer, INITIALIZE("0", "2025-11-25"));
    raw_hears_part(&host.peer, PROMPTS_AND(""));
    raw_say(&host.peer, INITIALIZED);
    raw_say(&host.peer, COMPLETE("1", PROMPT("mute") ARGUMENT("who", "x")));
    raw_hears_part(&host.peer, "-32601");
    host_end(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complete_suggests_for_a_prompt),
        cmocka_unit_test(test_complete_suggests_for_a_template),
        cmocka_unit_test(test_complete_context_came_with_titles),
        cmocka_unit_test(test_complete_in_the_modern_era),
        cmocka_unit_test(test_complete_has_nothing_to_say_without_a_handler),
        cmocka_unit_test(test_complete_counts_what_is_too_many),
        cmocka_unit_test(test_complete_may_be_later),
        cmocka_unit_test(test_complete_refuses_what_is_not_there),
        cmocka_unit_test(test_complete_is_not_what_other_calls_are_about),
        cmocka_unit_test(test_complete_says_when_there_is_no_memory),
        cmocka_unit_test(test_complete_is_declared_while_something_can),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
