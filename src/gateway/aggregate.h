/*
 * aggregate.h - a client that came to all servers at once.
 *
 *   aggregate.c   the client's link, and a leg to each server
 *   joint.h       one request of his, on one leg or on all
 *   merge.h       several answers made one
 *
 * A leg is a link that goes nowhere: its other end is an ordinary front of the
 * server's route, which thinks it has a client of its own. So all that is
 * known of eras, sessions and children is of use here without a line about
 * aggregation in it.
 */
#ifndef FL_GATEWAY_AGGREGATE_H
#define FL_GATEWAY_AGGREGATE_H

#include "gateway/gateway.h"
#include "gateway/route.h"

typedef struct fl_aggregate fl_aggregate;

typedef struct fl_leg {
    fl_link link;      /* first */
    fl_aggregate *all; /* NULL once it has gone */
    fl_route *route;
    size_t index;   /* among the legs */
    fl_timer timer; /* the end */
} fl_leg;

struct fl_aggregate {
    fl_list node; /* among the gateway's */
    fl_gateway *gateway;
    fl_link *link;
    unsigned traits;
    bool greeted; /* by initialize: he may be told of what he did not ask */
    fl_list joints;
    fl_timer pager; /* further pages are asked for from here */
    size_t count;
    fl_leg *legs[]; /* NULL: it has gone */
};

/* Takes the link over. FL_E_NOMEM: it is untouched. */
FL_MUST_USE fl_status fl_aggregate_open(fl_gateway *gateway, fl_link *link,
                                        unsigned max_in_flight);

/* The gateway is closing. */
void fl_aggregates_close(fl_gateway *gateway);

/* Whether a front's link is one of these, and no client's. */
bool fl_aggregate_is_leg(const fl_link *link);

/* A client's message goes to the server; what it answers, if it is a request,
 * is said to `stream`. */
void fl_leg_deliver(fl_leg *leg, const fl_msg *msg, void *stream);

/* Tells a client with a session that a list is another: "tools". */
void fl_aggregate_tell(fl_aggregate *all, fl_span list);

/* What a server is called, and what its tools' names begin with. */
typedef struct fl_naming {
    const char *name;
    const char *prefix; /* NULL: its name, and "__" */
} fl_naming;

/* FL_E_IN_USE: a tool's name could be of either of these two. */
FL_MUST_USE fl_status fl_aggregate_compare(const fl_naming *one,
                                           const fl_naming *two,
                                           fl_error *error);
/* Whether the names of all its servers' tools can be told apart. */
FL_MUST_USE fl_status fl_aggregate_check(const fl_gateway *gateway,
                                         fl_error *error);

#endif
