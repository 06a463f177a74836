/*
 * connect.h - makes a stream to somewhere: look the name up, try each address
 * in turn, shake hands if TLS is wanted, all within one time limit.
 *
 * The look-up runs on libuv's thread pool, never on the loop.
 */
#ifndef FL_IO_CONNECT_H
#define FL_IO_CONNECT_H

#include "io/stream.h"

typedef struct fl_connect_options {
    const char *host; /* TCP: an address or a name; NULL with `path` */
    uint16_t port;
    const char *path;        /* Unix socket; NULL with `host` */
    fl_tls *tls;             /* borrowed; NULL: plain */
    const char *server_name; /* to verify and for SNI; NULL: `host` */
    const char *tunnel;      /* `host` is a proxy, and this whole head
                                ("CONNECT ...") asks it for the way; TLS, or
                                on_open, comes when it has said yes. NULL:
                                none */
    fl_stream_limits limits;
} fl_connect_options;

/*
 * The stream is not open yet: start it, and on_open or on_end will tell. It
 * can be closed at any time, the look-up under way included. Everything in
 * `options` is copied. FL_E_NOMEM only; all else comes through on_end.
 */
FL_MUST_USE fl_status fl_connect(fl_loop *loop,
                                 const fl_connect_options *options,
                                 fl_stream **out);

#endif
