/*
 * test_loop.c - tasks, turns, and living inside another loop.
 */
#include "base/clock.h"
#include "io/loop.h"
#include "io/timer.h"
#include "support/process.h"
#include "support/ration.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

static uint64_t read_clock(void *user)
{
    return *(uint64_t *)user;
}

static fl_loop *driven_loop(uint64_t *now)
{
    fl_clock clock = {read_clock, now};
    fl_loop *loop = fl_loop_new_with(&(fl_loop_options){.clock = &clock});

    assert_non_null(loop);
    return loop;
}

static fl_loop *real_loop(void)
{
    fl_loop *loop = fl_loop_new();

    assert_non_null(loop);
    return loop;
}

static void count(void *user)
{
    ++*(int *)user;
}

static void test_loop_with_nothing_to_do_returns(void **state)
{
    fl_loop *loop = real_loop();

    (void)state;
    fl_loop_run(loop);
    assert_false(fl_loop_step(loop));
    assert_int_equal(fl_loop_timeout(loop), -1);
    fl_loop_free(loop);
    fl_loop_free(NULL);
}

static void test_loop_runs_a_posted_task_before_it_returns(void **state)
{
    fl_loop *loop = real_loop();
    int runs = 0;

    (void)state;
    assert_int_equal(fl_loop_post(loop, count, &runs), FL_OK);
    assert_int_equal(runs, 0);
    fl_loop_run(loop);
    assert_int_equal(runs, 1);
    fl_loop_free(loop);
}

typedef struct chain {
    fl_loop *loop;
    int left;
} chain;

static void post_again(void *user)
{
    chain *c = user;

    if (--c->left > 0)
        assert_int_equal(fl_loop_post(c->loop, post_again, c), FL_OK);
}

static void test_loop_runs_tasks_that_tasks_post(void **state)
{
    chain c = {real_loop(), 5};

    (void)state;
    assert_int_equal(fl_loop_post(c.loop, post_again, &c), FL_OK);
    fl_loop_run(c.loop);
    assert_int_equal(c.left, 0);
    fl_loop_free(c.loop);
}

static void stop(void *user)
{
    fl_loop_stop(user);
}

static void *post_stop(void *loop)
{
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    return fl_loop_post(loop, stop, loop) == FL_OK ? loop : NULL;
}

static void test_loop_is_woken_by_a_post_from_another_thread(void **state)
{
    fl_loop *loop = real_loop();
    pthread_t thread;
    void *result;
    int runs = 0;

    (void)state;
    /* an hour: only the post can end this */
    assert_int_equal(fl_loop_after(loop, 3600000, count, &runs), FL_OK);
    assert_int_equal(pthread_create(&thread, NULL, post_stop, loop), 0);
    fl_loop_run(loop);
    pthread_join(thread, &result);
    assert_ptr_equal(result, loop);
    assert_int_equal(runs, 0);
    fl_loop_free(loop); /* and drops the task that has not run */
}

enum { THREADS = 4, POSTS = 2000 };

static void *post_many(void *user)
{
    chain *c = user;

    for (int i = 0; i < POSTS; i++)
        if (fl_loop_post(c->loop, count, &c->left) != FL_OK)
            return NULL;
    return c;
}

static void stop_when_all(void *user)
{
    chain *c = user;

    if (c->left == THREADS * POSTS)
        fl_loop_stop(c->loop);
    else
        assert_int_equal(fl_loop_after(c->loop, 1, stop_when_all, c), FL_OK);
}

static void test_loop_loses_no_post_of_many_threads(void **state)
{
    chain c = {real_loop(), 0};
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, post_many, &c), 0);
    stop_when_all(&c);
    fl_loop_run(c.loop);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(c.left, THREADS * POSTS);
    fl_loop_free(c.loop);
}

