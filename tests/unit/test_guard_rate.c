/*
 * test_guard_rate.c - token buckets, under a clock the test turns by hand.
 *
 * A random run is compared with an array of buckets in floating point and
 * searched from end to end, too simple to be wrong.
 */
#include "guard/rate.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static fl_rate *make(unsigned per_second, unsigned burst, size_t max_keys)
{
    fl_rate *rate = fl_rate_new(per_second, burst, max_keys);

    assert_non_null(rate);
    return rate;
}

static bool take(fl_rate *rate, const char *key, uint64_t now_ms)
{
    uint64_t wait_ms = 99;
    bool taken = fl_rate_take(rate, fl_span_of(key), now_ms, &wait_ms);

    assert_int_equal(taken, wait_ms == 0);
    return taken;
}

static uint64_t wait_for(fl_rate *rate, const char *key, uint64_t now_ms)
{
    uint64_t wait_ms = 0;

    assert_false(fl_rate_take(rate, fl_span_of(key), now_ms, &wait_ms));
    return wait_ms;
}

/* Takes all there is, and says how many that was. */
static unsigned drain(fl_rate *rate, const char *key, uint64_t now_ms)
{
    unsigned n = 0;

    while (take(rate, key, now_ms))
        n++;
    return n;
}

static void test_rate_gives_the_burst_and_not_one_more(void **state)
{
    fl_rate *rate = make(10, 3, 8);

    (void)state;
    assert_int_equal(drain(rate, "a", 5), 3);
    fl_rate_free(rate);
}

static void test_rate_says_when_the_next_is_due(void **state)
{
    fl_rate *rate = make(10, 1, 8);

    (void)state;
    assert_true(take(rate, "a", 1000));
    assert_int_equal(wait_for(rate, "a", 1000), 100);
    assert_int_equal(wait_for(rate, "a", 1099), 1);
    assert_true(take(rate, "a", 1100));
    assert_int_equal(wait_for(rate, "a", 1100), 100);
    fl_rate_free(rate);
}

/* Three a second: a token takes 333 and a third, so 334 is the first whole
 * millisecond; the odd third is not lost. */
static void test_rate_keeps_fractions(void **state)
{
    fl_rate *rate = make(3, 1, 8);

    (void)state;
    assert_true(take(rate, "a", 0));
    assert_int_equal(wait_for(rate, "a", 0), 334);
    for (uint64_t now = 1; now < 334; now++)
        assert_false(take(rate, "a", now));
    assert_true(take(rate, "a", 334));
    assert_int_equal(wait_for(rate, "a", 334), 334);
    fl_rate_free(rate);

    rate = make(3, 2, 8);
    unsigned given = 0;
    for (uint64_t now = 0; now < 10000; now++)
        given += take(rate, "a", now);
    assert_int_equal(given, 2 + 29);
    fl_rate_free(rate);
}

static void test_rate_waiting_gives_no_more_than_the_burst(void **state)
{
    fl_rate *rate = make(10, 3, 8);

    (void)state;
    assert_int_equal(drain(rate, "a", 0), 3);
    assert_int_equal(drain(rate, "a", 200), 2);
    assert_int_equal(drain(rate, "a", 1000000), 3);
    fl_rate_free(rate);
}

static void test_rate_keys_have_buckets_of_their_own(void **state)
{
    fl_rate *rate = make(1, 2, 8);

    (void)state;
    assert_int_equal(drain(rate, "a", 0), 2);
    assert_int_equal(drain(rate, "b", 0), 2);
    assert_int_equal(drain(rate, "", 0), 2);
    assert_int_equal(drain(rate, "a", 0), 0);
    fl_rate_free(rate);
}

static void test_rate_full_table_has_strangers_share(void **state)
{
    fl_rate *rate = make(1, 2, 2);

    (void)state;
    assert_true(take(rate, "a", 0));
    assert_true(take(rate, "b", 0));
    assert_true(take(rate, "c", 0));
    assert_true(take(rate, "d", 0));
    assert_false(take(rate, "c", 0));
    assert_false(take(rate, "e", 0));
    assert_true(take(rate, "a", 0));
    fl_rate_free(rate);
}

static void test_rate_bucket_that_filled_up_makes_room(void **state)
{
    fl_rate *rate = make(1, 2, 2);

    (void)state;
    assert_int_equal(drain(rate, "a", 0), 2); /* full again at 2000 */
    assert_true(take(rate, "b", 0));          /* full again at 1000 */
    assert_int_equal(drain(rate, "x", 999), 2);
    assert_int_equal(drain(rate, "c", 1000), 2); /* in the place of b */
    assert_int_equal(drain(rate, "a", 1000), 1); /* which a still has */
    fl_rate_free(rate);
}

static void test_rate_table_of_one_works(void **state)
{
    fl_rate *rate = make(1000, 1, 1);

    (void)state;
    for (uint64_t now = 0; now < 10; now++) {
        assert_true(take(rate, now % 2 ? "a" : "b", now));
        assert_true(take(rate, "stranger", now));
        assert_false(take(rate, "stranger", now));
    }
    fl_rate_free(rate);
}

static void test_rate_clock_going_back_is_harmless(void **state)
{
    fl_rate *rate = make(10, 2, 2);

    (void)state;
    assert_int_equal(drain(rate, "a", UINT64_MAX), 2);
    assert_int_equal(drain(rate, "a", 0), 0); /* gives nothing */
    assert_int_equal(wait_for(rate, "a", 0), 100);
    assert_int_equal(drain(rate, "a", 100), 1); /* and locks nobody out */
    assert_int_equal(drain(rate, "a", UINT64_MAX), 2);
    fl_rate_free(rate);
}

