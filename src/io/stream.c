/*
 * stream.c - a stream's life: start, reading, end, close.
 *
 * The state only ever moves forward. To close never frees: the memory goes when
 * libuv has given back the last handle, or at the end of the turn, whichever is
 * later. So a stream may be closed from any of its callbacks; whoever made the
 * callback looks at the state afterwards and needs no other guard.
 *
 * What must come "later" by contract (a failure found inside fl_stream_start,
 * on_closed of a stream that never had a handle) goes through the loop's dirty
 * list, like output does: the end of the turn is outside of every call the
 * owner makes.
 */
#include "io/stream.h"

#include "base/mem.h"
#include "base/status.h"
#include "io/stream_file.h"
#include "io/stream_impl.h"
#include "io/tls_stream.h"
#include "io/tunnel.h"
#include "io/uv_status.h"

#include <assert.h>
#include <inttypes.h>

static void on_timer(fl_timer *timer, void *user);

fl_stream *fl_stream_new(fl_loop *loop, fl_stream_shared *shared)
{
    fl_stream *stream = fl_mem_zalloc(sizeof *stream);

    if (stream == NULL)
        return NULL;
    stream->loop = loop;
    stream->shared = fl_stream_shared_ref(shared);
    stream->handle.any.data = stream;
    fl_list_init(&stream->dirty);
    fl_buf_init(&stream->out_buf, shared->limits.out_max);
    fl_timer_init(&stream->timer, loop, on_timer, stream);
    loop->live++;
    return stream;
}

void fl_stream_discard(fl_stream *stream)
{
    assert(stream->holds == 0 && stream->slow == NULL);
    fl_timer_stop(&stream->timer);
    fl_list_remove(&stream->dirty);
    fl_stream_drop_output(stream);
    fl_stream_file_free(stream);
    fl_tls_layer_free(stream->tls);
    fl_connect_free(stream->connecting);
    fl_tunnel_free(stream->tunnel);
    fl_stream_shared_unref(stream->shared);
    stream->loop->live--;
    fl_mem_free(stream);
}

static void start_timer(fl_stream *stream, fl_stream_job job, uint64_t ms)
{
    stream->job = (uint8_t)job;
    fl_timer_start(&stream->timer, ms);
}

static fl_status begin(fl_stream *stream)
{
    if (stream->connecting == NULL && stream->tls == NULL) {
        stream->state = FL_STREAM_OPEN;
        fl_stream_update_reading(stream);
        if (fl_stream_pending(stream) > 0 || stream->finishing)
            fl_stream_mark(stream);
        return FL_OK;
    }
    stream->state = FL_STREAM_OPENING;
    start_timer(stream, FL_STREAM_JOB_OPEN,
                stream->shared->limits.open_timeout_ms);
    if (stream->connecting != NULL)
        fl_stream_mark(stream);
    else
        fl_stream_update_reading(stream);
    return FL_AGAIN;
}

fl_status fl_stream_start(fl_stream *stream, const fl_stream_events *events,
                          void *user)
{
    if (stream->state != FL_STREAM_FRESH)
        return FL_E_STATE;
    stream->events = events;
    stream->user = user;
    return begin(stream);
}

void fl_stream_rebind(fl_stream *stream, const fl_stream_events *events,
                      void *user)
{
    assert(stream->state != FL_STREAM_FRESH);
    stream->events = events;
    stream->user = user;
}

void fl_stream_connected(fl_stream *stream)
{
    stream->in = stream->out = &stream->handle.stream;
    if (stream->tunnel == NULL) {
        fl_stream_arrived(stream);
        return;
    }
    fl_stream_update_reading(stream);
    fl_tunnel_begin(stream);
}

void fl_stream_arrived(fl_stream *stream)
{
    if (stream->tls == NULL) {
        fl_stream_opened(stream);
        return;
    }
    fl_stream_update_reading(stream);
    fl_tls_layer_begin(stream);
}

void fl_stream_opened(fl_stream *stream)
{
    stream->state = FL_STREAM_OPEN;
    if (stream->job == FL_STREAM_JOB_OPEN)
        fl_timer_stop(&stream->timer);
    fl_stream_update_reading(stream);
    fl_stream_mark(stream);
    if (!stream->quiet && stream->events->on_open != NULL)
        stream->events->on_open(stream->user);
}

static void lend(uv_handle_t *handle, size_t wanted, uv_buf_t *buf)
{
    const fl_stream *stream = handle->data;

    (void)wanted;
    buf->base = stream->loop->read;
    buf->len = sizeof stream->loop->read;
}

