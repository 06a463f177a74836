/*
 * http_endpoint.c - which endpoint of a listener a path belongs to.
 *
 * A listener has one endpoint of its own, with paths that its address and its
 * options name. Who listens may give it more, each under a base: BASE/mcp,
 * BASE/sse, BASE/messages and BASE/ws. They are looked for last, so that a
 * listener without any pays nothing for them.
 */
#include "transport/http_server.h"

#include "base/span.h"
#include "base/status.h"
#include "transport/http_options.h"
#include "wire/url.h"

static fl_http_route of_hub(const fl_http_hub *hub, fl_span path)
{
    if (hub->serve_mcp && fl_span_equal(path, fl_span_of(hub->path)))
        return FL_HTTP_ENDPOINT;
    if (hub->socket_path != NULL &&
        fl_span_equal(path, fl_span_of(hub->socket_path)))
        return FL_HTTP_SOCKET;
    if (hub->sockets_only)
        return FL_HTTP_NOWHERE;
    if (hub->health_path != NULL &&
        fl_span_equal(path, fl_span_of(hub->health_path)))
        return FL_HTTP_HEALTH;
    if (hub->options.http.no_sse && hub->serve_mcp)
        return FL_HTTP_NOWHERE;
    if (fl_span_equal(path, fl_span_of(hub->sse_path)))
        return FL_HTTP_SSE;
    if (fl_span_equal(path, fl_span_of(hub->messages_path)))
        return FL_HTTP_MESSAGES;
    return FL_HTTP_NOWHERE;
}

/* The last part of a path under a base; what the listener does not serve by
 * itself it does not serve there. */
static fl_http_route of_name(const fl_http_hub *hub, fl_span name)
{
    bool sse =
        !hub->sockets_only && (!hub->serve_mcp || !hub->options.http.no_sse);

    if (fl_span_equal(name, FL_SPAN("mcp")))
        return hub->serve_mcp      ? FL_HTTP_ENDPOINT
               : hub->sockets_only ? FL_HTTP_SOCKET
                                   : FL_HTTP_NOWHERE;
    if (hub->socket_path != NULL && fl_span_equal(name, FL_SPAN("ws")))
        return FL_HTTP_SOCKET;
    if (sse && fl_span_equal(name, FL_SPAN("sse")))
        return FL_HTTP_SSE;
    if (sse && fl_span_equal(name, FL_SPAN("messages")))
        return FL_HTTP_MESSAGES;
    return FL_HTTP_NOWHERE;
}

static fl_http_route of_more(fl_http_turn *turn, fl_span path)
{
    size_t slash = path.len;

    while (slash > 0 && path.ptr[slash - 1] != '/')
        slash--;
    if (slash == 0)
        return FL_HTTP_NOWHERE;
    turn->endpoint = (uint16_t)(uintptr_t)fl_map_get(
        &turn->hub->endpoints, (fl_span){path.ptr, slash - 1});
    return turn->endpoint > 0 ? of_name(turn->hub, fl_span_from(path, slash))
                              : FL_HTTP_NOWHERE;
}

fl_http_route fl_http_endpoint_find(fl_http_turn *turn, const fl_head *head)
{
    fl_span path, query;

    fl_url_split_target(head->target, &path, &query);
    fl_http_route route = of_hub(turn->hub, path);
    return route == FL_HTTP_NOWHERE && fl_map_count(&turn->hub->endpoints) > 0
               ? of_more(turn, path)
               : route;
}

/* Needed once in the life of an HTTP+SSE conversation, so it is searched for.
 */
fl_span fl_http_endpoint_base(const fl_http_hub *hub, uint16_t endpoint)
{
    size_t at = 0;
    fl_span base;
    void *number;

    while (endpoint > 0 && fl_map_next(&hub->endpoints, &at, &base, &number))
        if ((uintptr_t)number == endpoint)
            return base;
    return (fl_span){0};
}

fl_status fl_http_serve(fl_listener *listener, const char *base,
                        uint16_t endpoint, fl_error *error)
{
    fl_map *map = &((fl_http_listener *)listener)->hub->endpoints;
    fl_status rc =
        fl_http_options_check_path("an endpoint's path", base, error);

    if (rc != FL_OK)
        return rc;
    if (endpoint == 0) {
        fl_map_remove(map, fl_span_of(base));
        return FL_OK;
    }
    rc = fl_map_add(map, fl_span_of(base), fl_map_number(endpoint));
    if (rc == FL_E_IN_USE)
        return fl_error_set(error, rc, "%s is served already", base);
    return rc == FL_OK
               ? rc
               : fl_error_set(error, rc, "%s: %s", base, fl_status_text(rc));
}
