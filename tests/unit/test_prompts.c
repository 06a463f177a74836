/*
 * test_prompts.c - prompts: how each revision lists them, how they are got,
 * and what is refused.
 */
#include "lists.h"

#include "server/prompts.h"
#include "support/ration.h"

static server_host host;

static void get_echo(fl_call *call, void *user)
{
    fl_span all = fl_call_arguments(call);

    (void)user;
    fl_call_replyf(call, "got %.*s", (int)all.len, all.len > 0 ? all.ptr : "");
}

static const fl_prompt_argument two[] = {
    {.name = "who", .title = "Who?", .description = "a name", .required = true},
    {.name = "how"},
};

static const fl_prompt full = {
    .name = "greet",
    .title = "A greeting",
    .description = "says hello",
    .arguments = two,
    .argument_count = 2,
    .icons = "[]",
    .meta = "{\"org.example/a\":1}",
    .get = get_echo,
};

#define GET(id, params) ASK(id, "prompts/get", params)
#define MESSAGE(text)                                                          \
    "\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\","         \
    "\"text\":\"" text "\"}}]"

static void begin(const char *revision)
{
    const fl_prompt bare = {.name = "bare", .get = get_echo};
    const fl_prompt late = {.name = "late", .get = tool_wait, .user = &host};

    host_begin_bare(&host);
    assert_int_equal(fl_server_add_prompt(host.server, &full), FL_OK);
    assert_int_equal(fl_server_add_prompt(host.server, &bare), FL_OK);
    assert_int_equal(fl_server_add_prompt(host.server, &late), FL_OK);
    lists_begin(&host, revision);
}

static void check_list(const char *revision, const char *title,
                       const char *argument_title, const char *icons,
                       const char *meta)
{
    char want[1024];

    begin(revision);
    snprintf(want, sizeof want,
             RESULT("1",
                    "{\"prompts\":[{\"name\":\"greet\",%s\"description\":"
                    "\"says hello\",\"arguments\":[{\"name\":\"who\",%s"
                    "\"description\":\"a name\",\"required\":true},{\"name\":"
                    "\"how\",\"required\":false}]%s%s},{\"name\":\"bare\"},{"
                    "\"name\":\"late\"}]}"),
             title, argument_title, icons, meta);
    raw_asks(&host.peer, ASK("1", "prompts/list", "{}"), want);
    host_end(&host);
}

static void test_prompts_are_listed_as_each_revision_has_them(void **state)
{
    const char *title = "\"title\":\"A greeting\",";
    const char *who = "\"title\":\"Who?\",";
    const char *meta = ",\"_meta\":{\"org.example/a\":1}";

    (void)state;
    check_list("2024-11-05", "", "", "", "");
    check_list("2025-03-26", "", "", "", "");
    check_list("2025-06-18", title, who, "", meta);
    check_list("2025-11-25", title, who, ",\"icons\":[]", meta);
}

static void test_prompts_copy_what_they_are_given(void **state)
{
    char name[] = "p", argument[] = "a", text[] = "d";
    fl_prompt_argument arguments[] = {{.name = argument, .description = text}};
    fl_prompt given = {.name = name,
                       .arguments = arguments,
                       .argument_count = 1,
                       .get = get_echo};

    (void)state;
    host_begin_bare(&host);
    assert_int_equal(fl_server_add_prompt(host.server, &given), FL_OK);
    name[0] = argument[0] = text[0] = 'x';
    arguments[0] = (fl_prompt_argument){0};
    lists_begin(&host, "2025-11-25");
    raw_asks(&host.peer, ASK("1", "prompts/list", "{}"),
             RESULT("1", "{\"prompts\":[{\"name\":\"p\",\"arguments\":[{"
                         "\"name\":\"a\",\"description\":\"d\",\"required\":"
                         "false}]}]}"));
    host_end(&host);
}

static void test_prompts_refuse_what_is_not_one(void **state)
{
    const fl_prompt_argument nameless[] = {{.name = "a"}, {.title = "b"}};
    const fl_prompt_argument empty[] = {{.name = ""}};
    const fl_prompt_argument twice[] = {{.name = "a"}, {.name = "a"}};
    const fl_prompt wrong[] = {
        {.get = get_echo},
        {.name = "", .get = get_echo},
        {.name = "n"},
        {.name = "n", .get = get_echo, .icons = "{}"},
        {.name = "n", .get = get_echo, .meta = "[]"},
        {.name = "n",
         .get = get_echo,
         .arguments = nameless,
         .argument_count = 2},
        {.name = "n", .get = get_echo, .arguments = empty, .argument_count = 1},
        {.name = "n", .get = get_echo, .arguments = twice, .argument_count = 2},
    };

    (void)state;
    host_begin_bare(&host);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(fl_server_add_prompt(host.server, &wrong[i]),
                         FL_E_INVALID);
    assert_int_equal(fl_server_add_prompt(host.server, &full), FL_OK);
    assert_int_equal(fl_server_add_prompt(host.server, &full), FL_E_IN_USE);
    assert_int_equal(fl_server_remove_prompt(host.server, "n"), FL_E_NOT_FOUND);
    assert_int_equal(fl_server_remove_prompt(host.server, "greet"), FL_OK);
    fl_server_free(host.server);
    fl_loop_free(host.loop);
}

