/*
 * test_field.c - fields by number and by name, their lists and their weights.
 */
#include "wire/field.h"

#include "base/span.h"
#include "support/ration.h"
#include "wire/bytes.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_field_finds_every_name_it_knows(void **state)
{
    (void)state;
    for (fl_field_id id = 1; id < FL_FIELD_COUNT; id++) {
        fl_span name = fl_field_name(id);
        char text[64];
        assert_true(name.len > 0 && name.len < sizeof text);
        assert_int_equal(fl_field_find(name), id);
        for (size_t i = 0; i < name.len; i++)
            text[i] = (char)toupper((unsigned char)name.ptr[i]);
        assert_int_equal(fl_field_find((fl_span){text, name.len}), id);
        assert_true(fl_field_name_equal((fl_span){text, name.len}, name));
    }
    assert_int_equal(fl_field_name(FL_FIELD_OTHER).len, 0);
}

/* Every other byte in every place of every name is another name. */
static void test_field_finds_nothing_else(void **state)
{
    (void)state;
    for (fl_field_id id = 1; id < FL_FIELD_COUNT; id++) {
        fl_span name = fl_field_name(id);
        char *text = malloc(name.len);
        assert_non_null(text);
        for (size_t at = 0; at < name.len; at++) {
            memcpy(text, name.ptr, name.len);
            for (int byte = 0; byte < 256; byte++) {
                text[at] = (char)byte;
                bool same = tolower(byte) == name.ptr[at];
                assert_int_equal(fl_field_find((fl_span){text, name.len}),
                                 same ? id : FL_FIELD_OTHER);
            }
        }
        assert_int_equal(fl_field_find((fl_span){name.ptr, name.len - 1}),
                         FL_FIELD_OTHER);
        free(text);
    }
    assert_int_equal(fl_field_find((fl_span){0}), FL_FIELD_OTHER);
    assert_int_equal(fl_field_find(FL_SPAN("x-unknown")), FL_FIELD_OTHER);
}

static void test_field_knows_which_are_single(void **state)
{
    (void)state;
    assert_true(fl_field_is_single(FL_FIELD_HOST));
    assert_true(fl_field_is_single(FL_FIELD_CONTENT_LENGTH));
    assert_false(fl_field_is_single(FL_FIELD_ACCEPT));
    assert_false(fl_field_is_single(FL_FIELD_OTHER));
}

static void test_field_names_are_tokens(void **state)
{
    const char *marks = "!#$%&'*+-.^_`|~";

    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        char c = (char)byte;
        bool token = (byte < 128 && isalnum(byte) != 0) ||
                     (byte != 0 && strchr(marks, byte) != NULL);
        assert_int_equal(fl_field_name_ok((fl_span){&c, 1}), token);
    }
    assert_false(fl_field_name_ok((fl_span){0}));
    assert_false(fl_field_name_ok(FL_SPAN("a b")));
}

/* Each byte at each place of a value long enough for every kind of step. */
static void test_field_values_have_no_controls(void **state)
{
    char text[37];

    (void)state;
    for (size_t at = 0; at < sizeof text; at++) {
        memset(text, 'v', sizeof text);
        for (int byte = 0; byte < 256; byte++) {
            text[at] = (char)byte;
            bool edge = at == 0 || at == sizeof text - 1;
            bool ok = byte >= 0x20 ? byte != 0x7f : byte == '\t';
            if (edge && (byte == ' ' || byte == '\t'))
                ok = false;
            assert_int_equal(fl_field_value_ok((fl_span){text, sizeof text}),
                             ok);
        }
    }
    assert_true(fl_field_value_ok((fl_span){0}));
}

static void test_bytes_searches_agree_with_the_single_byte(void **state)
{
    char text[40];

    (void)state;
    for (size_t at = 0; at < sizeof text; at++)
        for (int byte = 0; byte < 256; byte++) {
            memset(text, 'v', sizeof text);
            text[at] = (char)byte;
            size_t hidden = fl_bytes_is_visible((char)byte) ? sizeof text : at;
            size_t found = byte == ':' ? at : sizeof text;
            size_t control = fl_bytes_is_control((char)byte) ? at : sizeof text;
            assert_int_equal(fl_bytes_until_hidden(text, sizeof text), hidden);
            assert_int_equal(fl_bytes_until_control(text, sizeof text),
                             control);
            for (size_t len = at; len <= sizeof text; len++)
                assert_int_equal(fl_bytes_until_control(text, len),
                                 control < len ? control : len);
            assert_int_equal(fl_bytes_until(':', text, sizeof text), found);
        }
}

static void check_list(const char *text, const char *want)
{
    fl_span list = fl_span_of(text), element;
    char got[128] = "";
    size_t n = 0;

    while (fl_field_list_next(&list, &element))
        n += (size_t)snprintf(got + n, sizeof got - n, "[%.*s]",
                              (int)element.len, element.ptr);
    assert_int_equal(element.len, 0);
    assert_string_equal(got, want);
}

