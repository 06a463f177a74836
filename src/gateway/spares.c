/*
 * spares.c - children that are ready before anybody asks for one.
 *
 * All is done from a timer, never from under whoever has just left a child or
 * got to know that one is ready. Spares are found by looking: there are at
 * most `max_children` to look at.
 */
#include "gateway/spares.h"

#include "base/span.h"
#include "base/status.h"
#include "gateway/back.h"
#include "gateway/gateway.h"
#include "gateway/route.h"
#include "io/loop.h"
#include "rpc/error.h"

static bool is_each(const fl_route *route)
{
    return route->upstream.child == FL_CHILD_REQUEST;
}

static bool has_room(const fl_route *route)
{
    return route->back_count < route->upstream.max_children;
}

static unsigned count_spares(const fl_route *route)
{
    unsigned n = 0;

    for (fl_list *node = route->backs.next; node != &route->backs;
         node = node->next) {
        const fl_back *back = FL_LIST_ENTRY(node, fl_back, node);
        n += back->spare && !back->closing;
    }
    return n;
}

void fl_spares_turn(fl_route *route)
{
    if (route->spares.open)
        fl_timer_start(&route->spares.timer, 0);
}

static fl_back *open_one(fl_route *route, fl_error *error)
{
    fl_replica *replica = fl_replica_pick(route, NULL);

    if (replica != NULL)
        return fl_back_new(replica, (fl_span){0}, (fl_span){0}, NULL, error);
    fl_error_set(error, FL_BUSY, "no replica of the server can be asked");
    return NULL;
}

static void fill(fl_route *route)
{
    fl_error error;

    while (fl_route_is_open(route) && !route->spares.broken &&
           has_room(route) && count_spares(route) < route->upstream.warm) {
        fl_back *back = open_one(route, &error);
        if (back == NULL) {
            route->spares.broken = true;
            fl_log_say(fl_loop_log(route->gateway->loop), FL_LOG_WARN,
                       "no server could be started ahead",
                       fl_log_text("server", fl_span_of(route->name)),
                       fl_log_text("reason", fl_span_of(error.text)));
            return;
        }
        back->own = back->spare = true;
    }
}

fl_back *fl_spares_take(fl_route *route)
{
    fl_back *found = NULL;
    uint64_t wait_ms;

    for (fl_list *node = route->backs.next; node != &route->backs;
         node = node->next) {
        fl_back *back = FL_LIST_ENTRY(node, fl_back, node);
        if (back->spare && !back->closing && !back->replica->leaving &&
            fl_health_would(back->replica, &wait_ms) &&
            (found == NULL ||
             (fl_back_is_ready(back) && !fl_back_is_ready(found))))
            found = back;
    }
    if (found != NULL) {
        found->spare = false;
        fl_spares_turn(route);
    }
    return found;
}

bool fl_spares_keeps(fl_back *back)
{
    const fl_route *route = back->route;

    if (!route->spares.open || !is_each(route) || back->used || !back->own ||
        back->lane == NULL || count_spares(route) >= route->upstream.warm)
        return false;
    back->spare = true;
    fl_spares_turn(back->route);
    return true;
}

void fl_spares_works(fl_route *route)
{
    route->spares.broken = false;
    fl_spares_turn(route);
}

void fl_spares_lost(const fl_back *back)
{
    if (back->spare)
        back->route->spares.broken = true;
}

static fl_back *find_child(fl_route *route, fl_error *error)
{
    fl_back *back = fl_spares_take(route);

    if (back != NULL)
        return back;
    back = open_one(route, error);
    if (back != NULL)
        back->own = true;
    fl_spares_turn(route);
    return back;
}

/* Gives it a child, or fails it. */
static void serve(fl_route *route, fl_errand *errand)
{
    fl_asker asker = errand->asker;
    fl_error error;

    fl_list_remove(&errand->by_back);
    fl_back *back = find_child(route, &error);
    if (back != NULL) {
        fl_back_carry(back, errand, errand->msg);
        return;
    }
    fl_gateway_refuse(&asker, errand->id, &error);
    fl_errand_drop(errand);
}

void fl_spares_send(const fl_asker *asker, const fl_msg *msg, fl_method method)
{
    fl_route *route = asker->front->route;
    fl_spares *spares = &route->spares;
    fl_errand *errand = fl_errand_new(asker, msg, method, true);

    if (errand == NULL) {
        fl_asker_refuse(asker, msg->id, FL_RPC_INTERNAL_ERROR,
                        FL_SPAN("out of memory"), (fl_span){0});
        return;
    }
    fl_list_append(&spares->queue, &errand->by_back);
    if (spares->queue.next == &errand->by_back && /* nobody is overtaken */
        (has_room(route) || count_spares(route) > 0))
        serve(route, errand);
    else
        fl_spares_turn(route);
}

static void expire(fl_errand *errand)
{
    fl_asker asker = errand->asker;
    fl_error why;

    fl_error_set(&why, FL_E_TIMEOUT,
                 "Upstream timeout: no child was free (max_children)");
    fl_gateway_refuse(&asker, errand->id, &why);
    fl_errand_drop(errand);
}

/* The oldest is the first to be late. */
static void expire_late(fl_route *route)
{
    uint64_t now = fl_loop_now(route->gateway->loop);
    uint64_t patience = route->upstream.timeout_ms;
    fl_list *queue = &route->spares.queue;

    while (!fl_list_empty(queue)) {
        fl_errand *errand = FL_LIST_ENTRY(queue->next, fl_errand, by_back);
        uint64_t waited = now - errand->seen_ms;
        if (waited < patience) {
            fl_timer_start(&route->spares.timer, patience - waited);
            return;
        }
        expire(errand);
    }
}

static void on_timer(fl_timer *timer)
{
    fl_route *route = FL_LIST_ENTRY(timer, fl_route, spares.timer);
    fl_list *queue = &route->spares.queue;

    while (!fl_list_empty(queue) &&
           (has_room(route) || count_spares(route) > 0))
        serve(route, FL_LIST_ENTRY(queue->next, fl_errand, by_back));
    fill(route);
    expire_late(route);
}

void fl_spares_init(fl_route *route)
{
    fl_list_init(&route->spares.queue);
}

void fl_spares_open(fl_route *route)
{
    if (route->spares.open)
        return;
    fl_timer_init(&route->spares.timer, route->gateway->loop, on_timer);
    route->spares.open = true;
    route->spares.broken = false;
    fl_spares_turn(route);
}

/* Those that wait are their fronts' to fail. */
void fl_spares_close(fl_route *route)
{
    if (route->spares.open)
        fl_timer_stop(&route->spares.timer);
    route->spares.open = false;
}
