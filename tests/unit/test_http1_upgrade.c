/*
 * test_http1_upgrade.c - what comes after a 101, and what may be made to wait.
 *
 * Where HTTP ends must not depend on how the bytes were cut, nor on when the
 * answer was given: early, at the end of the request, or after the peer had
 * run ahead. Then there is what an owner may do to input it cannot take: have
 * it wait, with and without a change of protocol.
 */
#include "http_watch.h"

#define ASK "GET /ws HTTP/1.1\r\nHost: h\r\nUpgrade: x\r\n\r\n"
#define REST "GET / HTTP/1.1\r\n\r\n\x01\n"
#define SWITCH "HTTP/1.1 101 S\r\nUpgrade: x\r\n\r\n"

enum { AHEAD = 128 * 1024 }; /* more than a server holds before it pauses */

typedef struct plan {
    watch w;
    watch_event answer_at;
    size_t answer_after; /* bytes, if it is W_NONE */
    size_t fed;
} plan;

static void answer(watch *w)
{
    const fl_heading heading = {.status = 101};
    fl_exchange *exchange = w->exchange;

    w->exchange = NULL;
    assert_int_equal(fl_exchange_answer(exchange, &heading, NULL, 0), FL_OK);
}

static void feed_held(watch *w)
{
    while (w->held > 0) {
        w->held = 0;
        watch_feed(w, (fl_span){0});
    }
}

static void serve_start(void *user)
{
    plan *p = user;

    p->fed = 0;
    p->w = (watch){.answer_at = p->answer_at, .heading = {.status = 101}};
    assert_int_equal(watch_open(&p->w, false, NULL), FL_OK);
}

static void serve_piece(void *user, fl_span bytes, chop_notes *notes)
{
    plan *p = user;

    p->w.notes = notes;
    fl_http_feed(p->w.http, bytes);
    p->fed += bytes.len;
    if (p->answer_at == W_NONE && p->w.exchange != NULL &&
        p->fed >= p->answer_after)
        answer(&p->w);
    feed_held(&p->w);
}

static void serve_end(void *user, chop_notes *notes)
{
    plan *p = user;

    p->w.notes = notes;
    assert_int_equal(fl_http_open(p->w.http), 0);
    assert_int_equal(p->w.over, 0);
    fl_http_end_input(p->w.http);
    assert_int_equal(p->w.lost, 0);
    assert_int_equal(p->w.over, 1);
    watch_close(&p->w);
}

static const chop_reader server = {serve_start, serve_piece, serve_end};

static void test_server_hands_over_what_follows_a_101(void **state)
{
    plan p = {.answer_at = W_END};

    (void)state;
    chop(&server, &p, FL_SPAN(ASK REST), "<GET /ws h|>" REST ".");
    chop(&server, &p, FL_SPAN(ASK), "<GET /ws h|>.");
    p.answer_at = W_HEAD; /* then nobody hears of its end */
    chop(&server, &p, FL_SPAN(ASK REST), "<GET /ws h|" REST ".");
}

static void test_server_hands_over_what_was_held(void **state)
{
    plan p = {.answer_at = W_NONE};

    (void)state;
    for (size_t after = 0; after <= strlen(ASK REST); after++) {
        p.answer_after = after;
        chop(&server, &p, FL_SPAN(ASK REST), "<GET /ws h|>" REST ".");
    }
}

static void open_server(watch *w)
{
    *w = (watch){0};
    assert_int_equal(watch_open(w, false, NULL), FL_OK);
}

static void test_server_without_on_rest_drops_it(void **state)
{
    static watch w;
    fl_http_events events = watch_events;
    const fl_http_options options = {
        .version = 11, .events = &events, .user = &w};

    (void)state;
    events.on_rest = NULL;
    w = (watch){.paused = -1};
    assert_int_equal(fl_http_new(&options, &w.http), FL_OK);
    watch_feed_text(&w, ASK REST);
    answer(&w);
    feed_held(&w);
    watch_feed_text(&w, REST);
    assert_string_equal(w.text, "<GET /ws h|>");
    fl_http_end_input(w.http);
    assert_int_equal(w.over, 1);
    watch_close(&w);
}

