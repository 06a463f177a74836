/*
 * test_http1_server.c - a server on one HTTP/1.1 connection.
 *
 * What the bytes mean must not depend on how they were cut, so requests go
 * through chop(). The rest is about order: when the answer comes early, late,
 * in pieces or not at all, and what happens to the connection then.
 */
#include "http_watch.h"

#define HOST "Host: h\r\n"

/* The plan for a run of chop(): made anew each time. */
typedef struct plan {
    watch w;
    watch_event answer_at;
    const fl_http_limits *limits;
} plan;

static void start(void *user)
{
    plan *p = user;

    p->w = (watch){.answer_at = p->answer_at, .body = FL_SPAN("ok")};
    assert_int_equal(watch_open(&p->w, false, p->limits), FL_OK);
}

static void piece(void *user, fl_span bytes, chop_notes *notes)
{
    plan *p = user;

    p->w.notes = notes;
    fl_http_feed(p->w.http, bytes);
    if (p->w.answer_at == W_NONE)
        return;
    while (p->w.exchange != NULL && p->w.bad > 0)
        watch_do(&p->w, p->w.answer_at = W_BAD);
}

static void end(void *user, chop_notes *notes)
{
    plan *p = user;

    p->w.notes = notes;
    fl_http_end_input(p->w.http);
    if (p->w.over == 0) {
        watch_do(&p->w, W_NONE);
        if (p->w.exchange != NULL)
            fl_exchange_reset(p->w.exchange);
    }
    assert_int_equal(p->w.over, 1);
    watch_close(&p->w);
}

static const chop_reader reader = {start, piece, end};

static void check(const char *text, const char *want)
{
    plan p = {.answer_at = W_END};

    chop(&reader, &p, fl_span_of(text), want);
}

static void test_server_reads_requests(void **state)
{
    (void)state;
    check("GET / HTTP/1.1\r\nHost: h\r\n\r\n", "<GET / h|>.");
    check("\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", "<GET / h|>.");
    check("GET /a?b=c HTTP/1.0\r\n\r\n", "<GET /a?b=c |>.");
    check("GET / HTTP/1.1\r\nHost: h\r\nA:1\r\nb:  2 \t \r\nC:\r\n\r\n",
          "<GET / h A=1 b=2 C=|>.");
    check("POST /x HTTP/1.1\r\nhost:h:80\r\ncontent-length: 5\r\n\r\nhello",
          "<POST /x h:80|hello>.");
    check("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
          "<POST /x h|>.");
    check("POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n"
          "3\r\nabc\r\n00A\r\n0123456789\r\n0\r\n\r\n",
          "<POST /x h|abc0123456789>.");
    check("OPTIONS * HTTP/1.1\r\nHost: [::1]:8\r\n\r\n",
          "<OPTIONS * [::1]:8|>.");
    check("get / HTTP/1.1\r\nHost: h\r\n\r\n", "<get / h|>.");
    check("GET http://H:1/p HTTP/1.1\r\nHost: h:1\r\n\r\n", "<GET /p H:1|>.");
    check("GET https://h HTTP/1.1\r\nHost: h\r\n\r\n", "<GET / h|>.");
    check("GET http://h/ HTTP/1.0\r\n\r\n", "<GET / h|>.");
}

static void test_server_reads_chunk_extensions_and_trailers(void **state)
{
#define CHUNKED "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
    (void)state;
    check(CHUNKED "1;a;b=c;d=\"e;\\\"\r \"\r\nx\r\n0\r\n\r\n",
          "<POST / h|!400.");
    check(CHUNKED "1;a;b=c;d=\"e;\\\" \"\r\nx\r\n0\r\n\r\n", "<POST / h|x>.");
    check(CHUNKED "1\r\nx\r\n0;last\r\nA: b\r\nC:\r\n\r\n", "<POST / h|x>.");
    check(CHUNKED "0\r\nA : b\r\n\r\n", "<POST / h|!400.");
    check(CHUNKED "0\r\n b\r\n\r\n", "<POST / h|!400.");
    check(CHUNKED "0\r\nA: \x01\r\n\r\n", "<POST / h|!400.");
    check(CHUNKED "0\r\nA: b\n\r\n", "<POST / h|!400.");
    check(CHUNKED "0\r\n: b\r\n\r\n", "<POST / h|!400.");
    check(CHUNKED "0\r\nX-Transfer-Encoding-Of-Old: b\r\n\r\n", "<POST / h|>.");
    check(CHUNKED "0\r\ntransfer-Encoding: chunked\r\n\r\n", "<POST / h|!400.");
    check(CHUNKED "0\r\nA: b\r\nContent-Length: 5\r\n\r\n", "<POST / h|!400.");
    check(CHUNKED "0\r\nUpgrade: x\r\n\r\n", "<POST / h|!400.");
    check(CHUNKED "0\r\nHost: x\r\n\r\n", "<POST / h|!400.");
}

static void test_server_refuses_bad_chunks(void **state)
{
    static const char *const bad[] = {
        "\r\n",          "g\r\n",
        "+1\r\nx\r\n",   "-1\r\nx\r\n",
        " 1\r\nx\r\n",   "1 \r\nx\r\n",
        "1 ;a\r\nx\r\n", "0x1\r\nx\r\n",
        "1\nx\r\n",      "1\rx\r\n",
        "1;\r\nx\r\n",   "1; a\r\nx\r\n",
        "1;a=\r\nx\r\n", "1;a=\"b\"c\r\nx\r\n",
        "1;a\nx\r\n",    "00000000000000001\r\nx\r\n",
        ";a\r\n",
    };
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, CHUNKED "%s", bad[i]);
        check(text, "<POST / h|!400.");
    }
    check(CHUNKED "1\r\nxy\r\n", "<POST / h|x!400.");
    check(CHUNKED "1\r\nx\n", "<POST / h|x!400.");
    check(CHUNKED "1\r\nx\r0", "<POST / h|x!400.");
    check(CHUNKED "0000000000000001\r\nx\r\n0\r\n\r\n", "<POST / h|x>.");
}