static void test_loop_after_waits_its_time(void **state)
{
    uint64_t now = 1024;
    fl_loop *loop = driven_loop(&now);
    int runs = 0;

    (void)state;
    assert_int_equal(fl_loop_after(loop, 50, count, &runs), FL_OK);
    assert_int_equal(fl_loop_timeout(loop), 50);
    now = 1073;
    assert_true(fl_loop_step(loop));
    assert_int_equal(runs, 0);
    assert_int_equal(fl_loop_timeout(loop), 1);
    now = 1074;
    assert_int_equal(fl_loop_timeout(loop), 0);
    assert_false(fl_loop_step(loop));
    assert_int_equal(runs, 1);
    assert_int_equal(fl_loop_now(loop), 1074);
    fl_loop_free(loop);
}

static void test_loop_stops_at_the_end_of_the_turn(void **state)
{
    fl_loop *loop = real_loop();
    int runs = 0;

    (void)state;
    assert_int_equal(fl_loop_post(loop, stop, loop), FL_OK);
    assert_int_equal(fl_loop_post(loop, count, &runs), FL_OK);
    assert_int_equal(fl_loop_after(loop, 3600000, count, &runs), FL_OK);
    fl_loop_run(loop);
    assert_int_equal(runs, 1);
    /* and the next run is a new one */
    assert_int_equal(fl_loop_after(loop, 1, stop, loop), FL_OK);
    fl_loop_run(loop);
    assert_int_equal(runs, 1);
    fl_loop_free(loop);
}

static void test_loop_inside_another_is_told_by_its_descriptor(void **state)
{
    fl_loop *loop = real_loop();
    struct pollfd watch = {.fd = fl_loop_fd(loop), .events = POLLIN};
    int runs = 0;

    (void)state;
    fl_loop_step(loop);
    assert_int_equal(poll(&watch, 1, 0), 0);
    assert_int_equal(fl_loop_post(loop, count, &runs), FL_OK);
    assert_int_equal(poll(&watch, 1, 1000), 1);
    fl_loop_step(loop);
    assert_int_equal(runs, 1);
    assert_int_equal(poll(&watch, 1, 0), 0);
    fl_loop_free(loop);
}

static void test_loop_inside_another_wakes_in_time(void **state)
{
    fl_loop *loop = real_loop();
    struct pollfd watch = {.fd = fl_loop_fd(loop), .events = POLLIN};
    int runs = 0, turns = 0;

    (void)state;
    assert_int_equal(fl_loop_after(loop, 30, count, &runs), FL_OK);
    while (runs == 0 && turns++ < 1000) {
        int wait = fl_loop_timeout(loop);
        assert_in_range(wait, 0, 30);
        poll(&watch, 1, wait);
        fl_loop_step(loop);
    }
    assert_int_equal(runs, 1);
    assert_int_equal(fl_loop_timeout(loop), -1);
    fl_loop_free(loop);
}

static bool is_pipe_signal_blocked(void)
{
    sigset_t mask;

    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    return sigismember(&mask, SIGPIPE) == 1;
}

static void note_blocked(void *user)
{
    *(bool *)user = is_pipe_signal_blocked();
}

static void test_loop_holds_sigpipe_back_only_while_it_runs(void **state)
{
    fl_loop *loop = real_loop();
    bool was_blocked = false;

    (void)state;
    assert_false(is_pipe_signal_blocked());
    assert_int_equal(fl_loop_post(loop, note_blocked, &was_blocked), FL_OK);
    fl_loop_run(loop);
    assert_true(was_blocked);
    assert_false(is_pipe_signal_blocked());
    fl_loop_free(loop);
}

static void test_loop_scratch_is_empty_and_keeps_its_memory(void **state)
{
    fl_loop *loop = real_loop();
    fl_buf *scratch = fl_loop_scratch(loop);

    (void)state;
    assert_int_equal(fl_buf_append(scratch, (fl_span){"abc", 3}), FL_OK);
    const char *kept = fl_buf_view(scratch).ptr;
    scratch = fl_loop_scratch(loop);
    assert_int_equal(fl_buf_len(scratch), 0);
    assert_int_equal(fl_buf_append(scratch, (fl_span){"de", 2}), FL_OK);
    assert_ptr_equal(fl_buf_view(scratch).ptr, kept);
    /* but not the memory of one huge message */
    assert_non_null(fl_buf_reserve(scratch, 2 * 1024 * 1024));
    scratch = fl_loop_scratch(loop);
    assert_null(scratch->ptr);
    fl_loop_free(loop);
}

