/*
 * test_gateway_leftovers.c - an errand that has ended is the next one, and
 * shows nothing of it.
 */
#include "gateway/leftovers.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 1000 };

static void read_message(const char *text, fl_msg *msg)
{
    fl_msg_fault fault;

    assert_int_equal(fl_msg_read(fl_span_of(text), msg, &fault), FL_OK);
}

static void test_leftovers_show_nothing_of_the_one_before(void **state)
{
    fl_leftovers leftovers;
    fl_msg msg;

    (void)state;
    fl_leftovers_init(&leftovers);
    read_message("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", &msg);
    for (int turn = 0; turn < 3; turn++) {
        fl_errand *errand = fl_leftovers_take(&leftovers);
        assert_non_null(errand);
        assert_null(errand->msg);
        assert_int_equal(errand->number, 0);
        assert_int_equal(errand->id.len, 0);
        assert_true(fl_list_empty(&errand->by_front));
        assert_true(fl_list_empty(&errand->by_back));
        assert_int_equal(fl_errand_keep(errand, &msg), FL_OK);
        assert_int_equal(errand->msg->text.len, msg.text.len);
        errand->number = 7;
        errand->id = errand->msg->id;
        fl_leftovers_give(&leftovers, errand);
    }
    fl_leftovers_deinit(&leftovers);
}

static void test_leftovers_are_bounded(void **state)
{
    static fl_errand *errands[MANY];
    fl_leftovers leftovers;

    (void)state;
    ration_reset();
    ptrdiff_t before = ration_live_bytes();
    fl_leftovers_init(&leftovers);
    for (size_t i = 0; i < MANY; i++) {
        errands[i] = fl_leftovers_take(&leftovers);
        assert_non_null(errands[i]);
    }
    for (size_t i = 0; i < MANY; i++)
        fl_leftovers_give(&leftovers, errands[i]);
    assert_true(ration_live_bytes() - before <= 128 * 1024);
    fl_leftovers_deinit(&leftovers);
    assert_int_equal(ration_live_bytes(), before);
}

/* One long message does not stay for ever. */
static void test_leftovers_let_go_of_long_messages(void **state)
{
    static const char start[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"";
    static char text[100 * 1024];
    fl_leftovers leftovers;
    fl_msg msg;

    (void)state;
    memset(text, ' ', sizeof text - 1);
    memcpy(text, start, sizeof start - 1);
    text[sizeof text - 2] = '}';
    read_message(text, &msg);
    ration_reset();
    ptrdiff_t before = ration_live_bytes();
    fl_leftovers_init(&leftovers);
    fl_errand *errand = fl_leftovers_take(&leftovers);
    assert_non_null(errand);
    assert_int_equal(fl_errand_keep(errand, &msg), FL_OK);
    assert_true(ration_live_bytes() - before > (ptrdiff_t)sizeof text);
    fl_leftovers_give(&leftovers, errand);
    assert_true(ration_live_bytes() - before < 8192);
    fl_leftovers_deinit(&leftovers);
}

static void take_and_keep(void *user)
{
    fl_leftovers leftovers;
    fl_msg msg;

    (void)user;
    read_message("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", &msg);
    fl_leftovers_init(&leftovers);
    fl_errand *errand = fl_leftovers_take(&leftovers);
    if (errand != NULL) {
        fl_status rc = fl_errand_keep(errand, &msg);
        assert_int_equal(rc, ration_refused() ? FL_E_NOMEM : FL_OK);
        assert_true((rc == FL_OK) == (errand->msg != NULL));
        fl_leftovers_give(&leftovers, errand);
    }
    fl_leftovers_deinit(&leftovers);
}

static void test_leftovers_live_with_little_memory(void **state)
{
    (void)state;
    assert_int_equal(ration_each(take_and_keep, NULL), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leftovers_show_nothing_of_the_one_before),
        cmocka_unit_test(test_leftovers_are_bounded),
        cmocka_unit_test(test_leftovers_let_go_of_long_messages),
        cmocka_unit_test(test_leftovers_live_with_little_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
