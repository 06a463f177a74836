/*
 * redial.h - what a client link does when it has no connection.
 *
 * It waits, longer each time, and tries again; what is sent meanwhile is kept,
 * up to a limit, and leaves first when there is a connection. How one is made
 * is the transport's own affair: a socket's and a WebSocket's client differ in
 * that, and share this.
 */
#ifndef FL_TRANSPORT_REDIAL_H
#define FL_TRANSPORT_REDIAL_H

#include "base/buf.h"
#include "io/timer.h"
#include "transport/backoff.h"
#include "transport/link.h"

typedef struct fl_redial {
    fl_backoff backoff;
    bool reconnects;
    bool refused;      /* a send was told to wait for on_writable */
    uint64_t asked_ms; /* the server's own wish for the next wait; or 0 */
    fl_buf unsent;     /* whole lines waiting for a connection */
    fl_error last;     /* why the connection was lost or not made */
} fl_redial;

/* From checked options. What is kept fits into a stream with their limits in
 * one piece. */
void fl_redial_init(fl_redial *redial, const fl_options *options);
void fl_redial_deinit(fl_redial *redial);

/* Has `timer` run out when it is time for the next attempt. FL_E_LIMIT: there
 * is none, and `last` says why. */
FL_MUST_USE fl_status fl_redial_wait(fl_redial *redial, const fl_link *link,
                                     fl_timer *timer);

/* The connection of an ACTIVE link, or an attempt to make one, came to
 * nothing. One that stood for a while begins the waits anew. */
void fl_redial_lost(fl_redial *redial, const fl_link *link,
                    const fl_error *why);

/* Keeps a message. FL_BUSY: no room; fl_redial_tell() will say when there is.
 */
FL_MUST_USE fl_status fl_redial_keep(fl_redial *redial, const fl_span *parts,
                                     size_t count);

/* What was kept has left. */
void fl_redial_sent(fl_redial *redial);

/* Says that the link is open, and writable to whoever waits for that. */
void fl_redial_tell(fl_redial *redial, fl_link *link);

#endif
