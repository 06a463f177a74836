/*
 * test_http2.c - our client against our server, in memory.
 *
 * Requests and answers of every shape cross between the two, whole and
 * chopped; windows fill and open, either side gives up, either side ends the
 * connection, memory runs out, and the codec is freed from inside each of its
 * events. What only a peer that breaks the rules would send is in
 * test_http2_abuse.c.
 */
#include "base/span.h"
#include "support/chop.h"
#include "support/http_end.h"
#include "support/ration.h"
#include "wire/http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH, PING, GOAWAY };
enum { WINDOW_UPDATE = 8, ACK = 1 };

typedef struct pair {
    http_end client, server;
} pair;

static void open_pair(pair *p, const fl_http_limits *limits)
{
    *p = (pair){.server.act = http_end_answer_all};
    assert_true(http_end_open(&p->client, true, limits));
    assert_true(http_end_open(&p->server, false, limits));
}

static void close_pair(pair *p)
{
    http_end_close(&p->client);
    http_end_close(&p->server);
}

static fl_status send_text(fl_exchange *exchange, const char *text)
{
    fl_span span = fl_span_of(text);

    return fl_exchange_send(exchange, &span, 1, false);
}

static void check_head(http_end *end, http_event event, fl_exchange *exchange)
{
    if (event == HTTP_HEAD) {
        const fl_head *head = fl_exchange_head(exchange);
        assert_true(fl_span_equal(head->method, FL_SPAN("POST")));
        assert_true(fl_span_equal(head->target, FL_SPAN("/mcp?x=1")));
        assert_true(fl_span_equal(head->authority, FL_SPAN("a.test:8080")));
        assert_true(head->has_body && head->has_length);
        assert_int_equal(head->length, 5);
        assert_true(fl_span_equal(fl_head_get(head, FL_FIELD_CONTENT_TYPE),
                                  FL_SPAN("application/json")));
        assert_true(fl_span_equal(fl_head_find(head, FL_SPAN("X-Custom")),
                                  FL_SPAN("")));
        assert_non_null(fl_head_find(head, FL_SPAN("x-custom")).ptr);
        assert_null(fl_head_get(head, FL_FIELD_ORIGIN).ptr);
        assert_false(fl_head_has(head, FL_FIELD_HOST));
        assert_false(fl_head_has(head, FL_FIELD_TE));
        assert_false(fl_head_has(head, FL_FIELD_UPGRADE));
        assert_int_equal(head->count, 3); /* and content-length */
    }
    http_end_answer_all(end, event, exchange);
}

static void test_http2_carries_a_request_and_its_answer(void **state)
{
    const fl_field fields[] = {
        FL_FIELD_SET(CONTENT_TYPE, FL_SPAN("application/json")),
        {FL_SPAN("x-custom"), FL_SPAN(""), FL_FIELD_OTHER},
        FL_FIELD_SET(TE, FL_SPAN("trailers")),
        {FL_SPAN("upgrade"), FL_SPAN("h2c"), FL_FIELD_OTHER},
    };
    const fl_heading heading = {.method = FL_SPAN("POST"),
                                .target = FL_SPAN("/mcp?x=1"),
                                .scheme = FL_SPAN("http"),
                                .authority = FL_SPAN("a.test:8080"),
                                .fields = fields,
                                .count = 4,
                                .length = 5};
    fl_exchange *exchange;
    int mark = 0;
    pair p;

    (void)state;
    open_pair(&p, NULL);
    p.server.act = check_head;
    assert_int_equal(fl_http_request(p.client.http, &heading, &mark, &exchange),
                     FL_OK);
    assert_ptr_equal(fl_exchange_user(exchange), &mark);
    assert_null(fl_exchange_head(exchange));
    assert_int_equal(send_text(exchange, "hel"), FL_OK);
    assert_int_equal(send_text(exchange, "lo!"), FL_E_TOO_BIG);
    assert_int_equal(send_text(exchange, "lo"), FL_OK);
    assert_int_equal(fl_http_open(p.client.http), 1);
    fl_exchange_finish(exchange);
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.server.body, 5);
    assert_int_equal(p.server.told[HTTP_END], 1);
    assert_int_equal(p.client.status, 200);
    assert_int_equal(p.client.body, 3);
    assert_int_equal(p.client.told[HTTP_END], 1);
    assert_int_equal(p.client.told[HTTP_LOST] + p.server.told[HTTP_LOST], 0);
    assert_int_equal(fl_http_open(p.client.http), 0);
    assert_int_equal(fl_http_open(p.server.http), 0);
    close_pair(&p);
}

static fl_status ask_whole(http_end *end, fl_span body)
{
    const fl_heading heading = {.method = FL_SPAN("POST"),
                                .target = FL_SPAN("/mcp"),
                                .scheme = FL_SPAN("http"),
                                .authority = FL_SPAN("a.test")};

    return fl_http_ask(end->http, &heading, body, NULL, &end->exchange);
}

static void test_http2_asks_in_one_write(void **state)
{
    pair p;

    (void)state;
    open_pair(&p, NULL);
    assert_int_equal(ask_whole(&p.client, FL_SPAN("hello")), FL_OK);
    assert_int_equal(p.client.writes, 1);
    assert_int_equal(send_text(p.client.exchange, "more"), FL_E_STATE);
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.server.body, 5);
    assert_int_equal(p.server.told[HTTP_END], 1);
    assert_int_equal(p.client.told[HTTP_END], 1);
    assert_int_equal(ask_whole(&p.client, (fl_span){0}), FL_OK);
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.server.body, 5);
    assert_int_equal(p.client.told[HTTP_END], 2);
    close_pair(&p);
}

