/*
 * test_cmd_whereis.c - programs that are there, and those that are not.
 */
#include "cmd/whereis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_whereis_looks_in_the_path(void **state)
{
    (void)state;
    assert_int_equal(setenv("PATH", "/nowhere::/bin", 1), 0);
    assert_true(fl_whereis("sh", NULL));
    assert_false(fl_whereis("no-such-program-as-this", NULL));
    assert_int_equal(setenv("PATH", "", 1), 0);
    assert_false(fl_whereis("sh", NULL));
    assert_int_equal(unsetenv("PATH"), 0);
    assert_true(fl_whereis("sh", NULL));
}

static void test_whereis_takes_a_path_as_it_is(void **state)
{
    (void)state;
    assert_true(fl_whereis("/bin/sh", NULL));
    assert_true(fl_whereis("/bin/sh", "/nowhere"));
    assert_false(fl_whereis("/bin/no-such-program-as-this", NULL));
    assert_false(fl_whereis("/etc/passwd", NULL)); /* it cannot be run */
}

static void test_whereis_looks_from_where_it_is_to_run(void **state)
{
    (void)state;
    assert_true(fl_whereis("./sh", "/bin"));
    assert_true(fl_whereis("bin/sh", "/"));
    assert_false(fl_whereis("./sh", "/etc"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whereis_looks_in_the_path),
        cmocka_unit_test(test_whereis_takes_a_path_as_it_is),
        cmocka_unit_test(test_whereis_looks_from_where_it_is_to_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
