/*
 * fuzz_http2_nghttp2.c - whatever we take, nghttp2 takes in the same way; and
 * whatever we say, it understands.
 *
 * The input is a client's frames, after a good greeting. They go to our server
 * and to one of nghttp2's, one frame at a time, and each answers what is whole.
 * A request that we have whole nghttp2 must have whole, too, with the same
 * fields and the same body; and what ends the connection for nghttp2 must be an
 * error for us. We may refuse more. A client of nghttp2's gets what ours says:
 * it is told of the same requests, settings and windows first, and then may
 * find no fault. In the end ours reads everything again, cut in another way,
 * and must have seen the same.
 *
 * We are laxer, on purpose, with a Content-Length in trailers and with what
 * is_forgiven() says (both in oracle.c), and with a GOAWAY: see is_ignored().
 *
 * The first byte says how it is cut (bits 5 to 7, as in fuzz_http2.c, whose
 * seeds are good here) and how requests are answered.
 */
#include "oracle.h"

#include "base/span.h"
#include "wire/http2_impl.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUT_MAX = 1024 * 1024 };

/* The preface, SETTINGS, and an ACK of ours. */
static const fl_span greeting = FL_SPAN("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                                        "\0\0\0\x04\0\0\0\0\0"
                                        "\0\0\0\x04\x01\0\0\0\0");

/* Our server. */
typedef struct ours {
    unsigned how;
    fl_http *http;
    view seen;
    bool over;
    fl_buf out;
    uint32_t opened; /* by the last event; 0: nothing was */
    bool is_head;    /* and its method is HEAD */
} ours;

static fl_status our_write(void *user, const fl_span *parts, size_t count,
                           bool urgent)
{
    ours *o = user;

    (void)urgent;
    for (size_t i = 0; i < count; i++)
        require(fl_buf_append(&o->out, parts[i]) == FL_OK);
    return FL_OK;
}

static void answer(const ours *o, fl_exchange *exchange, unsigned status)
{
    const fl_heading heading = {.status = status};
    const fl_span text = FL_SPAN(BODY_TEXT);

    require(fl_exchange_answer(exchange, &heading, &text,
                               (o->how & WITH_BODY) != 0) == FL_OK);
}

static void note_open(ours *o, const fl_exchange *exchange)
{
    const fl_http2_stream *stream = (const void *)exchange;

    o->opened = stream->id;
    o->is_head = stream->is_head;
}

static void our_head(fl_exchange *exchange, const fl_head *head, void *user)
{
    ours *o = user;

    note_open(o, exchange);
    message *r = view_begin(&o->seen, o->opened);
    message_add(r, METHOD, head->method);
    message_add(r, PATH, head->target);
    message_add(r, AUTHORITY, head->authority);
    if (head->protocol.len > 0)
        message_add(r, PROTOCOL, head->protocol);
    for (size_t i = 0; i < head->count; i++) {
        message_add(r, FIELDS, head->fields[i].name);
        message_add(r, FIELDS, head->fields[i].value);
    }
    fl_exchange_set_user(exchange, r);
}

static void our_body(fl_exchange *exchange, fl_span bytes, void *user)
{
    (void)user;
    message_mix(fl_exchange_user(exchange), BODY, bytes);
}

static void our_end(fl_exchange *exchange, void *user)
{
    message *r = fl_exchange_user(exchange);
    const ours *o = user;

    r->whole = true;
    if (is_answered(o->how, r->id))
        answer(o, exchange, 200);
}

static void our_bad(fl_exchange *exchange, unsigned status, const char *what,
                    void *user)
{
    (void)what;
    note_open(user, exchange);
    answer(user, exchange, status);
}

static void our_lost(fl_exchange *exchange, const fl_error *why, void *user)
{
    (void)exchange;
    (void)why;
    (void)user;
}

static void our_over(void *user)
{
    ((ours *)user)->over = true;
}

static const fl_http_events events = {
    .write = our_write,
    .on_head = our_head,
    .on_body = our_body,
    .on_end = our_end,
    .on_bad = our_bad,
    .on_lost = our_lost,
    .on_over = our_over,
};

static void open_ours(ours *o, const fl_http_limits *limits)
{
    const fl_http_options options = {
        .version = 20, .limits = limits, .events = &events, .user = o};

    fl_buf_init(&o->out, OUT_MAX);
    require(fl_http_new(&options, &o->http) == FL_OK);
}