static void take(uv_stream_t *handle, ssize_t n, const uv_buf_t *buf)
{
    fl_stream *stream = handle->data;

    if (n > 0)
        fl_stream_received(stream, (fl_span){buf->base, (size_t)n});
    else if (n == UV_EOF)
        fl_stream_at_eof(stream);
    else if (n < 0)
        fl_stream_fail(stream, "read", (int)n);
}

void fl_stream_received(fl_stream *stream, fl_span raw)
{
    if (stream->tunnel != NULL)
        fl_tunnel_feed(stream, raw);
    else if (stream->tls != NULL)
        fl_tls_layer_feed(stream, raw);
    else
        fl_stream_deliver(stream, raw);
}

void fl_stream_deliver(fl_stream *stream, fl_span bytes)
{
    if (!stream->quiet) {
        stream->events->on_data(stream->user, bytes);
        return;
    }
    if (stream->thrown < FL_STREAM_UPLOAD)
        stream->thrown += (uint32_t)bytes.len;
    fl_stream_mark(stream); /* perhaps that was all, and we can go */
}

/* A hang-up without TLS' own goodbye is for the layer to judge. */
void fl_stream_at_eof(fl_stream *stream)
{
    bool was_ended = stream->ended;

    stream->ended = true;
    stream->reading = false;
    if (stream->tunnel != NULL)
        fl_tunnel_at_eof(stream);
    else if (stream->tls != NULL)
        fl_tls_layer_at_eof(stream);
    else if (!was_ended)
        fl_stream_ended(stream);
}

void fl_stream_ended(fl_stream *stream)
{
    stream->ended = true;
    fl_stream_update_reading(stream);
    if (!stream->quiet) {
        fl_error end = {.status = FL_END};
        fl_error_set(&end, FL_END, "%s", fl_status_text(FL_END));
        stream->events->on_end(stream->user, &end);
    } else if (stream->finished) {
        fl_stream_close(stream);
    }
}

void fl_stream_break(fl_stream *stream, const fl_error *error)
{
    if (!fl_stream_usable(stream))
        return;
    stream->state = FL_STREAM_BROKEN;
    fl_stream_update_reading(stream);
    fl_timer_stop(&stream->timer);
    fl_list_remove(&stream->dirty);
    fl_stream_drop_output(stream);
    if (stream->quiet)
        fl_stream_close(stream);
    else
        stream->events->on_end(stream->user, error);
}

void fl_stream_fail(fl_stream *stream, const char *doing, int code)
{
    fl_error error;

    if (code == UV_EPIPE)
        fl_loop_eat_sigpipe();
    fl_error_set(&error, fl_status_from_uv(code), "%s: %s", doing,
                 fl_uv_text(code));
    fl_stream_break(stream, &error);
}

static bool wants_reading(const fl_stream *stream)
{
    if (stream->ended)
        return false;
    if (stream->state == FL_STREAM_OPEN) /* a quiet one reads to throw away */
        return (stream->quiet || !stream->paused) &&
               !fl_tls_layer_holds(stream->tls);
    return stream->state == FL_STREAM_OPENING && stream->in != NULL;
}

void fl_stream_update_reading(fl_stream *stream)
{
    bool wanted = wants_reading(stream);
    int rc = 0;

    if (wanted == stream->reading)
        return;
    stream->reading = wanted;
    if (fl_stream_file_in(stream)) {
        if (wanted)
            fl_stream_file_read(stream);
        return;
    }
    if (stream->in == NULL)
        return;
    if (wanted)
        rc = uv_read_start(stream->in, lend, take);
    else
        uv_read_stop(stream->in);
    if (rc < 0) {
        stream->late = (int8_t)fl_status_from_uv(rc);
        fl_stream_mark(stream);
    }
}

void fl_stream_pause(fl_stream *stream, bool paused)
{
    stream->paused = paused;
    fl_stream_update_reading(stream);
    /* Bytes that were read already wait in a layer or a file's buffer. */
    if (!paused && stream->state == FL_STREAM_OPEN &&
        (stream->tls != NULL || stream->files != NULL))
        fl_stream_mark(stream);
}

static void tell_late(fl_stream *stream)
{
    fl_error error;

    fl_error_set(&error, (fl_status)stream->late, "%s",
                 fl_status_text((fl_status)stream->late));
    fl_stream_break(stream, &error);
}