static void test_field_lists_are_cut_at_commas(void **state)
{
    (void)state;
    check_list("a, b ,c", "[a][b][c]");
    check_list("", "");
    check_list(" , ,\t,", "");
    check_list(",a,,b,", "[a][b]");
    check_list("a=\"b,c\", d", "[a=\"b,c\"][d]");
    check_list("a=\"b\\\",c\", d", "[a=\"b\\\",c\"][d]");
    check_list("a=\"b, c", "[a=\"b, c]");
    check_list("a=\"b\\", "[a=\"b\\]");
    assert_true(fl_field_list_has(FL_SPAN("x, Close"), FL_SPAN("close")));
    assert_false(fl_field_list_has(FL_SPAN("x, closed"), FL_SPAN("close")));
    assert_false(fl_field_list_has((fl_span){0}, FL_SPAN("close")));
}

static void test_field_media_types_lose_their_parameters(void **state)
{
    const fl_span json = FL_SPAN("application/json");

    (void)state;
    assert_true(fl_field_media_is(FL_SPAN("application/json"), json));
    assert_true(fl_field_media_is(FL_SPAN("Application/JSON ; a=b"), json));
    assert_true(fl_field_media_is(FL_SPAN("application/json;charset=x"), json));
    assert_true(fl_field_media_is(FL_SPAN(" \tapplication/json\t"), json));
    assert_true(fl_field_media_is(FL_SPAN("application/json;"), json));
    assert_false(fl_field_media_is(FL_SPAN("application/jsonx"), json));
    assert_false(fl_field_media_is(FL_SPAN("application/json x"), json));
    assert_false(fl_field_media_is(FL_SPAN("application/json, x"), json));
    assert_false(fl_field_media_is(FL_SPAN("application/jso"), json));
    assert_false(fl_field_media_is(FL_SPAN(";application/json"), json));
    assert_false(fl_field_media_is(FL_SPAN("\"application/json\""), json));
    assert_false(fl_field_media_is(FL_SPAN("text/json"), json));
    assert_false(fl_field_media_is((fl_span){0}, json));
}

