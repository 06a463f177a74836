/*
 * test_utf8.c - is this text? Against vectors, and against every code point.
 */
#include "base/utf8.h"

#include "base/span.h"
#include "support/data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* In an exact heap block, so that a sanitizer sees a look past the end; and
 * behind ASCII of every length up to two words, for the fast path. */
static size_t prefix_behind(size_t lead, fl_span text)
{
    size_t size = lead + text.len;
    char *copy = malloc(size > 0 ? size : 1);

    assert_non_null(copy);
    memset(copy, 'a', lead);
    memcpy(copy + lead, text.ptr, text.len);
    size_t prefix = fl_utf8_valid_prefix((fl_span){copy, size});
    assert_int_equal(fl_utf8_valid((fl_span){copy, size}), prefix == size);
    free(copy);
    return prefix;
}

/* The vectors tell the octet at which a reader of single octets must fail; all
 * before it is well-formed. What counts as valid are the whole characters. */
static size_t count_whole(fl_span bytes, size_t fail_at)
{
    size_t at = 0;

    while (at < fail_at) {
        unsigned char first = (unsigned char)bytes.ptr[at];
        size_t len = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
        if (at + len > fail_at)
            break;
        at += len;
    }
    return at;
}

static void test_utf8_agrees_with_the_vectors(void **state)
{
    fl_span file = data_load("json/utf8_vectors.json"), rest = file, vector;
    size_t count = 0, refused = 0;
    char bytes[4096];

    (void)state;
    while (data_next_object(&rest, &vector)) {
        fl_span text = {
            bytes, data_unhex(data_member(vector, "hex"), bytes, sizeof bytes)};
        bool valid =
            fl_span_equal(data_member(vector, "valid"), FL_SPAN("true"));
        size_t good = text.len;
        if (!valid) /* the number ends at a comma, well inside the file */
            good = count_whole(
                text,
                strtoul(data_member(vector, "fail_fast_at").ptr, NULL, 10));
        for (size_t lead = 0; lead <= 17; lead++)
            if (prefix_behind(lead, text) != lead + good) {
                fl_span name = data_member(vector, "name");
                fail_msg("%.*s: behind %zu bytes %zu are valid, want %zu",
                         (int)name.len, name.ptr, lead,
                         prefix_behind(lead, text), lead + good);
            }
        count++;
        refused += !valid;
    }
    data_free(file);
    assert_in_range(count, 1000, 100000);
    assert_in_range(refused, 20, count);
}

static void test_utf8_every_code_point_is_valid_but_surrogates(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        char bytes[4];
        size_t len = fl_utf8_encode(code, bytes);
        bool surrogate = code >= 0xd800 && code <= 0xdfff;
        assert_int_equal(len, code < 0x80      ? 1
                              : code < 0x800   ? 2
                              : code < 0x10000 ? 3
                                               : 4);
        if (fl_utf8_valid((fl_span){bytes, len}) == surrogate)
            fail_msg("U+%04X", (unsigned)code);
        if (!surrogate && fl_utf8_valid_prefix((fl_span){bytes, len - 1}) !=
                              (len > 1 ? 0u : len - 1))
            fail_msg("U+%04X cut short", (unsigned)code);
    }
}

/* Every one of the 2^16 pairs against the ranges of table 3-7, written out. */
static void test_utf8_pairs_are_valid_by_the_table(void **state)
{
    (void)state;
    for (unsigned a = 0; a < 256; a++)
        for (unsigned b = 0; b < 256; b++) {
            char pair[2] = {(char)a, (char)b};
            bool want = (a < 0x80 && b < 0x80) ||
                        (a >= 0xc2 && a <= 0xdf && b >= 0x80 && b <= 0xbf);
            if (fl_utf8_valid((fl_span){pair, 2}) != want)
                fail_msg("%02x %02x", a, b);
        }
}

static void test_utf8_nothing_past_the_last_code_point(void **state)
{
    (void)state;
    assert_true(fl_utf8_valid(FL_SPAN("\xf4\x8f\xbf\xbf")));
    assert_false(fl_utf8_valid(FL_SPAN("\xf4\x90\x80\x80")));
    assert_false(fl_utf8_valid(FL_SPAN("\xf5\x80\x80\x80")));
}

static void test_utf8_nothing_is_text(void **state)
{
    (void)state;
    assert_true(fl_utf8_valid((fl_span){0}));
    assert_int_equal(fl_utf8_valid_prefix((fl_span){0}), 0);
    assert_true(fl_utf8_valid(FL_SPAN("\0")));
}

/* Where a reader of single octets fails: the first that no text could go on
 * with, found by trying what could follow; len + 1 when there is none. */
static bool could_go_on(const char *bytes, size_t len, size_t more)
{
    static const unsigned char tails[] = {0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf};
    char text[16];

    if (fl_utf8_valid((fl_span){bytes, len}))
        return true;
    for (size_t i = 0; more > 0 && i < sizeof tails; i++) {
        memcpy(text, bytes, len);
        text[len] = (char)tails[i];
        if (could_go_on(text, len + 1, more - 1))
            return true;
    }
    return false;
}

