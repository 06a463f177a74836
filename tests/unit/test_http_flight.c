/*
 * test_http_flight.c - redirects, packed bodies, limits, and the options of a
 * client, seen from both ends of a link.
 */
#include "http_rig.h"
#include "wire/deflate.h"

static void say_moved(const char *status, const char *location)
{
    char more[512];

    snprintf(more, sizeof more, "Location: %s\r\n", location);
    http_say(&one, status, more, "moved");
}

static void begin(const char *text)
{
    rig_open(NULL);
    rig_sends(text);
    http_accept(&one);
    http_hear(&one, "POST /mcp HTTP/1.1\n");
}

static void test_http_flight_follows_redirects_at_home(void **state)
{
    char absolute[128];

    (void)state;
    begin(ASK("1", "m"));
    say_moved("307 Temporary Redirect", "/mcp/?a=b");
    http_hear(&one, "POST /mcp/?a=b HTTP/1.1\n");
    http_hears_body(ASK("1", "m"));
    http_has("content-type", "application/json");
    snprintf(absolute, sizeof absolute, "http://127.0.0.1:%u/x", at.port);
    say_moved("308 Permanent Redirect", absolute);
    http_hear(&one, "POST /x HTTP/1.1\n");
    http_hears_body(ASK("1", "m"));
    http_say_json(&one, ANSWER("1"));
    rig_hears(0, ANSWER("1"));
    rig_end();
}

static void check_refused(const char *status, const char *location,
                          const char *part)
{
    begin(ASK("1", "m"));
    say_moved(status, location);
    rig_hears_part(0, "\"id\":1,\"error\"");
    rig_hears_part(0, part);
    rig_hears_part(0, "\"httpStatus\":30");
    raw_hears_nothing(&one);
    assert_true(rig_nobody_comes());
    rig_end();
}

static void test_http_flight_follows_no_other_redirects(void **state)
{
    (void)state;
    check_refused("307 Temporary Redirect", "https://example.org/secret?t=1",
                  "redirect to https://example.org is not followed");
    check_refused("307 Temporary Redirect", "http://127.0.0.1:1/",
                  "redirect to http://127.0.0.1:1 is not followed");
    check_refused("302 Found", "/other", "is not followed");
    check_refused("301 Moved Permanently", "/other", "is not followed");
    check_refused("303 See Other", "/other", "is not followed");
    check_refused("308 Permanent Redirect", "http://[", "no URL");
    begin(ASK("1", "m"));
    http_say(&one, "307 Temporary Redirect", "", "");
    rig_hears_part(0, "redirect to nowhere");
    rig_end();
}

static void test_http_flight_tells_no_secret_of_a_redirect(void **state)
{
    (void)state;
    begin(ASK("1", "m"));
    say_moved("307 Temporary Redirect", "https://example.org/secret?token=1");
    assert_null(strstr(rig_heard(0), "secret"));
    assert_null(strstr(rig_heard(0), "token"));
    rig_end();
}

static void test_http_flight_follows_five_redirects_and_no_sixth(void **state)
{
    (void)state;
    begin(ASK("1", "m"));
    for (int i = 0; i < 5; i++) {
        say_moved("307 Temporary Redirect", "/mcp");
        http_hear(&one, "POST /mcp HTTP/1.1\n");
    }
    http_say_json(&one, ANSWER("1"));
    rig_hears(0, ANSWER("1"));

    rig_sends(ASK("2", "m"));
    for (int i = 0; i < 6; i++) {
        http_hear(&one, "POST /mcp HTTP/1.1\n");
        say_moved("307 Temporary Redirect", "/mcp");
    }
    rig_hears_part(1, "is not followed");
    raw_hears_nothing(&one);
    rig_end();
}

static fl_buf packed;

static void pack(const char *text, size_t len)
{
    fl_deflate *deflate = fl_deflate_new(FL_CODING_GZIP, 0);
    fl_span span = {text, len};

    fl_buf_init(&packed, 1 << 20);
    assert_non_null(deflate);
    assert_true(fl_deflate_feed(deflate, &span, 1, FL_DEFLATE_END, &packed) >=
                0);
    fl_deflate_free(deflate);
}

static void say_packed(const char *more)
{
    char head[512];

    snprintf(head, sizeof head,
             "HTTP/1.1 200 OK\r\n%sContent-Encoding: gzip\r\n"
             "Content-Length: %zu\r\n\r\n",
             more, fl_buf_len(&packed));
    http_put(&one, head);
    fl_span bytes = fl_buf_view(&packed);
    for (size_t i = 0; i < bytes.len; i++) { /* cut everywhere */
        raw_put(&one, bytes.ptr + i, 1);
        io_turn(at.loop);
    }
    fl_buf_reset(&packed);
}

