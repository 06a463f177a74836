/*
 * stream_out.c - a stream's output: gather, flush, wait.
 *
 * Writes are appended to out_buf and the stream is put on the loop's dirty
 * list; at the end of the turn one system call takes the lot (a long turn's
 * output goes in pieces, see send_early). That is the whole story for a peer
 * that reads.
 *
 * For one that does not, what was left over stays where it is, new writes
 * gather behind it, and the poller is asked to tell of room; that is the only
 * time an end is entered for output. When nothing is taken for the length of
 * the send timeout, the stream breaks.
 */
#include "base/span.h"
#include "base/status.h"
#include "io/stream_file.h"
#include "io/stream_impl.h"
#include "io/tls_stream.h"
#include "io/uv_status.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

size_t fl_stream_pending(const fl_stream *stream)
{
    return fl_buf_len(&stream->out_buf) + fl_stream_file_unwritten(stream) +
           fl_tls_layer_pending(stream->tls);
}

ssize_t fl_stream_give(const fl_stream *stream, fl_span bytes)
{
    bool socket = fl_stream_is_socket(stream);
    int fd = stream->out.fd;
    ssize_t n;

    do
        n = socket ? send(fd, bytes.ptr, bytes.len, MSG_NOSIGNAL)
                   : write(fd, bytes.ptr, bytes.len);
    while (n < 0 && errno == EINTR);
    if (n >= 0)
        return n;
    int code = -errno;
    if (code == UV_EPIPE && !socket)
        fl_loop_eat_sigpipe();
    return code;
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
    if (fl_buf_len(gathered) < stream->early ||
        stream->state != FL_STREAM_OPEN || stream->out.fd < 0 ||
        stream->tls != NULL || stream->blocked || stream->stuffed ||
        !fl_stream_loop(stream)->running)
        return;
    ssize_t taken = fl_stream_give(stream, fl_buf_view(gathered));
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
        fl_pool_lend(&fl_stream_loop(stream)->pool, &stream->out_buf);
    if (fl_buf_append_all(&stream->out_buf, parts, count) != FL_OK)
        return FL_E_NOMEM;
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
    stream->blocked = false;
    fl_stream_weigh(stream);
    fl_buf_truncate(&stream->out_buf, 0);
    fl_pool_return(&fl_stream_loop(stream)->pool, &stream->out_buf);
}

/* Asks to be told of room, or not to; below zero: libuv's code. A socket is
 * entered once, for both its ends. */
static int ask_for_room(fl_stream *stream, bool wanted)
{
    fl_poller *poller = &fl_stream_loop(stream)->poller;
    unsigned room = EPOLLOUT | (unsigned)EPOLLET;

    if (stream->out.fd == stream->in.fd)
        return fl_poller_ask(poller, &stream->in,
                             wanted ? stream->in.asked | EPOLLOUT
                                    : stream->in.asked & ~(unsigned)EPOLLOUT);
    if (wanted)
        return fl_poller_ask(poller, &stream->out, room);
    fl_poller_stop(poller, &stream->out);
    return 0;
}

/* The rest has to wait; below zero: libuv's code. */
static int block(fl_stream *stream, bool took_some)
{
    if (took_some)
        fl_stream_progressed(stream);
    stream->blocked = true;
    fl_stream_weigh(stream);
    return ask_for_room(stream, true);
}

/* Who goes on being told would hear of each byte that is taken. */
void fl_stream_unblock(fl_stream *stream)
{
    stream->blocked = false;
    fl_stream_weigh(stream);
    (void)!ask_for_room(stream, false);
    fl_stream_mark(stream);
}

/* Below zero: libuv's error. Else `piece` is empty now, or has to wait. */
static int push(fl_stream *stream, fl_buf *piece)
{
    bool took_some = false;

    if (stream->out.fd < 0)
        return fl_stream_file_write(stream, piece);
    while (fl_buf_len(piece) > 0) {
        ssize_t taken = fl_stream_give(stream, fl_buf_view(piece));
        if (taken == UV_EAGAIN)
            return block(stream, took_some);
        if (taken < 0)
            return (int)taken;
        fl_buf_consume(piece, (size_t)taken);
        took_some = true;
    }
    fl_pool_return(&fl_stream_loop(stream)->pool, piece);
    return 0;
}

/* The other side is to see an end of file. */
static void end_output(fl_stream *stream)
{
    stream->finished = true;
    if (stream->out.fd < 0) {
        fl_stream_file_end_output(stream);
        return;
    }
    /* A pipe is no socket and is only closed; a socket may have been given
     * to us as two descriptors, and closing one of those ends nothing. */
    shutdown(stream->out.fd, SHUT_WR);
    if (stream->out.fd != stream->in.fd)
        fl_poller_drop(&fl_stream_loop(stream)->poller, &stream->out);
}

static bool has_unread(const fl_stream *stream)
{
    int unread = 0;

    return fl_stream_is_socket(stream) &&
           ioctl(stream->in.fd, FIONREAD, &unread) == 0 && unread > 0;
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

static bool is_waiting(const fl_stream *stream)
{
    return stream->blocked || fl_stream_file_unwritten(stream) > 0;
}

static void watch_progress(fl_stream *stream)
{
    if (!is_waiting(stream) || stream->patient ||
        fl_timer_running(&stream->timer))
        return;
    stream->job = FL_STREAM_JOB_SEND;
    fl_timer_start(&stream->timer, stream->shared->limits.send_timeout_ms);
}

void fl_stream_progressed(fl_stream *stream)
{
    if (stream->job == FL_STREAM_JOB_SEND && fl_timer_running(&stream->timer))
        fl_timer_start(&stream->timer, stream->shared->limits.send_timeout_ms);
}

void fl_stream_gather(fl_stream *stream, uint16_t bytes)
{
    stream->early = bytes;
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
static void fail_write(fl_stream *stream, int code)
{
    if (code == UV_EPIPE && stream->in.fd != stream->out.fd)
        fl_stream_hear_out(stream);
    fl_stream_fail(stream, "write", code);
}

void fl_stream_flush(fl_stream *stream)
{
    stream->stuffed = false;
    while (!is_waiting(stream) && fl_stream_usable(stream)) {
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
    if (!fl_stream_usable(stream))
        return;
    if (code < 0)
        fail_write(stream, code);
    else
        fl_stream_flush(stream);
}

void fl_stream_send_timed_out(fl_stream *stream)
{
    fl_error error;

    if (!is_waiting(stream))
        return;
    fl_error_set(&error, FL_E_TIMEOUT,
                 "the other side took nothing for %" PRIu64 " ms",
                 stream->shared->limits.send_timeout_ms);
    fl_stream_break(stream, &error);
}
