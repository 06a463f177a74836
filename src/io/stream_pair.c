/*
 * stream_pair.c - a stream of two descriptors.
 *
 * A stdin or stdout can be anything, and each kind has its trap. Descriptors 0
 * to 2 are moved up first and /dev/null takes their place: what else the
 * program prints cannot get into the stream. A pipe or terminal made
 * non-blocking is so for everybody who shares it, the parent shell too; an
 * inherited one is opened anew through /proc, which gives us a description of
 * our own. Files and /dev/null cannot be polled at all and go to
 * stream_file.c.
 */
#include "io/stream_file.h"
#include "io/stream_impl.h"
#include "io/uv_status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Replaces the descriptor by a private description of the same pipe, or
 * terminal. */
static int reopen(int fd, int flags)
{
    struct stat st;
    char path[32];

    if (fstat(fd, &st) != 0 || (!S_ISFIFO(st.st_mode) && !isatty(fd)))
        return fd;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = open(path, flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
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
    return reopen(up, flags);
}

static bool is_socket(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* On failure too it is the stream's. */
static int add_polled(fl_stream *stream, uv_handle_type type, int fd,
                      bool is_in)
{
    (is_in ? &stream->in : &stream->out)->fd = fd;
    int rc = fl_watch_unblock(fd);
    if (rc < 0 || !is_in)
        return rc;
    stream->to_end = type == UV_TTY;
    return fl_stream_listen(stream);
}

static fl_status add_end(fl_stream *stream, int fd, bool is_in)
{
    uv_handle_type type = uv_guess_handle(fd);

    if (type == UV_TTY)
        fd = reopen(fd, is_in ? O_RDONLY : O_WRONLY);
    if (type == UV_TCP || type == UV_NAMED_PIPE || type == UV_TTY)
        return fl_status_from_uv(add_polled(stream, type, fd, is_in));
    fl_status rc = type == UV_FILE ? fl_stream_add_file(stream, fd, is_in)
                                   : FL_E_UNSUPPORTED;
    if (rc < 0)
        close(fd);
    return rc;
}

static fl_status add_both(fl_stream *stream, int in_fd, int out_fd)
{
    uv_handle_type type = uv_guess_handle(in_fd);

    if (in_fd == out_fd) {
        if (is_socket(in_fd) && fl_watch_unblock(in_fd) == 0 &&
            (type == UV_TCP || type == UV_NAMED_PIPE))
            return fl_stream_adopt(stream, in_fd);
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
