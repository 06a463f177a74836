/*
 * back_move.c - conversations that go elsewhere, since a server may run in
 * several places.
 *
 * A whole conversation moves by opening its lane at another place: its clients
 * stay on it, the handshake is made anew, what they have subscribed to is said
 * anew, and what waits is sent there (back.c). A request that is nobody's
 * conversation moves alone, to the same client's back at the other place.
 *
 * What may have run is not sent a second time. A request that was lost before
 * the server can have seen any of it has not run, whatever it asks for.
 */
#include "base/span.h"
#include "base/status.h"
#include "gateway/gateway.h"
#include "gateway/route.h"
#include "io/loop.h"

enum { LEAVE_MS = 5000 };

/* Nothing but its message is needed to ask it somewhere else. */
static bool can_travel(const fl_errand *errand)
{
    return errand->own == NULL && errand->msg != NULL && errand->park == NULL &&
           errand->rounds == NULL && errand->listening == NULL &&
           errand->asker.front != NULL &&
           errand->asker.front->back != errand->back;
}

/* It waits, and is in its back's list. */
static void carry_to(fl_errand *errand, fl_back *to)
{
    fl_back *from = errand->back;

    fl_list_remove(&errand->by_back);
    fl_back_carry(to, errand, errand->msg);
    fl_back_leave(from);
}

bool fl_back_divert(fl_errand *errand)
{
    fl_back *back = errand->back;
    fl_replica *well = can_travel(errand)
                           ? fl_replica_pick_well(back->route, back->replica)
                           : NULL;
    fl_error error;
    fl_back *twin = well != NULL ? fl_route_twin(back, well, &error) : NULL;

    if (twin == NULL || twin == back)
        return false;
    carry_to(errand, twin);
    return true;
}

/* To the front of those that wait, for it came before them. */
static void put_back(fl_errand *errand)
{
    fl_back *back = errand->back;

    fl_back_set_aside(errand);
    errand->tries++;
    fl_list_append(back->waiting.next, &errand->by_back);
}

/* The lane stands, for its requests are connections of their own; nothing is
 * sent on it for a while. */
static void hold(fl_back *back)
{
    uint64_t wait_ms;

    back->backoff.first_ms = fl_replica_backoff_first(back->replica);
    back->backoff.max_ms = fl_replica_backoff_max(back->replica);
    if (!fl_timer_running(&back->hold)) {
        if (fl_backoff_next(&back->backoff, &wait_ms) != FL_OK)
            wait_ms = back->backoff.max_ms;
        fl_timer_start(&back->hold, wait_ms);
    }
    fl_back_watch_time(back);
}

void fl_back_defer(fl_errand *errand, const fl_error *why)
{
    fl_back *back = errand->back;
    const fl_upstream *upstream = &back->route->upstream;

    if (errand->own != NULL || errand->msg == NULL || back->closing ||
        errand->state != FL_ERRAND_SENT) {
        fl_back_lose(errand, why);
        return;
    }
    put_back(errand);
    if (errand->tries <= upstream->connect_attempts && fl_back_divert(errand))
        return;
    if (errand->tries >= upstream->connect_attempts ||
        !fl_health_has_hope(back->route)) {
        fl_back_fail(errand, why);
        return;
    }
    hold(back);
    fl_route_desert(back->replica);
}

/* Nobody waits for an answer there; or has for long enough. */
static bool is_free(const fl_back *back, uint64_t now)
{
    return (fl_list_empty(&back->sent) && fl_list_empty(&back->parked)) ||
           now - back->replica->left_ms >= LEAVE_MS;
}

static bool is_to_move(const fl_back *back, uint64_t now)
{
    const fl_replica *replica = back->replica;
    const fl_health *health = &replica->health;

    if (back->closing)
        return false;
    if (back->lane == NULL) /* it is on its way */
        return false;
    if (replica->leaving)
        return is_free(back, now);
    if (fl_back_stands(back))
        return false;
    return health->breaker.state == FL_BREAKER_OPEN ||
           (health->doubted && fl_timer_running(&back->hold));
}