static void test_http_flight_unpacks_bodies_and_streams(void **state)
{
    (void)state;
    begin(ASK("1", "m"));
    pack(ANSWER("1"), strlen(ANSWER("1")));
    say_packed(JSON);
    rig_hears(0, ANSWER("1"));

    const char *events = "data: " NOTE("n") "\n\ndata: " ANSWER("2") "\n\n";
    rig_sends(ASK("2", "m"));
    http_hear(&one, "POST /mcp");
    pack(events, strlen(events));
    say_packed(EVENTS);
    rig_hears(1, NOTE("n"));
    rig_hears(2, ANSWER("2"));
    rig_end();
}

static void test_http_flight_refuses_a_bomb(void **state)
{
    static char zeroes[1 << 20];

    (void)state;
    rig_open(&(fl_options){.max_message = 64 * 1024});
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    pack(zeroes, sizeof zeroes);
    fl_span bytes = fl_buf_view(&packed);
    char head[256];
    snprintf(head, sizeof head,
             "HTTP/1.1 200 OK\r\n" JSON "Content-Encoding: gzip\r\n"
             "Content-Length: %zu\r\n\r\n",
             bytes.len);
    http_put(&one, head);
    raw_put(&one, bytes.ptr, bytes.len);
    rig_hears_part(0, "\"id\":1,\"error\":{\"code\":-32012,");
    fl_buf_reset(&packed);
    rig_end();
}

static void test_http_flight_refuses_codings_it_did_not_ask_for(void **state)
{
    (void)state;
    begin(ASK("1", "m"));
    http_say(&one, "200 OK", JSON "Content-Encoding: br\r\n", "xxxx");
    rig_hears_part(0, "\"id\":1,\"error\"");
    rig_hears_part(0, "E_UNSUPPORTED");
    rig_end();
}

static void test_http_flight_asks_for_nothing_packed_if_told_so(void **state)
{
    (void)state;
    rig_open(&(fl_options){.http.no_compression = true});
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_lacks("accept-encoding");
    rig_end();
}

/* An answer of exactly `size` bytes. */
static const char *sized_answer(size_t size)
{
    static char text[8192];
    const char *head = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"";

    memset(text, 'x', size);
    memcpy(text, head, strlen(head));
    memcpy(text + size - 2, "\"}", 3);
    return text;
}

static void test_http_flight_holds_answers_to_the_limit(void **state)
{
    (void)state;
    rig_open(&(fl_options){.max_message = 2048});
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_say_json(&one, sized_answer(2048));
    rig_hears(0, sized_answer(2048));
    rig_sends(ASK("1", "m"));
    http_hear(&one, "POST /mcp");
    http_say_json(&one, sized_answer(2049));
    rig_hears_part(1, "\"code\":-32012,");
    assert_int_equal(rig_send(sized_answer(2049)), FL_E_TOO_BIG);
    assert_int_equal(rig_send("nonsense"), FL_E_BAD_MESSAGE);
    rig_end();
}

