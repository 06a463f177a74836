/*
 * ws-echo-client.c - ws-echo-client PORT: a WebSocket client that says back
 * what it hears, for the Autobahn test suite.
 *
 * /getCaseCount has one text message, a number N; then each /runCase?case=n
 * is opened in turn and echoed until it is closed; last /updateReports has
 * the suite write down what it saw. The next connection is made when the one
 * before is gone.
 */
#include "ws_echo.h"

#include "base/random.h"
#include "base/span.h"
#include "io/connect.h"
#include "wire/ws_handshake.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX = 64 * 1024 * 1024, FLUSH_MS = 1000, ANSWER_MAX = 4096, USAGE = 2 };

typedef struct run {
    ws_shop shop;
    uint16_t port;
    char host[32];
    char target[64];
    char accept[FL_WS_ACCEPT];
    unsigned now, count; /* cases; 0: they are being counted */
    bool counted;
    bool failed;
    fl_stream *stream;
    fl_http *http;
    ws_echo echo;
    bool open; /* it is a WebSocket now */
    bool closing;
} run;

static void connect_next(run *r);

static fl_status write_out(void *user, const fl_span *parts, size_t count,
                           bool urgent)
{
    run *r = user;

    return urgent ? fl_stream_write_urgent(r->stream, parts, count)
                  : fl_stream_write(r->stream, parts, count);
}

static void leave(run *r, const char *why)
{
    if (why != NULL) {
        fprintf(stderr, "%s: %s\n", r->target, why);
        r->failed = true;
    }
    if (!r->closing)
        fl_stream_close_after_flush(r->stream, FLUSH_MS);
    r->closing = true;
}

static void count_cases(void *user, fl_span message)
{
    run *r = user;
    char digits[16];

    snprintf(digits, sizeof digits, "%.*s", (int)message.len, message.ptr);
    r->count = (unsigned)strtoul(digits, NULL, 10);
    r->counted = true;
}

static const char *settle(run *r, const fl_head *head, fl_ws_agreed *agreed)
{
    fl_span protocol;
    fl_buf answer;
    const char *what =
        fl_ws_check_response(head, fl_span_of(r->accept), NULL, &protocol);

    if (what != NULL)
        return what;
    fl_buf_init(&answer, ANSWER_MAX);
    if (fl_ws_join(head, FL_FIELD_SEC_WEBSOCKET_EXTENSIONS, &answer) != FL_OK)
        what = "no memory";
    else if (fl_ws_settle(fl_buf_view(&answer), &r->shop.policy, agreed,
                          &what) == FL_OK)
        what = NULL;
    fl_buf_reset(&answer);
    return what;
}

static void on_head(fl_exchange *exchange, const fl_head *head, void *user)
{
    (void)exchange;
    (void)head;
    (void)user;
}

static void on_body(fl_exchange *exchange, fl_span bytes, void *user)
{
    (void)exchange;
    (void)bytes;
    (void)user;
}

static void on_end(fl_exchange *exchange, void *user)
{
    const fl_head *head = fl_exchange_head(exchange);
    run *r = user;
    fl_ws_agreed agreed = {0};
    const char *what =
        head->status == 101 ? settle(r, head, &agreed) : "the answer is no 101";

    if (what == NULL && !ws_echo_begin(&r->echo, &r->shop, r->stream, &agreed))
        what = "no memory";
    r->open = what == NULL;
    if (what != NULL)
        leave(r, what);
}

static void on_rest(fl_span bytes, void *user)
{
    run *r = user;

    if (r->open)
        ws_echo_feed(&r->echo, bytes);
}

static void on_lost(fl_exchange *exchange, const fl_error *why, void *user)
{
    (void)exchange;
    leave(user, why->text);
}

static void on_over(void *user)
{
    leave(user, NULL);
}

