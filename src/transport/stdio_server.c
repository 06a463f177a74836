/*
 * stdio_server.c - serves whoever started this process, on stdin and stdout.
 *
 * "Listening" makes one link, at once. The protocol gets copies of the two
 * descriptors; then stdin reads from /dev/null and stdout goes where stderr
 * goes, so that a stray printf somewhere in the program lands in the log
 * instead of in the middle of a message. There can be only one such listener
 * in a process: the second finds stdin taken and says so.
 *
 * There is no lease and no idle timeout here: the peer is our parent, and its
 * going away is an end of file.
 */
#include "transport/stdio.h"

#include "base/mem.h"
#include "base/status.h"
#include "io/stream.h"
#include "io/timer.h"
#include "transport/defaults.h"
#include "transport/line_link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct stdio_link {
    fl_line_link line;
    fl_line_settings settings;
} stdio_link;

typedef struct stdio_listener {
    fl_listener listener;
    fl_timer later; /* hands the link over, then says closed */
    stdio_link *link;
    fl_stream *stream;
    bool closing;
} stdio_listener;

static void on_active(fl_line_link *line)
{
    (void)line; /* handed over by the listener, which attached it */
}

static void free_link(fl_line_link *line)
{
    fl_mem_free((stdio_link *)line);
}

static const fl_line_hooks server_hooks = {
    .on_active = on_active,
    .free = free_link,
};

/* What we put in the place of stdin is told from any other /dev/null by a flag
 * that says nothing on a descriptor one only reads from. */
enum { TAKEN = O_RDONLY | O_APPEND };

static bool is_taken(int fd)
{
    struct stat null_device, here;
    int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && (flags & (O_ACCMODE | O_APPEND)) == TAKEN &&
           stat("/dev/null", &null_device) == 0 && fstat(fd, &here) == 0 &&
           S_ISCHR(here.st_mode) && here.st_rdev == null_device.st_rdev;
}

/* A pipe that is made non-blocking is so for everybody who shares it, so what
 * we take of a pipe is a description of our own, where /proc can give it. */
static int take_copy(int fd, int access)
{
    struct stat here;
    char path[32];
    int copy = -1;

    if (fstat(fd, &here) == 0 && S_ISFIFO(here.st_mode)) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        copy = open(path, access | O_NONBLOCK | O_CLOEXEC);
    }
    return copy >= 0 ? copy : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/* Copies of stdin and stdout; the originals are pointed elsewhere. */
static fl_status take_over(int *in, int *out, fl_error *error)
{
    if (fcntl(STDIN_FILENO, F_GETFD) < 0 || fcntl(STDOUT_FILENO, F_GETFD) < 0)
        return fl_error_set(error, FL_E_IO, "stdin or stdout is closed");

    int null_fd = open("/dev/null", TAKEN | O_CLOEXEC);

    *in = take_copy(STDIN_FILENO, O_RDONLY);
    *out = take_copy(STDOUT_FILENO, O_WRONLY);
    if (null_fd >= 0 && *in >= 0 && *out >= 0 &&
        dup2(null_fd, STDIN_FILENO) >= 0 &&
        dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) {
        close(null_fd);
        return FL_OK;
    }
    fl_error_set(error, FL_E_IO, "cannot take over stdin and stdout: %s",
                 strerrordesc_np(errno));
    const int opened[] = {null_fd, *in, *out};
    for (size_t i = 0; i < sizeof opened / sizeof *opened; i++)
        if (opened[i] >= 0)
            close(opened[i]);
    return FL_E_IO;
}

static void hand_over(stdio_listener *listener)
{
    stdio_link *link = listener->link;
    fl_link *self = &link->line.link;

    listener->link = NULL;
    fl_link_ref(self);
    fl_line_link_attach(&link->line, listener->stream);
    listener->listener.events->on_link(&listener->listener, self,
                                       listener->listener.user);
    if (self->events == NULL)
        fl_link_close(self);
    fl_link_unref(self);
}

static void on_later(fl_timer *timer)
{
    stdio_listener *listener = FL_LIST_ENTRY(timer, stdio_listener, later);

    if (!listener->closing) {
        hand_over(listener);
        return;
    }
    if (listener->link != NULL) { /* closed before anything happened */
        fl_stream_close(listener->stream);
        fl_link_unref(&listener->link->line.link);
    }
    listener->listener.events->on_closed(&listener->listener,
                                         listener->listener.user);
    fl_mem_free(listener);
}

static fl_status open_stream(fl_loop *loop, const fl_options *options,
                             fl_stream **stream, fl_error *error)
{
    fl_stream_limits limits = fl_options_limits(options);
    int in = -1, out = -1;

    if (is_taken(STDIN_FILENO))
        return fl_error_set(error, FL_E_IN_USE,
                            "stdin and stdout are already taken by another "
                            "stdio: listener");
    fl_status rc = take_over(&in, &out, error);
    if (rc != FL_OK)
        return rc;
    rc = fl_stream_open_pair(loop, in, out, &limits, stream);
    if (rc != FL_OK)
        fl_error_set(error, rc, "cannot serve stdin and stdout: %s",
                     fl_status_text(rc));
    return rc;
}

fl_status fl_stdio_listen(fl_loop *loop, const fl_address *address,
                          const fl_options *options,
                          const fl_listener_events *events, void *user,
                          fl_listener **out, fl_error *error)
{
    stdio_listener *listener = fl_mem_zalloc(sizeof *listener);
    stdio_link *link = fl_mem_zalloc(sizeof *link);
    fl_status rc = FL_E_NOMEM;

    (void)address;
    if (listener == NULL || link == NULL)
        fl_error_set(error, rc, "out of memory");
    else
        rc = open_stream(loop, options, &listener->stream, error);
    if (rc != FL_OK) {
        fl_mem_free(listener);
        fl_mem_free(link);
        return rc;
    }
    link->settings = fl_line_settings_from(options);
    link->settings.lease_ms = FL_NEVER;
    link->settings.idle_ms = FL_NEVER;
    fl_line_link_init(&link->line, &fl_transport_stdio, loop, true,
                      &server_hooks, &link->settings);
    listener->link = link;
    listener->listener = (fl_listener){
        .transport = &fl_transport_stdio,
        .loop = loop,
        .events = events,
        .user = user,
    };
    fl_timer_init(&listener->later, loop, on_later);
    fl_timer_start(&listener->later, 0);
    *out = &listener->listener;
    return FL_OK;
}

void fl_stdio_close_listener(fl_listener *listener)
{
    stdio_listener *self = (stdio_listener *)listener;

    if (self->closing)
        return;
    self->closing = true;
    fl_timer_start(&self->later, 0);
}
