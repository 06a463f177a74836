/*
 * test_call.c - a tool call from its arguments to its answer: at once, later,
 * out of order, cancelled, with progress, and with nobody left to hear.
 */
#include "server_host.h"

static server_host host;
static raw_peer other;

#define WITH_TOKEN(id, token)                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"tools/call\",\"params\":{\"name\":\"wait\",\"_meta\":{"     \
    "\"progressToken\":" token "}}}"

#define PROGRESS(params)                                                       \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"                         \
    "progress\",\"params\":{" params "}}"

static void test_call_reads_every_type_of_argument(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_asks(
        &host.peer,
        CALL("1", "types", "{\"t\":\"x\",\"n\":-2.5e1,\"i\":1e2,\"b\":true}"),
        TEXT_ANSWER("1", "x -25 100 yes"));
    raw_asks(&host.peer,
             CALL("2", "types",
                  "{\"b\":false,\"i\":-9223372036854775808,\"n\":0,\"t\":"
                  "\"\\u00e9\\n\\\"\"}"),
             TEXT_ANSWER("2", "\xC3\xA9\\n\\\" 0 -9223372036854775808 no"));
    /* the last of two counts, and a key may be escaped */
    raw_asks(&host.peer,
             CALL("3", "types",
                  "{\"t\":\"a\",\"\\u0074\":\"b\",\"n\":1,\"i\":2,\"b\":true}"),
             TEXT_ANSWER("3", "b 1 2 yes"));
    host_end(&host);
}

static void test_call_names_the_argument_that_is_wrong(void **state)
{
    static const struct {
        const char *arguments;
        const char *what;
    } wrong[] = {
        {"{}", "argument \\\"t\\\" is missing: want a string"},
        {"{\"t\":1,\"n\":1,\"i\":1,\"b\":true}",
         "argument \\\"t\\\" must be a string"},
        {"{\"t\":null,\"n\":1,\"i\":1,\"b\":true}",
         "argument \\\"t\\\" must be a string"},
        {"{\"t\":\"\",\"i\":1,\"b\":true}",
         "argument \\\"n\\\" is missing: want a number"},
        {"{\"t\":\"\",\"n\":\"1\",\"i\":1,\"b\":true}",
         "argument \\\"n\\\" must be a number"},
        {"{\"t\":\"\",\"n\":1,\"b\":true}",
         "argument \\\"i\\\" is missing: want a whole number"},
        {"{\"t\":\"\",\"n\":1,\"i\":1.5,\"b\":true}",
         "argument \\\"i\\\" must be a whole number"},
        {"{\"t\":\"\",\"n\":1,\"i\":9223372036854775808,\"b\":true}",
         "argument \\\"i\\\" must be a whole number"},
        {"{\"t\":\"\",\"n\":1,\"i\":1}",
         "argument \\\"b\\\" is missing: want true or false"},
        {"{\"t\":\"\",\"n\":1,\"i\":1,\"b\":0}",
         "argument \\\"b\\\" must be true or false"},
    };
    char line[256], want[256];

    (void)state;
    for (int read = 0; read < 2; read++) { /* by the model, since 2025-11-25 */
        host_begin(&host, read ? "2025-11-25" : "2025-06-18");
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            snprintf(line, sizeof line, CALL("4", "types", "%s"),
                     wrong[i].arguments);
            if (read)
                snprintf(want, sizeof want, FAILED_ANSWER("4", "%s"),
                         wrong[i].what);
            else
                snprintf(want, sizeof want,
                         ERROR_ANSWER("4", "-32602", "\"%s\""), wrong[i].what);
            raw_asks(&host.peer, line, want);
        }
        host_end(&host);
    }
}

/* Asks about its arguments without asking for them. */
static void tool_look(fl_call *call, void *user)
{
    fl_span all = fl_call_arguments(call), raw = fl_call_raw(call, "a");

    (void)user;
    fl_call_replyf(call, "%.*s|%.*s|%d%d", (int)all.len,
                   all.len > 0 ? all.ptr : "", (int)raw.len,
                   raw.len > 0 ? raw.ptr : "", fl_call_has(call, "a"),
                   fl_call_has(call, "b"));
}

