/*
 * test_json_write.c - what is written is JSON, whatever one is given.
 */
#include "json/write.h"

#include "base/span.h"
#include "support/data.h"
#include "support/ration.h"
#include "json/nav.h"
#include "json/scan.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROOM = 4096 };

typedef struct desk {
    fl_buf out;
    fl_json_writer writer;
} desk;

static fl_json_writer *sit_down(desk *at)
{
    fl_buf_init(&at->out, ROOM);
    fl_json_writer_init(&at->writer, &at->out);
    return &at->writer;
}

static void require_written(desk *at, fl_span want)
{
    fl_json_top top;

    assert_int_equal(fl_json_writer_end(&at->writer), FL_OK);
    fl_span got = fl_buf_view(&at->out);
    if (!fl_span_equal(got, want))
        fail_msg("wrote %.*s, want %.*s", (int)got.len, got.ptr, (int)want.len,
                 want.ptr);
    assert_int_equal(fl_json_scan(got, 0, &top, NULL), FL_OK);
    fl_buf_reset(&at->out);
}

static void require_status(desk *at, fl_status want)
{
    assert_int_equal(fl_json_writer_end(&at->writer), want);
    assert_int_equal(fl_json_writer_end(&at->writer), want); /* stays so */
    fl_buf_reset(&at->out);
}

static void test_json_write_puts_the_commas(void **state)
{
    desk place;
    fl_json_writer *w = sit_down(&place);

    (void)state;
    fl_json_object(w);
    fl_json_key(w, "jsonrpc");
    fl_json_string(w, "2.0");
    fl_json_key(w, "id");
    fl_json_integer(w, -17);
    fl_json_key(w, "result");
    fl_json_array(w);
    fl_json_bool(w, true);
    fl_json_bool(w, false);
    fl_json_null(w);
    fl_json_number(w, 1.5);
    fl_json_raw(w, FL_SPAN("{\"raw\": 1}"));
    fl_json_array(w);
    fl_json_array_end(w);
    fl_json_object(w);
    fl_json_object_end(w);
    fl_json_array_end(w);
    fl_json_key(w, "");
    fl_json_text(w, (fl_span){0});
    fl_json_object_end(w);
    require_written(&place,
                    FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":-17,\"result\":[true,"
                            "false,null,1.5,{\"raw\": 1},[],{}],\"\":\"\"}"));
}

static void test_json_write_begins_each_container_anew(void **state)
{
    desk place;
    fl_json_writer *w = sit_down(&place);

    (void)state;
    fl_json_array(w);
    for (int i = 0; i < 2; i++) {
        fl_json_array(w);
        fl_json_integer(w, i);
        fl_json_integer(w, i);
        fl_json_array_end(w);
        fl_json_object(w);
        fl_json_key(w, "k");
        fl_json_integer(w, i);
        fl_json_object_end(w);
    }
    fl_json_array_end(w);
    require_written(&place, FL_SPAN("[[0,0],{\"k\":0},[1,1],{\"k\":1}]"));
}

static void require_text(fl_span text, fl_span want)
{
    desk place;

    fl_json_text(sit_down(&place), text);
    require_written(&place, want);
}

static void test_json_write_escapes_what_must_be(void **state)
{
    (void)state;
    require_text(FL_SPAN("plain"), FL_SPAN("\"plain\""));
    require_text(FL_SPAN("\"\\/\b\f\n\r\t"),
                 FL_SPAN("\"\\\"\\\\/\\b\\f\\n\\r\\t\""));
    require_text(FL_SPAN("\0\x01\x1f\x7f"),
                 FL_SPAN("\"\\u0000\\u0001\\u001f\x7f\""));
    require_text(FL_SPAN("\xc3\xa9\xe4\xb8\xad\xf0\x9d\x84\x9e"),
                 FL_SPAN("\"\xc3\xa9\xe4\xb8\xad\xf0\x9d\x84\x9e\""));
}

static void test_json_write_escapes_at_every_place(void **state)
{
    (void)state;
    for (size_t lead = 0; lead <= 40; lead++) {
        char text[64], want[64];
        memset(text, 'x', sizeof text);
        memset(want, 'x', sizeof want);
        text[lead] = '\n';
        want[0] = '"';
        memcpy(want + 1 + lead, "\\n", 2);
        want[lead + 12] = '"';
        require_text((fl_span){text, lead + 10}, (fl_span){want, lead + 13});
    }
}

