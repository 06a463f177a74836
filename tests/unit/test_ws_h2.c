/*
 * test_ws_h2.c - WebSockets that are streams of one HTTP/2 connection (RFC
 * 8441), with frames of both kinds made by hand.
 */
#include "h2_peer.h"
#include "support/ration.h"
#include "ws_host.h"

enum { RST_STREAM = 3, WINDOW_UPDATE = 8, END_STREAM = 1, BIG = 1 << 30 };

static ws_host host;
static h2_text out;
static h2_frame got;
static ws_text text;
static ws_frame frame;

/* What has come on each stream of the frames of its socket. */
static struct inbox {
    size_t len;
    char bytes[WS_ROOM];
    bool ended;
} inbox[10];

static void connect_request(uint32_t stream, const char *path,
                            const char *protocol, const char *fields)
{
    static h2_text head;

    head.len = 0;
    h2_literal(&head, ":method", 7, "CONNECT", 7);
    h2_literal(&head, ":protocol", 9, protocol, strlen(protocol));
    h2_literal(&head, ":scheme", 7, "http", 4);
    h2_literal(&head, ":authority", 10, "localhost", 9);
    h2_literal(&head, ":path", 5, path, strlen(path));
    h2_fields(&head, fields);
    h2_add(&out, H2_HEADERS, 4, stream, (fl_span){head.room, head.len});
}

static void begin(const fl_options *options, uint32_t window)
{
    memset(inbox, 0, sizeof inbox);
    out.len = text.len = 0;
    ws_begin(&host, "http://127.0.0.1:0/mcp", options);
    h2_begin(&host.peer, window);
    do /* its settings: only then may we ask */
        h2_hear_type(&host.peer, H2_SETTINGS, &got);
    while (got.flags != 0);
}

/* One frame of HTTP/2, put where it belongs. */
static void hear_one(void)
{
    assert_true(h2_hear(&host.peer, &got));
    struct inbox *in = &inbox[got.stream % 10];
    if (got.type == H2_DATA) {
        assert_true(got.len <= sizeof in->bytes - in->len);
        memcpy(in->bytes + in->len, got.payload, got.len);
        in->len += got.len;
    }
    if (got.type == RST_STREAM ||
        ((got.type == H2_DATA || got.type == H2_HEADERS) &&
         (got.flags & END_STREAM) != 0))
        in->ended = true;
}

/* The status is the first field of a head, and 200 and 400 to 404 are in the
 * static table; others are written out. */
static void hear_status(uint32_t stream, const char *status)
{
    do
        hear_one();
    while (got.type != H2_HEADERS || got.stream != stream);
    if (strcmp(status, "200") == 0)
        assert_int_equal((unsigned char)got.payload[0], 0x88);
    else if (strcmp(status, "400") == 0)
        assert_int_equal((unsigned char)got.payload[0], 0x8c);
    else if (strcmp(status, "404") == 0)
        assert_int_equal((unsigned char)got.payload[0], 0x8d);
    else
        assert_int_equal((unsigned char)got.payload[0] & 0x80, 0);
}

static void open_socket(uint32_t stream)
{
    int before = host.opened;

    connect_request(stream, "/mcp", "websocket", WS_VERSION);
    h2_flush(&host.peer, &out);
    hear_status(stream, "200");
    assert_int_equal(host.opened, before + 1);
}

static void say_frame(uint32_t stream, unsigned kind, const char *body)
{
    text.len = 0;
    ws_add(&text, kind, true, body);
    h2_add(&out, H2_DATA, 0, stream, (fl_span){text.room, text.len});
    h2_flush(&host.peer, &out);
}

static void hear_frame(uint32_t stream)
{
    struct inbox *in = &inbox[stream % 10];
    size_t n;

    while ((n = ws_cut((fl_span){in->bytes, in->len}, &frame)) == 0)
        hear_one();
    in->len -= n;
    memmove(in->bytes, in->bytes + n, in->len);
}

static void hears(uint32_t stream, unsigned kind, const char *body)
{
    hear_frame(stream);
    assert_int_equal(frame.kind, kind);
    assert_string_equal(frame.body, body);
}

static void hear_end(uint32_t stream)
{
    while (!inbox[stream % 10].ended)
        hear_one();
}

static void widen(uint32_t stream, uint32_t by)
{
    const unsigned char step[4] = {(unsigned char)(by >> 24),
                                   (unsigned char)(by >> 16),
                                   (unsigned char)(by >> 8), (unsigned char)by};

    h2_add(&out, WINDOW_UPDATE, 0, stream, (fl_span){(const char *)step, 4});
    h2_flush(&host.peer, &out);
}