static void test_prompts_have_a_most_of_arguments(void **state)
{
    static fl_prompt_argument many[FL_PROMPTS_ARGUMENTS + 1];
    static char names[FL_PROMPTS_ARGUMENTS + 1][8];
    fl_prompt prompt = {.name = "n",
                        .arguments = many,
                        .argument_count = FL_PROMPTS_ARGUMENTS + 1,
                        .get = get_echo};

    (void)state;
    for (size_t i = 0; i < FL_PROMPTS_ARGUMENTS + 1; i++) {
        snprintf(names[i], sizeof names[i], "a%zu", i);
        many[i].name = names[i];
    }
    host_begin_bare(&host);
    assert_int_equal(fl_server_add_prompt(host.server, &prompt), FL_E_INVALID);
    prompt.argument_count--;
    assert_int_equal(fl_server_add_prompt(host.server, &prompt), FL_OK);
    fl_server_free(host.server);
    fl_loop_free(host.loop);
}

static void test_prompts_are_got(void **state)
{
    (void)state;
    begin("2025-11-25");
    raw_asks(&host.peer,
             GET("1", "{\"name\":\"greet\",\"arguments\":{\"\\u0077ho\":\"x\"}"
                      "}"),
             RESULT("1", "{\"description\":\"says hello\"," MESSAGE(
                             "got {\\\"\\\\u0077ho\\\":\\\"x\\\"}") "}"));
    raw_asks(&host.peer, GET("2", "{\"name\":\"bare\"}"),
             RESULT("2", "{" MESSAGE("got ") "}"));
    /* what nobody asked for does no harm */
    raw_asks(&host.peer,
             GET("3", "{\"name\":\"bare\",\"arguments\":{\"z\":\"1\"}}"),
             RESULT("3", "{" MESSAGE("got {\\\"z\\\":\\\"1\\\"}") "}"));
    raw_asks(&host.peer, MODERN("4", "prompts/get", ",\"name\":\"bare\""),
             RESULT("4", "{\"_meta\":{" TAG
                         "},\"resultType\":\"complete\"," MESSAGE("got ") "}"));
    host_end(&host);
}

static void test_prompts_may_be_got_later(void **state)
{
    (void)state;
    begin("2025-11-25");
    raw_say(&host.peer,
            GET("1", "{\"name\":\"late\",\"arguments\":{\"a\":\"b\"}}"));
    host_kept(&host, 1);
    fl_span a = fl_call_text(host.kept[0], "a");
    assert_int_equal(a.len, 1);
    assert_memory_equal(a.ptr, "b", 1);
    assert_int_equal(fl_call_uri(host.kept[0]).len, 0);
    raw_say(&host.peer, GET("1", "{\"name\":\"bare\"}"));
    raw_hears_part(&host.peer, "a request with this id is in flight");
    host_answer(&host, 0, "at last");
    raw_hears(&host.peer, RESULT("1", "{" MESSAGE("at last") "}"));
    host_end(&host);
}

static void test_prompts_refuse_params_that_are_wrong(void **state)
{
    static const struct {
        const char *params;
        const char *what;
    } wrong[] = {
        {"{}", "\"params.name must be a string\""},
        {"{\"name\":1}", "\"params.name must be a string\""},
        {"{\"name\":\"nope\"}",
         "\"unknown prompt\",\"data\":{\"name\":\"nope\"}"},
        {"{\"name\":\"bare\",\"arguments\":[]}",
         "\"params.arguments must be an object of strings\""},
        {"{\"name\":\"bare\",\"arguments\":[\"a\"]}",
         "\"params.arguments must be an object of strings\""},
        {"{\"name\":\"bare\",\"arguments\":\"a\"}",
         "\"params.arguments must be an object of strings\""},
        {"{\"name\":\"bare\",\"arguments\":{\"a\":\"b\",\"c\":1}}",
         "\"params.arguments must be an object of strings\""},
        {"{\"name\":\"greet\"}", "\"argument \\\"who\\\" is missing\""},
        {"{\"name\":\"greet\",\"arguments\":{\"how\":\"x\"}}",
         "\"argument \\\"who\\\" is missing\""},
    };
    char line[256], want[256];

    (void)state;
    begin("2025-11-25");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(line, sizeof line, GET("1", "%s"), wrong[i].params);
        snprintf(want, sizeof want, ERROR_ANSWER("1", "-32602", "%s"),
                 wrong[i].what);
        raw_asks(&host.peer, line, want);
    }
    host_end(&host);
}

static void add_one(void *user)
{
    bool *done = user;
    fl_server *server = fl_server_new("s", "1");
    fl_status rc =
        server != NULL ? fl_server_add_prompt(server, &full) : FL_E_NOMEM;

    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    *done = rc == FL_OK;
    fl_server_free(server);
}

static void test_prompts_are_added_or_not_when_memory_lacks(void **state)
{
    bool done = false;

    (void)state;
    assert_true(ration_each(add_one, &done) > 4);
    assert_true(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prompts_are_listed_as_each_revision_has_them),
        cmocka_unit_test(test_prompts_copy_what_they_are_given),
        cmocka_unit_test(test_prompts_refuse_what_is_not_one),
        cmocka_unit_test(test_prompts_have_a_most_of_arguments),
        cmocka_unit_test(test_prompts_are_got),
        cmocka_unit_test(test_prompts_may_be_got_later),
        cmocka_unit_test(test_prompts_refuse_params_that_are_wrong),
        cmocka_unit_test(test_prompts_are_added_or_not_when_memory_lacks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
