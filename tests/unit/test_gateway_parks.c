/*
 * test_gateway_parks.c - parked calls are found by their names, and so many are
 * one user's.
 */
#include "gateway/parks.h"

#include "base/span.h"
#include "gateway/questions.h"
#include "rpc/error.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Only their addresses are used. */
static char places[FL_PARKS_ENDED + FL_PARKS_OF_ONE];
static unsigned char ids[FL_PARKS_OF_ONE][FL_PARK_ID];
static const unsigned char alice[FL_SHA256] = "alice", bob[FL_SHA256] = "bob";

static fl_park *park(size_t n)
{
    return (fl_park *)(void *)&places[n];
}

static void test_parks_are_found_until_they_end(void **state)
{
    fl_parks *parks = fl_parks_new();
    fl_park_fault fault;

    (void)state;
    assert_non_null(parks);
    assert_int_equal(fl_parks_add(parks, park(0), alice, ids[0]), FL_OK);
    assert_int_equal(fl_parks_add(parks, park(1), bob, ids[1]), FL_OK);
    assert_ptr_equal(fl_parks_find(parks, ids[0], &fault), park(0));
    assert_int_equal(fault, FL_PARK_FINE);
    fl_parks_remove(parks, ids[0], alice, true);
    assert_null(fl_parks_find(parks, ids[0], &fault));
    assert_int_equal(fault, FL_PARK_REPLAYED);
    fl_parks_remove(parks, ids[1], bob, false);
    assert_null(fl_parks_find(parks, ids[1], &fault));
    assert_int_equal(fault, FL_PARK_LOST);
    fl_parks_free(parks);
}

static void test_parks_of_one_user_are_so_many(void **state)
{
    fl_parks *parks = fl_parks_new();
    unsigned char id[FL_PARK_ID];

    (void)state;
    for (size_t i = 0; i < FL_PARKS_OF_ONE; i++)
        assert_int_equal(fl_parks_add(parks, park(i), alice, ids[i]), FL_OK);
    assert_int_equal(fl_parks_add(parks, park(0), alice, id), FL_E_LIMIT);
    assert_int_equal(fl_parks_add(parks, park(0), bob, id), FL_OK);
    fl_parks_remove(parks, id, bob, true);
    fl_parks_remove(parks, ids[0], alice, true);
    assert_int_equal(fl_parks_add(parks, park(0), alice, ids[0]), FL_OK);
    assert_int_equal(fl_parks_add(parks, park(0), alice, id), FL_E_LIMIT);
    for (size_t i = 0; i < FL_PARKS_OF_ONE; i++)
        fl_parks_remove(parks, ids[i], alice, false);
    fl_parks_free(parks);
}

static void test_parks_remember_the_latest_that_ended(void **state)
{
    fl_parks *parks = fl_parks_new();
    unsigned char id[FL_PARK_ID];
    fl_park_fault fault;

    (void)state;
    for (size_t i = 0; i <= FL_PARKS_ENDED; i++) {
        assert_int_equal(fl_parks_add(parks, park(i), alice, id), FL_OK);
        if (i < 2)
            memcpy(ids[i], id, sizeof id);
        fl_parks_remove(parks, id, alice, true);
    }
    assert_null(fl_parks_find(parks, ids[0], &fault));
    assert_int_equal(fault, FL_PARK_LOST);
    assert_null(fl_parks_find(parks, ids[1], &fault));
    assert_int_equal(fault, FL_PARK_REPLAYED);
    fl_parks_free(parks);
}

static void come_and_go(void *user)
{
    fl_parks *parks = fl_parks_new();
    unsigned char id[FL_PARK_ID];

    (void)user;
    if (parks == NULL) {
        assert_true(ration_refused());
        return;
    }
    fl_status rc = fl_parks_add(parks, park(0), alice, id);
    assert_int_equal(rc, ration_refused() ? FL_E_NOMEM : FL_OK);
    if (rc == FL_OK)
        fl_parks_remove(parks, id, alice, true);
    fl_parks_free(parks);
}

static void test_parks_live_with_little_memory(void **state)
{
    (void)state;
    assert_true(ration_each(come_and_go, NULL) > 3);
}

static int judge(const char *capabilities, fl_method method, const char *params)
{
    return fl_question_judge(fl_span_of(capabilities), method,
                             fl_span_of(params));
}

static void test_questions_are_for_who_declared_them(void **state)
{
    (void)state;
    assert_int_equal(judge("{\"sampling\":{}}", FL_METHOD_SAMPLE, "{}"), 0);
    assert_int_equal(judge("{\"roots\":{}}", FL_METHOD_ROOTS_LIST, ""), 0);
    assert_int_equal(judge("{}", FL_METHOD_SAMPLE, "{}"),
                     FL_RPC_METHOD_NOT_FOUND);
    assert_int_equal(judge("", FL_METHOD_ROOTS_LIST, ""),
                     FL_RPC_METHOD_NOT_FOUND);
    assert_int_equal(judge("{\"sampling\":true}", FL_METHOD_SAMPLE, "{}"),
                     FL_RPC_METHOD_NOT_FOUND);
    assert_int_equal(judge("{\"sampling\":{}}", FL_METHOD_ELICIT, "{}"),
                     FL_RPC_METHOD_NOT_FOUND);
}

static void test_questions_are_of_declared_modes(void **state)
{
    static const char url[] = "{\"mode\":\"url\"}",
                      form[] = "{\"mode\":\"form\"}";
    static const char both[] = "{\"elicitation\":{\"form\":{},\"url\":{}}}";

    (void)state;
    assert_int_equal(judge("{\"elicitation\":{}}", FL_METHOD_ELICIT, "{}"), 0);
    assert_int_equal(judge("{\"elicitation\":{}}", FL_METHOD_ELICIT, form), 0);
    assert_int_equal(judge("{\"elicitation\":{}}", FL_METHOD_ELICIT, url),
                     FL_RPC_INVALID_PARAMS);
    assert_int_equal(judge(both, FL_METHOD_ELICIT, url), 0);
    assert_int_equal(judge(both, FL_METHOD_ELICIT, form), 0);
    assert_int_equal(
        judge("{\"elicitation\":{\"url\":{}}}", FL_METHOD_ELICIT, "{}"),
        FL_RPC_INVALID_PARAMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parks_are_found_until_they_end),
        cmocka_unit_test(test_parks_of_one_user_are_so_many),
        cmocka_unit_test(test_parks_remember_the_latest_that_ended),
        cmocka_unit_test(test_parks_live_with_little_memory),
        cmocka_unit_test(test_questions_are_for_who_declared_them),
        cmocka_unit_test(test_questions_are_of_declared_modes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
