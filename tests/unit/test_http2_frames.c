/*
 * test_http2_frames.c - the rules of RFC 9113 about single frames.
 *
 * Each is broken by a peer that is played by hand, and the answer must name
 * what was broken: by GOAWAY if the connection cannot go on, by RST_STREAM if
 * only a request cannot. Next to most of them stands the same thing done
 * right, for a rule that is too strict keeps out those who have done nothing.
 */
#include "base/span.h"
#include "support/http_end.h"
#include "wire/http2_frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum {
    DATA = FL_HTTP2_DATA,
    HEADERS = FL_HTTP2_HEADERS,
    PRIORITY = FL_HTTP2_PRIORITY,
    RST_STREAM = FL_HTTP2_RST_STREAM,
    SETTINGS = FL_HTTP2_SETTINGS,
    PUSH_PROMISE = FL_HTTP2_PUSH_PROMISE,
    PING = FL_HTTP2_PING,
    GOAWAY = FL_HTTP2_GOAWAY,
    WINDOW_UPDATE = FL_HTTP2_WINDOW_UPDATE,
    CONTINUATION = FL_HTTP2_CONTINUATION,
};

enum {
    ACK = FL_HTTP2_ACK,
    END_STREAM = FL_HTTP2_END_STREAM,
    END_HEADERS = FL_HTTP2_END_HEADERS,
    PADDED = FL_HTTP2_PADDED,
    PRIORITIZED = FL_HTTP2_PRIORITIZED,
    NOTHING = -1, /* is wrong */
};

#define GET                                                                    \
    "\x82\x86\x84\x41\x01"                                                     \
    "a"

typedef struct frame {
    unsigned type, flags;
    uint32_t stream;
    fl_span payload;
} frame;

/* What one frame leads to, or two of them, at a server where request 1 is open
 * and has not ended. */
typedef struct rule {
    const char *what;
    frame frames[2];
    int goaway;
    int reset;
} rule;

#define TEXT(literal)                                                          \
    {                                                                          \
        "" literal, sizeof(literal) - 1                                        \
    }
/* One frame costs the connection, or a stream, or nothing. */
#define COSTS_ALL(error, what, ...)                                            \
    {                                                                          \
        (what), {{__VA_ARGS__}}, FL_HTTP2_##error, NOTHING                     \
    }
#define COSTS_ONE(error, what, ...)                                            \
    {                                                                          \
        (what), {{__VA_ARGS__}}, NOTHING, FL_HTTP2_##error                     \
    }
#define IS_FINE(what, ...)                                                     \
    {                                                                          \
        (what), {{__VA_ARGS__}}, NOTHING, NOTHING                              \
    }

