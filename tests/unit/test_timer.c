/*
 * test_timer.c - never early, never lost, and late only as the clock is.
 *
 * The clock is driven by hand. Each claim is checked by stepping to the
 * millisecond before and to the one itself; a random run is compared with a
 * plain list of due times.
 */
#include "base/list.h"
#include "io/loop.h"
#include "io/timer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t read_clock(void *user)
{
    return *(uint64_t *)user;
}

typedef struct bench {
    uint64_t now;
    fl_loop *loop;
} bench;

static void bench_init(bench *b, uint64_t now)
{
    b->now = now;
    fl_clock clock = {read_clock, &b->now};
    b->loop = fl_loop_new_with(&(fl_loop_options){.clock = &clock});
    assert_non_null(b->loop);
}

static void go_to(bench *b, uint64_t now)
{
    b->now = now;
    fl_loop_step(b->loop);
}

typedef struct counter {
    fl_timer timer;
    int runs;
} counter;

static void count(fl_timer *timer)
{
    FL_LIST_ENTRY(timer, counter, timer)->runs++;
}

static void test_timer_is_40_bytes(void **state)
{
    (void)state;
    assert_int_equal(sizeof(fl_timer), 40);
}

static void test_timer_runs_when_due_and_not_a_millisecond_before(void **state)
{
    static const uint64_t starts[] = {0, 1, 63, 4095, 1000003};
    static const uint64_t waits[] = {1,     2,      63,     64,     65,
                                     100,   4095,   4096,   4097,   5000,
                                     60000, 262143, 262144, 300000, 86400000};

    (void)state;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        for (size_t j = 0; j < sizeof waits / sizeof *waits; j++) {
            bench b;
            counter c = {.runs = 0};
            bench_init(&b, starts[i]);
            fl_timer_init(&c.timer, b.loop, count);
            fl_timer_start(&c.timer, waits[j]);
            go_to(&b, starts[i] + waits[j] - 1);
            assert_int_equal(c.runs, 0);
            assert_true(fl_timer_running(&c.timer));
            go_to(&b, starts[i] + waits[j]);
            assert_int_equal(c.runs, 1);
            assert_false(fl_timer_running(&c.timer));
            go_to(&b, starts[i] + 10 * waits[j]);
            assert_int_equal(c.runs, 1);
            fl_loop_free(b.loop);
        }
}

static void test_timer_restarted_waits_anew(void **state)
{
    bench b;
    counter c = {.runs = 0};

    (void)state;
    bench_init(&b, 7);
    fl_timer_init(&c.timer, b.loop, count);
    fl_timer_start(&c.timer, 100);
    go_to(&b, 100);
    fl_timer_start(&c.timer, 100);
    go_to(&b, 199);
    assert_int_equal(c.runs, 0);
    go_to(&b, 200);
    assert_int_equal(c.runs, 1);
    fl_loop_free(b.loop);
}

static void test_timer_stopped_never_runs(void **state)
{
    bench b;
    counter c = {.runs = 0};

    (void)state;
    bench_init(&b, 7);
    fl_timer_init(&c.timer, b.loop, count);
    fl_timer_stop(&c.timer);
    fl_timer_start(&c.timer, 50);
    fl_timer_stop(&c.timer);
    fl_timer_stop(&c.timer);
    go_to(&b, 1000);
    assert_int_equal(c.runs, 0);
    fl_loop_free(b.loop);
}

static void restart_at_once(fl_timer *timer)
{
    FL_LIST_ENTRY(timer, counter, timer)->runs++;
    fl_timer_start(timer, 0);
}

static void test_timer_that_restarts_itself_runs_once_a_turn(void **state)
{
    bench b;
    counter c = {.runs = 0};

    (void)state;
    bench_init(&b, 7);
    fl_timer_init(&c.timer, b.loop, restart_at_once);
    fl_timer_start(&c.timer, 0);
    for (int i = 1; i <= 3; i++) {
        fl_loop_step(b.loop);
        assert_int_equal(c.runs, i);
        assert_int_equal(fl_loop_timeout(b.loop), 0);
    }
    fl_timer_stop(&c.timer);
    fl_loop_free(b.loop);
}

typedef struct pair {
    fl_timer first;
    counter second;
} pair;

static void stop_it(fl_timer *timer)
{
    fl_timer_stop(&FL_LIST_ENTRY(timer, pair, first)->second.timer);
}

