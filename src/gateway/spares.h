/*
 * spares.h - children that are ready before anybody asks for one.
 *
 * A spare is a back that is of nobody yet: it is opened as the gateway itself,
 * and given to the next conversation, or to the next request where each has a
 * child of its own. `warm` of them are kept; in all there are never more than
 * `max_children`. A request that finds no room waits for some.
 *
 * Spares that cannot be opened are not opened again until somebody else's
 * could be.
 */
#ifndef FL_GATEWAY_SPARES_H
#define FL_GATEWAY_SPARES_H

#include "gateway/errand.h"
#include "io/timer.h"

typedef struct fl_route fl_route;

/* Owned by the route. Fields are private to spares.c. */
typedef struct fl_spares {
    fl_list queue;  /* errands that wait for room, oldest first */
    fl_timer timer; /* to look after it */
    bool open;
    bool broken; /* a spare could not be opened */
} fl_spares;

void fl_spares_init(fl_route *route);

/* There is a loop: the first spares are opened. And: there will be none. */
void fl_spares_open(fl_route *route);
void fl_spares_close(fl_route *route);

/* Something has changed: there may be room, or need. */
void fl_spares_turn(fl_route *route);

/* A back was ready: opening one is possible. A back will not be. */
void fl_spares_works(fl_route *route);
void fl_spares_lost(const fl_back *back);

/* A spare that is yours from here on, the readiest first; or NULL. */
fl_back *fl_spares_take(fl_route *route);

/* Nobody leans on it: true if it is a spare now. */
bool fl_spares_keeps(fl_back *back);

/* A request that is to have a child of its own. */
void fl_spares_send(const fl_asker *asker, const fl_msg *msg, fl_method method);

#endif
