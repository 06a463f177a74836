/*
 * test_http2_waiting.c - what waits in a connection of HTTP/2: for a window,
 * for a writer that is busy, for the rest of a request.
 *
 * It is known how much it is, it keeps nobody waiting who need not wait, and
 * of what is held nothing is ever cut.
 */
#include "base/span.h"
#include "support/http_end.h"
#include "support/ration.h"
#include "wire/http2_frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { END_STREAM = 1, END_HEADERS = 4, LARGE = 100000 };

static char text[LARGE];

static void open_server(http_end *server, http_end *peer,
                        const fl_http_limits *limits)
{
    *server = *peer = (http_end){0};
    assert_true(http_end_open(server, false, limits));
    http_end_preface(peer);
    http_end_deliver(peer, server);
    http_end_forget(server);
}

static fl_exchange *take_request(http_end *server, http_end *peer, uint32_t id,
                                 bool whole)
{
    http_end_raw_get(peer, id, whole);
    http_end_deliver(peer, server);
    return server->exchange;
}

static void answer_large(fl_exchange *exchange)
{
    const fl_span body = {text, LARGE};

    assert_int_equal(
        fl_exchange_answer(exchange, &(fl_heading){.status = 200}, &body, 1),
        FL_OK);
}

/* An end needs no window. */
static void test_waiting_keeps_no_end_behind(void **state)
{
    const fl_heading stream = {.status = 200, .length = FL_HTTP_STREAMED};
    http_end server, peer;

    (void)state;
    open_server(&server, &peer, NULL);
    /* streams may have a MiB, the connection has 64 KiB */
    http_end_frame(&peer, FL_HTTP2_SETTINGS, 0, 0, FL_SPAN("\0\x04\0\x10\0\0"));
    fl_exchange *a = take_request(&server, &peer, 1, true);
    fl_exchange *b = take_request(&server, &peer, 3, true);
    assert_int_equal(fl_exchange_respond(b, &stream), FL_OK);
    answer_large(a);
    assert_true(fl_http_waiting(server.http) >= LARGE - FL_HTTP2_WINDOW);
    http_end_forget(&server);
    fl_exchange_finish(b);
    assert_int_equal(http_end_count(&server, FL_HTTP2_DATA), 1);
    http_end_close(&server);
}

/* Who is answered is not paused any more: it could wait for us as we for it. */
static void test_waiting_ends_with_the_answer(void **state)
{
    http_end server, peer;

    (void)state;
    open_server(&server, &peer, NULL);
    fl_exchange *exchange = take_request(&server, &peer, 1, false);
    fl_exchange_pause(exchange, true);
    for (int i = 0; i < 16; i++)
        http_end_frame(&peer, FL_HTTP2_DATA, 0, 1,
                       (fl_span){text, FL_HTTP2_FRAME_MAX});
    http_end_deliver(&peer, &server);
    http_end_forget(&server);
    answer_large(exchange);
    assert_int_equal(http_end_count(&server, FL_HTTP2_WINDOW_UPDATE), 1);
    http_end_close(&server);
}

/* Heads of requests that do not end are no small matter. */
static void test_waiting_counts_heads(void **state)
{
    enum { REQUESTS = 20, VALUE = 15000 };
    static char block[VALUE + 64];
    const char start[] = "\x82\x86\x84\x01\x01"
                         "a\0\x01x\x7f\x99\x74"; /* 15000 follow */
    size_t len = sizeof start - 1;
    http_end server, peer;

    (void)state;
    ration_reset();
    open_server(&server, &peer, NULL);
    ptrdiff_t before = ration_live_bytes();
    memcpy(block, start, len);
    memset(block + len, 'v', VALUE);
    for (uint32_t id = 1; id < 2 * REQUESTS; id += 2)
        http_end_frame(&peer, FL_HTTP2_HEADERS, END_HEADERS, id,
                       (fl_span){block, len + VALUE});
    http_end_deliver(&peer, &server);
    assert_int_equal(server.told[HTTP_HEAD], REQUESTS);
    assert_true(fl_http_waiting(server.http) >= (size_t)REQUESTS * VALUE);
    ptrdiff_t real = ration_live_bytes() - before;
    assert_in_range(fl_http_memory(server.http), (size_t)real * 9 / 10,
                    (size_t)real * 11 / 10);
    for (uint32_t id = 1; id < 2 * REQUESTS; id += 2)
        http_end_frame(&peer, FL_HTTP2_DATA, END_STREAM, id, (fl_span){0});
    http_end_deliver(&peer, &server);
    assert_in_range(fl_http_waiting(server.http), 0, REQUESTS * 2048);
    http_end_close(&server);
}

