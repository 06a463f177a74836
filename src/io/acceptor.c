/*
 * acceptor.c - accepts connections on a TCP address or a Unix socket.
 *
 * The listening socket is polled and accept4() called by hand, rather than
 * through uv_listen(): so one wake-up takes a burst of connections, but not
 * more than is fair to those already there, the peer's address comes along for
 * free, and we hear of it when descriptors run out.
 *
 * When they do, the connection stays in the queue and the poll reports it for
 * ever. So one descriptor is kept spare: closing it makes room to accept the
 * connection and hang up on it. If even that fails we look away for a moment.
 */
#include "io/acceptor.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/bind.h"
#include "io/inet.h"
#include "io/stream_impl.h"
#include "io/tls.h"
#include "io/tls_stream.h"
#include "io/uv_status.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BURST = 64,
    LOOK_AWAY_MS = 100,
    COMPLAIN_MS = 1000, /* a flood must not flood the log */
};

struct fl_acceptor {
    fl_watch watch;
    fl_loop *loop;
    const fl_acceptor_events *events;
    void *user;
    fl_stream_shared *shared;
    fl_tls *tls;
    fl_timer rest; /* or, once it is closing, for the end */
    uint64_t complained_at;
    int spare;
    bool closing;
    char *path;   /* of the file to remove, NULL if none */
    dev_t device; /* so that it is ours that is removed */
    ino_t inode;
};

