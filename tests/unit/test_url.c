/*
 * test_url.c - what is a URL, what its parts are, and what only looks like one.
 */
#include "wire/url.h"

#include "base/span.h"
#include "support/ration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static fl_url parse(const char *text)
{
    fl_url url;

    if (fl_url_parse(fl_span_of(text), &url) != FL_OK)
        fail_msg("%s was refused", text);
    return url;
}

static void same(fl_span got, const char *want)
{
    if (!fl_span_equal(got, fl_span_of(want)))
        fail_msg("want %s, got %.*s", want, (int)got.len, got.ptr);
}

static void test_url_is_taken_apart(void **state)
{
    fl_url url = parse("https://Example.org:8443/a/b%20c?x=1&y=2#frag");

    (void)state;
    same(url.scheme, "https");
    same(url.host, "Example.org");
    assert_int_equal(url.port, 8443);
    assert_true(url.has_port);
    assert_false(url.is_ipv6);
    same(url.path, "/a/b%20c");
    same(url.query, "x=1&y=2");
}

static void test_url_parts_may_be_missing(void **state)
{
    fl_url url = parse("http://a");

    (void)state;
    assert_int_equal(url.path.len, 0);
    assert_int_equal(url.query.len, 0);
    assert_false(url.has_port);
    url = parse("http://a?q");
    assert_int_equal(url.path.len, 0);
    same(url.query, "q");
    url = parse("http://a#f/?x");
    assert_int_equal(url.path.len, 0);
    assert_int_equal(url.query.len, 0);
    url = parse("http://a/?");
    same(url.path, "/");
    assert_int_equal(url.query.len, 0);
    url = parse("http://a/p#f?x");
    same(url.path, "/p");
    assert_int_equal(url.query.len, 0);
}

static void test_url_port_is_given_or_the_schemes_own(void **state)
{
    static const struct {
        const char *text;
        uint16_t port;
    } cases[] = {
        {"http://a", 80},     {"HTTP://a", 80},          {"ws://a", 80},
        {"https://a", 443},   {"wss://a", 443},          {"tcp://a", 0},
        {"http://a:1", 1},    {"http://a:65535", 65535}, {"tcp://a:7", 7},
        {"https://a:80", 80}, {"http://a:443/", 443},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(parse(cases[i].text).port, cases[i].port);
}

static void test_url_may_have_an_ipv6_host(void **state)
{
    fl_url url = parse("http://[2001:db8::1]:8080/x");

    (void)state;
    same(url.host, "2001:db8::1");
    assert_true(url.is_ipv6);
    assert_int_equal(url.port, 8080);
    url = parse("http://[::ffff:127.0.0.1]");
    same(url.host, "::ffff:127.0.0.1");
    assert_int_equal(url.port, 80);
}

static void test_url_refuses_what_is_none(void **state)
{
    static const char *const bad[] = {
        "",
        "a",
        "/a",
        "//a",
        "http:",
        "http:/",
        "http://",
        "http:a",
        "http:/a",
        "http:///a",
        "http://:80",
        "http://?x",
        "://a",
        "1http://a",
        "ht_tp://a",
        "ht tp://a",
        " http://a",
        "http://a ",
        "http://a b/",
        "http://a/b c",
        "http://a/b\tc",
        "http://a/\r\nX-Injected: 1",
        "http://a\r\nX-Injected: 1",
        "http://a/?q=\nx",
        "http://a/#\rx",
        "http://a/\x7f",
        "http://a/\x01",
        "http://a/\xC3\xA4",
        "http://\xC3\xA4/",
        "http://user@a/",
        "http://user:pass@a/",
        "http://@a/",
        "http://a@evil.test/",
        "http://a:80@evil.test/",
        "http://a\\@evil.test/",
        "http://a\\.evil.test/",
        "http:\\\\a\\",
        "http://a/..\\x",
        "http://a/?x\\y",
        "http://a/#\\",
        "http://a%00b/",
        "http://a%2eb/",
        "http://a/%",
        "http://a/%1",
        "http://a/%zz",
        "http://a/%1g?",
        "http://a/?%g1",
        "http://a:/",
        "http://a:0",
        "http://a:00080",
        "http://a:080",
        "http://a:65536",
        "http://a:99999",
        "http://a:100000",
        "http://a:4294967376",
        "http://a:-1",
        "http://a:+1",
        "http://a:1x",
        "http://a: 1",
        "http://a:1:2",
        "http://a~b/",
        "http://a*b/",
        "http://a,b/",
        "http://a;b/",
        "http://::1/",
        "http://[::1",
        "http://[]",
        "http://[::1]x/",
        "http://[::1]:",
        "http://[::1]:0",
        "http://[::1]:65536",
        "http://[::1%25eth0]/",
        "http://[localhost]/",
        "http://[127.0.0.1]/",
        "http://[1:2:3:4:5:6:7:8:9]/",
        "http://[1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb]/",
        "http://a]/",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        fl_url url;
        if (fl_url_parse(fl_span_of(bad[i]), &url) != FL_E_INVALID)
            fail_msg("%s was taken", bad[i]);
        assert_int_equal(url.host.len + url.scheme.len + url.path.len, 0);
    }
}

static void test_url_refuses_a_nul_anywhere(void **state)
{
    static const char text[] = "http://abc:80/path?query#end";
    char copy[sizeof text];
    fl_url url;

    (void)state;
    for (size_t i = 0; i < sizeof text - 1; i++) {
        memcpy(copy, text, sizeof text);
        copy[i] = '\0';
        assert_int_equal(fl_url_parse((fl_span){copy, sizeof text - 1}, &url),
                         FL_E_INVALID);
    }
}

static void test_url_origins_are_compared(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"http://a", "HTTP://A:80/x?y", true},
        {"https://a:443", "https://a", true},
        {"http://[::1]", "http://[::1]:80", true},
        {"http://a", "https://a", false},
        {"http://a", "http://a:81", false},
        {"http://a", "http://a.", false},
        {"http://a", "http://b", false},
        {"http://a", "http://aa", false},
        {"http://a:443", "https://a", false},
        {"ws://a", "http://a", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        fl_url a = parse(cases[i].a), b = parse(cases[i].b);
        assert_int_equal(fl_url_same_origin(&a, &b), cases[i].same);
        assert_int_equal(fl_url_same_origin(&b, &a), cases[i].same);
    }
}

