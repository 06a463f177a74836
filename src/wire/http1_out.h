/*
 * http1_out.h - what we say in HTTP/1.1: heads and framed bodies.
 *
 * Both sides embed one for the message they are sending. Each call makes one
 * `write` event or none. The connection may be freed in it: the caller holds
 * on to it meanwhile (fl_http1_enter).
 */
#ifndef FL_WIRE_HTTP1_OUT_H
#define FL_WIRE_HTTP1_OUT_H

#include "wire/http_impl.h"

typedef enum fl_http1_framing {
    FL_HTTP1_BODILESS, /* nothing follows, whatever is sent: HEAD, 204, 304 */
    FL_HTTP1_SIZED,
    FL_HTTP1_CHUNKED,
    FL_HTTP1_RAW, /* until the connection ends */
} fl_http1_framing;

typedef struct fl_http1_out {
    uint64_t left; /* of what was promised, if sized */
    fl_http1_framing framing;
    bool begun;
} fl_http1_out;

/* A message's head, apart from what the heading says. */
typedef struct fl_http1_start {
    bool request;
    fl_http1_framing framing;
    bool length;        /* say the length even if it is nothing */
    fl_span connection; /* value of Connection; empty: leave it out */
} fl_http1_start;

/* The head, and with it a body that is whole if there are `parts`: one write,
 * urgent. On failure nothing has begun. */
FL_MUST_USE fl_status fl_http1_out_head(fl_http1_out *out, fl_http *http,
                                        const fl_heading *heading,
                                        const fl_http1_start *start,
                                        const fl_span *parts, size_t count);

/* FL_E_INVALID: more than was promised. */
FL_MUST_USE fl_status fl_http1_out_body(fl_http1_out *out, fl_http *http,
                                        const fl_span *parts, size_t count,
                                        bool urgent);

/* FL_E_STATE: less than was promised. */
FL_MUST_USE fl_status fl_http1_out_end(fl_http1_out *out, fl_http *http);

#endif
