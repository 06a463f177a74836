/*
 * gateway.c - the gateway: its doors, its end.
 *
 * Closing takes three steps: the doors are shut, what is in flight gets a
 * while to be answered (the rest is failed), and all links are closed, those
 * of clients and those to servers. When the last of them has gone, so have the
 * children, and the closing is over.
 */
#include "gateway/gateway.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "gateway/aggregate.h"
#include "gateway/back.h"
#include "gateway/front.h"
#include "gateway/parks.h"
#include "gateway/route.h"
#include "io/loop.h"
#include "rpc/error.h"

#include <assert.h>
#include <stdio.h>

enum { DEFAULT_IN_FLIGHT = 1024, GIVE_UP_MS = 120000, URIS_MAX = 100000 };

static void on_timer(fl_timer *timer);

fl_gateway *fl_gateway_new(void)
{
    fl_gateway *gateway = fl_mem_zalloc(sizeof *gateway);

    if (gateway == NULL)
        return NULL;
    fl_list_init(&gateway->routes);
    fl_list_init(&gateway->leaving);
    fl_list_init(&gateway->aggregates);
    fl_map_init(&gateway->uris, URIS_MAX);
    fl_list_init(&gateway->doors);
    fl_leftovers_init(&gateway->leftovers);
    fl_introductions_init(&gateway->introductions);
    return gateway;
}

static void free_routes(fl_list *routes)
{
    fl_list *node;

    while ((node = fl_list_take(routes)) != NULL)
        fl_route_free(FL_LIST_ENTRY(node, fl_route, node));
}

void fl_gateway_free(fl_gateway *gateway)
{
    if (gateway == NULL)
        return;
    assert(gateway->fronts == 0 && gateway->backs == 0 &&
           fl_list_empty(&gateway->doors));
    fl_map_deinit(&gateway->uris);
    free_routes(&gateway->routes);
    free_routes(&gateway->leaving);
    fl_parks_free(gateway->parks);
    fl_leftovers_deinit(&gateway->leftovers);
    fl_introductions_deinit(&gateway->introductions);
    fl_mem_free(gateway);
}

static fl_status receive(const fl_gateway_door *door, fl_link *link)
{
    fl_route *route = fl_gateway_find(door->gateway, link->endpoint);

    return route != NULL
               ? fl_front_open(route, link, door->max_in_flight)
               : fl_aggregate_open(door->gateway, link, door->max_in_flight);
}

static void on_link(fl_listener *listener, fl_link *link, void *user)
{
    fl_gateway_door *door = user;
    fl_link_info info;

    (void)listener;
    if (receive(door, link) != FL_OK) {
        fl_log_say(fl_loop_log(link->loop), FL_LOG_ERROR, "client turned away",
                   fl_log_text("reason", FL_SPAN("out of memory")));
        return; /* without events it is closed */
    }
    door->gateway->fronts++;
    fl_link_get_info(link, &info);
    fl_log_say(fl_loop_log(link->loop), FL_LOG_INFO, "client came",
               fl_log_text("kind", fl_span_of(info.kind)),
               fl_log_text("peer", fl_span_of(info.peer)));
}

static void on_door_closed(fl_listener *listener, void *user)
{
    fl_gateway_door *door = user;
    fl_gateway *gateway = door->gateway;

    (void)listener;
    fl_list_remove(&door->node);
    fl_mem_free(door);
    fl_gateway_settle(gateway);
}

static const fl_listener_events door_events = {
    .on_link = on_link,
    .on_closed = on_door_closed,
};

/* Those that are kept for who comes next; opened once there is a loop. */
static void open_spares(fl_gateway *gateway)
{
    for (fl_list *node = gateway->routes.next; node != &gateway->routes;
         node = node->next)
        fl_gateway_open_route(FL_LIST_ENTRY(node, fl_route, node));
}

