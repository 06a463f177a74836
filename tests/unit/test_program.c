/*
 * test_program.c - which files the name of a program may mean.
 */
#include "base/mem.h"
#include "io/program.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The files as "a b c", or "none" when there was no memory. */
static void expect(const char *name, const char *const *envp, const char *want)
{
    char got[256] = "";
    size_t len = 0;
    char **files = fl_program_files(name, envp);

    assert_non_null(files);
    for (char **file = files; *file != NULL; file++)
        len += (size_t)snprintf(got + len, sizeof got - len, "%s%s",
                                len > 0 ? " " : "", *file);
    fl_mem_free(files);
    assert_string_equal(got, want);
}

static void test_program_is_looked_for_in_each_directory(void **state)
{
    const char *const envp[] = {"A=1", "PATH=/x:/y/z", "B=2", NULL};

    (void)state;
    expect("cat", envp, "/x/cat /y/z/cat");
}

static void test_program_with_a_slash_is_the_file_itself(void **state)
{
    const char *const envp[] = {"PATH=/x:/y", NULL};

    (void)state;
    expect("/bin/cat", envp, "/bin/cat");
    expect("./cat", envp, "./cat");
    expect("a/b", envp, "a/b");
}

static void test_program_empty_directory_is_the_current_one(void **state)
{
    const char *const first[] = {"PATH=:/x", NULL};
    const char *const middle[] = {"PATH=/x::/y", NULL};
    const char *const last[] = {"PATH=/x:", NULL};
    const char *const all[] = {"PATH=", NULL};

    (void)state;
    expect("cat", first, "./cat /x/cat");
    expect("cat", middle, "/x/cat ./cat /y/cat");
    expect("cat", last, "/x/cat ./cat");
    expect("cat", all, "./cat");
}

static void test_program_without_a_path_is_in_the_usual_places(void **state)
{
    const char *const other[] = {"XPATH=/x", "PATHS=/y", NULL};

    (void)state;
    expect("cat", NULL, "/bin/cat /usr/bin/cat");
    expect("cat", other, "/bin/cat /usr/bin/cat");
}

static void test_program_without_a_name_is_no_file(void **state)
{
    const char *const envp[] = {"PATH=/x:/y", NULL};

    (void)state;
    expect("", envp, "");
}

static void search(void *user)
{
    const char *const envp[] = {"PATH=/x:/y", NULL};
    char **files = fl_program_files(user, envp);

    assert_int_equal(files == NULL, ration_refused());
    fl_mem_free(files);
}

static void test_program_without_memory_is_null(void **state)
{
    char found[] = "cat", given[] = "/bin/cat";

    (void)state;
    assert_int_equal(ration_each(search, found), 2);
    assert_int_equal(ration_each(search, given), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_program_is_looked_for_in_each_directory),
        cmocka_unit_test(test_program_with_a_slash_is_the_file_itself),
        cmocka_unit_test(test_program_empty_directory_is_the_current_one),
        cmocka_unit_test(test_program_without_a_path_is_in_the_usual_places),
        cmocka_unit_test(test_program_without_a_name_is_no_file),
        cmocka_unit_test(test_program_without_memory_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
