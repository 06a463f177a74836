/*
 * test_address.c - URLs taken apart, strictly.
 */
#include "transport/address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static fl_address parse(const char *url)
{
    fl_address address;
    fl_error error = {.text = ""};

    if (fl_address_parse(url, &address, &error) != FL_OK)
        fail_msg("'%s' was refused: %s", url, error.text);
    return address;
}

static void assert_refused(const char *url, fl_status want, const char *says)
{
    fl_address address;
    fl_error error = {.text = ""};
    fl_status rc = fl_address_parse(url, &address, &error);

    if (rc != want || error.status != want)
        fail_msg("'%s': %s (%s)", url, fl_status_name(rc), error.text);
    if (strstr(error.text, says) == NULL)
        fail_msg("'%s': '%s' does not say '%s'", url, error.text, says);
    assert_int_equal(fl_address_parse(url, &address, NULL), want);
}

static void test_address_stdio_is_just_that(void **state)
{
    fl_address address = parse("stdio:");

    (void)state;
    assert_string_equal(address.scheme, "stdio");
    assert_string_equal(address.host, "");
    assert_string_equal(address.path, "");
    assert_false(address.has_port);
    assert_refused("stdio://", FL_E_INVALID, "'stdio://'");
    assert_refused("stdio:x", FL_E_INVALID, "nothing comes after stdio:");
    assert_refused("stdio", FL_E_INVALID, "'stdio'");
}

static void test_address_tcp_and_tls_have_host_and_port(void **state)
{
    fl_address address = parse("tcp://127.0.0.1:7332");

    (void)state;
    assert_string_equal(address.scheme, "tcp");
    assert_string_equal(address.host, "127.0.0.1");
    assert_true(address.has_port);
    assert_int_equal(address.port, 7332);
    assert_string_equal(address.path, "");

    address = parse("tls://example.org:1");
    assert_string_equal(address.scheme, "tls");
    assert_string_equal(address.host, "example.org");
    assert_int_equal(address.port, 1);
}

static void test_address_ipv6_host_loses_its_brackets(void **state)
{
    fl_address address = parse("tcp://[::1]:7332");

    (void)state;
    assert_string_equal(address.host, "::1");
    assert_int_equal(address.port, 7332);
    assert_refused("tcp://::1:7332", FL_E_INVALID, "tcp://HOST:PORT");
    assert_refused("tcp://[::1]7332", FL_E_INVALID, "tcp://HOST:PORT");
    assert_refused("tcp://[::1]", FL_E_INVALID, "tcp://HOST:PORT");
    assert_refused("tcp://[::1:7332", FL_E_INVALID, "tcp://HOST:PORT");
    assert_refused("tcp://[]:7332", FL_E_INVALID, "tcp://HOST:PORT");
    assert_refused("tcp://[", FL_E_INVALID, "tcp://HOST:PORT");
}

static void test_address_port_is_0_to_65535(void **state)
{
    static const char *const bad[] = {
        "tcp://h:65536", "tcp://h:99999",  "tcp://h:000001",     "tcp://h:",
        "tcp://h:-1",    "tcp://h:+1",     "tcp://h: 1",         "tcp://h:1 ",
        "tcp://h:0x1",   "tcp://h:100000", "tcp://h:4294967297",
    };

    (void)state;
    assert_int_equal(parse("tcp://h:0").port, 0);
    assert_true(parse("tcp://h:0").has_port);
    assert_int_equal(parse("tcp://h:65535").port, 65535);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(bad[i], FL_E_INVALID, bad[i]);
}

static void test_address_of_a_url_says_that_its_port_is_none(void **state)
{
    (void)state;
    assert_int_equal(parse("http://h:65535/mcp").port, 65535);
    assert_refused("http://h:65536/mcp", FL_E_INVALID,
                   "there is no port 65536; want one from 1 to 65535");
    assert_refused("wss://[::1]:99999", FL_E_INVALID, "no port 99999;");
    assert_refused("http://h:080/mcp", FL_E_INVALID, "no port 080;");
    assert_refused("http://h:secret/mcp", FL_E_INVALID, "not a URL");
    assert_refused("http://h:/mcp", FL_E_INVALID, "not a URL");
    assert_refused("http://h~:80/mcp", FL_E_INVALID, "not a URL");
}

