/*
 * stream.c - a stream's life: start, end, close.
 *
 * The state only ever moves forward. To close never frees: the memory goes at
 * the end of the turn, or when the last file operation is over, whichever is
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

enum {
    EARLY = 2048, /* bytes; measured: at 64 in flight, twice the rate */
};

static void on_timer(fl_timer *timer);

fl_stream *fl_stream_new(fl_loop *loop, fl_stream_shared *shared)
{
    fl_stream *stream = fl_mem_zalloc(sizeof *stream);

    if (stream == NULL)
        return NULL;
    stream->shared = fl_stream_shared_ref(shared);
    fl_watch_init(&stream->in, fl_stream_on_in);
    fl_watch_init(&stream->out, fl_stream_on_out);
    fl_list_init(&stream->dirty);
    fl_buf_init(&stream->out_buf, shared->limits.out_max);
    stream->early = EARLY;
    fl_timer_init(&stream->timer, loop, on_timer);
    loop->live++;
    return stream;
}

void fl_stream_discard(fl_stream *stream)
{
    assert(stream->holds == 0);
    fl_timer_stop(&stream->timer);
    fl_stream_drop_ends(stream);
    fl_list_remove(&stream->dirty);
    fl_stream_drop_output(stream);
    fl_stream_file_free(stream);
    fl_tls_layer_free(stream->tls);
    fl_connect_free(stream->connecting);
    fl_tunnel_free(stream->tunnel);
    fl_stream_shared_unref(stream->shared);
    fl_stream_loop(stream)->live--;
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

    fl_error_set(&error, fl_status_from_uv(code), "%s: %s", doing,
                 fl_uv_text(code));
    fl_stream_break(stream, &error);
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
    fl_stream_read_on(stream);
}

static void turn_opening(fl_stream *stream)
{
    if (stream->connecting != NULL) {
        fl_connect_begin(stream);
        return;
    }
    fl_stream_flush(stream);
    fl_stream_read_on(stream);
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
        turn_opening(stream);
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

void fl_stream_drop_ends(fl_stream *stream)
{
    if (stream->out.fd == stream->in.fd)
        stream->out.fd = -1;
    fl_poller_drop(&fl_stream_loop(stream)->poller, &stream->in);
    fl_poller_drop(&fl_stream_loop(stream)->poller, &stream->out);
    stream->blocked = stream->has_input = false;
    fl_stream_weigh(stream);
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
    fl_stream_drop_ends(stream);
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

    if (stream->connecting != NULL) {
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

static void on_timer(fl_timer *timer)
{
    fl_stream *stream = FL_LIST_ENTRY(timer, fl_stream, timer);

    switch ((fl_stream_job)stream->job) {
    case FL_STREAM_JOB_OPEN:
        open_timed_out(stream);
        break;
    case FL_STREAM_JOB_SEND:
        fl_stream_send_timed_out(stream);
        break;
    case FL_STREAM_JOB_CLOSE:
        fl_stream_close(stream);
        break;
    }
}
