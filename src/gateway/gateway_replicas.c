/*
 * gateway_replicas.c - the places where servers run: they come and go, and are
 * given their shares.
 */
#include "gateway/gateway.h"

#include "base/status.h"
#include "gateway/route.h"

static fl_route *find_route(const fl_gateway *gateway, const char *name,
                            fl_error *error)
{
    fl_route *route = fl_gateway_find_name(gateway, name);

    if (route == NULL)
        fl_error_set(error, FL_E_INVALID, "there is no server %s%s",
                     name != NULL ? "named " : "without a name",
                     name != NULL ? name : "");
    return route;
}

static fl_replica *find(const fl_gateway *gateway, const char *name,
                        const char *label, fl_error *error)
{
    const fl_route *route = find_route(gateway, name, error);
    fl_replica *replica = route != NULL ? fl_replica_find(route, label) : NULL;

    if (route != NULL && replica == NULL)
        fl_error_set(error, FL_E_INVALID, "%s has no replica %s", route->name,
                     label);
    return replica;
}

fl_status fl_gateway_add_replica(fl_gateway *gateway,
                                 const fl_upstream *upstream, fl_error *error)
{
    fl_status rc = fl_gateway_check_place(upstream, error);
    fl_route *route =
        rc == FL_OK ? find_route(gateway, upstream->name, error) : NULL;

    if (route == NULL)
        return FL_E_INVALID;
    return fl_route_add_replica(route, upstream, error);
}

fl_status fl_gateway_remove_replica(fl_gateway *gateway, const char *name,
                                    const char *label, fl_error *error)
{
    fl_replica *replica = find(gateway, name, label, error);

    if (replica == NULL)
        return FL_E_INVALID;
    if (replica->route->replica_count == 1)
        return fl_error_set(error, FL_E_INVALID,
                            "%s is the only replica of %s; fl_gateway_remove() "
                            "takes the server away",
                            label, replica->route->name);
    fl_route_drop_replica(replica);
    return FL_OK;
}

fl_status fl_gateway_weigh_replica(fl_gateway *gateway, const char *name,
                                   const char *label, unsigned weight,
                                   fl_error *error)
{
    fl_replica *replica = find(gateway, name, label, error);

    if (replica == NULL)
        return FL_E_INVALID;
    replica->standby = weight == 0;
    replica->turn = (fl_turn){.weight = weight};
    return FL_OK;
}
