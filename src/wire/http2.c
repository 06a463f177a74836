/*
 * http2.c - one HTTP/2 connection, as either side, on nghttp2.
 *
 * nghttp2 keeps the protocol; these files keep the promises of http.h around
 * it. The one trick is fl_http2_leave(): whatever a call set going, by the
 * owner's hand or by the peer's bytes, is done when the outermost call ends.
 * First all frames go out together, then what may be told is told, and again,
 * until nothing is left; then, if it is time, on_over; and if anybody freed
 * the connection meanwhile, now it really goes. So no event comes from inside
 * a call that sends, nghttp2 is never entered twice, and one read that brings
 * twenty requests is answered with one write.
 */
#include "wire/http2_impl.h"

#include "base/mem.h"
#include "base/span.h"

#include <assert.h>

/* Enough for one system call; what is more should be on its way, so that the
 * peer can begin with it. */
enum { GATHER_MAX = 4096 };

static fl_http2 *self(fl_http *http)
{
    return (fl_http2 *)(void *)http;
}

bool fl_http2_overdone(fl_http2 *h, unsigned *count, unsigned max)
{
    uint64_t second = fl_clock_now(&h->clock) / 1000;

    if (second != h->second) {
        h->second = second;
        h->resets = h->control = 0;
    }
    if (++*count <= max)
        return false;
    h->doom = NGHTTP2_ENHANCE_YOUR_CALM;
    return true;
}

static void lose_all(fl_http2 *h, uint32_t error)
{
    for (fl_list *at = h->streams.next; at != &h->streams; at = at->next) {
        fl_http2_stream *stream = FL_LIST_ENTRY(at, fl_http2_stream, node);
        fl_http2_stream_lose(stream, error);
    }
}

/* The last words, past any high water mark: the peer should know why. */
static void end_doomed(fl_http2 *h)
{
    if (nghttp2_session_terminate_session(h->session, h->doom) == 0) {
        fl_http2_write_held(h, true);
        fl_http2_pull(h);
    }
    h->broken = true;
}

/* Nothing more will be said, by us or to us. */
static bool is_done(const fl_http2 *h)
{
    if (h->broken)
        return true;
    if (h->busy || nghttp2_session_want_write(h->session))
        return false;
    return !nghttp2_session_want_read(h->session) || (h->ended && h->open == 0);
}

static void write_out(fl_http2 *h)
{
    h->gathered = 0;
    h->owing = false;
    fl_http2_pull(h);
    if (!h->broken && h->noticed && h->running == 0 && !h->busy) {
        fl_http2_depart(h);
        fl_http2_pull(h);
    }
    if (h->doom != 0 && !h->broken && !h->freed)
        end_doomed(h);
    if (!h->freed && is_done(h)) {
        h->broken = true;
        lose_all(h, h->doom != 0 ? h->doom : NGHTTP2_PROTOCOL_ERROR);
    }
}

static void destroy(fl_http2 *h)
{
    while (!fl_list_empty(&h->streams))
        fl_http2_stream_free(
            FL_LIST_ENTRY(h->streams.next, fl_http2_stream, node));
    fl_http2_stream_free_spares(h);
    fl_http2_session_close(h);
    fl_buf_reset(&h->held);
    fl_mem_free(h);
}

/* Whether what was just said may wait for what is said next; and who is to come
 * back for it is told so. */
static bool gathers(fl_http2 *h)
{
    if (!h->gathers || h->gathered == 0 || h->gathered > GATHER_MAX ||
        h->broken || h->doom != 0 || h->freed)
        return false;
    if (!h->owing) {
        h->owing = true;
        h->base.events->on_held(h->base.user);
    }
    return true;
}

void fl_http2_leave(fl_http2 *h, bool may_tell)
{
    if (h->depth == 1 && (may_tell || !gathers(h))) {
        do {
            write_out(h);
        } while (may_tell && fl_http2_tell(h));
        if (h->broken && !h->over && !h->freed) {
            h->over = true;
            h->base.events->on_over(h->base.user);
        }
    }
    if (--h->depth == 0 && h->freed)
        destroy(h);
}