fl_status fl_gateway_listen(fl_gateway *gateway, fl_loop *loop, const char *url,
                            const fl_options *options, fl_error *error)
{
    if (gateway->closing != FL_GATEWAY_OPEN)
        return fl_error_set(error, FL_E_STATE, "the gateway is closing");
    if (fl_list_empty(&gateway->routes))
        return fl_error_set(error, FL_E_STATE,
                            "add a server first, then listen");
    if (fl_gateway_find(gateway, 0) == NULL &&
        fl_aggregate_check(gateway, error) != FL_OK)
        return FL_E_IN_USE;
    if (gateway->loop != NULL && gateway->loop != loop)
        return fl_error_set(error, FL_E_INVALID,
                            "a gateway listens on one loop");
    fl_options settled = options != NULL ? *options : (fl_options){0};
    if (settled.http.give_up_ms == 0)
        settled.http.give_up_ms = GIVE_UP_MS;
    if (settled.max_in_flight == 0)
        settled.max_in_flight = DEFAULT_IN_FLIGHT;
    fl_span given = fl_span_of(url);
    fl_gateway_door *door = fl_mem_zalloc(sizeof *door + given.len + 1);
    if (door == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    door->gateway = gateway;
    door->max_in_flight = settled.max_in_flight;
    if (given.len > 0)
        memcpy(door->url, given.ptr, given.len);
    fl_status rc = fl_link_listen(loop, url, &settled, &door_events, door,
                                  &door->listener, error);
    if (rc != FL_OK) {
        fl_mem_free(door);
        return rc;
    }
    fl_list_append(&gateway->doors, &door->node);
    if (door->listener->port != 0)
        gateway->port = door->listener->port;
    bool first = gateway->loop == NULL;
    if (first) {
        gateway->opened_ms = fl_loop_now(loop);
        fl_timer_init(&gateway->timer, loop, on_timer);
        fl_gateway_watch(gateway, loop);
    }
    gateway->loop = loop;
    if (first)
        fl_gateway_tell_routes(gateway);
    rc = fl_gateway_serve(gateway, door->listener, error);
    if (rc == FL_OK)
        open_spares(gateway);
    else
        fl_listener_close(door->listener);
    return rc;
}

uint16_t fl_gateway_port(const fl_gateway *gateway)
{
    return gateway->port;
}

void fl_gateway_on_idle(fl_gateway *gateway, fl_task *done, void *user)
{
    gateway->on_idle = done;
    gateway->idle_user = user;
}

/* What went wrong on the way to a server, in the words of an answer. */
void fl_gateway_refuse_with(const fl_asker *asker, fl_span id,
                            const fl_error *why, fl_span data)
{
    char text[sizeof why->text + 64];
    int code = why->status == FL_BUSY ? FL_RPC_BUSY : FL_RPC_INTERNAL_ERROR;

    if (why->status == FL_E_TIMEOUT || why->status == FL_BUSY)
        snprintf(text, sizeof text, "%s", why->text);
    else if (why->status == FL_E_DENIED)
        snprintf(text, sizeof text, "Upstream authorization failed: %s",
                 why->text);
    else if (why->status == FL_E_INVALID)
        snprintf(text, sizeof text, "Upstream cannot be asked: %s", why->text);
    else
        snprintf(text, sizeof text, "Upstream connection lost: %s", why->text);
    fl_asker_refuse(asker, id, code, fl_span_of(text), data);
}

void fl_gateway_refuse(const fl_asker *asker, fl_span id, const fl_error *why)
{
    fl_gateway_refuse_with(asker, id, why, (fl_span){0});
}

/* What stays open only to tell of changes is not worth waiting for. */
static bool waits(const fl_front *front)
{
    for (fl_list *node = front->errands.next; node != &front->errands;
         node = node->next)
        if (FL_LIST_ENTRY(node, fl_errand, by_front)->method !=
            FL_METHOD_LISTEN)
            return true;
    return false;
}

static bool is_busy(const fl_gateway *gateway)
{
    for (fl_list *node = gateway->routes.next; node != &gateway->routes;
         node = node->next) {
        const fl_route *route = FL_LIST_ENTRY(node, fl_route, node);
        for (fl_list *at = route->fronts.next; at != &route->fronts;
             at = at->next)
            if (waits(FL_LIST_ENTRY(at, fl_front, node)))
                return true;
    }
    return false;
}

static void close_links(fl_gateway *gateway)
{
    fl_error why;

    fl_error_set(&why, FL_E_CLOSED, "the gateway is shutting down");
    gateway->closing = FL_GATEWAY_LINKS;
    for (fl_list *node = gateway->routes.next; node != &gateway->routes;
         node = node->next)
        fl_gateway_close_route(FL_LIST_ENTRY(node, fl_route, node), &why);
    fl_aggregates_close(gateway);
    fl_gateway_settle(gateway);
}

/* Closing goes on from a timer, never from under whoever called. */
void fl_gateway_settle(fl_gateway *gateway)
{
    bool answered = gateway->closing == FL_GATEWAY_DOORS && !is_busy(gateway);
    bool gone = gateway->closing == FL_GATEWAY_LINKS && gateway->fronts == 0 &&
                gateway->backs == 0 && fl_list_empty(&gateway->doors);

    if (answered || gone)
        fl_timer_start(&gateway->timer, 0);
    if (!fl_list_empty(&gateway->leaving) || gateway->replicas_gone > 0)
        fl_timer_start(&gateway->sweeper, 0);
}

static void on_timer(fl_timer *timer)
{
    fl_gateway *gateway = FL_LIST_ENTRY(timer, fl_gateway, timer);

    if (gateway->closing == FL_GATEWAY_DOORS) {
        close_links(gateway);
        return;
    }
    fl_timer_stop(&gateway->sweeper);
    gateway->closing = FL_GATEWAY_OPEN;
    gateway->loop = NULL;
    if (gateway->on_closed != NULL)
        gateway->on_closed(gateway->closed_user);
}

/* They would be in flight for as long as their clients like. */
static void end_listens(fl_gateway *gateway)
{
    for (fl_list *node = gateway->routes.next; node != &gateway->routes;
         node = node->next) {
        const fl_route *route = FL_LIST_ENTRY(node, fl_route, node);
        for (fl_list *at = route->fronts.next; at != &route->fronts;
             at = at->next)
            fl_front_end_listens(FL_LIST_ENTRY(at, fl_front, node));
    }
}

void fl_gateway_close(fl_gateway *gateway, uint64_t grace_ms, fl_task *done,
                      void *user)
{
    if (gateway->closing != FL_GATEWAY_OPEN)
        return;
    if (gateway->loop == NULL) {
        if (done != NULL)
            done(user);
        return;
    }
    gateway->closing = FL_GATEWAY_DOORS;
    gateway->on_closed = done;
    gateway->closed_user = user;
    for (fl_list *node = gateway->doors.next; node != &gateway->doors;
         node = node->next)
        fl_listener_close(FL_LIST_ENTRY(node, fl_gateway_door, node)->listener);
    end_listens(gateway);
    fl_timer_start(&gateway->timer, grace_ms);
    fl_gateway_settle(gateway);
}

void fl_gateway_left(fl_gateway *gateway)
{
    gateway->fronts--;
    fl_gateway_settle(gateway);
    if (gateway->fronts == 0 && gateway->on_idle != NULL)
        gateway->on_idle(gateway->idle_user);
}
