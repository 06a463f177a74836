/*
 * stream_out.c - a stream's output: gather, flush, wait.
 *
 * Writes are appended to out_buf and the stream is put on the loop's dirty
 * list; at the end of the turn uv_try_write() takes the lot with one system
 * call and no epoll_ctl (a long turn's output goes in pieces, see send_early).
 * That is the whole story for a peer that reads.
 *
 * For one that does not, what was left over moves, as it is, to a block of its
 * own that lies still while uv_write() works on it; new writes gather in
 * out_buf meanwhile, and go when it is done. libuv does not tell of partial
 * progress, so the send timeout samples the queue four times in its length.
 */
#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/stream_file.h"
#include "io/stream_impl.h"
#include "io/tls_stream.h"
#include "io/uv_status.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    SAMPLES = 4,
    EARLY = 2048,    /* bytes; measured: at 64 in flight, twice the rate */
    LAST_READS = 16, /* of 64 KiB: as much as a pipe can hold */
};

static size_t slow_left(const fl_stream *stream)
{
    if (stream->slow == NULL)
        return 0;
    return stream->out != NULL ? uv_stream_get_write_queue_size(stream->out)
                               : fl_buf_len(&stream->slow->buf);
}

size_t fl_stream_pending(const fl_stream *stream)
{
    return fl_buf_len(&stream->out_buf) + slow_left(stream) +
           fl_tls_layer_pending(stream->tls);
}

/*
 * Of a long turn's output, what has come together so far: the peer then works
 * on it while we do on the rest, instead of each waiting for the other. No
 * callbacks from here, so what goes wrong is left for the turn's end to find.
 */
static void send_early(fl_stream *stream)
{
    fl_buf *gathered = &stream->out_buf;

    /* only while the loop runs does it hold SIGPIPE back */
    if (fl_buf_len(gathered) < EARLY || stream->state != FL_STREAM_OPEN ||
        stream->out == NULL || stream->tls != NULL || stream->slow != NULL ||
        stream->stuffed || !stream->loop->running)
        return;
    uv_buf_t buf = {gathered->ptr + gathered->start, fl_buf_len(gathered)};
    int taken = uv_try_write(stream->out, &buf, 1);
    if (taken == UV_EPIPE)
        fl_loop_eat_sigpipe();
    stream->stuffed = taken < 0 || (size_t)taken < fl_buf_len(gathered);
    if (taken > 0)
        fl_buf_consume(gathered, (size_t)taken);
}

static fl_status gather(fl_stream *stream, const fl_span *parts, size_t count)
{
    const fl_stream_limits *limits = &stream->shared->limits;
    size_t total = fl_span_total(parts, count);

    send_early(stream);
    size_t pending = fl_stream_pending(stream);
    if (pending > limits->out_max || total > limits->out_max - pending)
        return FL_E_TOO_BIG;
    if (total == 0)
        return FL_OK;

    if (stream->out_buf.ptr == NULL)
        fl_pool_lend(&stream->loop->pool, &stream->out_buf);
    char *to = fl_buf_reserve(&stream->out_buf, total);
    if (to == NULL)
        return FL_E_NOMEM;
    for (size_t i = 0; i < count; to += parts[i].len, i++)
        if (parts[i].len > 0)
            memcpy(to, parts[i].ptr, parts[i].len);
    fl_buf_commit(&stream->out_buf, total);
    if (pending + total >= limits->high_water)
        stream->want_drain = true;
    if (stream->state == FL_STREAM_OPEN)
        fl_stream_mark(stream);
    return FL_OK;
}

static bool takes_output(const fl_stream *stream)
{
    return stream->state < FL_STREAM_BROKEN && !stream->finishing;
}

fl_status fl_stream_write(fl_stream *stream, const fl_span *parts, size_t count)
{
    if (!takes_output(stream))
        return FL_E_STATE;
    if (fl_stream_pending(stream) >= stream->shared->limits.high_water) {
        stream->want_drain = true;
        return FL_BUSY;
    }
    return gather(stream, parts, count);
}