/* Bytes of a request whose id is new, the rest as in all of them. */
static size_t ask_numbered(pair *p, unsigned number)
{
    char id[16];
    fl_span text = {id, (size_t)snprintf(id, sizeof id, "id-%06u", number)};
    const fl_field fields[] = {
        FL_FIELD_SET(USER_AGENT, FL_SPAN("a client of some name")),
        FL_FIELD_SET(X_REQUEST_ID, text),
        {FL_SPAN("x-custom"), FL_SPAN("what is always the same"),
         FL_FIELD_OTHER},
    };
    const fl_heading heading = {.method = FL_SPAN("GET"),
                                .target = FL_SPAN("/"),
                                .scheme = FL_SPAN("http"),
                                .authority = FL_SPAN("a.test"),
                                .fields = fields,
                                .count = 3};

    assert_int_equal(fl_http_ask(p->client.http, &heading, (fl_span){0}, NULL,
                                 &p->client.exchange),
                     FL_OK);
    size_t written = p->client.out_len;
    http_end_settle(&p->client, &p->server);
    return written;
}

static void check_number(http_end *end, http_event event, fl_exchange *exchange)
{
    if (event == HTTP_HEAD) {
        char wanted[16];
        (void)snprintf(wanted, sizeof wanted, "id-%06u",
                       (unsigned)end->told[HTTP_HEAD]);
        assert_true(fl_span_equal(
            fl_head_get(fl_exchange_head(exchange), FL_FIELD_X_REQUEST_ID),
            fl_span_of(wanted)));
    }
    http_end_answer_all(end, event, exchange);
}

/* With every id in it the table would be full after some 70 of them. */
static void test_http2_what_is_new_each_time_pushes_nothing_out(void **state)
{
    enum { FRAME_HEAD = 9, ID = 9, FEW = 9 };
    pair p;

    (void)state;
    open_pair(&p, NULL);
    p.server.act = check_number;
    size_t first = ask_numbered(&p, 1);
    for (unsigned i = 2; i < 300; i++)
        assert_in_range(ask_numbered(&p, i), FRAME_HEAD, FRAME_HEAD + ID + FEW);
    assert_true(first > 2 * (FRAME_HEAD + ID + FEW));
    assert_int_equal(p.client.told[HTTP_END], 299);
    close_pair(&p);
}

static fl_exchange *ask_with(http_end *end, unsigned number, int64_t length)
{
    char text[32];
    fl_span value = {
        text, (size_t)snprintf(text, sizeof text, "what I say: %u", number)};
    const fl_field fields[] = {
        FL_FIELD_SET(USER_AGENT, value),
        {FL_SPAN("x-custom"), value, FL_FIELD_OTHER},
    };
    const fl_heading heading = {.method = FL_SPAN("POST"),
                                .target = FL_SPAN("/"),
                                .scheme = FL_SPAN("http"),
                                .authority = FL_SPAN("a.test"),
                                .fields = fields,
                                .count = 2,
                                .length = length};
    fl_exchange *exchange;

    assert_int_equal(fl_http_request(end->http, &heading, NULL, &exchange),
                     FL_OK);
    return exchange;
}

/* The table has turned over many times before the first request is whole. */
static void test_http2_a_head_outlives_the_table_it_came_from(void **state)
{
    pair p;

    (void)state;
    open_pair(&p, NULL);
    fl_exchange *first = ask_with(&p.client, 0, 2);
    http_end_settle(&p.client, &p.server);
    fl_exchange *heard = p.server.exchange;
    for (unsigned i = 1; i < 200; i++) {
        (void)ask_with(&p.client, i, 0);
        http_end_settle(&p.client, &p.server);
    }
    assert_int_equal(p.client.told[HTTP_END], 199);
    const fl_head *head = fl_exchange_head(heard);
    assert_non_null(head);
    assert_true(fl_span_equal(head->authority, FL_SPAN("a.test")));
    assert_true(fl_span_equal(fl_head_get(head, FL_FIELD_USER_AGENT),
                              FL_SPAN("what I say: 0")));
    assert_true(fl_span_equal(fl_head_find(head, FL_SPAN("x-custom")),
                              FL_SPAN("what I say: 0")));
    assert_int_equal(send_text(first, "hi"), FL_OK);
    fl_exchange_finish(first);
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.client.told[HTTP_END], 200);
    close_pair(&p);
}

static void answer_heads(http_end *end, http_event event, fl_exchange *exchange)
{
    (void)end;
    if (event == HTTP_HEAD)
        http_end_answer(exchange, "enough");
}

/* The answer is there before the request has gone: what was lent of it is not
 * looked at any more, and the peer is told that no more will come. */
static void test_http2_lets_go_of_a_body_when_it_is_answered(void **state)
{
    size_t size = 1024 * 1024;
    char *body = ration_raw_realloc(NULL, size);
    pair p;

    (void)state;
    assert_non_null(body);
    memset(body, 'x', size);
    open_pair(&p, NULL);
    p.server.act = answer_heads;
    assert_int_equal(ask_whole(&p.client, (fl_span){body, size}), FL_OK);
    assert_true(fl_exchange_pending(p.client.exchange) > 0);
    http_end_deliver(&p.client, &p.server);
    http_end_deliver(&p.server, &p.client);
    assert_int_equal(p.client.told[HTTP_END], 1);
    ration_raw_free(body);
    http_end_settle(&p.client, &p.server);
    assert_true(p.server.body < size);
    assert_int_equal(fl_http_open(p.client.http), 0);

    assert_int_equal(ask_whole(&p.client, FL_SPAN("next")), FL_OK);
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.client.told[HTTP_END], 2);
    close_pair(&p);
}

static void test_http2_tears_a_body_that_is_reset(void **state)
{
    size_t size = 1024 * 1024;
    char *body = ration_raw_realloc(NULL, size);
    pair p;

    (void)state;
    assert_non_null(body);
    memset(body, 'x', size);
    open_pair(&p, NULL);
    assert_int_equal(ask_whole(&p.client, (fl_span){body, size}), FL_OK);
    fl_exchange_reset(p.client.exchange);
    ration_raw_free(body);
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.server.told[HTTP_END], 0);
    assert_int_equal(p.server.told[HTTP_LOST], 1);
    close_pair(&p);
}

