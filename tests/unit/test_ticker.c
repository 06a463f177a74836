/*
 * test_ticker.c - once, not early, and only the last time that was set.
 *
 * The timer is the kernel's, so the clock is the system's: times are a few
 * milliseconds, and how late a call may be nobody says.
 */
#include "io/ticker.h"

#include "base/clock.h"
#include "io/loop.h"
#include "io/timer.h"
#include "support/process.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

typedef struct bench {
    fl_loop *loop;
    fl_ticker *ticker;
    unsigned runs;
    uint64_t at;        /* when it was called last */
    uint64_t set_again; /* from the task, once; 0: not */
    bool close_in_task;
} bench;

static void on_tick(void *user)
{
    bench *b = user;

    b->runs++;
    b->at = fl_clock_ns();
    if (b->set_again > 0)
        fl_ticker_set(b->ticker, b->set_again);
    b->set_again = 0;
    if (b->close_in_task)
        fl_ticker_close(b->ticker);
}

static void bench_init(bench *b)
{
    *b = (bench){.loop = fl_loop_new()};
    assert_non_null(b->loop);
    b->ticker = fl_ticker_open(b->loop, on_tick, b);
    assert_non_null(b->ticker);
}

static void bench_deinit(bench *b)
{
    if (!b->close_in_task)
        fl_ticker_close(b->ticker);
    fl_loop_run(b->loop);
    fl_loop_free(b->loop);
}

/* Until it was called so often; then for some turns more. */
static void wait_for(bench *b, unsigned runs)
{
    uint64_t end = fl_clock_ns() + (uint64_t)stretched(10000) * MS;

    while (b->runs < runs && fl_clock_ns() < end) {
        fl_loop_step(b->loop);
        usleep(100);
    }
    for (int i = 0; i < 20; i++)
        fl_loop_step(b->loop);
    assert_int_equal(b->runs, runs);
}

static void test_ticker_calls_once_and_not_early(void **state)
{
    static const uint64_t waits[] = {1, 1000, 100000, 5 * MS, 20 * MS};

    (void)state;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        bench b;
        bench_init(&b);
        uint64_t due = fl_clock_ns() + waits[i];
        fl_ticker_set(b.ticker, due);
        wait_for(&b, 1);
        assert_true(b.at >= due);
        bench_deinit(&b);
        assert_int_equal(b.runs, 1);
    }
}

static void test_ticker_calls_at_once_for_a_time_that_has_passed(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        bench b;
        bench_init(&b);
        uint64_t now = fl_clock_ns();
        fl_ticker_set(b.ticker, i == 0 ? 0 : i == 1 ? 1 : now - 1);
        wait_for(&b, 1);
        bench_deinit(&b);
    }
}

static void test_ticker_not_set_never_calls(void **state)
{
    bench b;

    (void)state;
    bench_init(&b);
    usleep(2000);
    wait_for(&b, 0);
    bench_deinit(&b);
}

static void test_ticker_set_anew_forgets_the_time_before(void **state)
{
    bench b;
    uint64_t now;

    (void)state;
    bench_init(&b);
    now = fl_clock_ns();
    fl_ticker_set(b.ticker, now + 2 * MS);
    fl_ticker_set(b.ticker, now + 30 * MS); /* later... */
    wait_for(&b, 1);
    assert_true(b.at >= now + 30 * MS);
    now = fl_clock_ns();
    fl_ticker_set(b.ticker, now + 3600000 * MS);
    fl_ticker_set(b.ticker, now + 2 * MS); /* ...and sooner */
    wait_for(&b, 2);
    bench_deinit(&b);
}

/* It has fired, but the loop has not looked yet. */
static void test_ticker_set_anew_after_it_fired_waits_anew(void **state)
{
    bench b;

    (void)state;
    bench_init(&b);
    fl_ticker_set(b.ticker, 1);
    usleep(1000);
    uint64_t due = fl_clock_ns() + 20 * MS;
    fl_ticker_set(b.ticker, due);
    wait_for(&b, 1);
    assert_true(b.at >= due);
    bench_deinit(&b);
}

static void test_ticker_may_be_set_from_its_task(void **state)
{
    bench b;

    (void)state;
    bench_init(&b);
    uint64_t now = fl_clock_ns();
    b.set_again = now + 10 * MS;
    fl_ticker_set(b.ticker, now);
    wait_for(&b, 2);
    assert_true(b.at >= now + 10 * MS);
    bench_deinit(&b);
}

static void test_ticker_may_be_closed_from_its_task(void **state)
{
    bench b;

    (void)state;
    bench_init(&b);
    b.close_in_task = true;
    fl_ticker_set(b.ticker, fl_clock_ns());
    wait_for(&b, 1);
    bench_deinit(&b);
}

static void test_ticker_that_is_closed_does_not_call(void **state)
{
    bench b;

    (void)state;
    bench_init(&b);
    fl_ticker_set(b.ticker, 1);
    bench_deinit(&b);
    assert_int_equal(b.runs, 0);
    fl_ticker_close(NULL);
}

static void test_ticker_does_not_keep_the_loop_running(void **state)
{
    bench b;

    (void)state;
    bench_init(&b);
    fl_ticker_set(b.ticker, fl_clock_ns() + 3600000 * MS);
    fl_loop_run(b.loop); /* returns */
    assert_int_equal(b.runs, 0);
    bench_deinit(&b);
}

static void open_one(void *user)
{
    fl_ticker *ticker = fl_ticker_open(user, on_tick, NULL);

    assert_true(ticker != NULL || ration_refused());
    fl_ticker_close(ticker);
    fl_loop_run(user);
}

static void test_ticker_without_memory_is_none_and_leaves_no_file(void **state)
{
    fl_loop *loop = fl_loop_new();

    (void)state;
    assert_non_null(loop);
    open_one(loop); /* what the loop itself keeps from now on */
    int files = process_count_files(getpid());
    assert_true(ration_each(open_one, loop) > 1);
    assert_int_equal(process_count_files(getpid()), files);
    fl_loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ticker_calls_once_and_not_early),
        cmocka_unit_test(test_ticker_calls_at_once_for_a_time_that_has_passed),
        cmocka_unit_test(test_ticker_not_set_never_calls),
        cmocka_unit_test(test_ticker_set_anew_forgets_the_time_before),
        cmocka_unit_test(test_ticker_set_anew_after_it_fired_waits_anew),
        cmocka_unit_test(test_ticker_may_be_set_from_its_task),
        cmocka_unit_test(test_ticker_may_be_closed_from_its_task),
        cmocka_unit_test(test_ticker_that_is_closed_does_not_call),
        cmocka_unit_test(test_ticker_does_not_keep_the_loop_running),
        cmocka_unit_test(test_ticker_without_memory_is_none_and_leaves_no_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
