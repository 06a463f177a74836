/*
 * test_ws_client.c - WebSocket clients: the handshake and everything a server
 * can do wrong in it, outages, and how it all ends.
 *
 * The server is a plain socket (ws_door.h). Time is driven throughout. Ways to
 * the server other than a plain connection are in test_ws_client_way.c.
 */
#include "base/span.h"
#include "support/ration.h"
#include "transport/link.h"
#include "ws_door.h"

/* In which of its callbacks the owner closes the link. */
typedef enum close_in {
    CLOSE_NEVER,
    CLOSE_ON_OPEN,
    CLOSE_ON_MESSAGE,
    CLOSE_ON_WRITABLE,
    CLOSE_ON_DOWN,
} close_in;

typedef struct boat {
    uint64_t now;
    fl_loop *loop;
    fl_link *link;
    int door; /* where its server listens; -1: nowhere */
    uint16_t port;
    int opened, down, closed, writable, messages;
    fl_error why, down_why;
    close_in close_in;
    char last[512];
} boat;

static boat ship;
static raw_peer one;

#define NOTE(n) "{\"jsonrpc\":\"2.0\",\"method\":\"n" n "\"}"

static void close_in_here(close_in where)
{
    if (ship.close_in == where)
        fl_link_close(ship.link);
}

static void on_open(fl_link *link)
{
    (void)link;
    assert_int_equal(ship.closed, 0);
    ship.opened++;
    close_in_here(CLOSE_ON_OPEN);
}

static void on_message(fl_link *link, const fl_msg *msg, fl_reply reply)
{
    (void)link;
    (void)reply;
    ship.messages++;
    snprintf(ship.last, sizeof ship.last, "%.*s", (int)msg->text.len,
             msg->text.ptr);
    close_in_here(CLOSE_ON_MESSAGE);
}

static void on_writable(fl_link *link)
{
    (void)link;
    ship.writable++;
    close_in_here(CLOSE_ON_WRITABLE);
}

static void on_down(fl_link *link, const fl_error *why)
{
    (void)link;
    ship.down++;
    ship.down_why = *why;
    close_in_here(CLOSE_ON_DOWN);
}

static void on_closed(fl_link *link, const fl_error *why)
{
    (void)link;
    ship.closed++;
    ship.why = *why;
}

static const fl_link_events ship_events = {
    .on_open = on_open,
    .on_message = on_message,
    .on_writable = on_writable,
    .on_down = on_down,
    .on_closed = on_closed,
};

static const fl_options quick = {
    .reconnect_first_ms = 100,
    .reconnect_max_ms = 100,
    .outage_queue = 100,
};
static const fl_options once = {.no_reconnect = true};

static void begin(void)
{
    ship = (boat){.now = 1000, .door = -1};
    ship.loop = io_driven_loop(&ship.now);
}

static fl_status try_sail(const char *url, const fl_options *options,
                          fl_error *error)
{
    return fl_link_connect(ship.loop, url, options, &ship_events, NULL,
                           &ship.link, error);
}

static void sail(const fl_options *options)
{
    char url[64];
    fl_error error;

    if (ship.door < 0 && ship.port == 0)
        ship.door = raw_listen(&ship.port);
    snprintf(url, sizeof url, "ws://127.0.0.1:%u/mcp?a=1", ship.port);
    if (try_sail(url, options, &error) != FL_OK)
        fail_msg("%s", error.text);
    assert_int_equal(ship.link->state, FL_LINK_CONNECTING);
}

static void arrive(void)
{
    raw_accept(&one, ship.loop, ship.door);
}

/* A link that is open, and its server. */
static void meet(const fl_options *options)
{
    begin();
    sail(options);
    arrive();
    door_welcome(&one, "");
    io_until(ship.loop, ship.opened == 1);
    assert_int_equal(ship.link->state, FL_LINK_ACTIVE);
}

static void end(void)
{
    if (one.fd >= 0)
        raw_close(&one);
    if (ship.link != NULL && ship.closed == 0)
        fl_link_close(ship.link);
    io_until(ship.loop, (ship.now += 500, ship.closed == (ship.link != NULL)));
    if (ship.door >= 0)
        close(ship.door);
    io_some_turns(ship.loop);
    fl_loop_free(ship.loop);
}

static void check_reason(const fl_error *why, fl_status status,
                         const char *part)
{
    if (why->status != status || strstr(why->text, part) == NULL)
        fail_msg("%s '%s', not %s '%s'", fl_status_name(why->status), why->text,
                 fl_status_name(status), part);
}

static void see_closed(fl_status status, const char *part)
{
    io_until(ship.loop, ship.closed == 1);
    check_reason(&ship.why, status, part);
}

static fl_status say(const char *text)
{
    fl_span span = fl_span_of(text);

    return fl_link_send(ship.link, &span, 1);
}

