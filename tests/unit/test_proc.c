/*
 * test_proc.c - how much memory a process has, with all that it has started.
 */
#include "io/proc.h"
#include "support/process.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PLENTY = 1000, MIB = 1024 * 1024 };

/* Says that all is there, and waits to be killed. */
static void stay(int ready)
{
    if (write(ready, "x", 1) == 1)
        for (;;)
            pause();
    _exit(1);
}

static void hold(size_t bytes)
{
    char *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (block == MAP_FAILED)
        _exit(2);
    memset(block, 1, bytes);
}

static pid_t spawn(void (*act)(int ready), int words)
{
    int pipes[2];
    char word;

    assert_int_equal(pipe(pipes), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(pipes[0]);
        act(pipes[1]);
    }
    close(pipes[1]);
    for (int i = 0; i < words; i++)
        assert_int_equal(read(pipes[0], &word, 1), 1);
    close(pipes[0]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void hold_some(int ready)
{
    hold(16 * MIB);
    stay(ready);
}

static void test_proc_measures_what_a_process_holds(void **state)
{
    unsigned looks = PLENTY;
    fl_proc_use use;
    pid_t pid = spawn(hold_some, 1);

    (void)state;
    assert_true(fl_proc_measure(pid, &looks, &use));
    assert_in_range(use.resident, 16 * MIB, 1024 * MIB);
    assert_int_equal(use.family, use.resident);
    assert_int_equal(use.processes, 1);
    assert_in_range(looks, PLENTY - 10, PLENTY - 1);
    end(pid);
}

static void beget(int ready)
{
    pid_t pid = fork();

    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (pid == 0)
        hold(32 * MIB);
    stay(ready);
}

static void test_proc_counts_descendants_in(void **state)
{
    unsigned looks = PLENTY;
    fl_proc_use use;
    pid_t pid = spawn(beget, 2);

    (void)state;
    assert_true(fl_proc_measure(pid, &looks, &use));
    assert_int_equal(use.processes, 2);
    assert_true(use.family - use.resident >= 32 * MIB);
    end(pid);
}

static void *beget_on_a_thread(void *user)
{
    beget(*(int *)user);
    return NULL;
}

static void start_thread(int ready)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, beget_on_a_thread, &ready) != 0)
        _exit(3);
    pthread_join(thread, NULL);
}

static void test_proc_finds_what_another_thread_started(void **state)
{
    unsigned looks = PLENTY;
    fl_proc_use use;
    pid_t pid = spawn(start_thread, 2);

    (void)state;
    assert_true(fl_proc_measure(pid, &looks, &use));
    assert_int_equal(use.processes, 2);
    end(pid);
}

static pid_t *shared_pid;

/* Leaves somebody behind, who goes on here once his parent is gone: before
 * that he would be taken along by its death. */
static void orphan(void)
{
    pid_t parent = getpid();

    if (fork() > 0)
        _exit(0);
    while (getppid() == parent)
        usleep(1000);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* A keeper: the head of a family, whose child has left somebody behind. */
static void keep(int ready)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t child = fork();

    if (child > 0) {
        *shared_pid = child;
        stay(ready);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pid_t middle = fork();
    if (middle > 0)
        waitpid(middle, NULL, 0);
    else
        orphan();
    stay(ready);
}

static void test_proc_counts_in_who_was_left_to_the_keeper(void **state)
{
    unsigned looks = PLENTY;
    fl_proc_use use;

    (void)state;
    shared_pid = mmap(NULL, sizeof *shared_pid, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared_pid != MAP_FAILED);
    pid_t keeper = spawn(keep, 3);
    assert_true(fl_proc_measure(*shared_pid, &looks, &use));
    assert_int_equal(use.processes, 2); /* and not the keeper itself */
    end(keeper);
    munmap(shared_pid, sizeof *shared_pid);
}

static void test_proc_knows_who_is_not_there(void **state)
{
    unsigned looks = PLENTY;
    fl_proc_use use = {.processes = 7};
    pid_t pid = spawn(stay, 1);

    (void)state;
    end(pid);
    assert_false(fl_proc_measure(pid, &looks, &use));
    assert_int_equal(use.processes, 0);
    assert_false(fl_proc_measure(0, &looks, &use));
    assert_false(fl_proc_measure(-1, &looks, &use));
}

static void test_proc_looks_no_more_often_than_it_may(void **state)
{
    fl_proc_use use;
    pid_t pid = spawn(beget, 2);

    (void)state;
    for (unsigned n = 0; n < 8; n++) {
        unsigned looks = n;
        assert_int_equal(fl_proc_measure(pid, &looks, &use), n > 0);
        assert_true(looks <= n);
        assert_true(use.processes <= 2);
    }
    end(pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_proc_measures_what_a_process_holds),
        cmocka_unit_test(test_proc_counts_descendants_in),
        cmocka_unit_test(test_proc_finds_what_another_thread_started),
        cmocka_unit_test(test_proc_counts_in_who_was_left_to_the_keeper),
        cmocka_unit_test(test_proc_knows_who_is_not_there),
        cmocka_unit_test(test_proc_looks_no_more_often_than_it_may),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