static void test_server_refuses_what_is_no_request(void **state)
{
    static const struct {
        const char *text;
        unsigned status;
    } bad[] = {
        {"\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n", 400},
        {"\nGET / HTTP/1.1\r\n" HOST "\r\n", 400},
        {" GET / HTTP/1.1\r\n" HOST "\r\n", 400},
        {"\x16\x03\x01", 400},
        {"GET  / HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET /  HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET / HTTP/1.1 \r\n" HOST "\r\n", 400},
        {"GET\t/ HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET /\tHTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET /\r\n\r\n", 400},
        {"GET / HTTP/1.1\n" HOST "\r\n", 400},
        {"GET / HTTP/1.1\r" HOST "\r\n", 400},
        {"GET / http/1.1\r\n" HOST "\r\n", 400},
        {"GET / HTTP/1.10\r\n" HOST "\r\n", 400},
        {"GET / HTTP/11\r\n" HOST "\r\n", 400},
        {"GET / HTTP/1.2\r\n" HOST "\r\n", 505},
        {"GET / HTTP/2.0\r\n" HOST "\r\n", 505},
        {"GET / HTTP/0.9\r\n" HOST "\r\n", 505},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
        {"G@T / HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET /\x80 HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET /\x7f HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET /a#b HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET a HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET * HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET ftp://h/ HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET http:///a HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET http://u@h/a HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET http://h?a HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET http://g/a HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET http://h/a HTTP/1.1\r\n\r\n", 400},
        {"CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\n\r\n", 501},
        {"GET / HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost:\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: u@b\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a:b\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a%2\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST " folded\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "A: b\r\n\tfolded\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "A\t: h\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST ": h\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "no colon\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "nocolon\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "a(b: c\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "a\x80: c\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "A: b\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "A: b\rc\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "A: b\r\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "A: b\x01\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "A: b\x7f\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "\rX", 400},
        {"GET / HTTP/1.1\r\n" HOST "Expect: 200-ok\r\n\r\n", 417},
        {"GET / HTTP/1.1\r\n" HOST "Origin: a\r\nOrigin: a\r\n\r\n", 400},
        {"GET / HTTP/1.0\r\n" HOST HOST "\r\n", 400},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char want[32];
        snprintf(want, sizeof want, "!%u.", bad[i].status);
        check(bad[i].text, want);
    }
}

/* RFC 9112 6.3 and what proxies have made of it. */
static void test_server_refuses_two_ways_to_read_a_length(void **state)
{
    static const struct {
        const char *fields;
        unsigned status;
    } bad[] = {
        {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", 400},
        {"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", 400},
        {"Content-Length: 5\r\nContent-Length: 5\r\n", 400},
        {"Content-Length: 5\r\nContent-Length: 6\r\n", 400},
        {"Content-Length: 5, 5\r\n", 400},
        {"Content-Length: +5\r\n", 400},
        {"Content-Length: -5\r\n", 400},
        {"Content-Length: 0x5\r\n", 400},
        {"Content-Length: 5 5\r\n", 400},
        {"Content-Length: \r\n", 400},
        {"Content-Length: 9223372036854775808\r\n", 400},
        {"Content-Length: 99999999999999999999999\r\n", 400},
        {"Content-Length : 5\r\n", 400},
        {"Transfer-Encoding: gzip\r\n", 501},
        {"Transfer-Encoding: gzip, chunked\r\n", 501},
        {"Transfer-Encoding: identity\r\n", 501},
        {"Transfer-Encoding: xchunked\r\n", 501},
        {"Transfer-Encoding: chunked, gzip\r\n", 400},
        {"Transfer-Encoding: chunked, chunked\r\n", 400},
        {"Transfer-Encoding: chunked;a=b\r\n", 400},
        {"Transfer-Encoding: , chunked\r\n", 400},
        {"Transfer-Encoding: chunked,\r\n", 400},
        {"Transfer-Encoding: \"chunked\"\r\n", 400},
        {"Transfer-Encoding:\r\n", 400},
        {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400},
        {"Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n", 400},
        {"Transfer-Encoding\t: chunked\r\n", 400},
        {"Transfer-Encoding: \x0b"
         "chunked\r\n",
         400},
    };
    char text[256], want[32];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text,
                 "POST / HTTP/1.1\r\n" HOST "%s\r\n0\r\n\r\n", bad[i].fields);
        snprintf(want, sizeof want, "!%u.", bad[i].status);
        check(text, want);
    }
    check("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
          "!400.");
    check("POST / HTTP/1.1\r\n" HOST "Content-Length: 9223372036854775807\r\n"
          "\r\n",
          "<POST / h|lost.");
}

static void test_server_answers_pipelined_requests_in_turn(void **state)
{
    (void)state;
    check("GET /1 HTTP/1.1\r\n" HOST "\r\n"
          "POST /2 HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc"
          "\r\nPOST /3 HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
          "2\r\nde\r\n0\r\n\r\n"
          "GET /4 HTTP/1.1\r\n" HOST "Connection: x, Close\r\n\r\n"
          "GET /5 HTTP/1.1\r\n" HOST "\r\n",
          "<GET /1 h|><POST /2 h|abc><POST /3 h|de><GET /4 h|>.");
}

static void open_server(watch *w, watch_event answer_at)
{
    *w = (watch){.answer_at = answer_at, .body = FL_SPAN("ok")};
    assert_int_equal(watch_open(w, false, NULL), FL_OK);
}

