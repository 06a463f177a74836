/*
 * test_base64.c - one spelling for every string of bytes, and no other.
 */
#include "base/base64.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* RFC 4648 section 10, and the two characters it does not show. */
static const struct {
    fl_span bytes, text;
} pairs[] = {
    {{"", 0}, {"", 0}},
    {{"f", 1}, {"Zg==", 4}},
    {{"fo", 2}, {"Zm8=", 4}},
    {{"foo", 3}, {"Zm9v", 4}},
    {{"foob", 4}, {"Zm9vYg==", 8}},
    {{"fooba", 5}, {"Zm9vYmE=", 8}},
    {{"foobar", 6}, {"Zm9vYmFy", 8}},
    {{"\xfb\xff\xbf", 3}, {"+/+/", 4}},
    {{"\0\0\0", 3}, {"AAAA", 4}},
    {{"\0", 1}, {"AA==", 4}},
};

static void test_base64_goes_both_ways(void **state)
{
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 100);
    for (size_t i = 0; i < COUNT(pairs); i++) {
        assert_int_equal(fl_base64_encode(pairs[i].bytes, &out), FL_OK);
        assert_true(fl_span_equal(fl_buf_view(&out), pairs[i].text));
        fl_buf_truncate(&out, 0);
        assert_int_equal(fl_base64_decode(pairs[i].text, &out), FL_OK);
        assert_true(fl_span_equal(fl_buf_view(&out), pairs[i].bytes));
        fl_buf_truncate(&out, 0);
    }
    fl_buf_reset(&out);
}

static void test_base64_is_put_where_there_is_room(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        char text[9] = "????????";
        fl_base64_put(pairs[i].bytes, text);
        assert_memory_equal(text, pairs[i].text.ptr, pairs[i].text.len);
        assert_int_equal(text[pairs[i].text.len],
                         pairs[i].text.len < 8 ? '?' : '\0');
    }
}

static void test_base64_keeps_every_byte(void **state)
{
    unsigned char all[256];
    fl_buf text, bytes;

    (void)state;
    fl_buf_init(&text, 1000);
    fl_buf_init(&bytes, 1000);
    for (size_t len = 0; len <= sizeof all; len++) {
        for (size_t i = 0; i < len; i++)
            all[i] = (unsigned char)(i * 7 + len);
        fl_span given = {(const char *)all, len};
        assert_int_equal(fl_base64_encode(given, &text), FL_OK);
        assert_int_equal(fl_buf_len(&text), (len + 2) / 3 * 4);
        assert_int_equal(fl_base64_decode(fl_buf_view(&text), &bytes), FL_OK);
        assert_true(fl_span_equal(fl_buf_view(&bytes), given));
        fl_buf_truncate(&text, 0);
        fl_buf_truncate(&bytes, 0);
    }
    fl_buf_reset(&text);
    fl_buf_reset(&bytes);
}

static void test_base64_takes_no_other_spelling(void **state)
{
    static const fl_span bad[] = {
        {"Z", 1},          {"Zg", 2},       {"Zg=", 3},      {"Zm8", 3},
        {"Zm9v=", 5},      {"Zg==Zg==", 8}, {"Zm8=Zm8=", 8}, {"=", 1},
        {"==", 2},         {"===", 3},      {"====", 4},     {"Z===", 4},
        {"Z=g=", 4},       {"=Zg=", 4},     {"Zh==", 4},     {"Zm9=", 4},
        {"Zg== ", 5},      {" Zg=", 4},     {"Zm9v\n", 5},   {"Zm\n9", 4},
        {"Zm-_", 4},       {"Zm9\0", 4},    {"Zm9\x80", 4},  {"Zm9*", 4},
        {"Zm9vZg==\n", 9}, {"A@AA", 4},     {"A[AA", 4},     {"A`AA", 4},
        {"A{AA", 4},       {"A:AA", 4},     {"A.AA", 4},     {"A,AA", 4},
    };
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 100);
    assert_int_equal(fl_buf_append(&out, FL_SPAN("~")), FL_OK);
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (fl_base64_decode(bad[i], &out) != FL_E_INVALID)
            fail_msg("%.*s was taken", (int)bad[i].len, bad[i].ptr);
        assert_int_equal(fl_buf_len(&out), 1);
    }
    fl_buf_reset(&out);
}