static void test_json_write_replaces_what_is_not_text(void **state)
{
    fl_span file = data_load("json/utf8_vectors.json"), rest = file, vector;
    char bytes[512], want[2048];
    size_t count = 0;

    (void)state;
    while (data_next_object(&rest, &vector)) {
        desk place;
        fl_buf back;
        fl_span text = {
            bytes, data_unhex(data_member(vector, "hex"), bytes, sizeof bytes)};
        fl_span meant = {want,
                         data_unhex(data_member(vector, "replaced_utf8_hex"),
                                    want, sizeof want)};
        fl_buf_init(&back, ROOM);
        fl_json_text(sit_down(&place), text);
        assert_int_equal(fl_json_writer_end(&place.writer), FL_OK);
        assert_int_equal(fl_json_string_copy(fl_buf_view(&place.out), &back),
                         FL_OK);
        assert_true(fl_span_equal(fl_buf_view(&back), meant));
        fl_buf_reset(&back);
        fl_buf_reset(&place.out);
        count++;
    }
    data_free(file);
    assert_in_range(count, 1300, 100000);
}

static void require_number(double number, const char *want)
{
    desk place;
    double back;

    fl_json_number(sit_down(&place), number);
    if (isfinite(number)) {
        assert_int_equal(fl_json_double(fl_buf_view(&place.out), &back), FL_OK);
        assert_memory_equal(&back, &number, sizeof back);
    }
    require_written(&place, fl_span_of(want));
}

static void require_numbers(void)
{
    require_number(0, "0");
    require_number(-0.0, "-0");
    require_number(1, "1");
    require_number(-1, "-1");
    require_number(100, "100");
    require_number(1.5, "1.5");
    require_number(0.1, "0.1");
    require_number(0.1 + 0.2, "0.30000000000000004");
    require_number(1.0 / 3, "0.3333333333333333");
    require_number(123456.789, "123456.789");
    require_number(9007199254740993.0, "9007199254740992");
    require_number(1e20, "100000000000000000000");
    require_number(123456789012345680000.0, "123456789012345680000");
    require_number(1e21, "1e+21");
    require_number(1.25e22, "1.25e+22");
    require_number(0.000001, "0.000001");
    require_number(0.0000015, "0.0000015");
    require_number(0.0000001, "1e-7");
    require_number(-1.5e-10, "-1.5e-10");
    require_number(DBL_MAX, "1.7976931348623157e+308");
    require_number(DBL_MIN, "2.2250738585072014e-308");
    require_number(5e-324, "5e-324");
    require_number((double)NAN, "null");
    require_number((double)INFINITY, "null");
    require_number(-(double)INFINITY, "null");
}

static void test_json_write_finds_the_shortest_number(void **state)
{
    (void)state;
    require_numbers();
}

static void test_json_write_numbers_in_any_locale(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",  "fr_FR",
                                        "nl_NL.UTF-8", "ps_AF.UTF-8", "de_DE"};
    bool found = false;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!found) {
        fprintf(stderr,
                "SKIPPED: no locale with a decimal comma is installed\n");
        skip();
    }
    assert_string_not_equal(localeconv()->decimal_point, ".");
    require_numbers();
    setlocale(LC_NUMERIC, "C");
}

/* Any bits that are a finite number must read back the same. */
static void test_json_write_numbers_read_back(void **state)
{
    uint64_t bits = 0x9e3779b97f4a7c15u;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        double number, back;
        desk place;
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        memcpy(&number, &bits, sizeof number);
        if (!isfinite(number))
            continue;
        fl_json_number(sit_down(&place), number);
        assert_int_equal(fl_json_writer_end(&place.writer), FL_OK);
        assert_int_equal(fl_json_double(fl_buf_view(&place.out), &back), FL_OK);
        assert_memory_equal(&back, &number, sizeof back);
        fl_buf_reset(&place.out);
    }
}

static void require_integer(int64_t number, const char *want)
{
    desk place;

    fl_json_integer(sit_down(&place), number);
    require_written(&place, fl_span_of(want));
}