static void test_timer_can_be_stopped_by_one_of_the_same_turn(void **state)
{
    bench b;
    pair two = {0};

    (void)state;
    bench_init(&b, 7);
    fl_timer_init(&two.first, b.loop, stop_it);
    fl_timer_init(&two.second.timer, b.loop, count);
    fl_timer_start(&two.first, 10);
    fl_timer_start(&two.second.timer, 10);
    go_to(&b, 100);
    assert_int_equal(two.second.runs, 0);
    fl_loop_free(b.loop);
}

static void free_it(fl_timer *timer)
{
    free(timer);
}

static void test_timer_may_free_the_memory_it_lies_in(void **state)
{
    bench b;
    fl_timer *timer = malloc(sizeof *timer);

    (void)state;
    assert_non_null(timer);
    bench_init(&b, 7);
    fl_timer_init(timer, b.loop, free_it);
    fl_timer_start(timer, 10);
    go_to(&b, 17);
    fl_loop_free(b.loop);
}

static void test_timer_for_ever_does_not_run(void **state)
{
    bench b;
    counter c = {.runs = 0};

    (void)state;
    bench_init(&b, 7);
    fl_timer_init(&c.timer, b.loop, count);
    fl_timer_start(&c.timer, UINT64_MAX);
    go_to(&b, UINT64_C(1) << 47);
    assert_int_equal(c.runs, 0);
    fl_timer_stop(&c.timer);
    fl_loop_free(b.loop);
}

enum { MANY = 500 };

typedef struct entry {
    fl_timer timer;
    bench *bench;
    uint64_t due;
    bool is_running;
} entry;

static void check_due(fl_timer *timer)
{
    entry *e = FL_LIST_ENTRY(timer, entry, timer);

    assert_true(e->is_running);
    assert_true(e->due <= e->bench->now);
    e->is_running = false;
}

/* Nothing that was due before the step may still be running after it. */
static void check_none_left(const entry *entries, uint64_t now)
{
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(entries[i].is_running,
                         fl_timer_running(&entries[i].timer));
        if (entries[i].is_running)
            assert_true(entries[i].due > now);
    }
}

static uint64_t random_wait(void)
{
    return (uint64_t)rand() % (UINT64_C(1) << (rand() % 20));
}

static void test_timer_wheel_agrees_with_a_plain_list(void **state)
{
    static entry entries[MANY];
    bench b;

    (void)state;
    srand(11);
    bench_init(&b, 123456789);
    for (size_t i = 0; i < MANY; i++) {
        entries[i] = (entry){.bench = &b};
        fl_timer_init(&entries[i].timer, b.loop, check_due);
    }
    for (int round = 0; round < 4000; round++) {
        for (int change = rand() % 8; change > 0; change--) {
            entry *e = &entries[rand() % MANY];
            e->is_running = rand() % 4 != 0;
            if (e->is_running) {
                uint64_t wait = 1 + random_wait();
                e->due = b.now + wait;
                fl_timer_start(&e->timer, wait);
            } else {
                fl_timer_stop(&e->timer);
            }
        }
        go_to(&b, b.now + (rand() % 8 == 0 ? random_wait() : 1));
        check_none_left(entries, b.now);
    }
    for (size_t i = 0; i < MANY; i++)
        fl_timer_stop(&entries[i].timer);
    fl_loop_free(b.loop);
}

static void test_timer_keeps_the_loop_running_by_the_real_clock(void **state)
{
    fl_loop *loop = fl_loop_new();
    counter c = {.runs = 0};

    (void)state;
    assert_non_null(loop);
    fl_timer_init(&c.timer, loop, count);
    fl_timer_start(&c.timer, 20);
    uint64_t before = fl_loop_now(loop);
    fl_loop_run(loop);
    assert_int_equal(c.runs, 1);
    assert_true(fl_loop_now(loop) - before >= 20);
    fl_loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timer_is_40_bytes),
        cmocka_unit_test(test_timer_runs_when_due_and_not_a_millisecond_before),
        cmocka_unit_test(test_timer_restarted_waits_anew),
        cmocka_unit_test(test_timer_stopped_never_runs),
        cmocka_unit_test(test_timer_that_restarts_itself_runs_once_a_turn),
        cmocka_unit_test(test_timer_can_be_stopped_by_one_of_the_same_turn),
        cmocka_unit_test(test_timer_may_free_the_memory_it_lies_in),
        cmocka_unit_test(test_timer_for_ever_does_not_run),
        cmocka_unit_test(test_timer_wheel_agrees_with_a_plain_list),
        cmocka_unit_test(test_timer_keeps_the_loop_running_by_the_real_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