static void test_a_stream_becomes_a_socket(void **state)
{
    (void)state;
    begin(NULL, H2_WINDOW);
    connect_request(1, "/mcp", "websocket",
                    WS_VERSION "sec-websocket-protocol: mcp, mcp.v1\r\n");
    h2_flush(&host.peer, &out);
    hear_status(1, "200");
    say_frame(1, FL_WS_TEXT, WS_ASK("1"));
    hears(1, FL_WS_TEXT, WS_DONE("1"));
    fl_link_info info;
    fl_link_get_info(host.link, &info);
    assert_int_equal(strncmp(info.peer, "127.0.0.1:", 10), 0);
    ws_end(&host);
}

static void test_what_is_wrong_with_a_request_is_told(void **state)
{
    (void)state;
    begin(NULL, H2_WINDOW);
    connect_request(1, "/nowhere", "websocket", WS_VERSION);
    h2_flush(&host.peer, &out);
    hear_status(1, "404");
    connect_request(3, "/mcp", "websocket", "");
    h2_flush(&host.peer, &out);
    hear_status(3, "400");
    connect_request(5, "/mcp", "connect-udp", WS_VERSION);
    h2_flush(&host.peer, &out);
    hear_status(5, "405");
    connect_request(7, "/mcp", "websocket",
                    WS_VERSION "origin: https://evil.example\r\n");
    h2_flush(&host.peer, &out);
    hear_status(7, "403");
    assert_int_equal(host.opened, 0);
    open_socket(9);
    ws_end(&host);
}

static void test_several_sockets_share_a_connection(void **state)
{
    (void)state;
    begin(NULL, H2_WINDOW);
    open_socket(1);
    open_socket(3);
    h2_post(
        &out, 5, HTTP_MODERN("m"),
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"m\",\"params\":{" HTTP_META(
            "") "}}",
        true);
    say_frame(1, FL_WS_TEXT, WS_ASK("1"));
    say_frame(3, FL_WS_TEXT, WS_ASK("3"));
    hears(1, FL_WS_TEXT, WS_DONE("1"));
    hears(3, FL_WS_TEXT, WS_DONE("3"));
    hear_end(5);
    say_frame(1, FL_WS_CLOSE, "");
    hears(1, FL_WS_CLOSE, "");
    hear_end(1);
    say_frame(3, FL_WS_TEXT, WS_ASK("4"));
    hears(3, FL_WS_TEXT, WS_DONE("4"));
    assert_int_equal(host.closed, 1);
    assert_int_equal(host.why.status, FL_END);
    ws_end(&host);
}

/* As if each had a connection of its own. */
static void test_sockets_count_as_connections(void **state)
{
    (void)state;
    begin(&(fl_options){.max_connections = 3}, H2_WINDOW);
    open_socket(1);
    open_socket(3);
    connect_request(5, "/mcp", "websocket", WS_VERSION);
    h2_flush(&host.peer, &out);
    hear_status(5, "503");
    say_frame(3, FL_WS_CLOSE, "\x03\xe8");
    hear_end(3);
    io_until(host.loop, host.closed == 1);
    open_socket(7);
    ws_end(&host);
    begin(&(fl_options){.http.max_connections_per_address = 2}, H2_WINDOW);
    open_socket(1);
    connect_request(3, "/mcp", "websocket", WS_VERSION);
    h2_flush(&host.peer, &out);
    hear_status(3, "503");
    ws_end(&host);
}

static void test_a_lost_connection_loses_all_its_sockets(void **state)
{
    (void)state;
    begin(NULL, H2_WINDOW);
    open_socket(1);
    open_socket(3);
    raw_close(&host.peer);
    io_until(host.loop, host.closed == 2);
    assert_int_equal(host.why.status, FL_E_CLOSED);
    ws_end(&host);
}

static void test_a_reset_stream_loses_its_socket_alone(void **state)
{
    (void)state;
    begin(NULL, H2_WINDOW);
    open_socket(1);
    open_socket(3);
    h2_add(&out, RST_STREAM, 0, 1, FL_SPAN("\0\0\0\x08"));
    h2_flush(&host.peer, &out);
    io_until(host.loop, host.closed == 1);
    assert_int_equal(host.why.status, FL_E_CANCELLED);
    say_frame(3, FL_WS_TEXT, WS_ASK("3"));
    hears(3, FL_WS_TEXT, WS_DONE("3"));
    ws_end(&host);
}

