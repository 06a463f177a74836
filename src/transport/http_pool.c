/*
 * http_pool.c - which connection carries a call, and when there is one more.
 *
 * Without a free connection a call waits in line, and for each that waits one
 * is opened, unless HTTP/2 may come of the one that is opening already: then
 * all of them will fit on it. Whatever connection is ready first takes the
 * first in line, be it new or free again.
 */
#include "transport/http_pool.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/tls.h"
#include "transport/http_pool_impl.h"

#include <assert.h>

enum { IDLE_MS = 30000 };

static void on_gone(fl_timer *timer)
{
    fl_http_pool *pool = FL_LIST_ENTRY(timer, fl_http_pool, gone);

    pool->on_gone(pool->user);
}

static bool copy(char **to, const char *from)
{
    if (from != NULL)
        *to = fl_mem_string(fl_span_of(from));
    return from == NULL || *to != NULL;
}

fl_status fl_http_pool_new(fl_loop *loop, const fl_http_pool_options *options,
                           fl_http_pool **out)
{
    fl_http_pool *pool = fl_mem_zalloc(sizeof *pool);

    *out = NULL;
    if (pool == NULL)
        return FL_E_NOMEM;
    pool->loop = loop;
    pool->connect = options->connect;
    pool->connect.tls = NULL;
    pool->version = options->version;
    pool->keep = options->keep;
    pool->limit = options->keep + options->overflow;
    pool->on_room = options->on_room;
    pool->on_gone = options->on_gone;
    pool->user = options->user;
    fl_list_init(&pool->dials);
    fl_list_init(&pool->dying);
    fl_list_init(&pool->waiting);
    fl_timer_init(&pool->gone, loop, on_gone);
    if (!copy(&pool->host, options->connect.host) ||
        !copy(&pool->path, options->connect.path) ||
        !copy(&pool->server_name, options->connect.server_name) ||
        !copy(&pool->tunnel, options->connect.tunnel)) {
        fl_http_pool_free(pool);
        return FL_E_NOMEM;
    }
    pool->connect.host = pool->host;
    pool->connect.path = pool->path;
    pool->connect.server_name = pool->server_name;
    pool->connect.tunnel = pool->tunnel;
    if (options->connect.tls != NULL)
        pool->connect.tls = fl_tls_ref(options->connect.tls);
    *out = pool;
    return FL_OK;
}

void fl_http_pool_free(fl_http_pool *pool)
{
    if (pool == NULL)
        return;
    assert(fl_list_empty(&pool->dials) && fl_list_empty(&pool->dying));
    fl_timer_stop(&pool->gone);
    if (pool->connect.tls != NULL)
        fl_tls_unref(pool->connect.tls);
    if (pool->tunnel != NULL)
        fl_mem_wipe(pool->tunnel, strlen(pool->tunnel));
    fl_mem_free(pool->tunnel);
    fl_mem_free(pool->server_name);
    fl_mem_free(pool->path);
    fl_mem_free(pool->host);
    fl_mem_free(pool);
}

void fl_http_pool_close(fl_http_pool *pool)
{
    if (pool->closing)
        return;
    pool->closing = true;
    assert(fl_list_empty(&pool->waiting));
    while (!fl_list_empty(&pool->dials)) {
        fl_dial *dial = FL_LIST_ENTRY(pool->dials.next, fl_dial, node);
        fl_dial_kill(dial);
    }
    if (fl_list_empty(&pool->dying))
        fl_timer_start(&pool->gone, 0);
}

size_t fl_http_pool_count(const fl_http_pool *pool)
{
    return pool->count;
}

/* Those that can be used stand in front, so that this looks at the others only
 * when there is none. */
static fl_dial *find_usable(const fl_http_pool *pool)
{
    for (fl_list *at = pool->dials.next; at != &pool->dials; at = at->next) {
        fl_dial *dial = FL_LIST_ENTRY(at, fl_dial, node);
        if (fl_dial_usable(dial))
            return dial;
    }
    return NULL;
}

static size_t count_opening(const fl_http_pool *pool)
{
    size_t count = 0;

    for (fl_list *at = pool->dials.next; at != &pool->dials; at = at->next)
        if (FL_LIST_ENTRY(at, fl_dial, node)->http == NULL)
            count++;
    return count;
}

/* Whether those in line, and one more, call for another connection. */
static bool wants_more(const fl_http_pool *pool, size_t in_line)
{
    size_t opening = count_opening(pool);
    bool may_share = pool->kind == FL_HTTP_KIND_MANY || pool->version == 20 ||
                     (pool->kind == FL_HTTP_KIND_UNKNOWN && pool->version == 0);

    return may_share ? opening == 0 : opening < in_line;
}

static bool has_room(const fl_http_pool *pool, bool urgent)
{
    return pool->count < (urgent ? 2 * (size_t)pool->limit : pool->limit);
}

/* On the first connection that takes it. FL_AGAIN: there is none. One that
 * says it can and then cannot is not asked again. */