static void turn_open(fl_stream *stream)
{
    if (stream->tls != NULL)
        fl_tls_layer_resume(stream);
    else if (stream->files != NULL)
        fl_stream_file_turn(stream);
    if (stream->state == FL_STREAM_OPEN)
        fl_stream_flush(stream);
}

static void let_go(fl_stream *stream)
{
    const fl_stream_events *events = stream->events;
    void *user = stream->user;

    fl_stream_discard(stream);
    if (events != NULL && events->on_closed != NULL)
        events->on_closed(user);
}

void fl_stream_turn(fl_stream *stream)
{
    if (stream->late < 0 && fl_stream_usable(stream)) {
        tell_late(stream); /* who hears of it may close: nothing comes after */
        return;
    }
    switch ((fl_stream_state)stream->state) {
    case FL_STREAM_OPEN:
        turn_open(stream);
        break;
    case FL_STREAM_OPENING:
        if (stream->connecting != NULL && stream->in == NULL)
            fl_connect_begin(stream);
        else
            fl_stream_flush(stream);
        break;
    case FL_STREAM_CLOSING:
        let_go(stream);
        break;
    case FL_STREAM_FRESH:
    case FL_STREAM_BROKEN:
        break;
    }
}

void fl_stream_finish(fl_stream *stream)
{
    stream->finishing = true;
    if (fl_stream_usable(stream))
        fl_stream_mark(stream);
}

void fl_stream_release(fl_stream *stream)
{
    assert(stream->holds > 0);
    stream->holds--;
    if (stream->holds == 0 && stream->state == FL_STREAM_CLOSING)
        let_go(stream);
}

void fl_stream_closed(uv_handle_t *handle)
{
    fl_stream *stream = handle->data;

    if (handle != &stream->handle.any)
        fl_mem_free(handle);
    fl_stream_release(stream);
}

void fl_stream_close(fl_stream *stream)
{
    if (stream->state == FL_STREAM_CLOSING)
        return;
    stream->state = FL_STREAM_CLOSING;
    stream->quiet = true;
    stream->reading = false;
    fl_timer_stop(&stream->timer);
    fl_list_remove(&stream->dirty);
    if (stream->connecting != NULL)
        fl_connect_abort(stream);
    if (stream->files != NULL)
        fl_stream_file_close(stream);
    if (stream->in != NULL)
        uv_close((uv_handle_t *)stream->in, fl_stream_closed);
    if (stream->out != NULL && stream->out != stream->in)
        uv_close((uv_handle_t *)stream->out, fl_stream_closed);
    stream->in = stream->out = NULL;
    if (stream->holds == 0)
        fl_stream_mark(stream);
}

void fl_stream_close_after_flush(fl_stream *stream, uint64_t ms)
{
    if (stream->quiet)
        return;
    if (stream->state == FL_STREAM_BROKEN) {
        fl_stream_close(stream);
        return;
    }
    stream->quiet = true;
    stream->finishing = true;
    if (stream->state == FL_STREAM_FRESH)
        (void)!begin(stream); /* either way the flush comes when it can */
    start_timer(stream, FL_STREAM_JOB_CLOSE, ms);
    fl_stream_update_reading(stream);
    fl_stream_mark(stream);
}

void fl_stream_close_after_peer(fl_stream *stream, uint64_t ms)
{
    stream->lingering = true;
    fl_stream_close_after_flush(stream, ms);
}

/* Connecting and shaking hands share the time; say which one it ran out on. */
static void open_timed_out(fl_stream *stream)
{
    char name[FL_STREAM_NAME];
    fl_error error;

    if (stream->in == NULL) {
        fl_connect_timed_out(stream);
        return;
    }
    fl_stream_peer_name(stream, name);
    fl_error_set(&error, FL_E_TIMEOUT,
                 stream->tunnel != NULL
                     ? "proxy: no answer from %s after %" PRIu64 " ms"
                     : "TLS handshake with %s not done after %" PRIu64 " ms",
                 name, stream->shared->limits.open_timeout_ms);
    fl_stream_break(stream, &error);
}

static void on_timer(fl_timer *timer, void *user)
{
    fl_stream *stream = user;

    (void)timer;
    switch ((fl_stream_job)stream->job) {
    case FL_STREAM_JOB_OPEN:
        open_timed_out(stream);
        break;
    case FL_STREAM_JOB_SEND:
        fl_stream_check_progress(stream);
        break;
    case FL_STREAM_JOB_CLOSE:
        fl_stream_close(stream);
        break;
    }
}
