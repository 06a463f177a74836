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

fl_status fl_stream_adopt(fl_stream *stream, int fd, bool is_tcp)
{
    uv_loop_t *uv = &stream->loop->uv;
    int rc = is_tcp ? uv_tcp_init(uv, &stream->handle.tcp)
                    : uv_pipe_init(uv, &stream->handle.pipe, 0);

    stream->handle.any.data = stream;
    if (rc == 0) {
        stream->holds++;
        stream->in = stream->out = &stream->handle.stream;
        rc = is_tcp ? uv_tcp_open(&stream->handle.tcp, fd)
                    : uv_pipe_open(&stream->handle.pipe, fd);
    }
    if (rc < 0)
        close(fd);
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

static bool name_tcp(const uv_stream_t *end, char name[FL_STREAM_NAME])
{
    struct sockaddr_storage peer;
    int len = sizeof peer;
    char text[FL_INET_NAME];

    if (uv_tcp_getpeername((const uv_tcp_t *)end, (struct sockaddr *)&peer,
                           &len) != 0)
        return false;
    fl_inet_name((struct sockaddr *)&peer, text);
    snprintf(name, FL_STREAM_NAME, "%.*s", FL_STREAM_NAME - 1, text);
    return true;
}

void fl_stream_peer_name(const fl_stream *stream, char name[FL_STREAM_NAME])
{
    const uv_stream_t *end = stream->in != NULL ? stream->in : stream->out;

    if (end == NULL)
        snprintf(name, FL_STREAM_NAME, "%s",
                 stream->files != NULL ? "pipe" : "nobody");
    else if (end->type != UV_TCP)
        snprintf(name, FL_STREAM_NAME, "%s",
                 stream->in == stream->out ? "unix" : "pipe");
    else if (!name_tcp(end, name))
        snprintf(name, FL_STREAM_NAME, "%s", "nobody");
}

bool fl_stream_peer_left(const fl_stream *stream)
{
    struct pollfd watch = {.events = POLLRDHUP};
    uv_os_fd_t fd;

    if (stream->in == NULL || stream->in != stream->out ||
        uv_fileno((const uv_handle_t *)stream->in, &fd) != 0)
        return false;
    watch.fd = fd;
    return poll(&watch, 1, 0) == 1 &&
           (watch.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

bool fl_stream_peer_user(const fl_stream *stream, uid_t *user)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    uv_os_fd_t fd;

    if (stream->in == NULL || stream->in != stream->out ||
        stream->in->type != UV_NAMED_PIPE ||
        uv_fileno((const uv_handle_t *)stream->in, &fd) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
        return false;
    *user = peer.uid;
    return true;
}

size_t fl_stream_memory(const fl_stream *stream)
{
    size_t sum = sizeof *stream + stream->out_buf.cap;

    if (stream->slow != NULL)
        sum += sizeof *stream->slow + stream->slow->buf.cap;
    return sum + fl_stream_file_memory(stream) +
           fl_tls_layer_memory(stream->tls) +
           fl_connect_memory(stream->connecting) +
           fl_tunnel_memory(stream->tunnel);
}
