/*
 * replica.c - the places where a server of one name runs, and whose turn it is.
 *
 * Those that are well come first, those that are only doubted after them, and
 * among either the ones with a weight before those that stand by. Within the
 * first group that has anybody turns are taken by weight (guard/turns.h).
 */
#include "gateway/replica.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "gateway/gateway.h"
#include "gateway/route.h"
#include "io/loop.h"
#include "transport/transport.h"

#include <string.h>

enum {
    LABEL_MAX = 1024,
    BREAKER_WINDOW_MS = 60000,
    CHILD_FIRST_MS = 250,
    CHILD_MAX_MS = 30000,
    REMOTE_FIRST_MS = 1000,
    REMOTE_MAX_MS = 10000,
};

/* As much of the command as tells it from others. */
static fl_status write_command(const fl_upstream *upstream, fl_buf *out)
{
    const char *const *argv = upstream->client.connection.child.argv;
    fl_status rc = FL_OK;

    for (size_t i = 0; argv[i] != NULL && rc == FL_OK; i++)
        rc = fl_buf_printf(out, "%s%s", i > 0 ? " " : "", argv[i]);
    return rc == FL_E_TOO_BIG ? FL_OK : rc;
}

/* What it is called, or its address; or its command. */
static char *make_label(const fl_upstream *upstream)
{
    const char *given =
        upstream->replica != NULL ? upstream->replica : upstream->url;
    char *made = NULL;
    fl_buf text;

    if (given != NULL)
        return fl_mem_string(fl_span_of(given));
    fl_buf_init(&text, LABEL_MAX);
    if (write_command(upstream, &text) == FL_OK)
        made = fl_mem_string(fl_buf_view(&text));
    fl_buf_reset(&text);
    return made;
}

fl_status fl_replica_new(fl_route *route, const fl_upstream *upstream,
                         fl_replica **out, fl_error *error)
{
    fl_replica *replica = fl_mem_zalloc(sizeof *replica);

    *out = NULL;
    if (replica == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    replica->route = route;
    replica->client = upstream->client;
    replica->standby = upstream->standby;
    replica->turn.weight = upstream->weight;
    replica->health.breaker = (fl_breaker){
        .failures = route->upstream.breaker_failures,
        .window_ms = BREAKER_WINDOW_MS,
        .pause_ms = route->upstream.breaker_pause_ms,
    };
    fl_list_init(&replica->node);
    fl_list_init(&replica->mover.node);
    replica->label = make_label(upstream);
    if (replica->label == NULL ||
        fl_target_init(&replica->target, upstream->url,
                       &upstream->client.connection) != FL_OK) {
        fl_replica_free(replica);
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    }
    *out = replica;
    return FL_OK;
}

void fl_replica_free(fl_replica *replica)
{
    fl_target_deinit(&replica->target);
    fl_mem_free(replica->label);
    fl_mem_free(replica);
}

fl_replica *fl_replica_find(const fl_route *route, const char *label)
{
    for (fl_list *node = route->replicas.next; node != &route->replicas;
         node = node->next) {
        fl_replica *replica = FL_LIST_ENTRY(node, fl_replica, node);
        if (strcmp(replica->label, label) == 0)
            return replica;
    }
    return NULL;
}

bool fl_replica_is_child(const fl_replica *replica)
{
    return replica->target.url == NULL;
}

static bool is_http(const fl_replica *replica)
{
    const char *url = replica->target.url;

    return url != NULL && fl_address_says_http(url);
}

bool fl_replica_is_stateless(const fl_replica *replica)
{
    return replica->verdict.era == FL_ERA_MODERN && is_http(replica);
}

uint64_t fl_replica_backoff_first(const fl_replica *replica)
{
    uint64_t said = replica->route->upstream.connect_backoff_ms;

    if (said > 0)
        return said;
    return fl_replica_is_child(replica) ? CHILD_FIRST_MS : REMOTE_FIRST_MS;
}

uint64_t fl_replica_backoff_max(const fl_replica *replica)
{
    uint64_t said = replica->route->upstream.connect_backoff_max_ms;
    uint64_t first = fl_replica_backoff_first(replica);

    if (said == 0)
        said = fl_replica_is_child(replica) ? CHILD_MAX_MS : REMOTE_MAX_MS;
    return said > first ? said : first;
}

/* Whoever opens it tries again himself, and knows where else to try. HTTP
 * keeps a session across its connections, and is let open one anew. */
fl_client_options fl_replica_options(const fl_replica *replica)
{
    uint64_t now = fl_loop_now(replica->route->gateway->loop);
    fl_client_options options = replica->client;
    fl_options *connection = &options.connection;

    *connection = replica->target.options;
    connection->label = replica->route->named ? replica->route->name : NULL;
    options.verdict = replica->verdict;
    options.verdict.age_ms += now - replica->verdict_ms;
    if (is_http(replica)) {
        connection->reconnect_attempts = 1;
        connection->reconnect_first_ms = 1;
    } else {
        connection->no_reconnect = true;
    }
    return options;
}

/* Those of one group. */
static size_t gather(fl_route *route, const fl_replica *but,
                     fl_standing_kind standing, bool standby,
                     fl_replica *found[FL_REPLICAS])
{
    size_t count = 0;

    for (fl_list *node = route->replicas.next; node != &route->replicas;
         node = node->next) {
        fl_replica *replica = FL_LIST_ENTRY(node, fl_replica, node);
        if (replica != but && replica->standby == standby &&
            fl_health_of(replica) == standing)
            found[count++] = replica;
    }
    return count;
}

static fl_replica *pick_in(fl_route *route, const fl_replica *but,
                           fl_standing_kind standing)
{
    fl_replica *found[FL_REPLICAS];
    fl_turn *turns[FL_REPLICAS];
    size_t count = gather(route, but, standing, false, found);

    if (count == 0)
        count = gather(route, but, standing, true, found);
    if (count == 0)
        return NULL;
    for (size_t i = 0; i < count; i++)
        turns[i] = &found[i]->turn;
    return found[fl_turns_next(turns, count)];
}

bool fl_replica_has_well(fl_route *route, const fl_replica *but)
{
    fl_replica *found[FL_REPLICAS];

    return gather(route, but, FL_STANDS_WELL, false, found) > 0 ||
           gather(route, but, FL_STANDS_WELL, true, found) > 0;
}

fl_replica *fl_replica_pick_well(fl_route *route, const fl_replica *but)
{
    return pick_in(route, but, FL_STANDS_WELL);
}

/* One whose breaker has been open for long enough is among them: whatever is
 * sent there first is its trial, and not what is answered from memory. Where
 * there is but one nobody else need be looked at. */
fl_replica *fl_replica_pick(fl_route *route, const fl_replica *but)
{
    fl_replica *only = FL_LIST_ENTRY(route->replicas.next, fl_replica, node);
    uint64_t wait_ms;

    if (route->replica_count == 1)
        return only != but && fl_health_would(only, &wait_ms) ? only : NULL;
    fl_replica *picked = pick_in(route, but, FL_STANDS_WELL);

    return picked != NULL ? picked : pick_in(route, but, FL_STANDS_DOUBTED);
}