static void test_base64_at_the_limit_and_one_past(void **state)
{
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 8);
    assert_int_equal(fl_base64_encode(FL_SPAN("foobarx"), &out), FL_E_TOO_BIG);
    assert_int_equal(fl_buf_len(&out), 0);
    assert_int_equal(fl_base64_encode(FL_SPAN("foobar"), &out), FL_OK);
    fl_buf_reset(&out);
    fl_buf_init(&out, 5);
    assert_int_equal(fl_base64_decode(FL_SPAN("Zm9vYmFy"), &out), FL_E_TOO_BIG);
    assert_int_equal(fl_buf_len(&out), 0);
    assert_int_equal(fl_base64_decode(FL_SPAN("Zm9vYmE="), &out), FL_OK);
    fl_buf_reset(&out);
}

static const struct {
    fl_span bytes, text;
} url_pairs[] = {
    {{"", 0}, {"", 0}},           {{"f", 1}, {"Zg", 2}},
    {{"fo", 2}, {"Zm8", 3}},      {{"foo", 3}, {"Zm9v", 4}},
    {{"foob", 4}, {"Zm9vYg", 6}}, {{"\xfb\xff\xbf", 3}, {"-_-_", 4}},
    {{"\xff", 1}, {"_w", 2}},
};

static void test_base64url_goes_both_ways(void **state)
{
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 100);
    for (size_t i = 0; i < COUNT(url_pairs); i++) {
        assert_int_equal(fl_base64url_encode(url_pairs[i].bytes, &out), FL_OK);
        assert_true(fl_span_equal(fl_buf_view(&out), url_pairs[i].text));
        fl_buf_truncate(&out, 0);
        assert_int_equal(fl_base64url_decode(url_pairs[i].text, &out), FL_OK);
        assert_true(fl_span_equal(fl_buf_view(&out), url_pairs[i].bytes));
        fl_buf_truncate(&out, 0);
    }
    fl_buf_reset(&out);
}

static void test_base64url_takes_no_other_spelling(void **state)
{
    static const fl_span bad[] = {
        {"Z", 1},    {"Zg==", 4}, {"Zg=", 3},  {"Zm8=", 4},  {"Zh", 2},
        {"Zm9", 3},  {"+_-_", 4}, {"-/-_", 4}, {"Zm9vZ", 5}, {"Zm 9", 4},
        {"Zg\n", 3}, {"Z\0", 2},  {"Zm9*", 4}, {"===", 3},
    };
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 100);
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (fl_base64url_decode(bad[i], &out) != FL_E_INVALID)
            fail_msg("%.*s was taken", (int)bad[i].len, bad[i].ptr);
        assert_int_equal(fl_buf_len(&out), 0);
    }
    fl_buf_reset(&out);
}

static void code(void *user)
{
    fl_buf out;

    (void)user;
    fl_buf_init(&out, 100);
    fl_status rc = fl_base64_encode(FL_SPAN("foo"), &out);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    if (rc == FL_OK)
        rc = fl_base64_decode(FL_SPAN("Zm9v"), &out);
    fl_buf_reset(&out);
}

static void test_base64_without_memory_leaks_nothing(void **state)
{
    (void)state;
    assert_int_equal(ration_each(code, NULL), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base64_goes_both_ways),
        cmocka_unit_test(test_base64_is_put_where_there_is_room),
        cmocka_unit_test(test_base64_keeps_every_byte),
        cmocka_unit_test(test_base64_takes_no_other_spelling),
        cmocka_unit_test(test_base64_at_the_limit_and_one_past),
        cmocka_unit_test(test_base64url_goes_both_ways),
        cmocka_unit_test(test_base64url_takes_no_other_spelling),
        cmocka_unit_test(test_base64_without_memory_leaks_nothing),
    };

    return cmocka_run_group_tests_name("base64", tests, NULL, NULL);
}