/* All that is needed for a request was there for the ones before. */
static void test_http2_allocates_nothing_for_the_next_request(void **state)
{
    http_end client = {0}, peer = {0};
    size_t id = 1;

    (void)state;
    assert_true(http_end_open(&client, true, NULL));
    http_end_frame(&peer, SETTINGS, 0, 0, (fl_span){0});
    http_end_deliver(&peer, &client);
    for (int turn = 0; turn < 40; turn++, id += 2) {
        if (turn == 20)
            ration_reset();
        assert_int_equal(ask_whole(&client, FL_SPAN("hello")), FL_OK);
        http_end_forget(&client);
        http_end_frame(&peer, HEADERS, 4, (uint32_t)id, FL_SPAN("\x88"));
        http_end_frame(&peer, DATA, 1, (uint32_t)id, FL_SPAN("yes"));
        http_end_deliver(&peer, &client);
    }
    assert_int_equal(client.told[HTTP_END], 40);
    assert_int_equal(ration_count(), 0);
    http_end_close(&client);
}

static void test_http2_writes_an_answer_once(void **state)
{
    pair p;

    (void)state;
    open_pair(&p, NULL);
    assert_non_null(http_end_get(&p.client, "/"));
    http_end_settle(&p.client, &p.server);
    for (int i = 0; i < 20; i++)
        assert_non_null(http_end_get(&p.client, "/"));
    p.server.writes = 0;
    http_end_deliver(&p.client, &p.server);
    assert_int_equal(p.server.told[HTTP_END], 21);
    assert_int_equal(p.server.writes, 20); /* head and body in one */
    assert_int_equal(http_end_count(&p.server, HEADERS), 20);
    assert_int_equal(http_end_count(&p.server, DATA), 20);
    close_pair(&p);
}

/* One side of a recorded conversation, the other side's bytes chopped. */
typedef struct chopped {
    http_end end;
    bool client;
} chopped;

static void ask(http_end *client)
{
    assert_non_null(http_end_get(client, "/a"));
    fl_exchange *post = http_end_post(client, FL_HTTP_STREAMED);
    assert_int_equal(send_text(post, "one,"), FL_OK);
    assert_int_equal(send_text(post, "two"), FL_OK);
    fl_exchange_finish(post);
    assert_non_null(http_end_get(client, "/b?c"));
    assert_int_equal(send_text(http_end_post(client, 3), "abc"), FL_OK);
    fl_exchange_finish(client->exchange);
}

static void chop_start(void *user)
{
    chopped *c = user;

    c->end = (http_end){.act = c->client ? NULL : http_end_answer_all};
    assert_true(http_end_open(&c->end, c->client, NULL));
    if (c->client)
        ask(&c->end);
}

static void chop_piece(void *user, fl_span piece, chop_notes *notes)
{
    chopped *c = user;

    c->end.notes = notes;
    fl_http_feed(c->end.http, piece);
}

static void chop_end(void *user, chop_notes *notes)
{
    chopped *c = user;

    c->end.notes = notes;
    fl_http_end_input(c->end.http);
    http_end_close(&c->end);
}

static void test_http2_does_not_care_how_bytes_are_cut(void **state)
{
    static const chop_reader reader = {chop_start, chop_piece, chop_end};
    chopped c = {.client = false};
    pair p;

    (void)state;
    open_pair(&p, NULL);
    ask(&p.client);
    chop(&reader, &c, (fl_span){p.client.out, p.client.out_len},
         "(GET /a a.test).(POST /mcp a.test +)one,two."
         "(GET /b?c a.test).(POST /mcp a.test content-length=3 +)abc.|");
    http_end_deliver(&p.client, &p.server);
    c.client = true;
    chop(&reader, &c, (fl_span){p.server.out, p.server.out_len},
         "(200   content-length=3 +)yes.(200   content-length=3 +)yes."
         "(200   content-length=3 +)yes.(200   content-length=3 +)yes.|");
    close_pair(&p);
}

typedef struct crowd {
    fl_exchange *exchanges[200];
    size_t count;
} crowd;

static void gather(http_end *end, http_event event, fl_exchange *exchange)
{
    crowd *c = end->user;

    if (event == HTTP_END)
        c->exchanges[c->count++] = exchange;
}

static void test_http2_keeps_to_the_limit_of_streams(void **state)
{
    const fl_http_limits limits = {.max_streams = 20};
    crowd waiting = {.count = 0};
    pair p;

    (void)state;
    open_pair(&p, &limits);
    p.server.act = gather;
    p.server.user = &waiting;
    assert_non_null(http_end_get(&p.client, "/"));
    http_end_settle(&p.client, &p.server);
    for (int i = 1; i < 20; i++)
        assert_non_null(http_end_get(&p.client, "/"));
    assert_false(fl_http_available(p.client.http));
    fl_exchange *more;
    const fl_heading heading = {.method = FL_SPAN("GET"),
                                .target = FL_SPAN("/"),
                                .scheme = FL_SPAN("http"),
                                .authority = FL_SPAN("a")};
    assert_int_equal(fl_http_request(p.client.http, &heading, NULL, &more),
                     FL_BUSY);
    assert_null(more);
    http_end_settle(&p.client, &p.server);
    assert_int_equal(waiting.count, 20);
    assert_int_equal(fl_http_open(p.server.http), 20);
    while (waiting.count > 0) /* the latest first */
        http_end_answer(waiting.exchanges[--waiting.count], "yes");
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.client.told[HTTP_END], 20);
    assert_int_equal(p.client.body, 60);
    assert_true(fl_http_available(p.client.http));
    assert_false(fl_http_available(p.server.http));
    close_pair(&p);
}