static const fl_http_events http_events = {
    .write = write_out,
    .on_head = on_head,
    .on_body = on_body,
    .on_end = on_end,
    .on_rest = on_rest,
    .on_lost = on_lost,
    .on_over = on_over,
};

static fl_status ask(run *r)
{
    unsigned char random[16];
    char key[FL_WS_KEY];
    fl_exchange *exchange;
    fl_status rc = fl_random_bytes(random, sizeof random);

    if (rc != FL_OK)
        return rc;
    fl_ws_key_text(random, key);
    if (!ws_echo_accept(fl_span_of(key), r->accept))
        return FL_E_UNSUPPORTED;
    const fl_field fields[] = {
        FL_FIELD_SET(UPGRADE, FL_SPAN("websocket")),
        FL_FIELD_SET(SEC_WEBSOCKET_VERSION, FL_SPAN("13")),
        FL_FIELD_SET(SEC_WEBSOCKET_KEY, fl_span_of(key)),
        FL_FIELD_SET(SEC_WEBSOCKET_EXTENSIONS, fl_ws_offer(&r->shop.policy)),
    };
    return fl_http_request(r->http,
                           &(fl_heading){.method = FL_SPAN("GET"),
                                         .target = fl_span_of(r->target),
                                         .scheme = FL_SPAN("http"),
                                         .authority = fl_span_of(r->host),
                                         .fields = fields,
                                         .count = 4},
                           r, &exchange);
}

static void on_open(void *user)
{
    run *r = user;
    const fl_http_options options = {
        .version = 11, .client = true, .events = &http_events, .user = r};

    if (fl_http_new(&options, &r->http) != FL_OK || ask(r) != FL_OK)
        leave(r, "cannot ask");
}

static void on_data(void *user, fl_span bytes)
{
    fl_http_feed(((run *)user)->http, bytes);
}

static void on_end_of_input(void *user, const fl_error *why)
{
    leave(user, why->text);
}

static void on_closed(void *user)
{
    run *r = user;

    fl_http_free(r->http);
    r->http = NULL;
    r->stream = NULL;
    connect_next(r);
}

static const fl_stream_events stream_events = {
    .on_open = on_open,
    .on_data = on_data,
    .on_end = on_end_of_input,
    .on_closed = on_closed,
};

/* False: that was all. */
static bool choose_target(run *r)
{
    if (r->now == 0)
        snprintf(r->target, sizeof r->target, "/getCaseCount");
    else if (r->now <= r->count)
        snprintf(r->target, sizeof r->target, "/runCase?case=%u&agent=fairlead",
                 r->now);
    else if (r->now == r->count + 1 && r->counted)
        snprintf(r->target, sizeof r->target, "/updateReports?agent=fairlead");
    else
        return false;
    r->now++;
    return true;
}

static void connect_next(run *r)
{
    const fl_connect_options options = {
        .host = "127.0.0.1", .port = r->port, .limits = r->shop.limits};

    if (!choose_target(r))
        return;
    r->echo = (ws_echo){
        .take = r->now == 1 ? count_cases : NULL, .gone = on_closed, .user = r};
    r->open = r->closing = false;
    if (fl_connect(r->shop.loop, &options, &r->stream) != FL_OK) {
        r->failed = true;
        return;
    }
    if (fl_stream_start(r->stream, &stream_events, r) == FL_OK)
        on_open(r);
}

int main(int argc, char **argv)
{
    static run r;

    if (argc != 2) {
        fprintf(stderr, "usage: ws-echo-client PORT\n");
        return USAGE;
    }
    r.port = (uint16_t)strtoul(argv[1], NULL, 10);
    snprintf(r.host, sizeof r.host, "127.0.0.1:%u", r.port);
    if (!ws_shop_init(&r.shop, true, MAX)) {
        fprintf(stderr, "no memory\n");
        return 1;
    }
    connect_next(&r);
    fl_loop_run(r.shop.loop);
    ws_shop_deinit(&r.shop);
    return r.failed || !r.counted ? 1 : 0;
}