static void test_the_end_of_a_stream_is_an_end_without_close(void **state)
{
    (void)state;
    begin(NULL, H2_WINDOW);
    open_socket(1);
    h2_add(&out, H2_DATA, END_STREAM, 1, (fl_span){0});
    h2_flush(&host.peer, &out);
    io_until(host.loop, host.closed == 1);
    assert_int_equal(host.why.status, FL_E_CLOSED);
    hear_end(1);
    open_socket(3);
    ws_end(&host);
}

static void test_closing_says_so_and_ends_the_stream(void **state)
{
    (void)state;
    begin(NULL, H2_WINDOW);
    open_socket(1);
    fl_link_close(host.link);
    hear_frame(1);
    assert_int_equal(ws_close_code(&frame), FL_WS_NORMAL);
    text.len = 0;
    ws_add_close(&text, true, FL_WS_NORMAL, "");
    h2_add(&out, H2_DATA, 0, 1, (fl_span){text.room, text.len});
    h2_flush(&host.peer, &out);
    hear_end(1);
    io_until(host.loop, host.closed == 1);
    assert_int_equal(host.why.status, FL_OK);
    ws_end(&host);
}

static void test_links_may_be_closed_from_every_callback(void **state)
{
    (void)state;
    for (ws_host_close in = WS_CLOSE_IN_LINK; in <= WS_CLOSE_IN_MESSAGE; in++) {
        begin(NULL, H2_WINDOW);
        host.close_in = in;
        open_socket(1);
        if (in == WS_CLOSE_IN_MESSAGE)
            say_frame(1, FL_WS_TEXT, WS_ASK("1") "\n" WS_ASK("2"));
        do
            hear_frame(1);
        while (frame.kind == FL_WS_TEXT);
        assert_int_equal(ws_close_code(&frame), FL_WS_NORMAL);
        assert_int_equal(host.messages, in == WS_CLOSE_IN_MESSAGE);
        ws_end(&host);
    }
}

static void test_a_shut_window_stops_its_socket_alone(void **state)
{
    (void)state;
    begin(NULL, 1000);
    widen(0, BIG);
    open_socket(1);
    open_socket(3);
    host.answer = 60000;
    for (int i = 0; i < 10; i++)
        say_frame(1, FL_WS_TEXT, WS_ASK("1"));
    io_some_turns(host.loop);
    io_until(host.loop, host.messages >= 2);
    io_some_turns(host.loop);
    assert_int_equal(host.messages, 2); /* 100 KiB are reached by two */
    host.answer = 0;
    say_frame(3, FL_WS_TEXT, WS_ASK("3"));
    hears(3, FL_WS_TEXT, WS_DONE("3"));
    assert_int_equal(host.messages, 3);
    widen(1, BIG);
    for (int i = 0; i < 10; i++)
        hear_frame(1);
    assert_int_equal(host.messages, 11);
    assert_int_equal(host.writables, 1);
    ws_end(&host);
}

static void test_a_paused_socket_is_sent_a_window_at_most(void **state)
{
    static char note[8000];
    size_t sent = 0;

    (void)state;
    memset(note, ' ', sizeof note - 1);
    memcpy(note, WS_ASK("1"), strlen(WS_ASK("1")));
    begin(NULL, 1000);
    open_socket(1);
    host.answer = 120000;
    for (int i = 0; i < 32;
         i++, sent += sizeof note) /* its window is 256 KiB */
        say_frame(1, FL_WS_TEXT, note);
    io_until(host.loop, host.messages == 1);
    io_some_turns(host.loop);
    assert_int_equal(host.messages, 1);
    raw_read(&host.peer);
    host.answer = 0;
    widen(0, BIG);
    widen(1, BIG);
    for (int i = 0; i < 32; i++)
        hear_frame(1);
    assert_int_equal(host.messages, 32);
    ws_end(&host);
}

static void test_a_peer_that_never_takes_is_closed_1011(void **state)
{
    (void)state;
    begin(&(fl_options){.send_timeout_ms = 5000, .ws.close_ms = 3000}, 1000);
    widen(0, BIG);
    open_socket(1);
    open_socket(3);
    host.answer = 60000;
    for (int i = 0; i < 3; i++)
        say_frame(1, FL_WS_TEXT, WS_ASK("1"));
    io_until(host.loop, host.messages == 2);
    ws_pass(&host, 1260); /* the first bytes fitted into the window */
    ws_pass(&host, 5010);
    widen(1, BIG);
    do
        hear_frame(1);
    while (frame.kind == FL_WS_TEXT);
    assert_int_equal(ws_close_code(&frame), FL_WS_INTERNAL);
    ws_pass(&host, 3010);
    io_until(host.loop, host.closed == 1);
    assert_int_equal(host.why.status, FL_E_TIMEOUT);
    hear_end(1);
    host.answer = 0;
    say_frame(3, FL_WS_TEXT, WS_ASK("3"));
    hears(3, FL_WS_TEXT, WS_DONE("3"));
    ws_end(&host);
}

