/*
 * test_http2_abuse.c - peers that break the rules, or keep them to do harm.
 *
 * The other side is played by hand, frame by frame. Each limit is met exactly
 * and passed by one: at the limit nothing happens, one past it the peer is
 * told why and turned away. A flood that is none, because it takes its time
 * or does useful work in between, must not be taken for one.
 */
#include "base/span.h"
#include "support/http_end.h"
#include "wire/http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum {
    DATA,
    HEADERS,
    PRIORITY,
    RST_STREAM,
    SETTINGS,
    PUSH_PROMISE,
    PING,
    GOAWAY,
    WINDOW_UPDATE,
    CONTINUATION,
};

enum { PROTOCOL_ERROR = 1, STREAM_CLOSED = 5, REFUSED_STREAM = 7, CALM = 11 };
enum { END_STREAM = 1, END_HEADERS = 4, ACK = 1 };

static const fl_http_limits tight = {
    .max_head = 1024,
    .max_target = 40,
    .max_fields = 5,
    .max_streams = 10,
    .max_resets = 10,
    .max_control = 10,
};

/* A server and a peer that has said its preface, which is one SETTINGS. */
static void open_server(http_end *server, http_end *peer)
{
    *server = *peer = (http_end){0};
    assert_true(http_end_open(server, false, &tight));
    http_end_preface(peer);
    http_end_deliver(peer, server);
    http_end_forget(server);
}

static void open_client(http_end *client, http_end *peer)
{
    *client = *peer = (http_end){0};
    assert_true(http_end_open(client, true, &tight));
    assert_non_null(http_end_get(client, "/"));
    http_end_forget(client);
    http_end_frame(peer, SETTINGS, 0, 0, (fl_span){0});
}

static void check_alive(http_end *end, http_end *peer)
{
    http_end_deliver(peer, end);
    assert_int_equal(end->told[HTTP_OVER], 0);
    assert_int_equal(http_end_count(end, GOAWAY), 0);
}

/* Turned away with this error code, and closed for good. */
static void check_over(http_end *end, http_end *peer, int64_t error)
{
    http_end_deliver(peer, end);
    assert_int_equal(end->told[HTTP_OVER], 1);
    assert_int_equal(http_end_error(end, GOAWAY), error);
    assert_int_equal(fl_http_open(end->http), 0);
    http_end_close(end);
}

static void add_reset(http_end *peer, uint32_t stream)
{
    http_end_raw_get(peer, stream, true);
    http_end_frame(peer, RST_STREAM, 0, stream, FL_SPAN("\0\0\0\x08"));
}

static void test_http2_turns_rapid_reset_away(void **state)
{
    http_end server, peer;
    uint32_t id = 1;

    (void)state;
    open_server(&server, &peer);
    for (; id < 21; id += 2)
        add_reset(&peer, id);
    check_alive(&server, &peer);
    assert_int_equal(server.told[HTTP_HEAD], 10);
    assert_int_equal(server.told[HTTP_LOST], 10);
    assert_int_equal(server.lost, FL_E_CANCELLED);
    add_reset(&peer, id);
    add_reset(&peer, id + 2);
    http_end_deliver(&peer, &server);
    assert_int_equal(server.told[HTTP_HEAD], 11); /* and not one more */
    check_over(&server, &peer, CALM);
}

/* The code is the peer's choice: that of a good end makes none. */
static void test_http2_counts_resets_whatever_their_code(void **state)
{
    http_end server, peer;

    (void)state;
    open_server(&server, &peer);
    for (uint32_t id = 1; id < 101; id += 2) {
        http_end_raw_get(&peer, id, true);
        http_end_frame(&peer, RST_STREAM, 0, id, FL_SPAN("\0\0\0\0"));
    }
    http_end_deliver(&peer, &server);
    assert_int_equal(server.told[HTTP_HEAD], 11);
    check_over(&server, &peer, CALM);
}

/* However much is answered beside it. */
static void test_http2_ends_what_is_made_up_for(void **state)
{
    enum { ALL = 20 * 10 + 1 };
    http_end server, peer;
    uint32_t id = 1;

    (void)state;
    open_server(&server, &peer);
    server.act = http_end_answer_all;
    for (int i = 0; i < ALL - 1; i++, id += 4) {
        http_end_raw_get(&peer, id, true);
        http_end_raw_get(&peer, id + 2, false);
        http_end_frame(&peer, RST_STREAM, 0, id + 2, FL_SPAN("\0\0\0\x08"));
    }
    check_alive(&server, &peer);
    http_end_raw_get(&peer, id, false);
    http_end_frame(&peer, RST_STREAM, 0, id, FL_SPAN("\0\0\0\x08"));
    check_over(&server, &peer, CALM);
}

static void note_most(http_end *server, http_event event, fl_exchange *exchange)
{
    size_t *most = server->user;
    size_t now = fl_http_open(server->http);

    (void)exchange;
    if (event == HTTP_HEAD && now > *most)
        *most = now;
}

