/*
 * test_gateway_canonical.c - two texts that mean the same are spelled the same.
 */
#include "gateway/canonical.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *const without[] = {"_meta", "requestState", NULL};

static void is(const char *json, const char *const *names, const char *wanted)
{
    fl_buf out;

    fl_buf_init(&out, 4096);
    assert_int_equal(fl_canonical_write(fl_span_of(json), names, &out), FL_OK);
    fl_span text = fl_buf_view(&out);
    assert_int_equal(text.len, strlen(wanted));
    assert_memory_equal(text.ptr != NULL ? text.ptr : "", wanted, text.len);
    fl_buf_reset(&out);
}

static void test_canonical_sorts_members_at_every_depth(void **state)
{
    (void)state;
    is("{ \"b\" : 1 , \"a\" : { \"d\" : [ 2 , { \"z\":0, \"y\":1 } ], \"c\":3 "
       "}}",
       NULL, "{\"a\":{\"c\":3,\"d\":[2,{\"y\":1,\"z\":0}]},\"b\":1}");
    is("{\"aa\":1,\"a\":2,\"\":3}", NULL, "{\"\":3,\"a\":2,\"aa\":1}");
}

static void test_canonical_keeps_elements_and_spellings(void **state)
{
    (void)state;
    is("[3, 1 ,2]", NULL, "[3,1,2]");
    is("{\"n\": 1.0e1, \"s\": \"a\\u0062  c\"}", NULL,
       "{\"n\":1.0e1,\"s\":\"a\\u0062  c\"}");
    is("\"text\"", NULL, "\"text\"");
    is("[]", NULL, "[]");
    is("{}", NULL, "{}");
    is("", NULL, "");
}

static void test_canonical_of_twins_keeps_their_order(void **state)
{
    (void)state;
    is("{\"a\":1,\"b\":0,\"a\":2}", NULL, "{\"a\":1,\"a\":2,\"b\":0}");
}

static void test_canonical_leaves_out_the_outermost_only(void **state)
{
    (void)state;
    is("{\"x\":{\"_meta\":1},\"_meta\":{},\"requestState\":\"s\"}", without,
       "{\"x\":{\"_meta\":1}}");
    is("{\"\\u005fmeta\":1}", without, "{}");
    is("[{\"_meta\":1}]", without, "[{\"_meta\":1}]");
}

static void test_canonical_takes_back_what_does_not_fit(void **state)
{
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 8);
    assert_int_equal(fl_buf_append(&out, FL_SPAN("x")), FL_OK);
    assert_int_equal(fl_canonical_write(FL_SPAN("{\"a\":12}"), NULL, &out),
                     FL_E_TOO_BIG);
    assert_int_equal(fl_buf_len(&out), 1);
    assert_int_equal(fl_canonical_write(FL_SPAN("{\"a\":1}"), NULL, &out),
                     FL_OK);
    fl_buf_reset(&out);
}

static void write_some(void *user)
{
    fl_buf out;

    (void)user;
    fl_buf_init(&out, 4096);
    fl_status rc = fl_canonical_write(
        FL_SPAN("{\"b\":{\"d\":1},\"a\":[{\"c\":2}]}"), NULL, &out);
    assert_int_equal(rc, ration_refused() ? FL_E_NOMEM : FL_OK);
    assert_true(rc == FL_OK || fl_buf_len(&out) == 0);
    fl_buf_reset(&out);
}

static void test_canonical_lives_with_little_memory(void **state)
{
    (void)state;
    assert_true(ration_each(write_some, NULL) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical_sorts_members_at_every_depth),
        cmocka_unit_test(test_canonical_keeps_elements_and_spellings),
        cmocka_unit_test(test_canonical_of_twins_keeps_their_order),
        cmocka_unit_test(test_canonical_leaves_out_the_outermost_only),
        cmocka_unit_test(test_canonical_takes_back_what_does_not_fit),
        cmocka_unit_test(test_canonical_lives_with_little_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
