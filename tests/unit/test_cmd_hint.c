/*
 * test_cmd_hint.c - hints that can be typed as they are.
 */
#include "base/span.h"
#include "cmd/hint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void check_port(const char *url, const char *text, const char *want)
{
    char out[FL_HINT_SIZE];

    assert_int_equal(fl_hint_of_port(url, fl_span_of(text), out),
                     want[0] != '\0');
    assert_string_equal(out, want);
}

static void test_hint_names_the_protocol_of_a_port(void **state)
{
    (void)state;
    check_port("http://127.0.0.1:7332/mcp?a=b", "malformed version",
               "This port seems to speak lines: try tcp://127.0.0.1:7332");
    check_port("ws://[::1]:7332/mcp", "handshake: malformed version",
               "This port seems to speak lines: try tcp://[::1]:7332");
    check_port("wss://example.org:7332", "handshake: malformed version",
               "This port seems to speak lines: try tls://example.org:7332");
    check_port("tcp://127.0.0.1:7330", "the server said: malformed method",
               "This port seems to speak HTTP: try http://127.0.0.1:7330/mcp");
    check_port("tls://127.0.0.1:7330", "the server said: malformed method",
               "This port seems to speak HTTP: try https://127.0.0.1:7330/mcp");
}

static void test_hint_of_a_port_is_not_made_up(void **state)
{
    (void)state;
    check_port(NULL, "malformed version", "");
    check_port("/run/socket", "malformed version", "");
    check_port("http://127.0.0.1:1/mcp", "malformed method", "");
    check_port("tcp://127.0.0.1:1", "malformed version", "");
    check_port("tcp://127.0.0.1:1", "", "");
}

static void check_string(const char *arguments, const char *said,
                         const char *want)
{
    char out[FL_HINT_SIZE];

    assert_int_equal(
        fl_hint_of_string(fl_span_of(arguments), fl_span_of(said), out),
        want[0] != '\0');
    assert_string_equal(out, want);
}

static void test_hint_says_how_a_string_is_written(void **state)
{
    (void)state;
    check_string("{\"a\":\"x\",\"text\":5}",
                 "invalid arguments: /text: type: must be string, not number",
                 "text=5 is JSON, and no string: text:=5 sends one.");
    check_string("{\"text\":true}", "text: Expected string, received boolean",
                 "text=true is JSON, and no string: text:=true sends one.");
}

static void test_hint_of_a_string_is_not_made_up(void **state)
{
    (void)state;
    check_string("{}", "/text: must be string", "");
    check_string("", "/text: must be string", "");
    check_string("{\"text\":\"5\"}", "/text: must be string", "");
    check_string("{\"text\":[5]}", "/text: must be string", "");
    check_string("{\"text\":5}", "/other: must be string", "");
    check_string("{\"text\":5}", "/text: must be at least 6", "");
    check_string("{\"text\":5}", "", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hint_names_the_protocol_of_a_port),
        cmocka_unit_test(test_hint_of_a_port_is_not_made_up),
        cmocka_unit_test(test_hint_says_how_a_string_is_written),
        cmocka_unit_test(test_hint_of_a_string_is_not_made_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