/* Whoever serves hears of a loss before he is given more to do. */
static void test_http2_tells_of_losses_as_they_come(void **state)
{
    http_end server, peer;
    size_t most = 0;

    (void)state;
    open_server(&server, &peer);
    server.act = note_most;
    server.user = &most;
    for (uint32_t id = 1; id < 21; id += 2)
        add_reset(&peer, id);
    check_alive(&server, &peer);
    assert_int_equal(server.told[HTTP_LOST], 10);
    assert_int_equal(most, 1);
    http_end_close(&server);
}

static void test_http2_lets_resets_take_their_time(void **state)
{
    http_end server, peer;
    uint32_t id = 1;

    (void)state;
    open_server(&server, &peer);
    for (; id < 81; id += 2) {
        add_reset(&peer, id);
        server.now_ms += 100;
        check_alive(&server, &peer);
    }
    http_end_close(&server);
}

static void test_http2_lets_a_busy_peer_cancel_its_share(void **state)
{
    http_end server, peer;
    uint32_t id = 1;

    (void)state;
    open_server(&server, &peer);
    server.act = http_end_answer_all;
    for (; id < 161; id += 4) {
        http_end_raw_get(&peer, id, true);
        http_end_raw_get(&peer, id + 2, false);
        http_end_frame(&peer, RST_STREAM, 0, id + 2, FL_SPAN("\0\0\0\x08"));
        check_alive(&server, &peer);
    }
    assert_int_equal(server.told[HTTP_END], 40);
    assert_int_equal(server.told[HTTP_LOST], 40);
    http_end_close(&server);
}

static void test_http2_counts_resets_it_was_made_to_send(void **state)
{
    http_end server, peer;
    uint32_t id = 1;

    (void)state;
    open_server(&server, &peer);
    for (; id < 23; id += 2) {
        check_alive(&server, &peer);
        http_end_frame(&peer, HEADERS, END_HEADERS, id,
                       FL_SPAN("\x83\x86\x84\x01\x01"
                               "a\x0f\x0d\x01"
                               "3"));
        http_end_frame(&peer, DATA, 0, id, FL_SPAN("four"));
    }
    http_end_deliver(&peer, &server);
    assert_int_equal(server.told[HTTP_HEAD], 11);
    assert_int_equal(server.told[HTTP_LOST], 11);
    check_over(&server, &peer, CALM);
}

static void check_flood(unsigned type, unsigned flags, uint32_t stream,
                        fl_span payload)
{
    http_end server, peer;
    int forgiven = stream != 0; /* the HEADERS make up for one */

    open_server(&server, &peer);
    if (stream != 0)
        http_end_raw_get(&peer, stream, false);
    for (int i = 0; i < 9 + forgiven; i++) /* the preface was one */
        http_end_frame(&peer, type, flags, stream, payload);
    check_alive(&server, &peer);
    http_end_frame(&peer, type, flags, stream, payload);
    check_over(&server, &peer, CALM);
}

static void test_http2_turns_floods_away(void **state)
{
    (void)state;
    check_flood(PING, 0, 0, FL_SPAN("12345678"));
    check_flood(PING, ACK, 0, FL_SPAN("12345678"));
    check_flood(SETTINGS, 0, 0, (fl_span){0});
    check_flood(SETTINGS, 0, 0, FL_SPAN("\0\x04\0\0\0\x0a"));
    check_flood(PRIORITY, 0, 1, FL_SPAN("\0\0\0\0\x01"));
    check_flood(DATA, 0, 1, (fl_span){0});
    check_flood(DATA, 8, 1, FL_SPAN("\x02..")); /* nothing but padding */
    check_flood(WINDOW_UPDATE, 0, 0, FL_SPAN("\0\0\0\x01"));
    check_flood(WINDOW_UPDATE, 0, 1, FL_SPAN("\0\0\0\x01"));
    check_flood(0x0a, 0, 1, FL_SPAN("\0\x01 "));       /* ALTSVC */
    check_flood(0x10, 0, 0, FL_SPAN("\0\0\0\x01u=1")); /* PRIORITY_UPDATE */
    check_flood(0xff, 0xff, 1, FL_SPAN("what is this?"));
    check_flood(0x0b, 0, 0, (fl_span){0});
}

/* Each changes the window of every stream. */
/* What nobody waits for makes up for nothing. */
static void test_http2_is_not_paid_by_frames_for_nobody(void **state)
{
    static const unsigned types[] = {HEADERS, DATA};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        http_end server, peer;
        open_server(&server, &peer);
        http_end_raw_get(&peer, 1, false);
        http_end_frame(&peer, WINDOW_UPDATE, 0, 1, FL_SPAN("\0\0\0\0"));
        check_alive(&server, &peer); /* but the stream has gone */
        for (int i = 0; i < 20; i++) {
            http_end_frame(&peer, PING, 0, 0, FL_SPAN("12345678"));
            http_end_frame(&peer, types[k], END_HEADERS, 1,
                           types[k] == DATA ? FL_SPAN("x") : (fl_span){0});
        }
        http_end_deliver(&peer, &server);
        check_over(&server, &peer, CALM);
    }
}