static size_t first_impossible(fl_span text)
{
    for (size_t n = 1; n <= text.len; n++)
        if (!could_go_on(text.ptr, n, 3))
            return n;
    return text.len + 1;
}

/* In pieces of `step` after a first one of `first`; says which octet was the
 * last of the piece that failed. */
static size_t feed(fl_span text, size_t first, size_t step, bool *whole)
{
    fl_utf8_state state = {0};

    for (size_t at = 0; at < text.len;) {
        size_t n = at == 0 && first > 0 ? first : step;
        n = n < text.len - at ? n : text.len - at;
        char *copy = malloc(n);
        assert_non_null(copy);
        memcpy(copy, text.ptr + at, n);
        bool good = fl_utf8_next(&state, (fl_span){copy, n});
        free(copy);
        at += n;
        if (!good)
            return at;
    }
    *whole = fl_utf8_whole(&state);
    return text.len + 1;
}

static void feed_all_ways(fl_span text, size_t bad)
{
    for (size_t first = 0; first <= text.len; first++)
        for (size_t step = 1; step <= text.len; step++) {
            bool whole = false;
            size_t failed = feed(text, first, step, &whole);
            if (bad > text.len) {
                assert_int_equal(failed, bad);
                assert_int_equal(whole, fl_utf8_valid(text));
            } else if (failed < bad ||
                       (step == 1 && first == 0 && failed != bad)) {
                fail_msg("failed at %zu, want %zu", failed, bad);
            } else {
                assert_in_range(failed, bad, text.len);
            }
        }
}

/* The bytes at which the ranges of table 3-7 begin and end, four at a time. */
static void test_utf8_in_pieces_fails_at_the_first_impossible_byte(void **state)
{
    static const unsigned char edges[] = {
        0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2,
        0xdf, 0xe0, 0xec, 0xed, 0xee, 0xf0, 0xf1, 0xf4, 0xf5,
    };
    size_t n = sizeof edges, refused = 0;

    (void)state;
    for (size_t i = 0; i < n * n * n * n; i++) {
        char text[4] = {(char)edges[i % n], (char)edges[i / n % n],
                        (char)edges[i / n / n % n], (char)edges[i / n / n / n]};
        fl_span span = {text, 4};
        bool whole;
        size_t bad = first_impossible(span);
        if (feed(span, 0, 1, &whole) != bad)
            fail_msg("%02x %02x %02x %02x: want %zu", text[0] & 0xff,
                     text[1] & 0xff, text[2] & 0xff, text[3] & 0xff, bad);
        if (i % 17 == 0)
            feed_all_ways(span, bad);
        refused += bad <= 4;
    }
    assert_in_range(refused, n * n, n * n * n * n - n);
}

static void test_utf8_in_pieces_agrees_with_the_vectors(void **state)
{
    fl_span file = data_load("json/utf8_vectors.json"), rest = file, vector;
    size_t count = 0;
    char bytes[4096];

    (void)state;
    while (data_next_object(&rest, &vector)) {
        fl_span text = {
            bytes, data_unhex(data_member(vector, "hex"), bytes, sizeof bytes)};
        bool valid =
            fl_span_equal(data_member(vector, "valid"), FL_SPAN("true"));
        size_t bad = text.len + 1;
        if (!valid)
            bad =
                1 + strtoul(data_member(vector, "fail_fast_at").ptr, NULL, 10);
        bool whole = false;
        size_t failed = feed(text, 0, 1, &whole);
        if (valid)
            assert_true(whole);
        if (failed != bad && (failed <= text.len || whole)) {
            fl_span name = data_member(vector, "name");
            fail_msg("%.*s: failed at %zu, want %zu", (int)name.len, name.ptr,
                     failed, bad);
        }
        count++;
    }
    data_free(file);
    assert_in_range(count, 1000, 100000);
}

static void test_utf8_in_pieces_is_as_in_one(void **state)
{
    static const char text[] = "plain, \xc3\xa9t\xc3\xa9, \xe2\x82\xac, "
                               "\xf0\x9f\x98\x80 and so on for a while";

    (void)state;
    feed_all_ways((fl_span){text, sizeof text - 1}, sizeof text);
    feed_all_ways((fl_span){text, 22}, 23); /* in the middle of a character */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utf8_agrees_with_the_vectors),
        cmocka_unit_test(test_utf8_every_code_point_is_valid_but_surrogates),
        cmocka_unit_test(test_utf8_pairs_are_valid_by_the_table),
        cmocka_unit_test(test_utf8_nothing_past_the_last_code_point),
        cmocka_unit_test(test_utf8_nothing_is_text),
        cmocka_unit_test(
            test_utf8_in_pieces_fails_at_the_first_impossible_byte),
        cmocka_unit_test(test_utf8_in_pieces_agrees_with_the_vectors),
        cmocka_unit_test(test_utf8_in_pieces_is_as_in_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
