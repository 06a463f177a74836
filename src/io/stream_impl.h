/*
 * stream_impl.h - the inside of a stream, for the files of this room only.
 *
 * An idle TCP stream is this one object. What only some streams need, or only
 * for some time, hangs off it and is allocated when the need comes: TLS, a
 * connect under way, ends that are plain files.
 *
 *   stream.c         a stream's life: start, end, close
 *   stream_in.c      its input: edges, reads, pauses
 *   stream_out.c     its output: gather, flush, wait
 *   stream_socket.c  limits, socket options, names
 *   stream_pair.c    making one of two descriptors
 *   stream_file.c    ends that cannot be polled
 *   tls_stream.c     the layer between bytes and the socket
 *   connect.c        from an address to an open stream
 *   tunnel.c         a proxy on the way there
 */
#ifndef FL_IO_STREAM_IMPL_H
#define FL_IO_STREAM_IMPL_H

#include "base/buf.h"
#include "io/loop_impl.h"
#include "io/stream.h"
#include "io/timer.h"

#include <assert.h>

/* The limits of all streams of one acceptor, defaults filled in. */
typedef struct fl_stream_shared {
    size_t refs;
    fl_stream_limits limits;
} fl_stream_shared;

typedef struct fl_stream_files fl_stream_files;
typedef struct fl_tls_layer fl_tls_layer;
typedef struct fl_connecting fl_connecting;
typedef struct fl_tunnel fl_tunnel;

typedef enum fl_stream_state {
    FL_STREAM_FRESH,   /* made, not started */
    FL_STREAM_OPENING, /* connect or handshake under way */
    FL_STREAM_OPEN,
    FL_STREAM_BROKEN, /* its owner was told, and has yet to close it */
    FL_STREAM_CLOSING,
} fl_stream_state;

/* Who sends this many bytes after the end sends more. */
enum { FL_STREAM_UPLOAD = 64 * 1024 };

/* What the one timer is for just now. */
typedef enum fl_stream_job {
    FL_STREAM_JOB_OPEN,
    FL_STREAM_JOB_SEND,
    FL_STREAM_JOB_CLOSE,
} fl_stream_job;

struct fl_stream {
    fl_watch in;  /* none: closed, or a file */
    fl_watch out; /* the same descriptor for a socket, entered as `in` alone */
    const fl_stream_events *events;
    void *user;
    fl_stream_shared *shared;
    fl_list dirty;  /* in loop->dirty while the turn's end concerns us */
    fl_buf out_buf; /* gathered this turn */
    fl_timer timer;
    fl_stream_files *files;
    fl_tls_layer *tls;
    fl_connecting *connecting;
    fl_tunnel *tunnel;
    uint32_t thrown;   /* input thrown away since it went quiet, as far as
                          FL_STREAM_UPLOAD */
    uint32_t drain_at; /* what may wait when on_drain comes, if `own_drain` */
    int8_t late;       /* fl_status: a failure to be told when the turn ends */
    uint8_t state;     /* fl_stream_state */
    uint8_t job;       /* fl_stream_job */
    uint8_t holds;     /* file operations that must end first */
    uint16_t early;    /* bytes that leave before the turn's end */
    bool quiet : 1;    /* closing after a flush: no callbacks any more */
    bool paused : 1;
    bool reading : 1;
    bool has_input : 1; /* there is something to be read, perhaps */
    bool to_end : 1;    /* ... and a short read does not mean it was all */
    bool weighs : 1;    /* the loop goes on for its sake */
    bool ended : 1;     /* nothing more will come in */
    bool want_drain : 1;
    bool own_drain : 1;
    bool stuffed : 1;   /* the system would take no more this turn */
    bool blocked : 1;   /* ... and tells when it will */
    bool finishing : 1; /* our direction is to end when all is sent */
    bool finished : 1;
    bool lingering : 1; /* the peer is to end its side before we close */
    bool patient : 1;   /* with a peer that takes nothing */
};

static_assert(sizeof(struct fl_stream) <= 200, "an idle stream stays small");

FL_MUST_USE fl_stream_shared *
fl_stream_shared_new(const fl_stream_limits *limits);
fl_stream_shared *fl_stream_shared_ref(fl_stream_shared *shared);
void fl_stream_shared_unref(fl_stream_shared *shared);