static void test_field_quality_of_what_is_wanted(void **state)
{
    static const struct {
        const char *list, *wanted;
        unsigned quality;
    } cases[] = {
        {"application/json", "application/json", 1000},
        {"APPLICATION/json;q=0.5", "application/json", 500},
        {"text/event-stream", "application/json", 0},
        {"*/*", "application/json", 1000},
        {"application/*;q=0.25, */*", "application/json", 250},
        {"application/*, application/json;q=0", "application/json", 0},
        {"*/*;q=0.1, application/json ; q=0.333", "application/json", 333},
        {"text/*", "application/json", 0},
        {"applicationx/*", "application/json", 0},
        {"application/json;a=\"x;q=0\"", "application/json", 1000},
        {"application/json;q=1.000", "application/json", 1000},
        {"application/json;q=1.001", "application/json", 0},
        {"application/json;q=0.1234", "application/json", 0},
        {"application/json;q=", "application/json", 0},
        {"application/json;q=x", "application/json", 0},
        {"application/json;q=2", "application/json", 0},
        {"application/json;q=0.x", "application/json", 0},
        {"application/json;q=0.", "application/json", 0},
        {"", "application/json", 0},
        {"*", "application/json", 0},
        {"gzip, deflate", "gzip", 1000},
        {"*;q=0.5", "gzip", 500},
        {"*, gzip;q=0", "gzip", 0},
        {"*;q=0, gzip", "gzip", 1000},
        {"x-gzip", "gzip", 0},
        {"a;q=0.2, a;q=0.4", "a", 400},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(fl_field_quality(fl_span_of(cases[i].list),
                                          fl_span_of(cases[i].wanted)),
                         cases[i].quality);
}

static void test_fields_are_rendered_once(void **state)
{
    const fl_field fields[] = {
        {FL_SPAN("server"), FL_SPAN("x"), FL_FIELD_OTHER},
        {FL_SPAN("x-empty"), {0}, FL_FIELD_OTHER},
        FL_FIELD_SET(RETRY_AFTER, FL_SPAN("5")),
    };
    fl_fields set;

    (void)state;
    assert_int_equal(fl_fields_init(&set, fields, 3), FL_OK);
    assert_true(
        fl_span_equal(fl_buf_view(&set.text),
                      FL_SPAN("server: x\r\nx-empty: \r\nretry-after: 5\r\n")));
    assert_int_equal(set.count, 3);
    assert_true(fl_span_equal(set.fields[2].value, FL_SPAN("5")));
    assert_int_equal(set.fields[2].id, FL_FIELD_RETRY_AFTER);
    assert_int_equal(set.fields[1].value.len, 0);
    fl_fields_deinit(&set);
    assert_null(set.fields);

    assert_int_equal(fl_fields_init(&set, NULL, 0), FL_OK);
    assert_int_equal(fl_buf_len(&set.text), 0);
    fl_fields_deinit(&set);
}

static void test_fields_are_filled_again_in_the_same_memory(void **state)
{
    const fl_field long_one = {FL_SPAN("x-first"), FL_SPAN("a long value"),
                               FL_FIELD_OTHER};
    const fl_field short_ones[] = {
        {FL_SPAN("a"), FL_SPAN("1"), FL_FIELD_OTHER},
        {FL_SPAN("b"), FL_SPAN("2"), FL_FIELD_OTHER}};
    const fl_field bad = {FL_SPAN("a"), FL_SPAN("b\n"), FL_FIELD_OTHER};
    fl_fields set = {0};

    (void)state;
    assert_int_equal(fl_fields_fill(&set, short_ones, 2), FL_OK);
    fl_fields_clear(&set);
    assert_int_equal(fl_fields_fill(&set, &long_one, 1), FL_OK);
    assert_true(fl_span_equal(fl_buf_view(&set.text),
                              FL_SPAN("x-first: a long value\r\n")));
    fl_fields_clear(&set);
    ration_reset();
    assert_int_equal(fl_fields_fill(&set, short_ones, 2), FL_OK);
    assert_int_equal(ration_count(), 0);
    assert_int_equal(set.count, 2);
    assert_true(
        fl_span_equal(fl_buf_view(&set.text), FL_SPAN("a: 1\r\nb: 2\r\n")));
    assert_true(fl_span_equal(set.fields[1].value, FL_SPAN("2")));
    fl_fields_clear(&set);
    assert_int_equal(fl_fields_fill(&set, &bad, 1), FL_E_INVALID);
    assert_int_equal(set.count, 0);
    assert_int_equal(fl_buf_len(&set.text), 0);
    fl_fields_deinit(&set);
}

static void test_fields_may_have_a_value_replaced(void **state)
{
    const fl_field fields[] = {
        FL_FIELD_SET(DATE, FL_SPAN("monday")),
        {FL_SPAN("server"), FL_SPAN("x"), FL_FIELD_OTHER},
    };
    fl_fields set;

    (void)state;
    assert_int_equal(fl_fields_init(&set, fields, 2), FL_OK);
    fl_fields_replace(&set, 0, FL_SPAN("friday"));
    assert_true(fl_span_equal(set.fields[0].value, FL_SPAN("friday")));
    assert_true(fl_span_equal(fl_buf_view(&set.text),
                              FL_SPAN("date: friday\r\nserver: x\r\n")));
    fl_fields_deinit(&set);
}

static void test_field_ids_do_not_vouch_for_foreign_names(void **state)
{
    const fl_field lies[] = {
        {FL_SPAN("a\r\nb"), FL_SPAN("c"), FL_FIELD_ACCEPT},
        {FL_SPAN("content-length"), FL_SPAN("1"), FL_FIELD_ACCEPT},
        FL_FIELD_SET(CONTENT_LENGTH, FL_SPAN("1")),
        FL_FIELD_SET(HOST, FL_SPAN("h")),
        FL_FIELD_SET(ACCEPT, FL_SPAN("a\nb")),
    };
    const fl_field good = FL_FIELD_SET(ACCEPT, FL_SPAN("a"));

    (void)state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        assert_false(fl_field_may_send(&lies[i]));
    assert_true(fl_field_may_send(&good));
}

static void prepare(void *user)
{
    const fl_field field = {FL_SPAN("server"), FL_SPAN("x"), FL_FIELD_OTHER};
    const fl_field wider = {FL_SPAN("server"), FL_SPAN("xyz"), FL_FIELD_OTHER};
    fl_fields set;

    (void)user;
    fl_status rc = fl_fields_init(&set, &field, 1);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    fl_fields_clear(&set);
    rc = fl_fields_fill(&set, &wider, 1);
    assert_true(rc == FL_OK || (rc == FL_E_NOMEM && set.count == 0));
    fl_fields_deinit(&set);
}

static void test_fields_survive_the_want_of_memory(void **state)
{
    (void)state;
    assert_int_equal(ration_each(prepare, NULL), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_field_finds_every_name_it_knows),
        cmocka_unit_test(test_field_finds_nothing_else),
        cmocka_unit_test(test_field_knows_which_are_single),
        cmocka_unit_test(test_field_names_are_tokens),
        cmocka_unit_test(test_field_values_have_no_controls),
        cmocka_unit_test(test_bytes_searches_agree_with_the_single_byte),
        cmocka_unit_test(test_field_lists_are_cut_at_commas),
        cmocka_unit_test(test_field_media_types_lose_their_parameters),
        cmocka_unit_test(test_field_quality_of_what_is_wanted),
        cmocka_unit_test(test_fields_are_rendered_once),
        cmocka_unit_test(test_fields_are_filled_again_in_the_same_memory),
        cmocka_unit_test(test_fields_may_have_a_value_replaced),
        cmocka_unit_test(test_field_ids_do_not_vouch_for_foreign_names),
        cmocka_unit_test(test_fields_survive_the_want_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
