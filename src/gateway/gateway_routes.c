/*
 * gateway_routes.c - the servers of a gateway: they come, have their paths, and
 * may be taken away while it runs.
 *
 * Who is taken away has clients, and they have requests: those are failed and
 * the links closed, which takes its time. The route waits for the last of them
 * and is freed from a timer, never from under whoever is on it.
 */
#include "gateway/gateway.h"

#include "base/span.h"
#include "base/status.h"
#include "gateway/aggregate.h"
#include "gateway/back.h"
#include "gateway/front.h"
#include "gateway/route.h"
#include "gateway/spares.h"
#include "io/loop.h"

#include <stdio.h>
#include <string.h>

enum {
    ROUTES_MAX = 4096,
    NAME_MAX_BYTES = 64,
    BASE_MAX = NAME_MAX_BYTES + sizeof "/servers/",
};

static bool is_called(const fl_route *route, const char *name)
{
    return name == NULL ? !route->named
                        : route->named && strcmp(route->name, name) == 0;
}

/* A name is part of a path. One server needs none: it is at the door. */
static fl_status check_name(const fl_gateway *gateway, const char *name,
                            fl_error *error)
{
    static const char fit[] = "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

    if (gateway->last_number >= ROUTES_MAX)
        return fl_error_set(error, FL_E_LIMIT, "more than %d servers",
                            ROUTES_MAX);
    size_t len = name != NULL ? strlen(name) : 0;
    if (name != NULL && (len == 0 || len > NAME_MAX_BYTES || name[0] == '.' ||
                         strspn(name, fit) != len))
        return fl_error_set(error, FL_E_INVALID,
                            "'%.80s' is no name for a server: 1 to %d of A-Z "
                            "a-z 0-9 _ - . and no dot first",
                            name, NAME_MAX_BYTES);
    for (fl_list *node = gateway->routes.next; node != &gateway->routes;
         node = node->next)
        if (is_called(FL_LIST_ENTRY(node, fl_route, node), name))
            return fl_error_set(error, FL_E_IN_USE, "two servers %s%s",
                                name != NULL ? "are named " : "have no name",
                                name != NULL ? name : "");
    return FL_OK;
}

/* By its number; or, at the door itself, the one without a name, or the only
 * one there is. NULL: all of them. */
fl_route *fl_gateway_find(const fl_gateway *gateway, unsigned endpoint)
{
    fl_list *first = gateway->routes.next;

    if (endpoint == 0 && first->next == &gateway->routes)
        return FL_LIST_ENTRY(first, fl_route, node);
    for (fl_list *node = first; node != &gateway->routes; node = node->next) {
        fl_route *route = FL_LIST_ENTRY(node, fl_route, node);
        if (endpoint == 0 ? !route->named : route->number == endpoint)
            return route;
    }
    return NULL;
}

static void name_base(const fl_route *route, char base[BASE_MAX])
{
    snprintf(base, BASE_MAX, "/servers/%s", route->name);
}

/* Where there are paths; a door that is closing opens none. */
static fl_status open_path(const fl_route *route, fl_listener *listener,
                           fl_error *error)
{
    char base[BASE_MAX];

    if (!route->named)
        return FL_OK;
    name_base(route, base);
    fl_status rc = fl_listener_serve(listener, base, route->number, error);
    return rc == FL_E_UNSUPPORTED ? FL_OK : rc;
}

fl_status fl_gateway_serve(const fl_gateway *gateway, fl_listener *listener,
                           fl_error *error)
{
    fl_status rc = FL_OK;

    for (fl_list *node = gateway->routes.next;
         node != &gateway->routes && rc == FL_OK; node = node->next)
        rc = open_path(FL_LIST_ENTRY(node, fl_route, node), listener, error);
    return rc;
}

/* Where it is found, and what its tools are called among those of all. */
static void tell(const fl_route *route, const char *what)
{
    const fl_gateway *gateway = route->gateway;
    char path[BASE_MAX + sizeof "/mcp"];

    if (!route->named || gateway->loop == NULL)
        return;
    snprintf(path, sizeof path, "/servers/%s/mcp", route->name);
    fl_log *log = fl_loop_log(gateway->loop);
    if (fl_gateway_find(gateway, 0) == NULL)
        fl_log_say(log, FL_LOG_INFO, what,
                   fl_log_text("server", fl_span_of(route->name)),
                   fl_log_text("path", fl_span_of(path)),
                   fl_log_text("prefix", fl_span_of(route->prefix)));
    else /* its tools are called what it calls them */
        fl_log_say(log, FL_LOG_INFO, what,
                   fl_log_text("server", fl_span_of(route->name)),
                   fl_log_text("path", fl_span_of(path)));
}

void fl_gateway_tell_routes(const fl_gateway *gateway)
{
    for (fl_list *node = gateway->routes.next; node != &gateway->routes;
         node = node->next)
        tell(FL_LIST_ENTRY(node, fl_route, node), "serving");
}

