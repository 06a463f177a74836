/*
 * test_cmd_bench_line.c - which server, what is asked, and how much of it.
 */
#include "cmd/bench_line.h"

#include "base/span.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 40 };

struct given {
    char texts[WORDS][64];
    char *argv[WORDS + 1];
    fl_bench_line line;
    fl_error error;
    fl_status status;
};

/* The line borrows from the words, so both are kept together. */
static struct given *parse(const char *const *words)
{
    struct given *given = calloc(1, sizeof *given);

    assert_non_null(given);
    for (size_t i = 0; words[i] != NULL; i++) {
        snprintf(given->texts[i], sizeof given->texts[i], "%s", words[i]);
        given->argv[i] = given->texts[i];
    }
    given->status =
        fl_bench_line_parse(given->argv, &given->line, &given->error);
    return given;
}

static struct given *accept(const char *const *words)
{
    struct given *given = parse(words);

    if (given->status != FL_OK)
        fail_msg("refused: %s", given->error.text);
    return given;
}

static void done(struct given *given)
{
    fl_bench_line_deinit(&given->line);
    free(given);
}

#define W(...) ((const char *const[]){__VA_ARGS__, NULL})
#define URL "http://127.0.0.1:1/mcp"

static void refuse(const char *quote, const char *const *words)
{
    struct given *given = parse(words);

    assert_int_equal(given->status, FL_E_INVALID);
    if (strstr(given->error.text, quote) == NULL)
        fail_msg("'%s' is not in: %s", quote, given->error.text);
    done(given);
}

static void test_bench_line_has_a_default_for_all_but_the_server(void **state)
{
    struct given *given = accept(W(URL));
    const fl_load_plan *plan = &given->line.plan;

    (void)state;
    assert_string_equal(plan->url, URL);
    assert_int_equal(given->line.action, FL_BENCH_ANY);
    assert_int_equal(plan->connections, 1);
    assert_int_equal(plan->depth, 1);
    assert_int_equal(plan->threads, 1);
    assert_true(plan->rate == 0);
    assert_false(plan->scatter);
    assert_int_equal(plan->warmup_ms, 1000);
    assert_int_equal(plan->duration_ms, 10000);
    assert_int_equal(plan->timeout_ms, 10000);
    assert_int_equal(plan->requests, 0);
    assert_int_equal(plan->client.era, FL_ERA_AUTO);
    assert_true(plan->client.no_cache);
    assert_int_equal(given->line.size, 0);
    assert_false(given->line.json);
    assert_null(given->line.html);
    assert_true(
        fl_span_equal(fl_buf_view(&given->line.arguments), FL_SPAN("{}")));
    done(given);
}

static void test_bench_line_takes_how_much(void **state)
{
    struct given *given = accept(
        W(URL, "-c", "64", "--depth=16", "--rate", "5000", "--arrivals",
          "random", "--threads", "4", "--warmup", "0.5", "--duration", "1.25",
          "--requests", "100", "--size", "64K", "--timeout", "3"));
    const fl_load_plan *plan = &given->line.plan;

    (void)state;
    assert_int_equal(plan->connections, 64);
    assert_int_equal(plan->depth, 16);
    assert_true(plan->rate == 5000);
    assert_true(plan->scatter);
    assert_int_equal(plan->threads, 4);
    assert_int_equal(plan->warmup_ms, 500);
    assert_int_equal(plan->duration_ms, 1250);
    assert_int_equal(plan->requests, 100);
    assert_int_equal(given->line.size, 65536);
    assert_int_equal(plan->timeout_ms, 3000);
    assert_int_equal(plan->client.request_timeout_ms, 3000);
    assert_int_equal(plan->client.connection.open_timeout_ms, 3000);
    done(given);
    given = accept(W(URL, "--connections", "2", "--no-warmup", "--rate", "1",
                     "--arrivals", "even"));
    assert_int_equal(given->line.plan.connections, 2);
    assert_int_equal(given->line.plan.warmup_ms, 0);
    assert_false(given->line.plan.scatter);
    done(given);
}