static void test_address_refuses_what_it_would_have_to_ignore(void **state)
{
    static const char *const bad[] = {
        "tcp://h:1/",    "tcp://h:1/path",
        "tcp://h:1?q",   "tcp://h:1#f",
        "tcp://h/x:1",   "tcp://h?x:1",
        "tcp://h#x:1",   "tcp://h%41:1",
        "tcp://h h:1",   "tcp://:1",
        "tcp://",        "tcp:",
        "tcp:h:1",       "tcp:/h:1",
        "tcp:///h:1",    "tcp://h\x01:1",
        "tcp://h\x7f:1", "tcp://caf\xc3\xa9:1",
        "tcp://h",       "tcp://h:1:2",
        "tcp://h\\x:1",  "tcp://[fe80::1%eth0]:1",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(bad[i], FL_E_INVALID, "tcp://127.0.0.1:7332");
    assert_refused("tls://x", FL_E_INVALID, "tls://HOST:PORT");
}

static void test_address_never_repeats_a_password(void **state)
{
    fl_address address;
    fl_error error;

    (void)state;
    assert_refused("tcp://user@h:1", FL_E_INVALID, "no user name or password");
    assert_int_equal(
        fl_address_parse("tls://user:hunter2@h:1", &address, &error),
        FL_E_INVALID);
    assert_null(strstr(error.text, "hunter2"));
}

static void test_address_host_has_at_most_253_bytes(void **state)
{
    char host[300], url[320];

    (void)state;
    memset(host, 'h', sizeof host);
    host[253] = '\0';
    snprintf(url, sizeof url, "tcp://%s:1", host);
    assert_string_equal(parse(url).host, host);
    host[253] = 'h', host[254] = '\0';
    snprintf(url, sizeof url, "tcp://%s:1", host);
    assert_refused(url, FL_E_INVALID, "longer than 253 bytes");
}

static void test_address_unix_is_a_path_or_an_abstract_name(void **state)
{
    (void)state;
    assert_string_equal(parse("unix:/run/x.sock").path, "/run/x.sock");
    assert_string_equal(parse("unix:///run/x.sock").path, "/run/x.sock");
    assert_string_equal(parse("unix:@name").path, "@name");
    assert_string_equal(parse("unix:x.sock").path, "x.sock");
    assert_string_equal(parse("unix:/a b?c").path, "/a b?c");
    assert_string_equal(parse("unix:/x").host, "");
    assert_false(parse("unix:/x").has_port);
    assert_refused("unix:", FL_E_INVALID, "unix:/PATH or unix:@NAME");
    assert_refused("unix://", FL_E_INVALID, "unix:/PATH or unix:@NAME");
}

static void test_address_http_goes_through_a_unix_socket(void **state)
{
    fl_address address = parse("unix:/run/x.sock#/mcp?key=1");

    (void)state;
    assert_string_equal(address.scheme, "http");
    assert_string_equal(address.host, "localhost");
    assert_string_equal(address.path, "/run/x.sock");
    assert_string_equal(address.target, "/mcp?key=1");
    assert_false(address.has_port);
    assert_true(fl_address_is_local(&address));
    assert_string_equal(fl_address_socket(&address), "/run/x.sock");
    assert_null(fl_address_host(&address));

    assert_string_equal(parse("unix:///x#").target, "");
    assert_string_equal(parse("unix:///x#").scheme, "http");
    assert_string_equal(parse("unix:@x#/a").path, "@x");
    assert_string_equal(parse("sse+unix:/x#/sse").scheme, "sse+http");
    assert_string_equal(parse("sse+unix:/x#/sse").target, "/sse");
    assert_string_equal(parse("sse+unix:///x").path, "/x");

    assert_refused("unix:/x#mcp", FL_E_INVALID, "unix:/PATH#/TARGET");
    assert_refused("unix:#/mcp", FL_E_INVALID, "unix:/PATH#/TARGET");
    assert_refused("unix://#/mcp", FL_E_INVALID, "unix:/PATH#/TARGET");
    assert_refused("sse+unix:", FL_E_INVALID, "sse+unix:/PATH#/TARGET");
    assert_refused("unix:/x#/a b", FL_E_INVALID, "not a URL");
}

static void test_address_http_is_known_by_the_text(void **state)
{
    (void)state;
    assert_true(fl_address_says_http("http://x/"));
    assert_true(fl_address_says_http("https://x/"));
    assert_true(fl_address_says_http("sse+http://x/"));
    assert_true(fl_address_says_http("unix:/x#/mcp"));
    assert_true(fl_address_says_http("sse+unix:/x"));
    assert_false(fl_address_says_http("unix:/x"));
    assert_false(fl_address_says_http("ws://x/"));
    assert_false(fl_address_says_http("tcp://127.0.0.1:1"));
}

static void test_address_target_behind_a_socket_is_bounded(void **state)
{
    char target[sizeof(fl_address){0}.target + 1], url[sizeof target + 16];

    (void)state;
    memset(target, 'a', sizeof target);
    target[0] = '/';
    target[sizeof target - 2] = '\0';
    snprintf(url, sizeof url, "unix:/x#%s", target);
    assert_string_equal(parse(url).target, target);
    target[sizeof target - 2] = 'a';
    target[sizeof target - 1] = '\0';
    snprintf(url, sizeof url, "unix:/x#%s", target);
    assert_refused(url, FL_E_INVALID, "longer than 1023 bytes");
}

static void test_address_unix_path_has_at_most_107_bytes(void **state)
{
    char path[120], url[140];

    (void)state;
    memset(path, 'p', sizeof path);
    path[107] = '\0';
    snprintf(url, sizeof url, "unix:%s", path);
    assert_string_equal(parse(url).path, path);
    path[107] = 'p', path[108] = '\0';
    snprintf(url, sizeof url, "unix:%s", path);
    assert_refused(url, FL_E_INVALID,
                   "is 108 bytes long, the system allows 107");
}

static void check_url(const char *url, const char *host, uint16_t port,
                      bool has_port, const char *target)
{
    fl_address address = parse(url);

    assert_string_equal(address.host, host);
    assert_int_equal(address.port, port);
    assert_int_equal(address.has_port, has_port);
    assert_string_equal(address.target, target);
    assert_string_equal(address.path, "");
}

static void test_address_websockets_have_the_ports_of_http(void **state)
{
    (void)state;
    check_url("ws://h/mcp", "h", 80, false, "/mcp");
    check_url("wss://h", "h", 443, false, "");
    check_url("ws://127.0.0.1:0/mcp", "127.0.0.1", 0, true, "/mcp");
    assert_true(fl_address_is_tls(&(fl_address){.scheme = "wss"}));
    assert_false(fl_address_is_tls(&(fl_address){.scheme = "ws"}));
    assert_refused("ws://user@h/", FL_E_INVALID, "no user name");
}

static void test_address_urls_have_host_port_and_target(void **state)
{
    (void)state;
    check_url("http://127.0.0.1", "127.0.0.1", 80, false, "");
    check_url("https://example.org/", "example.org", 443, false, "/");
    check_url("https://example.org:8443/mcp?a=b&c", "example.org", 8443, true,
              "/mcp?a=b&c");
    check_url("http://[::1]:8080/mcp#part", "::1", 8080, true, "/mcp");
    check_url("sse+http://h/sse", "h", 80, false, "/sse");
    check_url("sse+https://h/sse", "h", 443, false, "/sse");
    check_url("http://h?q=/@", "h", 80, false, "?q=/@");
    check_url("http://127.0.0.1:0/mcp", "127.0.0.1", 0, true, "/mcp");
    assert_string_equal(parse("sse+https://h/sse").scheme, "sse+https");
}

static void test_address_bad_urls_are_refused_unrepeated(void **state)
{
    static const char *const bad[] = {"http:",
                                      "http:/secret",
                                      "http://",
                                      "http:///secret",
                                      "http://h:secret/",
                                      "http://h:65536/secret",
                                      "http://h/a secret",
                                      "http://[::1/secret",
                                      "sse+http://:80/secret"};
    fl_address address;
    fl_error error;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_refused(bad[i], FL_E_INVALID, "want ");
        assert_int_equal(fl_address_parse(bad[i], &address, &error),
                         FL_E_INVALID);
        assert_null(strstr(error.text, "secret"));
    }
    assert_refused("https://user:pw@h/", FL_E_INVALID, "no user name");
    assert_refused("https://user@h/", FL_E_INVALID, "http.headers");
    assert_int_equal(fl_address_parse("https://user:pw@h/", &address, &error),
                     FL_E_INVALID);
    assert_null(strstr(error.text, "pw"));
}

