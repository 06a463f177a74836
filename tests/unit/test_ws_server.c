/*
 * test_ws_server.c - WebSockets at a listener, by hand, from the handshake to
 * the end.
 */
#include "support/ration.h"
#include "transport/ws_server.h"
#include "ws_host.h"

#define ENDPOINT "http://127.0.0.1:0/mcp"
#define CONNECTION "Connection: Upgrade\r\n"
#define UPGRADE "Upgrade: websocket\r\n"
#define KEY "Sec-WebSocket-Key: " WS_KEY "\r\n"

static ws_host host;
static server_host served;
static raw_peer other;
static http_answer answer;
static ws_frame frame;
static ws_text text;

static void hear_body(raw_peer *peer)
{
    http_hear_bytes(peer, &answer,
                    strtoul(http_field(&answer, "content-length"), NULL, 10));
}

static void refused(const char *path, const char *fields, int status,
                    const char *part)
{
    int opened = host.opened;

    assert_int_equal(ws_ask(&host.peer, path, fields, &answer), status);
    hear_body(&host.peer);
    if (strstr(answer.body, part) == NULL)
        fail_msg("no '%s' in '%s'", part, answer.body);
    assert_int_equal(host.opened, opened);
    assert_string_not_equal(http_field(&answer, "x-request-id"), "");
}

static int shake(raw_peer *peer, const char *more)
{
    char fields[1024];

    snprintf(fields, sizeof fields, "%s%s", WS_UPGRADE, more);
    return ws_ask(peer, "/mcp", fields, &answer);
}

static int shake_anew(const char *more)
{
    if (host.peer.fd >= 0)
        raw_close(&host.peer);
    ws_dial(&host, &host.peer);
    return shake(&host.peer, more);
}

static void test_a_handshake_is_answered_101(void **state)
{
    (void)state;
    ws_begin(&host, ENDPOINT, NULL);
    assert_int_equal(shake(&host.peer, "X-Request-Id: mine\r\n"), 101);
    assert_string_equal(http_field(&answer, "sec-websocket-accept"), WS_ACCEPT);
    assert_string_equal(http_field(&answer, "upgrade"), "websocket");
    assert_string_equal(http_field(&answer, "connection"), "upgrade");
    assert_string_equal(http_field(&answer, "x-request-id"), "mine");
    assert_string_equal(http_field(&answer, "content-length"), "");
    assert_string_equal(http_field(&answer, "transfer-encoding"), "");
    assert_string_equal(http_field(&answer, "content-type"), "");
    assert_string_equal(http_field(&answer, "sec-websocket-protocol"), "");
    assert_string_equal(http_field(&answer, "sec-websocket-extensions"), "");
    assert_true(host.link->server);
    assert_string_equal(host.link->transport->name, "ws");
    ws_say(&host.peer, FL_WS_TEXT, WS_ASK("1"));
    ws_hears(&host.peer, FL_WS_TEXT, WS_DONE("1"));
    ws_end(&host);
}

static void test_a_bad_handshake_is_told_what_is_wrong(void **state)
{
    (void)state;
    ws_begin(&host, ENDPOINT, NULL);
    refused("/mcp", UPGRADE KEY WS_VERSION, 400, "Connection");
    refused("/mcp", CONNECTION UPGRADE KEY, 400, "Sec-WebSocket-Version");
    refused("/mcp", CONNECTION UPGRADE WS_VERSION, 400, "Sec-WebSocket-Key");
    refused("/mcp",
            CONNECTION UPGRADE WS_VERSION "Sec-WebSocket-Key: short\r\n", 400,
            "Sec-WebSocket-Key");
    refused("/mcp", CONNECTION UPGRADE KEY "Sec-WebSocket-Version: 8\r\n", 426,
            "13");
    assert_string_equal(http_field(&answer, "sec-websocket-version"), "13");
    assert_string_equal(http_field(&answer, "upgrade"), "websocket");
    assert_string_equal(http_field(&answer, "connection"), "upgrade");
    http_send(&host.peer, "POST", "/mcp", WS_UPGRADE, "");
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 405);
    assert_string_equal(http_field(&answer, "allow"), "GET");
    http_send(&host.peer, "GET", "/mcp", WS_UPGRADE, "body");
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 400);
    assert_int_equal(shake(&host.peer, ""), 101); /* it may try again */
    ws_end(&host);
}