static void test_http2_streams_a_response(void **state)
{
    const fl_heading heading = {.status = 200, .length = FL_HTTP_STREAMED};
    pair p;

    (void)state;
    open_pair(&p, NULL);
    p.server.act = NULL;
    assert_non_null(http_end_get(&p.client, "/"));
    http_end_settle(&p.client, &p.server);
    fl_exchange *exchange = p.server.exchange;
    assert_int_equal(send_text(exchange, "early"), FL_E_STATE);
    assert_int_equal(fl_exchange_respond(exchange, &heading), FL_OK);
    assert_int_equal(fl_exchange_respond(exchange, &heading), FL_E_STATE);
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.client.told[HTTP_HEAD], 1);
    for (size_t i = 1; i <= 5; i++) {
        assert_int_equal(send_text(exchange, "event"), FL_OK);
        http_end_settle(&p.client, &p.server);
        assert_int_equal(p.client.body, 5 * i);
    }
    assert_int_equal(p.client.told[HTTP_END], 0);
    fl_exchange_finish(exchange);
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.client.told[HTTP_END], 1);
    close_pair(&p);
}

static void respond_in_steps(http_end *end, http_event event,
                             fl_exchange *exchange)
{
    const unsigned *status = end->user;
    fl_heading heading = {.status = *status, .length = 4};

    if (event != HTTP_END)
        return;
    assert_int_equal(fl_exchange_respond(exchange, &heading), FL_OK);
    assert_int_equal(send_text(exchange, "body"), FL_OK);
    fl_exchange_finish(exchange);
}

static void check_bodiless(const char *method, unsigned status, size_t body)
{
    const fl_heading heading = {.method = fl_span_of(method),
                                .target = FL_SPAN("/"),
                                .scheme = FL_SPAN("http"),
                                .authority = FL_SPAN("a")};
    fl_exchange *exchange;
    pair p;

    open_pair(&p, NULL);
    p.server.act = respond_in_steps;
    p.server.user = &status;
    assert_int_equal(fl_http_request(p.client.http, &heading, NULL, &exchange),
                     FL_OK);
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.client.status, status);
    assert_int_equal(p.client.body, body);
    assert_int_equal(p.client.told[HTTP_END], 1);
    assert_int_equal(fl_http_open(p.server.http), 0);
    close_pair(&p);
}

static void test_http2_leaves_out_bodies_where_there_must_be_none(void **state)
{
    (void)state;
    check_bodiless("GET", 200, 4);
    check_bodiless("HEAD", 200, 0);
    check_bodiless("GET", 204, 0);
    check_bodiless("GET", 304, 0);
}

static void answer_at_once(http_end *end, http_event event,
                           fl_exchange *exchange)
{
    (void)end;
    if (event == HTTP_HEAD)
        http_end_answer(exchange, "no");
}

static void test_http2_stops_a_request_that_was_answered_early(void **state)
{
    pair p;

    (void)state;
    open_pair(&p, NULL);
    p.server.act = answer_at_once;
    fl_exchange *post = http_end_post(&p.client, 100);
    assert_int_equal(send_text(post, "the first of it"), FL_OK);
    http_end_deliver(&p.client, &p.server);
    assert_int_equal(p.server.told[HTTP_BODY], 0);
    assert_int_equal(http_end_count(&p.server, RST_STREAM), 1);
    assert_int_equal(http_end_error(&p.server, RST_STREAM), 0);
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.client.told[HTTP_END], 1);
    assert_int_equal(p.client.body, 2);
    assert_int_equal(p.client.told[HTTP_LOST] + p.server.told[HTTP_LOST], 0);
    assert_int_equal(fl_http_open(p.client.http), 0);
    close_pair(&p);
}

/* What is left of a large body to be sent, a piece at a time. */
typedef struct load {
    size_t left;
    size_t busy;
} load;

static void send_load(http_end *end, fl_exchange *exchange)
{
    static const char piece[10000];
    load *l = end->user;

    while (l->left > 0) {
        size_t n = l->left < sizeof piece ? l->left : sizeof piece;
        fl_span span = {piece, n};
        fl_status rc = fl_exchange_send(exchange, &span, 1, false);
        l->busy += rc == FL_BUSY;
        if (rc == FL_BUSY)
            return;
        assert_int_equal(rc, FL_OK);
        l->left -= n;
    }
    fl_exchange_finish(exchange);
}

static void serve_load(http_end *end, http_event event, fl_exchange *exchange)
{
    fl_heading heading = {.status = 200, .length = FL_HTTP_STREAMED};

    if (event == HTTP_END)
        assert_int_equal(fl_exchange_respond(exchange, &heading), FL_OK);
    if (event == HTTP_END || event == HTTP_WRITABLE)
        send_load(end, exchange);
}

static void upload(http_end *end, http_event event, fl_exchange *exchange)
{
    if (event == HTTP_WRITABLE)
        send_load(end, exchange);
}

static void test_http2_moves_large_bodies_both_ways(void **state)
{
    load down = {.left = 3000000}, up = {.left = 5000000};
    pair p;

    (void)state;
    open_pair(&p, NULL);
    p.server.act = serve_load;
    p.server.user = &down;
    p.client.act = upload;
    p.client.user = &up;
    send_load(&p.client, http_end_post(&p.client, 5000000));
    assert_true(up.left > 0);
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.server.body, 5000000);
    assert_int_equal(p.client.body, 3000000);
    assert_int_equal(p.client.told[HTTP_END], 1);
    assert_int_equal(p.client.told[HTTP_WRITABLE], up.busy);
    assert_int_equal(p.server.told[HTTP_WRITABLE], down.busy);
    assert_true(down.busy > 0);
    close_pair(&p);
}

/* A server with one request, and a peer whose windows we open by hand. */
static fl_exchange *open_narrow(http_end *server, http_end *peer,
                                const fl_http_limits *limits)
{
    *server = *peer = (http_end){0};
    assert_true(http_end_open(server, false, limits));
    http_end_preface(peer);
    http_end_frame(peer, SETTINGS, 0, 0, FL_SPAN("\0\x04\0\0\0\x0a"));
    http_end_raw_get(peer, 1, true);
    http_end_deliver(peer, server);
    http_end_forget(server);
    return server->exchange;
}

static void open_window(http_end *server, http_end *peer, char bytes)
{
    const char payload[] = {0, 0, 0, bytes};

    http_end_frame(peer, WINDOW_UPDATE, 0, 1, (fl_span){payload, 4});
    http_end_deliver(peer, server);
}

