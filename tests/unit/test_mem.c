/*
 * test_mem.c - the only door to the heap, and the ration that guards it.
 */
#include "base/mem.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_mem_zalloc_is_zeroed(void **state)
{
    static const char zeroes[100];
    char *block = fl_mem_zalloc(sizeof zeroes);

    (void)state;
    assert_non_null(block);
    assert_memory_equal(block, zeroes, sizeof zeroes);
    fl_mem_free(block);
}

static void test_mem_realloc_keeps_the_bytes(void **state)
{
    char *block = fl_mem_realloc(NULL, 4);

    (void)state;
    assert_non_null(block);
    memcpy(block, "abcd", 4);
    block = fl_mem_realloc(block, 4000);
    assert_non_null(block);
    assert_memory_equal(block, "abcd", 4);
    fl_mem_free(block);
}

static void test_mem_failed_realloc_leaves_the_old_block(void **state)
{
    char *block = fl_mem_alloc(4);

    (void)state;
    assert_non_null(block);
    memcpy(block, "abcd", 4);
    ration_allow(0);
    assert_null(fl_mem_realloc(block, 4000));
    ration_reset();
    assert_memory_equal(block, "abcd", 4);
    fl_mem_free(block);
}

static void test_mem_size_zero_is_a_block_like_any_other(void **state)
{
    ptrdiff_t before = ration_live_blocks();
    void *a = fl_mem_alloc(0), *b = fl_mem_zalloc(0), *c = fl_mem_alloc(9);

    (void)state;
    assert_non_null(a);
    assert_non_null(b);
    c = fl_mem_realloc(c, 0);
    assert_non_null(c);
    assert_int_equal(ration_live_blocks(), before + 3);
    fl_mem_free(a);
    fl_mem_free(b);
    fl_mem_free(c);
    assert_int_equal(ration_live_blocks(), before);
}

static void test_mem_free_of_null_is_fine(void **state)
{
    ptrdiff_t before = ration_live_blocks();

    (void)state;
    fl_mem_free(NULL);
    assert_int_equal(ration_live_blocks(), before);
}

static void test_mem_string_is_terminated(void **state)
{
    char *text = fl_mem_string((fl_span){"abcdef", 3});
    char *empty = fl_mem_string((fl_span){0});

    (void)state;
    assert_string_equal(text, "abc");
    assert_string_equal(empty, "");
    fl_mem_free(text);
    fl_mem_free(empty);
    ration_allow(0);
    assert_null(fl_mem_string(FL_SPAN("abc")));
    ration_reset();
}

static void test_mem_wipe_leaves_zeroes(void **state)
{
    char secret[8] = "hunter2";
    static const char zeroes[8];

    (void)state;
    fl_mem_wipe(secret, sizeof secret);
    assert_memory_equal(secret, zeroes, sizeof secret);
    fl_mem_wipe(NULL, 0);
}

static void test_ration_refuses_the_nth_and_only_that(void **state)
{
    void *blocks[3];

    (void)state;
    ration_reset();
    ration_fail_at(2);
    for (size_t i = 0; i < 3; i++)
        blocks[i] = fl_mem_alloc(10);
    assert_non_null(blocks[0]);
    assert_null(blocks[1]);
    assert_non_null(blocks[2]);
    assert_true(ration_refused());
    assert_int_equal(ration_count(), 2);
    ration_reset();
    fl_mem_free(blocks[0]);
    fl_mem_free(blocks[2]);
}

static void test_ration_counts_what_is_live(void **state)
{
    ptrdiff_t blocks = ration_live_blocks(), bytes = ration_live_bytes();

    (void)state;
    ration_reset();
    void *a = fl_mem_alloc(1000), *b = fl_mem_zalloc(50);
    assert_int_equal(ration_live_blocks(), blocks + 2);
    assert_in_range(ration_live_bytes() - bytes, 1050, 1200);
    a = fl_mem_realloc(a, 3000);
    assert_non_null(a);
    assert_int_equal(ration_live_blocks(), blocks + 2);
    assert_int_equal(ration_largest(), 3000);
    fl_mem_free(a);
    fl_mem_free(b);
    assert_int_equal(ration_live_blocks(), blocks);
    assert_int_equal(ration_live_bytes(), bytes);
    assert_in_range(ration_peak_bytes(), (size_t)bytes + 3050,
                    (size_t)bytes + 3300);
}

static void allocate_three(void *user)
{
    void *blocks[3];

    ++*(int *)user;
    for (size_t i = 0; i < 3; i++)
        blocks[i] = fl_mem_alloc(1);
    for (size_t i = 0; i < 3; i++)
        fl_mem_free(blocks[i]);
}

static void test_ration_each_refuses_every_allocation_in_turn(void **state)
{
    int runs = 0;

    (void)state;
    assert_int_equal(ration_each(allocate_three, &runs), 4);
    assert_int_equal(runs, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mem_zalloc_is_zeroed),
        cmocka_unit_test(test_mem_realloc_keeps_the_bytes),
        cmocka_unit_test(test_mem_failed_realloc_leaves_the_old_block),
        cmocka_unit_test(test_mem_size_zero_is_a_block_like_any_other),
        cmocka_unit_test(test_mem_free_of_null_is_fine),
        cmocka_unit_test(test_mem_string_is_terminated),
        cmocka_unit_test(test_mem_wipe_leaves_zeroes),
        cmocka_unit_test(test_ration_refuses_the_nth_and_only_that),
        cmocka_unit_test(test_ration_counts_what_is_live),
        cmocka_unit_test(test_ration_each_refuses_every_allocation_in_turn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
