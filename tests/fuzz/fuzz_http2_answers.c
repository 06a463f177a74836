/*
 * fuzz_http2_answers.c - whatever answer we take, nghttp2 takes in the same
 * way; and whatever we ask, it understands.
 *
 * The mirror of fuzz_http2_nghttp2.c: the input is a server's frames, after a
 * good greeting. They go to our client and to one of nghttp2's, one frame at a
 * time. Both have made the same requests, and make one more when ours has an
 * answer whole. What one has whole the other must have whole, too, with the
 * same status, fields and body; and what ends the connection for one must be an
 * error for the other. A server of nghttp2's gets what ours says, and may find
 * no fault. In the end ours reads everything again, cut in another way, and
 * must have seen the same.
 *
 * We are laxer, on purpose, with a Content-Length that means nothing and with
 * what is_forgiven() says (both in oracle.c), and with the number in a GOAWAY:
 * see is_ignored(). We are stricter with answers as look_closer() says, in
 * oracle_client.c, and with connections as may_end() does.
 *
 * The first byte says with which request to begin (bits 0 and 1), whether
 * windows are small (bit 2), how many are made at first (3 and 4), and how the
 * input is cut (5 to 7, as in fuzz_http2.c).
 */
#include "oracle.h"

#include "base/span.h"
#include "wire/http2_impl.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SMALL_WINDOWS = 4, OUT_MAX = 1024 * 1024, ASK_MAX = 16 };

/* SETTINGS, and an ACK of ours. */
static const fl_span greeting = FL_SPAN("\0\0\0\x04\0\0\0\0\0"
                                        "\0\0\0\x04\x01\0\0\0\0");
/* The same, with windows of ten bytes. */
static const fl_span tight = FL_SPAN("\0\0\x06\x04\0\0\0\0\0"
                                     "\0\x04\0\0\0\x0a"
                                     "\0\0\0\x04\x01\0\0\0\0");

/* Our client. */
typedef struct ours {
    unsigned how;
    fl_http *http;
    view seen;
    bool over;
    fl_buf out;
} ours;

static fl_span greeting_of(unsigned how)
{
    return (how & SMALL_WINDOWS) != 0 ? tight : greeting;
}

static fl_status our_write(void *user, const fl_span *parts, size_t count,
                           bool urgent)
{
    ours *o = user;

    (void)urgent;
    for (size_t i = 0; i < count; i++)
        require(fl_buf_append(&o->out, parts[i]) == FL_OK);
    return FL_OK;
}

static fl_status begin(const ours *o, question what, fl_exchange **exchange)
{
    const fl_heading heading = {
        .method = method_of(what),
        .target = FL_SPAN("/"),
        .scheme = FL_SPAN("http"),
        .authority = FL_SPAN("a"),
        .length = what == ENDLESS ? FL_HTTP_STREAMED : 0,
    };
    const fl_span text = FL_SPAN(BODY_TEXT);

    if (what == POST)
        return fl_http_ask(o->http, &heading, text, NULL, exchange);
    fl_status rc = fl_http_request(o->http, &heading, NULL, exchange);
    if (rc == FL_OK && what == ENDLESS)
        require(fl_exchange_send(*exchange, &text, 1, false) == FL_OK);
    return rc;
}

/* If it may. */
static void ask(ours *o)
{
    uint32_t id = 2 * (uint32_t)o->seen.count + 1;
    fl_exchange *exchange;

    if (o->seen.count < ASK_MAX &&
        begin(o, question_of(o->how, id), &exchange) == FL_OK) {
        require(((const fl_http2_stream *)(const void *)exchange)->id == id);
        fl_exchange_set_user(exchange, view_begin(&o->seen, id));
    }
}

static void add_field(message *m, const fl_head *head, const fl_field *field)
{
    if (head->status == 204 && field->id == FL_FIELD_CONTENT_LENGTH)
        return; /* nghttp2 does not tell of it */
    message_add(m, FIELDS, field->name);
    message_add(m, FIELDS, field->value);
}

