/*
 * test_http2_connect.c - extended CONNECT (RFC 8441), and input that waits.
 *
 * The peer is played by hand, for our own client does not ask for this. What
 * is new about such a request is that both directions go on after the answer,
 * so its input is given out as it comes and its window is what holds it back.
 */
#include "base/span.h"
#include "support/http_end.h"
#include "support/ration.h"
#include "wire/http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { DATA, HEADERS, RST_STREAM = 3, SETTINGS, WINDOW_UPDATE = 8 };
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4, FRAME_HEAD = 9 };
enum { PROTOCOL_ERROR = 1, FLOW_CONTROL_ERROR = 3, CANCEL = 8 };
enum { PIECE = 16 * 1024, WINDOW = 256 * 1024 };

#define METHOD                                                                 \
    "\x02\x07"                                                                 \
    "CONNECT"
#define SCHEME "\x86" /* http */
#define PATH                                                                   \
    "\x04\x03"                                                                 \
    "/ws"
#define AUTHORITY                                                              \
    "\x01\x01"                                                                 \
    "a"
#define PROTOCOL                                                               \
    "\0\x09"                                                                   \
    ":protocol\x09"                                                            \
    "websocket"
#define CONNECT METHOD PROTOCOL SCHEME PATH AUTHORITY

static const fl_http_limits willing = {.take_connect = true};
static const fl_heading streamed = {.status = 200, .length = FL_HTTP_STREAMED};

static bool open_server(http_end *server, http_end *peer,
                        const fl_http_limits *limits)
{
    *server = *peer = (http_end){0};
    if (!http_end_open(server, false, limits))
        return false;
    http_end_preface(peer);
    http_end_deliver(peer, server);
    http_end_frame(peer, SETTINGS, ACK, 0, (fl_span){0});
    http_end_deliver(peer, server);
    return true;
}

static bool open_connect(http_end *server, http_end *peer)
{
    if (!open_server(server, peer, &willing))
        return false;
    http_end_forget(server);
    http_end_frame(peer, HEADERS, END_HEADERS, 1, FL_SPAN(CONNECT));
    http_end_deliver(peer, server);
    return true;
}

static fl_status say(fl_exchange *exchange, const char *text)
{
    fl_span span = fl_span_of(text);

    return fl_exchange_send(exchange, &span, 1, false);
}

static uint32_t number(const char *bytes, size_t count)
{
    uint32_t n = 0;

    for (size_t i = 0; i < count; i++)
        n = n << 8 | (unsigned char)bytes[i];
    return n;
}

/* By how much the windows of a stream have been opened. */
static size_t opened(const http_end *end, uint32_t stream)
{
    size_t sum = 0;

    for (size_t at = 0; at < end->out_len;) {
        const char *frame = end->out + at;
        if (frame[3] == WINDOW_UPDATE && number(frame + 5, 4) == stream)
            sum += number(frame + FRAME_HEAD, 4);
        at += FRAME_HEAD + number(frame, 3);
    }
    return sum;
}

/* The value of a setting in the first frame, or -1. */
static int64_t setting(const http_end *end, uint32_t id)
{
    size_t len = number(end->out, 3);

    assert_int_equal(end->out[3], SETTINGS);
    for (size_t at = 0; at < len; at += 6)
        if (number(end->out + FRAME_HEAD + at, 2) == id)
            return number(end->out + FRAME_HEAD + at + 2, 4);
    return -1;
}

static void test_connect_is_offered_where_it_is_taken(void **state)
{
    http_end server, peer;

    (void)state;
    assert_true(open_server(&server, &peer, &willing));
    assert_int_equal(setting(&server, 8), 1);
    assert_int_equal(setting(&server, 3), 100);
    http_end_close(&server);
    assert_true(open_server(&server, &peer, NULL));
    assert_int_equal(setting(&server, 8), -1);
    assert_int_equal(setting(&server, 3), 100);
    http_end_close(&server);

    server = (http_end){0};
    assert_true(http_end_open(&server, true, &willing));
    assert_non_null(http_end_get(&server, "/"));
    memmove(server.out, server.out + 24, server.out_len -= 24);
    assert_int_equal(setting(&server, 8), -1); /* a client's has no meaning */
    http_end_close(&server);
}

static void check_head(http_end *end, http_event event, fl_exchange *exchange)
{
    (void)end;
    if (event != HTTP_HEAD)
        return;
    const fl_head *head = fl_exchange_head(exchange);
    assert_true(fl_span_equal(head->method, FL_SPAN("CONNECT")));
    assert_true(fl_span_equal(head->protocol, FL_SPAN("websocket")));
    assert_true(fl_span_equal(head->target, FL_SPAN("/ws")));
    assert_true(fl_span_equal(head->authority, FL_SPAN("a")));
    assert_true(head->has_body);
    assert_false(head->has_length);
    assert_int_equal(head->count, 0);
}

