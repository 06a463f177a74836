/*
 * stream.h - a two-way flow of bytes: TCP, Unix socket, pipe pair, or any of
 * them inside TLS. Nobody above this room can tell which.
 *
 * Input is pushed: each read lands in the loop's one shared buffer and is lent
 * to on_data for the length of the call. Output is gathered: writes of one
 * loop turn are appended to one buffer and leave together when the turn ends,
 * with one system call; only a long turn's output leaves in pieces. An idle
 * stream holds no buffer at all.
 *
 * A stream may be closed from inside any of its callbacks. After
 * fl_stream_close() no callback comes but on_closed: exactly once, always
 * later, and then the stream is gone.
 */
#ifndef FL_IO_STREAM_H
#define FL_IO_STREAM_H

#include <fairlead/loop.h>

#include <sys/types.h>

typedef struct fl_stream fl_stream;
typedef struct fl_tls fl_tls; /* a TLS configuration, io/tls.h */

typedef struct fl_stream_events {
    /* Connected, TLS handshake included. Never for a stream whose
     * fl_stream_start() said FL_OK. */
    void (*on_open)(void *user);

    /* `bytes` is good for this call only. */
    void (*on_data)(void *user, fl_span bytes);

    /* Nothing more will come. FL_END: the other side finished in order, and
     * can perhaps still read; below zero: the stream is broken (connect and
     * TLS failures too; `error` says what was wrong). Close it. One that is
     * kept open after FL_END, to answer, may break later and then says so
     * with a second on_end. */
    void (*on_end)(void *user, const fl_error *error);

    /* Room again: what waits had reached high water, and has fallen to half
     * of it. May be NULL. */
    void (*on_drain)(void *user);

    void (*on_closed)(void *user);
} fl_stream_events;

typedef struct fl_stream_limits {
    size_t high_water;        /* fl_stream_write() says FL_BUSY while this much
                                 or more is waiting; default 256 KiB */
    size_t out_max;           /* more than this is never held; default
                                 high_water + 16 MiB + 64 KiB */
    uint64_t send_timeout_ms; /* output that makes no progress for so long
                                 breaks the stream; default 5000 */
    uint64_t open_timeout_ms; /* connect plus handshake; default 5000 */
    bool no_delay_off;        /* TCP_NODELAY is on unless this says off */
    bool keepalive_off;
    unsigned keepalive_s;  /* default 60 */
    uint64_t dead_peer_ms; /* sent and not acknowledged for so long breaks the
                              stream (TCP_USER_TIMEOUT); 0: the system's */
    int recv_buffer;       /* SO_RCVBUF; 0: the system's */
    int send_buffer;
} fl_stream_limits;

/*
 * Starts a stream that a listener, a connect or a child made. Until then it
 * reads nothing and makes no callbacks. FL_OK: open now. FL_AGAIN: on_open or
 * on_end will come. `events` is kept. Failures also come through on_end, later.
 */
FL_MUST_USE fl_status fl_stream_start(fl_stream *stream,
                                      const fl_stream_events *events,
                                      void *user);

/*
 * A stream over two descriptors (the same one twice for a socket), which it
 * owns from here on, failure included. Pipes, sockets, terminals, regular
 * files and /dev/null: whatever a stdin or stdout can be.
 */
FL_MUST_USE fl_status fl_stream_open_pair(fl_loop *loop, int in_fd, int out_fd,
                                          const fl_stream_limits *limits,
                                          fl_stream **out);

/*
 * Appends the parts, all or nothing, to what leaves at the end of this turn.
 * FL_BUSY: high water; on_drain will tell. FL_E_TOO_BIG: would pass out_max.
 * FL_E_STATE: not open, or closing. FL_E_NOMEM. Allowed before it is open:
 * what is written then waits for on_open.
 */
FL_MUST_USE fl_status fl_stream_write(fl_stream *stream, const fl_span *parts,
                                      size_t count);

/* The same, past the high water mark, up to out_max: for answers, which are
 * few where reading pauses at the mark. Never FL_BUSY. */
FL_MUST_USE fl_status fl_stream_write_urgent(fl_stream *stream,
                                             const fl_span *parts,
                                             size_t count);

/*
 * For framing in place: where the bytes of the last successful write lie, so
 * that the caller may rewrite them in place before they leave. Good until the
 * next call on the stream.
 */
char *fl_stream_last_write(fl_stream *stream, size_t len);

/* Another takes over a stream that is open: from here on its events are these.
 * What waits to leave still does. */
void fl_stream_rebind(fl_stream *stream, const fl_stream_events *events,
                      void *user);

/* Of a long turn's output, what has come together leaves at `bytes` instead of
 * at 2 KiB: for a stream on which many peers' messages go side by side, where
 * fewer system calls are worth more than an early start. */
void fl_stream_gather(fl_stream *stream, uint16_t bytes);

/* Output that makes no progress does not break this stream any more
 * (send_timeout_ms): its user looks to that. */
void fl_stream_be_patient(fl_stream *stream);

/* on_drain is to come when what waits has fallen to `level`, once, instead of
 * at half of high water: for who has a mark of his own. */
void fl_stream_drain_at(fl_stream *stream, size_t level);

/* Bytes accepted and not yet given to the system. */
size_t fl_stream_pending(const fl_stream *stream);

/* Bytes of heap this stream holds now, the object itself included. */
size_t fl_stream_memory(const fl_stream *stream);

/* Stops and resumes reading: back-pressure on the other side. */
void fl_stream_pause(fl_stream *stream, bool paused);

/* Has what is waiting sent, then ends our direction, so that the other side
 * sees an end of file; reading goes on. */
void fl_stream_finish(fl_stream *stream);

/* Drops what is waiting and closes. Harmless when called twice. */
void fl_stream_close(fl_stream *stream);

/* Lets what is waiting leave, for `ms` at most, then closes. No callback but
 * on_closed comes any more. */
void fl_stream_close_after_flush(fl_stream *stream, uint64_t ms);

/* The same for a peer that is in the middle of saying something: it is heard
 * out until it ends its side, for what we close on would be lost to it. */
void fl_stream_close_after_peer(fl_stream *stream, uint64_t ms);

/* Whether the other side has hung up already, as the system knows it, although
 * we have not read that far. A socket's only; false for all else. */
bool fl_stream_peer_left(const fl_stream *stream);

/* "127.0.0.1:4711", "[::1]:80", "unix", "pipe", and its NUL; for logs. */
enum { FL_STREAM_NAME = 64 };
void fl_stream_peer_name(const fl_stream *stream, char name[FL_STREAM_NAME]);

/* Whose process is at the other end of a Unix socket. False: it is none. */
bool fl_stream_peer_user(const fl_stream *stream, uid_t *user);

/* The subject of the verified client or server certificate in RFC 2253 form;
 * false when there is none. */
bool fl_stream_peer_subject(const fl_stream *stream, char *out, size_t size);

/* The protocol that ALPN agreed on, once open; empty when there is none. */
fl_span fl_stream_alpn(const fl_stream *stream);

#endif
