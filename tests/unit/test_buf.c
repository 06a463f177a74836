/*
 * test_buf.c - bytes with a maximum: never past it, nothing lost on the way.
 */
#include "base/buf.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_holds(const fl_buf *buf, fl_span want)
{
    assert_true(fl_span_equal(fl_buf_view(buf), want));
    assert_int_equal(fl_buf_len(buf), want.len);
}

static void test_buf_is_born_empty_and_without_memory(void **state)
{
    fl_buf buf;

    (void)state;
    ration_reset();
    fl_buf_init(&buf, 10);
    assert_null(fl_buf_view(&buf).ptr);
    assert_int_equal(fl_buf_append(&buf, (fl_span){0}), FL_OK);
    assert_int_equal(ration_count(), 0);
    fl_buf_reset(&buf);
}

static void test_buf_append_keeps_order(void **state)
{
    fl_buf buf;

    (void)state;
    fl_buf_init(&buf, 100);
    assert_int_equal(fl_buf_append(&buf, FL_SPAN("ab")), FL_OK);
    assert_int_equal(fl_buf_append(&buf, FL_SPAN("")), FL_OK);
    assert_int_equal(fl_buf_append(&buf, FL_SPAN("cd")), FL_OK);
    assert_holds(&buf, FL_SPAN("abcd"));
    fl_buf_reset(&buf);
}

static void test_buf_refuses_one_past_its_maximum(void **state)
{
    fl_buf buf;

    (void)state;
    fl_buf_init(&buf, 4);
    assert_int_equal(fl_buf_append(&buf, FL_SPAN("abcde")), FL_E_TOO_BIG);
    assert_holds(&buf, (fl_span){0});
    assert_int_equal(fl_buf_append(&buf, FL_SPAN("abcd")), FL_OK);
    assert_int_equal(fl_buf_append(&buf, FL_SPAN("e")), FL_E_TOO_BIG);
    assert_null(fl_buf_reserve(&buf, 1));
    assert_holds(&buf, FL_SPAN("abcd"));
    fl_buf_consume(&buf, 1);
    assert_int_equal(fl_buf_append(&buf, FL_SPAN("e")), FL_OK);
    assert_holds(&buf, FL_SPAN("bcde"));
    fl_buf_reset(&buf);
}

static void test_buf_a_size_that_would_wrap_is_refused(void **state)
{
    fl_buf buf;

    (void)state;
    fl_buf_init(&buf, 100);
    assert_int_equal(fl_buf_append(&buf, FL_SPAN("ab")), FL_OK);
    assert_null(fl_buf_reserve(&buf, SIZE_MAX));
    assert_null(fl_buf_reserve(&buf, SIZE_MAX - 1));
    fl_buf_reset(&buf);
}

static void test_buf_grows_by_doubling_and_not_past_the_maximum(void **state)
{
    enum { MAX = 1000 };
    fl_buf buf;

    (void)state;
    ration_reset();
    fl_buf_init(&buf, MAX);
    for (size_t i = 0; i < MAX; i++)
        assert_int_equal(fl_buf_append(&buf, FL_SPAN("x")), FL_OK);
    assert_int_equal(ration_count(), 3); /* 256, 512, 1000 */
    assert_int_equal(ration_largest(), MAX);
    fl_buf_reset(&buf);
}

static void test_buf_what_is_large_gets_the_room_it_takes(void **state)
{
    enum { SIZE = 100001 };
    static const char text[SIZE];
    const fl_span parts[] = {FL_SPAN("{"), {text, SIZE - 2}, FL_SPAN("}")};
    fl_buf buf;

    (void)state;
    fl_buf_init(&buf, 10 * SIZE);
    ration_reset();
    assert_int_equal(fl_buf_append_all(&buf, parts, 3), FL_OK);
    assert_int_equal(ration_count(), 1);
    assert_int_equal(ration_largest(), SIZE);
    assert_int_equal(fl_buf_append(&buf, FL_SPAN("x")), FL_OK);
    assert_int_equal(ration_largest(), 2 * SIZE); /* it goes on, after all */
    fl_buf_reset(&buf);
}

