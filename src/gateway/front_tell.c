/*
 * front_tell.c - what clients are told of without having asked just now.
 *
 * A list that changed must be told of, but once is enough: what does not go
 * out at once is a bit until there is room. Of the rest, a client that does
 * not read loses what it does not take: that is counted, and our log says so
 * whenever the count has doubled.
 */
#include "base/mem.h"
#include "base/span.h"
#include "gateway/front.h"
#include "gateway/gateway.h"
#include "gateway/route.h"
#include "io/loop.h"

enum { WATCHED_MAX = 1024 };

static const fl_method changes[] = {
    FL_METHOD_TOOLS_CHANGED,
    FL_METHOD_PROMPTS_CHANGED,
    FL_METHOD_RESOURCES_CHANGED,
};

enum { CHANGES = sizeof changes / sizeof *changes };

/* True: it has been said, or cannot be. */
static bool tell_changed(fl_front *front, fl_method notice)
{
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\""),
        fl_method_name(notice),
        FL_SPAN("\"}"),
    };

    return fl_link_send(front->link, parts, 3) != FL_BUSY;
}

void fl_front_catch_up(fl_front *front)
{
    for (unsigned i = 0; i < CHANGES; i++)
        if ((front->changed & 1U << i) != 0 && tell_changed(front, changes[i]))
            front->changed &= ~(1U << i);
}

void fl_front_changed(fl_front *front, fl_method notice)
{
    if (front->state != FL_FRONT_READY)
        return;
    for (unsigned i = 0; i < CHANGES; i++)
        if (changes[i] == notice)
            front->changed |= 1U << i;
    fl_front_catch_up(front);
}

void fl_front_missed(fl_route *route, fl_status rc)
{
    if (rc == FL_OK || rc == FL_E_STATE)
        return; /* who has gone misses nothing */
    uint64_t unread = ++route->unread;
    if ((unread & (unread - 1)) == 0)
        fl_log_say(fl_loop_log(route->gateway->loop), FL_LOG_WARN,
                   "a client does not read: a notification to it is lost",
                   fl_log_text("server", fl_span_of(route->name)),
                   fl_log_int("status", rc),
                   fl_log_int("lost", (int64_t)unread));
}

void fl_front_say(fl_front *front, const fl_span *parts, size_t count)
{
    fl_front_missed(front->route, fl_link_send(front->link, parts, count));
}

fl_status fl_front_watch(fl_front *front, fl_span uri)
{
    fl_front_more *more = fl_front_get_more(front);

    if (more == NULL)
        return FL_E_NOMEM;
    if (more->watched == NULL) {
        more->watched = fl_mem_zalloc(sizeof *more->watched);
        if (more->watched == NULL)
            return FL_E_NOMEM;
        fl_map_init(more->watched, WATCHED_MAX);
    }
    fl_status rc = fl_map_add(more->watched, uri, front);
    return rc == FL_E_IN_USE ? FL_OK : rc;
}

void fl_front_unwatch(fl_front *front, fl_span uri)
{
    if (fl_front_watched(front) != NULL)
        fl_map_remove(front->more->watched, uri);
}

bool fl_front_watches(const fl_front *front, fl_span uri)
{
    const fl_map *watched = fl_front_watched(front);

    return watched != NULL && fl_map_get(watched, uri) != NULL;
}

void fl_front_forget_watched(fl_front *front)
{
    if (fl_front_watched(front) == NULL)
        return;
    fl_map_deinit(front->more->watched);
    fl_mem_free(front->more->watched);
    front->more->watched = NULL;
}
