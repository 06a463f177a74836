/*
 * test_http1_client.c - a client on one HTTP/1.1 connection.
 *
 * Responses go through chop(), as requests do on the other side. The rest is
 * about when a connection may be used again, and when it must not.
 */
#include "http_watch.h"

#define OK "HTTP/1.1 200 OK\r\n"

#define GET                                                                    \
    {                                                                          \
        .method = FL_SPAN("GET"), .target = FL_SPAN("/p?q"),                   \
        .scheme = FL_SPAN("http"), .authority = FL_SPAN("h:1")                 \
    }

static fl_heading heading_of(const char *method)
{
    return (fl_heading){
        .method = fl_span_of(method),
        .target = FL_SPAN("/p?q"),
        .scheme = FL_SPAN("http"),
        .authority = FL_SPAN("h:1"),
    };
}

typedef struct plan {
    watch w;
    const char *method;
    const fl_http_limits *limits;
} plan;

static void ask(watch *w, const char *method)
{
    const fl_field field = FL_FIELD_SET(UPGRADE, FL_SPAN("x"));
    fl_heading heading = heading_of(method);

    if (strcmp(method, "UPGRADE") == 0) {
        heading.fields = &field;
        heading.count = 1;
    }
    assert_int_equal(fl_http_request(w->http, &heading, w, &w->exchange),
                     FL_OK);
    assert_ptr_equal(fl_exchange_user(w->exchange), w);
    assert_null(fl_exchange_head(w->exchange));
}

static void start(void *user)
{
    plan *p = user;

    p->w = (watch){0};
    assert_int_equal(watch_open(&p->w, true, p->limits), FL_OK);
    ask(&p->w, p->method);
}

static void piece(void *user, fl_span bytes, chop_notes *notes)
{
    plan *p = user;

    p->w.notes = notes;
    fl_http_feed(p->w.http, bytes);
}

/* "+" if the connection could be used again. */
static void end(void *user, chop_notes *notes)
{
    plan *p = user;

    p->w.notes = notes;
    if (fl_http_available(p->w.http))
        chop_note(notes, "+");
    fl_http_end_input(p->w.http);
    assert_false(fl_http_available(p->w.http));
    watch_close(&p->w);
}

static const chop_reader reader = {start, piece, end};

static void check_method(const char *method, const char *text, const char *want)
{
    plan p = {.method = method};

    chop(&reader, &p, fl_span_of(text), want);
}

static void check(const char *text, const char *want)
{
    check_method("GET", text, want);
}

