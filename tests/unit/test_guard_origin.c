/*
 * test_guard_origin.c - whose pages, and under whose names.
 *
 * Most of what is refused here was somebody's way in somewhere.
 */
#include "guard/origin.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

enum { LOOPBACK = true, PUBLIC = false };

static fl_origin *make(const char *const *origins, const char *const *hosts,
                       bool loopback)
{
    fl_origin *guard;

    assert_int_equal(fl_origin_new(origins, hosts, loopback, &guard), FL_OK);
    assert_non_null(guard);
    return guard;
}

static void expect(fl_origin *guard, const char *host, const char *origin,
                   fl_origin_verdict want)
{
    fl_origin_verdict got =
        fl_origin_check(guard, fl_span_of(host), fl_span_of(origin));

    if (got != want)
        fail_msg("Host %s, Origin %s: want %d, got %d", host, origin, want,
                 got);
}

static void test_origin_on_loopback_takes_loopback_hosts(void **state)
{
    static const char *const good[] = {
        "localhost",       "localhost:8080",    "LocalHost:1",
        "app.localhost",   "a.b.localhost:80",  "127.0.0.1",
        "127.0.0.1:65535", "127.255.255.255:1", "[::1]",
        "[::1]:8080",      "[0:0:0:0:0:0:0:1]", "[0000::0001]:9",
    };
    fl_origin *guard = make(NULL, NULL, LOOPBACK);

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++)
        expect(guard, good[i], "", FL_ORIGIN_OK);
    fl_origin_free(guard);
}

static const char *const no_loopback_hosts[] = {
    "evil.test",
    "evil.test:8080",
    "localhost.evil.test",
    "localhost.evil.test:8080",
    "127.0.0.1.evil.test",
    "127.0.0.1.nip.io",
    "evil-localhost",
    "evillocalhost",
    ".localhost",
    "a..localhost",
    "localhost.",
    "localhost..",
    "app.localhost.",
    "127.0.0.1.",
    "localhost@evil.test",
    "evil.test@localhost",
    "localhost:80@evil.test",
    "localhost:evil.test",
    "localhost:80:80",
    "localhost:",
    "localhost:0",
    "localhost:00080",
    "localhost:65536",
    "localhost:99999",
    "localhost:4294967376",
    "localhost:-1",
    "localhost:+80",
    "localhost:80 ",
    " localhost",
    "localhost ",
    "localhost\t",
    "localhost/",
    "localhost\\",
    "localhost#",
    "localhost?",
    "localhost%00",
    "localhost,evil.test",
    "localhost evil.test",
    "http://localhost",
    "128.0.0.1",
    "126.255.255.255",
    "0.0.0.0",
    "10.0.0.1",
    "0x7f.1",
    "0x7f000001",
    "0177.0.0.1",
    "127.0.0.01",
    "127.000.000.001",
    "2130706433",
    "127.1",
    "127.0.1",
    "127.0.0.1.1",
    "127.0.0.256",
    "::1",
    "::1:8080",
    "[::1",
    "[::1]8080",
    "[::1]:",
    "[::1]:0",
    "[::1].evil.test",
    "[]",
    "[]:80",
    "[",
    "]",
    "[localhost]",
    "[127.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "[::2]",
    "[::]",
    "[::1%25lo]",
    "[::1%lo]",
    "[ ::1]",
    "localh\xC3\xB6st",
    "*",
    "*.localhost",
    ":80",
    "",
};

static void test_origin_on_loopback_takes_no_other_host(void **state)
{
    fl_origin *guard = make(NULL, NULL, LOOPBACK);

    (void)state;
    for (size_t i = 0; i < COUNT(no_loopback_hosts); i++)
        expect(guard, no_loopback_hosts[i], "", FL_ORIGIN_BAD_HOST);
    assert_int_equal(
        fl_origin_check(guard, (fl_span){"localhost\0", 10}, (fl_span){0}),
        FL_ORIGIN_BAD_HOST);
    assert_int_equal(
        fl_origin_check(guard, (fl_span){"[::1\0]", 6}, (fl_span){0}),
        FL_ORIGIN_BAD_HOST);
    assert_int_equal(
        fl_origin_check(guard, (fl_span){"127.0.0.1\0", 10}, (fl_span){0}),
        FL_ORIGIN_BAD_HOST);
    fl_origin_free(guard);
}

