/*
 * connect.c - from an address to an open stream.
 *
 * Everything starts at the end of the turn in which the stream was started, so
 * a failure is never told from inside a call of its owner. An attempt has the
 * stream's end until it has come to something; one that failed is closed, and
 * the next address gets its turn.
 *
 * A look-up runs on another thread and cannot be stopped there. When its stream
 * is closed meanwhile, the look-up keeps what it needs and cleans up after
 * itself: the stream does not wait for somebody's name server.
 */
#include "io/connect.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/inet.h"
#include "io/stream_impl.h"
#include "io/tls_stream.h"
#include "io/tunnel.h"
#include "io/unix_address.h"
#include "io/uv_status.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RETRY_MS = 10 };

struct fl_connecting {
    fl_stream *stream; /* NULL: it was closed, the look-up goes on alone */
    uv_getaddrinfo_t lookup;
    struct addrinfo *found;
    const struct addrinfo *next;
    fl_timer retry;
    bool begun;
    bool looking;
    bool is_path;
    bool is_nameless; /* TLS, and nothing to verify the certificate against */
    uint16_t port;
    fl_error failure; /* of the last attempt */
    char host[];      /* or path */
};

/* "localhost:80", "[::1]:80", "/run/x.sock" */
static void name_target(const fl_connecting *connecting, char *out, size_t size)
{
    if (connecting->is_path)
        snprintf(out, size, "%s", connecting->host);
    else
        fl_inet_join(connecting->host, connecting->port, out, size);
}

static void note_failure(fl_connecting *connecting, int code)
{
    char name[160];

    name_target(connecting, name, sizeof name);
    fl_error_set(&connecting->failure, fl_status_from_uv(code),
                 "cannot connect to %s: %s", name, fl_uv_text(code));
}

static void give_up(fl_stream *stream)
{
    fl_stream_break(stream, &stream->connecting->failure);
}

static void try_next(fl_stream *stream);

static void attempt_failed(fl_stream *stream, int code)
{
    note_failure(stream->connecting, code);
    fl_stream_drop_ends(stream);
    try_next(stream);
}

static void succeed(fl_stream *stream)
{
    fl_connecting *connecting = stream->connecting;
    int rc = fl_stream_listen(stream);

    if (rc < 0) {
        note_failure(connecting, rc);
        give_up(stream);
        return;
    }
    stream->out.fd = stream->in.fd;
    stream->connecting = NULL;
    fl_connect_free(connecting);
    fl_stream_connected(stream);
}

void fl_connect_ready(fl_stream *stream)
{
    int code = 0;
    socklen_t len = sizeof code;

    if (stream->state != FL_STREAM_OPENING)
        return; /* its time is up, and its owner has been told */
    if (getsockopt(stream->in.fd, SOL_SOCKET, SO_ERROR, &code, &len) != 0)
        code = errno;
    if (code != 0)
        attempt_failed(stream, -code);
    else
        succeed(stream);
}

/* Below zero: a negated errno. */
static int begin_attempt(fl_stream *stream, const struct sockaddr *address)
{
    socklen_t len = address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                   : sizeof(struct sockaddr_in);
    int fd = socket(address->sa_family,
                    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno; /* no IPv6 here, perhaps; the next may do */
    stream->in.fd = fd;
    fl_stream_tune(fd, &stream->shared->limits);
    if (connect(fd, address, len) != 0 && errno != EINPROGRESS &&
        errno != EINTR)
        return -errno;
    fl_stream_weigh(stream);
    return fl_poller_ask(&fl_stream_loop(stream)->poller, &stream->in,
                         EPOLLOUT);
}

static void attempt(fl_stream *stream, const struct sockaddr *address)
{
    int rc = begin_attempt(stream, address);

    if (rc < 0)
        attempt_failed(stream, rc);
}

static void try_next(fl_stream *stream)
{
    const struct addrinfo *at = stream->connecting->next;

    if (at == NULL) {
        give_up(stream);
        return;
    }
    stream->connecting->next = at->ai_next;
    attempt(stream, at->ai_addr);
}

static void on_found(uv_getaddrinfo_t *request, int code,
                     struct addrinfo *found)
{
    fl_connecting *connecting = request->data;
    fl_stream *stream = connecting->stream;

    connecting->looking = false;
    connecting->found = found;
    connecting->next = found;
    if (stream == NULL) {
        fl_connect_free(connecting);
        return;
    }
    if (stream->state != FL_STREAM_OPENING)
        return;
    if (code < 0) {
        fl_error_set(&connecting->failure, fl_status_from_uv(code),
                     "cannot find host %s: %s", connecting->host,
                     fl_uv_text(code));
        give_up(stream);
        return;
    }
    try_next(stream);
}

static void look_up(fl_stream *stream)
{
    fl_connecting *connecting = stream->connecting;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICSERV};
    char port[8];

    snprintf(port, sizeof port, "%u", connecting->port);
    connecting->lookup.data = connecting;
    int rc = uv_getaddrinfo(&fl_stream_loop(stream)->uv, &connecting->lookup,
                            on_found, connecting->host, port, &hints);
    if (rc < 0) {
        note_failure(connecting, rc);
        give_up(stream);
        return;
    }
    connecting->looking = true;
}