static fl_status launch(fl_http_pool *pool, fl_http_call *call)
{
    fl_dial *dial;

    while ((dial = find_usable(pool)) != NULL) {
        if (fl_dial_is_stale(dial)) {
            fl_dial_kill(dial);
            continue;
        }
        fl_status rc = fl_dial_launch(dial, call);
        if (rc != FL_E_STATE && rc != FL_E_CLOSED && rc != FL_BUSY)
            return rc;
        dial->spent = true;
        fl_dial_settle_later(dial);
    }
    return FL_AGAIN;
}

static void wait_in_line(fl_http_pool *pool, fl_http_call *call)
{
    fl_list_init(&call->node);
    fl_list_append(&pool->waiting, &call->node);
    pool->queued++;
    call->pool = pool;
}

static fl_http_call *first_in_line(fl_http_pool *pool)
{
    fl_list *node = fl_list_take(&pool->waiting);

    if (node == NULL)
        return NULL;
    pool->queued--;
    return FL_LIST_ENTRY(node, fl_http_call, node);
}

fl_status fl_http_call_start(fl_http_pool *pool, fl_http_call *call)
{
    assert(call->pool == NULL);
    if (pool->closing)
        return FL_E_STATE;
    fl_status rc =
        fl_list_empty(&pool->waiting) ? launch(pool, call) : FL_AGAIN;
    if (rc != FL_AGAIN) {
        if (rc == FL_OK)
            call->pool = pool;
        return rc;
    }
    bool more = wants_more(pool, pool->queued + 1);
    if (more && has_room(pool, call->urgent)) {
        rc = fl_dial_open(pool);
        if (rc < 0 && pool->count == 0)
            return rc;
    } else if (!call->urgent && (more || pool->queued >= pool->limit)) {
        pool->refused = true;
        return FL_BUSY;
    }
    wait_in_line(pool, call);
    return FL_OK;
}

void fl_http_call_cancel(fl_http_call *call)
{
    fl_dial *dial = call->dial;
    fl_exchange *exchange = call->exchange;

    if (call->pool == NULL)
        return;
    if (dial == NULL) {
        fl_list_remove(&call->node);
        call->pool->queued--;
    }
    call->pool = NULL;
    call->dial = NULL;
    call->exchange = NULL;
    if (exchange == NULL)
        return;
    fl_exchange_reset(exchange);
    fl_dial_settle_later(dial);
}

static void lose(fl_http_call *call, const fl_error *why)
{
    call->pool = NULL;
    call->events->on_lost(call, why, FL_HTTP_LOSS_UNLINKED);
}

static bool first_is_urgent(const fl_http_pool *pool)
{
    return FL_LIST_ENTRY(pool->waiting.next, fl_http_call, node)->urgent;
}

/* Gives those in line what there is, and opens more if that is not enough. */
static void serve(fl_http_pool *pool)
{
    fl_http_call *call;
    fl_status rc = FL_OK;

    while (pool->queued > 0 && find_usable(pool) != NULL &&
           (call = first_in_line(pool)) != NULL) {
        rc = launch(pool, call);
        if (rc == FL_AGAIN) {
            wait_in_line(pool, call);
        } else if (rc < 0) {
            fl_error why;
            fl_error_set(&why, rc, "%s", fl_status_text(rc));
            lose(call, &why);
        }
    }
    rc = FL_OK;
    while (rc == FL_OK && pool->queued > 0 && wants_more(pool, pool->queued) &&
           has_room(pool, first_is_urgent(pool)))
        rc = fl_dial_open(pool);
}

static void tell_room(fl_http_pool *pool)
{
    if (!pool->refused || pool->closing ||
        (find_usable(pool) == NULL && pool->count >= pool->limit))
        return;
    pool->refused = false;
    pool->on_room(pool->user);
}

void fl_http_pool_dial_gone(fl_http_pool *pool)
{
    if (!pool->closing) {
        serve(pool);
        tell_room(pool);
    } else if (fl_list_empty(&pool->dying)) {
        fl_timer_start(&pool->gone, 0);
    }
}

void fl_http_pool_settle(fl_http_pool *pool, fl_dial *dial)
{
    if (pool->closing)
        return;
    serve(pool);
    if (!dial->dying && dial->http != NULL && fl_http_open(dial->http) == 0) {
        if (!fl_dial_usable(dial) || pool->count > pool->keep)
            fl_dial_kill(dial);
        else if (!fl_timer_running(&dial->timer))
            fl_dial_rest(dial, IDLE_MS);
    }
    tell_room(pool);
}

/* When there is nobody left to wait for, all of them have waited in vain. */
void fl_http_pool_failed(fl_http_pool *pool, const fl_error *why)
{
    size_t count = count_opening(pool) == 0 ? pool->queued : 1;
    fl_http_call *call;

    while (count-- > 0 && (call = first_in_line(pool)) != NULL)
        lose(call, why);
    tell_room(pool);
}
