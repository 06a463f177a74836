/*
 * replica.h - one of the places where a server of a name runs.
 *
 * Most servers have one. Of several each has its address or command, its
 * weight, and its health; all else, limits, filters, who shares what, is the
 * route's. A conversation is with one of them, and goes to another only when
 * that one is lost.
 *
 *   replica.c  what there is of them, and whose turn it is
 *   health.c   which of them are worth asking
 *   probe.c    finding out
 */
#ifndef FL_GATEWAY_REPLICA_H
#define FL_GATEWAY_REPLICA_H

#include "client/target.h"
#include "gateway/health.h"
#include "guard/turns.h"

#include <fairlead/gateway.h>

enum { FL_REPLICAS = 65 }; /* of one name: one, and 64 more */

typedef struct fl_back fl_back;

struct fl_replica {
    fl_list node; /* among the route's */
    fl_route *route;
    unsigned number;          /* from 1, never another's */
    char *label;              /* its URL or command, or as it was called */
    fl_target target;         /* where it is */
    fl_client_options client; /* its era and revision; of the rest the target */
    bool standby;             /* for when no other is well */
    fl_turn turn;
    fl_verdict verdict; /* what was found out about its era, and when */
    uint64_t verdict_ms;
    fl_health health;
    bool leaving; /* it was taken away, and is let go of bit by bit */
    uint64_t left_ms;
    fl_timer mover; /* to take conversations elsewhere, later */
};

/* The place that `upstream` names. It is in no list yet. */
FL_MUST_USE fl_status fl_replica_new(fl_route *route,
                                     const fl_upstream *upstream,
                                     fl_replica **out, fl_error *error);
void fl_replica_free(fl_replica *replica);

/* By its label; NULL: none is called so. */
fl_replica *fl_replica_find(const fl_route *route, const char *label);

/* It is started by us. */
bool fl_replica_is_child(const fl_replica *replica);

/* It is of the modern era and spoken to over HTTP: it tells nobody's requests
 * from another's by itself. */
bool fl_replica_is_stateless(const fl_replica *replica);

/* Whose turn it is, among those that are best off, and not `but`. NULL: nobody
 * may be asked now. */
fl_replica *fl_replica_pick(fl_route *route, const fl_replica *but);
/* The same among those that are well. NULL: none is. */
fl_replica *fl_replica_pick_well(fl_route *route, const fl_replica *but);

bool fl_replica_has_well(fl_route *route, const fl_replica *but);

/* How long to wait before it is tried again. */
uint64_t fl_replica_backoff_first(const fl_replica *replica);
uint64_t fl_replica_backoff_max(const fl_replica *replica);

/* As what a conversation with it is opened. */
fl_client_options fl_replica_options(const fl_replica *replica);

#endif
