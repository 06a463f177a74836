/*
 * test_guard_addresses.c - who may connect, and what counts as a network.
 */
#include "guard/addresses.h"

#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static fl_addresses *make(const char *const *allow, const char *const *deny)
{
    fl_addresses *made;

    assert_int_equal(fl_addresses_new(allow, deny, &made), FL_OK);
    assert_non_null(made);
    return made;
}

/* Whether one network, as an allow list, lets `address` in. */
static bool holds(const char *network, const char *address)
{
    fl_addresses *made = make(LIST(network), NULL);
    bool allowed = fl_addresses_allowed(made, address);

    fl_addresses_free(made);
    return allowed;
}

static void test_addresses_and_networks_are_valid(void **state)
{
    (void)state;
    assert_true(fl_addresses_valid("192.0.2.1"));
    assert_true(fl_addresses_valid("10.0.0.0/8"));
    assert_true(fl_addresses_valid("::1"));
    assert_true(fl_addresses_valid("fd00::/8"));
    assert_true(fl_addresses_valid("::ffff:10.0.0.1"));
    assert_true(fl_addresses_valid("10.1.2.3/8"));
    assert_true(
        fl_addresses_valid("1111:2222:3333:4444:5555:6666:255.255.255.255"));
}

static void test_anything_else_is_not(void **state)
{
    static const char *const bad[] = {
        "",
        "localhost",
        "example.org",
        "10.0.0",
        "10.0.0.1.",
        "256.0.0.1",
        "010.0.0.1",
        " 10.0.0.1",
        "10.0.0.1 ",
        "10.0.0.1:80",
        "[::1]",
        ":::",
        "::1%lo",
        "/8",
        "10.0.0.0/",
        "10.0.0.0//8",
        "10.0.0.0/a",
        "10.0.0.0/-1",
        "10.0.0.0/+8",
        "10.0.0.0/08",
        "10.0.0.0/ 8",
        "10.0.0.0/8 ",
        "10.0.0.0/0.0.0.0",
        "10.0.0.0/8/8",
        "11111:2222:3333:4444:5555:6666:255.255.255.255",
        "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc:dddd",
    };

    (void)state;
    assert_false(fl_addresses_valid(NULL));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (fl_addresses_valid(bad[i]))
            fail_msg("'%s' was taken for a network", bad[i]);
}

static void test_prefix_ends_where_the_address_does(void **state)
{
    (void)state;
    assert_true(fl_addresses_valid("0.0.0.0/0"));
    assert_true(fl_addresses_valid("0.0.0.0/32"));
    assert_false(fl_addresses_valid("0.0.0.0/33"));
    assert_false(fl_addresses_valid("0.0.0.0/128"));
    assert_false(fl_addresses_valid("0.0.0.0/4294967296"));
    assert_true(fl_addresses_valid("::/0"));
    assert_true(fl_addresses_valid("::/128"));
    assert_false(fl_addresses_valid("::/129"));
    assert_false(fl_addresses_valid("::/1000"));
    assert_true(fl_addresses_valid("::ffff:10.0.0.0/128"));
    assert_false(fl_addresses_valid("::ffff:10.0.0.0/129"));
}

/* For each prefix length, flips each bit of the address in turn: a bit before
 * the end of the prefix must matter, one after it must not. */
static void test_every_prefix_length_looks_at_just_its_bits(void **state)
{
    char network[64], address[64];

    (void)state;
    for (unsigned prefix = 0; prefix <= 32; prefix++) {
        snprintf(network, sizeof network, "170.85.204.51/%u", prefix);
        for (unsigned bit = 0; bit < 32; bit++) {
            uint32_t is = UINT32_C(0xaa55cc33) ^ UINT32_C(0x80000000) >> bit;
            snprintf(address, sizeof address, "%u.%u.%u.%u", is >> 24,
                     is >> 16 & 255, is >> 8 & 255, is & 255);
            assert_int_equal(holds(network, address), bit >= prefix);
        }
    }
}

static void test_every_ipv6_prefix_length_does_so_too(void **state)
{
    char network[64], address[64];

    (void)state;
    for (unsigned prefix = 0; prefix <= 128; prefix++) {
        snprintf(network, sizeof network, "::/%u", prefix);
        for (unsigned bit = 0; bit < 128; bit++) {
            /* eight groups of sixteen bits, one bit of them set */
            int n = 0;
            for (unsigned group = 0; group < 8; group++)
                n += snprintf(address + n, sizeof address - (size_t)n, "%s%x",
                              group > 0 ? ":" : "",
                              bit / 16 == group ? 0x8000u >> bit % 16 : 0);
            assert_int_equal(holds(network, address), bit >= prefix);
        }
    }
}

static void test_bits_past_the_prefix_do_not_matter(void **state)
{
    (void)state;
    assert_true(holds("10.1.2.3/8", "10.200.0.1"));
    assert_false(holds("10.1.2.3/8", "11.1.2.3"));
    assert_true(holds("fd00::1/8", "fdff::2"));
}

static void test_mapped_address_is_the_ipv4_address(void **state)
{
    (void)state;
    assert_true(holds("10.0.0.0/8", "::ffff:10.0.0.1"));
    assert_true(holds("10.0.0.0/8", "::ffff:a00:1"));
    assert_true(holds("::ffff:10.0.0.0/104", "10.9.9.9"));
    assert_false(holds("::ffff:10.0.0.0/104", "11.0.0.0"));
    assert_true(holds("::ffff:10.0.0.1", "10.0.0.1"));
    assert_true(holds("::ffff:0:0/96", "192.0.2.1"));
    assert_false(holds("10.0.0.0/8", "::fffe:10.0.0.1"));
    assert_false(holds("10.0.0.0/8", "::10.0.0.1"));
}

