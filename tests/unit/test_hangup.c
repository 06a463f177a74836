/*
 * test_hangup.c - the other end of a pipe goes, and that is told once.
 */
#include "io/hangup.h"
#include "io/loop.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void count(void *user)
{
    ++*(int *)user;
}

static void turn(fl_loop *loop)
{
    for (int i = 0; i < 3; i++)
        fl_loop_step(loop);
}

static void check(int ours, int other)
{
    fl_loop *loop = fl_loop_new();
    fl_hangup hangup;
    int told = 0;

    assert_non_null(loop);
    assert_int_equal(fl_hangup_init(&hangup, loop, ours, count, &told), FL_OK);
    assert_int_equal(write(other, "x", 1), 1);
    turn(loop);
    assert_int_equal(told, 0);
    close(other);
    turn(loop);
    assert_int_equal(told, 1);
    fl_hangup_deinit(&hangup);
    fl_loop_free(loop);
    close(ours);
}

static void test_hangup_is_told_once_and_not_for_what_is_written(void **state)
{
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    check(ends[0], ends[1]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    check(ends[0], ends[1]);
}

static void test_hangup_of_what_has_no_other_end_never_comes(void **state)
{
    fl_loop *loop = fl_loop_new();
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    fl_hangup hangup;
    int told = 0;

    (void)state;
    assert_non_null(loop);
    assert_int_equal(fl_hangup_init(&hangup, loop, null, count, &told), FL_OK);
    turn(loop);
    assert_int_equal(told, 0);
    fl_hangup_deinit(&hangup);
    fl_loop_free(loop);
    close(null);
}

static void test_hangup_is_not_told_any_more(void **state)
{
    fl_loop *loop = fl_loop_new();
    fl_hangup hangup;
    int told = 0;
    int ends[2];

    (void)state;
    assert_non_null(loop);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fl_hangup_init(&hangup, loop, ends[0], count, &told),
                     FL_OK);
    fl_hangup_deinit(&hangup);
    close(ends[1]);
    turn(loop);
    assert_int_equal(told, 0);
    fl_loop_free(loop);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hangup_is_told_once_and_not_for_what_is_written),
        cmocka_unit_test(test_hangup_of_what_has_no_other_end_never_comes),
        cmocka_unit_test(test_hangup_is_not_told_any_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
