/*
 * probe.h - finding out whether a server is there before somebody needs it.
 *
 * Nothing is asked of a server that is heard of anyway. One that has been
 * silent for the interval is asked on a conversation that is open: ping, or
 * server/discover of a modern one. So is a conversation on which somebody waits
 * for an answer, though the server be heard of on others: it may hang on this
 * one. If it is asked in vain again and again it is closed, what is in flight
 * fails as if its end had been lost, and it is opened anew.
 *
 * A server that failed is asked after a while, and after a longer while each
 * time; if nothing is open there, by opening it and closing it again. Commands
 * are not: to start a program is no way to find out whether it could be
 * started.
 *
 * Idle servers with nothing open are left in peace, unless an interval was
 * asked for.
 */
#ifndef FL_GATEWAY_PROBE_H
#define FL_GATEWAY_PROBE_H

#include "io/timer.h"
#include "transport/backoff.h"

#include <fairlead/client.h>

typedef struct fl_replica fl_replica;

/* Owned by the replica. Fields are private to probe.c. */
typedef struct fl_probe {
    bool open;
    bool up;                 /* the lane was: it is being closed */
    fl_timer timer;          /* the next, or the end of this one's time */
    fl_backoff backoff;      /* while it is doubted, */
    bool hurried;            /* and the timer runs for that */
    struct fl_errand *asked; /* under way, */
    struct fl_back *back;    /* on this, */
    fl_client *lane;         /* or being opened for it */
} fl_probe;

/* There is a loop, and: there will be none. */
void fl_probe_open(fl_replica *replica);
void fl_probe_close(fl_replica *replica);

/* It has failed, or was heard of after that. */
void fl_probe_doubts(fl_replica *replica);
void fl_probe_rests(fl_replica *replica);

#endif