/* Nor are those of many fields, however small these are. */
static void test_waiting_counts_what_small_fields_take(void **state)
{
    enum { REQUESTS = 90, FIELDS = 64 };
    const char start[] = "\x82\x86\x84\x01\x01"
                         "a",
               field[] = "\0\x01x\x01y";
    char block[sizeof start + FIELDS * sizeof field];
    size_t len = sizeof start - 1;
    http_end server, peer;

    (void)state;
    memcpy(block, start, len);
    for (int i = 0; i < FIELDS; i++, len += sizeof field - 1)
        memcpy(block + len, field, sizeof field - 1);
    ration_reset();
    open_server(&server, &peer, NULL);
    ptrdiff_t before = ration_live_bytes();
    for (uint32_t id = 1; id < 2 * REQUESTS; id += 2)
        http_end_frame(&peer, FL_HTTP2_HEADERS, END_HEADERS, id,
                       (fl_span){block, len});
    http_end_deliver(&peer, &server);
    assert_int_equal(server.told[HTTP_HEAD], REQUESTS);
    ptrdiff_t real = ration_live_bytes() - before;
    assert_in_range(fl_http_waiting(server.http), (size_t)real * 9 / 10,
                    (size_t)real * 12 / 10);
    http_end_close(&server);
}

static fl_status answer_with(fl_exchange *exchange, size_t size, char letter)
{
    fl_field field = {FL_SPAN("x-large"), {text, size}, FL_FIELD_OTHER};
    const fl_heading heading = {.status = 200, .fields = &field, .count = 1};

    memset(text, letter, size); /* each new, so that no table has it */
    return fl_exchange_answer(exchange, &heading, NULL, 0);
}

/* Answers of ours are no flood, however large their heads are. */
static void test_waiting_heads_of_ours_are_no_flood(void **state)
{
    enum { REQUESTS = 100 };
    fl_exchange *exchanges[REQUESTS];
    http_end server, peer;

    (void)state;
    open_server(&server, &peer, NULL);
    for (size_t i = 0; i < REQUESTS; i++)
        exchanges[i] =
            take_request(&server, &peer, (uint32_t)(2 * i + 1), true);
    http_end_forget(&server);
    server.refuse = FL_BUSY;
    for (size_t i = 0; i < REQUESTS; i++)
        assert_int_equal(answer_with(exchanges[i], 4000, (char)('!' + i % 90)),
                         FL_OK);
    assert_int_equal(server.told[HTTP_OVER], 0);
    server.refuse = FL_OK;
    fl_http_drained(server.http);
    assert_int_equal(http_end_count(&server, FL_HTTP2_HEADERS), REQUESTS);
    http_end_close(&server);
}

/* What a server holds when memory runs out: `shift` acknowledgements of nine
 * bytes, so that a buffer's end falls anywhere, and then some of seventeen.
 * Says whether it ended. */
static bool hold_with(size_t allowed, int shift)
{
    http_end server, peer;

    open_server(&server, &peer, NULL);
    server.refuse = FL_BUSY;
    for (int i = 0; i < shift; i++)
        http_end_frame(&peer, FL_HTTP2_SETTINGS, 0, 0, (fl_span){0});
    for (int i = 0; i < 40; i++)
        http_end_frame(&peer, FL_HTTP2_PING, 0, 0, FL_SPAN("12345678"));
    ration_allow(allowed);
    fl_http_feed(server.http, (fl_span){peer.out, peer.out_len});
    ration_reset();
    http_end_forget(&peer);
    bool ended = server.told[HTTP_OVER] > 0;
    if (ended)
        assert_int_equal(http_end_count(&server, FL_HTTP2_GOAWAY), 1);
    http_end_close(&server);
    return ended;
}

/* The last word is a frame of its own, whatever there was no memory for. */
static void test_waiting_frames_are_never_cut(void **state)
{
    size_t ended = 0;

    (void)state;
    for (size_t allowed = 0; allowed < 4; allowed++)
        for (int shift = 0; shift < 17; shift++)
            ended += hold_with(allowed, shift);
    assert_true(ended > 17);
}

static void lose_at_end(http_end *end, http_event event, fl_exchange *exchange)
{
    (void)exchange;
    if (event == HTTP_END)
        fl_http_lose(end->http, &(fl_error){.status = FL_E_IO});
}

/* on_end is the last that is told of a response. */
static void test_waiting_is_over_with_the_end(void **state)
{
    http_end client = {.act = lose_at_end}, peer = {0};

    (void)state;
    assert_true(http_end_open(&client, true, NULL));
    assert_non_null(http_end_get(&client, "/"));
    http_end_frame(&peer, FL_HTTP2_SETTINGS, 0, 0, (fl_span){0});
    http_end_frame(&peer, FL_HTTP2_HEADERS, END_HEADERS | END_STREAM, 1,
                   FL_SPAN("\x88"));
    http_end_deliver(&peer, &client);
    assert_int_equal(client.told[HTTP_END], 1);
    assert_int_equal(client.told[HTTP_LOST], 0);
    assert_int_equal(fl_http_open(client.http), 0);
    http_end_close(&client);
}

