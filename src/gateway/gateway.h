/*
 * gateway.h - the inside of an fl_gateway, for the files of this room only.
 *
 *   gateway.c   its doors, its end
 *   gateway_routes.c its servers; gateway_replicas.c the places they run in
 *   route.h     one server, and which conversation with it a client gets
 *   replica.h   one of the places where it runs
 *   front.h     one client
 *   back.h      one conversation with a server
 *   aggregate.h a client of all servers at once
 *   errand.h    one request, on its way between the two
 *   inquiry.h  the other direction
 *   report.h    all of it, as JSON
 */
#ifndef FL_GATEWAY_GATEWAY_H
#define FL_GATEWAY_GATEWAY_H

#include "base/map.h"
#include "gateway/leftovers.h"
#include "io/timer.h"
#include "server/introductions.h"

#include <fairlead/gateway.h>

typedef struct fl_route fl_route;

typedef enum fl_gateway_closing {
    FL_GATEWAY_OPEN,
    FL_GATEWAY_DOORS, /* shut; what is in flight is being answered */
    FL_GATEWAY_LINKS, /* being closed */
} fl_gateway_closing;

typedef struct fl_gateway_door {
    fl_list node;
    fl_gateway *gateway;
    fl_listener *listener;
    unsigned max_in_flight;
    char url[]; /* as it was given */
} fl_gateway_door;

struct fl_gateway {
    fl_list routes;
    fl_list leaving;        /* those taken away, with somebody still on them */
    fl_timer sweeper;       /* frees them */
    fl_list aggregates;     /* clients of all servers */
    fl_map uris;            /* by URI: the number of the route that has it */
    uint16_t last_number;   /* of a route's endpoint */
    fl_list doors;          /* listeners, open or closing */
    fl_loop *loop;          /* NULL until it listens, */
    uint64_t opened_ms;     /* which was then */
    fl_leftovers leftovers; /* errands to be used again */
    fl_introductions introductions; /* what clients say of themselves */
    size_t fronts, backs;
    size_t replicas_gone; /* taken away, with conversations still on them */
    uint64_t last_front;  /* number */
    uint16_t port;
    fl_task *on_idle;
    void *idle_user;
    fl_gateway_closing closing;
    struct fl_parks *parks; /* calls whose clients are to come back */
    fl_timer timer;         /* the next step of closing */
    fl_task *on_closed;
    void *closed_user;
};

/* A client has left; a conversation with a server has ended; a request has
 * been answered. */
void fl_gateway_left(fl_gateway *gateway);
void fl_gateway_settle(fl_gateway *gateway);

/* gateway_routes.c: the server at this endpoint; at 0 the one without a name,
 * or the only one there is. NULL: all of them. */
fl_route *fl_gateway_find(const fl_gateway *gateway, unsigned endpoint);
/* The server of this name; NULL: the one without. NULL: there is none. */
fl_route *fl_gateway_find_name(const fl_gateway *gateway, const char *name);
/* An upstream says where. */
FL_MUST_USE fl_status fl_gateway_check_place(const fl_upstream *upstream,
                                             fl_error *error);
/* Gives each server its path at this door. */
FL_MUST_USE fl_status fl_gateway_serve(const fl_gateway *gateway,
                                       fl_listener *listener, fl_error *error);
/* Its servers may be started, and are looked after. */
void fl_gateway_open_route(fl_route *route);
/* Closes all of its links. */
void fl_gateway_close_route(fl_route *route, const fl_error *why);
/* It listens from now on. */
void fl_gateway_watch(fl_gateway *gateway, fl_loop *loop);
/* The log is told which servers there are, and where. */
void fl_gateway_tell_routes(const fl_gateway *gateway);

/* Answers a request that found no server. */
void fl_gateway_refuse(const fl_asker *asker, fl_span id, const fl_error *why);
/* The same with more to say: JSON, or empty. */
void fl_gateway_refuse_with(const fl_asker *asker, fl_span id,
                            const fl_error *why, fl_span data);

#endif
