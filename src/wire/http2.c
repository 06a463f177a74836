/*
 * http2.c - one HTTP/2 connection, as either side.
 *
 * The one trick is fl_http2_leave(): whatever a call set going, by the owner's
 * hand or by the peer's bytes, is seen to when the outermost call ends. First
 * what can leave does, then what may be told is told, and again, until nothing
 * is left; then, if it is time, on_over; and if anybody freed the connection
 * meanwhile, now it really goes. So no event comes from inside a call that
 * sends, and nobody has to ask whether the connection is still there.
 */
#include "wire/http2_impl.h"

#include "base/mem.h"
#include "base/span.h"
#include "wire/http2_window.h"

#include <assert.h>

enum {
    BLOCK_MAX = 9 * FL_HTTP2_FRAME_MAX, /* as CONTINUATION is limited */
    HELD_MAX = 64 * 1024 * 1024,        /* their number is what is limited */
    TO_OPEN = 100, /* streams, until a server has said how many */
};

static fl_http2 *self(fl_http *http)
{
    return (fl_http2 *)(void *)http;
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
    h->busy = false;
    fl_http2_put_goaway(h, h->accepted, (fl_http2_error)h->doom);
    h->broken = true;
}

/* Nothing more will be said, by us or to us. */
static bool is_done(const fl_http2 *h)
{
    if (h->broken)
        return true;
    if (h->busy)
        return false;
    return ((h->departed || h->farewell) && h->running == 0) ||
           (h->ended && h->open == 0);
}

static void write_out(fl_http2 *h)
{
    fl_http2_put_held(h);
    if (h->doom == 0)
        fl_http2_pump(h);
    if (!h->broken && h->noticed && h->running == 0 && !h->busy)
        fl_http2_depart(h);
    if (h->doom != 0 && !h->broken && !h->freed)
        end_doomed(h);
    if (!h->freed && is_done(h)) {
        h->broken = true;
        lose_all(h, h->doom != 0 ? h->doom : FL_HTTP2_PROTOCOL_ERROR);
    }
}

static void destroy(fl_http2 *h)
{
    while (!fl_list_empty(&h->streams))
        fl_http2_stream_free(
            FL_LIST_ENTRY(h->streams.next, fl_http2_stream, node));
    fl_http2_stream_free_spares(h);
    fl_hpack_reader_deinit(&h->reader);
    fl_hpack_writer_deinit(&h->writer);
    fl_buf_reset(&h->in);
    fl_buf_reset(&h->block);
    fl_buf_reset(&h->held);
    fl_mem_free(h);
}