static void test_ws_client_asks_as_the_rfc_says(void **state)
{
    static const char *const headers[] = {"Authorization: Bearer x",
                                          "X-Own: 1 2", NULL};
    fl_options options = once;
    door_head head;
    char host[64];

    (void)state;
    options.http.headers = headers;
    begin();
    sail(&options);
    arrive();
    door_hear_head(&one, &head);
    const char *line = "GET /mcp?a=1 HTTP/1.1\r\n";
    assert_memory_equal(head.text, line, strlen(line));
    snprintf(host, sizeof host, "127.0.0.1:%u", ship.port);
    assert_string_equal(door_field(&head, "host"), host);
    assert_int_equal(strcasecmp(door_field(&head, "connection"), "upgrade"), 0);
    assert_string_equal(door_field(&head, "upgrade"), "websocket");
    assert_string_equal(door_field(&head, "sec-websocket-version"), "13");
    assert_string_equal(door_field(&head, "sec-websocket-protocol"),
                        "mcp.v1, mcp");
    assert_non_null(strstr(door_field(&head, "sec-websocket-extensions"),
                           "permessage-deflate"));
    assert_string_equal(door_field(&head, "authorization"), "Bearer x");
    assert_string_equal(door_field(&head, "x-own"), "1 2");
    assert_string_equal(door_field(&head, "origin"), "");
    assert_int_equal(strlen(head.key), 24);
    end();
}

static void test_ws_client_never_uses_a_key_twice(void **state)
{
    door_head first, second;

    (void)state;
    begin();
    sail(&quick);
    arrive();
    door_hear_head(&one, &first);
    raw_close(&one);
    io_until(ship.loop, ship.link->state == FL_LINK_DISCONNECTED);
    ship.now += 100;
    arrive();
    door_hear_head(&one, &second);
    assert_string_not_equal(first.key, second.key);
    end();
}

static void test_ws_client_offers_no_packing_when_told_not_to(void **state)
{
    fl_options options = once;
    door_head head;

    (void)state;
    options.ws.no_compression = true;
    begin();
    sail(&options);
    arrive();
    door_hear_head(&one, &head);
    assert_string_equal(door_field(&head, "sec-websocket-extensions"), "");
    end();
}

static void test_ws_client_refuses_headers_that_are_its_own(void **state)
{
    static const char *const names[] = {
        "Sec-WebSocket-Key: x", "Sec-WebSocket-Protocol: chat",
        "Upgrade: h2c",         "Connection: close",
        "Host: elsewhere",      "no field"};
    fl_error error;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const headers[] = {names[i], NULL};
        begin();
        assert_int_equal(try_sail("ws://127.0.0.1:1/",
                                  &(fl_options){.http.headers = headers},
                                  &error),
                         FL_E_INVALID);
        assert_non_null(strstr(error.text, "http.headers"));
        assert_null(ship.link);
        end();
    }
}

static void test_ws_client_sends_nothing_in_the_clear_by_accident(void **state)
{
    fl_error error;

    (void)state;
    begin();
    assert_int_equal(try_sail("ws://192.0.2.1:80/", NULL, &error),
                     FL_E_INVALID);
    assert_non_null(strstr(error.text, "--allow-http"));
    assert_non_null(strstr(error.text, "allow_plaintext"));
    assert_non_null(strstr(error.text, "wss://"));
    assert_null(ship.link);
    assert_int_equal(try_sail("ws://192.0.2.1:80/",
                              &(fl_options){.http = {.allow_plaintext = true,
                                                     .no_proxy = true}},
                              &error),
                     FL_OK);
    fl_link_close(ship.link);
    end();
}

/* What comes of an answer, with no second attempt. */
static void check_answer(const char *format, fl_status status, const char *part)
{
    door_head head;
    char text[1024];

    begin();
    sail(&once);
    arrive();
    door_hear_head(&one, &head);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, format, head.accept);
#pragma GCC diagnostic pop
    door_answer(&one, text);
    see_closed(status, part);
    assert_int_equal(ship.opened, 0);
    raw_hears_end(&one);
    end();
}

#define UPGRADE "Upgrade: websocket\r\n"
#define CONNECTION "Connection: Upgrade\r\n"
#define ACCEPT "Sec-WebSocket-Accept: %s\r\n"
#define SWITCH "HTTP/1.1 101 Switching Protocols\r\n"

