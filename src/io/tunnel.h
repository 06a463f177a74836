/*
 * tunnel.h - a way through an HTTP proxy.
 *
 * Everywhere NULL as the tunnel means that there is none, or none any more.
 */
#ifndef FL_IO_TUNNEL_H
#define FL_IO_TUNNEL_H

#include "io/stream_impl.h"

/* Has a fresh stream ask with `request`, a whole head, once it is connected.
 * FL_E_NOMEM. */
FL_MUST_USE fl_status fl_tunnel_add(fl_stream *stream, const char *request);
void fl_tunnel_free(fl_tunnel *tunnel);

/* Connected: asks. May break the stream. */
void fl_tunnel_begin(fl_stream *stream);

/* The proxy speaks. When it has said yes, the stream goes on. */
void fl_tunnel_feed(fl_stream *stream, fl_span raw);

void fl_tunnel_at_eof(fl_stream *stream);
size_t fl_tunnel_memory(const fl_tunnel *tunnel);

#endif
