/*
 * test_seal.c - what was sealed opens, and nothing else does.
 */
#include "io/seal.h"

#include "base/span.h"
#include "support/data.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const fl_seal_key key = {"0123456789abcdef0123456789abcdef"};

static void seal(fl_span plain, fl_span bound, fl_buf *out)
{
    fl_buf_init(out, 4096);
    assert_int_equal(fl_seal(&key, plain, bound, out), FL_OK);
    assert_int_equal(fl_buf_len(out), plain.len + FL_SEAL_EXTRA);
}

static void test_seal_opens_to_what_was_sealed(void **state)
{
    char plain[200];
    fl_buf sealed, opened;

    (void)state;
    memset(plain, 'p', sizeof plain);
    fl_buf_init(&opened, 4096);
    for (size_t len = 0; len <= sizeof plain; len += 7) {
        fl_span text = {plain, len};
        seal(text, FL_SPAN("alice"), &sealed);
        fl_span was = fl_buf_view(&sealed);
        assert_int_equal(fl_seal_open(&key, was, FL_SPAN("alice"), &opened),
                         FL_OK);
        assert_true(fl_span_equal(fl_buf_view(&opened), text));
        fl_buf_clear(&opened);
        fl_buf_reset(&sealed);
    }
    fl_buf_reset(&opened);
}

/* NIST's GCM test case 16 (AES-256), its nonce in front and its tag behind. */
static void test_seal_is_the_standards_gcm(void **state)
{
    static const char sealed_hex[] =
        "cafebabefacedbaddecaf888"
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
        "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
        "76fc6ece0f4e1768cddf8853bb2d551b";
    static const char plain_hex[] =
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
        "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
    char sealed[200], plain[200], bound[20];
    fl_seal_key nist;
    fl_buf out;

    (void)state;
    assert_int_equal(data_unhex(FL_SPAN("feffe9928665731c6d6a8f9467308308"
                                        "feffe9928665731c6d6a8f9467308308"),
                                (char *)nist.bytes, sizeof nist.bytes),
                     FL_SEAL_KEY);
    size_t n = data_unhex(fl_span_of(sealed_hex), sealed, sizeof sealed);
    size_t p = data_unhex(fl_span_of(plain_hex), plain, sizeof plain);
    size_t b = data_unhex(FL_SPAN("feedfacedeadbeeffeedfacedeadbeefabaddad2"),
                          bound, sizeof bound);
    fl_buf_init(&out, 200);
    assert_int_equal(
        fl_seal_open(&nist, (fl_span){sealed, n}, (fl_span){bound, b}, &out),
        FL_OK);
    assert_true(fl_span_equal(fl_buf_view(&out), (fl_span){plain, p}));
    fl_buf_reset(&out);
}

static void test_seal_never_says_the_same_twice(void **state)
{
    fl_buf one, two;

    (void)state;
    seal(FL_SPAN("state"), FL_SPAN(""), &one);
    seal(FL_SPAN("state"), FL_SPAN(""), &two);
    assert_false(fl_span_equal(fl_buf_view(&one), fl_buf_view(&two)));
    fl_buf_reset(&one);
    fl_buf_reset(&two);
}

static void test_seal_notices_every_changed_bit(void **state)
{
    fl_buf sealed, out;
    char copy[64];

    (void)state;
    seal(FL_SPAN("state"), FL_SPAN("alice"), &sealed);
    fl_span was = fl_buf_view(&sealed);
    fl_buf_init(&out, 100);
    for (size_t bit = 0; bit < was.len * 8; bit++) {
        memcpy(copy, was.ptr, was.len);
        copy[bit / 8] = (char)(copy[bit / 8] ^ (1 << bit % 8));
        assert_int_equal(fl_seal_open(&key, (fl_span){copy, was.len},
                                      FL_SPAN("alice"), &out),
                         FL_E_DENIED);
        assert_int_equal(fl_buf_len(&out), 0);
    }
    fl_buf_reset(&out);
    fl_buf_reset(&sealed);
}

