/*
 * test_map.c - from bytes to a pointer, compared with an array too simple to
 * be wrong.
 */
#include "base/map.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int values[4096];

/* Where long and short keys meet: up to 24 bytes lie in the slot. */
static fl_span make_key(char *out, size_t size, size_t number)
{
    memset(out, 'k', size);
    snprintf(out, size, "%zu", number);
    return (fl_span){out, size};
}

static void test_map_gives_back_what_was_added(void **state)
{
    fl_map map;

    (void)state;
    fl_map_init(&map, 10);
    assert_null(fl_map_get(&map, FL_SPAN("a")));
    assert_int_equal(fl_map_add(&map, FL_SPAN("a"), &values[1]), FL_OK);
    assert_int_equal(fl_map_add(&map, FL_SPAN("b"), &values[2]), FL_OK);
    assert_ptr_equal(fl_map_get(&map, FL_SPAN("a")), &values[1]);
    assert_ptr_equal(fl_map_get(&map, FL_SPAN("b")), &values[2]);
    assert_null(fl_map_get(&map, FL_SPAN("c")));
    assert_int_equal(fl_map_count(&map), 2);
    fl_map_deinit(&map);
    assert_int_equal(fl_map_count(&map), 0);
}

static void test_map_key_may_be_empty_or_hold_nul(void **state)
{
    fl_map map;

    (void)state;
    fl_map_init(&map, 10);
    assert_int_equal(fl_map_add(&map, (fl_span){0}, &values[1]), FL_OK);
    assert_int_equal(fl_map_add(&map, FL_SPAN("\0"), &values[2]), FL_OK);
    assert_int_equal(fl_map_add(&map, FL_SPAN("\0\0"), &values[3]), FL_OK);
    assert_ptr_equal(fl_map_get(&map, FL_SPAN("")), &values[1]);
    assert_ptr_equal(fl_map_get(&map, FL_SPAN("\0")), &values[2]);
    assert_ptr_equal(fl_map_remove(&map, (fl_span){0}), &values[1]);
    assert_null(fl_map_get(&map, (fl_span){0}));
    fl_map_deinit(&map);
}

static void test_map_copies_keys_of_every_length(void **state)
{
    fl_map map;
    char key[64];

    (void)state;
    fl_map_init(&map, 100);
    for (size_t size = 1; size < sizeof key; size++)
        assert_int_equal(
            fl_map_add(&map, make_key(key, size, 7), &values[size]), FL_OK);
    for (size_t size = 1; size < sizeof key; size++)
        assert_ptr_equal(fl_map_get(&map, make_key(key, size, 7)),
                         &values[size]);
    for (size_t size = 1; size < sizeof key; size++)
        assert_ptr_equal(fl_map_remove(&map, make_key(key, size, 7)),
                         &values[size]);
    assert_int_equal(fl_map_count(&map), 0);
    fl_map_deinit(&map);
}

static void test_map_refuses_a_key_it_has(void **state)
{
    fl_map map;

    (void)state;
    fl_map_init(&map, 1);
    assert_int_equal(fl_map_add(&map, FL_SPAN("a"), &values[1]), FL_OK);
    assert_int_equal(fl_map_add(&map, FL_SPAN("a"), &values[2]), FL_E_IN_USE);
    assert_ptr_equal(fl_map_get(&map, FL_SPAN("a")), &values[1]);
    fl_map_deinit(&map);
}

static void test_map_refuses_one_past_its_maximum(void **state)
{
    enum { MAX = 50 };
    fl_map map;
    char key[32];

    (void)state;
    fl_map_init(&map, MAX);
    for (size_t i = 0; i < MAX; i++)
        assert_int_equal(fl_map_add(&map, make_key(key, 10, i), &values[i]),
                         FL_OK);
    assert_int_equal(fl_map_add(&map, make_key(key, 10, MAX), &values[0]),
                     FL_E_LIMIT);
    assert_non_null(fl_map_remove(&map, make_key(key, 10, 3)));
    assert_int_equal(fl_map_add(&map, make_key(key, 10, MAX), &values[0]),
                     FL_OK);
    assert_int_equal(fl_map_count(&map), MAX);
    fl_map_deinit(&map);
}