static void test_server_holds_input_while_an_exchange_is_open(void **state)
{
    static watch w;
    fl_heading ok = {.status = 200};

    (void)state;
    open_server(&w, W_NONE);
    watch_feed_text(&w, "GET /1 HTTP/1.1\r\n" HOST "\r\nGET /2 HTTP/1.1\r\n");
    watch_feed_text(&w, HOST "\r\nGET /3 HTTP/1.1\r\n" HOST "\r\n");
    assert_string_equal(w.text, "<GET /1 h|>");
    assert_int_equal(w.held, 0);
    assert_int_equal(fl_http_open(w.http), 1);

    assert_int_equal(fl_exchange_answer(w.exchange, &ok, NULL, 0), FL_OK);
    assert_int_equal(w.held, 1);
    assert_int_equal(fl_http_open(w.http), 0);
    assert_string_equal(w.text, "<GET /1 h|>");
    w.answer_at = W_END;
    watch_feed(&w, (fl_span){0});
    assert_string_equal(w.text, "<GET /1 h|><GET /2 h|><GET /3 h|>");
    assert_int_equal(w.held, 1);
    assert_int_equal(w.over, 0);
    watch_close(&w);
}

static void test_server_answers_held_requests_after_the_peer_ended(void **state)
{
    static watch w;
    fl_heading ok = {.status = 200};

    (void)state;
    open_server(&w, W_NONE);
    watch_feed_text(&w, "GET /1 HTTP/1.1\r\n" HOST "\r\n"
                        "GET /2 HTTP/1.1\r\n" HOST "\r\nGET /3");
    fl_http_end_input(w.http);
    assert_int_equal(fl_exchange_answer(w.exchange, &ok, NULL, 0), FL_OK);
    assert_int_equal(w.held, 1);
    assert_int_equal(w.over, 0);
    watch_feed(&w, (fl_span){0});
    assert_string_equal(w.text, "<GET /1 h|><GET /2 h|>");
    assert_int_equal(fl_exchange_answer(w.exchange, &ok, NULL, 0), FL_OK);
    assert_int_equal(w.over, 0);
    watch_feed(&w, (fl_span){0});
    assert_int_equal(w.over, 1);
    watch_close(&w);
}

static void test_server_pauses_a_peer_that_runs_ahead(void **state)
{
    static watch w;
    static char junk[65536];
    const fl_http_limits limits = {.max_head = 1024};
    fl_heading ok = {.status = 200};
    const char *next = "POST /2 HTTP/1.1\r\n" HOST "Content-Length: 999999\r\n"
                       "\r\n";
    size_t most = 1024 + 65536, have = strlen(next);

    (void)state;
    memset(junk, 'x', sizeof junk);
    w = (watch){.answer_at = W_NONE};
    assert_int_equal(watch_open(&w, false, &limits), FL_OK);
    watch_feed_text(&w, "GET /1 HTTP/1.1\r\n" HOST "\r\n");
    watch_feed_text(&w, next);
    watch_feed(&w, (fl_span){junk, sizeof junk - 1});
    have += sizeof junk - 1;
    watch_feed(&w, (fl_span){junk, most - 1 - have});
    assert_int_equal(w.paused, -1);
    watch_feed(&w, (fl_span){junk, 1});
    assert_int_equal(w.paused, 1);
    watch_feed(&w, (fl_span){junk, sizeof junk}); /* was under way */
    assert_int_equal(fl_exchange_answer(w.exchange, &ok, NULL, 0), FL_OK);
    assert_int_equal(w.paused, 1);
    assert_int_equal(w.held, 1);
    watch_close(&w);
}

/* Bodies here are too long to write down: they are counted. */
static void ignore_body(fl_exchange *exchange, fl_span bytes, void *user)
{
    watch *w = user;

    (void)exchange;
    w->ended += (unsigned)bytes.len;
}

static void test_server_lets_the_peer_go_on_when_half_is_used(void **state)
{
    static watch w;
    static char junk[65536];
    fl_http_events events = watch_events;
    const fl_http_limits limits =
        fl_http_limits_fill(&(fl_http_limits){.max_head = 1024});
    const fl_http_options options = {
        .version = 11, .limits = &limits, .events = &events, .user = &w};
    fl_heading ok = {.status = 200};

    (void)state;
    events.on_body = ignore_body;
    w = (watch){.paused = -1};
    assert_int_equal(fl_http_new(&options, &w.http), FL_OK);
    watch_feed_text(&w, "GET /1 HTTP/1.1\r\n" HOST "\r\n");
    watch_feed_text(&w, "POST /2 HTTP/1.1\r\n" HOST
                        "Content-Length: 131072\r\n\r\n");
    watch_feed(&w, (fl_span){junk, sizeof junk});
    assert_int_equal(w.paused, -1);
    watch_feed(&w, (fl_span){junk, sizeof junk});
    assert_int_equal(w.paused, 1);
    size_t full = fl_http_memory(w.http);
    assert_true(full > 131072);
    assert_int_equal(fl_exchange_answer(w.exchange, &ok, NULL, 0), FL_OK);
    watch_feed(&w, (fl_span){0});
    assert_int_equal(w.paused, 0);
    assert_int_equal(w.ended, 2 + 131072);
    assert_true(fl_http_memory(w.http) < 1024);
    watch_close(&w);
}

