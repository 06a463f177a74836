/*
 * stream_file.c - stream ends that cannot be polled: regular files, /dev/null.
 *
 * epoll refuses them, and a read or write of one may wait for a disk. So each
 * runs on libuv's thread pool, one read and one write at a time, which keeps
 * them in order. The read buffer is our own: the loop's shared one must not be
 * written to by another thread.
 *
 * A read cannot be taken back. When one ends while the stream is paused, its
 * bytes wait in the buffer until the pause is over.
 */
#include "io/stream_file.h"

#include "base/mem.h"
#include "io/stream_impl.h"
#include "io/uv_status.h"

#include <unistd.h>

struct fl_stream_files {
    uv_fs_t read;
    uv_fs_t write;
    int in; /* -1: the end is not a file */
    int out;
    fl_buf piece; /* being written */
    bool read_busy;
    bool write_busy;
    ssize_t held; /* what a read gave while paused: bytes, 0 at the end */
    bool has_held;
    char buf[FL_LOOP_READ];
};

fl_status fl_stream_add_file(fl_stream *stream, int fd, bool is_in)
{
    if (stream->files == NULL) {
        stream->files = fl_mem_alloc(sizeof *stream->files);
        if (stream->files == NULL)
            return FL_E_NOMEM;
        stream->files->in = stream->files->out = -1;
        stream->files->piece = (fl_buf){.max = stream->out_buf.max};
        stream->files->read_busy = stream->files->write_busy = false;
        stream->files->has_held = false;
        stream->files->read.data = stream->files->write.data = stream;
    }
    *(is_in ? &stream->files->in : &stream->files->out) = fd;
    return FL_OK;
}

bool fl_stream_file_in(const fl_stream *stream)
{
    return stream->files != NULL && stream->files->in >= 0;
}

bool fl_stream_file_out(const fl_stream *stream)
{
    return stream->files != NULL && stream->files->out >= 0;
}

size_t fl_stream_file_memory(const fl_stream *stream)
{
    return stream->files != NULL
               ? sizeof *stream->files + stream->files->piece.cap
               : 0;
}

/* Passes on what a read gave; any of these may close the stream. */
static void hand_over(fl_stream *stream, ssize_t n)
{
    if (n > 0)
        fl_stream_received(stream, (fl_span){stream->files->buf, (size_t)n});
    else if (n == 0)
        fl_stream_at_eof(stream);
    else
        fl_stream_fail(stream, "read", (int)n);
}

static void hand_over_and_go_on(fl_stream *stream, ssize_t n)
{
    hand_over(stream, n);
    if (stream->reading) /* closed or not, it is still there: see stream.c */
        fl_stream_file_read(stream);
}

static void on_read(uv_fs_t *request)
{
    fl_stream *stream = request->data;
    ssize_t n = request->result;

    uv_fs_req_cleanup(request);
    stream->files->read_busy = false;
    if (stream->reading) {
        hand_over_and_go_on(stream, n);
    } else {
        stream->files->held = n;
        stream->files->has_held = true;
    }
    fl_stream_release(stream);
}

void fl_stream_file_read(fl_stream *stream)
{
    fl_stream_files *files = stream->files;
    uv_buf_t buf = {files->buf, sizeof files->buf};

    if (files->read_busy || files->has_held)
        return;
    int rc = uv_fs_read(&fl_stream_loop(stream)->uv, &files->read, files->in,
                        &buf, 1, -1, on_read);
    if (rc < 0) {
        stream->late = (int8_t)fl_status_from_uv(rc);
        fl_stream_mark(stream);
        return;
    }
    files->read_busy = true;
    stream->holds++;
}

void fl_stream_file_turn(fl_stream *stream)
{
    fl_stream_files *files = stream->files;

    if (!files->has_held || !stream->reading)
        return;
    files->has_held = false;
    hand_over_and_go_on(stream, files->held);
}

size_t fl_stream_file_unwritten(const fl_stream *stream)
{
    return stream->files != NULL ? fl_buf_len(&stream->files->piece) : 0;
}

static void drop_piece(fl_stream *stream)
{
    fl_buf *piece = &stream->files->piece;

    fl_buf_truncate(piece, 0);
    fl_pool_return(&fl_stream_loop(stream)->pool, piece);
}

static void on_write(uv_fs_t *request);

static int write_on(fl_stream *stream)
{
    fl_stream_files *files = stream->files;
    uv_buf_t buf = {files->piece.ptr + files->piece.start,
                    fl_buf_len(&files->piece)};
    int rc = uv_fs_write(&fl_stream_loop(stream)->uv, &files->write, files->out,
                         &buf, 1, -1, on_write);

    if (rc < 0) {
        drop_piece(stream);
        return rc;
    }
    fl_stream_progressed(stream);
    files->write_busy = true;
    stream->holds++;
    return 0;
}

static void on_write(uv_fs_t *request)
{
    fl_stream *stream = request->data;
    fl_buf *piece = &stream->files->piece;
    ssize_t n = request->result;

    uv_fs_req_cleanup(request);
    stream->files->write_busy = false;
    if (n > 0)
        fl_buf_consume(piece, (size_t)n);
    if (n >= 0 && fl_buf_len(piece) > 0 && fl_stream_usable(stream))
        n = write_on(stream);
    if (!stream->files->write_busy) {
        drop_piece(stream);
        fl_stream_sent(stream, n < 0 ? (int)n : 0);
    }
    fl_stream_release(stream);
}

int fl_stream_file_write(fl_stream *stream, fl_buf *piece)
{
    stream->files->piece = *piece;
    *piece = (fl_buf){.max = piece->max};
    return write_on(stream);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void fl_stream_file_end_output(fl_stream *stream)
{
    if (stream->files != NULL)
        close_fd(&stream->files->out);
}

/* A descriptor a thread works on must not go under its feet. */
void fl_stream_file_close(fl_stream *stream)
{
    fl_stream_files *files = stream->files;

    if (!files->read_busy)
        close_fd(&files->in);
    if (!files->write_busy)
        close_fd(&files->out);
}

void fl_stream_file_free(fl_stream *stream)
{
    if (stream->files == NULL)
        return;
    close_fd(&stream->files->in);
    close_fd(&stream->files->out);
    drop_piece(stream);
    fl_mem_free(stream->files);
    stream->files = NULL;
}