/* Who has begun to answer has looked at the request, whatever he says then. */
static void test_waiting_is_not_begun_anew_after_half_an_answer(void **state)
{
    http_end client = {0}, peer = {0};

    (void)state;
    assert_true(http_end_open(&client, true, NULL));
    for (int i = 0; i < 2; i++)
        assert_non_null(http_end_get(&client, "/"));
    http_end_frame(&peer, FL_HTTP2_SETTINGS, 0, 0, (fl_span){0});
    http_end_frame(&peer, FL_HTTP2_RST_STREAM, 0, 1, FL_SPAN("\0\0\0\x07"));
    http_end_deliver(&peer, &client);
    assert_int_equal(client.lost, FL_E_STATE); /* nothing was done */
    http_end_frame(&peer, FL_HTTP2_HEADERS, END_HEADERS, 3, FL_SPAN("\x88"));
    http_end_frame(&peer, FL_HTTP2_RST_STREAM, 0, 3, FL_SPAN("\0\0\0\x07"));
    http_end_deliver(&peer, &client);
    assert_int_equal(client.told[HTTP_LOST], 2);
    assert_int_equal(client.lost, FL_E_RESET);
    http_end_close(&client);
}

/* A budget counts what waits, so that it may take no more room than that. */
static void test_waiting_takes_the_room_it_needs(void **state)
{
    const fl_span parts[] = {FL_SPAN("{"), {text, LARGE}, FL_SPAN("}")};
    const fl_heading heading = {.status = 200};
    http_end server, peer;

    (void)state;
    open_server(&server, &peer, NULL);
    http_end_frame(&peer, FL_HTTP2_SETTINGS, 0, 0, FL_SPAN("\0\x04\0\0\0\0"));
    fl_exchange *exchange = take_request(&server, &peer, 1, true);
    size_t before = fl_http_memory(server.http);
    assert_int_equal(fl_exchange_answer(exchange, &heading, parts, 3), FL_OK);
    size_t waiting = fl_http_waiting(server.http);
    assert_true(waiting >= LARGE + 2);
    assert_in_range(fl_http_memory(server.http) - before, LARGE,
                    waiting + 1024);
    http_end_close(&server);
}

/* As long as a message may be, and its envelope; and not a byte more. */
static void test_waiting_has_room_for_the_longest_message(void **state)
{
    enum { HIGH = 4096, MOST = HIGH + LARGE + 64 * 1024 };
    static char longest[MOST + 1];
    const fl_http_limits limits = {.high_water = HIGH, .max_message = LARGE};
    const fl_heading heading = {.status = 200};
    http_end server, peer;

    (void)state;
    open_server(&server, &peer, &limits);
    http_end_frame(&peer, FL_HTTP2_SETTINGS, 0, 0, FL_SPAN("\0\x04\0\0\0\0"));
    for (uint32_t id = 1; id < 5; id += 2) {
        fl_span body = {longest, id == 1 ? MOST + 1 : MOST};
        fl_exchange *exchange = take_request(&server, &peer, id, true);
        assert_int_equal(fl_exchange_answer(exchange, &heading, &body, 1),
                         id == 1 ? FL_E_TOO_BIG : FL_OK);
    }
    assert_true(fl_http_waiting(server.http) > MOST);
    http_end_close(&server);
}

/* Many streams, with numbers of the peer's choice, are found all the same. */
static void test_waiting_streams_are_found(void **state)
{
    enum { MANY = 1000, STEP = 64 };
    const fl_http_limits limits = {.max_streams = MANY};
    http_end server, peer;

    (void)state;
    open_server(&server, &peer, &limits);
    for (uint32_t i = 0; i < MANY; i++)
        http_end_raw_get(&peer, i * STEP + 1, false);
    http_end_deliver(&peer, &server);
    assert_int_equal(fl_http_open(server.http), MANY);
    server.act = http_end_answer_all;
    for (uint32_t i = MANY; i-- > 0;)
        http_end_frame(&peer, FL_HTTP2_DATA, END_STREAM, i * STEP + 1,
                       FL_SPAN("x"));
    http_end_deliver(&peer, &server);
    assert_int_equal(server.told[HTTP_END], MANY);
    assert_int_equal(server.body, MANY);
    assert_int_equal(http_end_count(&server, FL_HTTP2_HEADERS), MANY);
    assert_int_equal(fl_http_open(server.http), 0);
    http_end_close(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waiting_keeps_no_end_behind),
        cmocka_unit_test(test_waiting_ends_with_the_answer),
        cmocka_unit_test(test_waiting_counts_heads),
        cmocka_unit_test(test_waiting_counts_what_small_fields_take),
        cmocka_unit_test(test_waiting_heads_of_ours_are_no_flood),
        cmocka_unit_test(test_waiting_frames_are_never_cut),
        cmocka_unit_test(test_waiting_is_over_with_the_end),
        cmocka_unit_test(test_waiting_is_not_begun_anew_after_half_an_answer),
        cmocka_unit_test(test_waiting_takes_the_room_it_needs),
        cmocka_unit_test(test_waiting_has_room_for_the_longest_message),
        cmocka_unit_test(test_waiting_streams_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
