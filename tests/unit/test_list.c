/*
 * test_list.c - a ring of nodes; one that is in no list points to itself.
 */
#include "base/list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct item {
    int number;
    fl_list node;
} item;

static void fill(fl_list *head, item *items, int count)
{
    fl_list_init(head);
    for (int i = 0; i < count; i++) {
        items[i].number = i;
        fl_list_append(head, &items[i].node);
    }
}

static int take_number(fl_list *head)
{
    fl_list *node = fl_list_take(head);

    return node != NULL ? FL_LIST_ENTRY(node, item, node)->number : -1;
}

static void test_list_gives_back_in_order(void **state)
{
    item items[3];
    fl_list head;

    (void)state;
    fill(&head, items, 3);
    assert_false(fl_list_empty(&head));
    assert_int_equal(take_number(&head), 0);
    assert_int_equal(take_number(&head), 1);
    assert_int_equal(take_number(&head), 2);
    assert_int_equal(take_number(&head), -1);
    assert_true(fl_list_empty(&head));
}

static void test_list_gives_what_was_prepended_first(void **state)
{
    item items[2], last = {.number = 7};
    fl_list head;

    (void)state;
    fill(&head, items, 2);
    fl_list_prepend(&head, &last.node);
    assert_int_equal(take_number(&head), 7);
    assert_int_equal(take_number(&head), 0);
    assert_int_equal(take_number(&head), 1);
    fl_list_prepend(&head, &last.node);
    assert_int_equal(take_number(&head), 7);
    assert_true(fl_list_empty(&head));
}

static void test_list_remove_takes_from_the_middle(void **state)
{
    item items[3];
    fl_list head;

    (void)state;
    fill(&head, items, 3);
    fl_list_remove(&items[1].node);
    assert_int_equal(take_number(&head), 0);
    assert_int_equal(take_number(&head), 2);
    assert_int_equal(take_number(&head), -1);
}

static void test_list_removing_twice_is_harmless(void **state)
{
    item items[2];
    fl_list head;

    (void)state;
    fill(&head, items, 2);
    fl_list_remove(&items[0].node);
    assert_true(fl_list_empty(&items[0].node));
    fl_list_remove(&items[0].node);
    assert_int_equal(take_number(&head), 1);
    assert_true(fl_list_empty(&head));
}

static void test_list_taken_node_is_in_no_list(void **state)
{
    item items[1];
    fl_list head;

    (void)state;
    fill(&head, items, 1);
    fl_list *node = fl_list_take(&head);
    assert_ptr_equal(node, &items[0].node);
    assert_true(fl_list_empty(node));
}

static void test_list_move_leaves_the_source_empty(void **state)
{
    item items[3], late = {.number = 9};
    fl_list from, to;

    (void)state;
    fill(&from, items, 3);
    fl_list_move(&to, &from);
    assert_true(fl_list_empty(&from));
    fl_list_append(&from, &late.node); /* comes while the others are walked */
    fl_list_remove(&items[1].node);    /* goes meanwhile */
    assert_int_equal(take_number(&to), 0);
    assert_int_equal(take_number(&to), 2);
    assert_int_equal(take_number(&to), -1);
    assert_int_equal(take_number(&from), 9);
}

static void test_list_move_of_an_empty_list_is_empty(void **state)
{
    fl_list from, to;

    (void)state;
    fl_list_init(&from);
    fl_list_move(&to, &from);
    assert_true(fl_list_empty(&to));
    assert_true(fl_list_empty(&from));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_gives_back_in_order),
        cmocka_unit_test(test_list_gives_what_was_prepended_first),
        cmocka_unit_test(test_list_remove_takes_from_the_middle),
        cmocka_unit_test(test_list_removing_twice_is_harmless),
        cmocka_unit_test(test_list_taken_node_is_in_no_list),
        cmocka_unit_test(test_list_move_leaves_the_source_empty),
        cmocka_unit_test(test_list_move_of_an_empty_list_is_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