static void test_url_authority_is_taken_apart(void **state)
{
    fl_span host;
    uint16_t port;
    bool is_ipv6;

    (void)state;
    assert_int_equal(
        fl_url_parse_authority(FL_SPAN("a.b:81"), &host, &port, &is_ipv6),
        FL_OK);
    same(host, "a.b");
    assert_int_equal(port, 81);
    assert_false(is_ipv6);
    assert_int_equal(
        fl_url_parse_authority(FL_SPAN("[::1]"), &host, &port, &is_ipv6),
        FL_OK);
    same(host, "::1");
    assert_int_equal(port, 0);
    assert_true(is_ipv6);
    assert_int_equal(
        fl_url_parse_authority(FL_SPAN("[::1]:x"), &host, &port, &is_ipv6),
        FL_E_INVALID);
    assert_int_equal(host.len, 0);
    assert_int_equal(port, 0);
    assert_false(is_ipv6);
    assert_int_equal(
        fl_url_parse_authority((fl_span){0}, &host, &port, &is_ipv6),
        FL_E_INVALID);
}

static void test_url_authority_is_put_together(void **state)
{
    static const struct {
        const char *url, *want;
    } cases[] = {
        {"http://a", "a"},
        {"http://a:80", "a"},
        {"http://a:8080", "a:8080"},
        {"https://a:80", "a:80"},
        {"https://A:443", "A"},
        {"tcp://a:65535", "a:65535"},
        {"tcp://a", "a"},
        {"http://[::1]:80", "[::1]"},
        {"http://[::1]:81", "[::1]:81"},
    };
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 100);
    for (size_t i = 0; i < COUNT(cases); i++) {
        fl_url url = parse(cases[i].url);
        assert_int_equal(fl_url_write_authority(&url, &out), FL_OK);
        same(fl_buf_view(&out), cases[i].want);
        fl_buf_truncate(&out, 0);
    }
    fl_buf_reset(&out);
}

static void check_resolve(const char *base, const char *reference,
                          const char *want)
{
    fl_url url = parse(base);
    fl_buf out;

    fl_buf_init(&out, 1000);
    fl_status rc = fl_url_resolve(&url, fl_span_of(reference), &out);
    if (rc != (want != NULL ? FL_OK : FL_E_INVALID))
        fail_msg("%s from %s: status %d", reference, base, rc);
    if (want != NULL)
        same(fl_buf_view(&out), want);
    else
        assert_int_equal(fl_buf_len(&out), 0);
    fl_buf_reset(&out);
}