static void test_connect_goes_on_in_both_directions(void **state)
{
    http_end server, peer;

    (void)state;
    assert_true(open_server(&server, &peer, &willing));
    server.act = check_head;
    http_end_frame(&peer, HEADERS, END_HEADERS, 1, FL_SPAN(CONNECT));
    http_end_deliver(&peer, &server);
    assert_int_equal(server.told[HTTP_HEAD], 1);
    assert_int_equal(server.told[HTTP_END], 0);
    fl_exchange *exchange = server.exchange;
    assert_int_equal(fl_exchange_respond(exchange, &streamed), FL_OK);
    for (size_t i = 1; i <= 5; i++) {
        http_end_forget(&server);
        http_end_frame(&peer, DATA, 0, 1, FL_SPAN("ping"));
        http_end_deliver(&peer, &server);
        assert_int_equal(server.body, 4 * i);
        assert_int_equal(say(exchange, "pong"), FL_OK);
        assert_int_equal(http_end_count(&server, DATA), 1);
    }
    http_end_frame(&peer, DATA, END_STREAM, 1, FL_SPAN("bye"));
    http_end_deliver(&peer, &server);
    assert_int_equal(server.told[HTTP_END], 1);
    http_end_forget(&server);
    assert_int_equal(say(exchange, "and bye"), FL_OK);
    fl_exchange_finish(exchange);
    assert_int_equal(http_end_count(&server, DATA), 2); /* the last is empty */
    assert_int_equal(http_end_count(&server, RST_STREAM), 0);
    assert_int_equal(fl_http_open(server.http), 0);
    assert_int_equal(server.told[HTTP_LOST], 0);
    http_end_close(&server);
}

static void test_connect_may_be_ended_by_us_first(void **state)
{
    http_end server, peer;

    (void)state;
    assert_true(open_connect(&server, &peer));
    fl_exchange *exchange = server.exchange;
    assert_int_equal(fl_exchange_respond(exchange, &streamed), FL_OK);
    assert_int_equal(say(exchange, "last words"), FL_OK);
    http_end_forget(&server);
    fl_exchange_finish(exchange);
    assert_int_equal(http_end_count(&server, DATA), 1);
    assert_int_equal(http_end_count(&server, RST_STREAM), 1);
    assert_int_equal(http_end_error(&server, RST_STREAM), 0); /* NO_ERROR */
    http_end_frame(&peer, DATA, END_STREAM, 1, FL_SPAN("crossed"));
    http_end_deliver(&peer, &server);
    assert_int_equal(server.body, 0);
    assert_int_equal(server.told[HTTP_LOST] + server.told[HTTP_OVER], 0);
    http_end_close(&server);
}

static void test_connect_may_be_refused(void **state)
{
    http_end server, peer;

    (void)state;
    assert_true(open_connect(&server, &peer));
    http_end_answer(server.exchange, "no");
    assert_int_equal(http_end_count(&server, DATA), 1);
    assert_int_equal(http_end_error(&server, RST_STREAM), 0);
    http_end_close(&server);
}

static void test_connect_is_lost_with_its_stream(void **state)
{
    http_end server, peer;

    (void)state;
    assert_true(open_connect(&server, &peer));
    fl_exchange *exchange = server.exchange;
    assert_int_equal(fl_exchange_respond(exchange, &streamed), FL_OK);
    fl_exchange_pause(exchange, true);
    http_end_frame(&peer, DATA, 0, 1, FL_SPAN("half"));
    http_end_frame(&peer, RST_STREAM, 0, 1, FL_SPAN("\0\0\0\x08"));
    http_end_deliver(&peer, &server);
    assert_int_equal(server.told[HTTP_LOST], 1);
    assert_int_equal(server.lost, FL_E_CANCELLED);
    assert_int_equal(fl_http_open(server.http), 0);
    http_end_close(&server);
}

/* What is made of a head: 0 a request, above a status, below an error. */
static int judge(const fl_http_limits *limits, fl_span block)
{
    http_end server, peer;

    assert_true(open_server(&server, &peer, limits));
    http_end_forget(&server);
    http_end_frame(&peer, HEADERS, END_HEADERS, 1, block);
    http_end_deliver(&peer, &server);
    int verdict = (int)server.status;
    if (http_end_count(&server, RST_STREAM) > 0)
        verdict = -(int)http_end_error(&server, RST_STREAM);
    assert_int_equal(server.told[HTTP_OVER], 0);
    assert_int_equal(server.told[HTTP_HEAD], verdict == 0);
    http_end_close(&server);
    return verdict;
}