static void test_server_answers_in_one_write(void **state)
{
    static watch w;
    const fl_field shared[] = {{FL_SPAN("server"), FL_SPAN("x"), 0}};
    const fl_field own[] = {FL_FIELD_SET(CONTENT_TYPE, FL_SPAN("a/b"))};
    fl_fields common;
    fl_heading heading = {
        .status = 200, .common = &common, .fields = own, .count = 1};
    const fl_span parts[] = {FL_SPAN("ab"), {0}, FL_SPAN("cde")};

    (void)state;
    assert_int_equal(fl_fields_init(&common, shared, 1), FL_OK);
    open_server(&w, W_NONE);
    watch_feed_text(&w, "GET / HTTP/1.1\r\n" HOST "\r\n");
    assert_int_equal(fl_exchange_answer(w.exchange, &heading, parts, 3), FL_OK);
    assert_int_equal(w.writes, 1);
    assert_string_equal(w.out, "HTTP/1.1 200 OK\r\nserver: x\r\n"
                               "content-type: a/b\r\ncontent-length: 5\r\n"
                               "\r\nabcde");
    watch_close(&w);
    fl_fields_deinit(&common);
}

static void test_server_answers_with_many_parts_and_fields(void **state)
{
    static watch w;
    static char large[3000];
    fl_span parts[100];
    const fl_field fields[] = {
        {FL_SPAN("a"), {large, sizeof large}, FL_FIELD_OTHER}};
    fl_heading heading = {.status = 299, .fields = fields, .count = 1};

    (void)state;
    memset(large, 'v', sizeof large);
    for (size_t i = 0; i < 100; i++)
        parts[i] = FL_SPAN("0123456789");
    open_server(&w, W_NONE);
    watch_feed_text(&w, "GET / HTTP/1.1\r\n" HOST "\r\n");
    assert_int_equal(fl_exchange_answer(w.exchange, &heading, parts, 100),
                     FL_OK);
    assert_int_equal(w.writes, 1);
    assert_int_equal(w.out_len, strlen("HTTP/1.1 299 Unknown\r\na: \r\n"
                                       "content-length: 1000\r\n\r\n") +
                                    3000 + 1000);
    assert_memory_equal(w.out, "HTTP/1.1 299 Unknown\r\na: vvv", 27);
    watch_close(&w);
}

static void test_server_answers_each_version_in_its_way(void **state)
{
    static const struct {
        const char *request, *want;
        bool streamed, over;
        unsigned status;
    } cases[] = {
        {"GET / HTTP/1.1\r\n" HOST "\r\n",
         "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", false, false, 200},
        {"GET / HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n",
         "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok",
         false, true, 200},
        {"GET / HTTP/1.0\r\n\r\n",
         "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok",
         false, true, 200},
        {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
         "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: keep-alive\r\n"
         "\r\nok",
         false, false, 200},
        {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
         "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nok", true, true, 200},
        {"GET / HTTP/1.1\r\n" HOST "\r\n",
         "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n"
         "0\r\n\r\n",
         true, false, 200},
        {"HEAD / HTTP/1.1\r\n" HOST "\r\n",
         "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n", false, false, 200},
        {"HEAD / HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 200 OK\r\n\r\n", true,
         false, 200},
        {"GET / HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 204 No Content\r\n\r\n",
         false, false, 204},
        {"GET / HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n",
         false, false, 304},
        {"GET / HTTP/1.1\r\n" HOST "\r\n",
         "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\n\r\n",
         false, false, 101},
    };
    static watch w;
    const fl_span body = FL_SPAN("ok");

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fl_heading heading = {
            .status = cases[i].status,
            .length = cases[i].streamed ? FL_HTTP_STREAMED : 2,
        };
        open_server(&w, W_NONE);
        watch_feed_text(&w, cases[i].request);
        assert_int_equal(fl_exchange_respond(w.exchange, &heading), FL_OK);
        assert_int_equal(fl_exchange_send(w.exchange, &body, 1, false), FL_OK);
        fl_exchange_finish(w.exchange);
        assert_string_equal(w.out, cases[i].want);
        assert_int_equal(w.over, cases[i].over);
        watch_close(&w);
    }
}

static void test_server_streams_until_it_is_busy(void **state)
{
    static watch w;
    const fl_heading heading = {.status = 200, .length = FL_HTTP_STREAMED};
    const fl_span nothing = {0}, part = FL_SPAN("0123456789abcdef");

    (void)state;
    open_server(&w, W_NONE);
    watch_feed_text(&w, "GET / HTTP/1.1\r\n" HOST "\r\n");
    assert_int_equal(fl_exchange_send(w.exchange, &part, 1, false), FL_E_STATE);
    assert_int_equal(fl_exchange_respond(w.exchange, &heading), FL_OK);
    assert_int_equal(fl_exchange_respond(w.exchange, &heading), FL_E_STATE);
    assert_int_equal(fl_exchange_send(w.exchange, &nothing, 1, false), FL_OK);
    w.out_len = 0;
    w.write_rc = FL_BUSY;
    assert_int_equal(fl_exchange_send(w.exchange, &part, 1, false), FL_BUSY);
    assert_int_equal(fl_exchange_send(w.exchange, &part, 1, true), FL_OK);
    assert_string_equal(w.out, "10\r\n0123456789abcdef\r\n");
    w.write_rc = FL_OK;
    fl_http_drained(w.http);
    fl_http_drained(w.http);
    assert_string_equal(w.text, "<GET / h|>writable");
    assert_int_equal(fl_exchange_pending(w.exchange), 0);
    fl_exchange_finish(w.exchange);
    fl_http_drained(w.http);
    assert_string_equal(w.text, "<GET / h|>writable");
    assert_int_equal(w.over, 0);
    watch_close(&w);
}

