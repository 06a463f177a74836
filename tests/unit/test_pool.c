/*
 * test_pool.c - spare blocks go round, and only so many are kept.
 */
#include "base/pool.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void fill(fl_buf *buf, size_t size)
{
    char *room = fl_buf_reserve(buf, size);

    assert_non_null(room);
    memset(room, 'x', size);
    fl_buf_commit(buf, size);
}

static void test_pool_block_goes_from_one_buffer_to_the_next(void **state)
{
    fl_pool pool;
    fl_buf a, b;

    (void)state;
    fl_pool_init(&pool);
    fl_buf_init(&a, 10000);
    fl_buf_init(&b, 10000);
    fl_pool_lend(&pool, &a); /* there is none: no harm */
    fill(&a, 1000);
    fl_buf_consume(&a, 1000);
    fl_pool_return(&pool, &a);
    assert_null(fl_buf_view(&a).ptr);

    ration_reset();
    fl_pool_lend(&pool, &b);
    fill(&b, 1000);
    assert_int_equal(ration_count(), 0);
    fl_buf_reset(&b);
    fl_pool_deinit(&pool);
}

static void test_pool_never_lends_past_a_maximum(void **state)
{
    fl_pool pool;
    fl_buf large, small;

    (void)state;
    fl_pool_init(&pool);
    fl_buf_init(&large, 1000);
    fl_buf_init(&small, 999);
    fill(&large, 1000);
    fl_buf_consume(&large, 1000);
    fl_pool_return(&pool, &large);
    fl_pool_lend(&pool, &small);
    assert_null(fl_buf_view(&small).ptr);
    fl_pool_lend(&pool, &large);
    assert_non_null(fl_buf_view(&large).ptr);
    fl_buf_reset(&large);
    fl_pool_deinit(&pool);
}

static void test_pool_keeps_no_block_past_its_limit(void **state)
{
    ptrdiff_t before = ration_live_blocks();
    fl_pool pool;
    fl_buf buf;

    (void)state;
    fl_pool_init(&pool);
    fl_buf_init(&buf, FL_POOL_BLOCK_MAX);
    fill(&buf, FL_POOL_BLOCK_MAX);
    fl_buf_consume(&buf, FL_POOL_BLOCK_MAX);
    fl_pool_return(&pool, &buf);
    assert_int_equal(ration_live_blocks(), before + 1);

    fl_buf_init(&buf, FL_POOL_BLOCK_MAX + 1);
    fill(&buf, FL_POOL_BLOCK_MAX + 1);
    fl_buf_consume(&buf, FL_POOL_BLOCK_MAX + 1);
    fl_pool_return(&pool, &buf);
    assert_int_equal(ration_live_blocks(), before + 1);
    fl_pool_deinit(&pool);
    assert_int_equal(ration_live_blocks(), before);
}

static void test_pool_keeps_no_more_than_its_number(void **state)
{
    ptrdiff_t before = ration_live_blocks();
    fl_pool pool;
    fl_buf bufs[FL_POOL_BLOCKS + 1];

    (void)state;
    fl_pool_init(&pool);
    for (size_t i = 0; i < FL_POOL_BLOCKS + 1; i++) {
        fl_buf_init(&bufs[i], 100);
        fill(&bufs[i], 1);
        fl_buf_consume(&bufs[i], 1);
    }
    for (size_t i = 0; i < FL_POOL_BLOCKS + 1; i++)
        fl_pool_return(&pool, &bufs[i]);
    assert_int_equal(ration_live_blocks(), before + FL_POOL_BLOCKS);
    fl_pool_return(&pool, &bufs[0]); /* without memory: nothing to take */
    assert_int_equal(ration_live_blocks(), before + FL_POOL_BLOCKS);
    fl_pool_deinit(&pool);
    assert_int_equal(ration_live_blocks(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool_block_goes_from_one_buffer_to_the_next),
        cmocka_unit_test(test_pool_never_lends_past_a_maximum),
        cmocka_unit_test(test_pool_keeps_no_block_past_its_limit),
        cmocka_unit_test(test_pool_keeps_no_more_than_its_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