static void free_now(fl_http *http)
{
    fl_http2 *h = self(http);

    h->freed = true;
    if (h->depth == 0)
        destroy(h);
}

static uint32_t doom_of(ssize_t rc)
{
    switch (rc) {
    case NGHTTP2_ERR_FLOODED:
    case NGHTTP2_ERR_TOO_MANY_CONTINUATIONS:
        return NGHTTP2_ENHANCE_YOUR_CALM;
    case NGHTTP2_ERR_NOMEM:
        return NGHTTP2_INTERNAL_ERROR;
    default:
        return NGHTTP2_PROTOCOL_ERROR;
    }
}

/* While nothing can be written, what a peer makes us say piles up. Its own
 * fair share is an answer to each request and each control frame. */
static bool is_swamped(const fl_http2 *h)
{
    const fl_http_limits *limits = h->base.limits;
    size_t share = 2 * ((size_t)limits->max_streams + limits->max_control +
                        limits->max_resets);

    return nghttp2_session_get_outbound_queue_size(h->session) > share;
}

/* A server's first frame is SETTINGS (RFC 9113 3.4). What begins otherwise is
 * another protocol, most likely an error in HTTP/1.1. */
static bool is_foreign(const fl_http2 *h, fl_span first)
{
    enum { TYPE = 3 };

    return h->client && !h->place.begun && first.len > TYPE &&
           first.ptr[TYPE] != NGHTTP2_SETTINGS;
}

static void feed(fl_http *http, fl_span bytes)
{
    fl_http2 *h = self(http);

    assert(h->depth == 0); /* from a fresh stack */
    fl_http2_enter(h);
    if (is_foreign(h, bytes))
        h->doom = NGHTTP2_HTTP_1_1_REQUIRED;
    else if (!h->broken && !h->ended && bytes.len > 0) {
        fl_http2_place_feed(&h->place, bytes);
        ssize_t rc = nghttp2_session_mem_recv(
            h->session, (const uint8_t *)bytes.ptr, bytes.len);
        if (rc < 0 && h->doom == 0)
            h->doom = doom_of(rc);
        if (!h->broken && h->busy && is_swamped(h))
            h->doom = NGHTTP2_ENHANCE_YOUR_CALM;
    }
    fl_http2_leave(h, true);
}

static void end_input(fl_http *http)
{
    fl_http2 *h = self(http);

    fl_http2_enter(h);
    h->ended = true;
    for (fl_list *at = h->streams.next; at != &h->streams; at = at->next) {
        fl_http2_stream *stream = FL_LIST_ENTRY(at, fl_http2_stream, node);
        if (!stream->whole)
            fl_http2_stream_lose(stream, NGHTTP2_CANCEL);
    }
    fl_http2_leave(h, true);
}

static void drained(fl_http *http)
{
    fl_http2 *h = self(http);

    fl_http2_enter(h);
    h->busy = false;
    if (!h->broken)
        fl_http2_write_held(h, false);
    fl_http2_leave(h, true);
}

static void flush(fl_http *http)
{
    fl_http2 *h = self(http);

    fl_http2_enter(h);
    h->gathered = 0; /* so that nothing is a reason to wait */
    fl_http2_leave(h, false);
}

static void lose(fl_http *http, const fl_error *why)
{
    fl_http2 *h = self(http);

    fl_http2_enter(h);
    h->why = why;
    h->broken = h->over = true;
    lose_all(h, NGHTTP2_INTERNAL_ERROR);
    (void)fl_http2_tell(h);
    h->why = NULL;
    fl_http2_leave(h, true);
}

void fl_http2_depart(fl_http2 *h)
{
    int32_t last = nghttp2_session_get_last_proc_stream_id(h->session);

    h->noticed = false;
    h->departed = true;
    if (nghttp2_submit_goaway(h->session, NGHTTP2_FLAG_NONE, last,
                              NGHTTP2_NO_ERROR, NULL, 0) != 0)
        h->doom = NGHTTP2_INTERNAL_ERROR;
}