/* A place that is worth leaving may still be the best there is; but not if it
 * says nothing, or is not there any more. */
static bool has_better(fl_replica *replica)
{
    return replica->leaving || replica->health.mute ||
           fl_replica_has_well(replica->route, replica);
}

static void on_mover(fl_timer *timer)
{
    fl_replica *replica = FL_LIST_ENTRY(timer, fl_replica, mover);
    fl_route *route = replica->route;
    uint64_t now = fl_loop_now(route->gateway->loop);
    fl_error why = replica->health.why;
    bool stay = false;
    fl_list *next;

    if (replica->leaving)
        fl_error_set(&why, FL_E_CLOSED, "the replica was taken away");
    for (fl_list *node = route->backs.next;
         node != &route->backs && has_better(replica); node = next) {
        fl_back *back = FL_LIST_ENTRY(node, fl_back, node);
        next = node->next;
        if (back->replica != replica)
            continue;
        if (is_to_move(back, now))
            fl_back_move(back, &why);
        else
            stay = true;
    }
    replica->health.mute = false;
    if (!replica->leaving)
        return;
    if (stay && now - replica->left_ms < LEAVE_MS)
        fl_timer_start(&replica->mover, LEAVE_MS - (now - replica->left_ms));
    fl_gateway_settle(route->gateway);
}

void fl_route_desert(fl_replica *replica)
{
    if (fl_route_is_open(replica->route))
        fl_timer_start(&replica->mover, 0);
}

void fl_route_revive(fl_route *route)
{
    for (fl_list *node = route->backs.next; node != &route->backs;
         node = node->next) {
        fl_back *back = FL_LIST_ENTRY(node, fl_back, node);
        if (fl_timer_running(&back->hold))
            fl_timer_start(&back->hold, 0);
    }
}

static void open_replica(fl_replica *replica)
{
    if (replica->health.probe.open)
        return;
    fl_timer_init(&replica->mover, replica->route->gateway->loop, on_mover);
    fl_probe_open(replica);
}

static void close_replica(fl_replica *replica)
{
    fl_probe_close(replica);
    fl_timer_stop(&replica->mover);
}

void fl_route_open(fl_route *route)
{
    for (fl_list *node = route->replicas.next; node != &route->replicas;
         node = node->next)
        open_replica(FL_LIST_ENTRY(node, fl_replica, node));
}

void fl_route_close(fl_route *route)
{
    const fl_list *lists[] = {&route->replicas, &route->gone};

    for (size_t i = 0; i < 2; i++)
        for (fl_list *node = lists[i]->next; node != lists[i];
             node = node->next)
            close_replica(FL_LIST_ENTRY(node, fl_replica, node));
}

void fl_route_drop_replica(fl_replica *replica)
{
    fl_route *route = replica->route;

    fl_probe_close(replica);
    fl_list_remove(&replica->node);
    route->replica_count--;
    fl_list_append(&route->gone, &replica->node);
    route->gateway->replicas_gone++;
    replica->leaving = true;
    if (route->gateway->loop == NULL) {
        fl_route_sweep(route);
        return;
    }
    replica->left_ms = fl_loop_now(route->gateway->loop);
    fl_route_desert(replica);
}

static bool is_used(const fl_replica *replica)
{
    const fl_route *route = replica->route;

    for (fl_list *node = route->backs.next; node != &route->backs;
         node = node->next)
        if (FL_LIST_ENTRY(node, fl_back, node)->replica == replica)
            return true;
    return false;
}

void fl_route_sweep(fl_route *route)
{
    fl_list *next;

    for (fl_list *node = route->gone.next; node != &route->gone; node = next) {
        fl_replica *replica = FL_LIST_ENTRY(node, fl_replica, node);
        next = node->next;
        if (is_used(replica))
            continue;
        fl_timer_stop(&replica->mover);
        fl_list_remove(node);
        route->gateway->replicas_gone--;
        fl_replica_free(replica);
    }
}