static const rule rules[] = {
    COSTS_ALL(PROTOCOL_ERROR, "DATA of no stream", DATA, 0, 0, TEXT("x")),
    COSTS_ALL(PROTOCOL_ERROR, "DATA of no request", DATA, 0, 3, TEXT("x")),
    COSTS_ALL(PROTOCOL_ERROR, "DATA of ours", DATA, 0, 2, TEXT("x")),
    COSTS_ALL(PROTOCOL_ERROR, "padding and no length", DATA, PADDED, 1,
              TEXT("")),
    COSTS_ALL(PROTOCOL_ERROR, "more padding than DATA", DATA, PADDED, 1,
              TEXT("\x03xy")),
    IS_FINE("nothing but padding", DATA, PADDED, 1, TEXT("\x02xy")),
    IS_FINE("padding and some", DATA, PADDED, 1, TEXT("\x01xy")),
    COSTS_ALL(PROTOCOL_ERROR, "HEADERS of no stream", HEADERS, END_HEADERS, 0,
              TEXT(GET)),
    COSTS_ALL(PROTOCOL_ERROR, "HEADERS of ours", HEADERS, END_HEADERS, 2,
              TEXT(GET)),
    COSTS_ALL(PROTOCOL_ERROR, "padded HEADERS, empty", HEADERS,
              END_HEADERS | PADDED, 3, TEXT("")),
    COSTS_ALL(PROTOCOL_ERROR, "more padding than HEADERS", HEADERS,
              END_HEADERS | PADDED, 3, TEXT("\x09" GET)),
    COSTS_ALL(PROTOCOL_ERROR, "half a priority", HEADERS,
              END_HEADERS | PRIORITIZED, 3, TEXT("\0\0\0\0")),
    IS_FINE("padded HEADERS with a priority", HEADERS,
            END_HEADERS | PADDED | PRIORITIZED, 3,
            TEXT("\x02\0\0\0\x01\x10" GET "zz")),
    COSTS_ALL(COMPRESSION_ERROR, "an index of 0", HEADERS, END_HEADERS, 3,
              TEXT("\x80")),
    COSTS_ALL(COMPRESSION_ERROR, "half a field", HEADERS, END_HEADERS, 3,
              TEXT("\x40\x05x")),
    COSTS_ALL(COMPRESSION_ERROR, "that of trailers, too", HEADERS,
              END_HEADERS | END_STREAM, 1, TEXT("\xff\xff\xff")),
    COSTS_ONE(PROTOCOL_ERROR, "trailers that end nothing", HEADERS, END_HEADERS,
              1, TEXT("\0\x01x\x01y")),
    COSTS_ONE(PROTOCOL_ERROR, "a pseudo field in trailers", HEADERS,
              END_HEADERS | END_STREAM, 1, TEXT("\x84")),
    IS_FINE("trailers", HEADERS, END_HEADERS | END_STREAM, 1,
            TEXT("\0\x01x\x01y")),
    COSTS_ALL(PROTOCOL_ERROR, "PRIORITY of no stream", PRIORITY, 0, 0,
              TEXT("\0\0\0\0\x01")),
    COSTS_ALL(FRAME_SIZE_ERROR, "PRIORITY too short", PRIORITY, 0, 1,
              TEXT("\0\0\0\0")),
    IS_FINE("PRIORITY of what is to come", PRIORITY, 0, 9,
            TEXT("\0\0\0\0\x01")),
    COSTS_ALL(PROTOCOL_ERROR, "RST_STREAM of no stream", RST_STREAM, 0, 0,
              TEXT("\0\0\0\x08")),
    COSTS_ALL(PROTOCOL_ERROR, "RST_STREAM of no request", RST_STREAM, 0, 3,
              TEXT("\0\0\0\x08")),
    COSTS_ALL(FRAME_SIZE_ERROR, "RST_STREAM too long", RST_STREAM, 0, 1,
              TEXT("\0\0\0\x08\0")),
    COSTS_ALL(PROTOCOL_ERROR, "SETTINGS of a stream", SETTINGS, 0, 1, TEXT("")),
    COSTS_ALL(FRAME_SIZE_ERROR, "half a setting", SETTINGS, 0, 0,
              TEXT("\0\x04\0")),
    COSTS_ALL(FRAME_SIZE_ERROR, "ACK with a setting", SETTINGS, ACK, 0,
              TEXT("\0\x04\0\0\0\x0a")),
    COSTS_ALL(PROTOCOL_ERROR, "push is neither", SETTINGS, 0, 0,
              TEXT("\0\x02\0\0\0\x02")),
    IS_FINE("push is on", SETTINGS, 0, 0, TEXT("\0\x02\0\0\0\x01")),
    COSTS_ALL(FLOW_CONTROL_ERROR, "a window of 2^31", SETTINGS, 0, 0,
              TEXT("\0\x04\x80\0\0\0")),
    IS_FINE("a window of 2^31 - 1", SETTINGS, 0, 0,
            TEXT("\0\x04\x7f\xff\xff\xff")),
    COSTS_ALL(PROTOCOL_ERROR, "frames of 16383", SETTINGS, 0, 0,
              TEXT("\0\x05\0\0\x3f\xff")),
    COSTS_ALL(PROTOCOL_ERROR, "frames of 2^24", SETTINGS, 0, 0,
              TEXT("\0\x05\x01\0\0\0")),
    IS_FINE("frames of 2^24 - 1", SETTINGS, 0, 0, TEXT("\0\x05\0\xff\xff\xff")),
    COSTS_ALL(PROTOCOL_ERROR, "CONNECT is neither", SETTINGS, 0, 0,
              TEXT("\0\x08\0\0\0\x02")),
    COSTS_ALL(PROTOCOL_ERROR, "CONNECT is taken back", SETTINGS, 0, 0,
              TEXT("\0\x08\0\0\0\x01\0\x08\0\0\0\0")),
    IS_FINE("what nobody knows", SETTINGS, 0, 0, TEXT("\x12\x34\0\0\0\x02")),
    COSTS_ALL(PROTOCOL_ERROR, "a client that pushes", PUSH_PROMISE, END_HEADERS,
              1, TEXT("\0\0\0\x02" GET)),
    COSTS_ALL(PROTOCOL_ERROR, "PING of a stream", PING, 0, 1, TEXT("12345678")),
    COSTS_ALL(FRAME_SIZE_ERROR, "PING too short", PING, 0, 0, TEXT("1234567")),
    COSTS_ALL(PROTOCOL_ERROR, "GOAWAY of a stream", GOAWAY, 0, 1,
              TEXT("\0\0\0\0\0\0\0\0")),
    COSTS_ALL(FRAME_SIZE_ERROR, "GOAWAY too short", GOAWAY, 0, 0,
              TEXT("\0\0\0\0\0\0\0")),
    IS_FINE("GOAWAY with more to say", GOAWAY, 0, 0,
            TEXT("\0\0\0\0\0\0\0\0bye")),
    COSTS_ALL(FRAME_SIZE_ERROR, "WINDOW_UPDATE too short", WINDOW_UPDATE, 0, 0,
              TEXT("\0\0\1")),
    COSTS_ALL(PROTOCOL_ERROR, "no more for all", WINDOW_UPDATE, 0, 0,
              TEXT("\0\0\0\0")),
    COSTS_ONE(PROTOCOL_ERROR, "no more for one", WINDOW_UPDATE, 0, 1,
              TEXT("\0\0\0\0")),
    COSTS_ALL(PROTOCOL_ERROR, "more for none", WINDOW_UPDATE, 0, 3,
              TEXT("\0\0\0\1")),
    COSTS_ALL(FLOW_CONTROL_ERROR, "too much for all", WINDOW_UPDATE, 0, 0,
              TEXT("\x7f\xff\0\x01")),
    IS_FINE("as much as can be for all", WINDOW_UPDATE, 0, 0,
            TEXT("\x7f\xff\0\0")),
    COSTS_ONE(FLOW_CONTROL_ERROR, "too much for one", WINDOW_UPDATE, 0, 1,
              TEXT("\x7f\xff\0\x01")),
    IS_FINE("as much as can be for one", WINDOW_UPDATE, 0, 1,
            TEXT("\x7f\xff\0\0")),
    COSTS_ALL(PROTOCOL_ERROR, "what continues nothing", CONTINUATION,
              END_HEADERS, 1, TEXT("\x84")),
    {"PING in the middle of a head",
     {{HEADERS, 0, 3, TEXT(GET)}, {PING, 0, 0, TEXT("12345678")}},
     FL_HTTP2_PROTOCOL_ERROR,
     NOTHING},
    {"what nobody knows in the middle of a head",
     {{HEADERS, 0, 3, TEXT(GET)}, {0x42, 0, 3, TEXT("x")}},
     FL_HTTP2_PROTOCOL_ERROR,
     NOTHING},
    {"another head in the middle of one",
     {{HEADERS, 0, 3, TEXT(GET)}, {CONTINUATION, END_HEADERS, 5, TEXT("")}},
     FL_HTTP2_PROTOCOL_ERROR,
     NOTHING},
    {"a head in two",
     {{HEADERS, 0, 3, TEXT("\x82\x86\x84\x41")},
      {CONTINUATION, END_HEADERS, 3,
       TEXT("\x01"
            "a")}},
     NOTHING,
     NOTHING},
    {"DATA after the end",
     {{DATA, END_STREAM, 1, TEXT("x")}, {DATA, 0, 1, TEXT("x")}},
     NOTHING,
     FL_HTTP2_STREAM_CLOSED},
    {"HEADERS after the end",
     {{DATA, END_STREAM, 1, TEXT("x")},
      {HEADERS, END_HEADERS | END_STREAM, 1, TEXT("\0\x01x\x01y")}},
     NOTHING,
     FL_HTTP2_STREAM_CLOSED},
    {"less than was promised",
     {{HEADERS, END_HEADERS, 3,
       TEXT(GET "\x0f\x0d\x01"
                "3")},
      {DATA, END_STREAM, 3, TEXT("ab")}},
     NOTHING,
     FL_HTTP2_PROTOCOL_ERROR},
    {"a length and no number",
     {{HEADERS, END_HEADERS, 3,
       TEXT(GET "\x0f\x0d\x02"
                "3x")}},
     NOTHING,
     FL_HTTP2_PROTOCOL_ERROR},
    {"two lengths, though alike",
     {{HEADERS, END_HEADERS, 3,
       TEXT(GET "\x0f\x0d\x01"
                "3\x0f\x0d\x01"
                "3")}},
     NOTHING,
     FL_HTTP2_PROTOCOL_ERROR},
    {"a pseudo field behind a field",
     {{HEADERS, END_HEADERS, 3,
       TEXT("\x82\x86\x41\x01"
            "a\0\x01x\x01y\x84")}},
     NOTHING,
     FL_HTTP2_PROTOCOL_ERROR},
    {"a response's pseudo field",
     {{HEADERS, END_HEADERS, 3, TEXT(GET "\x88")}},
     NOTHING,
     FL_HTTP2_PROTOCOL_ERROR},
    {"a pseudo field nobody knows",
     {{HEADERS, END_HEADERS, 3, TEXT(GET "\0\x02:x\x01y")}},
     NOTHING,
     FL_HTTP2_PROTOCOL_ERROR},
    {"te that is not trailers",
     {{HEADERS, END_HEADERS, 3, TEXT(GET "\0\x02te\x04gzip")}},
     NOTHING,
     FL_HTTP2_PROTOCOL_ERROR},
    {"te that is",
     {{HEADERS, END_HEADERS, 3, TEXT(GET "\0\x02te\x08trailers")}},
     NOTHING,
     NOTHING},
    {"a scheme that is none",
     {{HEADERS, END_HEADERS, 3,
       TEXT("\x82\x06\x02"
            "1x\x84\x41\x01"
            "a")}},
     NOTHING,
     FL_HTTP2_PROTOCOL_ERROR},
    {"an authority with a user",
     {{HEADERS, END_HEADERS, 3,
       TEXT("\x82\x86\x84\x41\x03"
            "b@a")}},
     NOTHING,
     FL_HTTP2_PROTOCOL_ERROR},
    {"white space around a value",
     {{HEADERS, END_HEADERS, 3, TEXT(GET "\0\x01x\x02 y")}},
     NOTHING,
     FL_HTTP2_PROTOCOL_ERROR},
};