static void test_map_remove_of_what_is_not_there_is_null(void **state)
{
    fl_map map;

    (void)state;
    fl_map_init(&map, 10);
    assert_null(fl_map_remove(&map, FL_SPAN("a")));
    assert_int_equal(fl_map_add(&map, FL_SPAN("a"), &values[1]), FL_OK);
    assert_null(fl_map_remove(&map, FL_SPAN("b")));
    assert_int_equal(fl_map_count(&map), 1);
    fl_map_deinit(&map);
}

static void test_map_next_visits_every_entry_once(void **state)
{
    enum { COUNT = 300 };
    static int seen[COUNT];
    fl_map map;
    fl_span key;
    void *value;
    char text[40];
    size_t at = 0, visited = 0;

    (void)state;
    memset(seen, 0, sizeof seen);
    fl_map_init(&map, COUNT);
    assert_false(fl_map_next(&map, &at, &key, &value));
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(
            fl_map_add(&map, make_key(text, 10 + i % 30, i), &values[i]),
            FL_OK);
    for (at = 0; fl_map_next(&map, &at, &key, &value); visited++) {
        size_t i = (size_t)((int *)value - values);
        assert_in_range(i, 0, COUNT - 1);
        assert_int_equal(seen[i]++, 0);
        assert_true(fl_span_equal(key, make_key(text, 10 + i % 30, i)));
    }
    assert_int_equal(visited, COUNT);
    assert_null(key.ptr);
    assert_null(value);
    fl_map_deinit(&map);
}

/* Long runs of collisions come of their own in a small, full table: 6 of 8
 * slots. Wrong backward shifts lose entries here within a few rounds. */
static void test_map_matches_an_array_in_any_order(void **state)
{
    enum { KEYS = 40, ROUNDS = 200000 };
    void *mirror[KEYS] = {0};
    size_t count = 0;
    fl_map map;
    char text[48];

    (void)state;
    srand(11);
    fl_map_init(&map, KEYS);
    for (int round = 0; round < ROUNDS; round++) {
        /* keys of 4 and of 30 bytes; the range breathes, so tables of many
         * loads are met */
        size_t range = 4 + (size_t)(round / 1000) % (KEYS - 3);
        size_t i = (size_t)rand() % range;
        fl_span key = make_key(text, i % 2 == 0 ? 4 : 30, i);
        if (rand() % 2 == 0) {
            fl_status rc = fl_map_add(&map, key, &values[i]);
            assert_int_equal(rc, mirror[i] != NULL ? FL_E_IN_USE : FL_OK);
            count += mirror[i] == NULL;
            mirror[i] = &values[i];
        } else {
            assert_ptr_equal(fl_map_remove(&map, key), mirror[i]);
            count -= mirror[i] != NULL;
            mirror[i] = NULL;
        }
        assert_int_equal(fl_map_count(&map), count);
        size_t j = (size_t)rand() % KEYS;
        assert_ptr_equal(
            fl_map_get(&map, make_key(text, j % 2 == 0 ? 4 : 30, j)),
            mirror[j]);
    }
    fl_map_deinit(&map);
}

static void test_map_in_steady_state_allocates_nothing(void **state)
{
    fl_map map;
    char text[24];

    (void)state;
    fl_map_init(&map, 1000);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(
            fl_map_add(&map, make_key(text, sizeof text, i), &values[i]),
            FL_OK);
    ration_reset();
    ration_allow(0);
    for (size_t i = 100; i < 4000; i++) {
        assert_non_null(
            fl_map_remove(&map, make_key(text, sizeof text, i - 100)));
        assert_int_equal(
            fl_map_add(&map, make_key(text, sizeof text, i), &values[i]),
            FL_OK);
    }
    assert_false(ration_refused());
    assert_int_equal(ration_count(), 0);
    ration_reset();
    fl_map_deinit(&map);
}

