/*
 * http2_window.c - how much either side may send (RFC 9113 5.2 and 6.9).
 *
 * What comes in is charged when its frame begins, padding and all, and given
 * back as it is dealt with; the peer is told of it when half a window has come
 * together. A paused stream keeps its own window shut, and the others go on.
 *
 * What we may send is a number for the connection and one for each stream. The
 * latter may fall below zero, when a peer changes its mind about where streams
 * begin. A peer may leave a window shut, and have us keep what waits behind it:
 * who asks from time to time (look_for_stuck) is rid of that. It is asked of
 * each stream by itself, for others may go on, and pings come and go.
 */
#include "wire/http2_window.h"

#include "wire/http2_impl.h"

enum { MOVED = FL_HTTP2_FRAME_MAX }; /* less than a frame is next to nothing */

bool fl_http2_charge(fl_http2 *h, fl_http2_stream *stream, uint32_t length)
{
    if (length > h->room) {
        fl_http2_doom(h, FL_HTTP2_FLOW_CONTROL_ERROR);
        return false;
    }
    h->room -= length;
    if (stream == NULL)
        return true;
    if (length > stream->room) {
        fl_http2_stream_break(stream, FL_HTTP2_FLOW_CONTROL_ERROR);
        return false;
    }
    stream->room -= length;
    return true;
}

static void refund_stream(fl_http2_stream *stream, uint32_t length)
{
    stream->taken += length;
    if (stream->taken < FL_HTTP2_STREAM_ROOM / 2 || stream->whole)
        return;
    fl_http2_put_number(fl_http2_of(stream), FL_HTTP2_WINDOW_UPDATE, stream->id,
                        stream->taken);
    stream->room += stream->taken;
    stream->taken = 0;
}

void fl_http2_refund(fl_http2 *h, fl_http2_stream *stream, uint32_t length)
{
    h->taken += length;
    if (h->taken >= FL_HTTP2_ROOM / 2) {
        fl_http2_put_number(h, FL_HTTP2_WINDOW_UPDATE, 0, h->taken);
        h->room += h->taken;
        h->taken = 0;
    }
    if (stream == NULL)
        return;
    if (stream->owned && stream->paused)
        stream->withheld += length;
    else
        refund_stream(stream, length);
}

void fl_http2_refund_withheld(fl_http2_stream *stream)
{
    uint32_t due = stream->withheld;

    stream->withheld = 0;
    if (due > 0 && !stream->closed)
        refund_stream(stream, due);
}

void fl_http2_pause(fl_exchange *exchange, bool paused)
{
    fl_http2_stream *stream = (fl_http2_stream *)(void *)exchange;
    fl_http2 *h = fl_http2_of(stream);

    stream->paused = paused;
    if (paused)
        return;
    fl_http2_enter(h);
    fl_http2_refund_withheld(stream);
    fl_http2_leave(h, false);
}

void fl_http2_rewindow(fl_http2 *h, uint32_t size)
{
    int64_t change = (int64_t)size - h->to_stream;

    if (size > FL_HTTP2_MAX) {
        fl_http2_doom(h, FL_HTTP2_FLOW_CONTROL_ERROR);
        return;
    }
    h->to_stream = size;
    for (fl_list *at = h->streams.next; at != &h->streams; at = at->next) {
        fl_http2_stream *stream = FL_LIST_ENTRY(at, fl_http2_stream, node);
        stream->window += change;
        if (stream->window > FL_HTTP2_MAX)
            fl_http2_doom(h, FL_HTTP2_FLOW_CONTROL_ERROR);
        if (change > 0 && fl_http2_unsent(stream) > 0)
            fl_http2_make_ready(stream);
    }
}

static void open_stream(fl_http2 *h, uint32_t id, uint32_t more)
{
    fl_http2_stream *stream = fl_http2_find(h, id);

    if (stream == NULL) {
        if (fl_http2_is_idle(h, id))
            fl_http2_doom(h, FL_HTTP2_PROTOCOL_ERROR);
        return; /* it closed meanwhile */
    }
    if (more == 0 || stream->window + more > FL_HTTP2_MAX) {
        fl_http2_stream_break(stream, more == 0 ? FL_HTTP2_PROTOCOL_ERROR
                                                : FL_HTTP2_FLOW_CONTROL_ERROR);
        return;
    }
    stream->window += more;
    if (fl_http2_unsent(stream) > 0)
        fl_http2_make_ready(stream);
}

void fl_http2_on_update(fl_http2 *h, const fl_http2_frame *frame,
                        fl_span payload)
{
    uint32_t more = fl_http2_get31(payload.ptr);

    if (frame->stream != 0)
        open_stream(h, frame->stream, more);
    else if (more == 0)
        fl_http2_doom(h, FL_HTTP2_PROTOCOL_ERROR);
    else if (h->window + more > FL_HTTP2_MAX)
        fl_http2_doom(h, FL_HTTP2_FLOW_CONTROL_ERROR);
    else
        h->window += more;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

size_t fl_http2_may_send(const fl_http2_stream *stream, size_t wanted)
{
    const fl_http2 *h = fl_http2_of(stream);
    int64_t most = least(least(stream->window, h->window), h->to_frame);

    if (most <= 0)
        return 0;
    return wanted < (size_t)most ? wanted : (size_t)most;
}

void fl_http2_note_moved(fl_http2_stream *stream, size_t length)
{
    if (stream->moved < MOVED)
        stream->moved += (uint32_t)(length < MOVED ? length : MOVED);
}

/* It has something to say, the connection could carry it, and may not. */
static bool is_shut_in(const fl_http2_stream *stream)
{
    return !stream->closed && !fl_http2_of(stream)->busy &&
           fl_http2_unsent(stream) > 0 && fl_http2_may_send(stream, 1) == 0;
}

size_t fl_http2_look_for_stuck(fl_http *http, bool end)
{
    fl_http2 *h = (fl_http2 *)(void *)http;
    size_t ended = 0;

    fl_http2_enter(h);
    for (fl_list *at = h->streams.next; at != &h->streams;) {
        fl_http2_stream *stream = FL_LIST_ENTRY(at, fl_http2_stream, node);
        bool was_stuck = stream->stuck && stream->moved < MOVED;
        at = at->next;
        stream->stuck = is_shut_in(stream);
        stream->moved = 0;
        if (end && was_stuck && stream->stuck) {
            fl_http2_stream_break(stream, FL_HTTP2_CANCEL);
            ended++;
        }
    }
    fl_http2_leave(h, end);
    return ended;
}
