/*
 * stream_socket.c - what a stream has to do with its socket besides bytes:
 * limits and options, taking it over, saying whose it is.
 */
#include "base/mem.h"
#include "io/inet.h"
#include "io/stream_file.h"
#include "io/stream_impl.h"
#include "io/tls_stream.h"
#include "io/tunnel.h"
#include "io/uv_status.h"

#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    HIGH_WATER = 256 * 1024,
    OUT_ABOVE_HIGH = 16 * 1024 * 1024 + 64 * 1024,
    TIMEOUT_MS = 5000,
    KEEPALIVE_S = 60,
};

fl_stream_shared *fl_stream_shared_new(const fl_stream_limits *limits)
{
    fl_stream_shared *shared = fl_mem_zalloc(sizeof *shared);

    if (shared == NULL)
        return NULL;
    shared->refs = 1;
    if (limits != NULL)
        shared->limits = *limits;

    fl_stream_limits *set = &shared->limits;
    if (set->high_water == 0)
        set->high_water = HIGH_WATER;
    if (set->out_max == 0)
        set->out_max = set->high_water + OUT_ABOVE_HIGH;
    if (set->out_max < set->high_water)
        set->out_max = set->high_water;
    if (set->send_timeout_ms == 0)
        set->send_timeout_ms = TIMEOUT_MS;
    if (set->open_timeout_ms == 0)
        set->open_timeout_ms = TIMEOUT_MS;
    if (set->keepalive_s == 0)
        set->keepalive_s = KEEPALIVE_S;
    return shared;
}

fl_stream_shared *fl_stream_shared_ref(fl_stream_shared *shared)
{
    shared->refs++;
    return shared;
}

void fl_stream_shared_unref(fl_stream_shared *shared)
{
    if (shared != NULL && --shared->refs == 0)
        fl_mem_free(shared);
}

fl_status fl_stream_adopt(fl_stream *stream, int fd)
{
    stream->in.fd = stream->out.fd = fd;
    int rc = fl_stream_listen(stream);
    if (rc < 0)
        fl_stream_drop_ends(stream);
    return fl_status_from_uv(rc);
}

void fl_stream_tune(int fd, const fl_stream_limits *limits)
{
    int on = 1, idle = (int)limits->keepalive_s;

    if (!limits->no_delay_off)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (!limits->keepalive_off) {
        setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
        setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    }
    if (limits->dead_peer_ms > 0 && limits->dead_peer_ms <= INT_MAX) {
        unsigned ms = (unsigned)limits->dead_peer_ms;
        setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
    }
    if (limits->recv_buffer > 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &limits->recv_buffer,
                   sizeof limits->recv_buffer);
    if (limits->send_buffer > 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &limits->send_buffer,
                   sizeof limits->send_buffer);
}

/* AF_INET and so on; below zero: it is no socket. */
static int domain_of(int fd)
{
    int domain;
    socklen_t len = sizeof domain;

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 ? domain
                                                                     : -1;
}

static bool name_tcp(int fd, char name[FL_STREAM_NAME])
{
    struct sockaddr_storage peer;
    socklen_t len = sizeof peer;
    char text[FL_INET_NAME];

    if (getpeername(fd, (struct sockaddr *)&peer, &len) != 0)
        return false;
    fl_inet_name((struct sockaddr *)&peer, text);
    snprintf(name, FL_STREAM_NAME, "%.*s", FL_STREAM_NAME - 1, text);
    return true;
}

void fl_stream_peer_name(const fl_stream *stream, char name[FL_STREAM_NAME])
{
    int fd = stream->in.fd >= 0 ? stream->in.fd : stream->out.fd;
    int domain = fd >= 0 ? domain_of(fd) : -1;

    if (domain == AF_INET || domain == AF_INET6) {
        if (!name_tcp(fd, name))
            snprintf(name, FL_STREAM_NAME, "%s", "nobody");
    } else {
        bool nobody = fd < 0 && stream->files == NULL;
        snprintf(name, FL_STREAM_NAME, "%s",
                 nobody                        ? "nobody"
                 : fl_stream_is_socket(stream) ? "unix"
                                               : "pipe");
    }
}

bool fl_stream_peer_left(const fl_stream *stream)
{
    struct pollfd watch = {.fd = stream->in.fd, .events = POLLRDHUP};

    if (!fl_stream_is_socket(stream))
        return false;
    return poll(&watch, 1, 0) == 1 &&
           (watch.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

bool fl_stream_peer_user(const fl_stream *stream, uid_t *user)
{
    struct ucred peer;
    socklen_t len = sizeof peer;

    if (!fl_stream_is_socket(stream) || domain_of(stream->in.fd) != AF_UNIX ||
        getsockopt(stream->in.fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
        return false;
    *user = peer.uid;
    return true;
}

size_t fl_stream_memory(const fl_stream *stream)
{
    size_t sum = sizeof *stream + stream->out_buf.cap;

    return sum + fl_stream_file_memory(stream) +
           fl_tls_layer_memory(stream->tls) +
           fl_connect_memory(stream->connecting) +
           fl_tunnel_memory(stream->tunnel);
}