static void look_at_head(http_end *server, http_event event,
                         fl_exchange *exchange)
{
    size_t *seen = server->user;
    const fl_head *head =
        event == HTTP_LOST ? fl_exchange_head(exchange) : NULL;

    for (size_t i = 0; head != NULL && i < head->count; i++)
        *seen += head->fields[i].name.len;
}

/* The head that was told of stays as it was, pseudo fields or not. */
static void test_http2_keeps_nothing_of_trailers(void **state)
{
    enum { FIELDS = 16 };
    const fl_http_limits limits = {.max_fields = FIELDS};
    char block[128] = "\x83\x86\x84\x01\x01"
                      "a";
    size_t len = strlen(block), seen = 0;
    http_end server = {0}, peer = {0};

    (void)state;
    assert_true(http_end_open(&server, false, &limits));
    http_end_preface(&peer);
    for (int i = 0; i < FIELDS; i++, len += 5)
        memcpy(block + len, "\0\x01x\x01y", 5);
    server.act = look_at_head;
    server.user = &seen;
    http_end_frame(&peer, HEADERS, END_HEADERS, 1, (fl_span){block, len});
    http_end_frame(&peer, HEADERS, END_HEADERS | END_STREAM, 1,
                   FL_SPAN("\x84\x82"));
    http_end_deliver(&peer, &server);
    assert_int_equal(server.told[HTTP_HEAD], 1);
    assert_int_equal(server.told[HTTP_LOST], 1);
    assert_int_equal(http_end_error(&server, RST_STREAM), PROTOCOL_ERROR);
    assert_int_equal(seen, FIELDS);
    http_end_close(&server);
}

static void test_http2_takes_so_many_settings_at_once(void **state)
{
    char settings[33 * 6];
    http_end server, peer;

    (void)state;
    for (size_t i = 0; i < 33; i++)
        memcpy(settings + 6 * i, "\0\x04\0\0\0\x0a", 6);
    open_server(&server, &peer);
    http_end_frame(&peer, SETTINGS, 0, 0, (fl_span){settings, 32 * 6});
    check_alive(&server, &peer);
    http_end_frame(&peer, SETTINGS, 0, 0, (fl_span){settings, 33 * 6});
    check_over(&server, &peer, CALM);
}

static void test_http2_counts_resets_of_what_has_ended(void **state)
{
    http_end server, peer;

    (void)state;
    open_server(&server, &peer);
    server.act = http_end_answer_all;
    http_end_raw_get(&peer, 1, true); /* makes up for the preface */
    check_alive(&server, &peer);
    for (int i = 0; i < 10; i++)
        http_end_frame(&peer, RST_STREAM, 0, 1, FL_SPAN("\0\0\0\x08"));
    check_alive(&server, &peer);
    http_end_frame(&peer, RST_STREAM, 0, 1, FL_SPAN("\0\0\0\x08"));
    check_over(&server, &peer, CALM);
}

static void add_updates(http_end *peer, int count)
{
    for (int i = 0; i < count; i++)
        http_end_frame(peer, WINDOW_UPDATE, 0, 0, FL_SPAN("\0\0\0\x01"));
}

static void test_http2_is_owed_updates_for_what_it_sent(void **state)
{
    http_end server, peer;

    (void)state;
    open_server(&server, &peer);
    server.act = http_end_answer_all;
    for (uint32_t id = 1; id < 81; id += 2) {
        http_end_raw_get(&peer, id, true);
        check_alive(&server, &peer);
    }
    add_updates(&peer, 2 * 40); /* all at once, and late */
    check_alive(&server, &peer);
    add_updates(&peer, 10);
    check_alive(&server, &peer);
    add_updates(&peer, 1);
    check_over(&server, &peer, CALM);
}

/* CVE-2019-9511: a window that is opened byte by byte. */
static void test_http2_turns_away_who_dribbles(void **state)
{
    http_end server, peer;

    (void)state;
    open_server(&server, &peer);
    http_end_frame(&peer, SETTINGS, 0, 0, FL_SPAN("\0\x04\0\0\0\0"));
    http_end_raw_get(&peer, 1, true);
    check_alive(&server, &peer);
    http_end_answer(server.exchange, "an answer of many bytes");
    assert_int_equal(http_end_count(&server, DATA), 0);
    for (int i = 0; i < 9; i++) {
        http_end_frame(&peer, WINDOW_UPDATE, 0, 1, FL_SPAN("\0\0\0\x01"));
        check_alive(&server, &peer);
    }
    assert_int_equal(http_end_count(&server, DATA), 9);
    http_end_frame(&peer, WINDOW_UPDATE, 0, 1, FL_SPAN("\0\0\0\x01"));
    check_over(&server, &peer, CALM);
}