static void test_rate_no_time_and_no_number_overflows(void **state)
{
    fl_rate *rate = make(UINT32_MAX, UINT32_MAX, 2);

    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_true(take(rate, "a", i % 2 ? UINT64_MAX : 0));
    fl_rate_free(rate);

    rate = make(1, UINT32_MAX, 1);
    for (int i = 0; i < 1000; i++) {
        assert_true(take(rate, "a", UINT64_MAX - 1));
        assert_true(take(rate, "b", UINT64_MAX - 1));
    }
    fl_rate_free(rate);

    rate = make(1, 1, 1);
    assert_true(take(rate, "a", UINT64_MAX));
    assert_int_equal(wait_for(rate, "a", UINT64_MAX), 1000);
    fl_rate_free(rate);
}

static void test_rate_flood_does_not_grow_memory(void **state)
{
    fl_rate *rate = make(1, 1, 64);
    char key[64];

    (void)state;
    for (int i = 0; i < 64; i++) {
        snprintf(key, sizeof key, "2001:db8:1111:2222:3333:4444:5555:%d", i);
        assert_true(take(rate, key, 0));
    }
    ptrdiff_t blocks = ration_live_blocks();
    ptrdiff_t bytes = ration_live_bytes();
    for (int i = 64; i < 100000; i++) {
        snprintf(key, sizeof key, "2001:db8:1111:2222:3333:4444:5555:%d", i);
        take(rate, key, (uint64_t)i / 10);
        assert_true(ration_live_blocks() <= blocks);
    }
    assert_true(ration_live_bytes() <= bytes + 64 * 64);
    fl_rate_free(rate);
}

enum { NAMES = 12, ROOM = 4, BURST = 5, PER_SECOND = 40 };

struct plain {
    double tokens;
    uint64_t at;
    bool there;
};

static bool plain_take(struct plain *bucket, uint64_t now)
{
    bucket->tokens += (double)(now - bucket->at) * PER_SECOND / 1000;
    bucket->at = now;
    if (bucket->tokens > BURST)
        bucket->tokens = BURST;
    if (bucket->tokens < 1)
        return false;
    bucket->tokens -= 1;
    return true;
}

static bool is_full_at(const struct plain *bucket, uint64_t now)
{
    return bucket->tokens + (double)(now - bucket->at) * PER_SECOND / 1000 >=
           BURST;
}

/* The bucket for `name`, or the last one, which is common to all. */
static struct plain *plain_find(struct plain *all, int name, uint64_t now)
{
    int there = 0, oldest = -1;

    for (int i = 0; i < NAMES; i++) {
        there += all[i].there;
        if (all[i].there && is_full_at(&all[i], now))
            oldest = i;
    }
    if (all[name].there)
        return &all[name];
    if (there == ROOM && oldest < 0)
        return &all[NAMES];
    if (there == ROOM)
        all[oldest].there = false;
    all[name] = (struct plain){.tokens = BURST, .at = now, .there = true};
    return &all[name];
}

/* 40 a second is a token in 25 ms: fractions of a token that a double holds
 * exactly would be luck, so times are multiples of 25. Which full bucket goes
 * is no matter: a bucket that is full and one that is new are the same. */
static void test_rate_agrees_with_a_plain_model(void **state)
{
    struct plain all[NAMES + 1] = {[NAMES] = {.tokens = BURST}};
    fl_rate *rate = make(PER_SECOND, BURST, ROOM);
    uint64_t now = 0, refused = 0;
    unsigned seed = 7332;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        int name = rand_r(&seed) % NAMES * (rand_r(&seed) % 4 == 0 ? 1 : 0);
        char key[8];
        now +=
            rand_r(&seed) % 50 == 0 ? 25u * (unsigned)(rand_r(&seed) % 9) : 0;
        snprintf(key, sizeof key, "%d", name);
        bool want = plain_take(plain_find(all, name, now), now);
        assert_int_equal(take(rate, key, now), want);
        refused += !want;
    }
    assert_true(refused > 1000 && refused < 199000);
    fl_rate_free(rate);
}

static void use_with_little_memory(void *user)
{
    fl_rate *rate = fl_rate_new(1, 2, 4);

    (void)user;
    if (rate == NULL) {
        assert_true(ration_refused());
        return;
    }
    /* who gets no bucket shares: nobody is refused for want of memory */
    assert_true(take(rate, "a", 0));
    assert_true(take(rate, "a key of more than twenty-four bytes", 0));
    fl_rate_free(rate);
}

static void test_rate_without_memory_strangers_share(void **state)
{
    (void)state;
    assert_int_equal(ration_each(use_with_little_memory, NULL), 6);
    fl_rate_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate_gives_the_burst_and_not_one_more),
        cmocka_unit_test(test_rate_says_when_the_next_is_due),
        cmocka_unit_test(test_rate_keeps_fractions),
        cmocka_unit_test(test_rate_waiting_gives_no_more_than_the_burst),
        cmocka_unit_test(test_rate_keys_have_buckets_of_their_own),
        cmocka_unit_test(test_rate_full_table_has_strangers_share),
        cmocka_unit_test(test_rate_bucket_that_filled_up_makes_room),
        cmocka_unit_test(test_rate_table_of_one_works),
        cmocka_unit_test(test_rate_clock_going_back_is_harmless),
        cmocka_unit_test(test_rate_no_time_and_no_number_overflows),
        cmocka_unit_test(test_rate_flood_does_not_grow_memory),
        cmocka_unit_test(test_rate_agrees_with_a_plain_model),
        cmocka_unit_test(test_rate_without_memory_strangers_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
