/*
 * test_sha1.c - the digests of FIPS 180 and of RFC 6455.
 */
#include "base/span.h"
#include "io/sha1.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void check(fl_span bytes, const char *want)
{
    unsigned char digest[FL_SHA1];
    char text[2 * FL_SHA1 + 1];

    assert_int_equal(fl_sha1(bytes, digest), FL_OK);
    for (size_t i = 0; i < FL_SHA1; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(text, want);
}

static void test_sha1_is_what_the_standard_says(void **state)
{
    (void)state;
    check((fl_span){0}, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    check(FL_SPAN("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
    check(FL_SPAN("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
          "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
}

/* RFC 6455 1.3: base64 of this is "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=". */
static void test_sha1_proves_that_a_handshake_was_read(void **state)
{
    (void)state;
    check(FL_SPAN("dGhlIHNhbXBsZSBub25jZQ=="
                  "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"),
          "b37a4f2cc0624f1690f64606cf385945b2bec4ea");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha1_is_what_the_standard_says),
        cmocka_unit_test(test_sha1_proves_that_a_handshake_was_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
