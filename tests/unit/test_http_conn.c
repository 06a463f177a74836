/*
 * test_http_conn.c - connections on which something goes wrong, and what
 * becomes of all of them when the server closes.
 */
#include "h2_peer.h"
#include "link_host.h"

enum { MAX = 4096 };

static server_host host;
static link_host low; /* for what only a listener without a server shows */
static http_answer answer;
static raw_peer second, third, fourth;
static h2_text text;
static h2_frame frame;
static char fields[256];

static void put(raw_peer *peer, const char *bytes)
{
    raw_put(peer, bytes, strlen(bytes));
}

static void expect(raw_peer *peer, int status, const char *part)
{
    http_hear(peer, &answer);
    if (answer.status != status || strstr(answer.body, part) == NULL)
        fail_msg("want %d with '%s', got %d: %s", status, part, answer.status,
                 answer.body);
}

static void serve(const fl_options *options)
{
    http_begin(&host, options);
    http_open_session(&host.peer, "2025-06-18", fields);
}

#define CHUNKED                                                                \
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" HTTP_POST_FIELDS               \
    "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n"

static void test_conn_with_a_bad_chunk_is_told_and_ends(void **state)
{
    static const char *const bad[] = {"ZZ\r\n", "-1\r\n", "1\r\n:XX",
                                      "fffffffffffffffff\r\n", "\r\n"};

    (void)state;
    link_begin(&low, NULL, fields);
    const fl_http_hub *hub = link_session(&low)->caller->hub;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        link_dial(&low, &second);
        put(&second, CHUNKED);
        io_until(low.loop, hub->budget.used == 5); /* the request has begun */
        put(&second, bad[i]);
        expect(&second, 400, "-32600");
        raw_hears_end(&second);
        raw_close(&second);
        io_until(low.loop, hub->connections == 1);
        assert_int_equal(hub->budget.used, 0);
    }
    link_pass(&low, 31000); /* longer than a body may take */
    http_post(&low.peer, fields, ASK("1"));
    link_asked(&low, 1);
    link_end(&low);
}

/* A message as long as one may be, nearly all of it its id. */
static const char *with_long_id(void)
{
    static char body[MAX + 1];
    const char *head = "{\"jsonrpc\":\"2.0\",\"method\":\"nope\",\"id\":\"";

    memset(body, 'i', MAX);
    memcpy(body, head, strlen(head));
    memcpy(body + MAX - 2, "\"}", 3);
    return body;
}

static void test_conn_answers_an_id_too_long_without_it(void **state)
{
    (void)state;
    serve(&(fl_options){.max_message = MAX});
    http_post(&host.peer, fields, with_long_id());
    expect(&host.peer, 200, "\"id\":null,\"error\":{\"code\":-32601");
    assert_non_null(strstr(answer.body, "too long"));
    http_post(&host.peer, "", with_long_id()); /* nor without a session */
    expect(&host.peer, 400, "\"id\":null,\"error\"");
    /* one who waits in the same session, and the session, live on */
    http_post(&host.peer, fields, CALL("1", "wait", "{}"));
    host_kept(&host, 1);
    host_dial(&host, &second);
    http_post(&second, fields, with_long_id());
    expect(&second, 200, "too long");
    host_answer(&host, 0, "still here");
    expect(&host.peer, 200, TEXT_ANSWER("1", "still here"));
    raw_close(&second);
    host_end(&host);
}

#define MODERN_FIELDS HTTP_MODERN("tools/call") "Mcp-Name: wait\r\n"

static void test_conn_of_http2_survives_an_id_too_long(void **state)
{
    (void)state;
    serve(&(fl_options){.max_message = MAX});
    host_dial(&host, &second);
    h2_begin(&second, H2_WINDOW);
    h2_post(&text, 1, MODERN_FIELDS, HTTP_MODERN_CALL("1", "wait", "{}"), true);
    h2_post(&text, 3, "", with_long_id(), true);
    h2_flush(&second, &text);
    h2_hear_type(&second, H2_DATA, &frame);
    assert_int_equal(frame.stream, 3);
    assert_non_null(strstr(frame.payload, "too long"));
    host_kept(&host, 1);
    host_answer(&host, 0, "still here");
    h2_hear_type(&second, H2_DATA, &frame);
    assert_int_equal(frame.stream, 1);
    assert_non_null(strstr(frame.payload, "still here"));
    assert_int_equal(host.cancelled, 0);
    raw_close(&second);
    host_end(&host);
}

static void test_conn_is_idle_from_its_last_answer_on(void **state)
{
    (void)state;
    serve(&(fl_options){.idle_timeout_ms = 1000}); /* shorter than the lease */
    host_dial(&host, &second);
    io_some_turns(host.loop);
    host.now += 999;
    raw_hears_nothing(&host.peer);
    host.now += 1;
    raw_hears_end(&host.peer);
    raw_hears_nothing(&second); /* it has said nothing yet: 30 s */
    host.now += 28999;
    raw_hears_nothing(&second);
    host.now += 1;
    raw_hears_end(&second);
    raw_close(&second);
    host_end(&host);
}