static void our_head(fl_exchange *exchange, const fl_head *head, void *user)
{
    message *m = fl_exchange_user(exchange);
    char status[16];
    int n = snprintf(status, sizeof status, "%u", head->status);

    (void)user;
    require(m->status == 0); /* once */
    m->status = head->status;
    message_add(m, STATUS, (fl_span){status, (size_t)n});
    for (size_t i = 0; i < head->count; i++)
        add_field(m, head, &head->fields[i]);
}

static void our_body(fl_exchange *exchange, fl_span bytes, void *user)
{
    (void)user;
    message_mix(fl_exchange_user(exchange), BODY, bytes);
}

static void our_end(fl_exchange *exchange, void *user)
{
    ((message *)fl_exchange_user(exchange))->whole = true;
    ask(user);
}

static void our_lost(fl_exchange *exchange, const fl_error *why, void *user)
{
    (void)why;
    (void)user;
    require(!((message *)fl_exchange_user(exchange))->whole);
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
    .on_lost = our_lost,
    .on_over = our_over,
};

static void open_ours(ours *o, const fl_http_limits *limits)
{
    const fl_http_options options = {.version = 20,
                                     .client = true,
                                     .limits = limits,
                                     .events = &events,
                                     .user = o};

    fl_buf_init(&o->out, OUT_MAX);
    require(fl_http_new(&options, &o->http) == FL_OK);
    feed_ours(o->http, greeting_of(o->how), SIZE_MAX);
    for (unsigned i = 0; i <= (o->how >> 3 & 3); i++)
        ask(o);
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
    uint32_t last; /* that a GOAWAY has named */
} trial;

static void open_trial(trial *t, const fl_http_limits *limits)
{
    fl_span first = first_frame(greeting_of(t->ours.how));

    open_ours(&t->ours, limits);
    oracle_client_open(&t->theirs, limits);
    oracle_listener_open(&t->listener, true,
                         fl_span_from(first, FL_HTTP2_HEAD));
    oracle_judge_feed(&t->theirs, greeting_of(t->ours.how));
    t->last = FL_HTTP2_MAX;
}

static void close_trial(trial *t)
{
    close_ours(&t->ours);
    nghttp2_session_del(t->theirs.session);
    nghttp2_session_del(t->listener.session);
}

/* What ours has said since the last time, requests included. False: nghttp2
 * cannot make those, for some streams have ended for us alone. */
static bool hear_ours(trial *t)
{
    bool follows = true;

    oracle_listener_hear(&t->listener, fl_buf_view(&t->ours.out));
    fl_buf_reset(&t->ours.out);
    while (follows && t->theirs.seen.count < t->ours.seen.count)
        follows = oracle_client_ask(&t->theirs);
    return follows;
}

/* And a GOAWAY that names no request of ours, or a later one than before. It
 * says which may be asked again elsewhere: those were lost when we heard so
 * first, and no answer to them is taken (RFC 9113 6.8 binds who sends it). */
static bool is_ignored(trial *t, fl_span bytes)
{
    fl_http2_frame frame = fl_http2_get_head(bytes.ptr);
    fl_span payload = fl_span_from(bytes, FL_HTTP2_HEAD);

    if (is_forgiven(&frame, payload))
        return true;
    if (frame.type != FL_HTTP2_GOAWAY || payload.len < 4)
        return false;
    uint32_t last = fl_http2_get31(payload.ptr);
    if ((last != 0 && last % 2 == 0) || last > t->last)
        return true;
    t->last = last;
    return false;
}

/* What ends the connection for us alone: what is too much; the end that was
 * announced; settings that make a window too large, or take back what was
 * offered (RFC 9113 6.9.2, RFC 8441 3, RFC 9218 2.1); and frames that are wrong
 * and that nghttp2 does not look into: priorities, or what comes for a stream
 * that has closed. */