static void test_server_lets_the_peer_go_on_after_a_101(void **state)
{
    static watch w;
    static char ahead[AHEAD];

    (void)state;
    open_server(&w);
    watch_feed_text(&w, ASK);
    watch_feed(&w, (fl_span){ahead, sizeof ahead});
    assert_int_equal(w.paused, true);
    answer(&w);
    assert_int_equal(w.paused, false); /* before anybody may free it */
    assert_int_equal(w.held, 1);
    watch_close(&w);
}

static size_t heard;

static void count_rest(fl_span bytes, void *user)
{
    (void)user;
    heard += bytes.len;
}

static void test_server_knows_no_limit_after_a_101(void **state)
{
    static watch w;
    static char lot[AHEAD];
    fl_http_events events = watch_events;
    const fl_http_options options = {
        .version = 11, .events = &events, .user = &w};

    (void)state;
    events.on_rest = count_rest;
    heard = 0;
    w = (watch){.paused = -1};
    assert_int_equal(fl_http_new(&options, &w.http), FL_OK);
    watch_feed_text(&w, ASK);
    watch_feed(&w, (fl_span){lot, sizeof lot});
    answer(&w);
    feed_held(&w);
    assert_int_equal(heard, sizeof lot);
    size_t memory = fl_http_memory(w.http);
    for (int i = 0; i < 20; i++)
        watch_feed(&w, (fl_span){lot, sizeof lot});
    assert_int_equal(heard, 21 * sizeof lot);
    assert_int_equal(w.paused, false);
    assert_int_equal(fl_http_memory(w.http), memory);
    watch_close(&w);
}

static void test_server_is_over_when_the_peer_ended_before_a_101(void **state)
{
    static watch w;

    (void)state;
    open_server(&w);
    watch_feed_text(&w, ASK);
    fl_http_end_input(w.http);
    assert_int_equal(w.over, 0);
    answer(&w);
    assert_string_equal(w.text, "<GET /ws h|>.");
    watch_close(&w);

    open_server(&w);
    watch_feed_text(&w, ASK "last");
    fl_http_end_input(w.http);
    answer(&w);
    assert_int_equal(w.over, 0);
    feed_held(&w);
    assert_string_equal(w.text, "<GET /ws h|>last.");
    watch_close(&w);
}

static void test_server_may_be_freed_from_the_rest(void **state)
{
    static watch w;

    (void)state;
    ration_reset();
    ptrdiff_t before = ration_live_blocks();
    for (int late = 0; late < 2; late++) {
        open_server(&w);
        w.answer_at = late ? W_NONE : W_END;
        w.heading.status = 101;
        w.free_at = W_REST;
        watch_feed_text(&w, ASK REST);
        if (late) {
            answer(&w);
            feed_held(&w);
        }
        assert_null(w.http);
        assert_string_equal(w.text, "<GET /ws h|>" REST);
        assert_int_equal(w.over, 0);
    }
    assert_int_equal(ration_live_blocks(), before);
}

/* RFC 9110 7.8: the peer may not go on before its request is whole. */
static void test_server_cannot_switch_before_the_request_is_whole(void **state)
{
    static watch w;
    const fl_heading heading = {.status = 101};

    (void)state;
    open_server(&w);
    watch_feed_text(&w, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n"
                        "\r\nab");
    assert_int_equal(fl_exchange_respond(w.exchange, &heading), FL_E_STATE);
    assert_int_equal(fl_exchange_answer(w.exchange, &heading, NULL, 0),
                     FL_E_STATE);
    assert_int_equal(w.writes, 0);
    watch_feed_text(&w, "crest");
    answer(&w);
    feed_held(&w);
    assert_string_equal(w.text, "<POST / h|abc>rest");
    watch_close(&w);

    open_server(&w);
    watch_feed_text(&w, "POST / HTTP/1.1\r\nHost: h\r\n"
                        "Transfer-Encoding: chunked\r\n\r\n");
    assert_int_equal(fl_exchange_respond(w.exchange, &heading), FL_E_STATE);
    watch_close(&w);
}