/* RFC 9113 6.8: first a notice, and the last word one round trip later, for
 * requests may be under way. With nothing running it need not be waited for:
 * what was not taken may be sent again elsewhere. */
static void shut(fl_http *http)
{
    fl_http2 *h = self(http);

    if (h->client || h->noticed || h->departed || h->broken)
        return;
    fl_http2_enter(h);
    h->noticed = true;
    if (nghttp2_submit_shutdown_notice(h->session) != 0 ||
        nghttp2_submit_ping(h->session, NGHTTP2_FLAG_NONE, NULL) != 0)
        h->doom = NGHTTP2_INTERNAL_ERROR;
    fl_http2_leave(h, false);
}

/* A client's own patience is with the whole exchange. */
static bool in_head(const fl_http *http)
{
    const fl_http2 *h = (const fl_http2 *)(const void *)http;

    return !h->client && !h->broken && fl_http2_place_in_head(&h->place);
}

/* What was to be a request has no stream to be answered on, and without the
 * rest of it no other can be understood. */
static bool give_up(fl_http *http, unsigned status, const char *what)
{
    fl_http2 *h = self(http);

    (void)status;
    (void)what;
    fl_http2_enter(h);
    if (h->doom == 0)
        h->doom = NGHTTP2_ENHANCE_YOUR_CALM;
    fl_http2_leave(h, true);
    return true;
}

static size_t count_open(const fl_http *http)
{
    return ((const fl_http2 *)(const void *)http)->open;
}

static size_t size_of(const fl_http2_stream *stream)
{
    return sizeof *stream + stream->out.cap +
           stream->cap * (sizeof *stream->fields + 2 * sizeof(void *));
}

static size_t memory(const fl_http *http)
{
    const fl_http2 *h = (const fl_http2 *)(const void *)http;
    size_t sum = sizeof *h + h->heap + h->held.cap;

    for (fl_list *at = h->streams.next; at != &h->streams; at = at->next)
        sum += size_of(FL_LIST_ENTRY(at, fl_http2_stream, node));
    for (fl_list *at = h->spares.next; at != &h->spares; at = at->next)
        sum += size_of(FL_LIST_ENTRY(at, fl_http2_stream, node));
    return sum;
}

static size_t pending(const fl_exchange *exchange)
{
    const fl_http2_stream *stream = (const void *)exchange;

    return fl_http2_unsent(stream);
}

static const fl_head *head(const fl_exchange *exchange)
{
    const fl_http2_stream *stream = (const void *)exchange;

    return stream->head.version != 0 ? &stream->head : NULL;
}

static const fl_http_ops ops = {
    .free = free_now,
    .feed = feed,
    .end_input = end_input,
    .drained = drained,
    .lose = lose,
    .shut = shut,
    .in_head = in_head,
    .give_up = give_up,
    .open = count_open,
    .available = fl_http2_available,
    .memory = memory,
    .request = fl_http2_request,
    .ask = fl_http2_ask,
    .flush = flush,
    .respond = fl_http2_respond,
    .send = fl_http2_send,
    .finish = fl_http2_finish,
    .answer = fl_http2_answer,
    .reset = fl_http2_reset,
    .pause = fl_http2_pause,
    .drain_at = fl_http2_drain_at,
    .pending = pending,
    .head = head,
};

fl_status fl_http2_new(const fl_http_options *options, fl_http **out)
{
    fl_http2 *h = fl_mem_zalloc(sizeof *h);

    *out = NULL;
    if (h == NULL)
        return FL_E_NOMEM;
    fl_http_init(&h->base, &ops, options);
    h->client = options->client;
    h->gathers = options->client && options->gather;
    h->clock = options->clock != NULL ? *options->clock : fl_clock_system();
    fl_list_init(&h->streams);
    fl_list_init(&h->spares);
    fl_list_init(&h->news);
    fl_http2_place_init(&h->place);
    fl_status rc = fl_http2_session_open(h);
    if (rc != FL_OK) {
        destroy(h);
        return rc;
    }
    *out = &h->base;
    return FL_OK;
}