static void test_buf_append_all_takes_everything_or_nothing(void **state)
{
    const fl_span parts[] = {FL_SPAN("one"), {0}, FL_SPAN(""), FL_SPAN("two")};
    fl_buf buf;

    (void)state;
    fl_buf_init(&buf, 8);
    ration_reset();
    assert_int_equal(fl_buf_append_all(&buf, NULL, 0), FL_OK);
    assert_int_equal(fl_buf_append_all(&buf, parts + 1, 2), FL_OK);
    assert_int_equal(ration_count(), 0);
    assert_int_equal(fl_buf_append_all(&buf, parts, 4), FL_OK);
    assert_holds(&buf, FL_SPAN("onetwo"));
    assert_int_equal(fl_buf_append_all(&buf, parts, 1), FL_E_TOO_BIG);
    assert_holds(&buf, FL_SPAN("onetwo"));
    fl_buf_consume(&buf, 1);
    assert_int_equal(fl_buf_append_all(&buf, parts, 1), FL_OK);
    assert_holds(&buf, FL_SPAN("netwoone"));
    fl_buf_reset(&buf);
}

static void
test_buf_filled_and_drained_in_turn_stays_in_its_memory(void **state)
{
    fl_buf buf;
    char chunk[100];

    (void)state;
    memset(chunk, 'x', sizeof chunk);
    fl_buf_init(&buf, 10000);
    ration_reset();
    for (int round = 0; round < 1000; round++) {
        assert_int_equal(fl_buf_append(&buf, (fl_span){chunk, sizeof chunk}),
                         FL_OK);
        if (round > 0)
            fl_buf_consume(&buf, sizeof chunk);
    }
    assert_int_equal(ration_count(), 1);
    assert_int_equal(fl_buf_len(&buf), sizeof chunk);
    fl_buf_reset(&buf);
}

static void test_buf_moving_down_keeps_the_bytes(void **state)
{
    fl_buf buf;
    char want[300];

    (void)state;
    for (size_t i = 0; i < sizeof want; i++)
        want[i] = (char)i;
    fl_buf_init(&buf, 256);
    assert_int_equal(fl_buf_append(&buf, (fl_span){want, 256}), FL_OK);
    fl_buf_consume(&buf, 44);
    assert_int_equal(fl_buf_append(&buf, (fl_span){want + 256, 44}), FL_OK);
    assert_holds(&buf, (fl_span){want + 44, 256});
    fl_buf_reset(&buf);
}

static void test_buf_reserve_counts_only_when_committed(void **state)
{
    fl_buf buf;

    (void)state;
    fl_buf_init(&buf, 10);
    char *room = fl_buf_reserve(&buf, 10);
    assert_non_null(room);
    memcpy(room, "0123456789", 10);
    assert_holds(&buf, (fl_span){0});
    fl_buf_commit(&buf, 3);
    assert_holds(&buf, FL_SPAN("012"));
    assert_null(fl_buf_reserve(&buf, 8));
    assert_non_null(fl_buf_reserve(&buf, 7));
    fl_buf_reset(&buf);
}

static void test_buf_reserve_of_nothing_is_not_a_failure(void **state)
{
    fl_buf buf;

    (void)state;
    fl_buf_init(&buf, 2);
    assert_non_null(fl_buf_reserve(&buf, 0));
    assert_int_equal(fl_buf_append(&buf, FL_SPAN("ab")), FL_OK);
    assert_non_null(fl_buf_reserve(&buf, 0));
    fl_buf_reset(&buf);
}

static void test_buf_consume_and_truncate_take_from_the_ends(void **state)
{
    fl_buf buf;

    (void)state;
    fl_buf_init(&buf, 10);
    assert_int_equal(fl_buf_append(&buf, FL_SPAN("abcdef")), FL_OK);
    fl_buf_consume(&buf, 2);
    fl_buf_truncate(&buf, 3);
    assert_holds(&buf, FL_SPAN("cde"));
    fl_buf_consume(&buf, 3);
    assert_int_equal(fl_buf_len(&buf), 0);
    fl_buf_reset(&buf);
}

static void test_buf_clear_keeps_the_memory_alone(void **state)
{
    fl_buf buf;

    (void)state;
    fl_buf_init(&buf, 100);
    fl_buf_clear(&buf);
    assert_int_equal(fl_buf_len(&buf), 0);
    assert_int_equal(fl_buf_append(&buf, FL_SPAN("0123456789")), FL_OK);
    fl_buf_consume(&buf, 3);
    const char *memory = buf.ptr;
    fl_buf_clear(&buf);
    assert_int_equal(fl_buf_len(&buf), 0);
    assert_ptr_equal(fl_buf_reserve(&buf, 100), memory);
    fl_buf_reset(&buf);
}

static void test_buf_printf_appends_text(void **state)
{
    fl_buf buf;

    (void)state;
    fl_buf_init(&buf, 600);
    assert_int_equal(fl_buf_append(&buf, FL_SPAN("id ")), FL_OK);
    assert_int_equal(fl_buf_printf(&buf, "%d %s", 42, "x"), FL_OK);
    assert_holds(&buf, FL_SPAN("id 42 x"));
    fl_buf_reset(&buf);
    assert_int_equal(fl_buf_printf(&buf, "%0600d", 7), FL_OK);
    assert_int_equal(fl_buf_len(&buf), 600);
    fl_buf_reset(&buf);
}