static void test_origin_on_loopback_takes_loopback_pages(void **state)
{
    static const char *const good[] = {
        "",
        "http://localhost",
        "http://localhost:6274",
        "https://LOCALHOST:1",
        "HTTP://localhost",
        "http://127.0.0.1:3000",
        "http://[::1]:3000",
        "https://app.localhost",
    };
    fl_origin *guard = make(NULL, NULL, LOOPBACK);

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++)
        expect(guard, "localhost:8080", good[i], FL_ORIGIN_OK);
    fl_origin_free(guard);
}

/* As above, whatever is no loopback host is no host of a good page either. */
static void test_origin_on_loopback_takes_no_other_page(void **state)
{
    static const char *const bad[] = {
        "null",
        "NULL",
        "*",
        "localhost",
        "http:localhost",
        "http:/localhost",
        "http:///localhost",
        "http//localhost",
        "://localhost",
        "http://localhost/",
        "http://localhost/path",
        "http://localhost http://evil.test",
        "http://evil.test http://localhost",
        "http://localhost, http://evil.test",
        "http://localhost,http://localhost",
        "http://localhost@evil.test",
        "http://user@localhost",
        "file://",
        "file://localhost",
        "ftp://localhost",
        "chrome-extension://localhost",
        "ht tp://localhost",
        "1http://localhost",
        " http://localhost",
        "http://localhost\n",
    };
    fl_origin *guard = make(NULL, NULL, LOOPBACK);

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        expect(guard, "localhost:8080", bad[i], FL_ORIGIN_BAD_ORIGIN);
    for (size_t i = 0; i < COUNT(no_loopback_hosts); i++) {
        char origin[128];
        (void)snprintf(origin, sizeof origin, "http://%s",
                       no_loopback_hosts[i]);
        expect(guard, "localhost:8080", origin, FL_ORIGIN_BAD_ORIGIN);
    }
    fl_origin_free(guard);
}

static void test_origin_judges_the_host_first(void **state)
{
    fl_origin *guard = make(NULL, NULL, LOOPBACK);

    (void)state;
    expect(guard, "evil.test", "http://evil.test", FL_ORIGIN_BAD_HOST);
    fl_origin_free(guard);
}

static void test_origin_in_public_takes_any_host_that_is_one(void **state)
{
    fl_origin *guard = make(NULL, NULL, PUBLIC);

    (void)state;
    expect(guard, "example.org", "", FL_ORIGIN_OK);
    expect(guard, "example.org.:8443", "", FL_ORIGIN_OK);
    expect(guard, "192.0.2.1:80", "", FL_ORIGIN_OK);
    expect(guard, "[2001:db8::1]:443", "", FL_ORIGIN_OK);
    expect(guard, "", "", FL_ORIGIN_BAD_HOST);
    expect(guard, "a b", "", FL_ORIGIN_BAD_HOST);
    expect(guard, "user@example.org", "", FL_ORIGIN_BAD_HOST);
    expect(guard, "example.org:65536", "", FL_ORIGIN_BAD_HOST);
    expect(guard, "2001:db8::1", "", FL_ORIGIN_BAD_HOST);
    fl_origin_free(guard);
}

static void test_origin_in_public_takes_no_unlisted_name_s_pages(void **state)
{
    fl_origin *guard = make(NULL, NULL, PUBLIC);

    (void)state;
    /* any name may have been made to point here */
    expect(guard, "example.org", "https://example.org", FL_ORIGIN_BAD_ORIGIN);
    expect(guard, "example.org", "", FL_ORIGIN_OK);
    expect(guard, "192.0.2.1:8080", "http://192.0.2.1:8080", FL_ORIGIN_OK);
    expect(guard, "[2001:db8::1]", "https://[2001:db8:0::1]", FL_ORIGIN_OK);
    expect(guard, "192.0.2.1:8080", "http://192.0.2.2:8080",
           FL_ORIGIN_BAD_ORIGIN);
    fl_origin_free(guard);
}

