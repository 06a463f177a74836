/*
 * route.h - one server by name, and which conversation with it a client gets.
 *
 * A legacy server may keep a state for whoever opened it, so its clients are
 * told apart by a key: nothing (all share one), who they are and what they can
 * do, or the conversation itself. How narrow the key is, is a setting; `auto`
 * begins by sharing among clients that cannot be told apart, and stops when
 * the server shows that it can.
 *
 * It may run in several places (replica.h). A conversation of the legacy era
 * is with one of them; a modern request goes to whichever is its turn.
 */
#ifndef FL_GATEWAY_ROUTE_H
#define FL_GATEWAY_ROUTE_H

#include "gateway/back.h"
#include "gateway/filter.h"
#include "gateway/hellos.h"
#include "gateway/replica.h"
#include "gateway/spares.h"
#include "rpc/mirrors.h"

#include <fairlead/gateway.h>

enum { FL_AFFINITY_MAX = 10000 };

struct fl_route {
    fl_list node; /* among the gateway's */
    struct fl_gateway *gateway;
    char *name;
    char *prefix;     /* of its tools' names among those of all */
    uint16_t number;  /* of its endpoint, from 1 */
    bool named;       /* it has one */
    fl_filter filter; /* of its tools */
    fl_list replicas; /* where it is: one at least */
    unsigned replica_count;
    fl_list gone;         /* those taken away, with conversations on them */
    fl_upstream upstream; /* defaults filled in; its texts aside */
    fl_mirrors mirrors;   /* what its tools want repeated in header fields */
    fl_list fronts;
    fl_list backs;
    unsigned back_count;
    fl_hellos hellos;
    fl_spares spares;
    fl_link_stats past; /* of links that have gone */
    uint64_t restarts;  /* of children */
    uint64_t withheld;  /* messages of its log: whose.h */
    uint64_t unread;    /* notifications that clients had no room for */
    fl_map tasks;       /* by id: the number of the replica that made it */
    unsigned last_replica;
    bool told_apart; /* it has shown that clients are not all the same to it */
    uint64_t missed_ms; /* when a list of all had to do without it; 0: never */
};

FL_MUST_USE fl_status fl_route_new(struct fl_gateway *gateway,
                                   const fl_upstream *upstream, fl_route **out,
                                   fl_error *error);
/* Neither it nor the gateway is closing: servers may be opened. */
bool fl_route_is_open(const fl_route *route);

/* One more place, or one less; it is freed when nobody is on it. FL_E_LIMIT,
 * FL_E_IN_USE, FL_E_NOMEM. */
FL_MUST_USE fl_status fl_route_add_replica(fl_route *route,
                                           const fl_upstream *upstream,
                                           fl_error *error);
void fl_route_drop_replica(fl_replica *replica);
/* There is a loop; there will be none: health is seen to from here on, or no
 * longer. */
void fl_route_open(fl_route *route);
void fl_route_close(fl_route *route);
/* Frees those that nobody is on any more. */
void fl_route_sweep(fl_route *route);

/* All of its places are commands. */
bool fl_route_is_children(const fl_route *route);

/* It has no front and no back any more. */
void fl_route_free(fl_route *route);

/* The back for a conversation that is opened, or for one modern request;
 * opened if there is none yet. NULL: `error` says why. */
fl_back *fl_route_for_session(fl_route *route, fl_front *front,
                              const fl_revision *offered, fl_error *error);
fl_back *fl_route_for_request(fl_route *route, fl_front *front,
                              const fl_msg *msg, fl_error *error);

/* Appends who the user of a client is, as far as we know him. */
FL_MUST_USE fl_status fl_front_principal(const fl_front *front, fl_buf *out);

/* back_move.c: takes the conversations there elsewhere, soon, if there is a
 * better place. And: there is one, for those that have none. */
void fl_route_desert(fl_replica *replica);
void fl_route_revive(fl_route *route);

/* The back of the same client at another place; opened if there is none. */
fl_back *fl_route_twin(const fl_back *back, fl_replica *replica,
                       fl_error *error);

/* A back is ready: if it turned out that all can share it, they do. */
void fl_route_share(fl_back *back);

/* A client has gone, and nobody leans on what was its alone. */
void fl_route_front_left(const fl_front *front);

/* A back is going: nobody is to be sent to it any more. */
void fl_route_forget(fl_route *route, const fl_back *back);

/* A front is going, and with it what is known of its latest request. */
void fl_route_forget_recent(fl_front *front);

#endif