static void test_server_switches_for_none_who_cannot(void **state)
{
    static watch w;
    const fl_heading heading = {.status = 101};

    (void)state;
    open_server(&w);
    watch_feed_text(&w, "GET / HTTP/1.0\r\nUpgrade: x\r\n\r\n");
    assert_int_equal(fl_exchange_respond(w.exchange, &heading), FL_E_STATE);
    watch_close(&w);

    open_server(&w);
    watch_feed_text(&w, "nonsense\r\n\r\n");
    assert_int_equal(w.bad, 1);
    assert_int_equal(fl_exchange_respond(w.exchange, &heading), FL_E_STATE);
    watch_close(&w);
}

static void ask(watch *w)
{
    const fl_field field = FL_FIELD_SET(UPGRADE, FL_SPAN("x"));
    const fl_heading heading = {
        .method = FL_SPAN("GET"),
        .target = FL_SPAN("/ws"),
        .scheme = FL_SPAN("http"),
        .authority = FL_SPAN("h"),
        .fields = &field,
        .count = 1,
    };

    assert_int_equal(fl_http_request(w->http, &heading, w, &w->exchange),
                     FL_OK);
}

static void ask_start(void *user)
{
    plan *p = user;

    p->w = (watch){0};
    assert_int_equal(watch_open(&p->w, true, NULL), FL_OK);
    ask(&p->w);
}

static void ask_piece(void *user, fl_span bytes, chop_notes *notes)
{
    plan *p = user;

    p->w.notes = notes;
    fl_http_feed(p->w.http, bytes);
}

static void ask_end(void *user, chop_notes *notes)
{
    plan *p = user;
    fl_exchange *more;
    const fl_heading heading = {
        .method = FL_SPAN("GET"),
        .target = FL_SPAN("/"),
        .scheme = FL_SPAN("http"),
        .authority = FL_SPAN("h"),
    };

    p->w.notes = notes;
    assert_int_equal(p->w.over, 0);
    assert_false(fl_http_available(p->w.http));
    assert_int_equal(fl_http_request(p->w.http, &heading, NULL, &more),
                     FL_E_STATE);
    fl_http_end_input(p->w.http);
    assert_int_equal(p->w.lost, 0);
    assert_int_equal(p->w.over, 1);
    watch_close(&p->w);
}

static const chop_reader client = {ask_start, ask_piece, ask_end};

static void test_client_hands_over_what_follows_a_101(void **state)
{
    plan p = {.answer_at = W_NONE};

    (void)state;
    chop(&client, &p, FL_SPAN(SWITCH), "<101|>.");
    chop(&client, &p, FL_SPAN(SWITCH SWITCH REST), "<101|>" SWITCH REST ".");
    chop(&client, &p, FL_SPAN("HTTP/1.1 103 E\r\n\r\n" SWITCH REST),
         "<101|>" REST ".");
}

static void open_client(watch *w)
{
    *w = (watch){0};
    assert_int_equal(watch_open(w, true, NULL), FL_OK);
}

static void test_client_may_be_freed_from_the_rest(void **state)
{
    static watch w;

    (void)state;
    ration_reset();
    ptrdiff_t before = ration_live_blocks();
    for (size_t cut = 1; cut <= strlen(SWITCH); cut++) {
        open_client(&w);
        ask(&w);
        w.free_at = W_REST;
        watch_feed(&w, (fl_span){SWITCH REST, cut});
        assert_non_null(w.http);
        watch_feed_text(&w, &(SWITCH REST)[cut]);
        assert_null(w.http);
        assert_string_equal(w.text, "<101|>" REST);
    }
    assert_int_equal(ration_live_blocks(), before);
}