static void test_ws_client_takes_no_101_that_is_not_right(void **state)
{
    static const char *const wrong[] = {
        SWITCH CONNECTION ACCEPT "\r\n",
        SWITCH UPGRADE ACCEPT "\r\n",
        SWITCH UPGRADE CONNECTION "\r\n",
        SWITCH "Upgrade: h2c\r\n" CONNECTION ACCEPT "\r\n",
        SWITCH UPGRADE "Connection: close\r\n" ACCEPT "\r\n",
        SWITCH UPGRADE CONNECTION
        "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
        SWITCH UPGRADE CONNECTION "Sec-WebSocket-Accept: \r\n\r\n",
        SWITCH UPGRADE CONNECTION ACCEPT "Sec-WebSocket-Protocol: chat\r\n\r\n",
        SWITCH UPGRADE CONNECTION ACCEPT
        "Sec-WebSocket-Protocol: mcp, mcp.v1\r\n\r\n",
        SWITCH UPGRADE CONNECTION ACCEPT
        "Sec-WebSocket-Extensions: x-gzip\r\n\r\n",
        SWITCH UPGRADE CONNECTION ACCEPT
        "Sec-WebSocket-Extensions: permessage-deflate; nonsense\r\n\r\n",
        SWITCH UPGRADE CONNECTION ACCEPT
        "Sec-WebSocket-Extensions: permessage-deflate, "
        "permessage-deflate\r\n\r\n",
        "HTTP/1.0 101 Switching Protocols\r\n" UPGRADE CONNECTION ACCEPT "\r\n",
        SWITCH UPGRADE CONNECTION ACCEPT "Content-Length: 2\r\n\r\nhi",
        "SSH-2.0-OpenSSH\r\n\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_answer(wrong[i], FL_E_BAD_MESSAGE, "handshake: ");
}

static void check_taken(const char *more)
{
    begin();
    sail(&once);
    arrive();
    door_welcome(&one, more);
    io_until(ship.loop, ship.opened == 1);
    assert_int_equal(say(NOTE("1")), FL_OK);
    door_hears(&one, NOTE("1"));
    end();
}

static void test_ws_client_takes_what_it_asked_for(void **state)
{
    (void)state;
    check_taken("");
    check_taken("Sec-WebSocket-Protocol: mcp.v1\r\n");
    check_taken("Sec-WebSocket-Protocol: mcp\r\n");
    check_taken("Sec-WebSocket-Extensions: permessage-deflate; "
                "server_no_context_takeover; client_no_context_takeover\r\n");
    check_taken("X-Anything: else\r\n");
}

static void test_ws_client_takes_a_handshake_in_pieces(void **state)
{
    door_head head;
    char text[1024];

    (void)state;
    begin();
    sail(&once);
    arrive();
    door_hear_head(&one, &head);
    door_answer(&one, "HTTP/1.1 103 Early Hints\r\n\r\n");
    snprintf(text, sizeof text, DOOR_YES "\r\n", head.accept);
    for (const char *at = text; *at != '\0'; at++) {
        assert_int_equal(ship.opened, 0);
        raw_put(&one, at, 1);
        io_turn(ship.loop);
    }
    io_until(ship.loop, ship.opened == 1);
    end();
}

/* What follows the 101 in the same packet is the first of the socket. */
static void test_ws_client_loses_nothing_behind_the_handshake(void **state)
{
    door_head head;
    char text[1024];

    (void)state;
    begin();
    sail(&once);
    arrive();
    door_hear_head(&one, &head);
    int len = snprintf(text, sizeof text, DOOR_YES "\r\n", head.accept);
    size_t end_of_head = (size_t)len;
    end_of_head +=
        door_pack(text + len, DOOR_TEXT, NOTE("1"), strlen(NOTE("1")));
    size_t half =
        door_pack(text + end_of_head, DOOR_TEXT, NOTE("2"), strlen(NOTE("2"))) /
        2;
    raw_put(&one, text, end_of_head + half);
    io_until(ship.loop, ship.messages == 1);
    assert_int_equal(ship.opened, 1); /* before it */
    assert_string_equal(ship.last, NOTE("1"));
    raw_put(&one, text + end_of_head + half, 2 + strlen(NOTE("2")) - half);
    io_until(ship.loop, ship.messages == 2);
    assert_string_equal(ship.last, NOTE("2"));
    end();
}

#define EMPTY "Content-Length: 0\r\n\r\n"

static void test_ws_client_says_what_a_status_means(void **state)
{
    (void)state;
    check_answer("HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer\r\n" EMPTY,
                 FL_E_DENIED, "401 Unauthorized: send credentials");
    check_answer("HTTP/1.1 403 No\r\n" EMPTY, FL_E_DENIED, "403 Forbidden: ");
    check_answer("HTTP/1.1 404 No\r\n" EMPTY, FL_E_NOT_FOUND,
                 "404 Not Found: nothing is there; check the path");
    check_answer("HTTP/1.1 405 No\r\n" EMPTY, FL_E_REFUSED, "405 ");
    check_answer("HTTP/1.1 426 No\r\nSec-WebSocket-Version: 14\r\n" EMPTY,
                 FL_E_REFUSED, "426 Upgrade Required: ");
    check_answer("HTTP/1.1 429 No\r\n" EMPTY, FL_E_LIMIT, "429 ");
    check_answer("HTTP/1.1 503 No\r\n" EMPTY, FL_E_LIMIT, "503 ");
    check_answer("HTTP/1.1 500 No\r\n" EMPTY, FL_E_REFUSED, "500 ");
    check_answer("HTTP/1.1 307 No\r\nLocation: /x\r\n" EMPTY, FL_E_REFUSED,
                 "redirects are not followed");
    check_answer("HTTP/1.1 200 OK\r\n" EMPTY, FL_E_REFUSED,
                 "200 OK: that is no WebSocket");
}

#define RPC_ERROR(message)                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"             \
    "\"message\":\"" message "\"}}"

/* A body that ends with its connection. */
static void test_ws_client_takes_a_refusal_of_http_1_0(void **state)
{
    (void)state;
    begin();
    sail(&once);
    arrive();
    io_until(ship.loop, (raw_read(&one), one.end > 0));
    door_answer(&one, "HTTP/1.0 403 No\r\n\r\n" RPC_ERROR("not you"));
    raw_finish(&one);
    see_closed(FL_E_DENIED, "403 Forbidden (not you): ");
    end();
}

static void check_said(const char *body, const char *part)
{
    char text[8192];

    snprintf(text, sizeof text,
             "HTTP/1.1 403 No\r\nContent-Length: %zu\r\n\r\n%s", strlen(body),
             body);
    begin();
    sail(&once);
    arrive();
    io_until(ship.loop, (raw_read(&one), one.end > 0));
    door_answer(&one, text);
    see_closed(FL_E_DENIED, part);
    for (const char *at = ship.why.text; *at != '\0'; at++)
        assert_true((unsigned char)*at >= ' ');
    end();
}

static void test_ws_client_repeats_what_the_server_said(void **state)
{
    static char large[6000];

    (void)state;
    check_said(RPC_ERROR("origin not allowed"),
               "403 Forbidden (origin not allowed): it does not let us in");
    check_said(RPC_ERROR("a\\u001b[31mb\\nc"), "(a?[31mb?c): ");
    check_said("<html>no</html>", "403 Forbidden: ");
    check_said("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
               "403 Forbidden: ");
    snprintf(large, sizeof large, RPC_ERROR("%0200d end"), 0);
    check_said(large, "(0000000000");
    assert_null(strstr(ship.why.text, "end"));
    snprintf(large, sizeof large, "%05000d", 0); /* more than is read */
    check_said(large, "403 Forbidden: ");
}

static void check_final(unsigned status, bool final)
{
    char text[128];

    begin();
    sail(&quick);
    arrive();
    io_until(ship.loop, (raw_read(&one), one.end > 0));
    snprintf(text, sizeof text, "HTTP/1.1 %u No\r\n" EMPTY, status);
    door_answer(&one, text);
    io_until(ship.loop,
             ship.closed == 1 || ship.link->state == FL_LINK_DISCONNECTED);
    io_some_turns(ship.loop);
    assert_int_equal(ship.closed, final);
    if (!final) { /* and it does come back */
        raw_close(&one);
        ship.now += 100;
        arrive();
        door_welcome(&one, "");
        io_until(ship.loop, ship.opened == 1);
    }
    end();
}

static void test_ws_client_knows_what_is_final(void **state)
{
    static const unsigned final[] = {400, 401, 403, 404, 405, 410, 421, 426};
    static const unsigned passing[] = {200, 302, 408, 425, 429,
                                       500, 502, 503, 504};

    (void)state;
    for (size_t i = 0; i < sizeof final / sizeof *final; i++)
        check_final(final[i], true);
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        check_final(passing[i], false);
}

/* 100 ms is our own wait. */
static void check_wait(const char *answer, uint64_t ms)
{
    begin();
    sail(&quick);
    arrive();
    io_until(ship.loop, (raw_read(&one), one.end > 0));
    door_answer(&one, answer);
    io_until(ship.loop, ship.link->state == FL_LINK_DISCONNECTED);
    raw_close(&one);
    io_some_turns(ship.loop);
    ship.now += ms - 1;
    io_some_turns(ship.loop);
    assert_int_equal(ship.link->state, FL_LINK_DISCONNECTED);
    ship.now += 1000; /* what waits for long may be late, a little */
    arrive();
    io_until(ship.loop, (raw_read(&one), one.end > 0));
    door_answer(&one, "HTTP/1.1 500 No\r\n" EMPTY); /* asks for nothing */
    io_until(ship.loop, ship.link->state == FL_LINK_DISCONNECTED);
    io_some_turns(ship.loop);
    ship.now += 150;
    io_some_turns(ship.loop);
    assert_int_equal(ship.link->state, FL_LINK_CONNECTING);
    end();
}

static void test_ws_client_waits_as_long_as_it_is_asked_to(void **state)
{
    (void)state;
    check_wait("HTTP/1.1 503 No\r\nRetry-After: 7\r\n" EMPTY, 7000);
    check_wait("HTTP/1.1 429 No\r\nRetry-After: 3\r\n" EMPTY, 3000);
    check_wait("HTTP/1.1 503 No\r\nRetry-After: soon\r\n" EMPTY, 50);
    check_wait("HTTP/1.1 500 No\r\nRetry-After: 7\r\n" EMPTY, 50);
}

static void test_ws_client_masks_with_a_new_key_each_time(void **state)
{
    static door_frame frames[3];

    (void)state;
    meet(&once);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(say(NOTE("1")), FL_OK);
        door_hear(&one, &frames[i]);
        assert_int_equal(frames[i].opcode, DOOR_TEXT);
        assert_string_equal(frames[i].body, NOTE("1"));
    }
    assert_memory_not_equal(frames[0].mask, frames[1].mask, 4);
    assert_memory_not_equal(frames[1].mask, frames[2].mask, 4);
    assert_memory_not_equal(frames[0].mask, frames[2].mask, 4);
    end();
}