static void test_address_target_is_held_to_its_limit(void **state)
{
    char url[1100];

    (void)state;
    memset(url, 'x', sizeof url);
    memcpy(url, "http://h/", 9);
    url[8 + 1023] = '\0';
    assert_int_equal(strlen(parse(url).target), 1023);
    url[8 + 1023] = 'x';
    url[8 + 1024] = '\0';
    assert_refused(url, FL_E_INVALID, "longer than 1023 bytes");
}

static void test_address_unknown_scheme_is_named(void **state)
{
    (void)state;
    assert_refused("gopher://h:1", FL_E_INVALID, "unknown scheme 'gopher'");
    assert_refused("TCP://h:1", FL_E_INVALID, "unknown scheme 'TCP'");
    assert_refused("tcp4://h:1", FL_E_INVALID, "unknown scheme 'tcp4'");
    assert_refused("0123456789abcde:x", FL_E_INVALID, "unknown scheme");
    assert_refused("0123456789abcdef:x", FL_E_INVALID, "0123456789abcdef:x");
    assert_refused("127.0.0.1:80", FL_E_INVALID, "127.0.0.1");
    assert_refused("", FL_E_INVALID, "want stdio:");
    assert_refused(":", FL_E_INVALID, "want stdio:");
    assert_refused("://h:1", FL_E_INVALID, "want stdio:");
    assert_refused(NULL, FL_E_INVALID, "want stdio:");
}

