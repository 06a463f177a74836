/*
 * stream_pair.c - a stream of two descriptors.
 *
 * A stdin or stdout can be anything, and each kind has its trap. libuv never
 * closes descriptors 0 to 2, so ours are moved up first and /dev/null takes
 * their place: what else the program prints cannot get into the stream. A pipe
 * made non-blocking is so for everybody who shares it, the parent shell too;
 * an inherited one is opened anew through /proc, which gives us a description
 * of our own. Terminals libuv opens anew by itself. Files and /dev/null cannot
 * be polled at all and go to stream_file.c.
 */
#include "io/stream_file.h"
#include "io/stream_impl.h"
#include "io/uv_status.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Replaces the descriptor by a private description of the same pipe. */
static int reopen_pipe(int fd, int flags)
{
    struct stat st;
    char path[32];

    if (fstat(fd, &st) != 0 || !S_ISFIFO(st.st_mode))
        return fd;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = open(path, flags | O_NONBLOCK | O_CLOEXEC);
    if (own < 0)
        return fd; /* no /proc, or not ours to open: share it after all */
    close(fd);
    return own;
}

/* Moves one of 0 to 2 out of the way; a negated errno on failure. */
static int move_up(int fd, int flags)
{
    if (fd > STDERR_FILENO)
        return fd;
    int up = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (up < 0)
        return -errno;
    int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        dup2(null, fd);
        close(null);
    } else {
        close(fd);
    }
    return reopen_pipe(up, flags);
}

static bool is_socket(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
}

static int open_tty(fl_loop *loop, uv_tty_t *tty, int fd)
{
    uv_os_fd_t used;
    int rc = uv_tty_init(&loop->uv, tty, fd, 0);

    /* It opened the terminal anew; the descriptor we own is still there. */
    if (rc == 0 && uv_fileno((uv_handle_t *)tty, &used) == 0 && used != fd)
        close(fd);
    return rc;
}

/* A handle for one end, in the stream itself where it fits and is free. */
static uv_stream_t *new_handle(fl_stream *stream, uv_handle_type type,
                               bool is_in)
{
    uv_stream_t *handle = is_in && type != UV_TTY
                              ? &stream->handle.stream
                              : fl_mem_zalloc(uv_handle_size(type));

    if (handle != NULL)
        handle->data = stream;
    return handle;
}

static int init_handle(fl_loop *loop, uv_stream_t *handle, uv_handle_type type,
                       int fd)
{
    if (type == UV_TTY)
        return open_tty(loop, (uv_tty_t *)handle, fd);
    return type == UV_TCP ? uv_tcp_init(&loop->uv, (uv_tcp_t *)handle)
                          : uv_pipe_init(&loop->uv, (uv_pipe_t *)handle, 0);
}

/* Takes `fd` as one end; on failure it is still the caller's. */
static int add_handle(fl_stream *stream, uv_handle_type type, int fd,
                      bool is_in)
{
    uv_stream_t *handle = new_handle(stream, type, is_in);

    if (handle == NULL)
        return UV_ENOMEM;
    int rc = init_handle(stream->loop, handle, type, fd);
    if (rc < 0) {
        if (handle != &stream->handle.stream)
            fl_mem_free(handle);
        return rc;
    }
    stream->holds++;
    *(is_in ? &stream->in : &stream->out) = handle;
    if (type == UV_TCP)
        return uv_tcp_open((uv_tcp_t *)handle, fd);
    if (type == UV_NAMED_PIPE)
        return uv_pipe_open((uv_pipe_t *)handle, fd);
    return 0;
}

static fl_status add_end(fl_stream *stream, int fd, bool is_in)
{
    uv_handle_type type = uv_guess_handle(fd);
    fl_status rc = FL_E_UNSUPPORTED;

    if (type == UV_FILE)
        rc = fl_stream_add_file(stream, fd, is_in);
    else if (type == UV_TCP || type == UV_NAMED_PIPE || type == UV_TTY)
        rc = fl_status_from_uv(add_handle(stream, type, fd, is_in));
    if (rc < 0)
        close(fd);
    return rc;
}

static fl_status add_both(fl_stream *stream, int in_fd, int out_fd)
{
    uv_handle_type type = uv_guess_handle(in_fd);

    if (in_fd == out_fd) {
        if (is_socket(in_fd) && (type == UV_TCP || type == UV_NAMED_PIPE))
            return fl_stream_adopt(stream, in_fd, type == UV_TCP);
        out_fd = fcntl(in_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    }
    fl_status in = add_end(stream, in_fd, true);
    fl_status out = add_end(stream, out_fd, false);
    return in < 0 ? in : out;
}

/* Nobody has seen it, so it may go without a word. */
static void abandon(fl_stream *stream)
{
    if (stream != NULL)
        fl_stream_close(stream);
}

fl_status fl_stream_open_pair(fl_loop *loop, int in_fd, int out_fd,
                              const fl_stream_limits *limits, fl_stream **out)
{
    bool same = in_fd == out_fd;
    fl_stream_shared *shared = fl_stream_shared_new(limits);
    fl_stream *stream = shared != NULL ? fl_stream_new(loop, shared) : NULL;
    fl_status rc = FL_E_NOMEM;

    *out = NULL;
    fl_stream_shared_unref(shared);
    in_fd = move_up(in_fd, same ? O_RDWR : O_RDONLY);
    out_fd = same ? in_fd : move_up(out_fd, O_WRONLY);
    if (stream == NULL || in_fd < 0 || out_fd < 0) {
        if (in_fd >= 0)
            close(in_fd);
        if (out_fd >= 0 && !same)
            close(out_fd);
        if (stream != NULL)
            rc = fl_status_from_uv(in_fd < 0 ? in_fd : out_fd);
    } else {
        rc = add_both(stream, in_fd, out_fd);
    }
    if (rc < 0)
        abandon(stream);
    else
        *out = stream;
    return rc;
}
