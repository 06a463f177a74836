/*
 * test_cmd_guess.c - the name that was meant, of those a server has.
 */
#include "base/span.h"
#include "cmd/guess.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define TOOLS "[{\"name\":\"add\"},{\"name\":\"sl\\u006fw\"},{\"title\":\"x\"}]"

static void check(const char *list, const char *name, const char *says)
{
    fl_buf out;

    fl_buf_init(&out, 4096);
    assert_int_equal(fl_guess_name(fl_span_of(list), "tool", name, &out),
                     FL_OK);
    assert_true(fl_span_equal(fl_buf_view(&out), fl_span_of(says)));
    fl_buf_reset(&out);
}

static void test_guess_is_the_nearest_name(void **state)
{
    (void)state;
    check(TOOLS, "ad", "There is no tool 'ad'. Did you mean add?");
    check(TOOLS, "slov", "There is no tool 'slov'. Did you mean slow?");
}

static void test_guess_is_not_made_where_none_is_near(void **state)
{
    (void)state;
    check(TOOLS, "multiply",
          "There is no tool 'multiply'. 'tools' lists them.");
    check("[]", "add", "There is no tool 'add'. 'tools' lists them.");
    check("", "add", "There is no tool 'add'. 'tools' lists them.");
}

static void test_guess_says_nothing_of_what_is_there(void **state)
{
    (void)state;
    check(TOOLS, "add", "");
    check(TOOLS, "slow", "");
}

static void try_it(void *user)
{
    fl_buf out;

    (void)user;
    fl_buf_init(&out, 4096);
    fl_status rc = fl_guess_name(fl_span_of(TOOLS), "tool", "ad", &out);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    fl_buf_reset(&out);
}

static void test_guess_survives_every_failed_allocation(void **state)
{
    (void)state;
    assert_true(ration_each(try_it, NULL) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guess_is_the_nearest_name),
        cmocka_unit_test(test_guess_is_not_made_where_none_is_near),
        cmocka_unit_test(test_guess_says_nothing_of_what_is_there),
        cmocka_unit_test(test_guess_survives_every_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