static void test_ws_client_sends_one_message_in_a_frame(void **state)
{
    fl_span parts[] = {FL_SPAN("{\"jsonrpc\":\"2.0\",\n"),
                       FL_SPAN("\"method\":\r\n"), FL_SPAN("\"m\"}")};

    (void)state;
    meet(&once);
    assert_int_equal(fl_link_send(ship.link, parts, 3), FL_OK);
    assert_int_equal(say(NOTE("2")), FL_OK);
    door_hears(&one, "{\"jsonrpc\":\"2.0\",\n\"method\":\r\n\"m\"}");
    door_hears(&one, NOTE("2"));
    end();
}

static void test_ws_client_answers_a_ping(void **state)
{
    static door_frame frame;

    (void)state;
    meet(&once);
    door_put(&one, DOOR_PING, "are you?", 8);
    door_hear(&one, &frame);
    assert_int_equal(frame.opcode, DOOR_PONG);
    assert_string_equal(frame.body, "are you?");
    end();
}

static void test_ws_client_may_not_be_sent_masked_frames(void **state)
{
    (void)state;
    meet(&quick);
    raw_put(&one, "\x81\x82\x01\x02\x03\x04zz", 8);
    door_hears_close(&one, 1002);
    io_until(ship.loop, ship.down == 1);
    assert_int_equal(ship.link->state, FL_LINK_DISCONNECTED);
    ship.now += 100;
    arrive(); /* another socket may do better */
    end();
}

