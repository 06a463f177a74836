/*
 * http2_control.c - frames that are about the connection, or about the state
 * of a stream: what the peer says with them, and our own settings.
 */
#include "wire/http2_impl.h"

#include "base/span.h"
#include "wire/http2_window.h"

enum {
    SETTING = 6,       /* bytes */
    SETTINGS_MAX = 32, /* in one frame: there are eight */
    FRAME_MOST = 64 * 1024,
};

void fl_http2_on_reset(fl_http2 *h, const fl_http2_frame *frame,
                       fl_span payload)
{
    fl_http2_stream *stream = fl_http2_find(h, frame->stream);

    if (stream != NULL)
        fl_http2_stream_close(stream, fl_http2_get32(payload.ptr));
    else if (fl_http2_is_idle(h, frame->stream))
        fl_http2_doom(h, FL_HTTP2_PROTOCOL_ERROR);
}

/* A server says nothing about push, or that there is none (RFC 9113 6.5.2). */
static void set_push(fl_http2 *h, uint32_t value)
{
    if (value > (h->client ? 0 : 1))
        fl_http2_doom(h, FL_HTTP2_PROTOCOL_ERROR);
}

static void set_frame_size(fl_http2 *h, uint32_t value)
{
    if (value < FL_HTTP2_FRAME_MAX || value > 0xffffff)
        fl_http2_doom(h, FL_HTTP2_PROTOCOL_ERROR);
    else /* a longer one would keep others waiting */
        h->to_frame = value < FRAME_MOST ? value : FRAME_MOST;
}

/* RFC 8441 3: once offered it is not taken back. */
static void set_connect(fl_http2 *h, uint32_t value)
{
    if (value > 1 || (value == 0 && h->has_connect))
        fl_http2_doom(h, FL_HTTP2_PROTOCOL_ERROR);
    h->has_connect = value == 1;
}

/* RFC 9218 2.1: it is what the first frame says, or 0, for good. */
static void set_unranked(fl_http2 *h, uint32_t value)
{
    if (value > 1 || (h->known && value != h->unranked))
        fl_http2_doom(h, FL_HTTP2_PROTOCOL_ERROR);
    h->unranked = value == 1;
}

static void set(fl_http2 *h, unsigned setting, uint32_t value)
{
    switch (setting) {
    case FL_HTTP2_HEADER_TABLE_SIZE:
        fl_hpack_writer_limit(&h->writer, value);
        break;
    case FL_HTTP2_ENABLE_PUSH:
        set_push(h, value);
        break;
    case FL_HTTP2_MAX_CONCURRENT_STREAMS:
        h->to_open = value;
        break;
    case FL_HTTP2_INITIAL_WINDOW_SIZE:
        fl_http2_rewindow(h, value);
        break;
    case FL_HTTP2_MAX_FRAME_SIZE:
        set_frame_size(h, value);
        break;
    case FL_HTTP2_ENABLE_CONNECT_PROTOCOL:
        set_connect(h, value);
        break;
    case FL_HTTP2_NO_RFC7540_PRIORITIES:
        set_unranked(h, value);
        break;
    default: /* of no use to us, or known to nobody */
        break;
    }
}

void fl_http2_on_settings(fl_http2 *h, const fl_http2_frame *frame,
                          fl_span payload)
{
    bool is_ack = (frame->flags & FL_HTTP2_ACK) != 0;

    if (payload.len % SETTING != 0 || (is_ack && payload.len > 0)) {
        fl_http2_doom(h, FL_HTTP2_FRAME_SIZE_ERROR);
        return;
    }
    if (payload.len / SETTING > SETTINGS_MAX)
        fl_http2_doom(h, FL_HTTP2_ENHANCE_YOUR_CALM);
    h->acked = h->acked || is_ack;
    if (!h->known)
        h->to_open = UINT32_MAX; /* unless it says otherwise (6.5.2) */
    for (; payload.len > 0 && h->doom == 0;
         payload = fl_span_from(payload, SETTING))
        set(h, fl_http2_get32(payload.ptr) >> 16,
            fl_http2_get32(payload.ptr + 2));
    h->known = true;
    if (!is_ack && h->doom == 0)
        fl_http2_put_frame(h, FL_HTTP2_SETTINGS, FL_HTTP2_ACK, 0, (fl_span){0});
}

void fl_http2_on_ping(fl_http2 *h, const fl_http2_frame *frame, fl_span payload)
{
    if ((frame->flags & FL_HTTP2_ACK) == 0)
        fl_http2_put_frame(h, FL_HTTP2_PING, FL_HTTP2_ACK, 0, payload);
    else if (h->noticed)
        fl_http2_depart(h);
}

/* Of our requests, those after `last` were not looked at. */
void fl_http2_on_goaway(fl_http2 *h, const fl_http2_frame *frame,
                        fl_span payload)
{
    uint32_t last = fl_http2_get31(payload.ptr);

    (void)frame;
    h->farewell = true;
    for (fl_list *at = h->streams.next; h->client && at != &h->streams;) {
        fl_http2_stream *stream = FL_LIST_ENTRY(at, fl_http2_stream, node);
        at = at->next;
        if (stream->id > last && !stream->closed)
            fl_http2_stream_close(stream, FL_HTTP2_REFUSED_STREAM);
    }
}

static char *put_setting(char *to, fl_http2_setting setting, size_t value)
{
    *to++ = 0;
    *to++ = (char)setting;
    return fl_http2_put32(to,
                          value < UINT32_MAX ? (uint32_t)value : UINT32_MAX);
}

static char *put_settings(const fl_http2 *h, char *to)
{
    const fl_http_limits *limits = h->base.limits;

    to = put_setting(to, FL_HTTP2_INITIAL_WINDOW_SIZE, FL_HTTP2_STREAM_ROOM);
    to = put_setting(to, FL_HTTP2_MAX_HEADER_LIST_SIZE, limits->max_head);
    to = put_setting(to, FL_HTTP2_NO_RFC7540_PRIORITIES, 1);
    if (h->client)
        return put_setting(to, FL_HTTP2_ENABLE_PUSH, 0);
    to = put_setting(to, FL_HTTP2_MAX_CONCURRENT_STREAMS, limits->max_streams);
    if (limits->take_connect)
        to = put_setting(to, FL_HTTP2_ENABLE_CONNECT_PROTOCOL, 1);
    return to;
}

fl_status fl_http2_greet(fl_http2 *h)
{
    char room[128], *frame = room, *at;

    if (h->client) {
        memcpy(room, FL_HTTP2_PREFACE_TEXT, FL_HTTP2_PREFACE);
        frame += FL_HTTP2_PREFACE;
    }
    at = put_settings(h, frame + FL_HTTP2_HEAD);
    (void)fl_http2_put_head(frame, (size_t)(at - frame) - FL_HTTP2_HEAD,
                            FL_HTTP2_SETTINGS, 0, 0);
    at = fl_http2_put_head(at, 4, FL_HTTP2_WINDOW_UPDATE, 0, 0);
    at = fl_http2_put32(at, FL_HTTP2_ROOM - FL_HTTP2_WINDOW);
    return fl_buf_append(&h->held, (fl_span){room, (size_t)(at - room)});
}