static fl_status open_paths(const fl_gateway *gateway, const fl_route *route,
                            fl_error *error)
{
    fl_status rc = FL_OK;

    for (fl_list *node = gateway->doors.next;
         node != &gateway->doors && rc == FL_OK; node = node->next)
        rc = open_path(
            route, FL_LIST_ENTRY(node, fl_gateway_door, node)->listener, error);
    return rc;
}

static void close_paths(const fl_gateway *gateway, const fl_route *route)
{
    char base[BASE_MAX];
    fl_error error;

    name_base(route, base);
    for (fl_list *node = gateway->doors.next;
         route->named && node != &gateway->doors; node = node->next)
        (void)!fl_listener_serve(
            FL_LIST_ENTRY(node, fl_gateway_door, node)->listener, base, 0,
            &error);
}

void fl_gateway_open_route(fl_route *route)
{
    fl_spares_open(route);
    fl_route_open(route);
}

void fl_gateway_close_route(fl_route *route, const fl_error *why)
{
    fl_spares_close(route);
    fl_route_close(route);
    for (fl_list *node = route->fronts.next; node != &route->fronts;
         node = node->next)
        fl_front_shut(FL_LIST_ENTRY(node, fl_front, node));
    fl_list *next;
    for (fl_list *node = route->backs.next; node != &route->backs;
         node = next) {
        next = node->next; /* one without a lane is gone at once */
        fl_back_close(FL_LIST_ENTRY(node, fl_back, node), why);
    }
}

/* Later, unless nobody is on it. */
static void take_away(fl_gateway *gateway, fl_route *route)
{
    fl_error why;

    close_paths(gateway, route);
    fl_list_remove(&route->node);
    fl_list_append(&gateway->leaving, &route->node);
    fl_error_set(&why, FL_E_CLOSED, "the server was taken away");
    fl_gateway_close_route(route, &why);
    if (gateway->loop != NULL)
        fl_timer_start(&gateway->sweeper, 0);
}

fl_status fl_gateway_check_place(const fl_upstream *upstream, fl_error *error)
{
    if (upstream->url == NULL && upstream->client.connection.child.argv == NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "a server is an address or a command; this one "
                            "has neither");
    return FL_OK;
}

fl_status fl_gateway_add(fl_gateway *gateway, const fl_upstream *upstream,
                         fl_error *error)
{
    fl_route *route;
    fl_status rc = fl_gateway_check_place(upstream, error);

    if (rc == FL_OK)
        rc = check_name(gateway, upstream->name, error);
    if (rc == FL_OK)
        rc = fl_route_new(gateway, upstream, &route, error);
    if (rc != FL_OK)
        return rc;
    route->number = ++gateway->last_number;
    fl_list_append(&gateway->routes, &route->node);
    if (gateway->loop != NULL) {
        fl_gateway_open_route(route);
        rc = fl_gateway_find(gateway, 0) == NULL
                 ? fl_aggregate_check(gateway, error)
                 : FL_OK;
        if (rc == FL_OK)
            rc = open_paths(gateway, route, error);
    }
    if (rc != FL_OK)
        take_away(gateway, route);
    else
        tell(route, "serving");
    return rc;
}

fl_route *fl_gateway_find_name(const fl_gateway *gateway, const char *name)
{
    for (fl_list *node = gateway->routes.next; node != &gateway->routes;
         node = node->next) {
        fl_route *route = FL_LIST_ENTRY(node, fl_route, node);
        if (is_called(route, name))
            return route;
    }
    return NULL;
}

fl_status fl_gateway_remove(fl_gateway *gateway, const char *name,
                            fl_error *error)
{
    fl_route *route = fl_gateway_find_name(gateway, name);

    if (route != NULL) {
        tell(route, "not serving any more");
        take_away(gateway, route);
        return FL_OK;
    }
    return fl_error_set(error, FL_E_INVALID, "there is no server named '%s'",
                        name != NULL ? name : "");
}

static void on_sweeper(fl_timer *timer)
{
    fl_gateway *gateway = FL_LIST_ENTRY(timer, fl_gateway, sweeper);
    fl_list *next;

    for (fl_list *node = gateway->routes.next; node != &gateway->routes;
         node = node->next)
        fl_route_sweep(FL_LIST_ENTRY(node, fl_route, node));
    for (fl_list *node = gateway->leaving.next; node != &gateway->leaving;
         node = next) {
        fl_route *route = FL_LIST_ENTRY(node, fl_route, node);
        next = node->next;
        if (!fl_list_empty(&route->fronts) || !fl_list_empty(&route->backs))
            continue;
        fl_list_remove(node);
        fl_route_free(route);
    }
}

void fl_gateway_watch(fl_gateway *gateway, fl_loop *loop)
{
    fl_timer_init(&gateway->sweeper, loop, on_sweeper);
}