static void test_http2_waits_for_the_window(void **state)
{
    const fl_http_limits limits = {.high_water = 20};
    const fl_heading heading = {.status = 200, .length = FL_HTTP_STREAMED};
    http_end server, peer;

    (void)state;
    fl_exchange *exchange = open_narrow(&server, &peer, &limits);
    assert_int_equal(fl_exchange_respond(exchange, &heading), FL_OK);
    assert_int_equal(send_text(exchange, "0123456789"), FL_OK);
    assert_int_equal(fl_exchange_pending(exchange), 0);
    assert_int_equal(send_text(exchange, "0123456789012345678"), FL_OK);
    assert_int_equal(fl_exchange_pending(exchange), 19);
    assert_int_equal(send_text(exchange, "0"), FL_OK);
    assert_int_equal(send_text(exchange, "1"), FL_BUSY);
    assert_int_equal(fl_exchange_send(exchange, &(fl_span){"1", 1}, 1, true),
                     FL_OK);
    assert_int_equal(fl_exchange_pending(exchange), 21);
    open_window(&server, &peer, 10);
    assert_int_equal(fl_exchange_pending(exchange), 11);
    assert_int_equal(server.told[HTTP_WRITABLE], 0);
    open_window(&server, &peer, 1);
    assert_int_equal(server.told[HTTP_WRITABLE], 1);
    fl_exchange_finish(exchange);
    http_end_forget(&server);
    open_window(&server, &peer, 9);
    assert_int_equal(fl_http_open(server.http), 0);
    open_window(&server, &peer, 9);
    assert_int_equal(http_end_count(&server, DATA), 2);
    http_end_close(&server);
}

static void test_http2_holds_its_frames_while_the_writer_is_busy(void **state)
{
    pair p;

    (void)state;
    open_pair(&p, NULL);
    assert_non_null(http_end_get(&p.client, "/"));
    p.server.refuse = FL_BUSY;
    http_end_deliver(&p.client, &p.server);
    for (int i = 0; i < 10; i++)
        assert_non_null(http_end_get(&p.client, "/"));
    http_end_deliver(&p.client, &p.server);
    assert_int_equal(p.server.told[HTTP_END], 11);
    assert_int_equal(p.server.out_len, 0);
    fl_http_drained(p.server.http); /* too soon */
    assert_int_equal(p.server.out_len, 0);
    p.server.refuse = FL_OK;
    assert_int_equal(p.server.out_len, 0);
    fl_http_drained(p.server.http);
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.client.told[HTTP_END], 11);
    close_pair(&p);
}

static void test_http2_is_over_when_it_cannot_write(void **state)
{
    pair p;

    (void)state;
    open_pair(&p, NULL);
    p.server.act = NULL;
    assert_non_null(http_end_get(&p.client, "/"));
    http_end_settle(&p.client, &p.server);
    fl_exchange *exchange = p.server.exchange;
    p.server.refuse = FL_E_IO;
    assert_int_equal(
        fl_exchange_respond(
            exchange, &(fl_heading){.status = 200, .length = FL_HTTP_STREAMED}),
        FL_OK);
    assert_int_equal(p.server.told[HTTP_OVER], 1);
    assert_int_equal(p.server.told[HTTP_LOST], 0); /* not while sending */
    assert_int_equal(send_text(exchange, "x"), FL_E_RESET);
    fl_http_lose(p.server.http, &(fl_error){.status = FL_E_IO});
    assert_int_equal(p.server.told[HTTP_LOST], 1);
    assert_int_equal(p.server.lost, FL_E_IO);
    assert_int_equal(p.server.told[HTTP_OVER], 1);
    close_pair(&p);
}

static void test_http2_either_side_may_break_off(void **state)
{
    pair p;

    (void)state;
    open_pair(&p, NULL);
    p.server.act = NULL;
    fl_exchange *first = http_end_get(&p.client, "/");
    http_end_settle(&p.client, &p.server);
    fl_exchange_reset(first);
    assert_int_equal(fl_http_open(p.client.http), 0);
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.server.lost, FL_E_CANCELLED);
    assert_int_equal(p.client.told[HTTP_LOST], 0);

    assert_non_null(http_end_get(&p.client, "/"));
    http_end_settle(&p.client, &p.server);
    fl_exchange_reset(p.server.exchange);
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.client.told[HTTP_LOST], 1);
    assert_int_equal(p.client.lost, FL_E_RESET);
    assert_int_equal(p.server.told[HTTP_LOST], 1);
    assert_int_equal(fl_http_open(p.client.http), 0);
    assert_int_equal(fl_http_open(p.server.http), 0);

    fl_exchange *unsent = http_end_get(&p.client, "/");
    fl_exchange_reset(unsent); /* both frames in one delivery */
    assert_non_null(http_end_get(&p.client, "/"));
    http_end_settle(&p.client, &p.server);
    assert_int_equal(fl_http_open(p.server.http), 1);
    close_pair(&p);
}

static void test_http2_a_body_shorter_than_promised_is_broken_off(void **state)
{
    const fl_heading heading = {.status = 200, .length = 5};
    pair p;

    (void)state;
    open_pair(&p, NULL);
    p.server.act = NULL;
    assert_non_null(http_end_get(&p.client, "/"));
    http_end_settle(&p.client, &p.server);
    assert_int_equal(fl_exchange_respond(p.server.exchange, &heading), FL_OK);
    assert_int_equal(send_text(p.server.exchange, "four"), FL_OK);
    fl_exchange_finish(p.server.exchange);
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.client.told[HTTP_END], 0);
    assert_int_equal(p.client.lost, FL_E_RESET);
    close_pair(&p);
}

