/*
 * http2_heading.h - a heading, said as HEADERS frames.
 */
#ifndef FL_WIRE_HTTP2_HEADING_H
#define FL_WIRE_HTTP2_HEADING_H

#include "wire/http2_impl.h"

/* Frames that are good until fl_http2_heading_done(). */
typedef struct fl_http2_said {
    fl_span frames;
    char *heap; /* or NULL */
    char stack[2048];
} fl_http2_said;

/*
 * With the head of a DATA frame behind it that ends the stream, if `body`, the
 * length of what follows in the same write, is not 0. From FL_OK on the frames
 * must be sent, for HPACK's sake. FL_E_LIMIT, FL_E_TOO_BIG: no such head can
 * be said. FL_E_NOMEM.
 */
FL_MUST_USE fl_status fl_http2_heading_say(fl_http2_said *said,
                                           const fl_http2_stream *stream,
                                           const fl_heading *heading,
                                           size_t body);
void fl_http2_heading_done(fl_http2_said *said);

#endif
