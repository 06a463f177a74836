/*
 * http2_out.c - frames on their way to the `write` event.
 *
 * What we say goes out where it is said, in one write with the body if that may
 * go along, and is copied nowhere on its way: whoever writes gathers what
 * belongs together. A writer that is busy is not bothered again until it has
 * drained. Meanwhile frames that must keep their order (heads, for HPACK's
 * sake, and answers to control frames) are held here, as many as a peer with
 * manners can make us say; and bodies stay with their streams, which take turns
 * when there is room again.
 */
#include "wire/http2_impl.h"

#include "base/span.h"

static void take_status(fl_http2 *h, fl_status rc)
{
    if (rc == FL_BUSY)
        h->busy = true;
    else if (rc < 0)
        h->broken = true;
}

/* While nothing can be written, what a peer makes us say piles up. Its own
 * fair share is an answer to each request and each control frame. */
static size_t fair_share(const fl_http2 *h)
{
    const fl_http_limits *limits = h->base.limits;

    return 2 * ((size_t)limits->max_streams + limits->max_control +
                limits->max_resets);
}

/* All of it, or the peer could not make sense of what is said last. */
static void hold(fl_http2 *h, const fl_span *parts, size_t count)
{
    fl_status rc = ++h->held_count > fair_share(h)
                       ? FL_E_TOO_BIG
                       : fl_buf_append_all(&h->held, parts, count);

    if (rc != FL_OK)
        fl_http2_doom(h, rc == FL_E_TOO_BIG ? FL_HTTP2_ENHANCE_YOUR_CALM
                                            : FL_HTTP2_INTERNAL_ERROR);
}

/* Together with what was held, which comes first. True: it was taken. */
static bool write_out(fl_http2 *h, const fl_span *parts, size_t count,
                      bool urgent)
{
    fl_span all[FL_HTTP2_PARTS + 1] = {fl_buf_view(&h->held)};
    size_t first = all[0].len > 0;

    for (size_t i = 0; i < count; i++)
        all[first + i] = parts[i];
    h->busy = false;
    take_status(
        h, h->base.events->write(h->base.user, all, first + count, urgent));
    if (h->busy || h->broken || h->freed)
        return false;
    if (first > 0) {
        fl_buf_reset(&h->held);
        h->held_count = 0;
    }
    return true;
}

static bool can_write(const fl_http2 *h)
{
    return !h->busy && !h->broken && !h->freed;
}

void fl_http2_put(fl_http2 *h, const fl_span *parts, size_t count)
{
    if (can_write(h) && write_out(h, parts, count, h->doom != 0))
        return;
    if (h->busy && !h->broken && !h->freed)
        hold(h, parts, count);
}

void fl_http2_put_held(fl_http2 *h)
{
    if (can_write(h) && fl_buf_len(&h->held) > 0)
        (void)write_out(h, NULL, 0, false);
}

void fl_http2_put_frame(fl_http2 *h, fl_http2_type type, unsigned flags,
                        uint32_t stream, fl_span payload)
{
    char head[FL_HTTP2_HEAD];

    (void)fl_http2_put_head(head, payload.len, type, flags, stream);
    fl_http2_put(h, (fl_span[]){{head, sizeof head}, payload}, 2);
}

void fl_http2_put_number(fl_http2 *h, fl_http2_type type, uint32_t stream,
                         uint32_t number)
{
    char payload[4];

    (void)fl_http2_put32(payload, number);
    fl_http2_put_frame(h, type, 0, stream, (fl_span){payload, sizeof payload});
}

void fl_http2_put_goaway(fl_http2 *h, uint32_t last, fl_http2_error why)
{
    char payload[8];

    (void)fl_http2_put32(fl_http2_put32(payload, last), (uint32_t)why);
    fl_http2_put_frame(h, FL_HTTP2_GOAWAY, 0, 0,
                       (fl_span){payload, sizeof payload});
}

void fl_http2_sent_data(fl_http2_stream *stream, size_t length)
{
    stream->window -= (int64_t)length;
    fl_http2_of(stream)->window -= (int64_t)length;
    fl_http2_note_moved(stream, length);
    fl_http2_count_sent(stream, length);
}

bool fl_http2_put_data(fl_http2_stream *stream, const fl_span *parts,
                       size_t count, bool ends)
{
    fl_http2 *h = fl_http2_of(stream);
    fl_span all[FL_HTTP2_PARTS];
    char head[FL_HTTP2_HEAD];

    if (!can_write(h) || count >= FL_HTTP2_PARTS)
        return false;
    (void)fl_http2_put_head(head, fl_span_total(parts, count), FL_HTTP2_DATA,
                            ends ? FL_HTTP2_END_STREAM : 0, stream->id);
    all[0] = (fl_span){head, sizeof head};
    for (size_t i = 0; i < count; i++)
        all[i + 1] = parts[i];
    return write_out(h, all, count + 1, false);
}

/* One that has only its end to tell needs no window, so it comes first. */
void fl_http2_make_ready(fl_http2_stream *stream)
{
    fl_http2 *h = fl_http2_of(stream);

    if (stream->closed)
        return;
    fl_list_remove(&stream->ready);
    if (fl_http2_unsent(stream) == 0)
        fl_list_prepend(&h->ready, &stream->ready);
    else
        fl_list_append(&h->ready, &stream->ready);
}

void fl_http2_drain_at(fl_exchange *exchange, size_t level)
{
    fl_http2_stream *stream = (fl_http2_stream *)(void *)exchange;

    stream->starved = true;
    stream->drain_at = level;
}

static void note_room(fl_http2_stream *stream)
{
    if (!stream->starved || fl_http2_unsent(stream) > stream->drain_at)
        return;
    stream->starved = false;
    if (!stream->owned || stream->lost)
        return;
    fl_list_remove(&stream->news); /* it may not have been told yet */
    fl_list_append(&fl_http2_of(stream)->news, &stream->news);
}

static void consume(fl_http2_stream *stream, size_t n)
{
    if (stream->lent.len > 0)
        stream->lent = fl_span_from(stream->lent, n);
    else
        fl_http2_stream_sent(stream, n);
}

/* One frame of a stream whose turn it is. False: nobody else's can leave. */
static bool send_one(fl_http2_stream *stream)
{
    fl_http2 *h = fl_http2_of(stream);
    fl_span body =
        stream->lent.len > 0 ? stream->lent : fl_buf_view(&stream->out);
    fl_span part = {body.ptr, fl_http2_may_send(stream, body.len)};
    bool ends = stream->finished && part.len == body.len;

    if (part.len == 0 && !ends) {
        if (body.len > 0 && stream->window > 0)
            return false;               /* the connection's window is shut */
        fl_list_remove(&stream->ready); /* until its own is opened */
        return true;
    }
    if (!fl_http2_put_data(stream, &part, part.len > 0, ends))
        return false;
    fl_list_remove(&stream->ready);
    consume(stream, part.len);
    fl_http2_sent_data(stream, part.len);
    note_room(stream);
    if (!ends && fl_http2_unsent(stream) > 0)
        fl_list_append(&h->ready, &stream->ready);
    stream->sent_end = ends;
    fl_http2_stream_settle(stream);
    return true;
}

void fl_http2_pump(fl_http2 *h)
{
    bool goes_on = true;

    while (goes_on && can_write(h) && !fl_list_empty(&h->ready)) {
        fl_http2_stream *stream =
            FL_LIST_ENTRY(h->ready.next, fl_http2_stream, ready);
        if (stream->torn)
            fl_http2_stream_break(stream, FL_HTTP2_CANCEL);
        else
            goes_on = send_one(stream);
    }
}