static void test_sockets_outlive_their_listener(void **state)
{
    (void)state;
    begin(NULL, H2_WINDOW);
    open_socket(1);
    fl_listener_close(host.listener);
    io_until(host.loop, host.finished);
    assert_int_equal(host.closed, 0);
    say_frame(1, FL_WS_TEXT, WS_ASK("1"));
    hears(1, FL_WS_TEXT, WS_DONE("1"));
    say_frame(1, FL_WS_CLOSE, "");
    hears(1, FL_WS_CLOSE, "");
    h2_hears_end(&host.peer); /* the connection goes with its last socket */
    ws_end(&host);
}

static void test_a_connection_is_idle_when_its_sockets_have_gone(void **state)
{
    (void)state;
    begin(&(fl_options){.idle_timeout_ms = 10000,
                        .lease_ms = FL_NEVER,
                        .ws.ping_ms = FL_NEVER},
          H2_WINDOW);
    open_socket(1);
    for (int i = 0; i < 5; i++) {
        ws_pass(&host, 9000);
        say_frame(1, FL_WS_TEXT, WS_ASK("1"));
        hears(1, FL_WS_TEXT, WS_DONE("1"));
    }
    say_frame(1, FL_WS_CLOSE, "");
    hear_end(1);
    ws_pass(&host, 10010);
    ws_pass(&host, 10010);
    h2_hears_end(&host.peer);
    ws_end(&host);
}

static void test_switched_off_it_is_not_offered(void **state)
{
    static const char offer[] = {0, 8, 0, 0, 0, 1};

    (void)state;
    begin(NULL, H2_WINDOW);
    assert_non_null(memmem(got.payload, got.len, offer, sizeof offer));
    ws_end(&host);
    begin(&(fl_options){.ws.off = true}, H2_WINDOW);
    assert_null(memmem(got.payload, got.len, offer, sizeof offer));
    ws_end(&host);
}

static void refuse_allocations(void *user)
{
    (void)user;
    out.len = text.len = 0;
    if (!ws_listen(&host, "http://127.0.0.1:0/mcp", NULL))
        return;
    ws_dial(&host, &host.peer);
    h2_begin(&host.peer, H2_WINDOW);
    connect_request(1, "/mcp", "websocket", WS_VERSION);
    ws_add(&text, FL_WS_TEXT, true, WS_ASK("1"));
    h2_add(&out, H2_DATA, 0, 1, (fl_span){text.room, text.len});
    ws_hurry(&host); /* our CONNECT counts once its settings do */
    (void)!send(host.peer.fd, out.room, out.len, MSG_NOSIGNAL);
    ws_hurry(&host);
    ws_end(&host);
}

static void test_every_refused_allocation_is_survived(void **state)
{
    (void)state;
    assert_true(ration_each(refuse_allocations, NULL) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stream_becomes_a_socket),
        cmocka_unit_test(test_what_is_wrong_with_a_request_is_told),
        cmocka_unit_test(test_several_sockets_share_a_connection),
        cmocka_unit_test(test_sockets_count_as_connections),
        cmocka_unit_test(test_a_lost_connection_loses_all_its_sockets),
        cmocka_unit_test(test_a_reset_stream_loses_its_socket_alone),
        cmocka_unit_test(test_the_end_of_a_stream_is_an_end_without_close),
        cmocka_unit_test(test_closing_says_so_and_ends_the_stream),
        cmocka_unit_test(test_links_may_be_closed_from_every_callback),
        cmocka_unit_test(test_a_shut_window_stops_its_socket_alone),
        cmocka_unit_test(test_a_paused_socket_is_sent_a_window_at_most),
        cmocka_unit_test(test_a_peer_that_never_takes_is_closed_1011),
        cmocka_unit_test(test_sockets_outlive_their_listener),
        cmocka_unit_test(test_a_connection_is_idle_when_its_sockets_have_gone),
        cmocka_unit_test(test_switched_off_it_is_not_offered),
        cmocka_unit_test(test_every_refused_allocation_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