static void test_seal_is_bound_to_its_key_and_its_holder(void **state)
{
    fl_seal_key other;
    fl_buf sealed, out;

    (void)state;
    assert_int_equal(fl_seal_key_make(&other), FL_OK);
    seal(FL_SPAN("state"), FL_SPAN("alice"), &sealed);
    fl_span was = fl_buf_view(&sealed);
    fl_buf_init(&out, 100);
    assert_int_equal(fl_seal_open(&key, was, FL_SPAN("bob"), &out),
                     FL_E_DENIED);
    assert_int_equal(fl_seal_open(&key, was, (fl_span){0}, &out), FL_E_DENIED);
    assert_int_equal(fl_seal_open(&other, was, FL_SPAN("alice"), &out),
                     FL_E_DENIED);
    assert_int_equal(fl_buf_len(&out), 0);
    fl_buf_reset(&out);
    fl_buf_reset(&sealed);
}

static void test_seal_does_not_open_what_was_cut(void **state)
{
    fl_buf sealed, out;

    (void)state;
    seal(FL_SPAN("state"), FL_SPAN(""), &sealed);
    fl_buf_init(&out, 100);
    for (size_t len = 0; len < fl_buf_len(&sealed); len++)
        assert_int_equal(fl_seal_open(&key,
                                      (fl_span){fl_buf_view(&sealed).ptr, len},
                                      (fl_span){0}, &out),
                         FL_E_DENIED);
    fl_buf_reset(&out);
    fl_buf_reset(&sealed);
}

static void test_seal_at_the_limit_and_one_past(void **state)
{
    fl_buf sealed, out;

    (void)state;
    fl_buf_init(&sealed, 5 + FL_SEAL_EXTRA);
    assert_int_equal(fl_seal(&key, FL_SPAN("123456"), FL_SPAN(""), &sealed),
                     FL_E_TOO_BIG);
    assert_int_equal(fl_buf_len(&sealed), 0);
    assert_int_equal(fl_seal(&key, FL_SPAN("12345"), FL_SPAN(""), &sealed),
                     FL_OK);
    fl_buf_init(&out, 4);
    assert_int_equal(
        fl_seal_open(&key, fl_buf_view(&sealed), FL_SPAN(""), &out),
        FL_E_TOO_BIG);
    fl_buf_init(&out, 5);
    assert_int_equal(
        fl_seal_open(&key, fl_buf_view(&sealed), FL_SPAN(""), &out), FL_OK);
    fl_buf_reset(&out);
    fl_buf_reset(&sealed);
}

static void work(void *user)
{
    fl_buf sealed, out;

    (void)user;
    fl_buf_init(&sealed, 100);
    fl_buf_init(&out, 100);
    fl_status rc = fl_seal(&key, FL_SPAN("x"), FL_SPAN(""), &sealed);
    if (rc == FL_OK)
        rc = fl_seal_open(&key, fl_buf_view(&sealed), FL_SPAN(""), &out);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    fl_buf_reset(&sealed);
    fl_buf_reset(&out);
}

static void test_seal_without_memory_leaks_nothing(void **state)
{
    (void)state;
    assert_int_equal(ration_each(work, NULL), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seal_opens_to_what_was_sealed),
        cmocka_unit_test(test_seal_is_the_standards_gcm),
        cmocka_unit_test(test_seal_never_says_the_same_twice),
        cmocka_unit_test(test_seal_notices_every_changed_bit),
        cmocka_unit_test(test_seal_is_bound_to_its_key_and_its_holder),
        cmocka_unit_test(test_seal_does_not_open_what_was_cut),
        cmocka_unit_test(test_seal_at_the_limit_and_one_past),
        cmocka_unit_test(test_seal_without_memory_leaks_nothing),
    };

    return cmocka_run_group_tests_name("seal", tests, NULL, NULL);
}