static void test_server_breaks_off_an_answer_that_is_not_whole(void **state)
{
    static watch w;
    const fl_heading heading = {.status = 200, .length = 3};
    const fl_span part = FL_SPAN("ab");

    (void)state;
    open_server(&w, W_NONE);
    watch_feed_text(&w, "GET / HTTP/1.1\r\n" HOST "\r\nGET / HT");
    assert_int_equal(fl_exchange_respond(w.exchange, &heading), FL_OK);
    assert_int_equal(fl_exchange_send(w.exchange, &part, 1, false), FL_OK);
    assert_int_equal(fl_exchange_send(w.exchange, &part, 1, false),
                     FL_E_INVALID);
    fl_exchange_finish(w.exchange);
    assert_int_equal(w.over, 1);
    watch_feed_text(&w, "GET / HTTP/1.1\r\n" HOST "\r\n");
    assert_int_equal(w.begun, 1);
    watch_close(&w);

    open_server(&w, W_NONE);
    watch_feed_text(&w, "GET / HTTP/1.1\r\n" HOST "\r\n");
    fl_exchange_finish(w.exchange);
    assert_int_equal(w.over, 1);
    watch_close(&w);
}

static void test_server_failed_answer_can_be_made_again(void **state)
{
    static watch w;
    const fl_heading heading = {.status = 200};
    const fl_span part = FL_SPAN("ab");

    (void)state;
    open_server(&w, W_NONE);
    watch_feed_text(&w, "GET / HTTP/1.1\r\n" HOST "\r\n");
    w.write_rc = FL_E_NOMEM;
    assert_int_equal(fl_exchange_answer(w.exchange, &heading, &part, 1),
                     FL_E_NOMEM);
    assert_int_equal(fl_http_open(w.http), 1);
    w.write_rc = FL_OK;
    assert_int_equal(fl_exchange_answer(w.exchange, &heading, &part, 1), FL_OK);
    assert_int_equal(fl_http_open(w.http), 0);
    watch_close(&w);
}

static void test_server_cannot_be_talked_into_more_lines(void **state)
{
    static const struct {
        const char *name, *value;
    } bad[] = {
        {"a", "b\r\nset-cookie: c"},
        {"a", "b\nc"},
        {"a", "b\rc"},
        {"a", "b\r\n\r\n<html>"},
        {"a\r\nb", "c"},
        {"a: b\r\nc", "d"},
        {"a ", "b"},
        {"", "b"},
        {"A", "b"},
        {"a", " b"},
        {"a", "b "},
        {"a", "\x01"},
        {"a", "\x7f"},
        {"content-length", "0"},
        {"transfer-encoding", "x"},
        {"connection", "close"},
        {"keep-alive", "1"},
    };
    static watch w;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const fl_field field = {fl_span_of(bad[i].name),
                                fl_span_of(bad[i].value), FL_FIELD_OTHER};
        fl_heading heading = {.status = 200, .fields = &field, .count = 1};
        fl_fields set;
        open_server(&w, W_NONE);
        watch_feed_text(&w, "GET / HTTP/1.1\r\n" HOST "\r\n");
        assert_int_equal(fl_exchange_respond(w.exchange, &heading),
                         FL_E_INVALID);
        assert_int_equal(fl_exchange_answer(w.exchange, &heading, NULL, 0),
                         FL_E_INVALID);
        assert_int_equal(fl_fields_init(&set, &field, 1), FL_E_INVALID);
        assert_int_equal(w.writes, 0);
        watch_close(&w);
    }
}

static void test_server_refuses_a_status_that_is_none(void **state)
{
    static const unsigned bad[] = {0, 99, 100, 102, 199, 1000};
    static watch w;

    (void)state;
    open_server(&w, W_NONE);
    watch_feed_text(&w, "GET / HTTP/1.1\r\n" HOST "\r\n");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fl_heading heading = {.status = bad[i]};
        assert_int_equal(fl_exchange_answer(w.exchange, &heading, NULL, 0),
                         FL_E_INVALID);
    }
    watch_close(&w);
}

static void test_server_drains_a_short_body_after_an_early_answer(void **state)
{
    static watch w;
    char text[256];
    static char body[65537];

    (void)state;
    memset(body, 'x', sizeof body);
    open_server(&w, W_HEAD);
    snprintf(text, sizeof text,
             "POST / HTTP/1.1\r\n" HOST "Content-Length: %d\r\n\r\n", 65536);
    watch_feed_text(&w, text);
    assert_int_equal(w.over, 0);
    watch_feed(&w, (fl_span){body, 65535});
    watch_feed_text(&w, "xGET /2 HTTP/1.1\r\n" HOST "\r\n");
    assert_string_equal(w.text, "<POST / h|<GET /2 h|");
    assert_int_equal(w.over, 0);
    watch_close(&w);

    open_server(&w, W_HEAD);
    snprintf(text, sizeof text,
             "POST / HTTP/1.1\r\n" HOST "Content-Length: %d\r\n\r\n", 65537);
    watch_feed_text(&w, text);
    assert_int_equal(w.over, 1);
    assert_non_null(strstr(w.out, "connection: close\r\n"));
    watch_feed(&w, (fl_span){body, 65537});
    watch_feed_text(&w, "GET /2 HTTP/1.1\r\n" HOST "\r\n");
    assert_string_equal(w.text, "<POST / h|.");
    watch_close(&w);
}

static void test_server_does_not_drain_a_body_of_unknown_length(void **state)
{
    static watch w;

    (void)state;
    open_server(&w, W_HEAD);
    watch_feed_text(&w, CHUNKED);
    assert_int_equal(w.over, 1);
    assert_non_null(strstr(w.out, "connection: close\r\n"));
    watch_feed_text(&w, "1\r\nx\r\n0\r\n\r\n");
    assert_string_equal(w.text, "<POST / h|.");
    watch_close(&w);
}