static void test_http2_ignores_what_it_does_not_know(void **state)
{
    http_end server, peer;

    (void)state;
    open_server(&server, &peer);
    server.act = http_end_answer_all;
    http_end_frame(&peer, 0x42, 0xff, 0, FL_SPAN("12345678"));
    http_end_raw_get(&peer, 1, true);
    check_alive(&server, &peer);
    assert_int_equal(server.told[HTTP_END], 1);
    assert_int_equal(http_end_count(&server, DATA), 1);
    http_end_close(&server);
}

/* Delivers what the peer said a few bytes at a time; in_head() holds once
 * `from` bytes have come, until all have. */
static void check_in_head(http_end *server, http_end *peer, size_t step,
                          size_t from)
{
    for (size_t i = step; i <= peer->out_len; i += step) {
        fl_http_feed(server->http, (fl_span){peer->out + i - step, step});
        assert_int_equal(fl_http_in_head(server->http),
                         i >= from && i < peer->out_len);
    }
    http_end_forget(peer);
}

enum { FRAME = 9 };

static void test_http2_knows_whether_a_head_is_to_end(void **state)
{
    http_end server = {0}, peer = {0};

    (void)state;
    assert_true(http_end_open(&server, false, &tight));
    assert_false(fl_http_in_head(server.http)); /* nothing has come */
    http_end_preface(&peer);
    check_in_head(&server, &peer, 1, 1);
    http_end_raw_get(&peer, 1, true);
    check_in_head(&server, &peer, 1, FRAME);
    /* in two frames; nghttp2 counts the pieces of a CONTINUATION's head as
     * so many frames, so that they must not be too many */
    http_end_frame(&peer, HEADERS, END_STREAM, 3, FL_SPAN("\x82\x86\x84"));
    http_end_frame(&peer, CONTINUATION, END_HEADERS, 3,
                   FL_SPAN("\x01\x01"
                           "a"));
    check_in_head(&server, &peer, 3, FRAME);
    assert_int_equal(server.told[HTTP_HEAD], 2);
    /* a head that is dropped ends, too */
    http_end_frame(&peer, HEADERS, END_HEADERS | END_STREAM, 5,
                   FL_SPAN("\x82\x86\x84\0\x01"
                           "X\x01y"));
    check_in_head(&server, &peer, 1, FRAME);
    assert_int_equal(server.told[HTTP_HEAD], 2);
    /* and what is no head is none */
    http_end_frame(&peer, PING, 0, 0, FL_SPAN("12345678"));
    check_in_head(&server, &peer, 1, SIZE_MAX);
    assert_int_equal(server.told[HTTP_OVER], 0);
    http_end_close(&server);
}

static void test_http2_gives_a_head_up(void **state)
{
    http_end server, peer;

    (void)state;
    open_server(&server, &peer);
    http_end_raw_get(&peer, 1, true);
    http_end_frame(&peer, HEADERS, END_STREAM, 3, FL_SPAN("\x82\x86"));
    check_alive(&server, &peer);
    assert_true(fl_http_in_head(server.http));
    assert_true(fl_http_give_up(server.http, 408, "no head"));
    assert_int_equal(server.told[HTTP_LOST], 1); /* the one that was whole */
    assert_int_equal(server.told[HTTP_BAD], 0);
    assert_false(fl_http_in_head(server.http));
    check_over(&server, &peer, CALM);
}

static void test_http2_lets_pings_take_their_time(void **state)
{
    http_end server, peer;

    (void)state;
    open_server(&server, &peer);
    for (int i = 0; i < 100; i++) {
        server.now_ms += 200;
        http_end_frame(&peer, PING, 0, 0, FL_SPAN("12345678"));
        check_alive(&server, &peer);
    }
    assert_int_equal(http_end_count(&server, PING), 100);
    http_end_close(&server);
}

static void test_http2_is_not_swamped_while_the_peer_does_not_read(void **state)
{
    http_end server, peer;

    (void)state;
    open_server(&server, &peer);
    server.refuse = FL_BUSY;
    for (int i = 0; i < 100 && server.told[HTTP_OVER] == 0; i++) {
        server.now_ms += 200;
        http_end_frame(&peer, PING, 0, 0, FL_SPAN("12345678"));
        http_end_deliver(&peer, &server);
        assert_in_range(fl_http_memory(server.http), 1, 64 * 1024);
    }
    assert_true(server.urgent); /* the last word passes the mark */
    check_over(&server, &peer, CALM);
}

static void test_http2_refuses_more_streams_than_it_said(void **state)
{
    http_end server, peer;

    (void)state;
    open_server(&server, &peer);
    for (uint32_t id = 1; id < 23; id += 2)
        http_end_raw_get(&peer, id, true);
    check_alive(&server, &peer);
    assert_int_equal(fl_http_open(server.http), 10);
    assert_int_equal(http_end_count(&server, RST_STREAM), 1);
    assert_int_equal(http_end_error(&server, RST_STREAM), REFUSED_STREAM);
    http_end_frame(&peer, SETTINGS, ACK, 0, (fl_span){0});
    check_alive(&server, &peer);
    http_end_raw_get(&peer, 23, true); /* now it should have known */
    check_over(&server, &peer, PROTOCOL_ERROR);
}