static void test_origin_in_public_takes_its_own_pages_only(void **state)
{
    const char *const hosts[] = {"example.org:*", "[2001:db8::1]", NULL};
    fl_origin *guard = make(NULL, hosts, PUBLIC);

    (void)state;
    expect(guard, "example.org", "https://example.org", FL_ORIGIN_OK);
    expect(guard, "example.org", "http://EXAMPLE.org", FL_ORIGIN_OK);
    expect(guard, "example.org", "https://example.org:443", FL_ORIGIN_OK);
    expect(guard, "example.org:443", "https://example.org", FL_ORIGIN_OK);
    expect(guard, "example.org:8080", "http://example.org:8080", FL_ORIGIN_OK);
    expect(guard, "[2001:db8::1]", "https://[2001:db8:0::1]", FL_ORIGIN_OK);
    expect(guard, "example.org", "https://example.org:8443",
           FL_ORIGIN_BAD_ORIGIN);
    expect(guard, "example.org:80", "https://example.org",
           FL_ORIGIN_BAD_ORIGIN);
    expect(guard, "example.org:8080", "http://example.org",
           FL_ORIGIN_BAD_ORIGIN);
    expect(guard, "example.org", "https://www.example.org",
           FL_ORIGIN_BAD_ORIGIN);
    expect(guard, "example.org", "https://example.org.", FL_ORIGIN_BAD_ORIGIN);
    expect(guard, "example.org", "http://localhost", FL_ORIGIN_BAD_ORIGIN);
    expect(guard, "example.org", "null", FL_ORIGIN_BAD_ORIGIN);
    expect(guard, "null", "null", FL_ORIGIN_BAD_HOST);
    expect(guard, "[2001:db8::1]", "https://[2001:db8::2]",
           FL_ORIGIN_BAD_ORIGIN);
    expect(guard, "example.org", "app://example.org", FL_ORIGIN_BAD_ORIGIN);
    fl_origin_free(guard);
}

static void test_origin_lists_add_to_loopback(void **state)
{
    fl_origin *guard = make(LIST("https://app.example.org", "null"),
                            LIST("mcp.example.org"), LOOPBACK);

    (void)state;
    expect(guard, "localhost", "http://localhost", FL_ORIGIN_OK);
    expect(guard, "mcp.example.org", "", FL_ORIGIN_OK);
    expect(guard, "mcp.example.org:443", "", FL_ORIGIN_OK);
    expect(guard, "mcp.example.org:80", "", FL_ORIGIN_OK);
    expect(guard, "mcp.example.org:8080", "", FL_ORIGIN_BAD_HOST);
    expect(guard, "example.org", "", FL_ORIGIN_BAD_HOST);
    expect(guard, "x.mcp.example.org", "", FL_ORIGIN_BAD_HOST);
    expect(guard, "mcp.example.org", "https://app.example.org", FL_ORIGIN_OK);
    expect(guard, "localhost", "https://APP.example.org:443", FL_ORIGIN_OK);
    expect(guard, "localhost", "null", FL_ORIGIN_OK);
    expect(guard, "localhost", "http://app.example.org", FL_ORIGIN_BAD_ORIGIN);
    expect(guard, "localhost", "https://app.example.org:8443",
           FL_ORIGIN_BAD_ORIGIN);
    expect(guard, "localhost", "https://app.example.org.evil.test",
           FL_ORIGIN_BAD_ORIGIN);
    expect(guard, "localhost", "https://app.example.organic",
           FL_ORIGIN_BAD_ORIGIN);
    fl_origin_free(guard);
}

static void test_origin_in_public_with_hosts_takes_no_other(void **state)
{
    fl_origin *guard = make(NULL, LIST("example.org:8080"), PUBLIC);

    (void)state;
    expect(guard, "example.org:8080", "http://example.org:8080", FL_ORIGIN_OK);
    expect(guard, "example.org", "", FL_ORIGIN_BAD_HOST);
    expect(guard, "example.org:8081", "", FL_ORIGIN_BAD_HOST);
    expect(guard, "localhost:8080", "", FL_ORIGIN_BAD_HOST);
    fl_origin_free(guard);
}