static void test_connect_is_malformed_where_it_is_not_taken(void **state)
{
    (void)state;
    assert_int_equal(judge(NULL, FL_SPAN(CONNECT)), -PROTOCOL_ERROR);
    assert_int_equal(judge(NULL, FL_SPAN(METHOD AUTHORITY)), 405);
    assert_int_equal(
        judge(NULL, FL_SPAN("\x82" PROTOCOL SCHEME PATH AUTHORITY)),
        -PROTOCOL_ERROR);
}

static void test_connect_knows_its_own_when_it_sees_one(void **state)
{
    const fl_http_limits *w = &willing;

    (void)state;
    assert_int_equal(judge(w, FL_SPAN(CONNECT)), 0);
    assert_int_equal(judge(w, FL_SPAN("\x82" SCHEME PATH AUTHORITY)), 0);
    assert_int_equal(judge(w, FL_SPAN(METHOD AUTHORITY)), 405);
    /* a :protocol with a GET */
    assert_int_equal(judge(w, FL_SPAN("\x82" PROTOCOL SCHEME PATH AUTHORITY)),
                     -PROTOCOL_ERROR);
    /* something is missing, or there twice */
    assert_int_equal(judge(w, FL_SPAN(METHOD PROTOCOL PATH AUTHORITY)),
                     -PROTOCOL_ERROR);
    assert_int_equal(judge(w, FL_SPAN(METHOD PROTOCOL SCHEME AUTHORITY)),
                     -PROTOCOL_ERROR);
    assert_int_equal(judge(w, FL_SPAN(METHOD PROTOCOL SCHEME PATH)),
                     -PROTOCOL_ERROR);
    assert_int_equal(judge(w, FL_SPAN(METHOD SCHEME PATH AUTHORITY)),
                     -PROTOCOL_ERROR);
    assert_int_equal(judge(w, FL_SPAN(CONNECT PROTOCOL)), -PROTOCOL_ERROR);
    /* a path that is none, of a scheme where nghttp2 does not look */
    assert_int_equal(judge(w, FL_SPAN(METHOD PROTOCOL "\x06\x03"
                                                      "foo"
                                                      "\x04\x02"
                                                      "ab" AUTHORITY)),
                     400);
    /* :protocol is empty */
    assert_int_equal(
        judge(w, FL_SPAN(METHOD "\0\x09:protocol\0" SCHEME PATH AUTHORITY)),
        -PROTOCOL_ERROR);
}

static void send_pieces(http_end *peer, http_end *server, uint32_t stream,
                        size_t count)
{
    static const char piece[PIECE];

    for (size_t i = 0; i < count; i++)
        http_end_frame(peer, DATA, 0, stream, (fl_span){piece, sizeof piece});
    http_end_deliver(peer, server);
}

static void test_input_opens_the_window_as_it_is_taken(void **state)
{
    http_end server, peer;

    (void)state;
    assert_true(open_connect(&server, &peer));
    assert_int_equal(fl_exchange_respond(server.exchange, &streamed), FL_OK);
    size_t got = 0;
    for (size_t sent = 0; sent < 8 * WINDOW; sent += WINDOW / 2) {
        send_pieces(&peer, &server, 1, WINDOW / 2 / PIECE);
        got += opened(&server, 1);
        http_end_forget(&server);
    }
    assert_int_equal(server.body, 8 * WINDOW);
    assert_true(got >= 7 * WINDOW);
    assert_int_equal(server.told[HTTP_LOST], 0);
    http_end_close(&server);
}

static void test_input_waits_while_its_owner_says_so(void **state)
{
    http_end server, peer;

    (void)state;
    assert_true(open_connect(&server, &peer));
    fl_exchange *exchange = server.exchange;
    assert_int_equal(fl_exchange_respond(exchange, &streamed), FL_OK);
    fl_exchange_pause(exchange, true);
    send_pieces(&peer, &server, 1, WINDOW / PIECE);
    assert_int_equal(server.body, WINDOW); /* what the peer may send */
    assert_int_equal(opened(&server, 1), 0);
    /* the others are not held up by it */
    http_end_frame(&peer, HEADERS, END_HEADERS, 3, FL_SPAN(CONNECT));
    for (size_t i = 0; i < 8; i++)
        send_pieces(&peer, &server, 3, WINDOW / PIECE / 2);
    assert_int_equal(server.body, 5 * WINDOW);
    assert_true(opened(&server, 0) >= 4 * WINDOW);
    assert_true(opened(&server, 3) >= 3 * WINDOW);
    assert_int_equal(opened(&server, 1), 0);

    http_end_forget(&server);
    fl_exchange_pause(exchange, false);
    assert_int_equal(opened(&server, 1), WINDOW);
    fl_exchange_pause(exchange, false); /* once */
    assert_int_equal(opened(&server, 1), WINDOW);
    send_pieces(&peer, &server, 1, WINDOW / PIECE);
    assert_int_equal(server.body, 6 * WINDOW);
    assert_int_equal(server.told[HTTP_LOST] + server.told[HTTP_OVER], 0);
    http_end_close(&server);
}