static void test_http2_shuts_at_once_when_idle(void **state)
{
    pair p;

    (void)state;
    open_pair(&p, NULL);
    assert_non_null(http_end_get(&p.client, "/"));
    http_end_settle(&p.client, &p.server);
    fl_http_shut(p.server.http);
    fl_http_shut(p.server.http);
    assert_int_equal(http_end_count(&p.server, GOAWAY), 2);
    assert_int_equal(p.server.told[HTTP_OVER], 1);
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.client.told[HTTP_OVER], 1);
    assert_null(http_end_get(&p.client, "/"));
    close_pair(&p);
}

static void test_http2_shuts_after_what_is_open(void **state)
{
    pair p;

    (void)state;
    open_pair(&p, NULL);
    p.server.act = NULL;
    assert_non_null(http_end_get(&p.client, "/"));
    http_end_settle(&p.client, &p.server);
    fl_http_shut(p.server.http);
    assert_int_equal(http_end_count(&p.server, GOAWAY), 1);
    fl_exchange *first = p.server.exchange;
    assert_non_null(http_end_get(&p.client, "/")); /* under way already */
    http_end_deliver(&p.server, &p.client);
    http_end_deliver(&p.client, &p.server); /* the answer to our PING, too */
    assert_int_equal(p.server.told[HTTP_END], 2);
    assert_int_equal(http_end_count(&p.server, GOAWAY), 1);
    http_end_settle(&p.client, &p.server);
    assert_false(fl_http_available(p.client.http));
    assert_int_equal(p.server.told[HTTP_OVER] + p.client.told[HTTP_OVER], 0);
    http_end_answer(p.server.exchange, "second");
    assert_int_equal(p.server.told[HTTP_OVER], 0);
    http_end_answer(first, "last");
    assert_int_equal(p.server.told[HTTP_OVER], 1);
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.client.told[HTTP_END], 2);
    assert_int_equal(p.client.told[HTTP_OVER], 1);
    close_pair(&p);
}

static void close_after(http_end *end, http_event event, fl_exchange *exchange)
{
    fl_heading heading = {.status = 200, .close = true};

    (void)end;
    if (event == HTTP_END)
        assert_int_equal(fl_exchange_answer(exchange, &heading, NULL, 0),
                         FL_OK);
}

static void test_http2_closes_after_an_answer_that_says_so(void **state)
{
    pair p;

    (void)state;
    open_pair(&p, NULL);
    p.server.act = close_after;
    assert_non_null(http_end_get(&p.client, "/"));
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.client.told[HTTP_END], 1);
    assert_int_equal(p.server.told[HTTP_OVER], 1);
    assert_int_equal(p.client.told[HTTP_OVER], 1);
    close_pair(&p);
}

static void test_http2_says_which_requests_may_be_sent_again(void **state)
{
    http_end client = {0}, peer = {0};

    (void)state;
    assert_true(http_end_open(&client, true, NULL));
    for (int i = 0; i < 3; i++)
        assert_non_null(http_end_get(&client, "/"));
    http_end_frame(&peer, SETTINGS, 0, 0, (fl_span){0});
    http_end_frame(&peer, GOAWAY, 0, 0, FL_SPAN("\0\0\0\x01\0\0\0\0"));
    http_end_deliver(&peer, &client);
    assert_int_equal(client.told[HTTP_LOST], 2);
    assert_int_equal(client.lost, FL_E_STATE);
    assert_int_equal(fl_http_open(client.http), 1);
    assert_int_equal(client.told[HTTP_OVER], 0);
    http_end_frame(&peer, HEADERS, 5, 1, FL_SPAN("\x88"));
    http_end_deliver(&peer, &client);
    assert_int_equal(client.told[HTTP_END], 1);
    assert_int_equal(client.told[HTTP_OVER], 1);
    http_end_close(&client);
}

static void test_http2_skips_interim_responses_and_trailers(void **state)
{
    http_end client = {0}, peer = {0};

    (void)state;
    assert_true(http_end_open(&client, true, NULL));
    assert_non_null(http_end_get(&client, "/"));
    http_end_frame(&peer, SETTINGS, 0, 0, (fl_span){0});
    http_end_frame(&peer, HEADERS, 4, 1,
                   FL_SPAN("\x08\x03"
                           "103"));
    http_end_deliver(&peer, &client);
    assert_int_equal(client.told[HTTP_HEAD], 0);
    http_end_frame(&peer, HEADERS, 4, 1, FL_SPAN("\x89"));
    http_end_frame(&peer, DATA, 0, 1, FL_SPAN("abc"));
    http_end_frame(&peer, HEADERS, 5, 1,
                   FL_SPAN("\0\x01"
                           "x"
                           "\x01"
                           "y"));
    http_end_deliver(&peer, &client);
    assert_int_equal(client.told[HTTP_HEAD], 1);
    assert_int_equal(client.status, 204);
    assert_int_equal(client.told[HTTP_END], 0); /* a 204 has no body */
    assert_int_equal(client.told[HTTP_LOST], 1);
    http_end_close(&client);
}

static void test_http2_hears_trailers_as_the_end(void **state)
{
    http_end client = {0}, peer = {0};

    (void)state;
    assert_true(http_end_open(&client, true, NULL));
    assert_non_null(http_end_get(&client, "/"));
    http_end_frame(&peer, SETTINGS, 0, 0, (fl_span){0});
    http_end_frame(&peer, HEADERS, 4, 1, FL_SPAN("\x88"));
    http_end_frame(&peer, DATA, 0, 1, FL_SPAN("abc"));
    http_end_frame(&peer, HEADERS, 5, 1,
                   FL_SPAN("\0\x01"
                           "x"
                           "\x01"
                           "y"));
    http_end_deliver(&peer, &client);
    assert_int_equal(client.told[HTTP_HEAD], 1);
    assert_int_equal(client.body, 3);
    assert_int_equal(client.told[HTTP_END], 1);
    http_end_close(&client);
}

