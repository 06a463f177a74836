/*
 * test_cmd_call_line.c - which server, which action, with what.
 */
#include "base/log.h"
#include "base/span.h"
#include "cmd/call_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 12 };

struct given {
    char texts[WORDS][64];
    char *argv[WORDS + 1];
    fl_call_line line;
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
        fl_call_line_parse(given->argv, &given->line, &given->error);
    return given;
}

static void done(struct given *given)
{
    fl_call_line_deinit(&given->line);
    free(given);
}

#define W(...) ((const char *const[]){__VA_ARGS__, NULL})

static void refuse(const char *quote, const char *const *words)
{
    struct given *given = parse(words);

    assert_int_equal(given->status, FL_E_INVALID);
    if (strstr(given->error.text, quote) == NULL)
        fail_msg("'%s' is not in: %s", quote, given->error.text);
    done(given);
}

static void test_call_line_takes_an_address_in_front(void **state)
{
    struct given *given = parse(W("tcp://h:1", "call", "add", "a=2"));
    fl_span json = fl_buf_view(&given->line.arguments);

    (void)state;
    assert_int_equal(given->status, FL_OK);
    assert_string_equal(given->line.url, "tcp://h:1");
    assert_int_equal(given->line.action, FL_CALL_TOOL);
    assert_string_equal(given->line.object, "add");
    assert_true(fl_span_equal(json, FL_SPAN("{\"a\":2}")));
    assert_true(given->line.client.connection.no_reconnect);
    done(given);
}

static void test_call_line_takes_a_command_behind(void **state)
{
    struct given *given =
        parse(W("ping", "--env", "A=1", "--", "server", "--json", "x"));
    const fl_child_settings *child = &given->line.client.connection.child;

    (void)state;
    assert_int_equal(given->status, FL_OK);
    assert_null(given->line.url);
    assert_int_equal(given->line.action, FL_CALL_PING);
    assert_string_equal(child->argv[0], "server");
    assert_string_equal(child->argv[1], "--json");
    assert_null(child->argv[3]);
    assert_string_equal(child->env[0], "A=1");
    assert_null(child->env[1]);
    assert_false(given->line.json);
    done(given);
}

static void test_call_line_lists_tools_by_default(void **state)
{
    struct given *given = parse(W("--", "server"));

    (void)state;
    assert_int_equal(given->status, FL_OK);
    assert_int_equal(given->line.action, FL_CALL_TOOLS);
    done(given);
    given = parse(W("unix:/s"));
    assert_int_equal(given->status, FL_OK);
    assert_int_equal(given->line.action, FL_CALL_TOOLS);
    done(given);
}

static void test_call_line_takes_headers_for_http(void **state)
{
    struct given *given = parse(
        W("https://h/mcp", "--header", "A: b", "--header=X-C:d", "call", "t"));
    const fl_http_settings *http = &given->line.client.connection.http;

    (void)state;
    assert_int_equal(given->status, FL_OK);
    assert_string_equal(http->headers[0], "A: b");
    assert_string_equal(http->headers[1], "X-C:d");
    assert_null(http->headers[2]);
    done(given);
    given = parse(W("SSE+HTTP://h/mcp", "--header", "A: b"));
    assert_int_equal(given->status, FL_OK);
    done(given);
    given = parse(W("http://h/mcp"));
    assert_null(given->line.client.connection.http.headers);
    done(given);
}

static void test_call_line_takes_http2_for_http(void **state)
{
    struct given *given = parse(W("http://h/mcp", "--http2", "tools"));

    (void)state;
    assert_int_equal(given->status, FL_OK);
    assert_true(given->line.client.connection.http.http2_only);
    done(given);
    given = parse(W("http://h/mcp", "tools"));
    assert_false(given->line.client.connection.http.http2_only);
    done(given);
    refuse("--http2: it is for a server at http:// or https://, not for ws:",
           W("ws://h/mcp", "--http2"));
    refuse("not for a command", W("tools", "--http2", "--", "x"));
}

static void test_call_line_refuses_headers_that_cannot_be_sent(void **state)
{
    (void)state;
    refuse("tcp:", W("tcp://h:1", "--header", "A: b"));
    refuse("httpx:", W("httpx://h:1", "--header", "A: b"));
    refuse("a command", W("tools", "--header", "A: b", "--", "x"));
    refuse("number 2: there is no colon",
           W("http://h/", "--header", "A: b", "--header", "c"));
    refuse("'Mcp-Session-Id' is set by",
           W("http://h/", "--header", "Mcp-Session-Id: 1"));
}

static void test_call_line_timeout_is_for_opening_and_asking(void **state)
{
    struct given *given = parse(W("tcp://h:1", "--timeout", "2.5"));

    (void)state;
    assert_int_equal(given->line.client.request_timeout_ms, 2500);
    assert_int_equal(given->line.client.connection.open_timeout_ms, 2500);
    done(given);
    given = parse(W("tcp://h:1"));
    assert_int_equal(given->line.client.request_timeout_ms, 0);
    assert_int_equal(given->line.log_level, FL_LOG_WARN);
    done(given);
}

static void test_call_line_takes_an_era(void **state)
{
    static const char *const names[] = {"auto", "legacy", "modern"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct given *given = parse(W("tcp://h:1", "--era", names[i]));
        assert_int_equal(given->status, FL_OK);
        assert_int_equal(given->line.client.era, i);
        done(given);
    }
    struct given *given = parse(W("tcp://h:1"));
    assert_int_equal(given->line.client.era, FL_ERA_AUTO);
    done(given);
    refuse("auto legacy modern", W("tcp://h:1", "--era", "golden"));
}