static void test_a_socket_path_without_upgrade_is_426(void **state)
{
    (void)state;
    ws_begin(&host, ENDPOINT, NULL);
    refused("/mcp/ws", "", 426, "Upgrade");
    assert_string_equal(http_field(&answer, "upgrade"), "websocket");
    refused("/nowhere", WS_UPGRADE, 404, "");
    refused("/sse", WS_UPGRADE "Accept: application/json\r\n", 405, "");
    assert_int_equal(ws_ask(&host.peer, "/mcp/ws", WS_UPGRADE, &answer), 101);
    ws_end(&host);
}

static void test_strange_hosts_and_origins_are_refused(void **state)
{
    const char *origins[] = {"https://app.example.org", NULL};
    fl_options options = {.http.allow_origins = origins};
    const char *bad =
        "GET /mcp HTTP/1.1\r\nHost: evil.example\r\n" WS_UPGRADE "\r\n";

    (void)state;
    ws_begin(&host, ENDPOINT, &options);
    refused("/mcp", WS_UPGRADE "Origin: https://evil.example\r\n", 403,
            "http.allow_origins");
    raw_put(&host.peer, bad, strlen(bad));
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 421);
    assert_int_equal(host.opened, 0);
    assert_int_equal(shake(&host.peer, "Origin: https://app.example.org\r\n"),
                     101);
    ws_end(&host);
}

static void test_the_best_subprotocol_is_chosen(void **state)
{
    (void)state;
    ws_begin(&host, ENDPOINT, NULL);
    assert_int_equal(shake_anew("Sec-WebSocket-Protocol: chat, mcp\r\n"
                                "Sec-WebSocket-Protocol: mcp.v1\r\n"),
                     101);
    assert_string_equal(http_field(&answer, "sec-websocket-protocol"),
                        "mcp.v1");
    assert_int_equal(shake_anew("Sec-WebSocket-Protocol: mcp\r\n"), 101);
    assert_string_equal(http_field(&answer, "sec-websocket-protocol"), "mcp");
    assert_int_equal(shake_anew("Sec-WebSocket-Protocol: chat\r\n"), 101);
    assert_string_equal(http_field(&answer, "sec-websocket-protocol"), "");
    ws_end(&host);
}

static void test_compression_is_agreed_on_and_used(void **state)
{
    const char *offer = "Sec-WebSocket-Extensions: permessage-deflate\r\n";

    (void)state;
    ws_begin(&host, ENDPOINT, NULL);
    assert_int_equal(shake_anew(offer), 101);
    assert_non_null(strstr(http_field(&answer, "sec-websocket-extensions"),
                           "permessage-deflate"));
    host.answer = 5000;
    ws_say(&host.peer, FL_WS_TEXT, WS_ASK("1"));
    assert_true(ws_hear(&host.peer, &frame));
    assert_true(frame.packed);
    assert_true(frame.len < 500);
    ws_end(&host);
    ws_begin(&host, ENDPOINT, &(fl_options){.ws.no_compression = true});
    assert_int_equal(shake_anew(offer), 101);
    assert_string_equal(http_field(&answer, "sec-websocket-extensions"), "");
    ws_end(&host);
}

static void test_sockets_may_be_switched_off(void **state)
{
    (void)state;
    ws_begin(&host, ENDPOINT, &(fl_options){.ws.off = true});
    refused("/mcp", WS_UPGRADE "Accept: application/json\r\n", 405, "");
    refused("/mcp/ws", WS_UPGRADE, 404, "");
    ws_end(&host);
}

static void test_sockets_may_have_a_path_of_their_own(void **state)
{
    (void)state;
    ws_begin(&host, ENDPOINT, &(fl_options){.ws.path = "/socket"});
    refused("/mcp/ws", WS_UPGRADE, 404, "");
    assert_int_equal(ws_ask(&host.peer, "/socket", WS_UPGRADE, &answer), 101);
    ws_end(&host);
    ws_begin(&host, "http://127.0.0.1:0/", NULL);
    assert_int_equal(ws_ask(&host.peer, "/ws", WS_UPGRADE, &answer), 101);
    ws_end(&host);
}