/* It pings, hears nothing, and has had enough; then it comes back. */
static void test_ws_client_notices_a_server_that_is_dead(void **state)
{
    static door_frame frame;
    fl_options options = quick;

    (void)state;
    options.ws.ping_ms = 1000;
    meet(&options);
    io_some_turns(ship.loop);
    ship.now += 1100;
    door_hear(&one, &frame);
    assert_int_equal(frame.opcode, DOOR_PING);
    door_put(&one, DOOR_PONG, frame.body, frame.len);
    io_turn(ship.loop);
    assert_int_equal(ship.down, 0);
    for (int i = 0; i < 20 && ship.down == 0; i++) {
        ship.now += 500;
        io_turn(ship.loop);
    }
    assert_int_equal(ship.down, 1);
    check_reason(&ship.down_why, FL_E_TIMEOUT, "");
    raw_close(&one);
    io_until(ship.loop,
             (ship.now += 50, ship.link->state == FL_LINK_CONNECTING));
    arrive();
    door_welcome(&one, "");
    io_until(ship.loop, ship.opened == 2);
    end();
}

static void test_ws_client_comes_back(void **state)
{
    fl_options options = quick;

    (void)state;
    options.reconnect_attempts = 1; /* in a row */
    meet(&options);
    for (int i = 1; i <= 2; i++) {
        raw_put(&one, "\x81\x7e", 2); /* half a frame is lost with it */
        ship.now += 100; /* it stood long enough to count as a success */
        io_some_turns(ship.loop);
        raw_close(&one);
        io_until(ship.loop, ship.down == i);
        assert_int_equal(ship.link->state, FL_LINK_DISCONNECTED);
        ship.now += 100;
        arrive();
        door_welcome(&one, "");
        io_until(ship.loop, ship.opened == i + 1);
        door_say(&one, NOTE("2"));
        io_until(ship.loop, ship.messages == i);
        assert_int_equal(say(NOTE("3")), FL_OK);
        door_hears(&one, NOTE("3"));
    }
    end();
}

static void test_ws_client_server_that_only_drops_uses_up_attempts(void **state)
{
    fl_options options = quick;

    (void)state;
    options.reconnect_attempts = 2;
    begin();
    sail(&options);
    for (int i = 1; i <= 3; i++) { /* the first one, and two attempts */
        arrive();
        door_welcome(&one, "");
        io_until(ship.loop, ship.opened == i);
        raw_close(&one);
        io_until(ship.loop, ship.down == i);
        io_some_turns(ship.loop);
        ship.now += 100;
    }
    io_until(ship.loop, ship.closed == 1);
    end();
}

static void test_ws_client_tells_the_last_error_when_it_gives_up(void **state)
{
    fl_options options = quick;
    uint16_t port = 0;

    (void)state;
    options.reconnect_attempts = 3;
    begin();
    close(raw_listen(&port));
    ship.port = port;
    sail(&options);
    io_until(ship.loop, (ship.now += 50, ship.closed == 1));
    check_reason(&ship.why, FL_E_REFUSED, "127.0.0.1");
    assert_int_equal(ship.opened + ship.down, 0);
    end();
}