/* One socket for each request under way, and one for the event stream. */
static void test_bench_line_makes_room_for_what_is_under_way(void **state)
{
    struct given *given = accept(W(URL, "--depth", "100"));
    const fl_options *options = &given->line.plan.client.connection;

    (void)state;
    assert_true(options->max_in_flight >= 100);
    assert_int_equal(options->http.pool, 101);
    done(given);
}

static void test_bench_line_takes_what_is_told(void **state)
{
    struct given *given = accept(W(URL, "--json", "--html", "x.html"));

    (void)state;
    assert_true(given->line.json);
    assert_string_equal(given->line.html, "x.html");
    done(given);
}

static void test_bench_line_takes_how_to_speak_with_the_server(void **state)
{
    static const char *const eras[] = {"auto", "legacy", "modern"};
    struct given *given =
        accept(W("https://h/mcp", "--http2", "--revision", "2025-06-18",
                 "--header", "A: b", "--header=X-C:d", "--tls-ca", "ca",
                 "--tls-cert", "cert", "--tls-key", "key", "--tls-server-name",
                 "n", "--insecure-skip-verify"));
    const fl_load_plan *plan = &given->line.plan;
    const fl_options *options = &plan->client.connection;

    (void)state;
    assert_string_equal(plan->client.revision, "2025-06-18");
    assert_true(options->http.http2_only);
    assert_string_equal(options->http.headers[0], "A: b");
    assert_string_equal(options->http.headers[1], "X-C:d");
    assert_null(options->http.headers[2]);
    assert_string_equal(options->tls.ca_file, "ca");
    assert_string_equal(options->tls.cert_file, "cert");
    assert_string_equal(options->tls.key_file, "key");
    assert_string_equal(options->tls.server_name, "n");
    assert_true(options->tls.insecure_skip_verify);
    done(given);
    for (unsigned i = 0; i < 3; i++) {
        given = accept(W(URL, "--era", eras[i]));
        assert_int_equal(given->line.plan.client.era, FL_ERA_AUTO + i);
        done(given);
    }
}

static void test_bench_line_takes_headers_of_the_environment(void **state)
{
    struct given *given;

    (void)state;
    setenv("BENCH_LINE_TEST", "Bearer x", 1);
    given = accept(W(URL, "--header-env", "Authorization=BENCH_LINE_TEST"));
    assert_string_equal(given->line.plan.client.connection.http.headers[0],
                        "Authorization: Bearer x");
    done(given);
    given = parse(W(URL, "--header-file", "/nowhere/at/all"));
    assert_int_not_equal(given->status, FL_OK);
    assert_non_null(strstr(given->error.text, "/nowhere/at/all"));
    done(given);
}

static void test_bench_line_takes_a_command_behind(void **state)
{
    struct given *given =
        accept(W("tools", "--depth", "8", "--env", "A=1", "--inherit-env", "B",
                 "--cwd", "/tmp", "--", "server", "--json", "call"));
    const fl_child_settings *child = &given->line.plan.client.connection.child;

    (void)state;
    assert_null(given->line.plan.url);
    assert_int_equal(given->line.action, FL_BENCH_TOOLS);
    assert_string_equal(child->argv[0], "server");
    assert_string_equal(child->argv[1], "--json");
    assert_string_equal(child->argv[2], "call");
    assert_null(child->argv[3]);
    assert_string_equal(child->env[0], "A=1");
    assert_string_equal(child->env_inherit[0], "B");
    assert_string_equal(child->cwd, "/tmp");
    assert_false(given->line.json);
    done(given);
}

static void test_bench_line_takes_every_action(void **state)
{
    struct given *given = accept(W(URL, "call", "add", "a=2", "b=x"));

    (void)state;
    assert_int_equal(given->line.action, FL_BENCH_CALL);
    assert_string_equal(given->line.tool, "add");
    assert_true(fl_span_equal(fl_buf_view(&given->line.arguments),
                              FL_SPAN("{\"a\":2,\"b\":\"x\"}")));
    done(given);
    given = accept(W(URL, "tools"));
    assert_int_equal(given->line.action, FL_BENCH_TOOLS);
    done(given);
    given = accept(W(URL, "ping"));
    assert_int_equal(given->line.action, FL_BENCH_PING);
    done(given);
    given = accept(W("ping", "--", "x"));
    assert_int_equal(given->line.action, FL_BENCH_PING);
    done(given);
}