static void test_server_answers_in_the_middle_of_a_body(void **state)
{
    static watch w;

    (void)state;
    open_server(&w, W_BODY);
    watch_feed_text(&w, "POST / HTTP/1.1\r\n" HOST "Content-Length: 6\r\n\r\n"
                        "abc");
    watch_feed_text(&w, "defGET /2 HTTP/1.1\r\n" HOST "\r\n");
    assert_string_equal(w.text, "<POST / h|abc<GET /2 h|>");
    watch_close(&w);
}

static void test_server_invites_a_body_that_waits(void **state)
{
    static watch w;
    const char *head = "POST / HTTP/1.1\r\n" HOST
                       "Expect: 100-Continue\r\nContent-Length: 3\r\n\r\n";

    (void)state;
    open_server(&w, W_END);
    watch_feed_text(&w, head);
    assert_string_equal(w.out, "HTTP/1.1 100 Continue\r\n\r\n");
    watch_feed_text(&w, "abc");
    assert_string_equal(w.out,
                        "HTTP/1.1 100 Continue\r\n\r\n"
                        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    assert_int_equal(w.over, 0);
    watch_close(&w);
}

static void test_server_invites_nobody_in_vain(void **state)
{
    static watch w;

    (void)state;
    open_server(&w, W_END); /* the body is here */
    watch_feed_text(&w, "POST / HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n"
                        "Content-Length: 3\r\n\r\na");
    assert_int_equal(w.out_len, 0);
    watch_close(&w);

    open_server(&w, W_END); /* there is none */
    watch_feed_text(&w, "POST / HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n"
                        "Content-Length: 0\r\n\r\n");
    assert_null(strstr(w.out, "100 Continue"));
    watch_close(&w);

    open_server(&w, W_END); /* does not know of it */
    watch_feed_text(&w, "POST / HTTP/1.0\r\nExpect: 100-continue\r\n"
                        "Content-Length: 3\r\n\r\n");
    assert_int_equal(w.out_len, 0);
    watch_close(&w);

    open_server(&w, W_HEAD); /* is turned away: will the body come or not? */
    watch_feed_text(&w, "POST / HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n"
                        "Content-Length: 3\r\n\r\n");
    assert_null(strstr(w.out, "100 Continue"));
    assert_non_null(strstr(w.out, "connection: close\r\n"));
    assert_int_equal(w.over, 1);
    watch_close(&w);
}

static void test_server_shuts_when_the_exchange_is_over(void **state)
{
    static watch w;
    const fl_heading heading = {.status = 200};

    (void)state;
    open_server(&w, W_NONE);
    fl_http_shut(w.http);
    assert_int_equal(w.over, 1);
    watch_feed_text(&w, "GET / HTTP/1.1\r\n" HOST "\r\n");
    assert_int_equal(w.begun, 0);
    watch_close(&w);

    open_server(&w, W_NONE);
    watch_feed_text(&w, "GET / HTTP/1.1\r\n" HOST "\r\n"
                        "GET /2 HTTP/1.1\r\n" HOST "\r\n");
    fl_http_shut(w.http);
    assert_int_equal(w.over, 0);
    assert_int_equal(fl_exchange_answer(w.exchange, &heading, NULL, 0), FL_OK);
    assert_non_null(strstr(w.out, "connection: close\r\n"));
    assert_int_equal(w.over, 1);
    assert_int_equal(w.held, 0);
    watch_close(&w);
}

static void test_server_loses_what_is_open(void **state)
{
    static watch w;
    const fl_error why = {FL_E_RESET, "reset"};

    (void)state;
    open_server(&w, W_NONE);
    watch_feed_text(&w, "GET / HTTP/1.1\r\n" HOST "\r\n");
    fl_http_lose(w.http, &why);
    assert_string_equal(w.text, "<GET / h|>lost");
    assert_int_equal(fl_http_open(w.http), 0);
    watch_close(&w);

    open_server(&w, W_NONE);
    watch_feed_text(&w, "POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\n");
    fl_http_end_input(w.http);
    assert_string_equal(w.text, "<POST / h|lost.");
    watch_close(&w);
}

static void test_server_bad_body_after_the_head_of_an_answer(void **state)
{
    static watch w;
    const fl_heading heading = {.status = 200, .length = FL_HTTP_STREAMED};

    (void)state;
    open_server(&w, W_NONE);
    watch_feed_text(&w, CHUNKED "1\r\nx\r\n");
    assert_int_equal(fl_exchange_respond(w.exchange, &heading), FL_OK);
    watch_feed_text(&w, "?");
    assert_string_equal(w.text, "<POST / h|xlost.");
    watch_close(&w);
}

static void fill(char *out, size_t size, const char *before, char byte,
                 size_t count, const char *after)
{
    size_t n = strlen(before);

    assert_true(n + count + strlen(after) < size);
    memcpy(out, before, n);
    memset(out + n, byte, count);
    memcpy(out + n + count, after, strlen(after) + 1);
}

static void check_limited(const fl_http_limits *limits, const char *text,
                          const char *want)
{
    plan p = {.answer_at = W_END, .limits = limits};

    chop(&reader, &p, fl_span_of(text), want);
}

static void test_server_limits_hold_at_the_limit_and_not_past_it(void **state)
{
    const fl_http_limits limits = {
        .max_head = 200, .max_target = 50, .max_fields = 3};
    const size_t around = strlen("GET / HTTP/1.1\r\n" HOST "A: \r\n\r\n");
    char text[1024];

    (void)state;
    fill(text, sizeof text, "GET / HTTP/1.1\r\n" HOST "A: ", ' ', 200 - around,
         "\r\n\r\n");
    check_limited(&limits, text, "<GET / h A=|>.");
    fill(text, sizeof text, "GET / HTTP/1.1\r\n" HOST "A: ", ' ', 201 - around,
         "\r\n\r\n");
    check_limited(&limits, text, "!431.");

    fill(text, sizeof text, "GET ", '/', 50, " HTTP/1.1\r\n" HOST "\r\n");
    check_limited(&limits, text,
                  "<GET ////////////////////////////////////////////////// h|>"
                  ".");
    fill(text, sizeof text, "GET ", '/', 51, " HTTP/1.1\r\n" HOST "\r\n");
    check_limited(&limits, text, "!414.");

    check_limited(&limits, "GET / HTTP/1.1\r\n" HOST "a:1\r\nb:2\r\n\r\n",
                  "<GET / h a=1 b=2|>.");
    check_limited(&limits,
                  "GET / HTTP/1.1\r\n" HOST "a:1\r\nb:2\r\nc:3\r\n\r\n",
                  "!431.");

    fill(text, sizeof text, "", 'M', 32, " / HTTP/1.1\r\n" HOST "\r\n");
    check_limited(&limits, text, "<MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMM / h|>.");
    fill(text, sizeof text, "", 'M', 33, " / HTTP/1.1\r\n" HOST "\r\n");
    check_limited(&limits, text, "!501.");
}

static void test_server_limits_chunk_lines_and_trailers(void **state)
{
    const fl_http_limits limits = {
        .max_head = 200, .max_target = 50, .max_fields = 3};
    char text[1024];

    (void)state;
    fill(text, sizeof text, CHUNKED "1;", 'e', 255, "\r\nx\r\n0\r\n\r\n");
    check_limited(&limits, text, "<POST / h|x>.");
    fill(text, sizeof text, CHUNKED "1;", 'e', 256, "\r\nx\r\n0\r\n\r\n");
    check_limited(&limits, text, "<POST / h|!400.");

    fill(text, sizeof text, CHUNKED "0\r\nA:", 'e', 200 - 6, "\r\n\r\n");
    check_limited(&limits, text, "<POST / h|>.");
    fill(text, sizeof text, CHUNKED "0\r\nA:", 'e', 200 - 5, "\r\n\r\n");
    check_limited(&limits, text, "<POST / h|!400.");

    check_limited(&limits, CHUNKED "0\r\na:\r\nb:\r\nc:\r\n\r\n",
                  "<POST / h|>.");
    check_limited(&limits, CHUNKED "0\r\na:\r\nb:\r\nc:\r\nd:\r\n\r\n",
                  "<POST / h|!400.");
}

static void test_server_extensions_are_limited_in_sum(void **state)
{
    static watch w;
    char chunk[300];
    unsigned sent = 0;

    (void)state;
    fill(chunk, sizeof chunk, "1;", 'e', 255, "\r\nx\r\n");
    open_server(&w, W_NONE);
    watch_feed_text(&w, CHUNKED);
    for (; w.bad == 0 && sent < 1000; sent++)
        watch_feed_text(&w, chunk);
    assert_int_equal(sent, 16 * 1024 / 256 + 1);
    watch_close(&w);
}

static void test_server_idle_connection_holds_nothing(void **state)
{
    static watch w;

    (void)state;
    open_server(&w, W_END);
    size_t idle = fl_http_memory(w.http);
    ptrdiff_t blocks = ration_live_blocks();
    watch_feed_text(&w, "GET / HTT");
    assert_true(fl_http_memory(w.http) > idle);
    watch_feed_text(&w, "P/1.1\r\n" HOST "Content-Length: 3\r\n\r\na");
    assert_true(fl_http_memory(w.http) > idle);
    watch_feed_text(&w, "bc");
    assert_int_equal(w.ended, 1);
    assert_int_equal(fl_http_memory(w.http), idle);
    assert_int_equal(ration_live_blocks(), blocks);
    watch_close(&w);
}

static void test_server_whole_requests_cost_no_allocation(void **state)
{
    static watch w;

    (void)state;
    open_server(&w, W_END);
    ration_reset();
    for (int i = 0; i < 3; i++) {
        watch_feed_text(&w, "POST / HTTP/1.1\r\n" HOST
                            "Content-Length: 3\r\n\r\nabc");
        watch_feed_text(&w, CHUNKED
                        "3\r\nabc\r\n0\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n");
    }
    assert_int_equal(w.ended, 9);
    assert_int_equal(ration_count(), 0);
    watch_close(&w);
}

/* Enough of everything to allocate in every place where we do. */
static void live_poorly(void *user)
{
    static watch w;
    static char large[3000];
    const fl_field field = {
        FL_SPAN("a"), {large, sizeof large}, FL_FIELD_OTHER};
    fl_span parts[40];

    (void)user;
    memset(large, 'v', sizeof large);
    w = (watch){.heading = {.fields = &field, .count = 1},
                .body = FL_SPAN("ok")};
    if (watch_open(&w, false, NULL) != FL_OK)
        return;
    watch_feed_text(&w, "POST / HTTP/1.1\r\n" HOST);
    watch_feed_text(&w, "Content-Length: 3\r\n\r\n");
    watch_feed_text(&w, "abcGET /2 HTTP/1.1\r\n");
    fl_heading heading = {.status = 200, .fields = &field, .count = 1};
    for (size_t i = 0; i < 40; i++)
        parts[i] = FL_SPAN("x");
    if (w.exchange != NULL && w.bad == 0 && w.over == 0) {
        fl_status rc = fl_exchange_answer(w.exchange, &heading, parts, 40);
        assert_true(rc == FL_OK || rc == FL_E_NOMEM);
        if (rc != FL_OK)
            fl_exchange_reset(w.exchange);
        watch_feed_text(&w, HOST "\r\n");
    }
    watch_close(&w);
}

static void test_server_survives_the_want_of_memory(void **state)
{
    (void)state;
    assert_true(ration_each(live_poorly, NULL) >= 5);
}

static void test_server_says_503_when_it_cannot_keep_a_head(void **state)
{
    static watch w;

    (void)state;
    open_server(&w, W_BAD);
    ration_allow(0);
    watch_feed_text(&w, "POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\n");
    ration_reset();
    assert_string_equal(w.text, "!503.");
    watch_close(&w);
}

/* A life with every event in it. */
static void live_until(watch_event event)
{
    static watch w;
    static char junk[65536 * 2];
    const fl_heading streamed = {.status = 200, .length = FL_HTTP_STREAMED};
    const fl_span part = FL_SPAN("x");

    open_server(&w, W_NONE);
    w.free_at = event;
    watch_feed_text(&w,
                    "POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\na");
    watch_feed_text(&w, "bcGET /2 HTTP/1.1\r\n" HOST "\r\n");
    watch_feed(&w, (fl_span){junk, sizeof junk});
    if (w.exchange != NULL &&
        fl_exchange_respond(w.exchange, &streamed) == FL_OK && w.http != NULL) {
        w.write_rc = FL_BUSY;
        assert_int_equal(fl_exchange_send(w.exchange, &part, 1, false),
                         FL_BUSY);
        w.write_rc = FL_OK;
        fl_http_drained(w.http);
        if (w.http != NULL)
            fl_exchange_finish(w.exchange);
    }
    watch_feed(&w, (fl_span){0});
    const fl_error why = {FL_E_RESET, "reset"};
    if (w.http != NULL && event == W_LOST)
        fl_http_lose(w.http, &why);
    w.answer_at = W_END;
    if (w.http != NULL && w.exchange != NULL)
        watch_do(&w, W_END);
    watch_feed(&w, (fl_span){0});
    w.answer_at = W_BAD;
    if (w.http != NULL && w.exchange != NULL)
        watch_do(&w, W_BAD);
    assert_null(w.http);
}

static void test_server_may_be_freed_in_every_event(void **state)
{
    static const watch_event all[] = {
        W_WRITE, W_HEAD,     W_BODY,  W_END,  W_BAD,
        W_LOST,  W_WRITABLE, W_PAUSE, W_HELD, W_OVER,
    };

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        ration_reset();
        ptrdiff_t before = ration_live_blocks();
        live_until(all[i]);
        assert_int_equal(ration_live_blocks(), before);
    }
}