static int open_spare(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void complain(fl_acceptor *acceptor, int code)
{
    uint64_t now = fl_loop_now(acceptor->loop);

    if (acceptor->complained_at != 0 &&
        now - acceptor->complained_at < COMPLAIN_MS)
        return;
    acceptor->complained_at = now != 0 ? now : 1;
    fl_log_say(acceptor->loop->log, FL_LOG_WARN, "connection not accepted",
               fl_log_text("reason", fl_span_of(fl_uv_text(code))));
}

static void look_away(fl_acceptor *acceptor)
{
    fl_poller_stop(&acceptor->loop->poller, &acceptor->watch);
    fl_timer_start(&acceptor->rest, LOOK_AWAY_MS);
}

static int look(fl_acceptor *acceptor)
{
    return fl_poller_ask(&acceptor->loop->poller, &acceptor->watch, EPOLLIN);
}

/* Hangs up on one connection there is no descriptor for. */
static void shed(fl_acceptor *acceptor)
{
    if (acceptor->spare >= 0)
        close(acceptor->spare);
    int fd = accept4(acceptor->watch.fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        close(fd);
    acceptor->spare = open_spare();
    if (fd < 0)
        look_away(acceptor);
}

static fl_stream *make_stream(fl_acceptor *acceptor, int fd)
{
    fl_stream *stream = fl_stream_new(acceptor->loop, acceptor->shared);

    if (stream == NULL) {
        close(fd);
        return NULL;
    }
    fl_status rc = fl_stream_adopt(stream, fd);
    if (rc == FL_OK && acceptor->tls != NULL)
        rc = fl_tls_layer_add(stream, acceptor->tls, NULL);
    if (rc < 0) {
        fl_stream_close(stream);
        return NULL;
    }
    return stream;
}

static void welcome(fl_acceptor *acceptor, int fd, const struct sockaddr *from)
{
    char address[FL_INET_HOST];
    fl_stream *stream = make_stream(acceptor, fd);

    if (stream == NULL) {
        complain(acceptor, UV_ENOMEM);
        return;
    }
    fl_inet_host(from, address);
    acceptor->events->on_accept(acceptor->user, stream, address);
}

/* Whether it makes sense to try for another one now. */
static bool accept_one(fl_acceptor *acceptor)
{
    struct sockaddr_storage from = {0};
    socklen_t len = sizeof from;
    int fd = accept4(acceptor->watch.fd, (struct sockaddr *)&from, &len,
                     SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd >= 0) {
        welcome(acceptor, fd, (struct sockaddr *)&from);
        return true;
    }
    int code = errno;
    if (code == EAGAIN)
        return false;
    if (code == EINTR || code == ECONNABORTED)
        return true;
    complain(acceptor, -code);
    if (code == EMFILE || code == ENFILE)
        shed(acceptor);
    else
        look_away(acceptor);
    return false;
}

static void on_ready(fl_watch *watch, unsigned events)
{
    fl_acceptor *acceptor = FL_LIST_ENTRY(watch, fl_acceptor, watch);

    (void)events; /* accept4() says it better */
    for (int i = 0; i < BURST && !acceptor->closing; i++)
        if (!accept_one(acceptor))
            break;
}

static void let_go(fl_acceptor *acceptor)
{
    fl_stream_shared_unref(acceptor->shared);
    fl_tls_unref(acceptor->tls);
    fl_mem_free(acceptor->path);
    acceptor->loop->live--;
    fl_mem_free(acceptor);
}

static void tell_closed(fl_acceptor *acceptor)
{
    const fl_acceptor_events *events = acceptor->events;
    void *user = acceptor->user;

    let_go(acceptor);
    if (events->on_closed != NULL)
        events->on_closed(user);
}

static void on_rested(fl_timer *timer)
{
    fl_acceptor *acceptor = FL_LIST_ENTRY(timer, fl_acceptor, rest);

    if (acceptor->closing)
        tell_closed(acceptor);
    else if (look(acceptor) < 0)
        look_away(acceptor);
}

static void close_fds(fl_acceptor *acceptor)
{
    fl_poller_drop(&acceptor->loop->poller, &acceptor->watch);
    if (acceptor->spare >= 0)
        close(acceptor->spare);
    acceptor->spare = -1;
}

static void remember_file(fl_acceptor *acceptor)
{
    struct stat st;

    if (acceptor->path != NULL && lstat(acceptor->path, &st) == 0) {
        acceptor->device = st.st_dev;
        acceptor->inode = st.st_ino;
    }
}

static void remove_file(const fl_acceptor *acceptor)
{
    struct stat st;

    if (acceptor->path != NULL && lstat(acceptor->path, &st) == 0 &&
        st.st_dev == acceptor->device && st.st_ino == acceptor->inode)
        unlink(acceptor->path);
}

static fl_acceptor *new_acceptor(fl_loop *loop,
                                 const fl_acceptor_options *options)
{
    fl_acceptor *acceptor = fl_mem_zalloc(sizeof *acceptor);

    if (acceptor == NULL)
        return NULL;
    loop->live++;
    acceptor->loop = loop;
    fl_watch_init(&acceptor->watch, on_ready);
    acceptor->spare = open_spare();
    acceptor->tls = options->tls != NULL ? fl_tls_ref(options->tls) : NULL;
    acceptor->shared = fl_stream_shared_new(&options->limits);
    fl_timer_init(&acceptor->rest, loop, on_rested);
    bool has_file = options->path != NULL && options->path[0] != '@';
    if (has_file)
        acceptor->path = fl_mem_string(fl_span_of(options->path));
    if (acceptor->shared == NULL || (has_file && acceptor->path == NULL)) {
        close_fds(acceptor);
        let_go(acceptor);
        return NULL;
    }
    return acceptor;
}

static fl_status watch(fl_acceptor *acceptor, fl_error *error)
{
    int rc = look(acceptor);

    if (rc < 0)
        return fl_error_set(error, fl_status_from_uv(rc), "cannot watch: %s",
                            fl_uv_text(rc));
    acceptor->loop->poller.wanted++;
    return FL_OK;
}

fl_status fl_acceptor_open(fl_loop *loop, const fl_acceptor_options *options,
                           const fl_acceptor_events *events, void *user,
                           fl_acceptor **out, fl_error *error)
{
    fl_acceptor *acceptor = new_acceptor(loop, options);

    *out = NULL;
    if (acceptor == NULL)
        return fl_error_set(error, FL_E_NOMEM, "%s",
                            fl_status_text(FL_E_NOMEM));
    acceptor->events = events;
    acceptor->user = user;
    fl_status rc = fl_bind_listen(options, &acceptor->shared->limits,
                                  &acceptor->watch.fd, error);
    if (rc == FL_OK) {
        remember_file(acceptor);
        rc = watch(acceptor, error);
    }
    if (rc < 0) {
        remove_file(acceptor);
        close_fds(acceptor);
        let_go(acceptor);
        return rc;
    }
    *out = acceptor;
    return FL_OK;
}

uint16_t fl_acceptor_port(const fl_acceptor *acceptor)
{
    struct sockaddr_storage at = {0};
    socklen_t len = sizeof at;

    getsockname(acceptor->watch.fd, (struct sockaddr *)&at, &len);
    return fl_inet_port((struct sockaddr *)&at);
}

void fl_acceptor_close(fl_acceptor *acceptor)
{
    if (acceptor->closing)
        return;
    acceptor->closing = true;
    acceptor->loop->poller.wanted--;
    remove_file(acceptor);
    close_fds(acceptor);
    fl_timer_start(&acceptor->rest, 0);
}