static void test_bench_line_needs_one_server(void **state)
{
    (void)state;
    refuse("which server?", (const char *const[]){NULL});
    refuse("which server?", W("tools"));
    refuse("which server?", W("--"));
    refuse("which server?", W("call", "echo", "--"));
    refuse("which one?", W(URL, "--", "x"));
    refuse("which one?", W(URL, "tools", "--"));
}

static void test_bench_line_refuses_what_is_no_action(void **state)
{
    (void)state;
    refuse("unknown action 'echo'; want call, tools or ping. To call a tool: "
           "call echo",
           W(URL, "echo"));
    refuse("which tool?", W(URL, "call"));
    refuse("'x': tools takes no arguments", W(URL, "tools", "x"));
    refuse("'x': ping takes no arguments", W(URL, "ping", "x"));
    refuse("'two'", W(URL, "call", "add", "two"));
}

static void test_bench_line_has_limits(void **state)
{
    (void)state;
    done(accept(W(URL, "-c", "100000", "--depth", "10000")));
    refuse("--connections 100001 --depth 1: want at most 100000 and 10000",
           W(URL, "-c", "100001"));
    refuse("want at most 100000 and 10000", W(URL, "--depth", "10001"));
    done(accept(W(URL, "--threads", "64")));
    refuse("--threads 65: want at most 64", W(URL, "--threads", "65"));
    for (int i = 0; i < 4; i++)
        refuse(
            "is not a number of 1 or more",
            W(URL,
              (const char *const[]){"--rate", "-c", "--depth", "--requests"}[i],
              "0"));
    refuse("is not a time in seconds", W(URL, "--duration", "0"));
    refuse("is not a time in seconds", W(URL, "--warmup", "0"));
    refuse("is not a size", W(URL, "--size", "0"));
    refuse("is not one of even random",
           W(URL, "--rate", "1", "--arrivals", "never"));
    refuse("is not one of auto legacy modern", W(URL, "--era", "old"));
    refuse("did you mean --duration?", W(URL, "--duratoin", "1"));
}

static void test_bench_line_refuses_what_does_not_go_together(void **state)
{
    (void)state;
    refuse("--arrivals says how the requests of --rate N come: give both",
           W(URL, "--arrivals", "random"));
    refuse("--size is for the text of a tool call",
           W(URL, "tools", "--size", "1"));
    refuse("--size is for the text of a tool call",
           W(URL, "ping", "--size", "1"));
    refuse("--http2", W("--http2", "--", "x"));
    refuse("--http2", W("tcp://h:1", "--http2"));
    refuse("gets no headers", W("--header", "A: b", "--", "x"));
}

static void test_bench_line_asked_for_help_asks_for_nothing_else(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct given *given = accept(W(i > 0 ? "-h" : "--help"));
        assert_true(given->line.help);
        done(given);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bench_line_has_a_default_for_all_but_the_server),
        cmocka_unit_test(test_bench_line_takes_how_much),
        cmocka_unit_test(test_bench_line_makes_room_for_what_is_under_way),
        cmocka_unit_test(test_bench_line_takes_what_is_told),
        cmocka_unit_test(test_bench_line_takes_how_to_speak_with_the_server),
        cmocka_unit_test(test_bench_line_takes_headers_of_the_environment),
        cmocka_unit_test(test_bench_line_takes_a_command_behind),
        cmocka_unit_test(test_bench_line_takes_every_action),
        cmocka_unit_test(test_bench_line_needs_one_server),
        cmocka_unit_test(test_bench_line_refuses_what_is_no_action),
        cmocka_unit_test(test_bench_line_has_limits),
        cmocka_unit_test(test_bench_line_refuses_what_does_not_go_together),
        cmocka_unit_test(test_bench_line_asked_for_help_asks_for_nothing_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