static void test_server_exchange_may_be_reset_in_every_event(void **state)
{
    static const struct {
        watch_event at;
        const char *want;
    } cases[] = {
        {W_HEAD, "<POST / h|."},
        {W_BODY, "<POST / h|a."},
        {W_END, "<POST / h|abc>."},
        {W_BAD, "<POST / h|abc>!400."},
    };
    static watch w;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_server(&w, cases[i].at == W_BAD ? W_END : W_NONE);
        w.reset_at = cases[i].at;
        watch_feed_text(&w, "POST / HTTP/1.1\r\n" HOST
                            "Content-Length: 3\r\n\r\na");
        watch_feed_text(&w, "bc?");
        assert_string_equal(w.text, cases[i].want);
        assert_int_equal(fl_http_open(w.http), 0);
        watch_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_server_reads_requests),
        cmocka_unit_test(test_server_reads_chunk_extensions_and_trailers),
        cmocka_unit_test(test_server_refuses_bad_chunks),
        cmocka_unit_test(test_server_refuses_what_is_no_request),
        cmocka_unit_test(test_server_refuses_two_ways_to_read_a_length),
        cmocka_unit_test(test_server_answers_pipelined_requests_in_turn),
        cmocka_unit_test(test_server_holds_input_while_an_exchange_is_open),
        cmocka_unit_test(
            test_server_answers_held_requests_after_the_peer_ended),
        cmocka_unit_test(test_server_pauses_a_peer_that_runs_ahead),
        cmocka_unit_test(test_server_lets_the_peer_go_on_when_half_is_used),
        cmocka_unit_test(test_server_answers_in_one_write),
        cmocka_unit_test(test_server_answers_with_many_parts_and_fields),
        cmocka_unit_test(test_server_answers_each_version_in_its_way),
        cmocka_unit_test(test_server_streams_until_it_is_busy),
        cmocka_unit_test(test_server_breaks_off_an_answer_that_is_not_whole),
        cmocka_unit_test(test_server_failed_answer_can_be_made_again),
        cmocka_unit_test(test_server_cannot_be_talked_into_more_lines),
        cmocka_unit_test(test_server_refuses_a_status_that_is_none),
        cmocka_unit_test(test_server_drains_a_short_body_after_an_early_answer),
        cmocka_unit_test(test_server_does_not_drain_a_body_of_unknown_length),
        cmocka_unit_test(test_server_answers_in_the_middle_of_a_body),
        cmocka_unit_test(test_server_invites_a_body_that_waits),
        cmocka_unit_test(test_server_invites_nobody_in_vain),
        cmocka_unit_test(test_server_shuts_when_the_exchange_is_over),
        cmocka_unit_test(test_server_loses_what_is_open),
        cmocka_unit_test(test_server_bad_body_after_the_head_of_an_answer),
        cmocka_unit_test(test_server_limits_hold_at_the_limit_and_not_past_it),
        cmocka_unit_test(test_server_limits_chunk_lines_and_trailers),
        cmocka_unit_test(test_server_extensions_are_limited_in_sum),
        cmocka_unit_test(test_server_idle_connection_holds_nothing),
        cmocka_unit_test(test_server_whole_requests_cost_no_allocation),
        cmocka_unit_test(test_server_survives_the_want_of_memory),
        cmocka_unit_test(test_server_says_503_when_it_cannot_keep_a_head),
        cmocka_unit_test(test_server_may_be_freed_in_every_event),
        cmocka_unit_test(test_server_exchange_may_be_reset_in_every_event),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
