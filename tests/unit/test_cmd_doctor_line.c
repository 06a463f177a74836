/*
 * test_cmd_doctor_line.c - which server, and how it is to be looked at.
 */
#include "base/span.h"
#include "cmd/doctor_line.h"

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
    fl_doctor_line line;
    fl_error error;
    fl_status status;
};

static struct given *parse(const char *const *words)
{
    struct given *given = calloc(1, sizeof *given);

    assert_non_null(given);
    for (size_t i = 0; words[i] != NULL; i++) {
        snprintf(given->texts[i], sizeof given->texts[i], "%s", words[i]);
        given->argv[i] = given->texts[i];
    }
    given->status =
        fl_doctor_line_parse(given->argv, &given->line, &given->error);
    return given;
}

static void done(struct given *given)
{
    fl_doctor_line_deinit(&given->line);
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

static void test_doctor_line_takes_an_address(void **state)
{
    struct given *given = parse(W("http://x/mcp", "--json"));

    (void)state;
    assert_int_equal(given->status, FL_OK);
    assert_string_equal(given->line.url, "http://x/mcp");
    assert_true(given->line.json);
    assert_null(given->line.options.child.argv);
    assert_int_equal(given->line.timeout_ms, 10000);
    done(given);
}

static void test_doctor_line_takes_an_address_that_is_none(void **state)
{
    struct given *given = parse(W("nonsense"));

    (void)state;
    assert_int_equal(given->status, FL_OK); /* that is for the doctor to say */
    done(given);
}

static void test_doctor_line_takes_a_command(void **state)
{
    struct given *given =
        parse(W("--timeout", "1.5", "--env", "A=b", "--", "server", "--json"));

    (void)state;
    assert_int_equal(given->status, FL_OK);
    assert_null(given->line.url);
    assert_false(given->line.json);
    assert_string_equal(given->line.options.child.argv[0], "server");
    assert_string_equal(given->line.options.child.argv[1], "--json");
    assert_string_equal(given->line.options.child.env[0], "A=b");
    assert_int_equal(given->line.timeout_ms, 1500);
    assert_int_equal(given->line.options.open_timeout_ms, 1500);
    done(given);
}

static void test_doctor_line_hands_headers_on(void **state)
{
    struct given *given = parse(W("http://x", "--header", "A: b"));

    (void)state;
    assert_int_equal(given->status, FL_OK);
    assert_string_equal(given->line.options.http.headers[0], "A: b");
    done(given);
}

static void test_doctor_line_refuses_what_makes_no_sense(void **state)
{
    (void)state;
    refuse("which server", W("--json"));
    refuse("which server", W("--"));
    refuse("one too many", W("http://x", "http://y"));
    refuse("not both", W("http://x", "--", "server"));
    refuse("--timeout", W("http://x", "--timeout", "soon"));
    refuse("--tls-ca", W("http://x", "--tls-cs", "file"));
    refuse("gets no headers", W("--header", "A: b", "--", "server"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doctor_line_takes_an_address),
        cmocka_unit_test(test_doctor_line_takes_an_address_that_is_none),
        cmocka_unit_test(test_doctor_line_takes_a_command),
        cmocka_unit_test(test_doctor_line_hands_headers_on),
        cmocka_unit_test(test_doctor_line_refuses_what_makes_no_sense),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
