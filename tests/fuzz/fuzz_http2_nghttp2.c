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

/* Each request that one has whole, the other has, too, and it is the same. */
static void compare(const view *one, view *other)
{
    for (size_t i = 0; i < one->count; i++) {
        const request *r = &one->list[i];
        const request *same = view_find(other, r->id);
        if (!r->whole)
            continue;
        require(same != NULL && same->whole);
        require(memcmp(r->sums, same->sums, sizeof r->sums) == 0);
    }
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
    request *r = view_begin(&o->seen, o->opened);
    request_add(r, METHOD, head->method);
    request_add(r, PATH, head->target);
    request_add(r, AUTHORITY, head->authority);
    if (head->protocol.len > 0)
        request_add(r, PROTOCOL, head->protocol);
    for (size_t i = 0; i < head->count; i++) {
        request_add(r, FIELDS, head->fields[i].name);
        request_add(r, FIELDS, head->fields[i].value);
    }
    fl_exchange_set_user(exchange, r);
}

static void our_body(fl_exchange *exchange, fl_span bytes, void *user)
{
    (void)user;
    request_mix(fl_exchange_user(exchange), BODY, bytes);
}

static void our_end(fl_exchange *exchange, void *user)
{
    request *r = fl_exchange_user(exchange);
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

static void feed_ours(ours *o, fl_span bytes, size_t step)
{
    while (bytes.len > 0) {
        size_t n = bytes.len < step ? bytes.len : step;
        char *copy = malloc(n); /* exact, so ASan sees any overrun */
        require(copy != NULL);
        memcpy(copy, bytes.ptr, n);
        fl_http_feed(o->http, (fl_span){copy, n});
        free(copy);
        bytes = fl_span_from(bytes, n);
    }
}

static void close_ours(ours *o)
{
    fl_http_free(o->http);
    fl_buf_reset(&o->out);
}

typedef struct trial {
    ours ours;
    oracle_server theirs;
    oracle_client reader;
} trial;

/* What ours has said since the last time. */
static void hear_ours(trial *t)
{
    ours *o = &t->ours;

    if (o->opened != 0)
        oracle_client_ask(&t->reader, o->opened, o->is_head);
    o->opened = 0;
    oracle_client_hear(&t->reader, fl_buf_view(&o->out));
    fl_buf_reset(&o->out);
}

/* RFC 7540 5.3.1 forbade it, RFC 9113 knows no dependencies any more. */
static bool depends_on_itself(const fl_http2_frame *frame, fl_span payload)
{
    bool has = frame->type == FL_HTTP2_PRIORITY;

    if (frame->type == FL_HTTP2_HEADERS) {
        has = (frame->flags & FL_HTTP2_PRIORITIZED) != 0;
        if ((frame->flags & FL_HTTP2_PADDED) != 0)
            payload = fl_span_from(payload, payload.len > 0);
    }
    return has && payload.len >= 4 &&
           fl_http2_get31(payload.ptr) == frame->stream;
}

/* What ends the connection for nghttp2 and not for us, on purpose. With such a
 * frame the trial is over. */
static bool is_forgiven(fl_span bytes)
{
    fl_http2_frame frame = fl_http2_get_head(bytes.ptr);
    fl_span payload = fl_span_from(bytes, FL_HTTP2_HEAD);

    /* An ACK that nobody waits for: no rule forbids it. */
    if (frame.type == FL_HTTP2_SETTINGS && (frame.flags & FL_HTTP2_ACK) != 0)
        return true;
    /* A GOAWAY that names a stream of ours: a server has none, so it does not
     * matter which (RFC 9113 6.8 binds who sends it). */
    if (frame.type == FL_HTTP2_GOAWAY && payload.len >= 4 &&
        fl_http2_get31(payload.ptr) != 0)
        return true;
    return depends_on_itself(&frame, payload);
}

/* False: the connection has ended, for one of them at least. We judge a head
 * when it is whole, whatever was wrong with its beginning. */
static bool step(trial *t, fl_span bytes)
{
    fl_http2_frame frame = fl_http2_get_head(bytes.ptr);
    fl_span payload = fl_span_from(bytes, FL_HTTP2_HEAD);
    bool is_whole = payload.len == frame.length;

    oracle_server_feed(&t->theirs, bytes);
    feed_ours(&t->ours, bytes, SIZE_MAX);
    if (is_whole)
        oracle_client_send(&t->reader, &frame, payload);
    hear_ours(t);
    if (t->ours.over || !t->theirs.over)
        return !t->ours.over;
    if (!is_whole || fl_http_in_head(t->ours.http))
        return true;
    /* For us the stream alone has ended, now or before: then what comes for it
     * may have crossed with our RST_STREAM (RFC 9113 5.1), and is dropped. */
    require(oracle_client_lost(&t->reader, frame.stream));
    return false;
}

/* The next frame of these bytes, or what there is of it. */
static fl_span first_frame(fl_span bytes)
{
    if (bytes.len >= FL_HTTP2_HEAD) {
        size_t n = FL_HTTP2_HEAD + (fl_http2_get32(bytes.ptr) >> 8);
        bytes.len = bytes.len < n ? bytes.len : n;
    }
    return bytes;
}

static void greet(trial *t)
{
    oracle_server_feed(&t->theirs, greeting);
    feed_ours(&t->ours, greeting, SIZE_MAX);
    hear_ours(t);
}

/* Says how many bytes ours has been fed. */
static size_t run(trial *t, fl_span in)
{
    size_t fed = 0;
    bool goes_on = true;

    while (goes_on && in.len - fed >= FL_HTTP2_HEAD) {
        fl_span frame = first_frame(fl_span_from(in, fed));
        if (is_forgiven(frame))
            break;
        goes_on = step(t, frame);
        fed += frame.len;
    }
    compare(&t->ours.seen, &t->theirs.seen);
    return fed;
}

/* However the bytes are cut, they say the same: unless what waits for a window
 * keeps a stream open, for that leaves when all that was fed is read. */
static void run_again(trial *t, const fl_http_limits *limits, fl_span in)
{
    unsigned how = t->ours.how;
    size_t piece = (how & 0x80) != 0 ? 1 + (how >> 5 & 3) * 7 : SIZE_MAX;
    ours again = {.how = how};

    open_ours(&again, limits);
    feed_ours(&again, greeting, SIZE_MAX);
    feed_ours(&again, in, piece);
    require(again.over == t->ours.over);
    compare(&again.seen, &t->ours.seen);
    compare(&t->ours.seen, &again.seen);
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
    oracle_client_open(&t.reader);
    greet(&t);
    fl_span in = {(const char *)data + 1, size - 1};
    in.len = run(&t, in);
    if ((how & WITH_BODY) == 0)
        run_again(&t, &limits, in);
    close_ours(&t.ours);
    nghttp2_session_del(t.theirs.session);
    nghttp2_session_del(t.reader.session);
    return 0;
}