static void test_http_flight_sends_custom_fields(void **state)
{
    static const char *const headers[] = {
        "Authorization: Bearer  t0ken ", "X-Api-Key:k",
        "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "X-Empty:", NULL};

    (void)state;
    rig_open(&(fl_options){.http.headers = headers});
    rig_sends(ASK("1", "m"));
    http_accept(&one);
    http_hear(&one, "POST /mcp");
    http_has("authorization", "Bearer  t0ken");
    http_has("x-api-key", "k");
    http_has("traceparent",
             "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    http_has("x-empty", "");
    http_has("content-type", "application/json");
    rig_end();
}

static void check_options(const char *url, const fl_options *options,
                          fl_status status, const char *part,
                          const char *secret)
{
    fl_loop *loop = io_loop();
    fl_error error = {0};
    fl_link *link;

    assert_int_equal(
        fl_link_connect(loop, url, options, &rig_events, NULL, &link, &error),
        status);
    if (strstr(error.text, part) == NULL)
        fail_msg("no '%s' in '%s'", part, error.text);
    if (secret != NULL)
        assert_null(strstr(error.text, secret));
    fl_loop_free(loop);
}

static void
test_http_flight_refuses_fields_that_are_not_ours_to_set(void **state)
{
    static const char *const bad[] = {
        "Content-Length: 5",
        "host: secret",
        "Mcp-Session-Id: x",
        "MCP-Protocol-Version: x",
        "Connection: close",
        "Transfer-Encoding: chunked",
        "Accept: */*",
        "Proxy-Authorization: secret",
        "X-Evil: secret\r\nA: b",
        "no colon secret",
        "bad name: secret",
        ": secret",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *const headers[] = {bad[i], NULL};
        check_options("http://127.0.0.1:1/",
                      &(fl_options){.http.headers = headers}, FL_E_INVALID,
                      "http.headers", "secret");
    }
}

static void test_http_flight_wants_tls_for_other_machines(void **state)
{
    (void)state;
    check_options("http://example.org/mcp", NULL, FL_E_INVALID,
                  "http.allow_plaintext", NULL);
    check_options("sse+http://192.0.2.1/mcp", NULL, FL_E_INVALID,
                  "--allow-http", NULL);
    check_options("http://user:pw@127.0.0.1/", NULL, FL_E_INVALID, "user name",
                  "pw");
    check_options(
        "http://127.0.0.1/",
        &(fl_options){.http = {.http1_only = true, .http2_only = true}},
        FL_E_INVALID, "http.http2_only", NULL);
    /* these are fine: nothing is connected before something is sent */
    rig_begin();
    rig_connect_to("http://192.0.2.1/mcp",
                   &(fl_options){.http.allow_plaintext = true});
    rig_end();
    rig_begin();
    rig_connect_to("https://192.0.2.1/mcp", NULL);
    rig_end();
}

static void test_http_flight_says_where_its_link_goes(void **state)
{
    fl_link_info info;
    char peer[64];

    (void)state;
    rig_open(&(fl_options){.max_message = 4096});
    fl_link_get_info(at.link, &info);
    snprintf(peer, sizeof peer, "127.0.0.1:%u", at.port);
    assert_string_equal(info.peer, peer);
    assert_string_equal(info.kind, "http");
    assert_int_equal(info.max_message, 4096);
    assert_int_equal(info.traits, FL_LINK_NETWORK | FL_LINK_RECONNECTS);
    rig_end();
}

/* Every allocation of a whole conversation, refused in turn. */

static void converse(void *user)
{
    fl_error error;
    fl_span text = FL_SPAN(ASK("1", "m"));

    (void)user;
    at = (rig){.loop = fl_loop_new()};
    if (at.loop == NULL)
        return;
    at.listener = raw_listen(&at.port);
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/mcp", at.port);
    if (fl_link_connect(
            at.loop, url,
            &(fl_options){.no_reconnect = true, .open_timeout_ms = 1000},
            &rig_events, NULL, &at.link, &error) == FL_OK) {
        fl_link_ref(at.link);
        if (fl_link_send(at.link, &text, 1) == FL_OK) {
            int fd = -1;
            io_until(at.loop, (fd = accept(at.listener, NULL, NULL)) >= 0 ||
                                  at.messages > 0 || at.closed > 0);
            if (fd >= 0) {
                const char *said =
                    "HTTP/1.1 200 OK\r\n" EVENTS
                    "Mcp-Session-Id: s\r\n\r\nid: 1\ndata: " ANSWER("1") "\n\n";
                assert_int_equal(write(fd, said, strlen(said)),
                                 (ssize_t)strlen(said));
                for (int i = 0; i < 10 && at.messages == 0; i++)
                    io_turn(at.loop);
                close(fd);
            }
            io_until(at.loop, at.messages > 0 || at.closed > 0);
        }
        fl_link_close(at.link);
        io_until(at.loop, at.closed == 1);
        fl_link_unref(at.link);
    }
    close(at.listener);
    for (int i = 0; i < 20; i++)
        fl_loop_step(at.loop);
    fl_loop_free(at.loop);
}

static void test_http_flight_survives_any_allocation_refused(void **state)
{
    (void)state;
    assert_true(ration_each(converse, NULL) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http_flight_follows_redirects_at_home),
        cmocka_unit_test(test_http_flight_follows_no_other_redirects),
        cmocka_unit_test(test_http_flight_tells_no_secret_of_a_redirect),
        cmocka_unit_test(test_http_flight_follows_five_redirects_and_no_sixth),
        cmocka_unit_test(test_http_flight_unpacks_bodies_and_streams),
        cmocka_unit_test(test_http_flight_refuses_a_bomb),
        cmocka_unit_test(test_http_flight_refuses_codings_it_did_not_ask_for),
        cmocka_unit_test(test_http_flight_asks_for_nothing_packed_if_told_so),
        cmocka_unit_test(test_http_flight_holds_answers_to_the_limit),
        cmocka_unit_test(test_http_flight_sends_custom_fields),
        cmocka_unit_test(
            test_http_flight_refuses_fields_that_are_not_ours_to_set),
        cmocka_unit_test(test_http_flight_wants_tls_for_other_machines),
        cmocka_unit_test(test_http_flight_says_where_its_link_goes),
        cmocka_unit_test(test_http_flight_survives_any_allocation_refused),
    };

    return cmocka_run_group_tests_name("http_flight", tests, NULL, NULL);
}
