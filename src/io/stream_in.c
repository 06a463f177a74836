/*
 * stream_in.c - a stream's input: edges, reads, pauses, the end.
 *
 * The poller tells once that there is something, and not again before there is
 * more. So that is remembered (`has_input`) until a read has shown otherwise:
 * one that brings less than there was room for has emptied a socket or a pipe,
 * and needs no second one to be told so. Where that may not be true, reads go
 * on until the system says "not now" (`to_end`): the other side has ended, and
 * the end is behind the bytes; or a terminal, which gives a line at a time.
 *
 * To pause is to look away, and to go on is to read what was remembered, at
 * the end of the turn.
 */
#include "base/status.h"
#include "io/stream_file.h"
#include "io/stream_impl.h"
#include "io/tls_stream.h"
#include "io/tunnel.h"
#include "io/uv_status.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    READS = 16, /* in a row, of 64 KiB each: then it is somebody else's turn */
    INPUT = EPOLLIN | EPOLLRDHUP | EPOLLPRI | EPOLLHUP | EPOLLERR,
    MORE_THAN_BYTES = INPUT & ~EPOLLIN,
    ROOM = EPOLLOUT | EPOLLHUP | EPOLLERR,
};

int fl_stream_listen(fl_stream *stream)
{
    return fl_poller_ask(&fl_stream_loop(stream)->poller, &stream->in,
                         EPOLLIN | EPOLLRDHUP | EPOLLPRI | (unsigned)EPOLLET);
}

/* Bytes; 0 at the end; below zero libuv's code. A socket has the shorter way
 * through the kernel if it is known to be one. */
static ssize_t read_once(const fl_stream *stream)
{
    int fd = stream->in.fd;
    char *to = fl_stream_loop(stream)->read;
    size_t room = FL_LOOP_READ;
    ssize_t n;

    do
        n = fl_stream_is_socket(stream) ? recv(fd, to, room, 0)
                                        : read(fd, to, room);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

static void take(fl_stream *stream, ssize_t n)
{
    if (n == UV_EAGAIN ||
        (n > 0 && (size_t)n < FL_LOOP_READ && !stream->to_end))
        stream->has_input = false;
    if (n > 0)
        fl_stream_received(stream,
                           (fl_span){fl_stream_loop(stream)->read, (size_t)n});
    else if (n == 0)
        fl_stream_at_eof(stream);
    else if (n != UV_EAGAIN)
        fl_stream_fail(stream, "read", (int)n);
}

void fl_stream_read_on(fl_stream *stream)
{
    for (int i = 0; stream->reading && stream->has_input; i++) {
        if (i == READS) {
            fl_stream_mark(stream);
            return;
        }
        take(stream, read_once(stream));
    }
}

void fl_stream_hear_out(fl_stream *stream)
{
    for (int i = 0; i < READS && stream->reading && stream->in.fd >= 0; i++) {
        ssize_t n = read_once(stream);
        if (n <= 0)
            return;
        fl_stream_received(stream,
                           (fl_span){fl_stream_loop(stream)->read, (size_t)n});
    }
}

void fl_stream_on_out(fl_watch *watch, unsigned events)
{
    fl_stream *stream = FL_LIST_ENTRY(watch, fl_stream, out);

    if (stream->blocked && (events & ROOM) != 0)
        fl_stream_unblock(stream);
}

void fl_stream_on_in(fl_watch *watch, unsigned events)
{
    fl_stream *stream = FL_LIST_ENTRY(watch, fl_stream, in);

    if (stream->connecting != NULL) {
        fl_connect_ready(stream);
        return;
    }
    if (stream->blocked && stream->in.fd == stream->out.fd &&
        (events & ROOM) != 0)
        fl_stream_unblock(stream);
    if ((events & INPUT) == 0)
        return;
    stream->has_input = true;
    stream->to_end = stream->to_end || (events & MORE_THAN_BYTES) != 0;
    fl_stream_read_on(stream);
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
    fl_stream_update_reading(stream);
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

static bool wants_reading(const fl_stream *stream)
{
    if (stream->ended)
        return false;
    if (stream->state == FL_STREAM_OPEN) /* a quiet one reads to throw away */
        return (stream->quiet || !stream->paused) &&
               !fl_tls_layer_holds(stream->tls);
    return stream->state == FL_STREAM_OPENING && stream->connecting == NULL;
}

void fl_stream_update_reading(fl_stream *stream)
{
    bool wanted = wants_reading(stream);

    if (wanted == stream->reading)
        return;
    stream->reading = wanted;
    fl_stream_weigh(stream);
    if (wanted && fl_stream_file_in(stream))
        fl_stream_file_read(stream);
    else if (wanted && stream->has_input)
        fl_stream_mark(stream);
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

/* Whether the loop has to go on for its sake: it waits for the other side. */
void fl_stream_weigh(fl_stream *stream)
{
    bool weighs = (stream->reading && stream->in.fd >= 0) || stream->blocked ||
                  (stream->connecting != NULL && stream->in.fd >= 0);

    if (weighs == stream->weighs)
        return;
    stream->weighs = weighs;
    fl_stream_loop(stream)->poller.wanted += weighs ? 1 : (size_t)-1;
}