static void test_conn_of_http2_that_is_idle_hears_good_bye(void **state)
{
    (void)state;
    serve(NULL);
    host_dial(&host, &second);
    h2_begin(&second, H2_WINDOW);
    h2_post(&text, 1, fields, CALL("1", "echo", "{\"text\":\"a\"}"), true);
    h2_flush(&second, &text);
    h2_hear_type(&second, H2_DATA, &frame);
    host.now += 300000;
    h2_hear_type(&second, H2_GOAWAY, &frame);
    h2_hears_end(&second);
    raw_close(&second);
    host_end(&host);
}

static void check_open(raw_peer *peer)
{
    io_some_turns(host.loop);
    raw_read(peer);
    assert_false(peer->ended);
}

/* HEADERS that lack the last bytes of a request's, or those alone. */
static void half_a_head(h2_text *to, uint32_t stream, bool rest)
{
    static h2_text whole;

    whole.len = 0;
    h2_post(&whole, stream, fields, CALL("1", "echo", "{\"text\":\"a\"}"),
            true);
    if (rest)
        h2_bytes(to, whole.room + 20, whole.len - 20);
    else
        h2_bytes(to, whole.room, 20);
}

static void test_conn_of_http2_must_end_its_heads(void **state)
{
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

    (void)state;
    serve(NULL);
    host_dial(&host, &second);
    raw_put(&second, preface, 10);
    host_dial(&host, &third);
    raw_put(&third, preface, 24); /* and no SETTINGS */
    host_dial(&host, &fourth);
    h2_begin(&fourth, H2_WINDOW);
    h2_add(&text, H2_HEADERS, 0, 1, FL_SPAN("\x83")); /* :method POST */
    h2_flush(&fourth, &text);
    io_some_turns(host.loop);
    host.now += 9999;
    check_open(&second);
    check_open(&third);
    check_open(&fourth);
    host.now += 1;
    raw_hears_end(&second);
    /* without a word: it would be out of place, and the end of it, too */
    io_until(host.loop, (raw_read(&third), third.ended));
    io_until(host.loop, (raw_read(&fourth), fourth.ended));
    h2_hear_type(&fourth, H2_GOAWAY, &frame);
    assert_memory_equal(frame.payload + 4, "\0\0\0\x0b", 4); /* calm */
    h2_hears_end(&fourth);
    raw_close(&second);
    raw_close(&third);
    raw_close(&fourth);
    host_end(&host);
}

static void test_conn_of_http2_has_its_time_for_each_head(void **state)
{
    (void)state;
    serve(NULL);
    host_dial(&host, &second);
    h2_begin(&second, H2_WINDOW);
    for (uint32_t stream = 1; stream < 9; stream += 2) {
        half_a_head(&text, stream, false);
        h2_flush(&second, &text);
        io_some_turns(host.loop);
        host.now += 9999;
        check_open(&second);
        half_a_head(&text, stream, true); /* leaves with the next one's half */
    }
    h2_flush(&second, &text);
    do
        h2_hear_type(&second, H2_DATA, &frame);
    while (frame.stream != 7);
    host.now += 10000; /* nothing is waited for now */
    check_open(&second);
    raw_close(&second);
    host_end(&host);
}

static void test_conn_half_closed_waits_for_each_answer_a_little(void **state)
{
    (void)state;
    serve(NULL);
    http_post(&host.peer, fields, CALL("1", "wait", "{}"));
    http_post(&host.peer, fields, CALL("2", "wait", "{}"));
    raw_finish(&host.peer);
    host_kept(&host, 1);
    io_some_turns(host.loop);
    host_answer(&host, 0, "a");
    expect(&host.peer, 200, TEXT_ANSWER("1", "a"));
    host_kept(&host, 2);
    io_some_turns(host.loop);
    host.now += 1500;
    raw_hears_end(&host.peer);
    host_end(&host);
}

static void with_version(char to[256], const char *version)
{
    snprintf(to, 256, "%.*s\r\nMCP-Protocol-Version: %s\r\n",
             (int)strcspn(fields, "\r"), fields, version);
}

static void test_conn_refuses_versions_nobody_knows(void **state)
{
    char bogus[256];

    (void)state;
    serve(NULL);
    with_version(bogus, "1999-01-01");
    http_get(&host.peer, "/mcp", bogus);
    expect(&host.peer, 400, "MCP-Protocol-Version");
    http_send(&host.peer, "DELETE", "/mcp", bogus, "");
    expect(&host.peer, 400, "MCP-Protocol-Version");
    http_post(&host.peer, bogus, CALL("1", "echo", "{\"text\":\"a\"}"));
    expect(&host.peer, 400, "MCP-Protocol-Version");
    http_post(&host.peer, fields, CALL("1", "echo", "{\"text\":\"a\"}"));
    expect(&host.peer, 200, TEXT_ANSWER("1", "a")); /* it was not ended */
    host_end(&host);
}