static void test_origin_asterisk_stands_for_one_label_or_the_port(void **state)
{
    fl_origin *guard =
        make(LIST("https://*.example.org", "http://dev.test:*",
                  "vscode-webview://*.id"),
             LIST("*.example.org", "dev.test:*", "[2001:db8::1]:*"), PUBLIC);

    (void)state;
    expect(guard, "a.example.org", "", FL_ORIGIN_OK);
    expect(guard, "example.org", "", FL_ORIGIN_BAD_HOST);
    expect(guard, "a.b.example.org", "", FL_ORIGIN_BAD_HOST);
    expect(guard, ".example.org", "", FL_ORIGIN_BAD_HOST);
    expect(guard, "aexample.org", "", FL_ORIGIN_BAD_HOST);
    expect(guard, "dev.test", "", FL_ORIGIN_OK);
    expect(guard, "dev.test:1", "", FL_ORIGIN_OK);
    expect(guard, "dev.test:65535", "", FL_ORIGIN_OK);
    expect(guard, "[2001:db8:0:0::1]:9", "", FL_ORIGIN_OK);
    expect(guard, "[2001:db8::2]:9", "", FL_ORIGIN_BAD_HOST);
    expect(guard, "dev.test", "https://a.example.org", FL_ORIGIN_OK);
    expect(guard, "dev.test", "https://a.example.org:8443",
           FL_ORIGIN_BAD_ORIGIN);
    expect(guard, "dev.test", "http://a.example.org", FL_ORIGIN_BAD_ORIGIN);
    expect(guard, "dev.test", "https://example.org", FL_ORIGIN_BAD_ORIGIN);
    expect(guard, "dev.test", "http://dev.test:4711", FL_ORIGIN_OK);
    expect(guard, "dev.test", "vscode-webview://x.id", FL_ORIGIN_OK);
    expect(guard, "dev.test", "vscode-webview://id", FL_ORIGIN_BAD_ORIGIN);
    fl_origin_free(guard);
}

static void test_origin_lone_asterisks_take_all(void **state)
{
    fl_origin *guard = make(LIST("*"), LIST("*"), LOOPBACK);

    (void)state;
    expect(guard, "evil.test", "https://evil.test", FL_ORIGIN_OK);
    expect(guard, "evil.test", "null", FL_ORIGIN_OK);
    expect(guard, "not a host", "", FL_ORIGIN_BAD_HOST);
    expect(guard, "", "", FL_ORIGIN_BAD_HOST);
    fl_origin_free(guard);
}

/* Texts that are too long to remember, and one byte shorter. */
static void test_origin_remembers_no_more_than_a_good_pair(void **state)
{
    fl_origin *guard = make(NULL, NULL, LOOPBACK);
    char host[1000];

    (void)state;
    expect(guard, "localhost", "http://localhost", FL_ORIGIN_OK);
    expect(guard, "localhost", "http://localhost", FL_ORIGIN_OK);
    expect(guard, "localhos", "http://localhost", FL_ORIGIN_BAD_HOST);
    expect(guard, "localhost", "http://localhos", FL_ORIGIN_BAD_ORIGIN);
    expect(guard, "http://localhost", "localhost", FL_ORIGIN_BAD_HOST);
    expect(guard, "", "", FL_ORIGIN_BAD_HOST);
    expect(guard, "localhost", "http://localhost", FL_ORIGIN_OK);
    for (int front = 240; front < 900; front += front < 260 ? 1 : 160) {
        memset(host, 'a', sizeof host);
        (void)snprintf(host + front, sizeof host - (size_t)front, ".localhost");
        expect(guard, host, "", FL_ORIGIN_OK);
        expect(guard, host, "", FL_ORIGIN_OK);
        host[front + 1] = 'x';
        expect(guard, host, "", FL_ORIGIN_BAD_HOST);
        memcpy(host, "http://", 7);
        expect(guard, "localhost", host, FL_ORIGIN_BAD_ORIGIN);
        host[front + 1] = 'l';
        expect(guard, "localhost", host, FL_ORIGIN_OK);
        expect(guard, "localhost", host, FL_ORIGIN_OK);
    }
    fl_origin_free(guard);
}

