/*
 * route.c - one server by name, and which conversation with it a client gets.
 *
 * The key of a conversation is a text: empty for one that all share; who the
 * client is and what it says of itself for one that its like share. A modern
 * request has all that with it; a legacy client said it at initialize.
 */
#include "gateway/route.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "gateway/affinity.h"
#include "gateway/gateway.h"
#include "guard/keys.h"
#include "json/nav.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    KEY_MAX = 4 * 1024 * 1024,
    RECENT_MAX = 2 * 1024 * 1024,
    MAX_CHILDREN = 64,
    POOL = 64,
    POOL_OVERFLOW = 1000,
    IDLE_MS = 300000,
    TIMEOUT_MS = 300000,
    MAX_TOTAL_MS = 3600000,
    INPUT_TIMEOUT_MS = 600000,
    BREAKER_FAILURES = 5,
    BREAKER_PAUSE_MS = 10000,
    CONNECT_ATTEMPTS = 3,
    QUEUE_MAX = 1000,
    QUEUE_BYTES = 16 * 1024 * 1024,
};

static uint64_t or_else(uint64_t value, uint64_t otherwise)
{
    return value > 0 ? value : otherwise;
}

/* Many clients stand behind one of ours, and each listen of theirs holds a
 * connection of HTTP/1.1. */
static void settle_connection(fl_upstream *upstream)
{
    fl_http_settings *http = &upstream->client.connection.http;

    if (http->pool == 0)
        http->pool = POOL;
    if (http->pool_overflow == 0)
        http->pool_overflow = POOL_OVERFLOW;
}

static void settle_options(fl_upstream *upstream)
{
    if (upstream->max_children == 0)
        upstream->max_children = MAX_CHILDREN;
    upstream->idle_ms = or_else(upstream->idle_ms, IDLE_MS);
    upstream->timeout_ms = or_else(upstream->timeout_ms, TIMEOUT_MS);
    upstream->max_total_ms = or_else(upstream->max_total_ms, MAX_TOTAL_MS);
    upstream->input_timeout_ms =
        or_else(upstream->input_timeout_ms, INPUT_TIMEOUT_MS);
    if (upstream->breaker_failures == 0)
        upstream->breaker_failures = BREAKER_FAILURES;
    upstream->breaker_pause_ms =
        or_else(upstream->breaker_pause_ms, BREAKER_PAUSE_MS);
    if (upstream->child == FL_CHILD_REQUEST && upstream->warm == 0)
        upstream->warm = 1;
    if (upstream->connect_attempts == 0)
        upstream->connect_attempts = CONNECT_ATTEMPTS;
    if (upstream->queue_max == 0)
        upstream->queue_max = QUEUE_MAX;
    if (upstream->queue_bytes == 0)
        upstream->queue_bytes = QUEUE_BYTES;
    upstream->queue_ms = or_else(upstream->queue_ms, upstream->timeout_ms);
}

static char *make_prefix(const fl_route *route, const char *given)
{
    char *made = NULL;
    fl_buf text;

    if (given != NULL)
        return fl_mem_string(fl_span_of(given));
    fl_buf_init(&text, KEY_MAX);
    if (route->name != NULL &&
        fl_buf_printf(&text, "%s__", route->name) == FL_OK)
        made = fl_mem_string(fl_buf_view(&text));
    fl_buf_reset(&text);
    return made;
}

