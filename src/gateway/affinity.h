/*
 * affinity.h - tasks are asked about where they were made.
 *
 * A modern request goes to whichever replica is its turn, but a task is the
 * replica's that made it. Which that was is remembered by the task's id, for
 * the latest few thousand of them, where there is more than one replica.
 */
#ifndef FL_GATEWAY_AFFINITY_H
#define FL_GATEWAY_AFFINITY_H

#include "rpc/method.h"

typedef struct fl_route fl_route;
typedef struct fl_replica fl_replica;

/* The result of a call that this replica gave: it may be a task. */
void fl_affinity_learn(fl_replica *replica, fl_method method, fl_span result);

/* The replica that a request is to go to, if it may be asked; or NULL. */
fl_replica *fl_affinity_find(const fl_route *route, const fl_msg *msg);

#endif