static void test_http2_sends_heads_up_to_a_limit(void **state)
{
    static char value[65536];
    const fl_http_limits limits = {.max_head = 256 * 1024};
    fl_field fields[257];
    fl_heading heading = {.method = FL_SPAN("GET"),
                          .target = FL_SPAN("/"),
                          .scheme = FL_SPAN("http"),
                          .authority = FL_SPAN("a.test"),
                          .fields = fields,
                          .count = 1};
    fl_exchange *exchange;
    pair p;

    (void)state;
    open_pair(&p, &limits);
    memset(value, '~', sizeof value); /* which Huffman makes no shorter */
    for (size_t i = 0; i < 257; i++)
        fields[i] = (fl_field){FL_SPAN("x"), FL_SPAN("y"), FL_FIELD_OTHER};
    /* as nghttp2 reckons: 12 for each field, and its bytes */
    fields[0].value = (fl_span){value, 65472 - 91 - 13};
    assert_int_equal(fl_http_request(p.client.http, &heading, NULL, &exchange),
                     FL_OK);
    http_end_settle(&p.client, &p.server);
    assert_int_equal(p.client.told[HTTP_END], 1);
    fields[0].value.len++;
    assert_int_equal(fl_http_request(p.client.http, &heading, NULL, &exchange),
                     FL_E_TOO_BIG);
    assert_null(exchange);
    fields[0].value.len = 1;
    heading.count = 256;
    assert_int_equal(fl_http_request(p.client.http, &heading, NULL, &exchange),
                     FL_OK);
    heading.count = 257;
    assert_int_equal(fl_http_request(p.client.http, &heading, NULL, &exchange),
                     FL_E_LIMIT);
    assert_int_equal(fl_http_open(p.client.http), 1);
    close_pair(&p);
}

static void test_http2_loses_what_the_end_of_input_cuts_off(void **state)
{
    pair p;

    (void)state;
    open_pair(&p, NULL);
    p.server.act = NULL;
    assert_non_null(http_end_get(&p.client, "/"));
    http_end_settle(&p.client, &p.server);
    fl_exchange *whole = p.server.exchange;
    assert_non_null(http_end_post(&p.client, 10));
    http_end_settle(&p.client, &p.server);
    fl_http_end_input(p.server.http);
    assert_int_equal(p.server.told[HTTP_LOST], 1);
    assert_ptr_not_equal(p.server.exchange, whole);
    assert_int_equal(p.server.told[HTTP_OVER], 0);
    http_end_answer(whole, "still");
    assert_int_equal(p.server.told[HTTP_OVER], 1);
    http_end_settle(&p.server, &p.client);
    assert_int_equal(p.client.told[HTTP_END], 1);
    fl_http_end_input(p.client.http);
    assert_int_equal(p.client.told[HTTP_LOST], 1);
    assert_int_equal(p.client.told[HTTP_OVER], 1);
    close_pair(&p);
}

static void test_http2_loses_everything_with_the_connection(void **state)
{
    const fl_error why = {.status = FL_E_TIMEOUT};
    pair p;

    (void)state;
    open_pair(&p, NULL);
    p.server.act = NULL;
    for (int i = 0; i < 3; i++)
        assert_non_null(http_end_get(&p.client, "/"));
    http_end_deliver(&p.client, &p.server);
    fl_http_lose(p.server.http, &why);
    fl_http_lose(p.client.http, &why);
    assert_int_equal(p.server.told[HTTP_LOST], 3);
    assert_int_equal(p.client.told[HTTP_LOST], 3);
    assert_int_equal(p.client.lost, FL_E_TIMEOUT);
    assert_int_equal(fl_http_open(p.server.http), 0);
    fl_http_feed(p.server.http, FL_SPAN("whatever"));
    assert_null(http_end_get(&p.client, "/"));
    assert_int_equal(p.server.told[HTTP_OVER], 0);
    close_pair(&p);
}

/* Frees the codec from inside the chosen event, and is told nothing more. */
typedef struct bomb {
    http_event at;
    bool serves;
    bool gone;
} bomb;

static void blow(http_end *end, http_event event, fl_exchange *exchange)
{
    bomb *b = end->user;

    assert_false(b->gone);
    if (event == b->at) {
        fl_http_free(end->http);
        end->http = NULL;
        b->gone = true;
    } else if (event == HTTP_END && b->serves) {
        http_end_answer(exchange, "yes");
    }
}

static void run_bomb(http_event at, bool in_client)
{
    bomb b = {.at = at, .serves = !in_client};
    http_end *victim;
    pair p;

    open_pair(&p, NULL);
    victim = in_client ? &p.client : &p.server;
    victim->act = blow;
    victim->user = &b;
    fl_exchange *post = http_end_post(&p.client, 3);
    assert_int_equal(send_text(post, "abc"), FL_OK);
    fl_exchange_finish(post);
    assert_non_null(http_end_post(&p.client, FL_HTTP_STREAMED));
    http_end_settle(&p.client, &p.server);
    if (victim->http != NULL && at == HTTP_LOST)
        fl_http_lose(victim->http, &(fl_error){.status = FL_E_IO});
    if (victim->http != NULL && at == HTTP_OVER)
        fl_http_end_input(victim->http);
    assert_true(b.gone);
    close_pair(&p);
}

static void test_http2_may_be_freed_from_any_event(void **state)
{
    (void)state;
    run_bomb(HTTP_HEAD, false);
    run_bomb(HTTP_BODY, false);
    run_bomb(HTTP_END, false);
    run_bomb(HTTP_LOST, false);
    run_bomb(HTTP_OVER, false);
    run_bomb(HTTP_HEAD, true);
    run_bomb(HTTP_BODY, true);
    run_bomb(HTTP_END, true);
    run_bomb(HTTP_LOST, true);
    run_bomb(HTTP_OVER, true);
}

static fl_status free_in_write(void *user, const fl_span *parts, size_t count,
                               bool urgent)
{
    fl_http **http = user;

    (void)parts;
    (void)count;
    (void)urgent;
    fl_http_free(*http);
    *http = NULL;
    return FL_OK;
}

static void test_http2_may_be_freed_while_it_writes(void **state)
{
    static const fl_http_events events = {.write = free_in_write};
    fl_http *http;
    fl_http_options options = {.version = 20, .events = &events, .user = &http};

    (void)state;
    assert_int_equal(fl_http_new(&options, &http), FL_OK);
    fl_http_feed(http, (fl_span){0});
    assert_null(http);
}