static void close_ours(ours *o)
{
    fl_http_free(o->http);
    fl_buf_reset(&o->out);
}

typedef struct trial {
    ours ours;
    oracle_judge theirs;
    oracle_listener listener;
} trial;

/* What ours has said since the last time. */
static void hear_ours(trial *t)
{
    ours *o = &t->ours;

    if (o->opened != 0)
        oracle_listener_ask(&t->listener, o->opened, o->is_head);
    o->opened = 0;
    oracle_listener_hear(&t->listener, fl_buf_view(&o->out));
    fl_buf_reset(&o->out);
}

/* And a GOAWAY that names a stream of ours: a server has none, so it does not
 * matter which (RFC 9113 6.8 binds who sends it). */
static bool is_ignored(fl_span bytes)
{
    fl_http2_frame frame = fl_http2_get_head(bytes.ptr);
    fl_span payload = fl_span_from(bytes, FL_HTTP2_HEAD);

    return is_forgiven(&frame, payload) ||
           (frame.type == FL_HTTP2_GOAWAY && payload.len >= 4 &&
            fl_http2_get31(payload.ptr) != 0);
}

/* False: the connection has ended, for one of them at least. We judge a head
 * when it is whole, whatever was wrong with its beginning. */
static bool step(trial *t, fl_span bytes)
{
    fl_http2_frame frame = fl_http2_get_head(bytes.ptr);
    fl_span payload = fl_span_from(bytes, FL_HTTP2_HEAD);
    bool is_whole = payload.len == frame.length;

    oracle_judge_feed(&t->theirs, bytes);
    feed_ours(t->ours.http, bytes, SIZE_MAX);
    if (is_whole)
        oracle_listener_send(&t->listener, &frame, payload);
    hear_ours(t);
    require(t->ours.over || t->listener.settings == 0);
    if (t->ours.over || !t->theirs.over)
        return !t->ours.over;
    if (!is_whole || fl_http_in_head(t->ours.http))
        return true;
    /* For us the stream alone has ended, now or before: then what comes for it
     * may have crossed with our RST_STREAM (RFC 9113 5.1), and is dropped. */
    require(oracle_listener_lost(&t->listener, frame.stream));
    return false;
}

static void greet(trial *t)
{
    oracle_judge_feed(&t->theirs, greeting);
    feed_ours(t->ours.http, greeting, SIZE_MAX);
    hear_ours(t);
}

/* Says how many bytes ours has been fed. */
static size_t run(trial *t, fl_span in)
{
    size_t fed = 0;
    bool goes_on = true;

    while (goes_on && in.len - fed >= FL_HTTP2_HEAD) {
        fl_span frame = first_frame(fl_span_from(in, fed));
        if (is_ignored(frame))
            break;
        goes_on = step(t, frame);
        fed += frame.len;
    }
    view_compare(&t->ours.seen, &t->theirs.seen);
    return fed;
}

/* However the bytes are cut, they say the same: unless what waits for a window
 * keeps a stream open, for that leaves when all that was fed is read. */
static void run_again(trial *t, const fl_http_limits *limits, fl_span in)
{
    unsigned how = t->ours.how;
    ours again = {.how = how};

    open_ours(&again, limits);
    feed_ours(again.http, greeting, SIZE_MAX);
    feed_ours(again.http, in, piece_of(how));
    require(again.over == t->ours.over);
    view_compare(&again.seen, &t->ours.seen);
    view_compare(&t->ours.seen, &again.seen);
    close_ours(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned how = size > 0 ? data[0] : 0;
    const fl_http_limits limits = fl_http_limits_fill(
        &(fl_http_limits){.max_resets = PLENTY,
                          .max_control = PLENTY,
                          .take_connect = (how & WITH_CONNECT) != 0});
    trial t = {.ours.how = how, .theirs.how = how};

    if (size < 2 || size > INPUT_MAX)
        return 0;
    open_ours(&t.ours, &limits);
    oracle_server_open(&t.theirs, &limits);
    oracle_listener_open(&t.listener, false, (fl_span){0});
    greet(&t);
    fl_span in = {(const char *)data + 1, size - 1};
    in.len = run(&t, in);
    if ((how & WITH_BODY) == 0)
        run_again(&t, &limits, in);
    close_ours(&t.ours);
    nghttp2_session_del(t.theirs.session);
    nghttp2_session_del(t.listener.session);
    return 0;
}
