/*
 * test_proxy.c - which proxy is asked, and the way through it.
 */
#include "http_mini.h"
#include "transport/http_proxy.h"

static void check_choice(const fl_proxy_env *env, bool tls, const char *host,
                         const char *proxy, uint16_t port)
{
    fl_proxy chosen;
    fl_error error;

    assert_int_equal(fl_proxy_choose(env, tls, host, 443, &chosen, &error),
                     FL_OK);
    assert_int_equal(chosen.used, proxy != NULL);
    if (proxy != NULL) {
        assert_string_equal(chosen.host, proxy);
        assert_int_equal(chosen.port, port);
    }
    fl_proxy_deinit(&chosen);
}

static void test_proxy_is_what_the_variables_say(void **state)
{
    fl_proxy_env env = {.http = "http://plain:3128", .https = "secure:8080/"};

    (void)state;
    check_choice(&env, false, "example.org", "plain", 3128);
    check_choice(&env, true, "example.org", "secure", 8080);
    check_choice(&(fl_proxy_env){0}, true, "example.org", NULL, 0);
    check_choice(&(fl_proxy_env){.https = "HTTP://[::1]"}, true, "example.org",
                 "::1", 1080);
    check_choice(&(fl_proxy_env){.https = "192.0.2.1"}, true, "example.org",
                 "192.0.2.1", 1080);
}

static void test_proxy_is_never_asked_for_loopback(void **state)
{
    fl_proxy_env env = {.http = "http://p:1", .https = "http://p:1"};
    static const char *const local[] = {"127.0.0.1", "127.9.9.9",
                                        "::1",       "localhost",
                                        "LOCALHOST", "a.localhost"};

    (void)state;
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        check_choice(&env, true, local[i], NULL, 0);
    check_choice(&env, true, "notlocalhost", "p", 1);
    check_choice(&env, true, "128.0.0.1", "p", 1);
}