static void test_call_may_look_without_asking(void **state)
{
    const fl_tool look = {.name = "look", .call = tool_look};

    (void)state;
    host_begin(&host, "2025-11-25");
    assert_int_equal(fl_server_add_tool(host.server, &look), FL_OK);
    raw_hears_part(&host.peer, "list_changed");
    raw_asks(&host.peer, CALL("1", "look", "{\"a\": [1, 2] }"),
             TEXT_ANSWER("1", "{\\\"a\\\": [1, 2] }|[1, 2]|10"));
    raw_asks(&host.peer,
             "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
             "\"params\":{\"name\":\"look\"}}",
             TEXT_ANSWER("2", "||00"));
    host_end(&host);
}

static void test_call_refuses_params_that_are_wrong(void **state)
{
    static const struct {
        const char *params;
        const char *what;
    } wrong[] = {
        {"", "\"params.name must be a string\""},
        {",\"params\":{}", "\"params.name must be a string\""},
        {",\"params\":[\"echo\"]", "\"params.name must be a string\""},
        {",\"params\":{\"name\":7}", "\"params.name must be a string\""},
        {",\"params\":{\"name\":\"echo\",\"arguments\":[]}",
         "\"params.arguments must be an object\""},
        {",\"params\":{\"name\":\"echo\",\"arguments\":\"x\"}",
         "\"params.arguments must be an object\""},
        {",\"params\":{\"name\":\"nope\",\"arguments\":{}}",
         "\"unknown tool\",\"data\":{\"name\":\"nope\"}"},
        {",\"params\":{\"name\":\"\"}",
         "\"unknown tool\",\"data\":{\"name\":\"\"}"},
    };
    char line[256], want[256];

    (void)state;
    host_begin(&host, "2025-11-25");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\"%s}",
                 wrong[i].params);
        snprintf(want, sizeof want, ERROR_ANSWER("4", "-32602", "%s"),
                 wrong[i].what);
        raw_asks(&host.peer, line, want);
    }
    host_end(&host);
}

static void test_call_finds_a_tool_by_what_its_name_means(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_asks(&host.peer,
             CALL("1", "say \\\"hi\\\"\\\\\\u00E9", "{\"text\":\"x\"}"),
             TEXT_ANSWER("1", "x"));
    raw_asks(&host.peer, CALL("2", "\\u0065\\u0063ho", "{\"text\":\"y\"}"),
             TEXT_ANSWER("2", "y"));
    raw_asks(&host.peer,
             "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools\\/call\","
             "\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"z\"}}}",
             TEXT_ANSWER("3", "z"));
    /* a name ends where it ends, not at a NUL within it */
    raw_asks(&host.peer, CALL("4", "echo\\u0000Echo", "{\"text\":\"x\"}"),
             ERROR_ANSWER("4", "-32602",
                          "\"unknown tool\",\"data\":{\"name\":"
                          "\"echo\\u0000Echo\"}"));
    host_end(&host);
}

static void test_call_escapes_what_it_says(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_asks(&host.peer,
             CALL("1", "echo", "{\"text\":\"\\u0000\\u001f\\\"\\\\\\/\\t\"}"),
             TEXT_ANSWER("1", "\\u0000\\u001f\\\"\\\\/\\t"));
    host_end(&host);
}