static void converse(void *user)
{
    const fl_heading stream = {.status = 200, .length = FL_HTTP_STREAMED};
    pair p = {.server.act = http_end_answer_all};

    (void)user;
    if (http_end_open(&p.client, true, NULL) &&
        http_end_open(&p.server, false, NULL)) {
        (void)http_end_get(&p.client, "/a");
        fl_exchange *post = http_end_post(&p.client, 3);
        if (post != NULL && send_text(post, "abc") == FL_OK)
            fl_exchange_finish(post);
        http_end_settle(&p.client, &p.server);
        p.server.act = NULL;
        p.server.exchange = NULL;
        (void)http_end_get(&p.client, "/b");
        http_end_settle(&p.client, &p.server);
        fl_exchange *last = p.server.exchange;
        if (last != NULL && p.server.told[HTTP_LOST] == 0 &&
            fl_exchange_respond(last, &stream) == FL_OK &&
            p.server.told[HTTP_OVER] == 0) {
            p.server.refuse = FL_BUSY;
            (void)send_text(last, "event");
            p.server.refuse = FL_OK;
            fl_http_drained(p.server.http);
        }
        http_end_settle(&p.client, &p.server);
        fl_http_shut(p.server.http);
        http_end_settle(&p.client, &p.server);
    }
    close_pair(&p);
}

static void converse_in_one_breath(void *user)
{
    pair p = {.server.act = http_end_answer_all};

    (void)user;
    if (http_end_open(&p.client, true, NULL) &&
        http_end_open(&p.server, false, NULL)) {
        for (int i = 0; i < 3; i++) {
            (void)ask_whole(&p.client, FL_SPAN("one"));
            if (i == 1 && p.client.exchange != NULL)
                fl_exchange_reset(p.client.exchange);
            (void)ask_whole(&p.client, FL_SPAN("two"));
            fl_http_feed(p.client.http, (fl_span){0});
            http_end_settle(&p.client, &p.server);
        }
    }
    /* whoever asked was told what came of it */
    assert_true(p.client.http == NULL || fl_http_open(p.client.http) == 0 ||
                p.server.http == NULL || ration_refused());
    close_pair(&p);
}

static void test_http2_survives_any_lack_of_memory(void **state)
{
    (void)state;
    ration_reset();
    assert_true(ration_each(converse, NULL) > 20);
    assert_true(ration_each(converse_in_one_breath, NULL) > 20);
}

static void test_http2_knows_what_it_holds(void **state)
{
    http_end server = {0}, peer = {0};

    (void)state;
    ration_reset();
    ptrdiff_t before = ration_live_bytes();
    assert_true(http_end_open(&server, false, NULL));
    http_end_preface(&peer);
    http_end_deliver(&peer, &server);
    size_t idle = fl_http_memory(server.http);
    ptrdiff_t real = ration_live_bytes() - before;
    assert_in_range(real, (ptrdiff_t)idle, (ptrdiff_t)idle + 1024);
    assert_in_range(idle, 512, 1024);
    http_end_raw_get(&peer, 1, true);
    http_end_deliver(&peer, &server);
    assert_true(fl_http_memory(server.http) > idle);
    http_end_answer(server.exchange, "yes");
    assert_in_range(fl_http_memory(server.http), idle, idle + 2048);
    http_end_close(&server);
    assert_int_equal(ration_live_bytes(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http2_carries_a_request_and_its_answer),
        cmocka_unit_test(test_http2_asks_in_one_write),
        cmocka_unit_test(test_http2_what_is_new_each_time_pushes_nothing_out),
        cmocka_unit_test(test_http2_a_head_outlives_the_table_it_came_from),
        cmocka_unit_test(test_http2_lets_go_of_a_body_when_it_is_answered),
        cmocka_unit_test(test_http2_tears_a_body_that_is_reset),
        cmocka_unit_test(test_http2_allocates_nothing_for_the_next_request),
        cmocka_unit_test(test_http2_writes_an_answer_once),
        cmocka_unit_test(test_http2_does_not_care_how_bytes_are_cut),
        cmocka_unit_test(test_http2_keeps_to_the_limit_of_streams),
        cmocka_unit_test(test_http2_streams_a_response),
        cmocka_unit_test(test_http2_leaves_out_bodies_where_there_must_be_none),
        cmocka_unit_test(test_http2_stops_a_request_that_was_answered_early),
        cmocka_unit_test(test_http2_moves_large_bodies_both_ways),
        cmocka_unit_test(test_http2_waits_for_the_window),
        cmocka_unit_test(test_http2_holds_its_frames_while_the_writer_is_busy),
        cmocka_unit_test(test_http2_is_over_when_it_cannot_write),
        cmocka_unit_test(test_http2_either_side_may_break_off),
        cmocka_unit_test(test_http2_a_body_shorter_than_promised_is_broken_off),
        cmocka_unit_test(test_http2_shuts_at_once_when_idle),
        cmocka_unit_test(test_http2_shuts_after_what_is_open),
        cmocka_unit_test(test_http2_closes_after_an_answer_that_says_so),
        cmocka_unit_test(test_http2_says_which_requests_may_be_sent_again),
        cmocka_unit_test(test_http2_skips_interim_responses_and_trailers),
        cmocka_unit_test(test_http2_hears_trailers_as_the_end),
        cmocka_unit_test(test_http2_sends_heads_up_to_a_limit),
        cmocka_unit_test(test_http2_loses_what_the_end_of_input_cuts_off),
        cmocka_unit_test(test_http2_loses_everything_with_the_connection),
        cmocka_unit_test(test_http2_may_be_freed_from_any_event),
        cmocka_unit_test(test_http2_may_be_freed_while_it_writes),
        cmocka_unit_test(test_http2_survives_any_lack_of_memory),
        cmocka_unit_test(test_http2_knows_what_it_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
