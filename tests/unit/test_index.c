/*
 * test_index.c - values found by keys of their own, compared with an array too
 * simple to be wrong.
 */
#include "base/index.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THINGS = 1000 };

typedef struct thing {
    char name[8];
} thing;

static thing things[THINGS];

static fl_span name_of(const void *value)
{
    return fl_span_of(((const thing *)value)->name);
}

static int make_things(void **state)
{
    (void)state;
    for (size_t i = 0; i < THINGS; i++)
        snprintf(things[i].name, sizeof things[i].name, "%zu", i);
    return 0;
}

static void test_index_gives_back_what_was_added(void **state)
{
    fl_index index;

    (void)state;
    fl_index_init(&index, 10, name_of);
    assert_null(fl_index_get(&index, FL_SPAN("1")));
    assert_int_equal(fl_index_add(&index, &things[1]), FL_OK);
    assert_int_equal(fl_index_add(&index, &things[2]), FL_OK);
    assert_ptr_equal(fl_index_get(&index, FL_SPAN("1")), &things[1]);
    assert_ptr_equal(fl_index_get(&index, FL_SPAN("2")), &things[2]);
    assert_null(fl_index_get(&index, FL_SPAN("3")));
    assert_int_equal(fl_index_count(&index), 2);
    fl_index_deinit(&index);
    assert_int_equal(fl_index_count(&index), 0);
}

static void test_index_refuses_a_key_it_has(void **state)
{
    fl_index index;
    thing twin = things[1];

    (void)state;
    fl_index_init(&index, 1, name_of);
    assert_int_equal(fl_index_add(&index, &things[1]), FL_OK);
    assert_int_equal(fl_index_add(&index, &twin), FL_E_IN_USE);
    assert_ptr_equal(fl_index_get(&index, FL_SPAN("1")), &things[1]);
    fl_index_deinit(&index);
}

static void test_index_refuses_one_past_its_maximum(void **state)
{
    enum { MAX = 50 };
    fl_index index;

    (void)state;
    fl_index_init(&index, MAX, name_of);
    for (size_t i = 0; i < MAX; i++)
        assert_int_equal(fl_index_add(&index, &things[i]), FL_OK);
    assert_int_equal(fl_index_add(&index, &things[MAX]), FL_E_LIMIT);
    assert_ptr_equal(fl_index_remove(&index, FL_SPAN("3")), &things[3]);
    assert_int_equal(fl_index_add(&index, &things[MAX]), FL_OK);
    assert_int_equal(fl_index_count(&index), MAX);
    fl_index_deinit(&index);
}

static void test_index_remove_of_what_is_not_there_is_null(void **state)
{
    fl_index index;

    (void)state;
    fl_index_init(&index, 10, name_of);
    assert_null(fl_index_remove(&index, FL_SPAN("1")));
    assert_int_equal(fl_index_add(&index, &things[1]), FL_OK);
    assert_null(fl_index_remove(&index, FL_SPAN("2")));
    assert_int_equal(fl_index_count(&index), 1);
    fl_index_deinit(&index);
}

/* Long runs of collisions come of their own in a small, full table: 6 of 8
 * places. Wrong backward shifts lose values here within a few rounds. */
static void test_index_matches_an_array_in_any_order(void **state)
{
    enum { KEYS = 40, ROUNDS = 200000 };
    void *mirror[KEYS] = {0};
    size_t count = 0;
    fl_index index;

    (void)state;
    srand(11);
    fl_index_init(&index, KEYS, name_of);
    for (int round = 0; round < ROUNDS; round++) {
        /* the range breathes, so that tables of many loads are met */
        size_t range = 4 + (size_t)(round / 1000) % (KEYS - 3);
        size_t i = (size_t)rand() % range;
        if (rand() % 2 == 0) {
            fl_status rc = fl_index_add(&index, &things[i]);
            assert_int_equal(rc, mirror[i] != NULL ? FL_E_IN_USE : FL_OK);
            count += mirror[i] == NULL;
            mirror[i] = &things[i];
        } else {
            assert_ptr_equal(fl_index_remove(&index, name_of(&things[i])),
                             mirror[i]);
            count -= mirror[i] != NULL;
            mirror[i] = NULL;
        }
        assert_int_equal(fl_index_count(&index), count);
        size_t j = (size_t)rand() % KEYS;
        assert_ptr_equal(fl_index_get(&index, name_of(&things[j])), mirror[j]);
    }
    fl_index_deinit(&index);
}

static void test_index_in_steady_state_allocates_nothing(void **state)
{
    fl_index index;

    (void)state;
    fl_index_init(&index, 1000, name_of);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(fl_index_add(&index, &things[i]), FL_OK);
    ration_reset();
    ration_allow(0);
    for (size_t i = 100; i < THINGS; i++) {
        assert_non_null(fl_index_remove(&index, name_of(&things[i - 100])));
        assert_int_equal(fl_index_add(&index, &things[i]), FL_OK);
    }
    assert_int_equal(ration_count(), 0);
    ration_reset();
    fl_index_deinit(&index);
}

static void test_index_grows_at_three_quarters(void **state)
{
    fl_index index;

    (void)state;
    fl_index_init(&index, 100, name_of);
    ration_reset();
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(fl_index_add(&index, &things[i]), FL_OK);
    assert_int_equal(ration_count(), 1); /* 8 places */
    assert_int_equal(fl_index_add(&index, &things[6]), FL_OK);
    assert_int_equal(ration_count(), 2); /* 16 */
    fl_index_deinit(&index);
}

static void test_index_seeds_differ(void **state)
{
    fl_index a, b;

    (void)state;
    fl_index_init(&a, 1, name_of);
    fl_index_init(&b, 1, name_of);
    assert_int_equal(fl_index_add(&a, &things[1]), FL_OK);
    assert_int_equal(fl_index_add(&b, &things[1]), FL_OK);
    assert_memory_not_equal(a.seed, b.seed, sizeof a.seed);
    fl_index_deinit(&a);
    fl_index_deinit(&b);
}

static void fill_rationed(void *user)
{
    fl_index index;
    size_t held = 0;

    (void)user;
    fl_index_init(&index, 100, name_of);
    for (size_t i = 0; i < 20; i++) {
        fl_status rc = fl_index_add(&index, &things[i]);
        assert_true(rc == FL_OK || rc == FL_E_NOMEM);
        held += rc == FL_OK;
        assert_ptr_equal(fl_index_get(&index, name_of(&things[i])),
                         rc == FL_OK ? &things[i] : NULL);
        assert_int_equal(fl_index_count(&index), held);
    }
    fl_index_deinit(&index);
}

static void test_index_without_memory_keeps_what_it_holds(void **state)
{
    (void)state;
    assert_int_equal(ration_each(fill_rationed, NULL), 3 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_index_gives_back_what_was_added),
        cmocka_unit_test(test_index_refuses_a_key_it_has),
        cmocka_unit_test(test_index_refuses_one_past_its_maximum),
        cmocka_unit_test(test_index_remove_of_what_is_not_there_is_null),
        cmocka_unit_test(test_index_matches_an_array_in_any_order),
        cmocka_unit_test(test_index_in_steady_state_allocates_nothing),
        cmocka_unit_test(test_index_grows_at_three_quarters),
        cmocka_unit_test(test_index_seeds_differ),
        cmocka_unit_test(test_index_without_memory_keeps_what_it_holds),
    };

    return cmocka_run_group_tests(tests, make_things, NULL);
}