static void test_a_ws_listener_serves_its_path_alone(void **state)
{
    (void)state;
    ws_begin(&host, "ws://127.0.0.1:0/chat", NULL);
    refused("/chat", "", 426, "Upgrade");
    refused("/mcp", WS_UPGRADE, 404, "");
    refused("/chat/ws", WS_UPGRADE, 404, "");
    refused("/sse", "Accept: text/event-stream\r\n", 404, "");
    http_send(&host.peer, "POST", "/chat", HTTP_POST_FIELDS, WS_ASK("1"));
    http_hear(&host.peer, &answer);
    assert_int_equal(answer.status, 426);
    assert_int_equal(ws_ask(&host.peer, "/chat?x=1", WS_UPGRADE, &answer), 101);
    ws_end(&host);
    ws_begin(&host, "ws://127.0.0.1:0", &(fl_options){.ws.off = true});
    assert_int_equal(ws_ask(&host.peer, "/", WS_UPGRADE, &answer), 101);
    ws_end(&host);
}

static void test_frames_right_behind_the_request_are_heard(void **state)
{
    const char *request =
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\n" WS_UPGRADE "\r\n";

    (void)state;
    for (size_t cut = 0; cut < 3; cut++) {
        ws_begin(&host, ENDPOINT, NULL);
        size_t len = strlen(request);
        text.len = len;
        memcpy(text.room, request, len);
        ws_add(&text, FL_WS_TEXT, true, WS_ASK("1"));
        ws_add(&text, FL_WS_TEXT, true, WS_ASK("2"));
        size_t first = cut * (len / 2); /* nothing, half, or all of the head */
        raw_put(&host.peer, text.room, first);
        io_some_turns(host.loop);
        raw_put(&host.peer, text.room + first, text.len - first);
        text.len = 0;
        http_hear_head(&host.peer, &answer);
        assert_int_equal(answer.status, 101);
        ws_hears(&host.peer, FL_WS_TEXT, WS_DONE("1"));
        ws_hears(&host.peer, FL_WS_TEXT, WS_DONE("2"));
        ws_end(&host);
    }
}

static void test_a_connection_may_be_upgraded_after_requests(void **state)
{
    (void)state;
    http_begin(&served, NULL);
    http_post(&served.peer, HTTP_MODERN("tools/list"),
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
              "\"params\":{" HTTP_META("") "}}");
    http_get(&served.peer, "/mcp", WS_UPGRADE); /* before the answer came */
    http_hear(&served.peer, &answer);
    assert_int_equal(answer.status, 200);
    http_hear_head(&served.peer, &answer);
    assert_int_equal(answer.status, 101);
    ws_say(&served.peer, FL_WS_TEXT, INITIALIZE("0", "2025-06-18"));
    assert_true(ws_hear(&served.peer, &frame));
    assert_non_null(strstr(frame.body, "\"protocolVersion\":\"2025-06-18\""));
    ws_say(&served.peer, FL_WS_TEXT, INITIALIZED);
    ws_say(&served.peer, FL_WS_TEXT, CALL("1", "echo", "{\"text\":\"hi\"}"));
    ws_hears(&served.peer, FL_WS_TEXT, TEXT_ANSWER("1", "hi"));
    host_end(&served);
}

static void test_the_dialect_needs_no_initialize(void **state)
{
    (void)state;
    http_begin(&served, &(fl_options){.ws.tool_dialect = true});
    http_get(&served.peer, "/mcp", WS_UPGRADE);
    http_hear_head(&served.peer, &answer);
    assert_int_equal(answer.status, 101);
    ws_say(&served.peer, FL_WS_TEXT, "{\"type\":\"hello\"}");
    ws_say(&served.peer, FL_WS_TEXT,
           "{\"id\":1,\"name\":\"echo\",\"arguments\":{\"text\":\"hi\"}}");
    ws_hears(&served.peer, FL_WS_TEXT, TEXT_ANSWER("1", "hi"));
    host_end(&served);
}

static void test_a_socket_keeps_its_place_among_connections(void **state)
{
    (void)state;
    ws_open(&host, &(fl_options){.max_connections = 1});
    ws_dial(&host, &other);
    assert_int_equal(ws_ask(&other, "/mcp", WS_UPGRADE, &answer), 503);
    hear_body(&other);
    assert_non_null(strstr(answer.body, "max_connections"));
    raw_close(&other);
    ws_say_close(&host.peer, FL_WS_NORMAL);
    ws_hears_close(&host.peer, FL_WS_NORMAL);
    raw_hears_end(&host.peer);
    io_until(host.loop, host.closed == 1);
    assert_int_equal(host.why.status, FL_END);
    assert_int_equal(shake_anew(""), 101);
    ws_end(&host);
}

