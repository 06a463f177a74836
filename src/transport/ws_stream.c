/*
 * ws_stream.c - a stream as the pipe of a WebSocket link.
 *
 * The stream may have been made for something else, HTTP, with a high water
 * mark of its own; the link's mark is looked to here.
 */
#include "transport/ws_link.h"

static bool is_full(const fl_ws_link *ws)
{
    return fl_stream_pending(ws->stream) >= ws->settings->high_water;
}

static fl_status write_out(fl_ws_link *ws, const fl_span *parts, size_t count,
                           bool urgent)
{
    size_t low = ws->settings->high_water / 2;

    if (!urgent && is_full(ws)) {
        fl_stream_drain_at(ws->stream, low);
        return FL_BUSY;
    }
    if (count == 0)
        return FL_OK;
    fl_status rc = fl_stream_write_urgent(ws->stream, parts, count);
    if (rc == FL_OK && is_full(ws))
        fl_stream_drain_at(ws->stream, low);
    return rc;
}

static size_t count_pending(const fl_ws_link *ws)
{
    return fl_stream_pending(ws->stream);
}

static void pause(fl_ws_link *ws, bool paused)
{
    fl_stream_pause(ws->stream, paused);
}

static void close_stream(fl_ws_link *ws, uint64_t flush_ms)
{
    if (flush_ms > 0)
        fl_stream_close_after_flush(ws->stream, flush_ms);
    else
        fl_stream_close(ws->stream);
}

static void name_peer(const fl_ws_link *ws, char name[FL_STREAM_NAME])
{
    fl_stream_peer_name(ws->stream, name);
}

const fl_ws_pipe fl_ws_stream_pipe = {
    .write = write_out,
    .pending = count_pending,
    .pause = pause,
    .close = close_stream,
    .name = name_peer,
};

static void on_data(void *user, fl_span bytes)
{
    fl_ws_link_on_data(user, bytes);
}

static void on_end(void *user, const fl_error *why)
{
    fl_ws_link_on_end(user, why);
}

static void on_drain(void *user)
{
    fl_ws_link_on_drain(user);
}

static void on_closed(void *user)
{
    fl_ws_link_on_gone(user);
}

const fl_stream_events fl_ws_stream_events = {
    .on_data = on_data,
    .on_end = on_end,
    .on_drain = on_drain,
    .on_closed = on_closed,
};
