/*
 * test_digest.c - the digests of FIPS 180 and the codes of RFC 4231.
 */
#include "io/digest.h"

#include "base/span.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void check(const unsigned char *digest, const char *want)
{
    char text[2 * FL_SHA256 + 1];

    for (size_t i = 0; i < FL_SHA256; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(text, want);
}

static void test_digest_sha256_is_what_the_standard_says(void **state)
{
    unsigned char digest[FL_SHA256];

    (void)state;
    assert_int_equal(fl_sha256((fl_span){0}, digest), FL_OK);
    check(digest, "e3b0c44298fc1c149afbf4c8996fb924"
                  "27ae41e4649b934ca495991b7852b855");
    assert_int_equal(fl_sha256(FL_SPAN("abc"), digest), FL_OK);
    check(digest, "ba7816bf8f01cfea414140de5dae2223"
                  "b00361a396177a9cb410ff61f20015ad");
}

static void test_digest_hmac_is_what_the_rfc_says(void **state)
{
    unsigned char code[FL_SHA256];

    (void)state;
    assert_int_equal(fl_hmac_sha256(FL_SPAN("Jefe"),
                                    FL_SPAN("what do ya want for nothing?"),
                                    code),
                     FL_OK);
    check(code, "5bdcc146bf60754e6a042426089575c7"
                "5a003f089d2739839dec58b964ec3843");
    assert_int_equal(fl_hmac_sha256((fl_span){0}, (fl_span){0}, code), FL_OK);
    check(code, "b613679a0814d9ec772f95d778c35fc5"
                "ff1697c493715653c6c712144292c5ad");
}

static void test_digest_same_looks_at_every_byte(void **state)
{
    unsigned char a[FL_SHA256] = {0}, b[FL_SHA256] = {0};

    (void)state;
    assert_true(fl_digest_same(a, b, sizeof a));
    for (size_t i = 0; i < sizeof a; i++) {
        b[i] = 1;
        assert_false(fl_digest_same(a, b, sizeof a));
        b[i] = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digest_sha256_is_what_the_standard_says),
        cmocka_unit_test(test_digest_hmac_is_what_the_rfc_says),
        cmocka_unit_test(test_digest_same_looks_at_every_byte),
    };

    return cmocka_run_group_tests_name("digest", tests, NULL, NULL);
}