static void test_call_answers_in_every_way(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_asks(&host.peer, CALL("1", "fail", "{}"),
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{"
             "\"type\":\"text\",\"text\":\"it \\\"broke\\\": 7\"}],"
             "\"isError\":true}}");
    raw_asks(&host.peer, CALL("2", "error", "{}"),
             ERROR_ANSWER("2", "-32050", "\"not today\""));
    raw_asks(&host.peer,
             CALL("3", "json", "{\"result\": {\"content\":[],\"x\":[1.0]} }"),
             "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[],\"x\":"
             "[1.0]}}");
    raw_asks(&host.peer, CALL("4", "silent", "{}"),
             ERROR_ANSWER("4", "-32603", "\"the handler did not answer\""));
    host_end(&host);
}

static void test_call_result_must_be_an_object(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_asks(&host.peer, CALL("1", "json", "{\"result\":[]}"),
             ERROR_ANSWER("1", "-32603",
                          "\"the handler's result is not a JSON object\""));
    raw_asks(&host.peer, CALL("2", "json", "{}"),
             ERROR_ANSWER("2", "-32603",
                          "\"the handler's result is not a JSON object\""));
    host_end(&host);
}

/* An answer of exactly `n` characters, through the formatter. */
static void tool_wide(fl_call *call, void *user)
{
    (void)user;
    fl_call_replyf(call, "%0*d", (int)fl_call_integer(call, "n"), 0);
}

static void check_width(int n)
{
    char line[256];

    snprintf(line, sizeof line, CALL("1", "wide", "{\"n\":%d}"), n);
    raw_say(&host.peer, line);
    const char *heard = raw_hear(&host.peer);
    const char *text = strstr(heard, "\"text\":\"");
    assert_non_null(text);
    assert_int_equal(strspn(text + 8, "0"), n);
    assert_string_equal(text + 8 + n, "\"}]}}");
}

static void test_call_formats_text_of_any_length(void **state)
{
    const fl_tool wide = {.name = "wide", .call = tool_wide};

    (void)state;
    host_begin(&host, "2025-11-25");
    assert_int_equal(fl_server_add_tool(host.server, &wide), FL_OK);
    raw_hears_part(&host.peer, "list_changed");
    check_width(1);
    check_width(511); /* what fits on the stack */
    check_width(512);
    check_width(100000);
    host_end(&host);
}

static void test_call_may_be_answered_later_and_out_of_order(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_say(&host.peer, CALL("1", "wait", "{\"a\":\"one\"}"));
    raw_say(&host.peer, CALL("\"b\"", "wait", "{\"a\":\"t\\u0077o\"}"));
    raw_say(&host.peer, CALL("3", "wait", "{}"));
    host_kept(&host, 3);
    raw_hears_nothing(&host.peer);
    raw_asks(&host.peer, CALL("4", "echo", "{\"text\":\"now\"}"),
             TEXT_ANSWER("4", "now"));

    fl_span text = fl_call_text(host.kept[1], "a"); /* a copy of its own */
    assert_memory_equal(text.ptr, "two", 3);
    assert_ptr_equal(fl_call_loop(host.kept[1]), host.loop);
    host_answer(&host, 1, "second");
    raw_hears(&host.peer, TEXT_ANSWER("\"b\"", "second"));
    text = fl_call_text(host.kept[0], "a");
    assert_memory_equal(text.ptr, "one", 3);
    host_answer(&host, 0, "first");
    fl_call *third = host.kept[2];
    host.kept[2] = NULL;
    (void)fl_call_number(third, "missing");
    fl_call_fail(third, "unheard");
    raw_hears(&host.peer, TEXT_ANSWER("1", "first"));
    raw_hears(&host.peer,
              FAILED_ANSWER(
                  "3", "argument \\\"missing\\\" is missing: want a number"));
    host_end(&host);
}

static void test_call_deferred_twice_is_deferred_once(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_say(&host.peer, CALL("1", "wait", "{}"));
    host_kept(&host, 1);
    assert_ptr_equal(fl_call_defer(host.kept[0]), host.kept[0]);
    host_answer(&host, 0, "x");
    raw_hears(&host.peer, TEXT_ANSWER("1", "x"));
    host_end(&host);
}

static void test_call_refuses_an_id_that_is_in_flight(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_say(&host.peer, CALL("\"a\"", "wait", "{}"));
    host_kept(&host, 1);
    raw_asks(&host.peer, CALL("\"a\"", "echo", "{\"text\":\"x\"}"),
             ERROR_ANSWER("\"a\"", "-32600",
                          "\"a request with this id is in flight\""));
    raw_asks(&host.peer, CALL("\"\\u0061\"", "wait", "{}"),
             ERROR_ANSWER("\"\\u0061\"", "-32600",
                          "\"a request with this id is in flight\""));
    raw_say(&host.peer, CALL("1", "wait", "{}"));
    raw_say(&host.peer, CALL("\"1\"", "wait", "{}")); /* is another id */
    host_kept(&host, 3);
    host_answer(&host, 0, "x");
    raw_hears(&host.peer, TEXT_ANSWER("\"a\"", "x"));
    raw_say(&host.peer, CALL("\"a\"", "wait", "{}")); /* is free again */
    host_kept(&host, 4);
    host_end(&host);
}

static void test_call_is_refused_past_the_most_in_flight(void **state)
{
    const fl_options options = {.max_in_flight = 2};

    (void)state;
    host_begin_with(&host, &options);
    host_greet(&host.peer, "2025-11-25");
    raw_say(&host.peer, CALL("1", "wait", "{}"));
    raw_say(&host.peer, CALL("2", "wait", "{}"));
    host_kept(&host, 2);
    raw_asks(&host.peer, CALL("3", "wait", "{}"),
             ERROR_ANSWER("3", "-32010",
                          "\"too many requests in flight\",\"data\":{"
                          "\"limit\":2}"));
    /* on this link: another has its own */
    host_dial(&host, &other);
    host_greet(&other, "2025-11-25");
    raw_say(&other, CALL("3", "wait", "{}"));
    host_kept(&host, 3);
    host_answer(&host, 0, "x");
    raw_hears(&host.peer, TEXT_ANSWER("1", "x"));
    raw_say(&host.peer, CALL("3", "wait", "{}"));
    host_kept(&host, 4);
    raw_close(&other);
    host_end(&host);
}

/* A client that cancels what it asked for as fast as it asks must not have
 * more calls under way than one that does not. */
static void test_call_cancelled_but_running_still_counts(void **state)
{
    const fl_options options = {.max_in_flight = 2};

    (void)state;
    host_begin_with(&host, &options);
    host_greet(&host.peer, "2025-11-25");
    raw_say(&host.peer, CALL("1", "wait", "{}"));
    raw_say(&host.peer, CALL("2", "wait", "{}"));
    raw_say(&host.peer, CANCELLED("1"));
    raw_say(&host.peer, CANCELLED("2"));
    raw_say(&host.peer, CALL("3", "wait", "{}"));
    raw_hears_part(&host.peer, "\"id\":3,\"error\":{\"code\":-32010");
    assert_int_equal(host.cancelled, 2);
    host_answer(&host, 0, "unheard");
    raw_say(&host.peer, CALL("4", "wait", "{}"));
    host_kept(&host, 3);
    host_end(&host);
}

static void test_call_tells_progress_only_if_asked_to(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_say(&host.peer, CALL("1", "wait", "{}"));
    raw_say(&host.peer, WITH_TOKEN("2", "\"t\\u006f\""));
    raw_say(&host.peer, WITH_TOKEN("3", "17"));
    host_kept(&host, 3);
    fl_call_progress(host.kept[0], 1, 2, "not asked for");
    raw_hears_nothing(&host.peer);
    fl_call_progress(host.kept[1], 0.5, 2, "half a \"loaf\"");
    raw_hears(&host.peer,
              PROGRESS("\"progressToken\":\"t\\u006f\",\"progress\":0.5,"
                       "\"total\":2,\"message\":\"half a \\\"loaf\\\"\""));
    fl_call_progress(host.kept[2], 3, 0, NULL);
    raw_hears(&host.peer, PROGRESS("\"progressToken\":17,\"progress\":3"));
    host_end(&host);
}

static void check_progress_message(const char *revision, const char *want)
{
    host_begin(&host, revision);
    raw_say(&host.peer, WITH_TOKEN("1", "1"));
    host_kept(&host, 1);
    fl_call_progress(host.kept[0], 1, 4, "word");
    raw_hears(&host.peer, want);
    host_end(&host);
}

static void test_call_progress_has_words_from_2025_03_26_on(void **state)
{
    (void)state;
    check_progress_message(
        "2024-11-05",
        PROGRESS("\"progressToken\":1,\"progress\":1,\"total\":4"));
    check_progress_message("2025-03-26",
                           PROGRESS("\"progressToken\":1,\"progress\":1,"
                                    "\"total\":4,\"message\":\"word\""));
}

/* The specification has tokens be strings or numbers. */
static void test_call_ignores_a_token_that_is_none(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_say(&host.peer, WITH_TOKEN("1", "null"));
    raw_say(&host.peer, WITH_TOKEN("2", "{}"));
    host_kept(&host, 2);
    fl_call_progress(host.kept[0], 1, 2, NULL);
    fl_call_progress(host.kept[1], 1, 2, NULL);
    raw_hears_nothing(&host.peer);
    host_end(&host);
}

static void test_call_cancelled_is_never_answered(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_say(&host.peer, WITH_TOKEN("1", "1"));
    raw_say(&host.peer, CALL("\"1\"", "wait", "{}"));
    host_kept(&host, 2);
    raw_say(&host.peer, CANCELLED("1"));
    io_until(host.loop, host.cancelled == 1);
    assert_true(fl_call_cancelled(host.kept[0]));
    assert_false(fl_call_cancelled(host.kept[1]));
    raw_say(&host.peer, CANCELLED("1")); /* told once only */
    raw_say(&host.peer, CANCELLED("99"));
    raw_say(&host.peer, CANCELLED("null"));
    raw_say(&host.peer, "{\"jsonrpc\":\"2.0\",\"method\":"
                        "\"notifications/cancelled\"}");
    fl_call_progress(host.kept[0], 1, 2, "unheard");
    host_answer(&host, 0, "unheard");
    raw_hears_nothing(&host.peer);
    assert_int_equal(host.cancelled, 1);
    host_answer(&host, 1, "heard");
    raw_hears(&host.peer, TEXT_ANSWER("\"1\"", "heard"));
    host_end(&host);
}

static void test_call_may_end_when_told_of_its_cancellation(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    host.answer_cancelled = true;
    for (int i = 0; i < 3; i++) {
        char line[256];
        snprintf(line, sizeof line, CALL("%d", "wait", "{}"), i);
        raw_say(&host.peer, line);
    }
    host_kept(&host, 3);
    raw_say(&host.peer, CANCELLED("1"));
    io_until(host.loop, host.cancelled == 1);
    raw_hears_nothing(&host.peer);
    raw_close(&host.peer); /* the other two are told, and end too */
    io_until(host.loop, (host.now += 500, host.cancelled == 3));
    io_until(host.loop, fl_server_links(host.server) == 0);
    host_end(&host);
}

static void test_call_outlives_its_client(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_say(&host.peer, WITH_TOKEN("1", "1"));
    raw_say(&host.peer, CALL("2", "wait", "{}"));
    host_kept(&host, 2);
    shutdown(host.peer.fd, SHUT_RDWR);
    raw_close(&host.peer);
    io_until(host.loop, (host.now += 500, host.cancelled == 2));
    io_until(host.loop, fl_server_links(host.server) == 0);
    assert_true(fl_call_cancelled(host.kept[0]));
    fl_call_progress(host.kept[0], 1, 1, "unheard");
    fl_call *second = host.kept[1];
    host.kept[1] = NULL;
    fl_call_error(second, -32000, "unheard");
    host_answer(&host, 0, "unheard");
    host_end(&host);
}

static void test_call_outlives_its_server(void **state)
{
    (void)state;
    host_begin(&host, "2025-11-25");
    raw_say(&host.peer, CALL("1", "wait", "{}"));
    host_kept(&host, 1);
    fl_server_close(host.server, 0, host_closed, &host);
    raw_hears_part(&host.peer, "shutting down");
    raw_hears_end(&host.peer);
    raw_close(&host.peer);
    io_until(host.loop, host.closed == 1);
    fl_server_free(host.server);
    host_answer(&host, 0, "unheard");
    fl_loop_free(host.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_reads_every_type_of_argument),
        cmocka_unit_test(test_call_names_the_argument_that_is_wrong),
        cmocka_unit_test(test_call_may_look_without_asking),
        cmocka_unit_test(test_call_refuses_params_that_are_wrong),
        cmocka_unit_test(test_call_finds_a_tool_by_what_its_name_means),
        cmocka_unit_test(test_call_escapes_what_it_says),
        cmocka_unit_test(test_call_answers_in_every_way),
        cmocka_unit_test(test_call_result_must_be_an_object),
        cmocka_unit_test(test_call_formats_text_of_any_length),
        cmocka_unit_test(test_call_may_be_answered_later_and_out_of_order),
        cmocka_unit_test(test_call_deferred_twice_is_deferred_once),
        cmocka_unit_test(test_call_refuses_an_id_that_is_in_flight),
        cmocka_unit_test(test_call_is_refused_past_the_most_in_flight),
        cmocka_unit_test(test_call_cancelled_but_running_still_counts),
        cmocka_unit_test(test_call_tells_progress_only_if_asked_to),
        cmocka_unit_test(test_call_progress_has_words_from_2025_03_26_on),
        cmocka_unit_test(test_call_ignores_a_token_that_is_none),
        cmocka_unit_test(test_call_cancelled_is_never_answered),
        cmocka_unit_test(test_call_may_end_when_told_of_its_cancellation),
        cmocka_unit_test(test_call_outlives_its_client),
        cmocka_unit_test(test_call_outlives_its_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
