/*
 * test_cmd_advice.c - advice that helps: what gives a server what it wants of
 * its client, in the revision that was agreed on.
 */
#include "base/span.h"
#include "cmd/advice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define WANTS(capabilities)                                                    \
    FL_SPAN("{\"code\":-32021,\"message\":\"x\",\"data\":{"                    \
            "\"requiredCapabilities\":{" capabilities "}}}")

static void check_says(fl_span error, const char *revision, const char *part)
{
    const char *advice = fl_advice_for_error(error, revision);

    assert_non_null(advice);
    assert_non_null(strstr(advice, part));
}

static void test_advice_names_the_option_that_answers(void **state)
{
    fl_span form = WANTS("\"elicitation\":{}");

    (void)state;
    check_says(form, "2025-06-18", "--accept-defaults");
    check_says(form, "2026-07-28", "--accept-defaults");
    check_says(form, "", "--accept-defaults");
    check_says(WANTS("\"roots\":{}"), "2024-11-05", "--root DIR");
    check_says(WANTS("\"sampling\":{}"), "2024-11-05", "model");
    check_says(WANTS("\"extensions\":{}"), "2026-07-28", "--task");
}

static void test_advice_names_the_revision_that_can_ask(void **state)
{
    fl_span form = WANTS("\"elicitation\":{}");
    fl_span page = WANTS("\"elicitation\":{\"url\":{}}");

    (void)state;
    check_says(form, "2024-11-05", "--revision 2025-06-18 or later");
    check_says(form, "2025-03-26", "--revision 2025-06-18 or later");
    assert_null(strstr(fl_advice_for_error(form, "2024-11-05"), "--accept"));
    check_says(page, "2025-06-18", "--revision 2025-11-25 or later");
    check_says(page, "2025-11-25", "--decline");
    assert_null(strstr(fl_advice_for_error(page, "2025-11-25"), "--accept"));
}

static void test_advice_is_not_made_up(void **state)
{
    (void)state;
    assert_null(fl_advice_for_error((fl_span){0}, ""));
    assert_null(fl_advice_for_error(FL_SPAN("{\"code\":-32602}"), ""));
    assert_null(fl_advice_for_error(WANTS("\"telepathy\":{}"), ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_advice_names_the_option_that_answers),
        cmocka_unit_test(test_advice_names_the_revision_that_can_ask),
        cmocka_unit_test(test_advice_is_not_made_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