fl_status fl_stream_write_urgent(fl_stream *stream, const fl_span *parts,
                                 size_t count)
{
    return takes_output(stream) ? gather(stream, parts, count) : FL_E_STATE;
}

char *fl_stream_last_write(fl_stream *stream, size_t len)
{
    assert(len <= fl_buf_len(&stream->out_buf));
    return stream->out_buf.ptr + stream->out_buf.end - len;
}

void fl_stream_drop_output(fl_stream *stream)
{
    fl_buf_truncate(&stream->out_buf, 0);
    fl_pool_return(&stream->loop->pool, &stream->out_buf);
}

static void on_written(uv_write_t *request, int code)
{
    fl_stream_sent(request->data, code);
}

/* Hands the rest of `piece` to libuv, or to the thread pool for a file. */
static int send_slowly(fl_stream *stream, fl_buf *piece)
{
    fl_stream_slow *slow = fl_mem_alloc(sizeof *slow);

    if (slow == NULL)
        return UV_ENOMEM;
    slow->buf = *piece;
    slow->seen = fl_buf_len(piece);
    slow->progress_at = fl_loop_now(stream->loop);
    slow->request.data = stream;
    *piece = (fl_buf){.max = piece->max};
    stream->slow = slow;
    if (stream->out == NULL) {
        fl_stream_file_write(stream);
        return 0;
    }
    uv_buf_t buf = {slow->buf.ptr + slow->buf.start, slow->seen};
    int rc = uv_write(&slow->request, stream->out, &buf, 1, on_written);
    if (rc < 0) {
        stream->slow = NULL;
        fl_buf_reset(&slow->buf);
        fl_mem_free(slow);
    }
    return rc;
}

/* Below zero: libuv's error. Else `piece` is empty now. */
static int push(fl_stream *stream, fl_buf *piece)
{
    fl_span bytes = fl_buf_view(piece);
    int taken = UV_EAGAIN;

    if (stream->out != NULL) {
        uv_buf_t buf = {piece->ptr + piece->start, bytes.len};
        taken = uv_try_write(stream->out, &buf, 1);
    }
    if (taken < 0 && taken != UV_EAGAIN)
        return taken;
    if (taken > 0)
        fl_buf_consume(piece, (size_t)taken);
    if (fl_buf_len(piece) > 0)
        return send_slowly(stream, piece);
    fl_pool_return(&stream->loop->pool, piece);
    return 0;
}

/* The other side is to see an end of file. */
static void end_output(fl_stream *stream)
{
    uv_os_fd_t fd;

    stream->finished = true;
    if (stream->out == NULL) {
        fl_stream_file_end_output(stream);
        return;
    }
    /* A pipe is no socket and is only closed; a socket may have been given
     * to us as two descriptors, and closing one of those ends nothing. */
    if (uv_fileno((uv_handle_t *)stream->out, &fd) == 0)
        shutdown(fd, SHUT_WR);
    if (stream->out != stream->in) {
        uv_close((uv_handle_t *)stream->out, fl_stream_closed);
        stream->out = NULL;
    }
}

static bool has_unread(const fl_stream *stream)
{
    uv_os_fd_t fd;
    int unread = 0;

    return stream->in != NULL && stream->in == stream->out &&
           uv_fileno((uv_handle_t *)stream->in, &fd) == 0 &&
           ioctl(fd, FIONREAD, &unread) == 0 && unread > 0;
}

/* To close a socket with input unread is to reset it, and a reset overtakes
 * the answer we just sent. A few leftovers are read away first; from a peer in
 * the middle of an upload more will come, and we wait for it to see our end. */
static bool may_go(const fl_stream *stream)
{
    return stream->ended ||
           (!stream->lingering && stream->thrown < FL_STREAM_UPLOAD &&
            !has_unread(stream));
}

static void watch_progress(fl_stream *stream)
{
    uint64_t limit = stream->shared->limits.send_timeout_ms;

    if (stream->slow == NULL || stream->patient ||
        fl_timer_running(&stream->timer))
        return;
    stream->job = FL_STREAM_JOB_SEND;
    fl_timer_start(&stream->timer, limit / SAMPLES + (limit < SAMPLES));
}

