/*
 * http2_out.c - from the queues of nghttp2 to the `write` event.
 *
 * nghttp2 hands out one frame at a time and takes its bytes back at the next
 * call, so small frames are gathered on the stack and leave together: an
 * answer's HEADERS and DATA, and all answers of one read, are one write. A
 * frame too large for the rest of the room goes as the second part of that
 * write and is not copied. Only what `write` would not take is kept on the
 * heap, and nothing more is pulled until there is room: then the frames stay
 * with nghttp2, which counts them, and the bodies with their streams.
 */
#include "wire/http2_impl.h"

#include "base/span.h"

#include <string.h>

enum { ROOM = 8 * 1024 };

static void take_status(fl_http2 *h, fl_status rc)
{
    if (rc == FL_BUSY)
        h->busy = true;
    else if (rc < 0)
        h->broken = true;
}

void fl_http2_write_held(fl_http2 *h, bool urgent)
{
    fl_span held = fl_buf_view(&h->held);

    if (held.len == 0)
        return;
    h->busy = false;
    take_status(h, h->base.events->write(h->base.user, &held, 1, urgent));
    if (!h->busy)
        fl_buf_reset(&h->held);
}

static void keep(fl_http2 *h, fl_span part)
{
    if (fl_buf_append(&h->held, part) != FL_OK)
        h->broken = true;
}

static void put(fl_http2 *h, fl_span gathered, fl_span frame)
{
    fl_span parts[2] = {gathered, frame};
    size_t first = gathered.len == 0, count = 2 - first - (frame.len == 0);

    if (count == 0)
        return;
    take_status(h, h->base.events->write(h->base.user, parts + first, count,
                                         h->doom != 0));
    if (h->busy && !h->freed) {
        keep(h, gathered);
        keep(h, frame);
    }
}

void fl_http2_pull(fl_http2 *h)
{
    char room[ROOM];
    size_t len = 0;

    while (!h->busy && !h->broken && !h->freed) {
        const uint8_t *bytes = NULL;
        ssize_t n = nghttp2_session_mem_send(h->session, &bytes);
        fl_span frame = {(const char *)bytes, n > 0 ? (size_t)n : 0};
        if (n < 0)
            h->broken = true;
        if (n <= 0)
            break;
        if (frame.len <= sizeof room - len) {
            memcpy(room + len, frame.ptr, frame.len);
            len += frame.len;
            continue;
        }
        put(h, (fl_span){room, len}, frame);
        len = 0;
    }
    if (!h->freed)
        put(h, (fl_span){room, len}, (fl_span){0});
}

/* What a stream has waiting, up to `length`. */
static size_t take(fl_http2_stream *stream, uint8_t *to, size_t length)
{
    if (stream->lent.len > 0) {
        size_t some = stream->lent.len < length ? stream->lent.len : length;
        memcpy(to, stream->lent.ptr, some);
        stream->lent = fl_span_from(stream->lent, some);
        return some;
    }
    fl_span out = fl_buf_view(&stream->out);
    size_t n = out.len < length ? out.len : length;

    if (out.ptr != NULL)
        memcpy(to, out.ptr, n);
    fl_buf_consume(&stream->out, n);
    if (n == out.len) /* a quiet stream of events holds no buffer */
        fl_buf_reset(&stream->out);
    return n;
}

void fl_http2_drain_at(fl_exchange *exchange, size_t level)
{
    fl_http2_stream *stream = (fl_http2_stream *)(void *)exchange;

    stream->starved = true;
    stream->drain_at = level;
}

ssize_t fl_http2_read(nghttp2_session *session, int32_t id, uint8_t *to,
                      size_t length, uint32_t *flags,
                      nghttp2_data_source *source, void *user)
{
    fl_http2_stream *stream = source->ptr;
    fl_http2 *h = user;

    (void)session;
    (void)id;
    if (stream->torn)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    size_t n = take(stream, to, length), rest = fl_http2_unsent(stream);
    if (stream->starved && rest <= stream->drain_at) {
        stream->starved = false;
        if (stream->owned && !stream->lost) {
            fl_list_remove(&stream->news); /* it may not have been told yet */
            fl_list_append(&h->news, &stream->news);
        }
    }
    if (rest == 0 && stream->finished)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    else if (n == 0)
        stream->deferred = true;
    return n > 0 || stream->finished ? (ssize_t)n : NGHTTP2_ERR_DEFERRED;
}