static bool may_end(const trial *t, const fl_http2_frame *frame, bool is_late)
{
    const fl_http2 *h = (const fl_http2 *)(const void *)t->ours.http;

    return h->doom == FL_HTTP2_ENHANCE_YOUR_CALM ||
           (h->doom == 0 && h->farewell) || frame->type == FL_HTTP2_SETTINGS ||
           frame->type == FL_HTTP2_PRIORITY || is_late;
}

/* False: the connection has ended, for one of them at least. We judge a head
 * when it is whole, whatever was wrong with its beginning. */
static bool step(trial *t, fl_span bytes)
{
    const fl_http2 *h = (const fl_http2 *)(const void *)t->ours.http;
    fl_http2_frame frame = fl_http2_get_head(bytes.ptr);
    fl_span payload = fl_span_from(bytes, FL_HTTP2_HEAD);
    bool is_whole = payload.len == frame.length;
    bool is_late = nghttp2_session_find_stream(t->theirs.session,
                                               (int32_t)frame.stream) == NULL;

    oracle_judge_feed(&t->theirs, bytes);
    feed_ours(t->ours.http, bytes, SIZE_MAX);
    if (is_whole)
        oracle_listener_send(&t->listener, &frame, payload);
    bool follows = hear_ours(t);
    require(t->ours.over || t->listener.settings == 0);
    require(!t->ours.over || t->theirs.over || !is_whole ||
            may_end(t, &frame, is_late));
    if (t->ours.over || !t->theirs.over)
        return !t->ours.over && follows;
    if (!is_whole || fl_http2_in_head(h))
        return true;
    /* For us the stream alone has ended, now or before: then what comes for it
     * may have crossed with our RST_STREAM (RFC 9113 5.1), and is dropped. */
    require(oracle_listener_lost(&t->listener, frame.stream));
    return false;
}

/* Of a connection that goes on: nghttp2 has no more answers than ours has, and
 * of a request that has been answered all was said, or it was cancelled. */
static void check_rest(trial *t)
{
    view_compare(&t->theirs.seen, &t->ours.seen);
    for (size_t i = 0; i < t->ours.seen.count; i++) {
        const message *m = &t->ours.seen.list[i];
        require(!m->whole || nghttp2_session_get_stream_remote_close(
                                 t->listener.session, (int32_t)m->id) != 0);
    }
}

/* Says how many bytes ours has been fed. */
static size_t run(trial *t, fl_span in)
{
    size_t fed = 0;
    bool goes_on = hear_ours(t);

    require(goes_on);
    while (goes_on && in.len - fed >= FL_HTTP2_HEAD) {
        fl_span frame = first_frame(fl_span_from(in, fed));
        if (is_ignored(t, frame))
            break;
        goes_on = step(t, frame);
        fed += frame.len;
    }
    view_compare(&t->ours.seen, &t->theirs.seen);
    if (!t->ours.over)
        check_rest(t);
    return fed;
}

/* However the bytes are cut, they say the same: unless what waits for a window
 * keeps a stream open, for that leaves when all that was fed is read. */
static void run_again(trial *t, const fl_http_limits *limits, fl_span in)
{
    ours again = {.how = t->ours.how};

    open_ours(&again, limits);
    feed_ours(again.http, in, piece_of(again.how));
    require(again.over == t->ours.over);
    require(again.seen.count == t->ours.seen.count);
    view_compare(&again.seen, &t->ours.seen);
    view_compare(&t->ours.seen, &again.seen);
    close_ours(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned how = size > 0 ? data[0] : 0;
    const fl_http_limits limits = fl_http_limits_fill(
        &(fl_http_limits){.max_resets = PLENTY, .max_control = PLENTY});
    trial t = {.ours.how = how, .theirs.how = how};

    if (size < 2 || size > INPUT_MAX)
        return 0;
    open_trial(&t, &limits);
    fl_span in = {(const char *)data + 1, size - 1};
    in.len = run(&t, in);
    if ((how & SMALL_WINDOWS) == 0)
        run_again(&t, &limits, in);
    close_trial(&t);
    return 0;
}
