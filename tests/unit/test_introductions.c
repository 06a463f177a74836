/*
 * test_introductions.c - equal texts are one, different ones are not, and none
 * stays when the last that had it has gone.
 */
#include "server/introductions.h"

#include "base/siphash.h"
#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static fl_introduction *take(fl_introductions *all, fl_span text)
{
    fl_introduction *taken;

    assert_int_equal(fl_introductions_take(all, text, &taken), FL_OK);
    assert_true(fl_span_equal(fl_introduction_text(taken), text));
    return taken;
}

static fl_introduction *take_numbered(fl_introductions *all, size_t number)
{
    char text[64];
    int n = snprintf(text, sizeof text, "{\"client\":%zu}", number);

    return take(all, (fl_span){text, (size_t)n});
}

static void test_introductions_that_are_equal_are_one(void **state)
{
    fl_introductions all;
    char copy[] = "{\"a\":1}";

    (void)state;
    fl_introductions_init(&all);
    fl_introduction *first = take(&all, FL_SPAN("{\"a\":1}"));
    ration_reset();
    assert_ptr_equal(take(&all, fl_span_of(copy)), first);
    assert_int_equal(ration_count(), 0);
    fl_introduction *other = take(&all, FL_SPAN("{\"a\":2}"));
    assert_ptr_not_equal(other, first);
    fl_introduction_release(other);
    fl_introduction_release(first);
    fl_introduction_release(first);
    fl_introductions_deinit(&all);
}

static void test_introductions_may_be_empty(void **state)
{
    fl_introductions all;

    (void)state;
    fl_introductions_init(&all);
    fl_introduction *first = take(&all, (fl_span){0});
    assert_ptr_equal(take(&all, FL_SPAN("")), first);
    fl_introduction_release(first);
    fl_introduction_release(first);
    assert_null(fl_introduction_text(NULL).ptr);
    fl_introduction_release(NULL);
    fl_introductions_deinit(&all);
}

static void test_introductions_go_with_the_last_that_has_them(void **state)
{
    fl_introductions all;

    (void)state;
    ration_reset();
    ptrdiff_t before = ration_live_blocks();
    fl_introductions_init(&all);
    fl_introduction *first = take(&all, FL_SPAN("{}"));
    fl_introduction *again = take(&all, FL_SPAN("{}"));
    ptrdiff_t with = ration_live_blocks();
    fl_introduction_release(first);
    assert_int_equal(ration_live_blocks(), with);
    assert_true(fl_span_equal(fl_introduction_text(again), FL_SPAN("{}")));
    fl_introduction_release(again);
    assert_int_equal(ration_live_blocks(), with - 1);
    fl_introduction_release(take(&all, FL_SPAN("{}")));
    fl_introductions_deinit(&all);
    assert_int_equal(ration_live_blocks(), before);
}

static void test_introductions_outlive_their_table(void **state)
{
    fl_introductions all;

    (void)state;
    ration_reset();
    ptrdiff_t before = ration_live_blocks();
    fl_introductions_init(&all);
    fl_introduction *kept = take(&all, FL_SPAN("{\"kept\":true}"));
    fl_introductions_deinit(&all);
    memset(&all, 0xff, sizeof all);
    assert_true(
        fl_span_equal(fl_introduction_text(kept), FL_SPAN("{\"kept\":true}")));
    fl_introduction_release(kept);
    assert_int_equal(ration_live_blocks(), before);
}

static void test_introductions_past_the_table_are_not_shared(void **state)
{
    enum { MANY = FL_INTRODUCTIONS_SHARED + 1 };
    static fl_introduction *taken[MANY];
    fl_introductions all;

    (void)state;
    fl_introductions_init(&all);
    for (size_t i = 0; i < MANY; i++)
        taken[i] = take_numbered(&all, i);
    for (size_t i = 0; i < FL_INTRODUCTIONS_SHARED; i++) {
        assert_ptr_equal(take_numbered(&all, i), taken[i]);
        fl_introduction_release(taken[i]);
    }
    fl_introduction *own = take_numbered(&all, MANY - 1);
    assert_ptr_not_equal(own, taken[MANY - 1]);
    fl_introduction_release(own);
    fl_introduction_release(taken[0]); /* and there is room again */
    own = take_numbered(&all, MANY - 1);
    assert_ptr_equal(take_numbered(&all, MANY - 1), own);
    fl_introduction_release(own);
    fl_introduction_release(own);
    for (size_t i = 1; i < MANY; i++)
        fl_introduction_release(taken[i]);
    fl_introductions_deinit(&all);
}