static void test_buf_printf_fills_to_the_maximum_and_no_further(void **state)
{
    fl_buf buf;

    (void)state;
    fl_buf_init(&buf, 5);
    assert_int_equal(fl_buf_printf(&buf, "%s", "abcdef"), FL_E_TOO_BIG);
    assert_int_equal(fl_buf_len(&buf), 0);
    assert_int_equal(fl_buf_printf(&buf, "%s", "abcde"), FL_OK);
    assert_holds(&buf, FL_SPAN("abcde"));
    assert_int_equal(fl_buf_printf(&buf, "%s", ""), FL_OK);
    assert_int_equal(fl_buf_printf(&buf, "%s", "f"), FL_E_TOO_BIG);
    assert_int_equal(fl_buf_append(&buf, FL_SPAN("f")), FL_E_TOO_BIG);
    fl_buf_reset(&buf);
}

static void test_buf_reset_keeps_the_maximum(void **state)
{
    fl_buf buf;
    ptrdiff_t before = ration_live_blocks();

    (void)state;
    fl_buf_init(&buf, 3);
    assert_int_equal(fl_buf_append(&buf, FL_SPAN("abc")), FL_OK);
    fl_buf_reset(&buf);
    assert_int_equal(ration_live_blocks(), before);
    assert_int_equal(fl_buf_append(&buf, FL_SPAN("abcd")), FL_E_TOO_BIG);
    assert_int_equal(fl_buf_append(&buf, FL_SPAN("abc")), FL_OK);
    fl_buf_reset(&buf);
}

static void fill_rationed(void *user)
{
    char chunk[200];
    fl_buf buf;
    size_t held = 0;

    (void)user;
    memset(chunk, 'x', sizeof chunk);
    fl_buf_init(&buf, 2400);
    for (int i = 0; i < 5; i++) {
        fl_status rc = fl_buf_append(&buf, (fl_span){chunk, sizeof chunk});
        assert_true(rc == FL_OK || rc == FL_E_NOMEM);
        held += rc == FL_OK ? sizeof chunk : 0;
        rc = fl_buf_printf(&buf, "%0100d", 1);
        assert_true(rc == FL_OK || rc == FL_E_NOMEM);
        held += rc == FL_OK ? 100 : 0;
        assert_int_equal(fl_buf_len(&buf), held);
    }
    const fl_span parts[] = {{chunk, sizeof chunk}, {chunk, sizeof chunk}};
    fl_status rc = fl_buf_append_all(&buf, parts, 2);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    held += rc == FL_OK ? 2 * sizeof chunk : 0;
    assert_int_equal(fl_buf_len(&buf), held);
    if (fl_buf_reserve(&buf, 500) == NULL)
        assert_true(ration_refused());
    fl_buf_reset(&buf);
}

static void test_buf_without_memory_keeps_what_it_holds(void **state)
{
    (void)state;
    assert_in_range(ration_each(fill_rationed, NULL), 3, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buf_is_born_empty_and_without_memory),
        cmocka_unit_test(test_buf_append_keeps_order),
        cmocka_unit_test(test_buf_refuses_one_past_its_maximum),
        cmocka_unit_test(test_buf_a_size_that_would_wrap_is_refused),
        cmocka_unit_test(test_buf_grows_by_doubling_and_not_past_the_maximum),
        cmocka_unit_test(test_buf_what_is_large_gets_the_room_it_takes),
        cmocka_unit_test(test_buf_append_all_takes_everything_or_nothing),
        cmocka_unit_test(
            test_buf_filled_and_drained_in_turn_stays_in_its_memory),
        cmocka_unit_test(test_buf_moving_down_keeps_the_bytes),
        cmocka_unit_test(test_buf_reserve_counts_only_when_committed),
        cmocka_unit_test(test_buf_reserve_of_nothing_is_not_a_failure),
        cmocka_unit_test(test_buf_consume_and_truncate_take_from_the_ends),
        cmocka_unit_test(test_buf_clear_keeps_the_memory_alone),
        cmocka_unit_test(test_buf_printf_appends_text),
        cmocka_unit_test(test_buf_printf_fills_to_the_maximum_and_no_further),
        cmocka_unit_test(test_buf_reset_keeps_the_maximum),
        cmocka_unit_test(test_buf_without_memory_keeps_what_it_holds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
