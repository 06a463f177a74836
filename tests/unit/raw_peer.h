/*
 * raw_peer.h - the other end of a link, as a plain socket that speaks lines.
 *
 * Nothing of fairlead is between the test and the bytes: what it says leaves
 * as it is written, and what it hears is compared byte for byte. Reading and
 * writing turn the loop under test, which lives on the same thread.
 */
#ifndef TESTS_UNIT_RAW_PEER_H
#define TESTS_UNIT_RAW_PEER_H

#include "io_probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/un.h>

enum { RAW_ROOM = 1 << 20 };

typedef struct raw_peer {
    fl_loop *loop;
    int fd;
    bool ended;          /* an end of file, or a reset, was read */
    size_t start, end;   /* of what was read and not looked at yet */
    char room[RAW_ROOM]; /* so a test has few of these, and static ones */
} raw_peer;

static inline void raw_take(raw_peer *peer, fl_loop *loop, int fd)
{
    assert_true(fd >= 0);
    peer->loop = loop;
    peer->fd = fd;
    peer->ended = false;
    peer->start = peer->end = 0;
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    /* a line and its end are two writes, and must not wait for each other */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
}

static inline int raw_dial(uint16_t port)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int yes = 1;

    assert_true(fd >= 0);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

static inline int raw_dial_unix(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

/* A listener on a free port of 127.0.0.1. */
static inline int raw_listen(uint16_t *port)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET,
        .sin_port = htons(*port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int yes = 1;

    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

static inline void raw_accept(raw_peer *peer, fl_loop *loop, int listener)
{
    int fd = -1;

    io_until(loop, (fd = accept(listener, NULL, NULL)) >= 0);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    raw_take(peer, loop, fd);
}

static inline void raw_close(raw_peer *peer)
{
    close(peer->fd);
    peer->fd = -1;
}

/* The end of what we say; we still listen. */
static inline void raw_finish(raw_peer *peer)
{
    assert_int_equal(shutdown(peer->fd, SHUT_WR), 0);
}

/* Exactly these bytes. */
static inline void raw_put(raw_peer *peer, const char *bytes, size_t len)
{
    for (time_t begun = io_seconds(); len > 0;) {
        ssize_t n = send(peer->fd, bytes, len, MSG_NOSIGNAL);
        assert_true(n > 0 || errno == EAGAIN);
        assert_true(io_seconds() - begun < stretched(60));
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        } else {
            io_turn(peer->loop);
        }
    }
}

static inline void raw_say(raw_peer *peer, const char *line)
{
    raw_put(peer, line, strlen(line));
    raw_put(peer, "\n", 1);
}

/* Reads what has come. */
static inline void raw_read(raw_peer *peer)
{
    if (peer->start > 0) {
        memmove(peer->room, peer->room + peer->start, peer->end - peer->start);
        peer->end -= peer->start;
        peer->start = 0;
    }
    while (!peer->ended && peer->end < RAW_ROOM) {
        ssize_t n =
            recv(peer->fd, peer->room + peer->end, RAW_ROOM - peer->end, 0);
        if (n < 0 && errno == EAGAIN)
            return;
        if (n > 0)
            peer->end += (size_t)n;
        else
            peer->ended = true;
    }
}

static inline char *raw_find_end(raw_peer *peer)
{
    return memchr(peer->room + peer->start, '\n', peer->end - peer->start);
}

/* The next line, without its end; good until the next call. */
static inline const char *raw_hear(raw_peer *peer)
{
    char *end;

    for (time_t begun = io_seconds(); (end = raw_find_end(peer)) == NULL;) {
        if (peer->ended)
            fail_msg("the connection ended instead of a line");
        if (io_seconds() - begun > stretched(30))
            fail_msg("waited for a line in vain");
        io_turn(peer->loop);
        raw_read(peer);
    }
    const char *line = peer->room + peer->start;
    *end = '\0';
    peer->start = (size_t)(end - peer->room) + 1;
    return line;
}

/* The next line is this one. */
static inline void raw_hears(raw_peer *peer, const char *line)
{
    assert_string_equal(raw_hear(peer), line);
}

/* The next line has this in it. */
static inline void raw_hears_part(raw_peer *peer, const char *part)
{
    const char *line = raw_hear(peer);

    if (strstr(line, part) == NULL)
        fail_msg("no '%s' in '%s'", part, line);
}

static inline void raw_asks(raw_peer *peer, const char *line,
                            const char *answer)
{
    raw_say(peer, line);
    raw_hears(peer, answer);
}

static inline void raw_hears_end(raw_peer *peer)
{
    io_until(peer->loop, (raw_read(peer), peer->ended));
    assert_int_equal(peer->end - peer->start, 0);
}

/* Nothing has come, and the connection stands. */
static inline void raw_hears_nothing(raw_peer *peer)
{
    io_some_turns(peer->loop);
    raw_read(peer);
    if (peer->end > peer->start)
        fail_msg("heard '%.*s'", (int)(peer->end - peer->start),
                 peer->room + peer->start);
    assert_false(peer->ended);
}

#endif
