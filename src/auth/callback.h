/*
 * callback.h - where a user's browser comes back to: a server on loopback, for
 * as long as one question is open (RFC 8252 7.3).
 */
#ifndef FL_AUTH_CALLBACK_H
#define FL_AUTH_CALLBACK_H

#include <fairlead/loop.h>

typedef struct fl_callback fl_callback;

/* Somebody came, asking for `target`. True: that was what is waited for, and
 * he is told that all is well. It may be closed from here. */
typedef bool fl_callback_fn(void *user, fl_span target);

/*
 * Listens where `redirect_uri` says: http://127.0.0.1:PORT/PATH, [::1] or
 * localhost; without a port on a free one. FL_E_INVALID: it is not on
 * loopback. FL_E_IN_USE...
 */
FL_MUST_USE fl_status fl_callback_open(fl_loop *loop, const char *redirect_uri,
                                       fl_callback_fn *fn, void *user,
                                       fl_callback **out, fl_error *error);

/* Where it is, with the port it got: as long as it is open. */
const char *fl_callback_uri(const fl_callback *callback);

/* What was said leaves; the loop sees to the rest. NULL is fine. */
void fl_callback_close(fl_callback *callback);

#endif
