/*
 * test_writer.c - the public way to write JSON.
 */
#include "base/span.h"
#include "support/ration.h"

#include <fairlead/json.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define assert_json(writer, text)                                              \
    assert_true(fl_span_equal(fl_writer_json(writer), FL_SPAN(text)))

static void test_one_of_each(void **state)
{
    fl_writer *w = fl_writer_new();

    (void)state;
    fl_write_object(w, NULL);
    fl_write_string(w, "s", "a \"b\"\n\xc3\xa9");
    fl_write_text(w, "t", (fl_span){"abc", 2});
    fl_write_stringf(w, "f", "%d%%\t", 7);
    fl_write_number(w, "n", 21.5);
    fl_write_integer(w, "i", INT64_MIN);
    fl_write_bool(w, "b", true);
    fl_write_null(w, "0");
    fl_write_base64(w, "64", fl_text("hello"));
    fl_write_raw(w, "r", fl_text(" {\"x\" : [1]} "));
    fl_write_array(w, "a");
    fl_write_integer(w, NULL, 1);
    fl_write_object(w, NULL);
    fl_write_end(w);
    fl_write_end(w);
    assert_int_equal(fl_writer_json(w).len, 0); /* not yet */
    assert_int_equal(fl_writer_status(w), FL_E_STATE);
    fl_write_end(w);
    assert_int_equal(fl_writer_status(w), FL_OK);
    assert_json(w, "{\"s\":\"a \\\"b\\\"\\n\xc3\xa9\",\"t\":\"ab\","
                   "\"f\":\"7%\\t\",\"n\":21.5,\"i\":-9223372036854775808,"
                   "\"b\":true,\"0\":null,\"64\":\"aGVsbG8=\","
                   "\"r\":{\"x\" : [1]},\"a\":[1,{}]}");
    fl_writer_free(w);
}

static void test_what_has_no_value_is_null(void **state)
{
    fl_writer *w = fl_writer_new();

    (void)state;
    fl_write_array(w, NULL);
    fl_write_string(w, NULL, NULL);
    fl_write_text(w, NULL, (fl_span){0});
    fl_write_number(w, NULL, NAN);
    fl_write_string(w, NULL, "");
    fl_write_end(w);
    assert_json(w, "[null,null,null,\"\"]");
    fl_writer_free(w);
}

static void test_a_value_may_be_alone_and_another_follow(void **state)
{
    fl_writer *w = fl_writer_new();

    (void)state;
    fl_write_string(w, NULL, "alone");
    assert_json(w, "\"alone\"");
    fl_write_null(w, NULL);
    assert_int_equal(fl_writer_status(w), FL_E_STATE);
    fl_writer_restart(w);
    assert_int_equal(fl_writer_status(w), FL_E_STATE); /* nothing yet */
    fl_write_null(w, NULL);
    assert_json(w, "null");
    fl_writer_free(w);
}

static void write_no_key(fl_writer *w)
{
    fl_write_object(w, NULL);
    fl_write_null(w, NULL);
    fl_write_end(w);
}

static void write_key_in_array(fl_writer *w)
{
    fl_write_array(w, NULL);
    fl_write_null(w, "key");
    fl_write_end(w);
}

static void write_key_at_top(fl_writer *w)
{
    fl_write_bool(w, "key", true);
}

static void write_one_end_too_many(fl_writer *w)
{
    fl_write_array(w, NULL);
    fl_write_end(w);
    fl_write_end(w);
}

static void write_no_json(fl_writer *w)
{
    fl_write_raw(w, NULL, fl_text("{\"a\":}"));
}

static void write_nothing_raw(fl_writer *w)
{
    fl_write_raw(w, NULL, (fl_span){0});
}

static void test_what_would_be_no_json_is_none(void **state)
{
    static const struct {
        void (*write)(fl_writer *w);
        fl_status status;
    } cases[] = {
        {write_no_key, FL_E_STATE},     {write_key_in_array, FL_E_STATE},
        {write_key_at_top, FL_E_STATE}, {write_one_end_too_many, FL_E_STATE},
        {write_no_json, FL_E_BAD_JSON}, {write_nothing_raw, FL_E_BAD_JSON},
    };
    fl_writer *w = fl_writer_new();

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fl_writer_restart(w);
        cases[i].write(w);
        assert_int_equal(fl_writer_status(w), cases[i].status);
        assert_int_equal(fl_writer_json(w).len, 0);
        fl_write_null(w, NULL); /* makes it no better */
        assert_int_equal(fl_writer_status(w), cases[i].status);
    }
    fl_writer_free(w);
}

static void test_sixty_four_levels_and_no_more(void **state)
{
    fl_writer *w = fl_writer_new();

    (void)state;
    for (int more = 0; more < 2; more++) {
        fl_writer_restart(w);
        for (int i = 0; i < 64 + more; i++)
            fl_write_array(w, NULL);
        for (int i = 0; i < 64 + more; i++)
            fl_write_end(w);
        assert_int_equal(fl_writer_status(w),
                         more == 0 ? FL_OK : FL_E_TOO_DEEP);
    }
    fl_writer_free(w);
}

static void write_all(fl_writer *w)
{
    fl_write_object(w, NULL);
    fl_write_stringf(w, "f", "%s and %s", "one", "another");
    fl_write_string(w, "s", "some text");
    fl_write_array(w, "a");
    fl_write_base64(w, NULL, fl_text("bytes"));
    fl_write_raw(w, NULL, fl_text("{}"));
    fl_write_number(w, NULL, 1);
    fl_write_integer(w, NULL, 1);
    fl_write_bool(w, NULL, false);
    fl_write_end(w);
    fl_write_end(w);
}

/* Without a writer, too, since that is what no memory gives. */
static void test_every_allocation_may_fail(void **state)
{
    fl_status rc = FL_E_NOMEM;

    (void)state;
    for (size_t allowed = 0; rc != FL_OK; allowed++) {
        ration_allow(allowed);
        fl_writer *w = fl_writer_new();
        write_all(w);
        fl_writer_restart(w);
        write_all(w);
        rc = fl_writer_status(w);
        assert_int_equal(fl_writer_json(w).len > 0, rc == FL_OK);
        assert_true(rc == FL_OK || rc == FL_E_NOMEM);
        fl_writer_free(w);
        ration_reset();
        assert_true(allowed < 100);
    }
}

static void test_text_of_a_string(void **state)
{
    (void)state;
    assert_true(fl_span_equal(fl_text("ahoy"), FL_SPAN("ahoy")));
    assert_int_equal(fl_text("").len, 0);
    assert_null(fl_text(NULL).ptr);
    assert_int_equal(fl_text(NULL).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_of_each),
        cmocka_unit_test(test_what_has_no_value_is_null),
        cmocka_unit_test(test_a_value_may_be_alone_and_another_follow),
        cmocka_unit_test(test_what_would_be_no_json_is_none),
        cmocka_unit_test(test_sixty_four_levels_and_no_more),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_text_of_a_string),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