void fl_stream_be_patient(fl_stream *stream)
{
    stream->patient = true;
    if (stream->job == FL_STREAM_JOB_SEND)
        fl_timer_stop(&stream->timer);
}

void fl_stream_drain_at(fl_stream *stream, size_t level)
{
    stream->want_drain = stream->own_drain = true;
    stream->drain_at = level < UINT32_MAX ? (uint32_t)level : UINT32_MAX;
    if (stream->state == FL_STREAM_OPEN)
        fl_stream_mark(stream);
}

static bool has_drained(const fl_stream *stream, size_t pending)
{
    return stream->want_drain && !stream->quiet &&
           pending <= (stream->own_drain
                           ? stream->drain_at
                           : stream->shared->limits.high_water / 2);
}

/* What follows from how much is left. */
static void settle(fl_stream *stream)
{
    size_t pending = fl_stream_pending(stream);

    if (stream->state != FL_STREAM_OPEN)
        return;
    watch_progress(stream);
    if (pending >= stream->shared->limits.high_water)
        stream->want_drain = true; /* what TLS adds may have lifted it there */
    if (pending == 0) {
        if (stream->job == FL_STREAM_JOB_SEND)
            fl_timer_stop(&stream->timer);
        if (stream->finishing && !stream->finished)
            end_output(stream);
        if (stream->quiet && may_go(stream))
            fl_stream_close(stream);
    }
    if (has_drained(stream, pending)) {
        stream->want_drain = stream->own_drain = false;
        if (stream->events->on_drain != NULL)
            stream->events->on_drain(stream->user);
    }
}

/* Of two pipes one breaks at a time. Who does not listen any more may have
 * said why, before: that is heard first. */
static void hear_out(fl_stream *stream)
{
    char *bytes = stream->loop->read;
    uv_os_fd_t fd;
    ssize_t n;

    if (stream->in == NULL || stream->in == stream->out ||
        stream->in->type != UV_NAMED_PIPE ||
        uv_fileno((uv_handle_t *)stream->in, &fd) != 0)
        return;
    for (int i = 0; i < LAST_READS && stream->reading; i++) {
        n = read(fd, bytes, sizeof stream->loop->read);
        if (n <= 0)
            break;
        fl_stream_received(stream, (fl_span){bytes, (size_t)n});
    }
}

static void fail_write(fl_stream *stream, int code)
{
    if (code == UV_EPIPE)
        hear_out(stream);
    fl_stream_fail(stream, "write", code);
}

void fl_stream_flush(fl_stream *stream)
{
    stream->stuffed = false;
    while (stream->slow == NULL && fl_stream_usable(stream)) {
        fl_buf *piece = &stream->out_buf;
        if (stream->tls != NULL && (piece = fl_tls_layer_seal(stream)) == NULL)
            return; /* it broke the stream */
        if (fl_buf_len(piece) == 0)
            break;
        int rc = push(stream, piece);
        if (rc < 0) {
            fail_write(stream, rc);
            return;
        }
    }
    settle(stream);
}

void fl_stream_sent(fl_stream *stream, int code)
{
    fl_stream_slow *slow = stream->slow;

    stream->slow = NULL;
    fl_buf_truncate(&slow->buf, 0);
    fl_pool_return(&stream->loop->pool, &slow->buf);
    fl_mem_free(slow);
    if (!fl_stream_usable(stream))
        return;
    if (code < 0)
        fail_write(stream, code);
    else
        fl_stream_flush(stream);
}

void fl_stream_check_progress(fl_stream *stream)
{
    uint64_t limit = stream->shared->limits.send_timeout_ms;
    uint64_t now = fl_loop_now(stream->loop);
    size_t left = slow_left(stream);
    fl_error error;

    if (stream->slow == NULL)
        return;
    if (left != stream->slow->seen) {
        stream->slow->seen = left;
        stream->slow->progress_at = now;
    } else if (now - stream->slow->progress_at >= limit) {
        fl_error_set(&error, FL_E_TIMEOUT,
                     "the other side took nothing for %" PRIu64 " ms", limit);
        fl_stream_break(stream, &error);
        return;
    }
    watch_progress(stream);
}
