/*
 * declare.h - that a gateway carries what is said: rpc/carry.h.
 */
#ifndef FL_GATEWAY_DECLARE_H
#define FL_GATEWAY_DECLARE_H

#include "base/buf.h"

/* Appends a client's capabilities, an object, with that we carry among the
 * experimental ones. FL_E_NOMEM, FL_E_TOO_BIG. */
FL_MUST_USE fl_status fl_declare_carry(fl_span capabilities, fl_buf *out);

/* The key that a server of ours gives a question, a token; empty: none. */
fl_span fl_declared_key(fl_span params);

/* Appends the params of a question without it; FL_END: as they are. */
FL_MUST_USE fl_status fl_declare_drop_key(fl_span params, fl_buf *out);

#endif
