/*
 * test_auth_challenge.c - every shape a WWW-Authenticate comes in.
 */
#include "auth/challenge.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* "BD metadata|scope|error", with "-" for what is not there. */
static void check(const char *field, const char *want)
{
    fl_challenge got;
    char text[512];

    assert_int_equal(fl_challenge_read(fl_span_of(field), &got), FL_OK);
    snprintf(text, sizeof text, "%s%s %s|%s|%s", got.bearer ? "B" : "",
             got.dpop ? "D" : "", got.metadata != NULL ? got.metadata : "-",
             got.scope != NULL ? got.scope : "-",
             got.error != NULL ? got.error : "-");
    if (strcmp(text, want) != 0)
        fail_msg("%s: want '%s', got '%s'", field, want, text);
    fl_challenge_deinit(&got);
}

static void test_challenge_reads_what_mcp_servers_say(void **state)
{
    (void)state;
    check("Bearer resource_metadata=\"https://h/.well-known/x\", "
          "scope=\"a b\"",
          "B https://h/.well-known/x|a b|-");
    check("Bearer error=\"insufficient_scope\",scope=\"w\",error_description="
          "\"no, \\\"really\\\"\"",
          "B -|w|insufficient_scope");
    check("DPoP error=\"use_dpop_nonce\", algs=\"ES256\"",
          "D -|-|use_dpop_nonce");
    check("Bearer", "B -|-|-");
    check("bearer realm=x", "B -|-|-");
    check("BEARER SCOPE = \"s\"", "B -|s|-");
}

static void test_challenge_reads_several_in_one(void **state)
{
    (void)state;
    check("Basic realm=\"x\", Bearer scope=s", "B -|s|-");
    check("Bearer scope=s, Basic scope=other", "B -|s|-");
    check("Bearer scope=s, DPoP scope=t, algs=\"ES256\"", "BD -|s|-");
    check("Negotiate, Bearer error=invalid_token", "B -|-|invalid_token");
    check("Negotiate YII+/_~.-==, Bearer scope=s", "B -|s|-");
    check("Bearer, Bearer scope=s", "B -|s|-");
    check(" , ,Bearer , scope=s,,error=e", "B -|s|e");
}

/* A scope of another scheme is none of ours. */
static void test_challenge_is_not_misled_by_other_schemes(void **state)
{
    (void)state;
    check("Digest scope=\"evil\", error=\"x\"", " -|-|-");
    check("Basic realm=\"Bearer scope=evil\"", " -|-|-");
    check("Basic realm=\"\\\"\", Bearer scope=s", "B -|s|-");
}

static void test_challenge_takes_what_came_before_the_broken_part(void **state)
{
    (void)state;
    check("Bearer scope=s, error=\"no end", "B -|s|-");
    check("Bearer scope=", "B -|-|-");
    check("Bearer scope=s; error=e", "B -|s|-");
    check("=\"x\"", " -|-|-");
    check("", " -|-|-");
    check("\"\"", " -|-|-");
    check("Bearer scope=\"a\\", "B -|-|-");
}

static void test_challenge_first_value_counts(void **state)
{
    (void)state;
    check("Bearer scope=a, scope=b", "B -|a|-");
    check("Bearer scope=\"\"", "B -||-");
}

/* Of a value one past the limit nothing is kept. */
static void test_challenge_value_at_the_limit_and_one_past(void **state)
{
    enum { LIMIT = 8 * 1024 };
    static char field[LIMIT + 64];
    fl_challenge got;

    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        size_t n = (size_t)snprintf(field, sizeof field, "Bearer scope=\"");
        memset(field + n, 'x', LIMIT + extra);
        memcpy(field + n + LIMIT + extra, "\"", 2);
        assert_int_equal(fl_challenge_read(fl_span_of(field), &got), FL_OK);
        assert_true((got.scope != NULL) == (extra == 0));
        fl_challenge_deinit(&got);
    }
}

static void work(void *user)
{
    fl_challenge got;

    (void)user;
    fl_status rc = fl_challenge_read(
        FL_SPAN("Bearer scope=\"s\", error=e, resource_metadata=\"u\""), &got);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    fl_challenge_deinit(&got);
}

static void test_challenge_without_memory_leaks_nothing(void **state)
{
    (void)state;
    assert_int_equal(ration_each(work, NULL), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_challenge_reads_what_mcp_servers_say),
        cmocka_unit_test(test_challenge_reads_several_in_one),
        cmocka_unit_test(test_challenge_is_not_misled_by_other_schemes),
        cmocka_unit_test(test_challenge_takes_what_came_before_the_broken_part),
        cmocka_unit_test(test_challenge_first_value_counts),
        cmocka_unit_test(test_challenge_value_at_the_limit_and_one_past),
        cmocka_unit_test(test_challenge_without_memory_leaks_nothing),
    };

    return cmocka_run_group_tests_name("auth challenge", tests, NULL, NULL);
}
