/*
 * methods.h - the methods a server knows, and what leads to them.
 */
#ifndef FL_PEER_METHODS_H
#define FL_PEER_METHODS_H

#include "peer/session.h"

/* Answers a request, now or later, or refuses it. */
void fl_methods_request(const fl_return *to, const fl_msg *msg);

/* Heeds a notification; one that is unknown or out of place is ignored. */
void fl_methods_notify(const fl_return *to, const fl_msg *msg);

/* Answers a request of one method, now or later. All is borrowed. */
typedef void fl_method_fn(const fl_return *to, const fl_msg *msg);

fl_method_fn fl_method_initialize;
fl_method_fn fl_method_discover;
fl_method_fn fl_method_tools_list;
fl_method_fn fl_method_tools_call;
fl_method_fn fl_method_listen; /* listen.c */

/* May a request that will stay open be taken on? Answers it if not. */
bool fl_methods_admit(const fl_return *to, const fl_msg *msg);

/* {"supported":[...]} with the revisions a claim can name, and `requested` if
 * it is not empty: a token of the message, repeated as it came. */
FL_MUST_USE fl_status fl_methods_write_supported(fl_buf *out,
                                                 fl_span requested);

#endif