static void test_json_write_integers_to_the_ends(void **state)
{
    (void)state;
    require_integer(0, "0");
    require_integer(9, "9");
    require_integer(-10, "-10");
    require_integer(INT64_MAX, "9223372036854775807");
    require_integer(INT64_MIN, "-9223372036854775808");
}

/* `n` arrays in each other, closed again. */
static fl_status write_nested(desk *at, size_t n)
{
    fl_json_writer *w = sit_down(at);

    for (size_t i = 0; i < n; i++)
        fl_json_array(w);
    for (size_t i = 0; i < n; i++)
        fl_json_array_end(w);
    fl_status rc = fl_json_writer_end(w);
    fl_buf_reset(&at->out);
    return rc;
}

static void test_json_write_goes_as_deep_as_it_says(void **state)
{
    desk place;

    (void)state;
    assert_int_equal(write_nested(&place, FL_JSON_WRITE_DEPTH), FL_OK);
    assert_int_equal(write_nested(&place, FL_JSON_WRITE_DEPTH + 1),
                     FL_E_TOO_DEEP);
}

static void test_json_write_keeps_depths_apart(void **state)
{
    desk place;
    fl_json_writer *w = sit_down(&place);
    char want[1024];
    size_t len = 0;

    (void)state;
    for (int i = 0; i < FL_JSON_WRITE_DEPTH; i++) {
        if (i % 2 == 0) {
            fl_json_array(w);
        } else {
            fl_json_object(w);
            fl_json_key(w, "");
        }
        len +=
            (size_t)snprintf(want + len, 8, "%s", i % 2 == 0 ? "[" : "{\"\":");
    }
    fl_json_null(w);
    len += (size_t)snprintf(want + len, 8, "null");
    for (int i = FL_JSON_WRITE_DEPTH - 1; i >= 0; i--) {
        if (i % 2 == 0) {
            fl_json_integer(w, 1);
            fl_json_array_end(w);
        } else {
            fl_json_object_end(w);
        }
        len += (size_t)snprintf(want + len, 8, "%s", i % 2 == 0 ? ",1]" : "}");
    }
    require_written(&place, (fl_span){want, len});
}

static void test_json_write_refuses_what_would_not_be_json(void **state)
{
    desk place;
    fl_json_writer *w;

    (void)state;
    sit_down(&place);
    require_status(&place, FL_E_STATE); /* nothing */
    w = sit_down(&place);
    fl_json_null(w);
    fl_json_null(w); /* two values */
    require_status(&place, FL_E_STATE);
    w = sit_down(&place);
    fl_json_object(w);
    require_status(&place, FL_E_STATE); /* left open */
    w = sit_down(&place);
    fl_json_object(w);
    fl_json_null(w); /* no key */
    fl_json_object_end(w);
    require_status(&place, FL_E_STATE);
    w = sit_down(&place);
    fl_json_object(w);
    fl_json_key(w, "a");
    fl_json_object_end(w); /* no value */
    require_status(&place, FL_E_STATE);
    w = sit_down(&place);
    fl_json_object(w);
    fl_json_key(w, "a");
    fl_json_key(w, "b"); /* two keys */
    require_status(&place, FL_E_STATE);
    w = sit_down(&place);
    fl_json_array(w);
    fl_json_key(w, "a"); /* a key in an array */
    require_status(&place, FL_E_STATE);
    w = sit_down(&place);
    fl_json_key(w, "a"); /* a key in nothing */
    require_status(&place, FL_E_STATE);
    w = sit_down(&place);
    fl_json_array(w);
    fl_json_object_end(w); /* the wrong bracket */
    require_status(&place, FL_E_STATE);
    w = sit_down(&place);
    fl_json_array_end(w); /* one too many */
    require_status(&place, FL_E_STATE);
    w = sit_down(&place);
    fl_json_raw(w, (fl_span){0}); /* no value at all */
    require_status(&place, FL_E_INVALID);
}

static void write_sample(fl_json_writer *w)
{
    fl_json_object(w);
    fl_json_key(w, "text");
    fl_json_string(w, "a\nb\xff");
    fl_json_key(w, "list");
    fl_json_array(w);
    fl_json_number(w, 1e300);
    fl_json_number(w, 0.25);
    fl_json_array_end(w);
    fl_json_object_end(w);
}