static void open_server(http_end *server, http_end *peer)
{
    *server = *peer = (http_end){0};
    assert_true(http_end_open(server, false, NULL));
    http_end_preface(peer);
    http_end_raw_get(peer, 1, false);
    http_end_deliver(peer, server);
    http_end_forget(server);
}

static int code_of(const http_end *end, unsigned type)
{
    return http_end_count(end, type) > 0 ? (int)http_end_error(end, type)
                                         : NOTHING;
}

static void check_rule(const rule *r)
{
    http_end server, peer;

    open_server(&server, &peer);
    for (size_t i = 0; i < 2; i++) {
        const frame *f = &r->frames[i];
        if (i == 0 || f->payload.ptr != NULL)
            http_end_frame(&peer, f->type, f->flags, f->stream, f->payload);
    }
    http_end_deliver(&peer, &server);
    int goaway = code_of(&server, GOAWAY), reset = code_of(&server, RST_STREAM);
    if (goaway != r->goaway || reset != r->reset)
        fail_msg("%s: GOAWAY %d, RST_STREAM %d", r->what, goaway, reset);
    assert_int_equal(server.told[HTTP_OVER], goaway != NOTHING);
    http_end_close(&server);
}

/* A request that contradicts itself is none: nobody hears of it. */
static void test_frames_that_contradict_themselves_are_no_request(void **state)
{
    http_end server, peer;

    (void)state;
    open_server(&server, &peer);
    http_end_frame(&peer, HEADERS, END_HEADERS | END_STREAM, 3,
                   FL_SPAN(GET "\x0f\x0d\x01"
                               "5"));
    http_end_deliver(&peer, &server);
    assert_int_equal(server.told[HTTP_HEAD], 1); /* that of the first */
    assert_int_equal(server.told[HTTP_LOST], 0);
    assert_int_equal(code_of(&server, RST_STREAM), FL_HTTP2_PROTOCOL_ERROR);
    http_end_close(&server);
}