/* Of three messages, kept as 32, 33 and 32 bytes with their line ends. */
static void check_queue(size_t queue, fl_status third, const char *more)
{
    fl_options options = quick;
    uint16_t port = 0;

    options.outage_queue = queue;
    begin();
    close(raw_listen(&port));
    ship.port = port;
    sail(&options);
    assert_int_equal(say(NOTE("1")), FL_OK);
    io_until(ship.loop, ship.link->state == FL_LINK_DISCONNECTED);
    assert_int_equal(say("{\"jsonrpc\":\"2.0\",\n\"method\":\"n2\"}"), FL_OK);
    assert_int_equal(say(NOTE("3")), third);
    assert_int_equal(say(NOTE("4")), FL_BUSY);
    ship.door = raw_listen(&port);
    io_until(ship.loop,
             (ship.now += 50, ship.link->state == FL_LINK_CONNECTING));
    arrive();
    door_welcome(&one, more);
    door_hears(&one, NOTE("1"));
    door_hears(&one, "{\"jsonrpc\":\"2.0\", \"method\":\"n2\"}");
    if (third == FL_OK)
        door_hears(&one, NOTE("3"));
    assert_int_equal(ship.opened, 1);
    assert_int_equal(ship.writable, 1);
    assert_int_equal(say(NOTE("4")), FL_OK);
    door_hears(&one, NOTE("4"));

    raw_close(&one); /* it is over, and not said again */
    io_until(ship.loop, ship.down == 1);
    io_until(ship.loop,
             (ship.now += 50, ship.link->state == FL_LINK_CONNECTING));
    arrive();
    door_welcome(&one, more);
    io_until(ship.loop, ship.opened == 2);
    assert_int_equal(say(NOTE("5")), FL_OK);
    door_hears(&one, NOTE("5"));
    assert_int_equal(ship.writable, 1);
    end();
}

static void test_ws_client_keeps_messages_through_an_outage(void **state)
{
    (void)state;
    check_queue(97, FL_OK, "");
    check_queue(96, FL_BUSY, "");
    check_queue(97, FL_OK,
                "Sec-WebSocket-Extensions: permessage-deflate; "
                "server_no_context_takeover; client_no_context_takeover\r\n");
}

/* However small each is: frames take far more room than the lines they were
 * kept as, and far more than high water waits then. */
static void test_ws_client_sends_all_it_has_kept(void **state)
{
    fl_options options = quick;
    int kept = 0;

    (void)state;
    options.high_water = options.outage_queue = 200000;
    options.ws.high_water = options.max_message = 64;
    options.socket_buffer = 4096; /* so that it waits here */
    begin();
    sail(&options);
    while (say("{}") == FL_OK)
        kept++;
    assert_int_equal(kept, 200000 / 3);
    arrive();
    door_welcome(&one, "");
    for (int i = 0; i < kept; i++)
        door_hears(&one, "{}");
    assert_int_equal(ship.opened, 1);
    assert_int_equal(ship.closed, 0);
    end();
}

static void check_close_code(unsigned code, bool final)
{
    meet(&quick);
    door_say_close(&one, code, "because");
    door_hears_close(&one, code);
    raw_close(&one);
    io_until(ship.loop, ship.closed == 1 || ship.down == 1);
    if (final) {
        see_closed(ship.why.status, "because");
        assert_true(ship.why.status < 0);
        assert_int_equal(ship.down, 0);
    } else {
        assert_non_null(strstr(ship.down_why.text, "because"));
        io_until(ship.loop,
                 (ship.now += 50, ship.link->state == FL_LINK_CONNECTING));
        arrive();
        door_welcome(&one, "");
        io_until(ship.loop, ship.opened == 2);
    }
    end();
}

static void test_ws_client_comes_back_after_all_but_a_policy(void **state)
{
    static const unsigned codes[] = {1000, 1001, 1002, 1003, 1007,
                                     1009, 1010, 1011, 1013, 4000};

    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        check_close_code(codes[i], false);
    check_close_code(1008, true);
}

static void test_ws_client_without_reconnect_ends_with_its_socket(void **state)
{
    (void)state;
    meet(&once);
    raw_close(&one);
    io_until(ship.loop, ship.closed == 1);
    assert_int_not_equal(ship.why.status, FL_OK);
    assert_int_equal(ship.down, 0);
    end();
    meet(&once);
    door_say_close(&one, 1001, "bye");
    io_until(ship.loop, ship.closed == 1);
    assert_non_null(strstr(ship.why.text, "bye"));
    end();
}

static void test_ws_client_closes_by_a_handshake(void **state)
{
    (void)state;
    meet(&quick);
    assert_int_equal(say(NOTE("1")), FL_OK);
    fl_link_close(ship.link);
    assert_int_equal(ship.closed, 0);
    assert_int_equal(say(NOTE("2")), FL_E_STATE);
    door_hears(&one, NOTE("1"));
    door_hears_close(&one, 1000);
    io_some_turns(ship.loop);
    assert_int_equal(ship.closed, 0); /* until the server has answered */
    door_say_close(&one, 1000, "");
    see_closed(FL_OK, "");
    raw_hears_end(&one);
    end();
}