static void test_client_takes_no_101_before_its_request_is_whole(void **state)
{
    static watch w;
    const fl_field field = FL_FIELD_SET(UPGRADE, FL_SPAN("x"));
    const fl_heading heading = {
        .method = FL_SPAN("POST"),
        .target = FL_SPAN("/"),
        .scheme = FL_SPAN("http"),
        .authority = FL_SPAN("h"),
        .fields = &field,
        .count = 1,
        .length = 3,
    };

    (void)state;
    open_client(&w);
    assert_int_equal(fl_http_request(w.http, &heading, &w, &w.exchange), FL_OK);
    watch_feed_text(&w, SWITCH REST);
    assert_string_equal(w.text, "lost.");
    watch_close(&w);
}

static void test_server_input_waits_while_its_owner_says_so(void **state)
{
    static watch w;
    const fl_heading ok = {.status = 200};

    (void)state;
    open_server(&w);
    watch_feed_text(&w, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n"
                        "\r\na");
    fl_exchange_pause(w.exchange, true);
    assert_int_equal(w.paused, true);
    fl_exchange_pause(w.exchange, true); /* says nothing new */
    watch_feed_text(&w, "b");            /* was on its way */
    fl_exchange_pause(w.exchange, false);
    assert_int_equal(w.paused, false);
    fl_exchange_pause(w.exchange, true);
    watch_feed_text(&w, "c");
    assert_string_equal(w.text, "<POST / h|abc>");
    assert_int_equal(w.paused, true);
    assert_int_equal(fl_exchange_answer(w.exchange, &ok, NULL, 0), FL_OK);
    assert_int_equal(w.paused, false); /* the next one is not its business */
    watch_close(&w);
}

static void test_client_input_waits_while_its_owner_says_so(void **state)
{
    static watch w;

    (void)state;
    open_client(&w);
    ask(&w);
    watch_feed_text(&w, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na");
    fl_exchange_pause(w.exchange, true);
    assert_int_equal(w.paused, true);
    fl_exchange_pause(w.exchange, false);
    assert_int_equal(w.paused, false);
    fl_exchange_pause(w.exchange, true);
    watch_feed_text(&w, "bc");
    assert_int_equal(w.paused, false);
    assert_string_equal(w.text, "<200|abc>");
    assert_true(fl_http_available(w.http));
    watch_close(&w);
}

static void test_client_may_be_freed_when_it_says_go_on(void **state)
{
    static watch w;

    (void)state;
    open_client(&w);
    ask(&w);
    watch_feed_text(&w, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n");
    fl_exchange_pause(w.exchange, true);
    w.free_at = W_PAUSE;
    watch_feed_text(&w, "a");
    assert_null(w.http);
    assert_string_equal(w.text, "<200|a");
}

static void test_server_may_be_freed_when_it_says_go_on(void **state)
{
    static watch w;

    (void)state;
    open_server(&w);
    watch_feed_text(&w, ASK REST);
    fl_exchange_pause(w.exchange, true);
    w.free_at = W_PAUSE;
    answer(&w);
    assert_null(w.http);
    assert_int_equal(w.held, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_server_hands_over_what_follows_a_101),
        cmocka_unit_test(test_server_hands_over_what_was_held),
        cmocka_unit_test(test_server_without_on_rest_drops_it),
        cmocka_unit_test(test_server_lets_the_peer_go_on_after_a_101),
        cmocka_unit_test(test_server_knows_no_limit_after_a_101),
        cmocka_unit_test(test_server_is_over_when_the_peer_ended_before_a_101),
        cmocka_unit_test(test_server_may_be_freed_from_the_rest),
        cmocka_unit_test(test_server_cannot_switch_before_the_request_is_whole),
        cmocka_unit_test(test_server_switches_for_none_who_cannot),
        cmocka_unit_test(test_client_hands_over_what_follows_a_101),
        cmocka_unit_test(test_client_may_be_freed_from_the_rest),
        cmocka_unit_test(test_client_takes_no_101_before_its_request_is_whole),
        cmocka_unit_test(test_server_input_waits_while_its_owner_says_so),
        cmocka_unit_test(test_client_input_waits_while_its_owner_says_so),
        cmocka_unit_test(test_client_may_be_freed_when_it_says_go_on),
        cmocka_unit_test(test_server_may_be_freed_when_it_says_go_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