static void test_map_key_of_25_bytes_is_the_first_on_the_heap(void **state)
{
    fl_map map;
    char text[25];

    (void)state;
    fl_map_init(&map, 10);
    assert_int_equal(fl_map_add(&map, FL_SPAN("first"), &values[1]), FL_OK);
    ration_reset();
    assert_int_equal(fl_map_add(&map, make_key(text, 24, 1), &values[2]),
                     FL_OK);
    assert_int_equal(ration_count(), 0);
    assert_int_equal(fl_map_add(&map, make_key(text, 25, 1), &values[3]),
                     FL_OK);
    assert_int_equal(ration_count(), 1);
    fl_map_deinit(&map);
}

static void test_map_grows_at_three_quarters(void **state)
{
    fl_map map;
    char text[8];

    (void)state;
    fl_map_init(&map, 100);
    ration_reset();
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(fl_map_add(&map, make_key(text, 8, i), &values[i]),
                         FL_OK);
    assert_int_equal(ration_count(), 1); /* 8 slots */
    assert_int_equal(fl_map_add(&map, make_key(text, 8, 6), &values[6]), FL_OK);
    assert_int_equal(ration_count(), 2); /* 16 */
    fl_map_deinit(&map);
}

static void test_map_seeds_differ(void **state)
{
    fl_map a, b;

    (void)state;
    fl_map_init(&a, 1);
    fl_map_init(&b, 1);
    assert_int_equal(fl_map_add(&a, FL_SPAN("a"), &values[1]), FL_OK);
    assert_int_equal(fl_map_add(&b, FL_SPAN("a"), &values[1]), FL_OK);
    assert_memory_not_equal(a.seed, b.seed, sizeof a.seed);
    fl_map_deinit(&a);
    fl_map_deinit(&b);
}

static void fill_rationed(void *user)
{
    fl_map map;
    char text[40];
    size_t held = 0;

    (void)user;
    fl_map_init(&map, 100);
    for (size_t i = 0; i < 20; i++) {
        fl_span key = make_key(text, i % 2 == 0 ? 10 : 40, i);
        fl_status rc = fl_map_add(&map, key, &values[i]);
        assert_true(rc == FL_OK || rc == FL_E_NOMEM);
        held += rc == FL_OK;
        assert_ptr_equal(fl_map_get(&map, key),
                         rc == FL_OK ? &values[i] : NULL);
        assert_int_equal(fl_map_count(&map), held);
    }
    fl_map_deinit(&map);
}

static void test_map_without_memory_keeps_what_it_holds(void **state)
{
    (void)state;
    assert_int_equal(ration_each(fill_rationed, NULL), 3 + 10 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map_gives_back_what_was_added),
        cmocka_unit_test(test_map_key_may_be_empty_or_hold_nul),
        cmocka_unit_test(test_map_copies_keys_of_every_length),
        cmocka_unit_test(test_map_refuses_a_key_it_has),
        cmocka_unit_test(test_map_refuses_one_past_its_maximum),
        cmocka_unit_test(test_map_remove_of_what_is_not_there_is_null),
        cmocka_unit_test(test_map_next_visits_every_entry_once),
        cmocka_unit_test(test_map_matches_an_array_in_any_order),
        cmocka_unit_test(test_map_in_steady_state_allocates_nothing),
        cmocka_unit_test(test_map_key_of_25_bytes_is_the_first_on_the_heap),
        cmocka_unit_test(test_map_grows_at_three_quarters),
        cmocka_unit_test(test_map_seeds_differ),
        cmocka_unit_test(test_map_without_memory_keeps_what_it_holds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
