/*
 * test_siphash.c - SipHash-1-3 against two independent implementations.
 */
#include "base/siphash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Key 00 01 .. 0f, message 00 01 02 ..: the layout of the paper's own test,
 * computed for 1-3 with a reference that gives the paper's 2-4 value. */
static void test_siphash_matches_the_reference(void **state)
{
    static const struct {
        size_t len;
        uint64_t want;
    } vectors[] = {
        {0, 0xabac0158050fc4dc},  {1, 0xc9f49bf37d57ca93},
        {7, 0xd3927d989bb11140},  {8, 0x369095118d299a8e},
        {9, 0x25a48eb36c063de4},  {15, 0xd320d86d2a519956},
        {16, 0xcc4fdd1a7d908b66}, {24, 0xf464aeb267349c8c},
        {63, 0x9d199062b7bbb3a8},
    };
    const uint64_t seed[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
    char message[64];

    (void)state;
    for (size_t i = 0; i < sizeof message; i++)
        message[i] = (char)i;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        assert_true(fl_siphash(seed, (fl_span){message, vectors[i].len}) ==
                    vectors[i].want);
}

/* CPython 3.11 hashes bytes with SipHash-1-3; PYTHONHASHSEED=0 is a zero key.
 * The message is 01 02 03 .. */
static void test_siphash_matches_cpython(void **state)
{
    static const struct {
        size_t len;
        uint64_t want;
    } vectors[] = {
        {1, 0x44bc103b1f8540ed},  {7, 0xb1cd85cc334196fa},
        {8, 0x884ccc87cb0e5fb0},  {9, 0x027ed508fe95acb3},
        {24, 0x7b5ea8edf9b7c0b3}, {33, 0x229e4c3e12208140},
    };
    const uint64_t seed[2] = {0, 0};
    char message[64];

    (void)state;
    for (size_t i = 0; i < sizeof message; i++)
        message[i] = (char)(i + 1);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        assert_true(fl_siphash(seed, (fl_span){message, vectors[i].len}) ==
                    vectors[i].want);
}

static void test_siphash_depends_on_the_seed(void **state)
{
    const uint64_t a[2] = {1, 2}, b[2] = {1, 3}, c[2] = {2, 2};
    fl_span text = {"key", 3};

    (void)state;
    assert_true(fl_siphash(a, text) != fl_siphash(b, text));
    assert_true(fl_siphash(a, text) != fl_siphash(c, text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_siphash_matches_the_reference),
        cmocka_unit_test(test_siphash_matches_cpython),
        cmocka_unit_test(test_siphash_depends_on_the_seed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
