/*
 * test_cmd_suggest.c - a guess where one is due, and none where it is not.
 */
#include "base/span.h"
#include "cmd/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {"tools", "call", "ping", "info", NULL};

static const char *guess(const char *word)
{
    return fl_suggest_nearest(fl_span_of(word), names);
}

static void test_suggest_finds_one_letter_gone_wrong(void **state)
{
    (void)state;
    assert_string_equal(guess("tols"), "tools");
    assert_string_equal(guess("toools"), "tools");
    assert_string_equal(guess("cell"), "call");
    assert_string_equal(guess("pin"), "ping");
    assert_string_equal(guess("info"), "info");
}

static void test_suggest_takes_the_nearest_not_the_first(void **state)
{
    static const char *const close[] = {"--tls-ca", "--tls-cert", "--tls-key",
                                        NULL};

    (void)state;
    assert_string_equal(fl_suggest_nearest(FL_SPAN("--tls-kay"), close),
                        "--tls-key");
    assert_string_equal(fl_suggest_nearest(FL_SPAN("--tls-cer"), close),
                        "--tls-cert");
}

static void test_suggest_is_silent_when_nothing_is_near(void **state)
{
    char longest[42];

    (void)state;
    memset(longest, 'x', sizeof longest);
    longest[41] = '\0';
    assert_null(guess("resources"));
    assert_null(guess(""));
    assert_null(guess("x"));
    assert_null(guess(longest));
    longest[40] = '\0';
    assert_null(guess(longest));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suggest_finds_one_letter_gone_wrong),
        cmocka_unit_test(test_suggest_takes_the_nearest_not_the_first),
        cmocka_unit_test(test_suggest_is_silent_when_nothing_is_near),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