static void test_ws_client_closes_without_an_answer_too(void **state)
{
    fl_options options = quick;

    (void)state;
    options.ws.close_ms = 300;
    meet(&options);
    fl_link_close(ship.link);
    door_hears_close(&one, 1000);
    ship.now += 299;
    io_some_turns(ship.loop);
    assert_int_equal(ship.closed, 0);
    io_until(ship.loop, (ship.now += 50, ship.closed == 1));
    assert_int_equal(ship.why.status, FL_OK);
    end();
}

/* Closed where it has not even begun, at once and once. */
static void see_closed_quickly(void)
{
    fl_link_close(ship.link);
    fl_link_close(ship.link); /* harmless */
    assert_int_equal(ship.closed, 0);
    io_until(ship.loop, ship.closed == 1);
    assert_int_equal(ship.why.status, FL_OK);
    assert_int_equal(ship.opened + ship.down, 0);
    end();
}

static void test_ws_client_may_be_closed_before_it_is_open(void **state)
{
    uint16_t port = 0;

    (void)state;
    begin(); /* nothing has happened */
    sail(&quick);
    see_closed_quickly();

    begin(); /* connected */
    sail(&quick);
    arrive();
    see_closed_quickly();

    begin(); /* the request is out */
    sail(&quick);
    arrive();
    io_until(ship.loop, (raw_read(&one), one.end > 0));
    see_closed_quickly();

    begin(); /* half the answer has come */
    sail(&quick);
    arrive();
    io_until(ship.loop, (raw_read(&one), one.end > 0));
    door_answer(&one, SWITCH UPGRADE);
    io_some_turns(ship.loop);
    see_closed_quickly();

    begin(); /* a refusal that is not whole */
    sail(&quick);
    arrive();
    io_until(ship.loop, (raw_read(&one), one.end > 0));
    door_answer(&one, "HTTP/1.1 503 No\r\nContent-Length: 9\r\n\r\nx");
    io_some_turns(ship.loop);
    see_closed_quickly();

    begin(); /* waiting for the next attempt */
    close(raw_listen(&port));
    ship.port = port;
    sail(&quick);
    io_until(ship.loop, ship.link->state == FL_LINK_DISCONNECTED);
    see_closed_quickly();
}

static void test_ws_client_may_be_closed_in_any_callback(void **state)
{
    door_head head;
    char text[512];

    (void)state;
    for (close_in where = CLOSE_ON_OPEN; where <= CLOSE_ON_DOWN; where++) {
        begin();
        ship.close_in = where;
        sail(&quick);
        while (say(NOTE("1")) == FL_OK)
            ; /* so that on_writable comes */
        arrive();
        door_hear_head(&one, &head);
        int len = snprintf(text, sizeof text, DOOR_YES "\r\n", head.accept);
        size_t all = (size_t)len + door_pack(text + len, DOOR_TEXT, NOTE("2"),
                                             strlen(NOTE("2")));
        raw_put(&one, text, all);
        if (where == CLOSE_ON_DOWN) {
            io_until(ship.loop, ship.messages == 1);
            raw_close(&one);
        }
        io_until(ship.loop, (ship.now += 100, ship.closed == 1));
        assert_int_equal(ship.why.status, FL_OK);
        assert_int_equal(ship.opened, 1);
        end();
    }
}

static void test_ws_client_gives_a_handshake_only_so_long(void **state)
{
    fl_options options = quick;

    (void)state;
    options.open_timeout_ms = 500;
    options.no_reconnect = true;
    begin(); /* no answer at all */
    sail(&options);
    arrive();
    io_until(ship.loop, (raw_read(&one), one.end > 0));
    ship.now += 499;
    io_some_turns(ship.loop);
    assert_int_equal(ship.closed, 0);
    ship.now += 20;
    see_closed(FL_E_TIMEOUT, "handshake: no answer from 127.0.0.1:");
    end();

    begin(); /* connecting counts */
    sail(&options);
    ship.now += 300;
    arrive();
    io_until(ship.loop, (raw_read(&one), one.end > 0));
    ship.now += 199;
    io_some_turns(ship.loop);
    assert_int_equal(ship.closed, 0);
    ship.now += 20;
    see_closed(FL_E_TIMEOUT, "after 500 ms");
    end();

    begin(); /* a drop at a time */
    sail(&options);
    arrive();
    io_until(ship.loop, (raw_read(&one), one.end > 0));
    for (int i = 0; i < 5; i++) {
        door_answer(&one, i == 0 ? SWITCH : "X-More: 1\r\n");
        ship.now += 100;
        io_some_turns(ship.loop);
    }
    ship.now += 20;
    see_closed(FL_E_TIMEOUT, "after 500 ms");
    end();

    begin(); /* a refusal without end is one all the same */
    sail(&options);
    arrive();
    io_until(ship.loop, (raw_read(&one), one.end > 0));
    door_answer(&one, "HTTP/1.1 404 No\r\nContent-Length: 9\r\n\r\nx");
    io_some_turns(ship.loop);
    ship.now += 520;
    see_closed(FL_E_NOT_FOUND, "404");
    end();
}