static void test_input_past_a_shut_window_costs_the_stream(void **state)
{
    http_end server, peer;

    (void)state;
    assert_true(open_connect(&server, &peer));
    fl_exchange_pause(server.exchange, true);
    send_pieces(&peer, &server, 1, WINDOW / PIECE);
    http_end_frame(&peer, DATA, 0, 1, FL_SPAN("x"));
    http_end_deliver(&peer, &server);
    assert_int_equal(server.told[HTTP_LOST], 1);
    assert_int_equal(http_end_error(&server, RST_STREAM), FLOW_CONTROL_ERROR);
    http_end_close(&server);
}

static void pause_in_body(http_end *end, http_event event,
                          fl_exchange *exchange)
{
    (void)end;
    if (event == HTTP_BODY)
        fl_exchange_pause(exchange, true);
    else if (event == HTTP_END)
        fl_exchange_pause(exchange, false);
}

static void test_input_may_be_stopped_from_within(void **state)
{
    http_end server, peer;

    (void)state;
    assert_true(open_connect(&server, &peer));
    server.act = pause_in_body;
    send_pieces(&peer, &server, 1, WINDOW / PIECE);
    assert_int_equal(server.body, WINDOW);
    assert_int_equal(opened(&server, 1), 0);
    http_end_frame(&peer, DATA, END_STREAM, 1, (fl_span){0});
    http_end_deliver(&peer, &server);
    assert_int_equal(server.told[HTTP_END], 1);
    http_end_close(&server);
}

static void test_input_of_a_client_waits_too(void **state)
{
    http_end client = {0}, server = {0};
    static const char piece[PIECE];

    (void)state;
    assert_true(http_end_open(&client, true, NULL));
    assert_true(http_end_open(&server, false, NULL));
    fl_exchange *asked = http_end_get(&client, "/");
    http_end_settle(&client, &server);
    fl_exchange_pause(asked, true);
    assert_int_equal(fl_exchange_respond(server.exchange, &streamed), FL_OK);
    for (size_t i = 0; i < 2 * WINDOW / PIECE; i++)
        assert_int_equal(fl_exchange_send(server.exchange,
                                          &(fl_span){piece, sizeof piece}, 1,
                                          true),
                         FL_OK);
    http_end_settle(&client, &server);
    assert_int_equal(client.body, WINDOW);
    assert_int_equal(fl_exchange_pending(server.exchange), WINDOW);
    fl_exchange_pause(asked, false);
    http_end_settle(&client, &server);
    assert_int_equal(client.body, 2 * WINDOW);
    http_end_close(&client);
    http_end_close(&server);
}

static void live_poorly(void *user)
{
    http_end server, peer;

    (void)user;
    if (!open_connect(&server, &peer))
        return;
    fl_exchange *exchange = server.exchange;
    if (server.told[HTTP_HEAD] == 1 && server.told[HTTP_LOST] == 0 &&
        fl_exchange_respond(exchange, &streamed) == FL_OK) {
        fl_exchange_pause(exchange, true);
        send_pieces(&peer, &server, 1, WINDOW / PIECE);
        if (server.told[HTTP_LOST] == 0)
            fl_exchange_pause(exchange, false);
        if (server.told[HTTP_LOST] == 0)
            (void)!say(exchange, "enough");
    }
    http_end_close(&server);
}

static void test_connect_survives_the_want_of_memory(void **state)
{
    (void)state;
    assert_true(ration_each(live_poorly, NULL) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connect_is_offered_where_it_is_taken),
        cmocka_unit_test(test_connect_goes_on_in_both_directions),
        cmocka_unit_test(test_connect_may_be_ended_by_us_first),
        cmocka_unit_test(test_connect_may_be_refused),
        cmocka_unit_test(test_connect_is_lost_with_its_stream),
        cmocka_unit_test(test_connect_is_malformed_where_it_is_not_taken),
        cmocka_unit_test(test_connect_knows_its_own_when_it_sees_one),
        cmocka_unit_test(test_input_opens_the_window_as_it_is_taken),
        cmocka_unit_test(test_input_waits_while_its_owner_says_so),
        cmocka_unit_test(test_input_past_a_shut_window_costs_the_stream),
        cmocka_unit_test(test_input_may_be_stopped_from_within),
        cmocka_unit_test(test_input_of_a_client_waits_too),
        cmocka_unit_test(test_connect_survives_the_want_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
