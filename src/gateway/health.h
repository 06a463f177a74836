/*
 * health.h - whether a server is worth asking.
 *
 * A server that fails again and again is left alone for a while (a circuit
 * breaker, guard/breaker.h): requests are refused at once, with the reason and
 * when to come back, and nobody waits for what will not come.
 *
 * A failure is a conversation that ended or could not be opened, a request
 * without an answer, or one in whose place the transport answered. A success
 * is an answer, whatever it says.
 */
#ifndef FL_GATEWAY_HEALTH_H
#define FL_GATEWAY_HEALTH_H

#include "gateway/errand.h"
#include "guard/breaker.h"

typedef struct fl_route fl_route;

typedef struct fl_health {
    fl_breaker breaker;
    fl_error why; /* it failed last */
} fl_health;

/* False: the request was refused. */
bool fl_health_admits(fl_route *route, const fl_asker *asker, fl_span id);

void fl_health_failed(fl_route *route, const fl_error *why);
void fl_health_answered(fl_route *route);
/* A conversation was opened: no answer yet, but one to whoever tried. */
void fl_health_opened(fl_route *route);

#endif