static void test_http2_turns_away_who_is_refused_too_often(void **state)
{
    http_end server, peer;
    uint32_t id = 1;

    (void)state;
    open_server(&server, &peer);
    for (; id < 41; id += 2)
        http_end_raw_get(&peer, id, true);
    check_alive(&server, &peer);
    assert_int_equal(http_end_count(&server, RST_STREAM), 10);
    http_end_raw_get(&peer, id, true);
    check_over(&server, &peer, CALM);
}

static void test_http2_stops_endless_continuations(void **state)
{
    http_end server, peer;

    (void)state;
    for (int frames = 8; frames <= 9; frames++) {
        open_server(&server, &peer);
        server.act = http_end_answer_all;
        http_end_frame(&peer, HEADERS, END_STREAM, 1, FL_SPAN("\x82\x86"));
        for (int i = 1; i < frames; i++)
            http_end_frame(&peer, CONTINUATION, 0, 1, (fl_span){0});
        http_end_frame(&peer, CONTINUATION, END_HEADERS, 1,
                       FL_SPAN("\x84\x01\x01"
                               "a"));
        if (frames == 8)
            check_alive(&server, &peer);
        else
            check_over(&server, &peer, CALM);
        assert_int_equal(server.told[HTTP_END], frames == 8);
        http_end_close(&server);
    }
}

static void test_http2_stops_a_header_bomb(void **state)
{
    char block[1200] = "\x82\x86\x84\x01\x01"
                       "a"
                       "\x40\x01"
                       "x\x7f\xe9\x06"; /* 1000 bytes follow */
    size_t at = 12, bombs[] = {1, 14, 15};
    http_end server, peer;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        memset(block + at, 'v', 1000);
        memset(block + at + 1000, 0xbe, bombs[i]); /* once more, each */
        open_server(&server, &peer);
        server.act = http_end_answer_all;
        http_end_frame(&peer, HEADERS, END_HEADERS | END_STREAM, 1,
                       (fl_span){block, at + 1000 + bombs[i]});
        if (bombs[i] == 15) {
            check_over(&server, &peer, CALM);
            continue;
        }
        check_alive(&server, &peer);
        assert_int_equal(server.status, 431);
        assert_int_equal(server.told[HTTP_HEAD], 0);
        http_end_close(&server);
    }
}

/* What a server makes of a request of our own client, whose fields may be
 * anything. */
static unsigned ask(const fl_heading *heading)
{
    http_end server = {.act = http_end_answer_all}, client = {0};
    fl_exchange *exchange;

    assert_true(http_end_open(&server, false, &tight));
    assert_true(http_end_open(&client, true, NULL));
    assert_int_equal(fl_http_request(client.http, heading, NULL, &exchange),
                     FL_OK);
    http_end_settle(&client, &server);
    assert_int_equal(client.told[HTTP_END], 1);
    assert_int_equal(server.told[HTTP_HEAD] + server.told[HTTP_BAD], 1);
    unsigned status = server.status;
    http_end_close(&server);
    http_end_close(&client);
    return status;
}

static void test_http2_holds_heads_to_their_limits(void **state)
{
    char value[1024], target[64];
    fl_field fields[6];
    fl_heading heading = {.method = FL_SPAN("GET"),
                          .target = FL_SPAN("/"),
                          .scheme = FL_SPAN("http"),
                          .authority = FL_SPAN("a.test"),
                          .fields = fields};

    (void)state;
    memset(value, 'v', sizeof value);
    memset(target, '/', sizeof target);
    for (size_t i = 0; i < 6; i++)
        fields[i] = (fl_field){FL_SPAN("x"), FL_SPAN("y"), FL_FIELD_OTHER};
    /* by RFC 9113 6.5.2 the pseudo fields are 171, a field 33 and its value */
    heading.count = 1;
    fields[0].value = (fl_span){value, 1024 - 171 - 33};
    assert_int_equal(ask(&heading), 0);
    fields[0].value.len++;
    assert_int_equal(ask(&heading), 431);

    fields[0].value.len = 1;
    heading.count = 5;
    assert_int_equal(ask(&heading), 0);
    heading.count = 6;
    assert_int_equal(ask(&heading), 431);

    heading.count = 0;
    heading.target = (fl_span){target, 40};
    assert_int_equal(ask(&heading), 0);
    heading.target.len++;
    assert_int_equal(ask(&heading), 414);
}