static void test_sockets_outlive_their_listener(void **state)
{
    (void)state;
    ws_open(&host, NULL);
    fl_listener_close(host.listener);
    io_until(host.loop, host.finished);
    assert_int_equal(host.closed, 0);
    ws_say(&host.peer, FL_WS_TEXT, WS_ASK("1"));
    ws_hears(&host.peer, FL_WS_TEXT, WS_DONE("1"));
    fl_link_close(host.link);
    ws_hears_close(&host.peer, FL_WS_GOING_AWAY);
    ws_say_close(&host.peer, FL_WS_GOING_AWAY);
    io_until(host.loop, host.closed == 1);
    assert_int_equal(host.why.status, FL_OK);
    ws_end(&host);
}

static void test_a_listener_that_closes_takes_no_new_sockets(void **state)
{
    (void)state;
    ws_begin(&host, ENDPOINT, NULL);
    raw_put(&host.peer, "GET /mcp HT", 11);
    io_some_turns(host.loop);
    fl_listener_close(host.listener);
    raw_hears_end(&host.peer);
    io_until(host.loop, host.finished);
    assert_int_equal(host.opened, 0);
    ws_end(&host);
}

static void set_room(int room)
{
    assert_int_equal(
        setsockopt(host.peer.fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room), 0);
}

/* Requests until the server takes no more of them; how many it took. */
static int stuff(void)
{
    int before;

    set_room(64 * 1024); /* or the system would go on finding some */
    host.answer = 60000;
    do {
        before = host.messages;
        ws_say(&host.peer, FL_WS_TEXT, WS_ASK("1"));
        for (int i = 0; i < 20 && host.messages == before; i++)
            io_turn(host.loop);
    } while (host.messages > before);
    return before;
}

static void test_a_peer_that_does_not_read_is_not_read_from(void **state)
{
    fl_link_info info;

    (void)state;
    ws_open(&host, &(fl_options){.socket_buffer = 65536});
    const fl_http_hub *hub = ((fl_ws_socket *)host.link)->hub;
    int taken = stuff();
    fl_link_get_info(host.link, &info);
    assert_true(info.buffered >= 100 * 1024); /* ws.high_water */
    assert_true(hub->budget.used >= info.buffered);
    assert_true(info.buffered < 100 * 1024 + 2 * 60000 + 64);
    fl_span note = FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"n\"}");
    assert_int_equal(fl_link_send(host.link, &note, 1), FL_BUSY);
    for (int i = 0; i < 4; i++)
        ws_say(&host.peer, FL_WS_TEXT, WS_ASK("2"));
    for (int i = 0; i < taken + 5; i++) {
        assert_true(ws_hear(&host.peer, &frame));
        assert_true(frame.len > 60000);
    }
    io_until(host.loop, host.writables > 0);
    assert_int_equal(host.messages, taken + 5);
    assert_int_equal(fl_link_send(host.link, &note, 1), FL_OK);
    ws_hears(&host.peer, FL_WS_TEXT, note.ptr);
    assert_int_equal(hub->budget.used, 0);
    ws_end(&host);
}

static void test_a_peer_that_never_reads_is_closed_1011(void **state)
{
    (void)state;
    ws_open(&host, &(fl_options){.socket_buffer = 65536,
                                 .send_timeout_ms = 5000,
                                 .ws.close_ms = 3000});
    (void)stuff();
    ws_pass(&host, 5000);
    ws_pass(&host, 10);
    assert_int_equal(host.link->state, FL_LINK_CLOSING);
    do /* it begins to read after all */
        assert_true(ws_hear(&host.peer, &frame));
    while (frame.kind == FL_WS_TEXT);
    assert_int_equal(ws_close_code(&frame), FL_WS_INTERNAL);
    ws_say_close(&host.peer, FL_WS_INTERNAL);
    io_until(host.loop, host.closed == 1);
    assert_int_equal(host.why.status, FL_E_TIMEOUT);
    ws_end(&host);
}

static void test_a_stuck_peer_is_left_in_the_end(void **state)
{
    (void)state;
    ws_open(&host, &(fl_options){.socket_buffer = 65536,
                                 .send_timeout_ms = 1000,
                                 .ws.close_ms = 1000});
    (void)stuff();
    for (int i = 0; i < 4; i++)
        ws_pass(&host, 1010);
    io_until(host.loop, host.closed == 1);
    ws_end(&host);
}