static void test_call_line_help_needs_nothing_else(void **state)
{
    struct given *given = parse(W("--help"));

    (void)state;
    assert_int_equal(given->status, FL_OK);
    assert_true(given->line.help);
    done(given);
}

static void test_call_line_says_what_is_missing_or_too_much(void **state)
{
    (void)state;
    refuse("which server?", (const char *const[]){NULL});
    refuse("which server?", W("tools"));
    refuse("nothing comes after --", W("tools", "--"));
    refuse("which one?", W("tcp://h:1", "--", "server"));
    refuse("which tool?", W("tcp://h:1", "call"));
    refuse("Did you mean ping?", W("tcp://h:1", "pong"));
    refuse("To call a tool: call add", W("tcp://h:1", "add", "a=2"));
    refuse("To call a tool: call pong", W("tcp://h:1", "pong", "a=2"));
    refuse("takes no arguments", W("tcp://h:1", "ping", "x"));
    refuse("key=value", W("tcp://h:1", "call", "add", "x"));
    refuse("debug info warn error off", W("tcp://h:1", "--log-level", "x"));
}

static void check_text(const fl_buf *buf, const char *want)
{
    fl_span text = fl_buf_view(buf);

    if (!fl_span_equal(text, fl_span_of(want)))
        fail_msg("'%.*s', not '%s'", (int)text.len,
                 text.len > 0 ? text.ptr : "", want);
}

static void test_call_line_takes_lists_and_resources(void **state)
{
    struct given *given = parse(W("tcp://h:1", "templates"));

    (void)state;
    assert_int_equal(given->line.action, FL_CALL_TEMPLATES);
    done(given);
    given = parse(W("tcp://h:1", "read", "file:///a"));
    assert_int_equal(given->status, FL_OK);
    assert_int_equal(given->line.action, FL_CALL_READ);
    assert_string_equal(given->line.object, "file:///a");
    done(given);
    refuse("read what?", W("tcp://h:1", "read"));
    refuse("takes no more than that", W("tcp://h:1", "read", "a", "b"));
    refuse("takes no arguments", W("tcp://h:1", "prompts", "b"));
}

static void test_call_line_arguments_of_prompts_are_text(void **state)
{
    struct given *given =
        parse(W("tcp://h:1", "prompt", "p", "a=2", "b=x", "c=true"));

    (void)state;
    assert_int_equal(given->status, FL_OK);
    check_text(&given->line.arguments,
               "{\"a\":\"2\",\"b\":\"x\",\"c\":\"true\"}");
    done(given);
    refuse("which prompt?", W("tcp://h:1", "prompt"));
    refuse("argument 'a': want text", W("tcp://h:1", "prompt", "p", "a=[1]"));
}

static void test_call_line_completes_the_first_argument(void **state)
{
    struct given *given =
        parse(W("tcp://h:1", "complete", "prompt", "p", "a=Be", "b=7"));

    (void)state;
    assert_int_equal(given->status, FL_OK);
    assert_false(given->line.of_resource);
    assert_string_equal(given->line.object, "p");
    check_text(&given->line.argument, "a");
    check_text(&given->line.value, "Be");
    check_text(&given->line.arguments, "{\"b\":\"7\"}");
    done(given);
    given = parse(W("tcp://h:1", "complete", "resource", "f://{x}", "x=1"));
    assert_int_equal(given->status, FL_OK);
    assert_true(given->line.of_resource);
    check_text(&given->line.value, "1");
    check_text(&given->line.arguments, "");
    done(given);
    refuse("complete what?", W("tcp://h:1", "complete"));
    refuse("complete what?", W("tcp://h:1", "complete", "tool", "x", "a=1"));
    refuse("complete what?", W("tcp://h:1", "complete", "prompt", "p"));
    refuse("complete which argument?",
           W("tcp://h:1", "complete", "prompt", "p", "a=[]"));
}

static void test_call_line_answers_are_one_or_the_other(void **state)
{
    (void)state;
    refuse("which one?", W("tcp://h:1", "--accept-defaults", "--decline"));
    refuse("which one?", W("tcp://h:1", "--answer", "a=1", "--decline"));
    refuse("--answer 'a': want FIELD=VALUE", W("tcp://h:1", "--answer", "a"));
    refuse("--answer '=a': want FIELD=VALUE", W("tcp://h:1", "--answer", "=a"));
    refuse("--answer 'a' is given twice",
           W("tcp://h:1", "--answer", "a=1", "--answer", "ab=1", "--answer",
             "a=2"));
    refuse("--server-log", W("tcp://h:1", "--server-log", "loud"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_line_takes_an_address_in_front),
        cmocka_unit_test(test_call_line_takes_a_command_behind),
        cmocka_unit_test(test_call_line_lists_tools_by_default),
        cmocka_unit_test(test_call_line_takes_headers_for_http),
        cmocka_unit_test(test_call_line_takes_http2_for_http),
        cmocka_unit_test(test_call_line_refuses_headers_that_cannot_be_sent),
        cmocka_unit_test(test_call_line_timeout_is_for_opening_and_asking),
        cmocka_unit_test(test_call_line_takes_an_era),
        cmocka_unit_test(test_call_line_help_needs_nothing_else),
        cmocka_unit_test(test_call_line_says_what_is_missing_or_too_much),
        cmocka_unit_test(test_call_line_takes_lists_and_resources),
        cmocka_unit_test(test_call_line_arguments_of_prompts_are_text),
        cmocka_unit_test(test_call_line_completes_the_first_argument),
        cmocka_unit_test(test_call_line_answers_are_one_or_the_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