static void test_http2_refuses_what_may_occur_once_twice(void **state)
{
    const fl_field fields[] = {FL_FIELD_SET(ORIGIN, FL_SPAN("null")),
                               FL_FIELD_SET(ACCEPT, FL_SPAN("a/b")),
                               FL_FIELD_SET(ACCEPT, FL_SPAN("a/c")),
                               FL_FIELD_SET(ORIGIN, FL_SPAN("null"))};
    fl_heading heading = {.method = FL_SPAN("GET"),
                          .target = FL_SPAN("/"),
                          .scheme = FL_SPAN("http"),
                          .authority = FL_SPAN("a.test"),
                          .fields = fields,
                          .count = 3};

    (void)state;
    assert_int_equal(ask(&heading), 0);
    heading.count = 4;
    assert_int_equal(ask(&heading), 400);
}

/* The verdict on one HEADERS frame: a status, 0 when it is a request, or the
 * error code of a RST_STREAM, negated. */
static int judge(fl_span block)
{
    http_end server, peer;

    open_server(&server, &peer);
    server.act = http_end_answer_all;
    http_end_frame(&peer, HEADERS, END_HEADERS | END_STREAM, 1, block);
    check_alive(&server, &peer);
    int verdict = (int)server.status;
    if (http_end_count(&server, RST_STREAM) > 0)
        verdict = -(int)http_end_error(&server, RST_STREAM);
    http_end_close(&server);
    return verdict;
}

static void test_http2_knows_a_request_when_it_sees_one(void **state)
{
#define GET "\x82\x86\x84"
#define AUTHORITY                                                              \
    "\x01\x01"                                                                 \
    "a"
#define HOST(name) "\x0f\x17\x01" name
    (void)state;
    assert_int_equal(judge(FL_SPAN(GET AUTHORITY)), 0);
    assert_int_equal(judge(FL_SPAN(GET HOST("a"))), 0);
    assert_int_equal(judge(FL_SPAN(GET HOST("/"))), 400);
    assert_int_equal(judge(FL_SPAN(GET HOST("\xa0"))), 400);
    assert_int_equal(judge(FL_SPAN(GET "\x0f\x17\0")), 400);
    assert_int_equal(judge(FL_SPAN(GET AUTHORITY HOST("a"))), 0);
    assert_int_equal(judge(FL_SPAN(GET AUTHORITY HOST("A"))), 0);
    assert_int_equal(judge(FL_SPAN(GET AUTHORITY HOST("b"))), 400);
    assert_int_equal(judge(FL_SPAN(GET)), -PROTOCOL_ERROR);
    assert_int_equal(judge(FL_SPAN("\x82\x84" AUTHORITY)), -PROTOCOL_ERROR);
    assert_int_equal(judge(FL_SPAN(GET GET AUTHORITY)), -PROTOCOL_ERROR);
    assert_int_equal(judge(FL_SPAN(GET AUTHORITY "\0\x01"
                                                 "X\x01y")),
                     -PROTOCOL_ERROR);
    assert_int_equal(judge(FL_SPAN(GET AUTHORITY "\0\x01"
                                                 "x\x01\n")),
                     -PROTOCOL_ERROR);
    assert_int_equal(judge(FL_SPAN(GET AUTHORITY "\0\x0a"
                                                 "connection\x05"
                                                 "close")),
                     -PROTOCOL_ERROR);
    /* :method CONNECT, :authority a; :scheme foo, :path ab */
    assert_int_equal(judge(FL_SPAN("\x02\x07"
                                   "CONNECT" AUTHORITY)),
                     405);
    assert_int_equal(judge(FL_SPAN("\x82\x06\x03"
                                   "foo\x04\x02"
                                   "ab" AUTHORITY)),
                     400);
    /* :method OPTIONS, :path * */
    assert_int_equal(judge(FL_SPAN("\x02\x07"
                                   "OPTIONS\x86\x04\x01*" AUTHORITY)),
                     0);
#undef GET
#undef AUTHORITY
#undef HOST
}

static void test_http2_hears_nothing_about_closed_streams(void **state)
{
    http_end server, peer;

    (void)state;
    open_server(&server, &peer);
    server.act = http_end_answer_all;
    http_end_raw_get(&peer, 5, true);
    check_alive(&server, &peer);
    http_end_raw_get(&peer, 3, true);
    check_over(&server, &peer, STREAM_CLOSED);
}

static void test_http2_forgives_what_crossed_with_a_reset(void **state)
{
    http_end server, peer;

    (void)state;
    open_server(&server, &peer);
    http_end_raw_get(&peer, 1, false);
    check_alive(&server, &peer);
    fl_exchange_reset(server.exchange);
    http_end_frame(&peer, DATA, 0, 1, FL_SPAN("late"));
    http_end_frame(&peer, HEADERS, END_HEADERS | END_STREAM, 1,
                   FL_SPAN("\0\x01"
                           "x\x01y"));
    check_alive(&server, &peer);
    assert_int_equal(server.body, 0);
    http_end_close(&server);
}