/* RFC 3986 5.4.1 and 5.4.2, but for those that are no http URL; a fragment is
 * dropped. */
static void test_url_resolves_the_rfcs_examples(void **state)
{
    static const struct {
        const char *reference, *want;
    } cases[] = {
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q"},
        {"g#s", "http://a/b/c/g"},
        {"g?y#s", "http://a/b/c/g?y"},
        {";x", "http://a/b/c/;x"},
        {"g;x", "http://a/b/c/g;x"},
        {"g;x?y#s", "http://a/b/c/g;x?y"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"../../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {".g", "http://a/b/c/.g"},
        {"g..", "http://a/b/c/g.."},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
        {"g;x=1/../y", "http://a/b/c/y"},
        {"g?y/./x", "http://a/b/c/g?y/./x"},
        {"g?y/../x", "http://a/b/c/g?y/../x"},
        {"g#s/./x", "http://a/b/c/g"},
        {"g:h", NULL},
        {"http:g", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        check_resolve("http://a/b/c/d;p?q", cases[i].reference, cases[i].want);
}

static void test_url_resolves_what_servers_send(void **state)
{
    (void)state;
    check_resolve("http://a", "g", "http://a/g");
    check_resolve("http://a", "?y", "http://a?y");
    check_resolve("http://a", "", "http://a");
    check_resolve("http://a", "..", "http://a/");
    check_resolve("http://a/", "", "http://a/");
    check_resolve("http://a/x", "?", "http://a/x");
    check_resolve("http://a/x?y", "?", "http://a/x");
    check_resolve("https://a:8443/sse", "/messages?id=1",
                  "https://a:8443/messages?id=1");
    check_resolve("https://[::1]:8443/sse", "m", "https://[::1]:8443/m");
    check_resolve("https://a/sse", "//b:1/x", "https://b:1/x");
    check_resolve("https://a/sse", "//b:443/./x/../y", "https://b/y");
    check_resolve("https://a/sse", "http://b/x/../y?z#f", "http://b/y?z");
    check_resolve("http://a/b//c", "d", "http://a/b//d");
    check_resolve("http://a/b//c", "../d", "http://a/b/d");
    check_resolve("http://a//b", "c", "http://a//c");
    check_resolve("http://a/b/../c/./d", "", "http://a/c/d");
    check_resolve("http://a/b/../c/./d", "e", "http://a/c/e");
    check_resolve("http://a/b/", "..//", "http://a//");
}

static void test_url_refuses_bad_references(void **state)
{
    static const char *const bad[] = {
        "a b",
        "/x\r\nY: 1",
        "\\\\evil.test",
        "/\\evil.test",
        "//",
        "///x",
        "//user@b/",
        "//b:0/",
        ":x",
        "1:x",
        "javascript:1",
        "data:,x",
        "http://",
        "http:///x",
        "x:y",
        "%",
        "\xC3\xA4",
        "//b:65536",
        "?\x01",
        "#\n",
        "file:///etc/passwd",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        check_resolve("http://a/b", bad[i], NULL);
}

static void test_url_resolves_all_or_nothing(void **state)
{
    static const char want[] = "http://a:81/b/y?z";
    fl_url base = parse("http://a:81/b/c");

    (void)state;
    for (size_t max = 1; max < sizeof want; max++) {
        fl_buf out;
        bool fits = max == sizeof want - 1;
        fl_buf_init(&out, max);
        assert_int_equal(fl_url_resolve(&base, FL_SPAN("y?z"), &out),
                         fits ? FL_OK : FL_E_TOO_BIG);
        same(fl_buf_view(&out), fits ? want : "");
        fl_buf_reset(&out);
    }
}

static void test_url_percent_codes_are_undone(void **state)
{
    static const char *const bad[] = {"%",     "%4",  "%zz", "a%0", "%00",
                                      "x%00y", "%g0", "%0g", "%%41"};
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 100);
    assert_int_equal(
        fl_url_decode(FL_SPAN("a%20b%2Fc%2f+%e2%82%AC%25%01%0d"), &out), FL_OK);
    same(fl_buf_view(&out), "a b/c/+\xE2\x82\xAC%\x01\r");
    for (size_t i = 0; i < COUNT(bad); i++) {
        fl_buf_truncate(&out, 1);
        assert_int_equal(fl_url_decode(fl_span_of(bad[i]), &out), FL_E_INVALID);
        assert_int_equal(fl_buf_len(&out), 1);
    }
    assert_int_equal(fl_url_decode((fl_span){"a\0b", 3}, &out), FL_E_INVALID);
    fl_buf_reset(&out);
}

static void test_url_decoding_at_the_limit_and_one_past(void **state)
{
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 3);
    assert_int_equal(fl_url_decode(FL_SPAN("%41bcd"), &out), FL_E_TOO_BIG);
    assert_int_equal(fl_buf_len(&out), 0);
    assert_int_equal(fl_url_decode(FL_SPAN("%41bc"), &out), FL_OK);
    fl_buf_reset(&out);
}

static void test_url_query_is_looked_through(void **state)
{
    static const fl_span query = {"ab=1&a=2&a=3&b&c=&d=x=y&&e=%20", 29};
    static const struct {
        const char *name, *want; /* NULL: not there */
    } cases[] = {
        {"a", "2"}, {"ab", "1"}, {"b", NULL}, {"c", ""},     {"d", "x=y"},
        {"", NULL}, {"z", NULL}, {"2", NULL}, {"a=2", NULL}, {"A", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        fl_span value = FL_SPAN("?");
        bool found = fl_url_query_get(query, fl_span_of(cases[i].name), &value);
        assert_int_equal(found, cases[i].want != NULL);
        same(value, found ? cases[i].want : "");
    }
    fl_span value;
    assert_true(fl_url_query_get(FL_SPAN("&e=%20"), FL_SPAN("e"), &value));
    same(value, "%20");
    assert_false(fl_url_query_get((fl_span){0}, FL_SPAN("e"), &value));
}

static void test_url_target_is_split(void **state)
{
    fl_span path, query;

    (void)state;
    fl_url_split_target(FL_SPAN("/a?b?c"), &path, &query);
    same(path, "/a");
    same(query, "b?c");
    fl_url_split_target(FL_SPAN("/a"), &path, &query);
    same(path, "/a");
    assert_int_equal(query.len, 0);
    fl_url_split_target(FL_SPAN("?"), &path, &query);
    assert_int_equal(path.len + query.len, 0);
    fl_url_split_target((fl_span){0}, &path, &query);
    assert_int_equal(path.len + query.len, 0);
}

static void resolve_rationed(void *user)
{
    fl_url base = parse("http://a/b");
    fl_buf out;

    (void)user;
    fl_buf_init(&out, 5000);
    fl_status rc = fl_url_resolve(&base, FL_SPAN("../c?d"), &out);
    if (rc == FL_OK)
        same(fl_buf_view(&out), "http://a/c?d");
    else
        assert_int_equal(rc, FL_E_NOMEM);
    fl_buf_reset(&out);
}

static void test_url_without_memory_leaks_nothing(void **state)
{
    (void)state;
    assert_int_equal(ration_each(resolve_rationed, NULL), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_url_is_taken_apart),
        cmocka_unit_test(test_url_parts_may_be_missing),
        cmocka_unit_test(test_url_port_is_given_or_the_schemes_own),
        cmocka_unit_test(test_url_may_have_an_ipv6_host),
        cmocka_unit_test(test_url_refuses_what_is_none),
        cmocka_unit_test(test_url_refuses_a_nul_anywhere),
        cmocka_unit_test(test_url_origins_are_compared),
        cmocka_unit_test(test_url_authority_is_taken_apart),
        cmocka_unit_test(test_url_authority_is_put_together),
        cmocka_unit_test(test_url_resolves_the_rfcs_examples),
        cmocka_unit_test(test_url_resolves_what_servers_send),
        cmocka_unit_test(test_url_refuses_bad_references),
        cmocka_unit_test(test_url_resolves_all_or_nothing),
        cmocka_unit_test(test_url_percent_codes_are_undone),
        cmocka_unit_test(test_url_decoding_at_the_limit_and_one_past),
        cmocka_unit_test(test_url_query_is_looked_through),
        cmocka_unit_test(test_url_target_is_split),
        cmocka_unit_test(test_url_without_memory_leaks_nothing),
    };

    return cmocka_run_group_tests_name("url", tests, NULL, NULL);
}
