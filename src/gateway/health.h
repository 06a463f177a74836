/*
 * health.h - whether a server is worth asking.
 *
 * A server that fails again and again is left alone for a while (a circuit
 * breaker, guard/breaker.h): requests are refused at once, with the reason and
 * when to come back, and nobody waits for what will not come.
 *
 * A failure is a conversation that could not be opened, a request in whose
 * place the transport answered, or a probe without an answer; and where all
 * share a conversation, one that ended, or that was silent for the whole time
 * of a request. What one client does to a conversation of its own is no failure
 * of the server's, for others would be refused for it. A success is an answer,
 * whatever it says.
 *
 * Where there are several, one that failed once is doubted already: others are
 * preferred until it has been heard of, which a probe sees to (probe.h).
 */
#ifndef FL_GATEWAY_HEALTH_H
#define FL_GATEWAY_HEALTH_H

#include "gateway/errand.h"
#include "gateway/probe.h"
#include "guard/breaker.h"

typedef struct fl_route fl_route;
typedef struct fl_replica fl_replica;

typedef struct fl_health {
    fl_breaker breaker;
    fl_error why;       /* it failed last */
    bool doubted;       /* it has not been heard of since */
    bool mute;          /* ... though it was open, and had nothing to do */
    uint64_t failed_ms; /* when that was */
    uint64_t heard_ms;  /* of it, last; 0: never */
    uint64_t answers, failures;
    fl_probe probe;
} fl_health;

/* How well it is, from the best. */
typedef enum fl_standing_kind {
    FL_STANDS_WELL,
    FL_STANDS_DOUBTED, /* it failed, and is to be found out about */
    FL_STANDS_BADLY,   /* the breaker is open, or a trial is under way */
} fl_standing_kind;

fl_standing_kind fl_health_of(const fl_replica *replica);
/* The breaker would let a request through; if not, when to come back. */
bool fl_health_would(const fl_replica *replica, uint64_t *wait_ms);

/* Some replica would be asked. */
bool fl_health_has_hope(const fl_route *route);
/* The same for a request. False: the request was refused. */
bool fl_health_admits(const fl_route *route, const fl_asker *asker, fl_span id);

/* `why` is of a request, or of the whole conversation: then it is doubted,
 * whatever the reason. */
void fl_health_failed(fl_replica *replica, const fl_error *why);
void fl_health_lost(fl_replica *replica, const fl_error *why);
/* The same of one that is a client's own: it is doubted, but nobody is refused
 * for it. */
void fl_health_lost_one(fl_replica *replica, const fl_error *why);
void fl_health_answered(fl_replica *replica);
/* Something has been sent there, or is being opened: if its breaker waits for
 * a trial, this is it. */
void fl_health_tried(fl_replica *replica);
/* A conversation was opened: no answer yet, but one to whoever tried. */
void fl_health_opened(fl_replica *replica);

/* What is known of one replica, for whoever watches. The texts are good until
 * the next turn of the loop. */
typedef struct fl_health_report {
    const char *replica; /* its label */
    const char *state;   /* "up", "doubted", "down", "trial", "leaving" */
    const char *why;     /* it failed last, or "" */
    unsigned weight;     /* 0: standby */
    unsigned conversations;
    unsigned waiting, in_flight; /* requests */
    uint64_t answers, failures;  /* so far */
    uint64_t heard_ms;           /* loop time, or 0 */
    uint64_t retry_ms;           /* until it is asked again, or 0 */
} fl_health_report;

/* Fills in as many as there is room for, in their order; how many there are.
 */
size_t fl_route_health(const fl_route *route, fl_health_report *out,
                       size_t room);

#endif