void fl_http2_leave(fl_http2 *h, bool may_tell)
{
    if (h->depth == 1) {
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

static void feed(fl_http *http, fl_span bytes)
{
    fl_http2 *h = self(http);

    assert(h->depth == 0); /* from a fresh stack */
    fl_http2_enter(h);
    if (!h->broken && !h->ended)
        fl_http2_take(h, bytes);
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
            fl_http2_stream_lose(stream, FL_HTTP2_CANCEL);
    }
    fl_http2_leave(h, true);
}

static void drained(fl_http *http)
{
    fl_http2 *h = self(http);

    fl_http2_enter(h);
    h->busy = false;
    fl_http2_leave(h, true);
}

static void lose(fl_http *http, const fl_error *why)
{
    fl_http2 *h = self(http);

    fl_http2_enter(h);
    h->why = why;
    h->broken = h->over = true;
    lose_all(h, FL_HTTP2_INTERNAL_ERROR);
    (void)fl_http2_tell(h);
    h->why = NULL;
    fl_http2_leave(h, true);
}

/* Requests after the last that we took may be under way: they are nothing to
 * us, and may be sent again elsewhere. */
void fl_http2_depart(fl_http2 *h)
{
    h->noticed = false;
    h->departed = h->stopped = true;
    fl_http2_put_goaway(h, h->accepted, FL_HTTP2_NO_ERROR);
}

/* RFC 9113 6.8: first a notice, and the last word one round trip later, for
 * requests may be under way. With nothing running it need not be waited for:
 * what was not taken may be sent again elsewhere. */
void fl_http2_shut(fl_http *http)
{
    fl_http2 *h = self(http);

    if (h->client || h->noticed || h->departed || h->broken)
        return;
    fl_http2_enter(h);
    h->noticed = true;
    fl_http2_put_goaway(h, FL_HTTP2_MAX, FL_HTTP2_NO_ERROR);
    fl_http2_put_frame(h, FL_HTTP2_PING, 0, 0, FL_SPAN("goodbye!"));
    fl_http2_leave(h, false);
}

/* A client's own patience is with the whole exchange. */
static bool in_head(const fl_http *http)
{
    const fl_http2 *h = (const fl_http2 *)(const void *)http;

    return !h->client && !h->broken && fl_http2_in_head(h);
}

/* What was to be a request has no stream to be answered on, and without the
 * rest of it no other can be understood. */
static bool give_up(fl_http *http, unsigned status, const char *what)
{
    fl_http2 *h = self(http);

    (void)status;
    (void)what;
    if (!in_head(http))
        return false;
    fl_http2_enter(h);
    fl_http2_doom(h, FL_HTTP2_ENHANCE_YOUR_CALM);
    fl_http2_leave(h, true);
    return true;
}

static size_t count_open(const fl_http *http)
{
    return ((const fl_http2 *)(const void *)http)->open;
}

static size_t held(const fl_http2 *h)
{
    return h->waiting + h->in.cap + h->block.cap + h->held.cap;
}

/* A stream takes the most of a request that is small. */
static size_t waiting(const fl_http *http)
{
    const fl_http2 *h = (const fl_http2 *)(const void *)http;

    return held(h) + h->running * FL_HTTP2_STREAM_SIZE;
}

/* Besides what is counted as waiting. */
static size_t size_of(const fl_http2_stream *stream)
{
    size_t unused =
        stream->cap > stream->held_count ? stream->cap - stream->held_count : 0;

    return sizeof *stream + stream->out.cap - fl_buf_len(&stream->out) +
           unused * FL_HTTP2_FIELD_ROOM;
}

static size_t memory(const fl_http *http)
{
    const fl_http2 *h = (const fl_http2 *)(const void *)http;
    size_t sum = sizeof *h +
                 (h->rows != NULL ? sizeof(void *) << h->row_bits : 0) +
                 held(h) + fl_hpack_reader_memory(&h->reader) +
                 fl_hpack_memory(&h->writer.table);

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

/* Of the frame that is being read nothing is left, and it is the last. */
static bool is_ending(const fl_exchange *exchange)
{
    const fl_http2_stream *stream = (const void *)exchange;
    const fl_http2 *h = fl_http2_of(stream);

    return h->telling == stream && h->place.left + h->place.padding == 0 &&
           (h->place.frame.flags & FL_HTTP2_END_STREAM) != 0;
}

static const fl_http_ops ops = {
    .free = free_now,
    .feed = feed,
    .end_input = end_input,
    .drained = drained,
    .lose = lose,
    .shut = fl_http2_shut,
    .in_head = in_head,
    .give_up = give_up,
    .open = count_open,
    .available = fl_http2_available,
    .memory = memory,
    .waiting = waiting,
    .look_for_stuck = fl_http2_look_for_stuck,
    .request = fl_http2_request,
    .ask = fl_http2_ask,
    .respond = fl_http2_respond,
    .send = fl_http2_send,
    .finish = fl_http2_finish,
    .answer = fl_http2_answer,
    .reset = fl_http2_reset,
    .pause = fl_http2_pause,
    .drain_at = fl_http2_drain_at,
    .pending = pending,
    .head = head,
    .is_ending = is_ending,
};

fl_status fl_http2_new(const fl_http_options *options, fl_http **out)
{
    fl_http2 *h = fl_mem_zalloc(sizeof *h);

    *out = NULL;
    if (h == NULL)
        return FL_E_NOMEM;
    fl_http_init(&h->base, &ops, options);
    h->client = options->client;
    h->clock = options->clock != NULL ? *options->clock : fl_clock_system();
    fl_hpack_reader_init(&h->reader);
    fl_hpack_writer_init(&h->writer);
    fl_list_init(&h->streams);
    fl_list_init(&h->spares);
    fl_list_init(&h->news);
    fl_list_init(&h->ready);
    fl_buf_init(&h->in, FL_HTTP2_FRAME_MAX);
    fl_buf_init(&h->block, BLOCK_MAX);
    fl_buf_init(&h->held, HELD_MAX);
    h->next = 1;
    h->window = h->to_stream = FL_HTTP2_WINDOW;
    h->to_frame = FL_HTTP2_FRAME_MAX;
    h->to_open = TO_OPEN;
    h->room = FL_HTTP2_ROOM;
    fl_status rc = fl_http2_greet(h);
    if (rc != FL_OK) {
        destroy(h);
        return rc;
    }
    *out = &h->base;
    return FL_OK;
}