static void test_links_may_be_closed_from_every_callback(void **state)
{
    (void)state;
    for (ws_host_close in = WS_CLOSE_IN_LINK; in <= WS_CLOSE_IN_CLOSED; in++) {
        ws_begin(&host, ENDPOINT, &(fl_options){.socket_buffer = 65536});
        host.close_in = in;
        assert_int_equal(shake(&host.peer, ""), 101);
        if (in == WS_CLOSE_IN_WRITABLE) {
            (void)stuff();
        } else if (in == WS_CLOSE_IN_MESSAGE) {
            ws_say(&host.peer, FL_WS_TEXT, WS_ASK("1") "\n" WS_ASK("2"));
            ws_hears(&host.peer, FL_WS_TEXT, WS_DONE("1"));
        } else if (in == WS_CLOSE_IN_CLOSED) {
            fl_link_close(host.link);
        }
        do
            assert_true(ws_hear(&host.peer, &frame));
        while (frame.kind == FL_WS_TEXT);
        assert_int_equal(ws_close_code(&frame), FL_WS_NORMAL);
        ws_say_close(&host.peer, FL_WS_NORMAL);
        io_until(host.loop, host.closed == 1);
        ws_end(&host);
    }
}

static void test_a_link_nobody_wants_is_closed(void **state)
{
    (void)state;
    ws_begin(&host, ENDPOINT, NULL);
    host.ignores = true;
    assert_int_equal(shake(&host.peer, ""), 101);
    ws_hears_close(&host.peer, FL_WS_NORMAL);
    ws_say_close(&host.peer, FL_WS_NORMAL);
    raw_hears_end(&host.peer);
    ws_end(&host);
}

static void test_a_peer_that_hangs_up_is_a_loss(void **state)
{
    (void)state;
    ws_open(&host, NULL);
    raw_close(&host.peer);
    io_until(host.loop, host.closed == 1);
    assert_int_equal(host.why.status, FL_E_CLOSED);
    assert_non_null(strstr(host.why.text, "without a WebSocket Close"));
    ws_end(&host);
}

static void test_time_runs_out_in_order(void **state)
{
    fl_options options = {
        .lease_ms = 10000, .idle_timeout_ms = 50000, .ws.ping_ms = 20000};

    (void)state;
    ws_open(&host, &options);
    ws_pass(&host, 10000);
    ws_pass(&host, 10);
    ws_hears_close(&host.peer, FL_WS_POLICY);
    ws_end(&host);

    ws_open(&host, &options);
    ws_say(&host.peer, FL_WS_TEXT, WS_ASK("1"));
    ws_hears(&host.peer, FL_WS_TEXT, WS_DONE("1"));
    for (int i = 0; i < 2; i++) {
        ws_pass(&host, 20010);
        ws_hears(&host.peer, FL_WS_PING, "");
        ws_say(&host.peer, FL_WS_PONG, "");
        io_some_turns(host.loop);
    }
    assert_int_equal(host.link->stats.pings, 2);
    ws_pass(&host, 10010);
    ws_hears_close(&host.peer, FL_WS_GOING_AWAY);
    ws_end(&host);

    ws_open(&host, &options);
    ws_say(&host.peer, FL_WS_TEXT, WS_ASK("1"));
    ws_hears(&host.peer, FL_WS_TEXT, WS_DONE("1"));
    ws_pass(&host, 20010);
    ws_hears(&host.peer, FL_WS_PING, "");
    ws_pass(&host, 20010);
    raw_hears_end(&host.peer);
    io_until(host.loop, host.closed == 1);
    assert_int_equal(host.why.status, FL_E_TIMEOUT);
    ws_end(&host);
}

static void test_options_are_checked(void **state)
{
    static const struct {
        const char *name;
        fl_options options;
    } wrong[] = {
        {"ws.utf8_code", {.ws.utf8_code = 1000}},
        {"ws.path", {.ws.path = "socket"}},
        {"ws.path", {.ws.path = "/messages"}},
        {"ws.path", {.ws.path = "/a?b"}},
    };
    fl_loop *loop = fl_loop_new();
    fl_listener *listener;
    fl_error error;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(fl_link_listen(loop, ENDPOINT, &wrong[i].options,
                                        &ws_listener_events, &host, &listener,
                                        &error),
                         FL_E_INVALID);
        assert_non_null(strstr(error.text, wrong[i].name));
    }
    fl_loop_free(loop);
}