/* A fresh stream without handles; takes a reference to `shared`. */
FL_MUST_USE fl_stream *fl_stream_new(fl_loop *loop, fl_stream_shared *shared);

/* Takes back a stream nobody has seen yet and that has no handle. */
void fl_stream_discard(fl_stream *stream);

/* Makes the socket `fd`, which does not block and is taken, failure included,
 * the stream's two ends. */
FL_MUST_USE fl_status fl_stream_adopt(fl_stream *stream, int fd);

/* TCP_NODELAY and friends, as the limits say; what fails is left as it is. */
void fl_stream_tune(int fd, const fl_stream_limits *limits);

/* The turn's end, called by the loop for what is in its dirty list. */
void fl_stream_turn(fl_stream *stream);

/* Its timer knows. */
static inline fl_loop *fl_stream_loop(const fl_stream *stream)
{
    return stream->timer.loop;
}

/* Has fl_stream_turn() called at the end of this turn. */
static inline void fl_stream_mark(fl_stream *stream)
{
    if (fl_list_empty(&stream->dirty))
        fl_list_append(&fl_stream_loop(stream)->dirty, &stream->dirty);
}

/* One descriptor for both ways is a socket's. */
static inline bool fl_stream_is_socket(const fl_stream *stream)
{
    return stream->in.fd >= 0 && stream->in.fd == stream->out.fd;
}

static inline bool fl_stream_usable(const fl_stream *stream)
{
    return stream->state == FL_STREAM_OPENING ||
           stream->state == FL_STREAM_OPEN;
}

/* What happened to a stream. Each may end in a callback, and that in a close:
 * the caller touches the stream no more, or looks at its state first. */
void fl_stream_connected(fl_stream *stream);
/* ... and through the tunnel, if there is one: what is left is TLS. */
void fl_stream_arrived(fl_stream *stream);
void fl_stream_opened(fl_stream *stream);
void fl_stream_received(fl_stream *stream, fl_span raw);
void fl_stream_deliver(fl_stream *stream, fl_span bytes);
void fl_stream_at_eof(fl_stream *stream);
void fl_stream_ended(fl_stream *stream);
void fl_stream_break(fl_stream *stream, const fl_error *error);
void fl_stream_fail(fl_stream *stream, const char *doing, int code);

/* A file operation has ended; the last one of a closing stream lets it go. */
void fl_stream_release(fl_stream *stream);
/* Closes what it has of descriptors, files aside. */
void fl_stream_drop_ends(fl_stream *stream);

/* stream_in.c: the poller is asked to tell of input. Below zero: libuv's
 * code. */
FL_MUST_USE int fl_stream_listen(fl_stream *stream);
/* What the poller tells of its ends. */
fl_watch_fn fl_stream_on_in, fl_stream_on_out;
/* Reads what is there, as long as that is wanted. */
void fl_stream_read_on(fl_stream *stream);
/* The same, but the end that is behind it is not told. */
void fl_stream_hear_out(fl_stream *stream);
/* Starts or stops reading, as state and pause ask. */
void fl_stream_update_reading(fl_stream *stream);
/* To be called when what it waits for has changed. */
void fl_stream_weigh(fl_stream *stream);

/* stream_out.c: gives some of the bytes to the system, past what was gathered.
 * How many it took; below zero: libuv's code. */
FL_MUST_USE ssize_t fl_stream_give(const fl_stream *stream, fl_span bytes);
void fl_stream_flush(fl_stream *stream);
/* The system takes output again. */
void fl_stream_unblock(fl_stream *stream);
/* What a file was given is written, or `code` says why not. */
void fl_stream_sent(fl_stream *stream, int code);
/* The other side took some: if it is waited for, its time begins anew. */
void fl_stream_progressed(fl_stream *stream);
void fl_stream_send_timed_out(fl_stream *stream);
void fl_stream_drop_output(fl_stream *stream);

/* connect.c */
void fl_connect_begin(fl_stream *stream);
/* The attempt has come to something. */
void fl_connect_ready(fl_stream *stream);
void fl_connect_abort(fl_stream *stream);
void fl_connect_free(fl_connecting *connecting);
void fl_connect_timed_out(fl_stream *stream);
size_t fl_connect_memory(const fl_connecting *connecting);

#endif