static void connect_tcp(fl_stream *stream)
{
    fl_connecting *connecting = stream->connecting;
    struct sockaddr_storage address;

    if (fl_inet_parse(connecting->host, connecting->port, &address))
        attempt(stream, (struct sockaddr *)&address);
    else
        look_up(stream);
}

/* A Unix socket connects at once or not at all: the descriptor, or a negated
 * errno. */
static int dial_unix(const struct sockaddr_un *address, socklen_t len)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno;
    if (connect(fd, (const struct sockaddr *)address, len) == 0)
        return fd;
    int code = -errno;
    close(fd);
    return code;
}

static void connect_unix(fl_stream *stream)
{
    fl_connecting *connecting = stream->connecting;
    struct sockaddr_un address;
    socklen_t len;

    if (fl_unix_address(connecting->host, &address, &len,
                        &connecting->failure) < 0) {
        give_up(stream);
        return;
    }
    int fd = dial_unix(&address, len);
    if (fd == -EAGAIN) { /* the listener's queue is full: not yet */
        fl_timer_start(&connecting->retry, RETRY_MS);
        return;
    }
    if (fd < 0) {
        note_failure(connecting, fd);
        give_up(stream);
        return;
    }
    stream->in.fd = fd;
    succeed(stream);
}

static void on_retry(fl_timer *timer)
{
    fl_stream *stream = FL_LIST_ENTRY(timer, fl_connecting, retry)->stream;

    if (stream->state == FL_STREAM_OPENING)
        connect_unix(stream);
}

void fl_connect_begin(fl_stream *stream)
{
    fl_connecting *connecting = stream->connecting;

    if (connecting->begun)
        return;
    connecting->begun = true;
    if (connecting->is_nameless) {
        fl_error_set(&connecting->failure, FL_E_INVALID,
                     "TLS over %s needs a server name to verify",
                     connecting->host);
        give_up(stream);
    } else if (connecting->is_path) {
        connect_unix(stream);
    } else {
        connect_tcp(stream);
    }
}

void fl_connect_timed_out(fl_stream *stream)
{
    fl_connecting *connecting = stream->connecting;
    char name[160];

    name_target(connecting, name, sizeof name);
    fl_error_set(&connecting->failure, FL_E_TIMEOUT,
                 connecting->looking
                     ? "cannot connect to %s: host not found after %" PRIu64
                       " ms"
                     : "cannot connect to %s: timed out after %" PRIu64 " ms",
                 name, stream->shared->limits.open_timeout_ms);
    give_up(stream);
}

void fl_connect_abort(fl_stream *stream)
{
    fl_connecting *connecting = stream->connecting;

    fl_timer_stop(&connecting->retry);
    if (connecting->looking) {
        connecting->stream = NULL;
        stream->connecting = NULL;
        uv_cancel((uv_req_t *)&connecting->lookup);
    }
}

size_t fl_connect_memory(const fl_connecting *connecting)
{
    return connecting != NULL
               ? sizeof *connecting + strlen(connecting->host) + 1
               : 0;
}

void fl_connect_free(fl_connecting *connecting)
{
    if (connecting == NULL)
        return;
    fl_timer_stop(&connecting->retry);
    if (connecting->found != NULL)
        uv_freeaddrinfo(connecting->found);
    fl_mem_free(connecting);
}

static fl_connecting *new_connecting(fl_stream *stream,
                                     const fl_connect_options *options)
{
    bool is_path = options->path != NULL;
    const char *host = is_path ? options->path : options->host;

    assert(host != NULL);
    size_t size = strlen(host) + 1;
    fl_connecting *connecting = fl_mem_zalloc(sizeof *connecting + size);

    if (connecting == NULL)
        return NULL;
    memcpy(connecting->host, host, size);
    connecting->stream = stream;
    connecting->is_path = is_path;
    connecting->port = options->port;
    connecting->is_nameless =
        options->tls != NULL && is_path && options->server_name == NULL;
    fl_timer_init(&connecting->retry, fl_stream_loop(stream), on_retry);
    return connecting;
}

fl_status fl_connect(fl_loop *loop, const fl_connect_options *options,
                     fl_stream **out)
{
    const char *name =
        options->server_name != NULL ? options->server_name : options->host;
    fl_stream_shared *shared = fl_stream_shared_new(&options->limits);
    fl_stream *stream = shared != NULL ? fl_stream_new(loop, shared) : NULL;
    fl_status rc = FL_OK;

    *out = NULL;
    fl_stream_shared_unref(shared);
    if (stream == NULL)
        return FL_E_NOMEM;
    stream->connecting = new_connecting(stream, options);
    if (stream->connecting == NULL)
        rc = FL_E_NOMEM;
    else if (options->tls != NULL)
        rc = fl_tls_layer_add(stream, options->tls, name);
    if (rc == FL_OK && options->tunnel != NULL)
        rc = fl_tunnel_add(stream, options->tunnel);
    if (rc < 0) {
        fl_stream_discard(stream);
        return rc;
    }
    *out = stream;
    return FL_OK;
}
