/*
 * http2_message.c - frames that are parts of messages, told as events.
 *
 * A header block must be read to its end whatever becomes of it, or the tables
 * of both ends would part for good: one that belongs to nobody is read, too,
 * and forgotten. While an event about a stream is told, the stream stays,
 * whatever its owner does (`telling`): it is looked at again afterwards.
 */
#include "wire/http2_impl.h"

#include "base/span.h"

enum { PRIORITY = 5, CONTINUATIONS_MAX = 8 };

static void begin_telling(fl_http2_stream *stream)
{
    fl_http2_of(stream)->telling = stream;
}

static void end_telling(fl_http2_stream *stream)
{
    fl_http2_of(stream)->telling = NULL;
    fl_http2_stream_settle(stream);
}

static void tell_request(fl_http2 *h, fl_http2_stream *stream)
{
    const fl_http_events *events = h->base.events;

    stream->announced = stream->owned = true;
    h->open++;
    if (stream->bad != 0)
        events->on_bad(&stream->base, stream->bad, stream->what, h->base.user);
    else
        events->on_head(&stream->base, &stream->head, h->base.user);
}

/* False: it was an interim one, and the response is still to come. */
static bool tell_response(fl_http2 *h, fl_http2_stream *stream)
{
    if (stream->head.status / 100 == 1 && stream->bad == 0) {
        fl_http2_head_drop(stream);
        return false;
    }
    stream->announced = true;
    if (stream->bad != 0) {
        stream->ours = true;
        fl_http2_stream_break(stream, FL_HTTP2_PROTOCOL_ERROR);
    } else if (fl_http2_is_heard(stream)) {
        h->base.events->on_head(&stream->base, &stream->head, h->base.user);
    }
    return true;
}

/* The response is whole: nobody waits for the rest of our request. */
static void end_response(fl_http2_stream *stream)
{
    if (!stream->finished || stream->lent.len > 0) {
        stream->ours = true;
        fl_http2_stream_break(stream, FL_HTTP2_CANCEL);
    }
    fl_http2_stream_release(stream);
}

/* Less than was promised (RFC 9113 8.1.1). */
static bool is_short(const fl_http2_stream *stream)
{
    return stream->measured && stream->expected > 0;
}

/* The peer has said END_STREAM. Of a response that is the last that is told,
 * whatever its owner does then. */
static void tell_end(fl_http2 *h, fl_http2_stream *stream)
{
    bool heard = fl_http2_is_heard(stream);

    if (is_short(stream)) {
        fl_http2_stream_break(stream, FL_HTTP2_PROTOCOL_ERROR);
        return;
    }
    stream->whole = true;
    stream->lost = stream->lost || (h->client && heard);
    if (heard)
        h->base.events->on_end(&stream->base, h->base.user);
    fl_http2_head_drop(stream);
    if (h->client && heard && stream->owned && !h->freed)
        end_response(stream);
}

/* Answers to HEAD, 204 and 304 have no body, whatever they say of one. */
static void measure(fl_http2_stream *stream)
{
    const fl_head *head = &stream->head;
    bool none = fl_http2_of(stream)->client &&
                (stream->is_head || head->status == 204 || head->status == 304);

    stream->measured = none || head->has_length;
    stream->expected = none ? 0 : head->length;
}

/* False: more of its kind will come. */
static bool announce(fl_http2 *h, fl_http2_stream *stream)
{
    if (h->client)
        return tell_response(h, stream);
    tell_request(h, stream);
    return true;
}

static void tell_head(fl_http2 *h, fl_http2_stream *stream, bool ends)
{
    bool first = !stream->announced;

    if (first) {
        fl_http2_head_finish(stream, !ends);
        measure(stream);
    }
    /* trailers are the last that is said, an interim response never is */
    if (first ? ends && stream->head.status / 100 == 1 : !ends)
        stream->malformed = true;
    if (ends && is_short(stream))
        stream->malformed = true;
    if (stream->malformed) {
        fl_http2_stream_break(stream, FL_HTTP2_PROTOCOL_ERROR);
        return;
    }
    if (first && !announce(h, stream))
        return;
    if (ends && !h->freed && !stream->closed)
        tell_end(h, stream);
}

/* Every field of a block; of one that has no stream nothing is kept. */
static bool read_fields(fl_http2 *h, fl_http2_stream *stream, fl_span bytes)
{
    fl_hpack_block block = {.rest = bytes};
    const fl_hpack_entry *entry = NULL;
    fl_status rc;

    while ((rc = fl_hpack_read(&h->reader, &block, &entry)) == FL_OK) {
        if (stream == NULL)
            fl_hpack_drop(&h->reader, entry);
        else if (!fl_http2_head_add(stream, entry))
            rc = FL_E_NOMEM;
        if (rc != FL_OK || h->doom != 0)
            break;
    }
    if (rc < 0)
        fl_http2_doom(h, rc == FL_E_NOMEM ? FL_HTTP2_INTERNAL_ERROR
                                          : FL_HTTP2_COMPRESSION_ERROR);
    return h->doom == 0;
}

/* It never becomes a stream. */
static void refuse(fl_http2 *h, uint32_t id, fl_http2_error why)
{
    h->stopped = true;
    fl_http2_put_number(h, FL_HTTP2_RST_STREAM, id, (uint32_t)why);
    fl_http2_count_refusal(h);
}

