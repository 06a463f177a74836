/*
 * test_turns.c - turns by weight: exact shares, smooth, and the same each time.
 */
#include "guard/turns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 65 };

/* The turns as letters. */
static const char *take(fl_turn *turns, size_t count, size_t times)
{
    static char text[256];
    fl_turn *all[MOST];

    assert_true(times < sizeof text && count <= MOST);
    for (size_t i = 0; i < count; i++)
        all[i] = &turns[i];
    for (size_t i = 0; i < times; i++)
        text[i] = (char)('a' + fl_turns_next(all, count));
    text[times] = '\0';
    return text;
}

static void test_turns_of_one_are_its_own(void **state)
{
    fl_turn turns[] = {{.weight = 7}};

    (void)state;
    assert_string_equal(take(turns, 1, 3), "aaa");
    assert_int_equal(turns[0].credit, 0);
}

static void test_turns_of_equals_go_round(void **state)
{
    fl_turn turns[] = {{.weight = 1}, {.weight = 1}, {.weight = 1}};

    (void)state;
    assert_string_equal(take(turns, 3, 7), "abcabca");
}

static void test_turns_are_smooth(void **state)
{
    fl_turn turns[] = {{.weight = 5}, {.weight = 1}, {.weight = 1}};

    (void)state;
    assert_string_equal(take(turns, 3, 14), "aabacaaaabacaa");
}

static void test_turns_without_a_weight_count_as_one(void **state)
{
    fl_turn turns[] = {{0}, {.weight = 3}};

    (void)state;
    assert_string_equal(take(turns, 2, 8), "babbbabb");
}

static void test_turns_are_exact_shares(void **state)
{
    fl_turn turns[MOST];
    unsigned count[MOST] = {0}, total = 0;
    fl_turn *all[MOST];

    (void)state;
    for (unsigned i = 0; i < MOST; i++) {
        turns[i] = (fl_turn){.weight = i == 0 ? 1000 : i};
        all[i] = &turns[i];
        total += turns[i].weight;
    }
    for (unsigned i = 0; i < total; i++)
        count[fl_turns_next(all, MOST)]++;
    for (unsigned i = 0; i < MOST; i++) {
        assert_int_equal(count[i], turns[i].weight);
        assert_int_equal(turns[i].credit, 0);
    }
}

static void test_turns_of_who_was_away_are_not_made_up_for(void **state)
{
    fl_turn turns[] = {{.weight = 1}, {.weight = 1}};

    (void)state;
    assert_string_equal(take(turns, 2, 2), "ab");
    assert_string_equal(take(turns, 1, 5), "aaaaa"); /* b is away */
    assert_string_equal(take(turns, 2, 4), "abab");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns_of_one_are_its_own),
        cmocka_unit_test(test_turns_of_equals_go_round),
        cmocka_unit_test(test_turns_are_smooth),
        cmocka_unit_test(test_turns_without_a_weight_count_as_one),
        cmocka_unit_test(test_turns_are_exact_shares),
        cmocka_unit_test(test_turns_of_who_was_away_are_not_made_up_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
