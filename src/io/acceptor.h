/*
 * acceptor.h - accepts connections on a TCP address or a Unix socket.
 */
#ifndef FL_IO_ACCEPTOR_H
#define FL_IO_ACCEPTOR_H

#include "io/stream.h"

typedef struct fl_acceptor fl_acceptor;

typedef struct fl_acceptor_options {
    const char *host; /* TCP: an address or a name; NULL with `path` */
    uint16_t port;    /* 0: any free one */
    const char *path; /* Unix socket; NULL with `host`. "@name": abstract */
    unsigned mode;    /* of the Unix socket; 0 means 0600 */
    int backlog;      /* 0 means 1024 */
    fl_tls *tls;      /* borrowed; NULL: plain */
    fl_stream_limits limits; /* of the streams accepted */
} fl_acceptor_options;

typedef struct fl_acceptor_events {
    /* A connection. Start the stream or close it, now or later; `address` is
     * the peer's in text ("192.0.2.1", "::1", "" for Unix). */
    void (*on_accept)(void *user, fl_stream *stream, const char *address);
    void (*on_closed)(void *user);
} fl_acceptor_events;

/*
 * Binds and listens before it returns, so that an error ("address in use") is
 * the caller's to report. A host NAME is looked up here and now: that is
 * allowed only at set-up. A stale Unix socket file nobody listens on is
 * replaced; a live one is FL_E_IN_USE. The file is removed on close.
 * Out of descriptors (EMFILE): the connection is accepted with a spare one and
 * closed at once, so that a flood cannot spin the loop; it is logged.
 */
FL_MUST_USE fl_status fl_acceptor_open(fl_loop *loop,
                                       const fl_acceptor_options *options,
                                       const fl_acceptor_events *events,
                                       void *user, fl_acceptor **out,
                                       fl_error *error);

/* The port in use, for port 0. */
uint16_t fl_acceptor_port(const fl_acceptor *acceptor);

/* Exactly one on_closed, always later. Accepted streams live on. */
void fl_acceptor_close(fl_acceptor *acceptor);

#endif