/* A new request; NULL: there is none. */
static fl_http2_stream *open_request(fl_http2 *h, uint32_t id)
{
    if (id % 2 == 0) {
        fl_http2_doom(h, FL_HTTP2_PROTOCOL_ERROR);
        return NULL;
    }
    h->newest = id;
    if (h->departed)
        return NULL; /* the peer knows that it is not looked at */
    h->accepted = id;
    if (h->running >= h->base.limits->max_streams) {
        if (h->acked) /* it should have known */
            fl_http2_doom(h, FL_HTTP2_PROTOCOL_ERROR);
        else
            refuse(h, id, FL_HTTP2_REFUSED_STREAM);
        return NULL;
    }
    fl_http2_stream *stream = fl_http2_stream_new(h, id);
    if (stream == NULL)
        refuse(h, id, FL_HTTP2_REFUSED_STREAM);
    return stream;
}

/* Whose block it is; NULL: nobody's. */
static fl_http2_stream *owner_of(fl_http2 *h, uint32_t id)
{
    fl_http2_stream *stream = fl_http2_find(h, id);

    if (stream == NULL && !fl_http2_is_idle(h, id))
        return NULL; /* it has crossed with a RST_STREAM of ours */
    if (stream == NULL && h->client)
        fl_http2_doom(h, FL_HTTP2_PROTOCOL_ERROR);
    else if (stream == NULL)
        return open_request(h, id);
    else if (stream->whole) {
        fl_http2_stream_break(stream, FL_HTTP2_STREAM_CLOSED);
        stream = NULL;
    }
    return stream;
}

static void on_block(fl_http2 *h, uint32_t id, unsigned flags, fl_span bytes)
{
    fl_http2_stream *stream = owner_of(h, id);

    if (h->doom != 0 || !read_fields(h, stream, bytes) || stream == NULL)
        return;
    begin_telling(stream);
    tell_head(h, stream, (flags & FL_HTTP2_END_STREAM) != 0);
    end_telling(stream);
}

/* Cuts off what is padding and what is about priorities; false if it is not as
 * long as it says. */
static bool strip(const fl_http2_frame *frame, fl_span *payload)
{
    size_t padding = 0, priority = 0;

    if ((frame->flags & FL_HTTP2_PADDED) != 0) {
        if (payload->len == 0)
            return false;
        padding = (unsigned char)payload->ptr[0];
        *payload = fl_span_from(*payload, 1);
    }
    if ((frame->flags & FL_HTTP2_PRIORITIZED) != 0)
        priority = PRIORITY;
    if (padding + priority > payload->len)
        return false;
    payload->len -= padding;
    *payload = fl_span_from(*payload, priority);
    return true;
}

void fl_http2_on_headers(fl_http2 *h, const fl_http2_frame *frame,
                         fl_span payload)
{
    fl_http2_place *place = &h->place;

    if (!strip(frame, &payload)) {
        fl_http2_doom(h, FL_HTTP2_PROTOCOL_ERROR);
        return;
    }
    if ((frame->flags & FL_HTTP2_END_HEADERS) != 0) {
        on_block(h, frame->stream, frame->flags, payload);
        return;
    }
    place->in_block = true;
    place->block_stream = frame->stream;
    place->block_flags = frame->flags;
    place->continuations = 0;
    if (fl_buf_append(&h->block, payload) != FL_OK)
        fl_http2_doom(h, FL_HTTP2_INTERNAL_ERROR);
}

void fl_http2_on_continuation(fl_http2 *h, const fl_http2_frame *frame,
                              fl_span payload)
{
    fl_http2_place *place = &h->place;

    if (++place->continuations > CONTINUATIONS_MAX)
        fl_http2_doom(h, FL_HTTP2_ENHANCE_YOUR_CALM);
    else if (fl_buf_append(&h->block, payload) != FL_OK)
        fl_http2_doom(h, FL_HTTP2_INTERNAL_ERROR);
    if (h->doom != 0 || (frame->flags & FL_HTTP2_END_HEADERS) == 0)
        return;
    place->in_block = false;
    on_block(h, frame->stream, place->block_flags, fl_buf_view(&h->block));
    fl_buf_reset(&h->block);
}

void fl_http2_on_data(fl_http2 *h, const fl_http2_frame *frame)
{
    fl_http2_stream *stream = fl_http2_find(h, frame->stream);

    if (stream == NULL && fl_http2_is_idle(h, frame->stream))
        fl_http2_doom(h, FL_HTTP2_PROTOCOL_ERROR);
    else if (fl_http2_charge(h, stream, frame->length) && stream != NULL &&
             (stream->whole || !stream->announced))
        fl_http2_stream_break(stream, stream->whole ? FL_HTTP2_STREAM_CLOSED
                                                    : FL_HTTP2_PROTOCOL_ERROR);
}

void fl_http2_on_body(fl_http2 *h, const fl_http2_frame *frame, fl_span bytes)
{
    fl_http2_stream *stream = fl_http2_find(h, frame->stream);

    fl_http2_refund(h, stream, (uint32_t)bytes.len);
    if (stream == NULL)
        return;
    if (stream->measured && bytes.len > stream->expected) {
        fl_http2_stream_break(stream, FL_HTTP2_PROTOCOL_ERROR);
        return;
    }
    stream->expected -= stream->measured ? bytes.len : 0;
    if (!fl_http2_is_heard(stream))
        return;
    begin_telling(stream);
    h->base.events->on_body(&stream->base, bytes, h->base.user);
    end_telling(stream);
}

void fl_http2_on_data_end(fl_http2 *h, const fl_http2_frame *frame)
{
    fl_http2_stream *stream = (frame->flags & FL_HTTP2_END_STREAM) != 0
                                  ? fl_http2_find(h, frame->stream)
                                  : NULL;

    if (stream == NULL)
        return;
    begin_telling(stream);
    tell_end(h, stream);
    end_telling(stream);
}