static void test_an_idle_socket_is_small(void **state)
{
    enum { SOCKETS = 12, MOST = 1536 };
    int fds[SOCKETS];

    (void)state;
    ws_open(&host, NULL);
    ws_say(&host.peer, FL_WS_TEXT, WS_ASK("1"));
    ws_hears(&host.peer, FL_WS_TEXT, WS_DONE("1"));
    io_some_turns(host.loop);
    ptrdiff_t before = ration_live_bytes();
    for (int i = 0; i < SOCKETS; i++) {
        fds[i] = raw_dial(host.listener->port);
        raw_take(&other, host.loop, fds[i]);
        assert_int_equal(ws_ask(&other, "/mcp", WS_UPGRADE, &answer), 101);
        ws_say(&other, FL_WS_TEXT, WS_ASK("1"));
        ws_hears(&other, FL_WS_TEXT, WS_DONE("1"));
    }
    io_some_turns(host.loop);
    ptrdiff_t each = (ration_live_bytes() - before) / SOCKETS;
    print_message("# heap of an idle socket: %td bytes\n", each);
    assert_true(each < MOST);
    for (int i = 0; i < SOCKETS; i++)
        close(fds[i]);
    io_until(host.loop, host.closed == SOCKETS);
    ws_end(&host);
}

/* Whatever is refused, it neither leaks nor hangs. */
static void refuse_allocations(void *user)
{
    const char *said = "GET /mcp HTTP/1.1\r\nHost: localhost\r\n" WS_UPGRADE
                       "Sec-WebSocket-Protocol: mcp\r\n"
                       "Sec-WebSocket-Extensions: permessage-deflate; "
                       "client_max_window_bits\r\n\r\n";

    (void)user;
    if (!ws_listen(&host, ENDPOINT, NULL))
        return;
    ws_dial(&host, &host.peer);
    host.answer = 3000;
    raw_put(&host.peer, said, strlen(said));
    text.len = 0;
    ws_add(&text, FL_WS_TEXT, true, WS_ASK("1"));
    ws_add_raw(&text, FL_WS_TEXT, true, FL_SPAN("{"));
    (void)!send(host.peer.fd, text.room, text.len, MSG_NOSIGNAL);
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
        cmocka_unit_test(test_a_handshake_is_answered_101),
        cmocka_unit_test(test_a_bad_handshake_is_told_what_is_wrong),
        cmocka_unit_test(test_a_socket_path_without_upgrade_is_426),
        cmocka_unit_test(test_strange_hosts_and_origins_are_refused),
        cmocka_unit_test(test_the_best_subprotocol_is_chosen),
        cmocka_unit_test(test_compression_is_agreed_on_and_used),
        cmocka_unit_test(test_sockets_may_be_switched_off),
        cmocka_unit_test(test_sockets_may_have_a_path_of_their_own),
        cmocka_unit_test(test_a_ws_listener_serves_its_path_alone),
        cmocka_unit_test(test_frames_right_behind_the_request_are_heard),
        cmocka_unit_test(test_a_connection_may_be_upgraded_after_requests),
        cmocka_unit_test(test_the_dialect_needs_no_initialize),
        cmocka_unit_test(test_a_socket_keeps_its_place_among_connections),
        cmocka_unit_test(test_sockets_outlive_their_listener),
        cmocka_unit_test(test_a_listener_that_closes_takes_no_new_sockets),
        cmocka_unit_test(test_a_peer_that_does_not_read_is_not_read_from),
        cmocka_unit_test(test_a_peer_that_never_reads_is_closed_1011),
        cmocka_unit_test(test_a_stuck_peer_is_left_in_the_end),
        cmocka_unit_test(test_links_may_be_closed_from_every_callback),
        cmocka_unit_test(test_a_link_nobody_wants_is_closed),
        cmocka_unit_test(test_a_peer_that_hangs_up_is_a_loss),
        cmocka_unit_test(test_time_runs_out_in_order),
        cmocka_unit_test(test_options_are_checked),
        cmocka_unit_test(test_an_idle_socket_is_small),
        cmocka_unit_test(test_every_refused_allocation_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
