/*
 * mend.h - errors of a modern server that are ours, not the client's, to deal
 * with.
 *
 * A legacy client knows nothing of header fields, of versions named in each
 * request, of extensions. What a modern server finds missing there the client
 * could not mend; we can, and try once more.
 */
#ifndef FL_GATEWAY_MEND_H
#define FL_GATEWAY_MEND_H

#include "gateway/errand.h"

/* An answer of the server's. True: it is tried once more. */
bool fl_mend_takes(fl_errand *errand, const fl_msg *msg);

/* The same between two ends of the modern era: header fields are ours even
 * there. */
bool fl_mend_headers(fl_errand *errand, const fl_msg *msg);

#endif