static void test_proxy_exceptions_follow_curl(void **state)
{
    static const struct {
        const char *no, *host;
        uint16_t port;
        bool excepted;
    } cases[] = {
        {"*", "anything", 1, true},
        {"", "anything", 1, false},
        {NULL, "anything", 1, false},
        {"example.org", "example.org", 1, true},
        {"example.org", "EXAMPLE.org", 1, true},
        {"example.org", "a.example.org", 1, true},
        {".example.org", "a.example.org", 1, true},
        {".example.org", "example.org", 1, true},
        {"example.org", "badexample.org", 1, false},
        {"example.org", "example.org.evil", 1, false},
        {"ample.org", "example.org", 1, false},
        {"x, example.org ,y", "example.org", 1, true},
        {"x example.org", "example.org", 1, true},
        {"10.0.0.0/8", "10.1.2.3", 1, true},
        {"10.0.0.0/8", "11.1.2.3", 1, false},
        {"192.0.2.1", "192.0.2.1", 1, true},
        {"192.0.2.1", "192.0.2.11", 1, false},
        {"fd00::/8", "fd00::1", 1, true},
        {"[fd00::1]", "fd00::1", 1, true},
        {"fd00::1", "fd00::1", 1, true},
        {"fd00::1", "fd00::2", 1, false},
        {"example.org:8080", "example.org", 8080, true},
        {"example.org:8080", "example.org", 80, false},
        {"[fd00::1]:80", "fd00::1", 80, true},
        {"[fd00::1]:80", "fd00::1", 81, false},
        {",,,", "example.org", 1, false},
        {"[", "example.org", 1, false},
        {".", "example.org", 1, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (fl_proxy_excepts(cases[i].no, cases[i].host, cases[i].port) !=
            cases[i].excepted)
            fail_msg("'%s' and '%s'", cases[i].no, cases[i].host);
}

static void test_proxy_url_that_makes_no_sense_is_refused(void **state)
{
    static const char *const bad[] = {
        "socks5://secret@p:1", "https://secret@p:1", "http://",
        "http://secret@:1",    "http://p:secret",    "http://a b:1",
        "http://s%zzecret@p:1"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fl_proxy_env env = {.https = bad[i]};
        fl_proxy chosen;
        fl_error error;
        assert_int_equal(
            fl_proxy_choose(&env, true, "example.org", 1, &chosen, &error),
            FL_E_INVALID);
        assert_false(chosen.used);
        assert_non_null(strstr(error.text, "https_proxy"));
        assert_null(strstr(error.text, "secret"));
    }
}

static void test_proxy_variables_are_curls(void **state)
{
    static const char *const names[] = {
        "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY",
        "all_proxy",  "ALL_PROXY",  "no_proxy",    "NO_PROXY"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    setenv("HTTP_PROXY", "http://never", 1); /* see httpoxy.org */
    fl_proxy_env env = fl_proxy_env_read();
    assert_null(env.http);
    assert_null(env.https);
    assert_null(env.no);
    setenv("ALL_PROXY", "all", 1);
    setenv("NO_PROXY", "no", 1);
    env = fl_proxy_env_read();
    assert_string_equal(env.http, "all");
    assert_string_equal(env.https, "all");
    assert_string_equal(env.no, "no");
    setenv("http_proxy", "h", 1);
    setenv("HTTPS_PROXY", "S", 1);
    env = fl_proxy_env_read();
    assert_string_equal(env.http, "h");
    assert_string_equal(env.https, "S");
    setenv("https_proxy", "s", 1);
    setenv("all_proxy", "a", 1);
    assert_string_equal(fl_proxy_env_read().https, "s");
    setenv("https_proxy", "", 1); /* empty is not set */
    assert_string_equal(fl_proxy_env_read().https, "S");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
}

static void set_proxy(const char *name, const char *userinfo)
{
    char url[128];

    snprintf(url, sizeof url, "http://%s127.0.0.1:%u", userinfo, at.port);
    setenv(name, url, 1);
}

static void test_proxy_gets_whole_urls_of_plain_requests(void **state)
{
    (void)state;
    rig_begin();
    set_proxy("http_proxy", "user:p%40ss@");
    rig_connect_to("http://server.test:8000/mcp?a=b",
                   &(fl_options){.http.allow_plaintext = true});
    io_until(at.loop, at.opened == 1);
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST http://server.test:8000/mcp?a=b HTTP/1.1\n");
    http_has("host", "server.test:8000");
    http_has("proxy-authorization", "Basic dXNlcjpwQHNz");
    http_say_json(&one, ANSWER("1"));
    rig_hears(0, ANSWER("1"));
    rig_end();

    rig_begin(); /* and if it shall not, it is not */
    set_proxy("http_proxy", "");
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/mcp", at.port);
    rig_connect_to(url, &(fl_options){.http.no_proxy = true});
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp HTTP/1.1\n");
    http_lacks("proxy-authorization");
    rig_end();
    unsetenv("http_proxy");
}

static void test_proxy_of_plain_requests_is_not_asked_in_http2(void **state)
{
    const fl_options options = {
        .http = {.allow_plaintext = true, .http2_only = true}};
    fl_link *link;
    fl_error error;

    (void)state;
    rig_begin();
    set_proxy("http_proxy", "");
    assert_int_equal(fl_link_connect(at.loop, "http://server.test:8000/mcp",
                                     &options, &rig_events, NULL, &link,
                                     &error),
                     FL_E_UNSUPPORTED);
    assert_non_null(strstr(error.text, "http2_only"));
    unsetenv("http_proxy");
    close(at.listener);
    fl_loop_free(at.loop);
}

/* A proxy with one tunnel: from `one` to the mini server and back. */
static int tunnel = -1;

static void pump(int from, int to)
{
    char bytes[4096];
    ssize_t n;

    while ((n = recv(from, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        assert_int_equal(send(to, bytes, (size_t)n, MSG_NOSIGNAL), n);
}

#define through_tunnel(condition)                                              \
    for (time_t begun = io_seconds(); !(condition);) {                         \
        assert_true(io_seconds() - begun < stretched(30));                     \
        io_turn(at.loop);                                                      \
        pump(one.fd, tunnel);                                                  \
        pump(tunnel, one.fd);                                                  \
    }

static int proxy_door(void)
{
    static const char *const alpn[] = {"h2", "http/1.1", NULL};

    mini_begin(alpn, 0);
    at.port = 0;
    return at.listener = raw_listen(&at.port);
}

static void test_proxy_leads_tls_through_a_tunnel(void **state)
{
    int door = proxy_door();

    (void)state;
    set_proxy("https_proxy", "u:p@");
    rig_connect_to("https://server.test/mcp",
                   &(fl_options){.tls.ca_file = mini_cert});
    io_until(at.loop, at.opened == 1);
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "CONNECT server.test:443 HTTP/1.1\n");
    http_has("host", "server.test:443");
    http_has("proxy-authorization", "Basic dTpw");
    raw_hears_nothing(&one); /* TLS waits for the answer */
    static const char yes[] = "HTTP/1.1 200 Connection established\r\n"
                              "X: y\r\n\r\n";
    for (size_t i = 0; i < sizeof yes - 1; i++) { /* cut everywhere */
        raw_put(&one, yes + i, 1);
        fl_loop_step(at.loop);
    }
    tunnel = raw_dial(mini.port);
    through_tunnel(at.messages == 1);
    assert_string_equal(at.heard[0], ANSWER("1"));
    assert_int_equal(mini.last_version, 20);
    assert_string_equal(mini.authority, "server.test");
    unsetenv("https_proxy");
    close(tunnel);
    mini_end();
    close(door);
}

static void check_no_tunnel(const char *answer, const char *part)
{
    int door = proxy_door();

    set_proxy("https_proxy", "u:secret@");
    rig_connect_to("https://server.test/mcp",
                   &(fl_options){.tls.ca_file = mini_cert,
                                 .no_reconnect = true,
                                 .open_timeout_ms = 200});
    io_until(at.loop, at.opened == 1);
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "CONNECT");
    http_put(&one, answer);
    if (answer[0] == '\0' && part[0] == 'i')
        raw_close(&one);
    rig_hears_part(0, part);
    assert_null(strstr(at.heard[0], "secret"));
    unsetenv("https_proxy");
    mini_end();
    close(door);
}

static void test_proxy_says_why_there_is_no_tunnel(void **state)
{
    static char endless[20 * 1024];

    (void)state;
    check_no_tunnel("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
                    "proxy: it answered 'HTTP/1.1 407 Proxy Authentication "
                    "Required'");
    check_no_tunnel("HTTP/1.1 503 No\n\n", "503 No");
    check_no_tunnel("SSH-2.0-x\r\n\r\n", "proxy: its answer is not HTTP");
    check_no_tunnel("HTTP/1.1 200 OK\r\n\r\nTLS?",
                    "proxy: it speaks before the server does");
    check_no_tunnel("", "it closed the connection");
    check_no_tunnel("", "proxy: no answer from 127.0.0.1");
    memset(endless, 'x', sizeof endless - 1);
    check_no_tunnel(endless, "proxy: its answer is too long");
}

static void test_proxy_connect_head_brackets_ipv6(void **state)
{
    fl_proxy proxy = {.used = true};
    fl_buf out;

    (void)state;
    fl_buf_init(&out, 512);
    assert_int_equal(fl_proxy_write_connect(&proxy, "::1", 443, &out), FL_OK);
    assert_string_equal(fl_buf_view(&out).ptr,
                        "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n"
                        "\r\n");
    fl_buf_reset(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_proxy_is_what_the_variables_say),
        cmocka_unit_test(test_proxy_is_never_asked_for_loopback),
        cmocka_unit_test(test_proxy_exceptions_follow_curl),
        cmocka_unit_test(test_proxy_url_that_makes_no_sense_is_refused),
        cmocka_unit_test(test_proxy_variables_are_curls),
        cmocka_unit_test(test_proxy_gets_whole_urls_of_plain_requests),
        cmocka_unit_test(test_proxy_of_plain_requests_is_not_asked_in_http2),
        cmocka_unit_test(test_proxy_leads_tls_through_a_tunnel),
        cmocka_unit_test(test_proxy_says_why_there_is_no_tunnel),
        cmocka_unit_test(test_proxy_connect_head_brackets_ipv6),
    };

    return cmocka_run_group_tests_name("proxy", tests, mini_make_files,
                                       mini_remove_files);
}
