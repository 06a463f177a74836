/*
 * fragments.h - answers that come in fragments (E4).
 *
 * Some servers stream the result of a tool call: events of type "result" have
 * parts of it, "complete" ends it, "error" ends it badly. Whoever asked gets
 * one JSON-RPC response, as from any other server.
 */
#ifndef FL_RPC_FRAGMENTS_H
#define FL_RPC_FRAGMENTS_H

#include "base/buf.h"

typedef struct fl_fragments {
    fl_buf content; /* elements of the result's `content`, comma between */
} fl_fragments;

/* Allocates nothing. `max` bounds the fragments together. */
void fl_fragments_init(fl_fragments *fragments, size_t max);
void fl_fragments_deinit(fl_fragments *fragments);

/*
 * A fragment: {"content":[...]}, that inside of a "result", one element of it,
 * or a string, which is text. FL_E_INVALID: none of these. FL_E_TOO_BIG,
 * FL_E_NOMEM.
 */
FL_MUST_USE fl_status fl_fragments_add(fl_fragments *fragments, fl_span data);

/*
 * Appends the response to request `id`. The last event's data is a response
 * or a result. One that has content of its own is whole, and the fragments
 * were but a preview of it; otherwise they are its content.
 */
FL_MUST_USE fl_status fl_fragments_complete(fl_fragments *fragments,
                                            fl_span data, fl_span id,
                                            fl_buf *out);

/* Appends the error response that the data of an "error" event means. */
FL_MUST_USE fl_status fl_fragments_error(fl_span data, fl_span id, fl_buf *out);

#endif
