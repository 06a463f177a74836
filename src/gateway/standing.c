/*
 * standing.c - what a legacy client has asked for once and for all.
 *
 * A subscription is noted when it is asked for, not when it is granted: what
 * changes in between must not be lost.
 */
#include "gateway/standing.h"

#include "base/span.h"
#include "gateway/gateway.h"
#include "gateway/legacy.h"
#include "gateway/route.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "server/levels.h"
#include "json/nav.h"
#include "json/write.h"

#include <stdio.h>

enum { PARAMS_MAX = 64 * 1024 };

bool fl_standing_watches(const fl_back *back, fl_span uri)
{
    for (fl_list *node = back->fronts.next; node != &back->fronts;
         node = node->next)
        if (fl_front_watches(FL_LIST_ENTRY(node, fl_front, by_back), uri))
            return true;
    return false;
}

static bool subscribe(fl_errand *errand, fl_span uri)
{
    fl_status rc = fl_json_type_of(uri) == FL_JSON_STRING
                       ? fl_front_watch(errand->asker.front, uri)
                       : FL_OK; /* the server will say what is wrong */

    if (rc == FL_OK)
        return false;
    fl_errand_fail(errand, FL_RPC_BUSY,
                   rc == FL_E_LIMIT
                       ? FL_SPAN("too many resources are subscribed to")
                       : FL_SPAN("out of memory"),
                   (fl_span){0});
    return true;
}

/* By anybody, of whichever era. */
static bool is_watched(const fl_back *back, fl_span uri)
{
    return fl_standing_watches(back, uri) ||
           (back->legacy != NULL &&
            fl_map_get(&back->legacy->watches.by_uri, uri) != NULL);
}

static bool unsubscribe(fl_errand *errand, fl_span uri)
{
    fl_front_unwatch(errand->asker.front, uri);
    if (!is_watched(errand->back, uri))
        return false;
    fl_errand_result(errand, FL_SPAN("{}"));
    return true;
}

/* Levels count up with what they are about: debug is the lowest. */
static bool set_level(fl_errand *errand, const fl_msg *msg)
{
    fl_front *front = errand->asker.front;
    fl_back *back = errand->back;
    fl_level level;

    if (fl_levels_read(fl_json_get(msg->params, FL_SPAN("level")), &level) !=
        FL_OK)
        return false; /* the server will say what is wrong */
    front->log_level = (uint8_t)level;
    front->wants_log = true;
    if (back->own || !back->has_level || level < back->level) {
        back->level = level;
        back->has_level = true;
        return false;
    }
    fl_errand_result(errand, FL_SPAN("{}"));
    return true;
}

bool fl_standing_takes(fl_errand *errand, const fl_msg *msg)
{
    if (errand->method == FL_METHOD_SUBSCRIBE)
        return subscribe(errand, msg->inner.uri);
    if (errand->method == FL_METHOD_UNSUBSCRIBE)
        return unsubscribe(errand, msg->inner.uri);
    return errand->method == FL_METHOD_SET_LEVEL && set_level(errand, msg);
}

void fl_standing_refused(const fl_errand *errand)
{
    if (errand->method == FL_METHOD_SUBSCRIBE && errand->msg != NULL)
        fl_front_unwatch(errand->asker.front, errand->msg->inner.uri);
}

bool fl_standing_wants_log(const fl_front *front, const fl_msg *msg)
{
    fl_level level;

    return !front->wants_log ||
           fl_levels_read(fl_json_get(msg->params, FL_SPAN("level")), &level) !=
               FL_OK ||
           level >= front->log_level;
}

static void on_replayed(void *user, const fl_msg *msg, const fl_error *why)
{
    fl_back *back = user;

    if (why != NULL || msg->kind != FL_MSG_ERROR)
        return;
    fl_log_say(fl_loop_log(back->route->gateway->loop), FL_LOG_WARN,
               "the server was started again and refused a subscription",
               fl_log_text("server", fl_span_of(back->route->name)),
               fl_log_text("error", msg->error));
}

/* {"uri":...} or {"level":...}; the value is a token. */
static void tell(fl_back *back, fl_method method, const char *key,
                 fl_span value)
{
    fl_json_writer writer;
    fl_buf params;

    fl_buf_init(&params, PARAMS_MAX);
    fl_json_writer_init(&writer, &params);
    fl_json_object(&writer);
    fl_json_key(&writer, key);
    fl_json_raw(&writer, value);
    fl_json_object_end(&writer);
    if (fl_json_writer_end(&writer) != FL_OK ||
        fl_back_ask(back, method, fl_buf_view(&params), on_replayed, back,
                    NULL) != FL_OK)
        fl_log_say(fl_loop_log(back->route->gateway->loop), FL_LOG_WARN,
                   "the server could not be told of a subscription",
                   fl_log_text("server", fl_span_of(back->route->name)));
    fl_buf_reset(&params);
}

/* Each resource once, by the first client that watches it. */
static bool is_first(const fl_back *back, const fl_front *front, fl_span uri)
{
    for (fl_list *node = back->fronts.next; node != &front->by_back;
         node = node->next)
        if (fl_front_watches(FL_LIST_ENTRY(node, fl_front, by_back), uri))
            return false;
    return true;
}

static void replay_watched(fl_back *back, const fl_front *front)
{
    const fl_map *watched = fl_front_watched(front);
    size_t at = 0;
    fl_span uri;
    void *value;

    if (watched == NULL)
        return;
    while (fl_map_next(watched, &at, &uri, &value))
        if (is_first(back, front, uri))
            tell(back, FL_METHOD_SUBSCRIBE, "uri", uri);
}

void fl_standing_replay(fl_back *back)
{
    char level[32];

    if (back->has_level) {
        int n = snprintf(level, sizeof level, "\"%s\"",
                         fl_levels_name(back->level));
        tell(back, FL_METHOD_SET_LEVEL, "level", (fl_span){level, (size_t)n});
    }
    for (fl_list *node = back->fronts.next; node != &back->fronts;
         node = node->next)
        replay_watched(back, FL_LIST_ENTRY(node, fl_front, by_back));
}

/* The front is off its back's list already. */
void fl_standing_leave(fl_front *front)
{
    fl_back *back = front->back;
    const fl_map *watched = fl_front_watched(front);
    size_t at = 0;
    fl_span uri;
    void *value;

    if (back->own || watched == NULL || !fl_back_is_ready(back) ||
        fl_back_is_modern(back))
        return;
    while (fl_map_next(watched, &at, &uri, &value))
        if (!is_watched(back, uri))
            tell(back, FL_METHOD_UNSUBSCRIBE, "uri", uri);
}