static void test_ws_client_says_that_the_server_hung_up(void **state)
{
    (void)state;
    begin();
    sail(&once);
    arrive();
    io_until(ship.loop, (raw_read(&one), one.end > 0));
    raw_finish(&one);
    see_closed(FL_E_CLOSED, "handshake: ");
    end();
    begin();
    sail(&once);
    arrive();
    io_until(ship.loop, (raw_read(&one), one.end > 0));
    door_answer(&one, SWITCH UPGRADE);
    raw_finish(&one);
    see_closed(FL_E_CLOSED, "handshake: ");
    end();
}

/* Whatever there is no memory for: it ends, in order, and nothing is left. */
static void sail_in_need(void *user)
{
    fl_options options = quick;
    fl_error error;
    char url[64];

    (void)user;
    options.reconnect_attempts = 1;
    snprintf(url, sizeof url, "ws://127.0.0.1:%u/", ship.port);
    ship.link = NULL;
    ship.opened = ship.closed = 0;
    ship.loop = fl_loop_new_with(
        &(fl_loop_options){.clock = &(fl_clock){io_read_clock, &ship.now}});
    if (ship.loop == NULL)
        return;
    if (try_sail(url, &options, &error) != FL_OK) {
        assert_int_equal(error.status, FL_E_NOMEM);
        assert_null(ship.link);
        fl_loop_free(ship.loop);
        return;
    }
    (void)!say(NOTE("1"));
    one.fd = -1;
    while (ship.closed == 0 && ship.opened == 0) {
        int fd = accept(ship.door, NULL, NULL);
        if (fd >= 0 && one.fd >= 0)
            raw_close(&one);
        if (fd >= 0) {
            raw_take(&one, ship.loop, fd);
            io_until(ship.loop, (raw_read(&one), one.end > 0 || one.ended));
            if (!one.ended)
                door_welcome(&one, "");
        }
        ship.now += 50;
        io_turn(ship.loop);
    }
    if (ship.closed == 0) {
        door_say(&one, NOTE("2"));
        io_turn(ship.loop);
        fl_link_close(ship.link);
    }
    io_until(ship.loop, (ship.now += 500, ship.closed == 1));
    if (one.fd >= 0)
        raw_close(&one);
    io_some_turns(ship.loop);
    fl_loop_free(ship.loop);
}

static void test_ws_client_survives_every_failed_allocation(void **state)
{
    (void)state;
    ship = (boat){.now = 1000};
    ship.door = raw_listen(&ship.port);
    assert_true(ration_each(sail_in_need, NULL) > 10);
    close(ship.door);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ws_client_asks_as_the_rfc_says),
        cmocka_unit_test(test_ws_client_never_uses_a_key_twice),
        cmocka_unit_test(test_ws_client_offers_no_packing_when_told_not_to),
        cmocka_unit_test(test_ws_client_refuses_headers_that_are_its_own),
        cmocka_unit_test(test_ws_client_sends_nothing_in_the_clear_by_accident),
        cmocka_unit_test(test_ws_client_takes_no_101_that_is_not_right),
        cmocka_unit_test(test_ws_client_takes_what_it_asked_for),
        cmocka_unit_test(test_ws_client_takes_a_handshake_in_pieces),
        cmocka_unit_test(test_ws_client_loses_nothing_behind_the_handshake),
        cmocka_unit_test(test_ws_client_says_what_a_status_means),
        cmocka_unit_test(test_ws_client_takes_a_refusal_of_http_1_0),
        cmocka_unit_test(test_ws_client_repeats_what_the_server_said),
        cmocka_unit_test(test_ws_client_knows_what_is_final),
        cmocka_unit_test(test_ws_client_waits_as_long_as_it_is_asked_to),
        cmocka_unit_test(test_ws_client_masks_with_a_new_key_each_time),
        cmocka_unit_test(test_ws_client_sends_one_message_in_a_frame),
        cmocka_unit_test(test_ws_client_answers_a_ping),
        cmocka_unit_test(test_ws_client_may_not_be_sent_masked_frames),
        cmocka_unit_test(test_ws_client_notices_a_server_that_is_dead),
        cmocka_unit_test(test_ws_client_comes_back),
        cmocka_unit_test(
            test_ws_client_server_that_only_drops_uses_up_attempts),
        cmocka_unit_test(test_ws_client_tells_the_last_error_when_it_gives_up),
        cmocka_unit_test(test_ws_client_keeps_messages_through_an_outage),
        cmocka_unit_test(test_ws_client_sends_all_it_has_kept),
        cmocka_unit_test(test_ws_client_comes_back_after_all_but_a_policy),
        cmocka_unit_test(test_ws_client_without_reconnect_ends_with_its_socket),
        cmocka_unit_test(test_ws_client_closes_by_a_handshake),
        cmocka_unit_test(test_ws_client_closes_without_an_answer_too),
        cmocka_unit_test(test_ws_client_may_be_closed_before_it_is_open),
        cmocka_unit_test(test_ws_client_may_be_closed_in_any_callback),
        cmocka_unit_test(test_ws_client_gives_a_handshake_only_so_long),
        cmocka_unit_test(test_ws_client_says_that_the_server_hung_up),
        cmocka_unit_test(test_ws_client_survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