static void test_conn_takes_a_modern_version_at_its_word(void **state)
{
    char modern[256];

    (void)state;
    serve(NULL);
    with_version(modern, "2026-07-28");
    http_post(&host.peer, modern, CALL("1", "echo", "{\"text\":\"a\"}"));
    expect(&host.peer, 400, "\"id\":1,\"error\":{\"code\":-32602");
    host_end(&host);
}

/* The server closes. */

#define HALF_A_BODY                                                            \
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" HTTP_POST_FIELDS               \
    "Content-Length: 100\r\n\r\n{"

static void test_conn_with_half_a_body_is_told_of_the_end(void **state)
{
    (void)state;
    link_begin(&low, NULL, fields);
    const fl_http_hub *hub = link_session(&low)->caller->hub;
    link_dial(&low, &second);
    put(&second, HALF_A_BODY);
    link_dial(&low, &third);
    h2_begin(&third, H2_WINDOW);
    h2_post(&text, 1, fields, "{", false);
    h2_flush(&third, &text);
    io_until(low.loop, hub->budget.used == 2);
    fl_listener_close(low.listener);
    expect(&second, 503, "closing");
    assert_string_equal(http_field(&answer, "connection"), "close");
    raw_hears_end(&second);
    raw_close(&second); /* it is heard out until it has seen that */
    h2_hear_type(&third, H2_DATA, &frame);
    assert_non_null(strstr(frame.payload, "closing"));
    h2_hears_end(&third);
    io_until(low.loop, low.finished); /* and no time has passed */
    assert_int_equal(hub->budget.used, 0);
    raw_close(&third);
    link_end(&low);
}

static void test_conn_that_is_idle_goes_at_once(void **state)
{
    (void)state;
    link_begin(&low, NULL, fields);
    link_dial(&low, &second); /* says nothing */
    link_dial(&low, &third);
    put(&third, "POST /mcp HTTP/1.1\r\nHo");
    link_dial(&low, &fourth);
    h2_begin(&fourth, H2_WINDOW);
    h2_hear_type(&fourth, H2_SETTINGS, &frame);
    io_until(low.loop, link_session(&low)->caller->hub->connections == 4);
    fl_listener_close(low.listener);
    raw_hears_end(&low.peer);
    raw_hears_end(&second);
    raw_hears_end(&third);
    h2_hears_end(&fourth);
    io_until(low.loop, low.finished);
    raw_close(&second);
    raw_close(&third);
    raw_close(&fourth);
    link_end(&low);
}

static void test_conn_that_reads_nothing_holds_the_end_for_a_while(void **state)
{
    (void)state;
    link_begin(&low, NULL, fields);
    link_dial(&low, &second);
    h2_begin(&second, 0);
    h2_post(&text, 1, fields, ASK("1"), true);
    h2_flush(&second, &text);
    link_asked(&low, 1);
    assert_int_equal(link_answer(&low, DONE("1")), FL_OK);
    fl_listener_close(low.listener);
    link_pass(&low, 1499);
    assert_false(low.finished); /* it may still take its answer */
    link_pass(&low, 1);
    io_until(low.loop, low.finished);
    raw_close(&second);
    link_end(&low);
}

/* Who is owed an answer has as long as the owner of the link gives it. */
static void test_conn_that_waits_for_an_answer_gets_it(void **state)
{
    (void)state;
    link_begin(&low, NULL, fields);
    http_post(&low.peer, fields, ASK("1"));
    link_asked(&low, 1);
    fl_listener_close(low.listener);
    link_pass(&low, 200);
    assert_int_equal(link_answer(&low, DONE("1")), FL_OK);
    expect(&low.peer, 200, DONE("1"));
    assert_string_equal(http_field(&answer, "connection"), "close");
    raw_hears_end(&low.peer);
    io_until(low.loop, low.finished);
    link_end(&low);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conn_with_a_bad_chunk_is_told_and_ends),
        cmocka_unit_test(test_conn_answers_an_id_too_long_without_it),
        cmocka_unit_test(test_conn_of_http2_survives_an_id_too_long),
        cmocka_unit_test(test_conn_is_idle_from_its_last_answer_on),
        cmocka_unit_test(test_conn_of_http2_that_is_idle_hears_good_bye),
        cmocka_unit_test(test_conn_of_http2_must_end_its_heads),
        cmocka_unit_test(test_conn_of_http2_has_its_time_for_each_head),
        cmocka_unit_test(test_conn_half_closed_waits_for_each_answer_a_little),
        cmocka_unit_test(test_conn_refuses_versions_nobody_knows),
        cmocka_unit_test(test_conn_takes_a_modern_version_at_its_word),
        cmocka_unit_test(test_conn_with_half_a_body_is_told_of_the_end),
        cmocka_unit_test(test_conn_that_is_idle_goes_at_once),
        cmocka_unit_test(
            test_conn_that_reads_nothing_holds_the_end_for_a_while),
        cmocka_unit_test(test_conn_that_waits_for_an_answer_gets_it),
    };

    return cmocka_run_group_tests_name("http_conn", tests, NULL, NULL);
}