static void test_address_error_shows_no_control_characters(void **state)
{
    fl_address address;
    fl_error error;

    (void)state;
    assert_int_equal(fl_address_parse("tcp://\x1b[2J:1", &address, &error),
                     FL_E_INVALID);
    assert_null(strchr(error.text, '\x1b'));
}

static void test_address_loopback_and_unix_are_local(void **state)
{
    (void)state;
    assert_true(fl_address_is_local(&(fl_address){.host = ""}));
    assert_true(fl_address_is_local(&(fl_address){.host = "localhost"}));
    assert_true(fl_address_is_local(&(fl_address){.host = "127.0.0.1"}));
    assert_true(fl_address_is_local(&(fl_address){.host = "127.255.0.1"}));
    assert_true(fl_address_is_local(&(fl_address){.host = "::1"}));
}

static void test_address_everything_else_is_not_local(void **state)
{
    static const char *const public[] = {
        "0.0.0.0",
        "::",
        "192.0.2.1",
        "128.0.0.1",
        "12.7.0.1",
        "localhost.example.org",
        "example.org",
        "127.evil.example",
        "::2",
        "127.0.0.1.example",
        "1127.0.0.1",
        "localhos",
        "::ffff:192.0.2.1",
    };

    (void)state;
    for (size_t i = 0; i < sizeof public / sizeof *public; i++) {
        fl_address address = {0};
        snprintf(address.host, sizeof address.host, "%s", public[i]);
        if (fl_address_is_local(&address))
            fail_msg("'%s' was taken for local", public[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_address_stdio_is_just_that),
        cmocka_unit_test(test_address_tcp_and_tls_have_host_and_port),
        cmocka_unit_test(test_address_ipv6_host_loses_its_brackets),
        cmocka_unit_test(test_address_port_is_0_to_65535),
        cmocka_unit_test(test_address_of_a_url_says_that_its_port_is_none),
        cmocka_unit_test(test_address_refuses_what_it_would_have_to_ignore),
        cmocka_unit_test(test_address_never_repeats_a_password),
        cmocka_unit_test(test_address_host_has_at_most_253_bytes),
        cmocka_unit_test(test_address_unix_is_a_path_or_an_abstract_name),
        cmocka_unit_test(test_address_http_goes_through_a_unix_socket),
        cmocka_unit_test(test_address_http_is_known_by_the_text),
        cmocka_unit_test(test_address_target_behind_a_socket_is_bounded),
        cmocka_unit_test(test_address_unix_path_has_at_most_107_bytes),
        cmocka_unit_test(test_address_websockets_have_the_ports_of_http),
        cmocka_unit_test(test_address_urls_have_host_port_and_target),
        cmocka_unit_test(test_address_bad_urls_are_refused_unrepeated),
        cmocka_unit_test(test_address_target_is_held_to_its_limit),
        cmocka_unit_test(test_address_unknown_scheme_is_named),
        cmocka_unit_test(test_address_error_shows_no_control_characters),
        cmocka_unit_test(test_address_loopback_and_unix_are_local),
        cmocka_unit_test(test_address_everything_else_is_not_local),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