static void test_client_reads_responses(void **state)
{
    (void)state;
    check("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "<200|abc>+.");
    check("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "<200|>+.");
    check("HTTP/1.1 200 \r\nA: b\r\nContent-Length: 0\r\n\r\n", "<200 A=b|>+.");
    check("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "<200|>+.");
    check("HTTP/1.1 200 \xc3\xa9\t!\r\nContent-Length: 0\r\n\r\n", "<200|>+.");
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
          "3\r\nabc\r\n0\r\nT: x\r\n\r\n",
          "<200|abc>+.");
    check("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na",
          "<200|a>.");
    check("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", "<200|a>.");
    check("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n"
          "\r\na",
          "<200|a>+.");
    check("HTTP/1.1 200 OK\r\n\r\nuntil the end", "<200|until the end>.");
    check("HTTP/1.1 204 No\r\n\r\n", "<204|>+.");
    check("HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n", "<204|>+.");
    check("HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n", "<304|>+.");
    check("HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n", "<999|>+.");
    check_method("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
                 "<200|>+.");
    check_method("HEAD",
                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                 "<200|>+.");
}

static void test_client_skips_interim_responses(void **state)
{
    (void)state;
    check("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\n"
          "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
          "<200|>+.");
    check("HTTP/1.1 100 C\r\nContent-Length: 1\r\n\r\n", "lost.");
    check("HTTP/1.0 100 C\r\n\r\n", "lost.");
    check("HTTP/1.1 100 C\r\nTransfer-Encoding: chunked\r\n\r\n", "lost.");
}

static void test_client_skips_ten_interims_and_no_more(void **state)
{
#define INTERIM "HTTP/1.1 102 P\r\n\r\n"
#define FIVE INTERIM INTERIM INTERIM INTERIM INTERIM
    (void)state;
    check(FIVE FIVE "HTTP/1.1 204 N\r\n\r\n", "<204|>+.");
    check(FIVE FIVE INTERIM "HTTP/1.1 204 N\r\n\r\n", "lost.");
}

static void test_client_hands_over_what_is_no_longer_http(void **state)
{
    (void)state;
    check("HTTP/1.1 101 S\r\nUpgrade: x\r\n\r\nanything", "lost.");
    check_method("UPGRADE", "HTTP/1.1 101 S\r\nUpgrade: x\r\n\r\nanything",
                 "<101|>anything.");
    check_method("UPGRADE", "HTTP/1.1 101 S\r\nContent-Length: 1\r\n\r\na",
                 "lost.");
    check_method("CONNECT", "HTTP/1.1 200 OK\r\n\r\n\x16\x03\x01",
                 "<200|>\x16\x03\x01.");
    check_method("CONNECT", "HTTP/1.1 407 No\r\nContent-Length: 1\r\n\r\na",
                 "<407|a>+.");
}

static void test_client_refuses_what_is_no_response(void **state)
{
    static const char *const bad[] = {
        "\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.2 200 OK\r\n\r\n",
        "HTTP/1.1  200 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 -20 OK\r\n\r\n",
        "HTTP/1.1 200 O\x01K\r\n\r\n",
        "HTTP/1.1 200 OK\n\r\n",
        "HTTP/1.1 200 OK\r\r\n\r\n",
        "ICY 200 OK\r\n\r\n",
        "<html>",
        "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
        "HTTP/1.1 200 OK\r\n A: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\rC: d\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
        "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\na",
        "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\na",
        OK "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nLocation: a\r\nLocation: b\r\n\r\n",
        "HTTP/1.1 204 N\r\nContent-Length: 1\r\n\r\na",
        "HTTP/1.1 204 N\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check(bad[i], "lost.");
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab",
          "<200|alost.");
}

static void test_client_loses_a_response_that_breaks_off(void **state)
{
    (void)state;
    check("", "lost.");
    check("HTTP/1.1 200 OK\r\nContent-Le", "lost.");
    check("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", "<200|ablost.");
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n",
          "<200|alost.");
}

static void test_client_limits_hold_at_the_limit_and_not_past_it(void **state)
{
    const char *exact = "HTTP/1.1 204 N\r\nA: bbbbbbbbbb\r\n\r\n";
    fl_http_limits limits = {.max_head = strlen(exact)};
    plan p = {.method = "GET", .limits = &limits};

    (void)state;
    chop(&reader, &p, fl_span_of(exact), "<204 A=bbbbbbbbbb|>+.");
    limits.max_head--;
    chop(&reader, &p, fl_span_of(exact), "lost.");
    limits = (fl_http_limits){.max_fields = 2};
    chop(&reader, &p, FL_SPAN("HTTP/1.1 204 N\r\nA: b\r\nC: d\r\n\r\n"),
         "<204 A=b C=d|>+.");
    chop(&reader, &p, FL_SPAN("HTTP/1.1 204 N\r\nA: b\r\nC: d\r\nE:\r\n\r\n"),
         "lost.");
}

static void open_client(watch *w)
{
    *w = (watch){0};
    assert_int_equal(watch_open(w, true, NULL), FL_OK);
}

static void test_client_asks_in_one_write(void **state)
{
    static watch w;
    const fl_field agent = {FL_SPAN("user-agent"), FL_SPAN("x"), 0};
    const fl_field accept = FL_FIELD_SET(ACCEPT, FL_SPAN("a/b"));
    fl_heading heading = heading_of("POST");
    const fl_span body = FL_SPAN("abc");
    fl_fields common, own;

    (void)state;
    assert_int_equal(fl_fields_init(&common, &agent, 1), FL_OK);
    assert_int_equal(fl_fields_init(&own, &accept, 1), FL_OK);
    heading.common = &common;
    heading.own = &own;
    open_client(&w);
    assert_int_equal(fl_http_ask(w.http, &heading, body, &w, &w.exchange),
                     FL_OK);
    assert_int_equal(w.writes, 1);
    assert_string_equal(w.out, "POST /p?q HTTP/1.1\r\nhost: h:1\r\n"
                               "user-agent: x\r\naccept: a/b\r\n"
                               "content-length: 3\r\n\r\nabc");
    assert_int_equal(fl_exchange_send(w.exchange, &body, 1, false), FL_E_STATE);
    assert_false(fl_http_available(w.http));
    fl_http_feed(w.http,
                 FL_SPAN("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
    assert_int_equal(w.ended, 1);
    assert_true(fl_http_available(w.http)); /* our message was whole */
    watch_close(&w);
    fl_fields_deinit(&common);
    fl_fields_deinit(&own);
}

static void test_client_writes_requests(void **state)
{
    static watch w;
    const fl_field shared[] = {{FL_SPAN("user-agent"), FL_SPAN("x"), 0}};
    const fl_field own[] = {FL_FIELD_SET(ACCEPT, FL_SPAN("a/b"))};
    fl_heading heading = heading_of("GET");
    fl_fields common;
    const fl_span body = FL_SPAN("abc");

    (void)state;
    assert_int_equal(fl_fields_init(&common, shared, 1), FL_OK);
    heading.common = &common;
    heading.fields = own;
    heading.count = 1;
    open_client(&w);
    assert_true(fl_http_available(w.http));
    assert_int_equal(fl_http_request(w.http, &heading, NULL, &w.exchange),
                     FL_OK);
    assert_false(fl_http_available(w.http));
    assert_int_equal(w.writes, 1);
    assert_string_equal(w.out, "GET /p?q HTTP/1.1\r\nhost: h:1\r\n"
                               "user-agent: x\r\naccept: a/b\r\n\r\n");
    assert_int_equal(fl_exchange_send(w.exchange, &body, 1, false), FL_E_STATE);
    watch_close(&w);

    heading = heading_of("POST");
    heading.close = true;
    open_client(&w);
    assert_int_equal(fl_http_request(w.http, &heading, NULL, &w.exchange),
                     FL_OK);
    assert_string_equal(w.out,
                        "POST /p?q HTTP/1.1\r\nhost: h:1\r\n"
                        "content-length: 0\r\nconnection: close\r\n\r\n");
    watch_close(&w);
    fl_fields_deinit(&common);
}

static void test_client_sends_bodies(void **state)
{
    static watch w;
    fl_heading heading = heading_of("POST");
    const fl_span body = FL_SPAN("abc");

    (void)state;
    heading.length = 3;
    open_client(&w);
    assert_int_equal(fl_http_request(w.http, &heading, NULL, &w.exchange),
                     FL_OK);
    w.write_rc = FL_BUSY;
    assert_int_equal(fl_exchange_send(w.exchange, &body, 1, false), FL_BUSY);
    w.write_rc = FL_OK;
    fl_http_drained(w.http);
    assert_string_equal(w.text, "writable");
    assert_int_equal(fl_exchange_send(w.exchange, &body, 1, false), FL_OK);
    assert_int_equal(fl_exchange_send(w.exchange, &body, 1, false),
                     FL_E_INVALID);
    fl_exchange_finish(w.exchange);
    assert_string_equal(w.out, "POST /p?q HTTP/1.1\r\nhost: h:1\r\n"
                               "content-length: 3\r\n\r\nabc");
    watch_close(&w);

    heading.length = FL_HTTP_STREAMED;
    open_client(&w);
    assert_int_equal(fl_http_request(w.http, &heading, NULL, &w.exchange),
                     FL_OK);
    assert_int_equal(fl_exchange_send(w.exchange, &body, 1, false), FL_OK);
    fl_exchange_finish(w.exchange);
    assert_string_equal(w.out, "POST /p?q HTTP/1.1\r\nhost: h:1\r\n"
                               "transfer-encoding: chunked\r\n\r\n"
                               "3\r\nabc\r\n0\r\n\r\n");
    watch_close(&w);
}

static void test_client_says_upgrade_where_it_asks_for_one(void **state)
{
    static watch w;
    const fl_field own[] = {FL_FIELD_SET(UPGRADE, FL_SPAN("websocket"))};
    fl_heading heading = heading_of("GET");

    (void)state;
    heading.fields = own;
    heading.count = 1;
    open_client(&w);
    assert_int_equal(fl_http_request(w.http, &heading, NULL, &w.exchange),
                     FL_OK);
    assert_non_null(strstr(w.out, "upgrade: websocket\r\n"
                                  "connection: upgrade\r\n\r\n"));
    watch_close(&w);
}

static void test_client_cannot_be_talked_into_more_lines(void **state)
{
    static watch w;
    const fl_field fields[] = {
        {FL_SPAN("a"), FL_SPAN("b\r\nc: d"), FL_FIELD_OTHER},
        {FL_SPAN("host"), FL_SPAN("x"), FL_FIELD_HOST},
        {FL_SPAN("content-length"), FL_SPAN("1"), FL_FIELD_OTHER},
    };
    const fl_heading good = GET;

    (void)state;
    open_client(&w);
    for (size_t i = 0; i < 8; i++) {
        fl_heading heading = good;
        if (i < 3) {
            heading.fields = &fields[i];
            heading.count = 1;
        }
        if (i == 3)
            heading.target = FL_SPAN("/ HTTP/1.1\r\na: b\r\n\r\nGET /");
        if (i == 4)
            heading.target = FL_SPAN("");
        if (i == 5)
            heading.authority = FL_SPAN("h\r\na: b");
        if (i == 6)
            heading.method = FL_SPAN("GET / HTTP/1.1\r\nX:");
        if (i == 7)
            heading.method = FL_SPAN("");
        assert_int_equal(fl_http_request(w.http, &heading, NULL, &w.exchange),
                         FL_E_INVALID);
        assert_null(w.exchange);
    }
    assert_int_equal(w.writes, 0);
    assert_true(fl_http_available(w.http));
    watch_close(&w);
}

static void test_client_has_one_exchange_at_a_time(void **state)
{
    static watch w;
    fl_heading heading = heading_of("GET");
    fl_exchange *second;

    (void)state;
    open_client(&w);
    ask(&w, "GET");
    assert_int_equal(fl_http_request(w.http, &heading, NULL, &second), FL_BUSY);
    watch_feed_text(&w, "HTTP/1.1 204 N\r\n\r\n");
    assert_int_equal(fl_http_open(w.http), 0);
    ask(&w, "GET");
    watch_feed_text(&w, "HTTP/1.1 204 N\r\nConnection: close\r\n\r\n");
    assert_int_equal(w.over, 1);
    assert_int_equal(fl_http_request(w.http, &heading, NULL, &second),
                     FL_E_STATE);
    watch_close(&w);
}

static void test_client_failed_request_leaves_it_available(void **state)
{
    static watch w;
    fl_heading heading = heading_of("GET");

    (void)state;
    open_client(&w);
    w.write_rc = FL_E_NOMEM;
    assert_int_equal(fl_http_request(w.http, &heading, NULL, &w.exchange),
                     FL_E_NOMEM);
    assert_null(w.exchange);
    assert_true(fl_http_available(w.http));
    watch_close(&w);
}

/* Asks again from within on_end, and looks at the old exchange after that. */
static void ask_again(fl_exchange *exchange, void *user)
{
    watch *w = user;
    const fl_heading heading = GET;
    fl_exchange *next;

    w->ended++;
    assert_true(fl_http_available(w->http));
    assert_int_equal(fl_http_request(w->http, &heading, NULL, &next), FL_OK);
    assert_ptr_not_equal(next, exchange);
    assert_ptr_equal(fl_exchange_user(exchange), w);
    assert_int_equal(fl_exchange_head(exchange)->status, 204);
    assert_null(fl_exchange_head(next));
    fl_exchange_set_user(next, w);
}

static void test_client_may_ask_again_when_a_response_is_whole(void **state)
{
    static watch w;
    fl_http_events events = watch_events;
    const fl_http_options options = {
        .version = 11, .client = true, .events = &events, .user = &w};

    (void)state;
    events.on_end = ask_again;
    w = (watch){0};
    assert_int_equal(fl_http_new(&options, &w.http), FL_OK);
    ask(&w, "GET");
    for (unsigned i = 1; i <= 3; i++) {
        watch_feed_text(&w, "HTTP/1.1 204 N\r\n");
        watch_feed_text(&w, "\r\n");
        assert_int_equal(w.ended, i);
        assert_int_equal(fl_http_open(w.http), 1);
    }
    watch_close(&w);
}

/* A byte that nobody asked for would answer the next request. */
static void test_client_leaves_a_connection_that_says_too_much(void **state)
{
    static watch w;

    (void)state;
    open_client(&w);
    ask(&w, "GET");
    watch_feed_text(&w, "HTTP/1.1 204 N\r\n\r\nHTTP/1.1 200 OK\r\n\r\nevil");
    assert_string_equal(w.text, "<204|>.");
    assert_false(fl_http_available(w.http));
    watch_close(&w);

    open_client(&w);
    watch_feed_text(&w, "H");
    assert_string_equal(w.text, ".");
    assert_false(fl_http_available(w.http));
    watch_close(&w);
}

static void test_client_does_not_go_on_after_half_a_request(void **state)
{
    static watch w;
    fl_heading heading = heading_of("POST");

    (void)state;
    heading.length = 3;
    open_client(&w);
    assert_int_equal(fl_http_request(w.http, &heading, &w, &w.exchange), FL_OK);
    watch_feed_text(&w, "HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n");
    assert_string_equal(w.text, "<413|>.");
    assert_false(fl_http_available(w.http));
    watch_close(&w);

    open_client(&w);
    assert_int_equal(fl_http_request(w.http, &heading, &w, &w.exchange), FL_OK);
    fl_exchange_finish(w.exchange); /* nothing of it was sent */
    assert_string_equal(w.text, ".");
    assert_false(fl_http_available(w.http));
    watch_close(&w);
}

static void test_client_loses_what_is_open(void **state)
{
    static watch w;
    const fl_error why = {FL_E_RESET, "reset"};

    (void)state;
    open_client(&w);
    ask(&w, "GET");
    fl_http_lose(w.http, &why);
    assert_string_equal(w.text, "lost");
    assert_false(fl_http_available(w.http));
    fl_http_shut(w.http);
    watch_close(&w);

    open_client(&w);
    ask(&w, "GET");
    fl_exchange_reset(w.exchange);
    assert_string_equal(w.text, ".");
    assert_int_equal(fl_http_open(w.http), 0);
    watch_close(&w);
}

static void test_client_idle_connection_holds_nothing(void **state)
{
    static watch w;

    (void)state;
    open_client(&w);
    size_t idle = fl_http_memory(w.http);
    ration_reset();
    ask(&w, "GET");
    watch_feed_text(&w, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na");
    assert_int_equal(ration_count(), 0);
    ask(&w, "GET");
    watch_feed_text(&w, "HTTP/1.1 200 O");
    watch_feed_text(&w, "K\r\nContent-Length: 1\r\n\r\n");
    assert_true(fl_http_memory(w.http) > idle);
    watch_feed_text(&w, "a");
    assert_int_equal(fl_http_memory(w.http), idle);
    watch_close(&w);
}

static void live_poorly(void *user)
{
    static watch w;
    static char large[3000];
    const fl_field field = {
        FL_SPAN("a"), {large, sizeof large}, FL_FIELD_OTHER};
    fl_heading heading = GET;

    (void)user;
    memset(large, 'v', sizeof large);
    heading.fields = &field;
    heading.count = 1;
    w = (watch){0};
    if (watch_open(&w, true, NULL) != FL_OK)
        return;
    fl_status rc = fl_http_request(w.http, &heading, &w, &w.exchange);
    assert_true(rc == FL_OK || rc == FL_E_NOMEM);
    if (rc == FL_OK) {
        watch_feed_text(&w, "HTTP/1.1 200 O");
        watch_feed_text(&w, "K\r\nContent-Length: 1\r\n\r\n");
        watch_feed_text(&w, "a");
        assert_int_equal(w.ended + w.lost, 1);
    }
    watch_close(&w);
}

static void test_client_survives_the_want_of_memory(void **state)
{
    (void)state;
    assert_int_equal(ration_each(live_poorly, NULL), 6);
}

static void live_until(watch_event event)
{
    static watch w;
    const fl_error why = {FL_E_RESET, "reset"};

    open_client(&w);
    ask(&w, "GET");
    w.free_at = event;
    watch_feed_text(&w, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na");
    if (w.http != NULL && event == W_LOST)
        fl_http_lose(w.http, &why);
    watch_feed_text(&w, "bcX");
    assert_null(w.http);
}

static void test_client_may_be_freed_in_every_event(void **state)
{
    static const watch_event all[] = {W_HEAD, W_BODY, W_END, W_LOST, W_OVER};

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        ration_reset();
        ptrdiff_t before = ration_live_blocks();
        live_until(all[i]);
        assert_int_equal(ration_live_blocks(), before);
    }
}

static void test_client_may_be_freed_in_a_write(void **state)
{
    static watch w;
    const fl_heading heading = GET;
    fl_exchange *exchange;

    (void)state;
    open_client(&w);
    w.free_at = W_WRITE;
    assert_int_equal(fl_http_request(w.http, &heading, NULL, &exchange), FL_OK);
    assert_null(w.http);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_client_reads_responses),
        cmocka_unit_test(test_client_skips_interim_responses),
        cmocka_unit_test(test_client_skips_ten_interims_and_no_more),
        cmocka_unit_test(test_client_hands_over_what_is_no_longer_http),
        cmocka_unit_test(test_client_refuses_what_is_no_response),
        cmocka_unit_test(test_client_loses_a_response_that_breaks_off),
        cmocka_unit_test(test_client_limits_hold_at_the_limit_and_not_past_it),
        cmocka_unit_test(test_client_asks_in_one_write),
        cmocka_unit_test(test_client_writes_requests),
        cmocka_unit_test(test_client_sends_bodies),
        cmocka_unit_test(test_client_says_upgrade_where_it_asks_for_one),
        cmocka_unit_test(test_client_cannot_be_talked_into_more_lines),
        cmocka_unit_test(test_client_has_one_exchange_at_a_time),
        cmocka_unit_test(test_client_failed_request_leaves_it_available),
        cmocka_unit_test(test_client_may_ask_again_when_a_response_is_whole),
        cmocka_unit_test(test_client_leaves_a_connection_that_says_too_much),
        cmocka_unit_test(test_client_does_not_go_on_after_half_a_request),
        cmocka_unit_test(test_client_loses_what_is_open),
        cmocka_unit_test(test_client_idle_connection_holds_nothing),
        cmocka_unit_test(test_client_survives_the_want_of_memory),
        cmocka_unit_test(test_client_may_be_freed_in_every_event),
        cmocka_unit_test(test_client_may_be_freed_in_a_write),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