static void test_json_write_remembers_the_buffer_was_full(void **state)
{
    fl_json_writer writer;
    fl_buf out;
    const size_t whole =
        strlen("{\"text\":\"a\\nb\xef\xbf\xbd\",\"list\":[1e+300,"
               "0.25]}");

    (void)state;
    for (size_t max = 1; max <= whole + 8; max++) {
        fl_buf_init(&out, max);
        fl_json_writer_init(&writer, &out);
        write_sample(&writer);
        fl_status rc = fl_json_writer_end(&writer);
        if (max < whole)
            assert_int_equal(rc, FL_E_TOO_BIG);
        else if (max > whole) /* printf wants room for its NUL on the way */
            assert_int_equal(rc, FL_OK);
        fl_buf_reset(&out);
    }
}

static void write_rationed(void *user)
{
    fl_json_writer writer;
    fl_buf out;

    (void)user;
    fl_buf_init(&out, ROOM);
    fl_json_writer_init(&writer, &out);
    write_sample(&writer);
    assert_int_equal(fl_json_writer_end(&writer),
                     ration_refused() ? FL_E_NOMEM : FL_OK);
    fl_buf_reset(&out);
}

static void test_json_write_remembers_memory_ran_out(void **state)
{
    (void)state;
    assert_in_range(ration_each(write_rationed, NULL), 2, 100);
}

static void test_json_write_knows_what_is_plain(void **state)
{
    static const struct {
        const char *text;
        bool plain;
    } cases[] = {
        {"", true},
        {"a/b {}[]:,'\x7f", true},
        {"J\xc3\xb6rg \xf0\x9f\x98\x80", true},
        {"sixty-four bytes and more, so that no kernel sees all of it at once",
         true},
        {"a\"", false},
        {"\\", false},
        {"\n", false},
        {"sixty-four bytes and more, so that no kernel sees all of it at "
         "once\x1f",
         false},
        {"\xc3", false},
        {"a\xff", false},
        {"\xed\xa0\x80", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (fl_json_is_plain(fl_span_of(cases[i].text)) != cases[i].plain)
            fail_msg("%s", cases[i].text);
    assert_true(fl_json_is_plain((fl_span){NULL, 0}));
    assert_false(fl_json_is_plain((fl_span){"a\0b", 3}));
}

static void test_json_write_sees_what_is_not_plain_anywhere(void **state)
{
    enum { LONG = 70 };
    char text[LONG];

    (void)state;
    memset(text, 'x', LONG);
    for (size_t len = 0; len <= LONG; len++) {
        assert_true(fl_json_is_plain((fl_span){text, len}));
        for (size_t at = 0; at < len; at++)
            for (const char *odd = "\"\\\x1f\xff"; *odd != '\0'; odd++) {
                text[at] = *odd;
                assert_false(fl_json_is_plain((fl_span){text, len}));
                text[at] = 'x';
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_write_puts_the_commas),
        cmocka_unit_test(test_json_write_begins_each_container_anew),
        cmocka_unit_test(test_json_write_escapes_what_must_be),
        cmocka_unit_test(test_json_write_knows_what_is_plain),
        cmocka_unit_test(test_json_write_sees_what_is_not_plain_anywhere),
        cmocka_unit_test(test_json_write_escapes_at_every_place),
        cmocka_unit_test(test_json_write_replaces_what_is_not_text),
        cmocka_unit_test(test_json_write_finds_the_shortest_number),
        cmocka_unit_test(test_json_write_numbers_in_any_locale),
        cmocka_unit_test(test_json_write_numbers_read_back),
        cmocka_unit_test(test_json_write_integers_to_the_ends),
        cmocka_unit_test(test_json_write_goes_as_deep_as_it_says),
        cmocka_unit_test(test_json_write_keeps_depths_apart),
        cmocka_unit_test(test_json_write_refuses_what_would_not_be_json),
        cmocka_unit_test(test_json_write_remembers_the_buffer_was_full),
        cmocka_unit_test(test_json_write_remembers_memory_ran_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