static void test_families_never_meet(void **state)
{
    (void)state;
    assert_false(holds("::/0", "10.0.0.1"));
    assert_false(holds("::/0", "::ffff:10.0.0.1"));
    assert_false(holds("::ffff:0:0/95", "10.0.0.1"));
    assert_false(holds("0.0.0.0/0", "::1"));
    assert_true(holds("0.0.0.0/0", "255.255.255.255"));
    assert_true(holds("::/0", "ffff::"));
}

static void test_without_lists_everybody_may(void **state)
{
    fl_addresses *open = make(NULL, NULL);

    (void)state;
    assert_true(fl_addresses_allowed(open, "192.0.2.1"));
    assert_true(fl_addresses_allowed(open, "2001:db8::1"));
    assert_true(fl_addresses_allowed(open, ""));
    fl_addresses_free(open);
}

static void test_allow_list_refuses_all_others(void **state)
{
    fl_addresses *some = make(LIST("10.0.0.0/8", "::1"), NULL);

    (void)state;
    assert_true(fl_addresses_allowed(some, "10.0.0.1"));
    assert_true(fl_addresses_allowed(some, "::1"));
    assert_false(fl_addresses_allowed(some, "11.0.0.1"));
    assert_false(fl_addresses_allowed(some, "::2"));
    fl_addresses_free(some);
}

static void test_empty_allow_list_allows_nobody(void **state)
{
    fl_addresses *none = make((const char *const[]){NULL}, NULL);

    (void)state;
    assert_false(fl_addresses_allowed(none, "127.0.0.1"));
    assert_true(fl_addresses_allowed(none, ""));
    fl_addresses_free(none);
}

static void test_denied_is_refused_although_allowed(void **state)
{
    fl_addresses *both = make(LIST("10.0.0.0/8"), LIST("10.6.6.0/24", "::6"));

    (void)state;
    assert_true(fl_addresses_allowed(both, "10.6.5.255"));
    assert_false(fl_addresses_allowed(both, "10.6.6.0"));
    assert_false(fl_addresses_allowed(both, "::ffff:10.6.6.255"));
    assert_true(fl_addresses_allowed(both, "10.6.7.0"));
    fl_addresses_free(both);

    fl_addresses *deny = make(NULL, LIST("10.6.6.0/24", "::6"));
    assert_false(fl_addresses_allowed(deny, "10.6.6.6"));
    assert_false(fl_addresses_allowed(deny, "::6"));
    assert_true(fl_addresses_allowed(deny, "192.0.2.1"));
    fl_addresses_free(deny);
}

static void test_unix_socket_peer_may_always(void **state)
{
    fl_addresses *none = make(LIST("10.0.0.1"), LIST("0.0.0.0/0", "::/0"));

    (void)state;
    assert_true(fl_addresses_allowed(none, ""));
    fl_addresses_free(none);
}

static void test_what_is_no_address_is_refused(void **state)
{
    fl_addresses *deny = make(NULL, LIST("10.0.0.0/8"));

    (void)state;
    assert_false(fl_addresses_allowed(deny, "nonsense"));
    assert_false(fl_addresses_allowed(deny, "192.0.2.1/8"));
    assert_false(fl_addresses_allowed(deny, "%eth0"));
    fl_addresses_free(deny);
}

static void test_zone_of_a_peer_is_left_aside(void **state)
{
    (void)state;
    assert_true(holds("fe80::/10", "fe80::1%eth0"));
    assert_false(holds("fe80::/10", "fd00::1%eth0"));
}

static void test_one_bad_entry_spoils_the_list(void **state)
{
    fl_addresses *made = make(NULL, NULL);

    (void)state;
    fl_addresses_free(made);
    assert_int_equal(fl_addresses_new(LIST("::1", "x"), NULL, &made),
                     FL_E_INVALID);
    assert_null(made);
    assert_int_equal(fl_addresses_new(NULL, LIST("::1", "::/129"), &made),
                     FL_E_INVALID);
    assert_null(made);
}

static void make_with_little_memory(void *user)
{
    fl_addresses *made;
    fl_status rc =
        fl_addresses_new(LIST("::1"), LIST("::2", "10.0.0.0/8"), &made);

    (void)user;
    assert_int_equal(rc, ration_refused() ? FL_E_NOMEM : FL_OK);
    assert_int_equal(made == NULL, rc != FL_OK);
    fl_addresses_free(made);
}

static void test_out_of_memory_is_said_and_nothing_leaks(void **state)
{
    (void)state;
    assert_int_equal(ration_each(make_with_little_memory, NULL), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_and_networks_are_valid),
        cmocka_unit_test(test_anything_else_is_not),
        cmocka_unit_test(test_prefix_ends_where_the_address_does),
        cmocka_unit_test(test_every_prefix_length_looks_at_just_its_bits),
        cmocka_unit_test(test_every_ipv6_prefix_length_does_so_too),
        cmocka_unit_test(test_bits_past_the_prefix_do_not_matter),
        cmocka_unit_test(test_mapped_address_is_the_ipv4_address),
        cmocka_unit_test(test_families_never_meet),
        cmocka_unit_test(test_without_lists_everybody_may),
        cmocka_unit_test(test_allow_list_refuses_all_others),
        cmocka_unit_test(test_empty_allow_list_allows_nobody),
        cmocka_unit_test(test_denied_is_refused_although_allowed),
        cmocka_unit_test(test_unix_socket_peer_may_always),
        cmocka_unit_test(test_what_is_no_address_is_refused),
        cmocka_unit_test(test_zone_of_a_peer_is_left_aside),
        cmocka_unit_test(test_one_bad_entry_spoils_the_list),
        cmocka_unit_test(test_out_of_memory_is_said_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
