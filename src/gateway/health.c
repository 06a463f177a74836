/*
 * health.c - whether a server is worth asking.
 */
#include "gateway/health.h"

#include "base/span.h"
#include "gateway/gateway.h"
#include "gateway/route.h"
#include "io/loop.h"
#include "rpc/error.h"

#include <inttypes.h>
#include <stdio.h>

/* A fl_error's text, and ours around it. */
enum { TEXT = sizeof(((fl_error *)0)->text) + 160 };

static uint64_t now_of(const fl_route *route)
{
    return fl_loop_now(route->gateway->loop);
}

static void say(const fl_route *route, fl_log_level level, const char *what)
{
    fl_log_say(fl_loop_log(route->gateway->loop), level, what,
               fl_log_text("server", fl_span_of(route->name)),
               fl_log_text("reason", fl_span_of(route->health.why.text)));
}

bool fl_health_admits(fl_route *route, const fl_asker *asker, fl_span id)
{
    fl_health *health = &route->health;
    char text[TEXT], data[64];
    uint64_t wait_ms;

    if (fl_breaker_allow(&health->breaker, now_of(route), &wait_ms))
        return true;
    uint64_t seconds = (wait_ms + 999) / 1000;
    snprintf(text, sizeof text,
             "Upstream unavailable: it failed %u times in a row, last with: "
             "%s; try again in %" PRIu64 " s",
             health->breaker.failures, health->why.text, seconds);
    int n =
        snprintf(data, sizeof data, "{\"retryAfter\":%" PRIu64 "}", seconds);
    fl_asker_refuse(asker, id, FL_RPC_INTERNAL_ERROR, fl_span_of(text),
                    (fl_span){data, (size_t)n});
    return false;
}

/* What is wrong with one request says nothing about the next. */
static bool is_its_own(fl_status status)
{
    return status == FL_E_TOO_BIG || status == FL_E_DENIED ||
           status == FL_E_NOMEM || status == FL_BUSY;
}

void fl_health_failed(fl_route *route, const fl_error *why)
{
    fl_health *health = &route->health;
    fl_breaker_state before = health->breaker.state;

    if (is_its_own(why->status))
        return;
    health->why = *why;
    fl_breaker_fail(&health->breaker, now_of(route));
    if (before != FL_BREAKER_OPEN && health->breaker.state == FL_BREAKER_OPEN)
        say(route, FL_LOG_ERROR,
            "the server fails again and again; it is left alone for a while");
}

void fl_health_answered(fl_route *route)
{
    fl_health *health = &route->health;

    if (health->breaker.state != FL_BREAKER_CLOSED)
        say(route, FL_LOG_INFO, "the server answers again");
    fl_breaker_succeed(&health->breaker);
}

void fl_health_opened(fl_route *route)
{
    if (route->health.breaker.state == FL_BREAKER_HALF)
        fl_health_answered(route);
}
