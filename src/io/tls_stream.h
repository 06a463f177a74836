/*
 * tls_stream.h - the layer between a stream's bytes and its socket's.
 *
 * Everywhere NULL as the layer means a plain stream.
 */
#ifndef FL_IO_TLS_STREAM_H
#define FL_IO_TLS_STREAM_H

#include "io/stream_impl.h"

/* Puts a layer into a fresh stream. `name` is what a client verifies, and asks
 * for in SNI; NULL on a server. FL_E_NOMEM. */
FL_MUST_USE fl_status fl_tls_layer_add(fl_stream *stream, fl_tls *tls,
                                       const char *name);
void fl_tls_layer_free(fl_tls_layer *layer);

/* The client's first words. May break the stream. */
void fl_tls_layer_begin(fl_stream *stream);

/* Ciphertext came: moves the handshake on, or delivers what it hides. May end
 * in any callback. */
void fl_tls_layer_feed(fl_stream *stream, fl_span raw);

/* The socket is at its end. */
void fl_tls_layer_at_eof(fl_stream *stream);

/* Goes on with what arrived while the stream was paused. */
void fl_tls_layer_resume(fl_stream *stream);

/* Encrypts a piece of out_buf, and the goodbye when all is said. The buffer
 * to send from, perhaps empty; NULL when this broke the stream. */
FL_MUST_USE fl_buf *fl_tls_layer_seal(fl_stream *stream);

/* Ciphertext that waits to be sent. */
size_t fl_tls_layer_pending(const fl_tls_layer *layer);

/* Input that came while the owner had paused is still to be taken in: until
 * it is, no more is read. */
bool fl_tls_layer_holds(const fl_tls_layer *layer);
size_t fl_tls_layer_memory(const fl_tls_layer *layer);

#endif