/* A digest of two texts does not happen; here it does. */
static void test_introductions_of_one_digest_stay_apart(void **state)
{
    fl_introductions all;

    (void)state;
    fl_introductions_init(&all);
    fl_introduction *one = take(&all, FL_SPAN("one"));
    uint64_t digest = fl_siphash(all.seed, FL_SPAN("two"));
    fl_span key = {(const char *)&digest, sizeof digest};
    assert_int_equal(fl_map_add(&all.by_digest, key, one), FL_OK);

    fl_introduction *two = take(&all, FL_SPAN("two"));
    assert_ptr_not_equal(two, one);
    fl_introduction_release(two);
    assert_ptr_equal(fl_map_remove(&all.by_digest, key), one);
    fl_introduction_release(one);
    fl_introductions_deinit(&all);
}

static void test_introductions_have_a_greatest_length(void **state)
{
    fl_introductions all;
    fl_introduction *taken;
    char *text = malloc(FL_INTRODUCTION_MAX + 1);

    (void)state;
    assert_non_null(text);
    memset(text, ' ', FL_INTRODUCTION_MAX + 1);
    fl_introductions_init(&all);
    fl_introduction_release(take(&all, (fl_span){text, FL_INTRODUCTION_MAX}));
    assert_int_equal(
        fl_introductions_take(&all, (fl_span){text, FL_INTRODUCTION_MAX + 1},
                              &taken),
        FL_E_TOO_BIG);
    assert_null(taken);
    fl_introductions_deinit(&all);
    free(text);
}

static void take_two_rationed(void *user)
{
    fl_introductions all;
    fl_introduction *first, *second;

    (void)user;
    fl_introductions_init(&all);
    fl_status rc = fl_introductions_take(&all, FL_SPAN("{}"), &first);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    assert_true((rc == FL_OK) == (first != NULL));
    rc = fl_introductions_take(&all, FL_SPAN("{}"), &second);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    assert_true((rc == FL_OK) == (second != NULL));
    fl_introduction_release(first);
    fl_introduction_release(second);
    fl_introductions_deinit(&all);
}

static void test_introductions_survive_every_lack_of_memory(void **state)
{
    (void)state;
    /* the text and the table: what comes second has nothing to allocate */
    assert_int_equal(ration_each(take_two_rationed, NULL), 2 + 1);
}

static void test_introductions_that_do_not_fit_in_are_still_told(void **state)
{
    fl_introductions all;

    (void)state;
    fl_introductions_init(&all);
    ration_reset();
    ration_fail_at(2); /* the table */
    fl_introduction *own = take(&all, FL_SPAN("{}"));
    assert_true(ration_refused());
    ration_reset();
    fl_introduction *shared = take(&all, FL_SPAN("{}"));
    assert_ptr_not_equal(shared, own);
    assert_ptr_equal(take(&all, FL_SPAN("{}")), shared);
    fl_introduction_release(own);
    fl_introduction_release(shared);
    fl_introduction_release(shared);
    fl_introductions_deinit(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_introductions_that_are_equal_are_one),
        cmocka_unit_test(test_introductions_may_be_empty),
        cmocka_unit_test(test_introductions_go_with_the_last_that_has_them),
        cmocka_unit_test(test_introductions_outlive_their_table),
        cmocka_unit_test(test_introductions_past_the_table_are_not_shared),
        cmocka_unit_test(test_introductions_of_one_digest_stay_apart),
        cmocka_unit_test(test_introductions_have_a_greatest_length),
        cmocka_unit_test(test_introductions_survive_every_lack_of_memory),
        cmocka_unit_test(test_introductions_that_do_not_fit_in_are_still_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