static void test_frames_are_held_to_the_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        check_rule(&rules[i]);
}

/* Only its head is needed to know. */
static void test_frames_have_a_limit(void **state)
{
    static char payload[FL_HTTP2_FRAME_MAX + 1];
    http_end server, peer;

    (void)state;
    open_server(&server, &peer);
    http_end_frame(&peer, DATA, 0, 1, (fl_span){payload, FL_HTTP2_FRAME_MAX});
    http_end_deliver(&peer, &server);
    assert_int_equal(server.body, FL_HTTP2_FRAME_MAX);
    http_end_frame(&peer, DATA, 0, 1, (fl_span){payload, sizeof payload});
    fl_http_feed(server.http, (fl_span){peer.out, FL_HTTP2_HEAD});
    assert_int_equal(code_of(&server, GOAWAY), FL_HTTP2_FRAME_SIZE_ERROR);
    assert_int_equal(server.body, FL_HTTP2_FRAME_MAX);
    http_end_forget(&peer);
    http_end_close(&server);
}

static void open_client(http_end *client, http_end *peer, fl_span settings)
{
    *client = *peer = (http_end){0};
    assert_true(http_end_open(client, true, NULL));
    assert_non_null(http_end_get(client, "/"));
    http_end_forget(client);
    http_end_frame(peer, SETTINGS, 0, 0, settings);
}

