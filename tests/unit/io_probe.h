/*
 * io_probe.h - what the tests of the io room share: a loop to turn, an owner of
 * a stream who writes down what happens to it, and streams to own.
 */
#ifndef TESTS_UNIT_IO_PROBE_H
#define TESTS_UNIT_IO_PROBE_H

#include "io/loop.h"
#include "io/stream.h"
#include "support/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <poll.h>

/* In which of its callbacks the owner closes the stream. */
typedef enum probe_close {
    PROBE_NEVER,
    PROBE_ON_OPEN,
    PROBE_ON_DATA,
    PROBE_ON_END,
    PROBE_ON_DRAIN,
} probe_close;

typedef struct probe {
    fl_stream *stream;
    int opens, ends, drains, closes, reads;
    fl_error error; /* of the last on_end */
    char head[256]; /* the first bytes that came */
    size_t received;
    uint64_t sum; /* of all bytes and their places */
    probe_close close_in;
    bool is_echo;
    bool pauses; /* itself, after each read */
} probe;

static inline uint64_t probe_sum(uint64_t sum, fl_span bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        sum = (sum ^ (unsigned char)bytes.ptr[i]) * UINT64_C(1099511628211);
    return sum;
}

static inline void probe_close_in(probe *p, probe_close where)
{
    if (p->close_in == where)
        fl_stream_close(p->stream);
}

static inline void probe_on_open(void *user)
{
    probe *p = user;

    assert_int_equal(p->closes, 0);
    p->opens++;
    probe_close_in(p, PROBE_ON_OPEN);
}

static inline void probe_on_data(void *user, fl_span bytes)
{
    probe *p = user;

    assert_int_equal(p->closes, 0);
    assert_true(bytes.len > 0);
    p->reads++;
    for (size_t i = 0; i < bytes.len; i++)
        if (p->received + i < sizeof p->head - 1)
            p->head[p->received + i] = bytes.ptr[i];
    p->received += bytes.len;
    p->sum = probe_sum(p->sum, bytes);
    if (p->is_echo)
        assert_int_equal(fl_stream_write(p->stream, &bytes, 1), FL_OK);
    if (p->pauses)
        fl_stream_pause(p->stream, true);
    probe_close_in(p, PROBE_ON_DATA);
}

static inline void probe_on_end(void *user, const fl_error *error)
{
    probe *p = user;

    assert_int_equal(p->closes, 0);
    assert_int_not_equal(error->status, FL_OK);
    p->ends++;
    p->error = *error;
    probe_close_in(p, PROBE_ON_END);
}

static inline void probe_on_drain(void *user)
{
    probe *p = user;

    assert_int_equal(p->closes, 0);
    p->drains++;
    probe_close_in(p, PROBE_ON_DRAIN);
}

static inline void probe_on_closed(void *user)
{
    probe *p = user;

    p->closes++;
    p->stream = NULL;
}

static const fl_stream_events probe_events = {
    .on_open = probe_on_open,
    .on_data = probe_on_data,
    .on_end = probe_on_end,
    .on_drain = probe_on_drain,
    .on_closed = probe_on_closed,
};

static inline fl_status probe_start(probe *p)
{
    return fl_stream_start(p->stream, &probe_events, p);
}

static inline fl_status probe_say(probe *p, const char *text)
{
    return fl_stream_write(p->stream, &(fl_span){text, strlen(text)}, 1);
}

/* One turn, waiting a little for something to happen. */
static inline void io_turn(fl_loop *loop)
{
    struct pollfd watch = {.fd = fl_loop_fd(loop), .events = POLLIN};
    int wait = fl_loop_timeout(loop);

    poll(&watch, 1, wait < 0 || wait > 20 ? 20 : wait);
    fl_loop_step(loop);
}

static inline time_t io_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* Turns the loop until `condition`, and fails the test if that never comes. */
#define io_until(loop, condition)                                              \
    for (time_t io_start = io_seconds(); !(condition);) {                      \
        assert_true(io_seconds() - io_start < stretched(60));                  \
        io_turn(loop);                                                         \
    }

/* A few turns, for what must not happen. */
static inline void io_some_turns(fl_loop *loop)
{
    for (int i = 0; i < 5; i++)
        fl_loop_step(loop);
}

static inline fl_loop *io_loop(void)
{
    fl_loop *loop = fl_loop_new();

    assert_non_null(loop);
    return loop;
}

static inline uint64_t io_read_clock(void *user)
{
    return *(uint64_t *)user;
}

static inline fl_loop *io_driven_loop(uint64_t *now)
{
    fl_clock clock = {io_read_clock, now};
    fl_loop *loop = fl_loop_new_with(&(fl_loop_options){.clock = &clock});

    assert_non_null(loop);
    return loop;
}

/* Closes what is still open, sees on_closed come once, and frees the loop. */
static inline void io_end(fl_loop *loop, probe *const *probes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (probes[i]->stream != NULL)
            fl_stream_close(probes[i]->stream);
    for (size_t i = 0; i < count; i++) {
        io_until(loop, probes[i]->stream == NULL);
        assert_int_equal(probes[i]->closes, 1);
    }
    io_some_turns(loop); /* for an acceptor that was closed just before */
    fl_loop_free(loop);
}

/* Two streams, each the other's peer. */
static inline void io_pair(fl_loop *loop, const fl_stream_limits *limits,
                           probe *a, probe *b)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_int_equal(
        fl_stream_open_pair(loop, fds[0], fds[0], limits, &a->stream), FL_OK);
    assert_int_equal(
        fl_stream_open_pair(loop, fds[1], fds[1], limits, &b->stream), FL_OK);
}

/* A stream whose other end the test holds as a descriptor. */
static inline int io_half(fl_loop *loop, const fl_stream_limits *limits,
                          probe *a)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds),
                     0);
    assert_int_equal(
        fl_stream_open_pair(loop, fds[0], fds[0], limits, &a->stream), FL_OK);
    return fds[1];
}

#endif