static void test_http2_wants_the_preface(void **state)
{
    http_end server = {0};

    (void)state;
    assert_true(http_end_open(&server, false, NULL));
    fl_http_feed(server.http, FL_SPAN("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    assert_int_equal(server.told[HTTP_OVER], 1);
    assert_int_equal(http_end_error(&server, GOAWAY), PROTOCOL_ERROR);
    fl_http_feed(server.http, FL_SPAN("and more"));
    assert_int_equal(server.told[HTTP_OVER], 1);
    http_end_close(&server);
}

/* RFC 9218 2.1: SETTINGS_NO_RFC7540_PRIORITIES is 0 or 1, from the first frame
 * on. */
static void test_http2_takes_no_change_of_mind_about_priorities(void **state)
{
    http_end server, client, peer;

    (void)state;
    open_server(&server, &peer);
    http_end_frame(&peer, SETTINGS, 0, 0, FL_SPAN("\0\x09\0\0\0\0"));
    check_alive(&server, &peer);
    http_end_frame(&peer, SETTINGS, 0, 0, FL_SPAN("\0\x09\0\0\0\x01"));
    check_over(&server, &peer, PROTOCOL_ERROR);

    open_client(&client, &peer);
    http_end_forget(&peer); /* it says more at once */
    http_end_frame(&peer, SETTINGS, 0, 0, FL_SPAN("\0\x09\0\0\0\x01"));
    http_end_frame(&peer, SETTINGS, 0, 0, FL_SPAN("\0\x09\0\0\0\x01"));
    check_alive(&client, &peer);
    http_end_frame(&peer, SETTINGS, 0, 0, FL_SPAN("\0\x09\0\0\0\0"));
    check_over(&client, &peer, PROTOCOL_ERROR);
}

static void test_http2_takes_priorities_on_or_off(void **state)
{
    http_end client, peer;

    (void)state;
    open_client(&client, &peer);
    http_end_forget(&peer);
    http_end_frame(&peer, SETTINGS, 0, 0, FL_SPAN("\0\x09\0\0\0\x02"));
    check_over(&client, &peer, PROTOCOL_ERROR);
}

/* Of what a bad SETTINGS frame says nothing is in force, for it has no ACK: not
 * the window either that is opened before it goes wrong. */
static void test_http2_sends_nothing_on_the_word_of_a_bad_frame(void **state)
{
    http_end server, peer;

    (void)state;
    open_server(&server, &peer);
    server.act = http_end_answer_all;
    http_end_frame(&peer, SETTINGS, 0, 0, FL_SPAN("\0\x04\0\0\0\x01"));
    http_end_raw_get(&peer, 1, true);
    check_alive(&server, &peer);
    assert_int_equal(http_end_count(&server, DATA), 1); /* "y" of "yes" */
    http_end_frame(&peer, SETTINGS, 0, 0,
                   FL_SPAN("\0\x04\0\0\0\x03\0\x02\0\0\0\x02"));
    http_end_deliver(&peer, &server);
    assert_int_equal(http_end_count(&server, DATA), 1);
    check_over(&server, &peer, PROTOCOL_ERROR);
}

static void test_http2_client_takes_no_push(void **state)
{
    http_end client, peer;

    (void)state;
    open_client(&client, &peer);
    http_end_frame(&peer, SETTINGS, ACK, 0, (fl_span){0});
    http_end_frame(&peer, PUSH_PROMISE, END_HEADERS, 1,
                   FL_SPAN("\0\0\0\x02\x82\x86\x84\x01\x01"
                           "a"));
    http_end_deliver(&peer, &client);
    assert_int_equal(client.told[HTTP_LOST], 1);
    check_over(&client, &peer, PROTOCOL_ERROR);
}

static void check_bad_response(fl_span block, fl_span data)
{
    http_end client, peer;

    open_client(&client, &peer);
    http_end_frame(&peer, HEADERS, END_HEADERS, 1, block);
    http_end_frame(&peer, DATA, END_STREAM, 1, data);
    check_alive(&client, &peer);
    assert_int_equal(client.told[HTTP_LOST], 1);
    assert_int_equal(client.told[HTTP_END], 0);
    assert_int_equal(http_end_count(&client, RST_STREAM), 1);
    assert_int_equal(fl_http_open(client.http), 0);
    assert_true(fl_http_available(client.http));
    http_end_close(&client);
}

static void test_http2_client_loses_bad_responses(void **state)
{
    (void)state;
    check_bad_response(FL_SPAN("\0\x01"
                               "x\x01y"),
                       (fl_span){0});
    check_bad_response(FL_SPAN("\x08\x03"
                               "052"),
                       (fl_span){0});
    check_bad_response(FL_SPAN("\x88\x0f\x0d\x01"
                               "3"), /* content-length: 3 */
                       FL_SPAN("abcd"));
    check_bad_response(FL_SPAN("\x88\x0f\x10\x01"
                               "a\x0f\x10\x01"
                               "b"), /* content-type, twice */
                       (fl_span){0});
    check_bad_response(FL_SPAN("\x88\0\x01"
                               "x\0\0\x01"
                               "x\0\0\x01"
                               "x\0\0\x01"
                               "x\0\0\x01"
                               "x\0\0\x01"
                               "x\0"), /* six fields */
                       (fl_span){0});
}

/* An interim response, and the one that follows. */
static void check_lengths(fl_span interim, fl_span block, bool ok)
{
    http_end client, peer;

    open_client(&client, &peer);
    http_end_frame(&peer, HEADERS, END_HEADERS, 1, interim);
    http_end_frame(&peer, HEADERS, END_HEADERS | END_STREAM, 1, block);
    check_alive(&client, &peer);
    assert_int_equal(client.told[HTTP_END], ok);
    assert_int_equal(client.told[HTTP_LOST], !ok);
    assert_int_equal(http_end_count(&client, RST_STREAM), !ok);
    http_end_close(&client);
}

static void test_http2_client_takes_no_length_of_no_body(void **state)
{
    const fl_span interim = FL_SPAN("\x08\x03"
                                    "103");
    const fl_span interim_zero = FL_SPAN("\x08\x03"
                                         "103\x0f\x0d\x01"
                                         "0");
    const fl_span interim_one = FL_SPAN("\x08\x03"
                                        "103\x0f\x0d\x01"
                                        "1");
    const fl_span none = FL_SPAN("\x89"); /* 204 */
    const fl_span none_zero = FL_SPAN("\x89\x0f\x0d\x01"
                                      "0");
    const fl_span none_one = FL_SPAN("\x89\x0f\x0d\x01"
                                     "1");
    const fl_span same_one = FL_SPAN("\x8b\x0f\x0d\x01"
                                     "1"); /* 304: what there would be */

    (void)state;
    check_lengths(interim, none, true);
    check_lengths(interim_zero, none_zero, true);
    check_lengths(interim, same_one, true);
    check_lengths(interim_one, none, false);
    check_lengths(interim, none_one, false);
}

static void test_http2_client_turns_floods_away(void **state)
{
    http_end client, peer;

    (void)state;
    open_client(&client, &peer);
    for (int i = 0; i < 9; i++)
        http_end_frame(&peer, PING, 0, 0, FL_SPAN("12345678"));
    check_alive(&client, &peer);
    http_end_frame(&peer, PING, 0, 0, FL_SPAN("12345678"));
    http_end_deliver(&peer, &client);
    assert_int_equal(client.told[HTTP_LOST], 1);
    check_over(&client, &peer, CALM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http2_turns_rapid_reset_away),
        cmocka_unit_test(test_http2_counts_resets_whatever_their_code),
        cmocka_unit_test(test_http2_ends_what_is_made_up_for),
        cmocka_unit_test(test_http2_tells_of_losses_as_they_come),
        cmocka_unit_test(test_http2_lets_resets_take_their_time),
        cmocka_unit_test(test_http2_lets_a_busy_peer_cancel_its_share),
        cmocka_unit_test(test_http2_counts_resets_it_was_made_to_send),
        cmocka_unit_test(test_http2_turns_floods_away),
        cmocka_unit_test(test_http2_is_not_paid_by_frames_for_nobody),
        cmocka_unit_test(test_http2_keeps_nothing_of_trailers),
        cmocka_unit_test(test_http2_takes_so_many_settings_at_once),
        cmocka_unit_test(test_http2_counts_resets_of_what_has_ended),
        cmocka_unit_test(test_http2_is_owed_updates_for_what_it_sent),
        cmocka_unit_test(test_http2_turns_away_who_dribbles),
        cmocka_unit_test(test_http2_ignores_what_it_does_not_know),
        cmocka_unit_test(test_http2_knows_whether_a_head_is_to_end),
        cmocka_unit_test(test_http2_gives_a_head_up),
        cmocka_unit_test(test_http2_lets_pings_take_their_time),
        cmocka_unit_test(
            test_http2_is_not_swamped_while_the_peer_does_not_read),
        cmocka_unit_test(test_http2_refuses_more_streams_than_it_said),
        cmocka_unit_test(test_http2_turns_away_who_is_refused_too_often),
        cmocka_unit_test(test_http2_stops_endless_continuations),
        cmocka_unit_test(test_http2_stops_a_header_bomb),
        cmocka_unit_test(test_http2_holds_heads_to_their_limits),
        cmocka_unit_test(test_http2_refuses_what_may_occur_once_twice),
        cmocka_unit_test(test_http2_knows_a_request_when_it_sees_one),
        cmocka_unit_test(test_http2_hears_nothing_about_closed_streams),
        cmocka_unit_test(test_http2_forgives_what_crossed_with_a_reset),
        cmocka_unit_test(test_http2_wants_the_preface),
        cmocka_unit_test(test_http2_takes_no_change_of_mind_about_priorities),
        cmocka_unit_test(test_http2_takes_priorities_on_or_off),
        cmocka_unit_test(test_http2_sends_nothing_on_the_word_of_a_bad_frame),
        cmocka_unit_test(test_http2_client_takes_no_push),
        cmocka_unit_test(test_http2_client_loses_bad_responses),
        cmocka_unit_test(test_http2_client_takes_no_length_of_no_body),
        cmocka_unit_test(test_http2_client_turns_floods_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