static void test_frames_of_a_server_are_held_to_them_too(void **state)
{
    http_end client, peer;

    (void)state;
    open_client(&client, &peer, FL_SPAN("\0\x02\0\0\0\x01")); /* push is on */
    http_end_deliver(&peer, &client);
    assert_int_equal(code_of(&client, GOAWAY), FL_HTTP2_PROTOCOL_ERROR);
    assert_int_equal(client.told[HTTP_LOST], 1);
    http_end_close(&client);

    open_client(&client, &peer, (fl_span){0});
    http_end_frame(&peer, HEADERS, END_HEADERS, 3, FL_SPAN("\x88"));
    http_end_deliver(&peer, &client); /* nobody asked */
    assert_int_equal(code_of(&client, GOAWAY), FL_HTTP2_PROTOCOL_ERROR);
    http_end_close(&client);
}

static void check_lost(frame first, frame second)
{
    http_end client, peer;

    open_client(&client, &peer, (fl_span){0});
    http_end_frame(&peer, first.type, first.flags, 1, first.payload);
    http_end_frame(&peer, second.type, second.flags, 1, second.payload);
    http_end_deliver(&peer, &client);
    assert_int_equal(client.told[HTTP_LOST], 1);
    assert_int_equal(client.told[HTTP_END], 0);
    assert_int_equal(code_of(&client, RST_STREAM), FL_HTTP2_PROTOCOL_ERROR);
    assert_int_equal(client.told[HTTP_OVER], 0);
    http_end_close(&client);
}

static void test_frames_of_a_response_come_in_order(void **state)
{
    const frame data = {DATA, END_STREAM, 1, TEXT("x")};
    const frame ok = {HEADERS, END_HEADERS, 1, TEXT("\x88")};

    (void)state;
    check_lost(data, ok);
    /* an interim one is not the last that is said */
    check_lost((frame){HEADERS, END_HEADERS | END_STREAM, 1,
                       TEXT("\x08\x03"
                            "103")},
               ok);
    /* there is no 101, and no status of two digits */
    check_lost((frame){HEADERS, END_HEADERS, 1,
                       TEXT("\x08\x03"
                            "101")},
               data);
    check_lost((frame){HEADERS, END_HEADERS, 1,
                       TEXT("\x08\x02"
                            "20")},
               data);
}

/* A stream's window moves with the setting, and may be less than nothing. */
static void test_frames_wait_for_a_window_that_was_taken_back(void **state)
{
    static char body[100];
    const fl_heading heading = {.status = 200, .length = sizeof body};
    http_end server, peer;
    const fl_span part = {body, 60}, rest = {body, 40};

    (void)state;
    open_server(&server, &peer);
    http_end_frame(&peer, SETTINGS, 0, 0, FL_SPAN("\0\x04\0\0\0\x3c")); /* 60 */
    http_end_deliver(&peer, &server);
    http_end_forget(&server);
    assert_int_equal(fl_exchange_respond(server.exchange, &heading), FL_OK);
    assert_int_equal(fl_exchange_send(server.exchange, &part, 1, false), FL_OK);
    assert_int_equal(http_end_count(&server, DATA), 1);
    assert_int_equal(fl_exchange_send(server.exchange, &rest, 1, false), FL_OK);
    assert_int_equal(http_end_count(&server, DATA), 1);
    http_end_frame(&peer, SETTINGS, 0, 0, FL_SPAN("\0\x04\0\0\0\x0a")); /* 10 */
    http_end_frame(&peer, WINDOW_UPDATE, 0, 1, FL_SPAN("\0\0\0\x32"));
    http_end_deliver(&peer, &server); /* 0 - 50 + 50 */
    assert_int_equal(http_end_count(&server, DATA), 1);
    assert_int_equal(fl_exchange_pending(server.exchange), 40);
    http_end_frame(&peer, SETTINGS, 0, 0, FL_SPAN("\0\x04\0\0\0\x32")); /* 50 */
    http_end_deliver(&peer, &server);
    assert_int_equal(fl_exchange_pending(server.exchange), 0);
    assert_int_equal(http_end_count(&server, DATA), 2);
    http_end_close(&server);
}