static void test_origin_patterns_are_checked(void **state)
{
    static const char *const good_origins[] = {
        "*",
        "null",
        "https://app.example.org",
        "http://localhost:*",
        "https://*.example.org:8443",
        "http://[::1]:3000",
        "chrome-extension://abcdef",
    };
    static const char *const bad_origins[] = {
        "",
        "example.org",
        "https://",
        "https://example.org/",
        "https://example.org/path",
        "https://*",
        "https://a.*.org",
        "https://**.org",
        "https://*example.org",
        "https://*.[::1]",
        "https://example.org:0",
        "https://example.org:65536",
        "https://example.org:8*",
        "https://user@example.org",
        "https://a b",
        "*://example.org",
        "https://a,https://b",
    };
    static const char *const good_hosts[] = {
        "*",       "example.org",   "example.org:8080", "*.example.org",
        "[::1]:*", "example.org:*", "127.0.0.1:1",
    };
    static const char *const bad_hosts[] = {
        "",
        "https://example.org",
        "example.org:",
        "a b",
        "*:80",
        "*.",
        "**",
        "example.*",
        "::1",
        "[::1",
        "example.org:65536",
        "example.org/x",
        "example..",
        "user@example.org",
        "*.*.org",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(good_origins); i++)
        assert_true(fl_origin_valid_origin(good_origins[i]));
    for (size_t i = 0; i < COUNT(bad_origins); i++)
        if (fl_origin_valid_origin(bad_origins[i]))
            fail_msg("%s is a valid origin", bad_origins[i]);
    for (size_t i = 0; i < COUNT(good_hosts); i++)
        assert_true(fl_origin_valid_host(good_hosts[i]));
    for (size_t i = 0; i < COUNT(bad_hosts); i++)
        if (fl_origin_valid_host(bad_hosts[i]))
            fail_msg("%s is a valid host", bad_hosts[i]);
}

static void test_origin_refuses_a_bad_list(void **state)
{
    fl_origin *guard = (fl_origin *)&guard;

    (void)state;
    assert_int_equal(fl_origin_new(LIST("https://a", "b"), NULL, true, &guard),
                     FL_E_INVALID);
    assert_null(guard);
    assert_int_equal(fl_origin_new(NULL, LIST("a", "b:0"), true, &guard),
                     FL_E_INVALID);
    assert_null(guard);
}

static void make_and_check(void *user)
{
    fl_origin *guard;
    fl_status rc =
        fl_origin_new(LIST("https://a.test"), LIST("b.test"), false, &guard);

    (void)user;
    if (rc == FL_OK)
        expect(guard, "b.test", "https://a.test", FL_ORIGIN_OK);
    else
        assert_int_equal(rc, FL_E_NOMEM);
    fl_origin_free(guard);
}

static void test_origin_is_one_allocation(void **state)
{
    (void)state;
    assert_int_equal(ration_each(make_and_check, NULL), 2);
}

/* The lists need not outlive the call. */
static void test_origin_keeps_its_own_copy_of_the_lists(void **state)
{
    char text[] = "https://app.test";
    fl_origin *guard = make(LIST(text), NULL, LOOPBACK);

    (void)state;
    memset(text, 'x', sizeof text - 1);
    expect(guard, "localhost", "https://app.test", FL_ORIGIN_OK);
    fl_origin_free(guard);
    fl_origin_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_origin_on_loopback_takes_loopback_hosts),
        cmocka_unit_test(test_origin_on_loopback_takes_no_other_host),
        cmocka_unit_test(test_origin_on_loopback_takes_loopback_pages),
        cmocka_unit_test(test_origin_on_loopback_takes_no_other_page),
        cmocka_unit_test(test_origin_judges_the_host_first),
        cmocka_unit_test(test_origin_in_public_takes_any_host_that_is_one),
        cmocka_unit_test(test_origin_in_public_takes_no_unlisted_name_s_pages),
        cmocka_unit_test(test_origin_in_public_takes_its_own_pages_only),
        cmocka_unit_test(test_origin_lists_add_to_loopback),
        cmocka_unit_test(test_origin_in_public_with_hosts_takes_no_other),
        cmocka_unit_test(test_origin_asterisk_stands_for_one_label_or_the_port),
        cmocka_unit_test(test_origin_lone_asterisks_take_all),
        cmocka_unit_test(test_origin_remembers_no_more_than_a_good_pair),
        cmocka_unit_test(test_origin_patterns_are_checked),
        cmocka_unit_test(test_origin_refuses_a_bad_list),
        cmocka_unit_test(test_origin_is_one_allocation),
        cmocka_unit_test(test_origin_keeps_its_own_copy_of_the_lists),
    };

    return cmocka_run_group_tests_name("origin", tests, NULL, NULL);
}
