/*
 * lane.h - a client that carries what others say.
 *
 * A gateway needs all that a client knows about getting to a server and
 * staying there: addresses, outages, agreeing on an era, being authorized. It
 * does not need requests: those it carries belong to clients of its own, who
 * wait, cancel and are answered elsewhere. So a lane is a client that agrees,
 * and from there on hands over every message that is not its own.
 *
 * Ids are shared with the client's few own requests: take each from
 * fl_lane_number(). Answers to ids of its own never come out.
 */
#ifndef FL_CLIENT_LANE_H
#define FL_CLIENT_LANE_H

#include "rpc/revision.h"
#include "transport/link.h"

#include <fairlead/client.h>

typedef struct fl_lane_events {
    /* Agreed; again after each outage. */
    void (*on_ready)(void *user);
    /* Whatever the server says, before it is ready too. fl_link_blame() says
     * why the transport made an error up, as for any link. */
    void (*on_message)(void *user, const fl_msg *msg, fl_reply reply);
    /* Room again, after fl_lane_send() said FL_BUSY. */
    void (*on_writable)(void *user);
    /* Not ready any more. What was sent on a channel will not be answered;
     * a request with a stream of its own still may be. */
    void (*on_down)(void *user, const fl_error *why);
    /* Exactly once, always later; then the client is gone. */
    void (*on_closed)(void *user, const fl_error *why);
} fl_lane_events;

/* Who is behind it, as the server is told. */
typedef struct fl_lane_hello {
    fl_span client_info;         /* JSON, an object */
    fl_span capabilities;        /* likewise, as the legacy era has them */
    fl_span modern_capabilities; /* as the modern one has */
    const fl_revision *offered;  /* the legacy revision to offer; NULL: the
                                    newest */
    uint64_t last_number;        /* given out by a lane before this one */
} fl_lane_hello;

/* As fl_client_open(); `events` is kept, the hello is copied. Handlers among
 * the options are of no use. Close it with fl_client_close(). NULL: `error`
 * says why. */
FL_MUST_USE fl_client *fl_lane_open(fl_loop *loop, const char *url,
                                    const fl_client_options *options,
                                    const fl_lane_hello *hello,
                                    const fl_lane_events *events, void *user,
                                    fl_error *error);

/* Closes it, and hears no more of it. Not from under one of its events. */
void fl_lane_drop(fl_client *lane);

bool fl_lane_is_ready(const fl_client *lane);

/* NULL until it is ready. */
const fl_revision *fl_lane_revision(const fl_client *lane);

/* What the server said of itself: InitializeResult or DiscoverResult; empty
 * until it is ready, and if a modern one would not say. */
fl_span fl_lane_said(const fl_client *lane);

/* What a modern request says of its client, members of its _meta without the
 * braces; empty until it is ready, and for a legacy server. */
fl_span fl_lane_claim(const fl_client *lane);

/* An id for a request: never used before on this lane, nor on the one that it
 * came after. */
uint64_t fl_lane_number(fl_client *lane);

/* As fl_link_send(); FL_E_STATE when it is not ready. */
FL_MUST_USE fl_status fl_lane_send(fl_client *lane, const fl_span *parts,
                                   size_t count);

/* As fl_link_relay(); FL_E_STATE when it is not ready. */
FL_MUST_USE fl_status fl_lane_relay(fl_client *lane, const fl_msg *msg,
                                    fl_span id);

/* The request of this id is not wanted any more: where requests are streams,
 * its stream is closed. */
void fl_lane_cancel(fl_client *lane, fl_span id);

/* Whether an error to a request means that it has not run, since the server
 * knows nothing of what was agreed: then that is being agreed on anew, and
 * the request may be sent again when the lane is ready. */
bool fl_lane_was_refused(fl_client *lane, fl_span error);

/* The server says that it does not speak what was agreed on: that is being
 * found out anew. False: it is not, since the era was decreed. */
bool fl_lane_doubt(fl_client *lane);

/* Where requests are streams of their own. */
bool fl_lane_has_streams(const fl_client *lane);

/* Of the link: its state, its statistics, its operations ("pid"). */
fl_link *fl_lane_link(const fl_client *lane);

#endif