static void test_frames_are_as_long_as_the_peer_takes_them(void **state)
{
    static char body[20000];
    const fl_span part = {body, sizeof body};
    http_end server, peer;

    (void)state;
    for (int large = 0; large < 2; large++) {
        open_server(&server, &peer);
        if (large)
            http_end_frame(&peer, SETTINGS, 0, 0,
                           FL_SPAN("\0\x05\0\0\x4e\x20")); /* 20000 */
        http_end_frame(&peer, DATA, END_STREAM, 1, (fl_span){0});
        http_end_deliver(&peer, &server);
        assert_int_equal(fl_exchange_answer(server.exchange,
                                            &(fl_heading){.status = 200}, &part,
                                            1),
                         FL_OK);
        assert_int_equal(http_end_count(&server, DATA), large ? 1 : 2);
        http_end_close(&server);
    }
}

/* A table of nothing: every head is spelled out, and said to be. */
static void test_frames_use_no_more_table_than_there_is(void **state)
{
    http_end server, peer;
    size_t lengths[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        server = peer = (http_end){0};
        assert_true(http_end_open(&server, false, NULL));
        http_end_preface(&peer);
        if (i == 1)
            http_end_frame(&peer, SETTINGS, 0, 0, FL_SPAN("\0\x01\0\0\0\0"));
        for (uint32_t id = 1; id < 9; id += 2)
            http_end_raw_get(&peer, id, true);
        server.act = http_end_answer_all;
        http_end_deliver(&peer, &server);
        assert_int_equal(http_end_count(&server, HEADERS), 4);
        lengths[i] = server.out_len;
        http_end_close(&server);
    }
    assert_int_equal(lengths[0], lengths[2]);
    assert_true(lengths[1] > lengths[0]); /* the change of size, at least */
}

/* Requests that were under way when we said the last word are nothing to us,
 * with all that belongs to them. */
static void test_frames_of_what_came_too_late_are_overlooked(void **state)
{
    http_end server, peer;

    (void)state;
    open_server(&server, &peer);
    fl_http_shut(server.http);
    http_end_frame(&peer, PING, ACK, 0, FL_SPAN("goodbye!"));
    http_end_deliver(&peer, &server);
    assert_int_equal(http_end_count(&server, GOAWAY), 2);
    http_end_raw_get(&peer, 3, false);
    http_end_frame(&peer, DATA, END_STREAM, 3, FL_SPAN("late"));
    http_end_frame(&peer, WINDOW_UPDATE, 0, 3, FL_SPAN("\0\0\0\x01"));
    http_end_deliver(&peer, &server);
    assert_int_equal(server.told[HTTP_HEAD], 1);
    assert_int_equal(server.told[HTTP_OVER], 0);
    http_end_answer(server.exchange, "the last one");
    assert_int_equal(server.told[HTTP_OVER], 1);
    http_end_close(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_are_held_to_the_rules),
        cmocka_unit_test(test_frames_that_contradict_themselves_are_no_request),
        cmocka_unit_test(test_frames_have_a_limit),
        cmocka_unit_test(test_frames_of_a_server_are_held_to_them_too),
        cmocka_unit_test(test_frames_of_a_response_come_in_order),
        cmocka_unit_test(test_frames_wait_for_a_window_that_was_taken_back),
        cmocka_unit_test(test_frames_are_as_long_as_the_peer_takes_them),
        cmocka_unit_test(test_frames_use_no_more_table_than_there_is),
        cmocka_unit_test(test_frames_of_what_came_too_late_are_overlooked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