fl_status fl_route_new(fl_gateway *gateway, const fl_upstream *upstream,
                       fl_route **out, fl_error *error)
{
    fl_route *route = fl_mem_zalloc(sizeof *route);

    *out = NULL;
    if (route == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    route->gateway = gateway;
    route->upstream = *upstream;
    fl_list_init(&route->fronts);
    fl_list_init(&route->backs);
    fl_list_init(&route->replicas);
    fl_list_init(&route->gone);
    fl_mirrors_init(&route->mirrors);
    fl_map_init(&route->tasks, FL_AFFINITY_MAX);
    fl_spares_init(route);
    settle_options(&route->upstream);
    route->name = fl_mem_string(
        fl_span_of(upstream->name != NULL ? upstream->name : "server"));
    route->prefix = make_prefix(route, upstream->prefix);
    if (route->name == NULL || route->prefix == NULL ||
        fl_route_add_replica(route, upstream, error) != FL_OK ||
        fl_filter_init(&route->filter, upstream->allow_tools,
                       upstream->deny_tools) != FL_OK) {
        fl_route_free(route);
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    }
    route->upstream.name = route->name;
    route->named = upstream->name != NULL;
    *out = route;
    return FL_OK;
}

fl_status fl_route_add_replica(fl_route *route, const fl_upstream *upstream,
                               fl_error *error)
{
    fl_upstream settled = *upstream;
    fl_replica *replica;

    settle_connection(&settled);
    if (route->replica_count == FL_REPLICAS)
        return fl_error_set(error, FL_E_LIMIT, "more than %d replicas of %s",
                            FL_REPLICAS, route->name);
    fl_status rc = fl_replica_new(route, &settled, &replica, error);
    if (rc != FL_OK)
        return rc;
    if (fl_replica_find(route, replica->label) != NULL) {
        fl_error_set(error, FL_E_IN_USE, "two replicas of %s are %s",
                     route->name, replica->label);
        fl_replica_free(replica);
        return FL_E_IN_USE;
    }
    replica->number = ++route->last_replica;
    fl_list_append(&route->replicas, &replica->node);
    route->replica_count++;
    if (route->spares.open)
        fl_route_open(route);
    return FL_OK;
}

bool fl_route_is_children(const fl_route *route)
{
    for (fl_list *node = route->replicas.next; node != &route->replicas;
         node = node->next)
        if (!fl_replica_is_child(FL_LIST_ENTRY(node, fl_replica, node)))
            return false;
    return true;
}

bool fl_route_is_open(const fl_route *route)
{
    return route->spares.open && route->gateway->closing == FL_GATEWAY_OPEN;
}

void fl_route_free(fl_route *route)
{
    fl_list *node;

    while ((node = fl_list_take(&route->replicas)) != NULL)
        fl_replica_free(FL_LIST_ENTRY(node, fl_replica, node));
    while ((node = fl_list_take(&route->gone)) != NULL) {
        route->gateway->replicas_gone--;
        fl_replica_free(FL_LIST_ENTRY(node, fl_replica, node));
    }
    fl_hellos_deinit(&route->hellos);
    fl_mirrors_deinit(&route->mirrors);
    fl_map_deinit(&route->tasks);
    fl_filter_deinit(&route->filter);
    fl_mem_free(route->name);
    fl_mem_free(route->prefix);
    fl_mem_free(route);
}

static fl_back *find(const fl_replica *replica, fl_span key)
{
    const fl_route *route = replica->route;

    for (fl_list *node = route->backs.next; node != &route->backs;
         node = node->next) {
        fl_back *back = FL_LIST_ENTRY(node, fl_back, node);
        if (back->replica == replica && !back->closing && !back->own &&
            fl_span_equal(fl_buf_view(&back->key), key))
            return back;
    }
    return NULL;
}

/* It is found by its key from here on. */
static fl_back *name_spare(fl_back *spare, fl_span key, fl_error *error)
{
    if (fl_buf_append(&spare->key, key) == FL_OK)
        return spare;
    fl_error_set(error, FL_E_NOMEM, "out of memory");
    fl_back_close(spare, error); /* nobody is on it */
    return NULL;
}

/* Of those that nobody leans on, the one that has waited longest. */
static fl_back *find_idlest(const fl_route *route)
{
    fl_back *found = NULL;

    for (fl_list *node = route->backs.next; node != &route->backs;
         node = node->next) {
        fl_back *back = FL_LIST_ENTRY(node, fl_back, node);
        if (back->leans == 0 && !back->spare && !back->closing &&
            (found == NULL || back->idle_since < found->idle_since))
            found = back;
    }
    return found;
}

/* Who waits for somebody to come again gives way to somebody who has come. It
 * takes a while to go, and so there may be more than `max` for that long, but
 * not without end. */
static bool has_room(fl_route *route, unsigned max)
{
    fl_error why = {.status = FL_OK};

    if (route->back_count < max)
        return true;
    fl_back *idle = route->back_count / 2 < max ? find_idlest(route) : NULL;
    if (idle == NULL)
        return false;
    fl_back_close(idle, &why);
    return true;
}

static fl_back *open_back(fl_replica *replica, fl_span key, fl_span params,
                          const fl_revision *offered, fl_error *error)
{
    fl_route *route = replica->route;
    unsigned max = route->upstream.max_children;
    fl_back *spare =
        params.len == 0 || route->upstream.child == FL_CHILD_SESSION
            ? fl_spares_take(route)
            : NULL;

    if (spare != NULL) {
        spare->own = false;
        return name_spare(spare, key, error);
    }
    if (!has_room(route, max)) {
        fl_error_set(error, FL_BUSY,
                     "%u conversations with the server are open, and no more "
                     "are allowed: --max-children (max_children)",
                     max);
        return NULL;
    }
    return fl_back_new(replica, key, params, offered, error);
}

static fl_back *find_or_open(fl_replica *replica, fl_span key, fl_span params,
                             const fl_revision *offered, fl_error *error)
{
    fl_back *back = find(replica, key);

    return back != NULL ? back
                        : open_back(replica, key, params, offered, error);
}

fl_back *fl_route_twin(const fl_back *back, fl_replica *replica,
                       fl_error *error)
{
    return find_or_open(replica, fl_buf_view(&back->key),
                        fl_buf_view(&back->params), back->offered, error);
}

static fl_replica *pick(fl_route *route, fl_error *error)
{
    fl_replica *replica = fl_replica_pick(route, NULL);

    if (replica == NULL)
        fl_error_set(error, FL_BUSY, "no replica of the server can be asked");
    return replica;
}

fl_status fl_front_principal(const fl_front *front, fl_buf *out)
{
    fl_link_info link;

    if (front->link == NULL)
        return FL_E_STATE;
    if (front->principal != 0) /* its first line is for people */
        return fl_buf_printf(out, "key %" PRIu32 "\n%" PRIx64,
                             fl_keys_ordinal(front->principal),
                             front->principal);
    if ((front->traits & FL_LINK_CHANNEL) != 0)
        return fl_buf_printf(out, "#%" PRIu64, front->number);
    fl_link_get_info(front->link, &link); /* of HTTP it has no port */
    return fl_buf_append(out, fl_span_of(link.peer));
}

static bool is_for(const fl_back *back, fl_span whose)
{
    fl_span key = fl_buf_view(&back->key);

    return !back->closing && key.ptr != NULL && fl_span_starts(key, whose);
}

/* A client on a channel is known by its link alone: when that has gone, nobody
 * can come for what was opened for it. */
void fl_route_front_left(const fl_front *front)
{
    char whose[32];
    int len = snprintf(whose, sizeof whose, "#%" PRIu64 "\n", front->number);
    fl_list *backs = &front->route->backs, *node = backs->next;

    if (front->principal != 0 || (front->traits & FL_LINK_CHANNEL) == 0)
        return;
    while (node != backs) {
        fl_back *back = FL_LIST_ENTRY(node, fl_back, node);
        node = node->next;
        if (!is_for(back, (fl_span){whose, (size_t)len}))
            continue;
        back->own = true;
        fl_back_lean(back);
        fl_back_leave(back);
    }
}

/* Whose it is: the user, as far as we know him, and what his client says. */
static fl_status write_key(const fl_front *front, fl_span info,
                           fl_span capabilities, fl_buf *key)
{
    fl_status rc = fl_front_principal(front, key);

    if (rc == FL_OK)
        rc = fl_buf_append(key, FL_SPAN("\n"));
    if (rc == FL_OK)
        rc = fl_buf_append(key, info);
    if (rc == FL_OK)
        rc = fl_buf_append(key, FL_SPAN("\n"));
    return rc == FL_OK ? fl_buf_append(key, capabilities) : rc;
}

fl_back *fl_route_for_session(fl_route *route, fl_front *front,
                              const fl_revision *offered, fl_error *error)
{
    fl_span params = fl_introduction_text(front->params);
    fl_child_mode mode = route->upstream.child;
    fl_replica *replica = pick(route, error);
    fl_back *back;
    fl_buf key;

    if (replica == NULL)
        return NULL;
    if (mode == FL_CHILD_SHARED || fl_replica_is_stateless(replica))
        return find_or_open(replica, (fl_span){0}, (fl_span){0}, NULL, error);
    if (mode == FL_CHILD_REQUEST) { /* it is for whoever comes next, too */
        params = (fl_span){0};
        offered = NULL;
    }
    if (mode == FL_CHILD_SESSION || mode == FL_CHILD_REQUEST ||
        route->told_apart) {
        back = open_back(replica, (fl_span){0}, params, offered, error);
        if (back != NULL)
            back->own = true;
        return back;
    }
    fl_buf_init(&key, KEY_MAX);
    fl_error_set(error, FL_E_NOMEM, "out of memory");
    back =
        write_key(front, fl_json_get(params, FL_SPAN("clientInfo")),
                  fl_json_get(params, FL_SPAN("capabilities")), &key) == FL_OK
            ? find_or_open(replica, fl_buf_view(&key), params, offered, error)
            : NULL;
    fl_buf_reset(&key);
    return back;
}

/* What a legacy server would be told of the client of a modern request. */
static fl_status write_params(const fl_claim *claim, fl_buf *out)
{
    return fl_buf_printf(
        out, "{\"capabilities\":%.*s%s%.*s}",
        (int)claim->client_capabilities.len, claim->client_capabilities.ptr,
        claim->client_info.len > 0 ? ",\"clientInfo\":" : "",
        (int)claim->client_info.len,
        claim->client_info.len > 0 ? claim->client_info.ptr : "");
}

void fl_route_share(fl_back *back)
{
    if (fl_replica_is_stateless(back->replica) && !back->own &&
        find(back->replica, (fl_span){0}) == NULL)
        fl_buf_clear(&back->key);
}

/* Nearly all requests of a client say the same of it: that is seen without
 * making a key of it. */
static bool is_recent(const fl_recent *recent, const fl_claim *claim,
                      const fl_replica *replica)
{
    fl_span info = claim->client_info, said = claim->client_capabilities;

    if (recent == NULL || recent->back == NULL || recent->back->closing ||
        recent->back->replica != replica)
        return false;
    fl_span key = fl_buf_view(&recent->key);
    if (key.len < 2 || key.len - 2 < info.len + said.len)
        return false;
    fl_span tail = fl_span_from(key, key.len - said.len - info.len - 2);
    return tail.ptr[0] == '\n' && tail.ptr[info.len + 1] == '\n' &&
           fl_span_equal((fl_span){tail.ptr + 1, info.len}, info) &&
           fl_span_equal(fl_span_from(tail, info.len + 2), said);
}

/* Empty, to be filled anew. NULL: no memory. */
static fl_recent *begin_recent(fl_front *front)
{
    if (front->recent == NULL) {
        front->recent = fl_mem_zalloc(sizeof *front->recent);
        if (front->recent == NULL)
            return NULL;
        fl_buf_init(&front->recent->key, RECENT_MAX);
    }
    front->recent->back = NULL;
    fl_buf_clear(&front->recent->key);
    return front->recent;
}

static fl_back *find_for_claim(fl_replica *replica, fl_front *front,
                               const fl_claim *claim, fl_error *error)
{
    fl_recent *recent = begin_recent(front);
    fl_buf params;

    fl_error_set(error, FL_E_NOMEM, "out of memory");
    if (recent == NULL)
        return NULL;
    fl_buf_init(&params, KEY_MAX);
    if (write_key(front, claim->client_info, claim->client_capabilities,
                  &recent->key) == FL_OK &&
        write_params(claim, &params) == FL_OK)
        recent->back = find_or_open(replica, fl_buf_view(&recent->key),
                                    fl_buf_view(&params), NULL, error);
    fl_buf_reset(&params);
    return recent->back;
}

fl_back *fl_route_for_request(fl_route *route, fl_front *front,
                              const fl_msg *msg, fl_error *error)
{
    const fl_claim *claim = &msg->inner.claim;
    fl_replica *replica = fl_affinity_find(route, msg);

    if (replica == NULL)
        replica = pick(route, error);
    if (replica == NULL)
        return NULL;
    if (route->upstream.child == FL_CHILD_SHARED ||
        fl_replica_is_stateless(replica))
        return find_or_open(replica, (fl_span){0}, (fl_span){0}, NULL, error);
    if (is_recent(front->recent, claim, replica))
        return front->recent->back;
    return find_for_claim(replica, front, claim, error);
}

void fl_route_forget_recent(fl_front *front)
{
    if (front->recent == NULL)
        return;
    fl_buf_reset(&front->recent->key);
    fl_mem_free(front->recent);
    front->recent = NULL;
}

void fl_route_forget(fl_route *route, const fl_back *back)
{
    for (fl_list *node = route->fronts.next; node != &route->fronts;
         node = node->next) {
        fl_front *front = FL_LIST_ENTRY(node, fl_front, node);
        if (front->recent != NULL && front->recent->back == back)
            front->recent->back = NULL;
    }
}
