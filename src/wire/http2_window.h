/*
 * http2_window.h - how much a peer may send us before it hears from us.
 */
#ifndef FL_WIRE_HTTP2_WINDOW_H
#define FL_WIRE_HTTP2_WINDOW_H

enum {
    FL_HTTP2_STREAM_ROOM = 256 * 1024, /* on one stream, */
    FL_HTTP2_ROOM = 1024 * 1024,       /* and on all of them together */
};

#endif