static void make_and_use(void *user)
{
    fl_loop *loop = fl_loop_new();
    int runs = 0;

    (void)user;
    if (loop == NULL)
        return;
    bool posted = fl_loop_post(loop, count, &runs) == FL_OK;
    bool later = fl_loop_after(loop, 1, count, &runs) == FL_OK;
    fl_loop_run(loop);
    assert_int_equal(runs, posted + later);
    fl_loop_free(loop);
}

static void test_loop_without_memory_leaks_nothing(void **state)
{
    (void)state;
    assert_true(ration_each(make_and_use, NULL) >= 4);
}

/* A loop that slept for long, and is woken by somebody else. */
struct sleeper {
    fl_loop *loop;
    fl_timer far, near;
    uint64_t woken_ms, now_ms, fired_ms;
};

static uint64_t wall_ms(void)
{
    fl_clock clock = fl_clock_system();

    return fl_clock_now(&clock);
}

static void on_far(fl_timer *timer)
{
    (void)timer;
}

static void on_near(fl_timer *timer)
{
    struct sleeper *sleeper = FL_LIST_ENTRY(timer, struct sleeper, near);

    sleeper->fired_ms = wall_ms();
    fl_timer_stop(&sleeper->far);
}

static void on_woken(void *user)
{
    struct sleeper *sleeper = user;

    sleeper->woken_ms = wall_ms();
    sleeper->now_ms = fl_loop_now(sleeper->loop);
    fl_timer_start(&sleeper->near, (uint64_t)stretched(60));
}

static void *wake_late(void *user)
{
    struct sleeper *sleeper = user;

    usleep((useconds_t)stretched(150) * 1000);
    assert_int_equal(fl_loop_post(sleeper->loop, on_woken, sleeper), FL_OK);
    return NULL;
}

static void test_loop_knows_the_time_when_it_is_woken(void **state)
{
    struct sleeper sleeper = {.loop = fl_loop_new()};
    pthread_t thread;

    (void)state;
    fl_timer_init(&sleeper.far, sleeper.loop, on_far);
    fl_timer_init(&sleeper.near, sleeper.loop, on_near);
    fl_timer_start(&sleeper.far, 60000);
    assert_int_equal(pthread_create(&thread, NULL, wake_late, &sleeper), 0);
    fl_loop_run(sleeper.loop);
    pthread_join(thread, NULL);
    assert_true(sleeper.woken_ms - sleeper.now_ms < (uint64_t)stretched(100));
    assert_true(sleeper.fired_ms - sleeper.woken_ms >= (uint64_t)stretched(50));
    fl_loop_free(sleeper.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loop_knows_the_time_when_it_is_woken),
        cmocka_unit_test(test_loop_with_nothing_to_do_returns),
        cmocka_unit_test(test_loop_runs_a_posted_task_before_it_returns),
        cmocka_unit_test(test_loop_runs_tasks_that_tasks_post),
        cmocka_unit_test(test_loop_is_woken_by_a_post_from_another_thread),
        cmocka_unit_test(test_loop_loses_no_post_of_many_threads),
        cmocka_unit_test(test_loop_after_waits_its_time),
        cmocka_unit_test(test_loop_stops_at_the_end_of_the_turn),
        cmocka_unit_test(test_loop_inside_another_is_told_by_its_descriptor),
        cmocka_unit_test(test_loop_inside_another_wakes_in_time),
        cmocka_unit_test(test_loop_holds_sigpipe_back_only_while_it_runs),
        cmocka_unit_test(test_loop_scratch_is_empty_and_keeps_its_memory),
        cmocka_unit_test(test_loop_without_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
