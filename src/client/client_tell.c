/*
 * client_tell.c - what the program that has the client is told of.
 *
 * What has an event of its own goes there if somebody listens, and to
 * on_notification if not; all else goes to that. A change that makes a kept
 * result wrong is heeded first, whether anybody listens or not.
 */
#include "client/client.h"

#include "base/span.h"
#include "json/nav.h"

enum { TEXT_MAX = 1024 * 1024 };

static const struct change {
    const char *method;
    const char *cached; /* the methods whose results it makes stale */
    fl_list_kind kind;
} changes[] = {
    {"notifications/tools/list_changed", "tools/", FL_LIST_TOOLS},
    {"notifications/prompts/list_changed", "prompts/", FL_LIST_PROMPTS},
    {"notifications/resources/list_changed", "resources/", FL_LIST_RESOURCES},
};

static const struct change *find_change(const fl_msg *msg)
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (fl_msg_method_is(msg, fl_span_of(changes[i].method)))
            return &changes[i];
    return NULL;
}

/* The text of a member of params; empty when it is no string. */
static fl_span text_of(const fl_msg *msg, const char *key, fl_buf *room)
{
    fl_span value = fl_json_get(msg->params, fl_span_of(key));

    fl_buf_init(room, TEXT_MAX);
    if (fl_json_string_copy(value, room) != FL_OK)
        fl_buf_reset(room);
    return fl_buf_view(room);
}

static bool tell_change(fl_client *client, const struct change *change)
{
    fl_client_cache_drop(&client->cache, fl_span_of(change->cached));
    if (client->events.on_list_changed == NULL)
        return false;
    client->events.on_list_changed(client, change->kind, client->user);
    return true;
}

static bool tell_update(fl_client *client, const fl_msg *msg)
{
    fl_buf room;
    fl_span uri = text_of(msg, "uri", &room);
    bool told = client->events.on_resource_updated != NULL && uri.len > 0;

    fl_client_cache_drop_resource(&client->cache, uri);
    if (told)
        client->events.on_resource_updated(client, uri, client->user);
    fl_buf_reset(&room);
    return told;
}

static bool tell_log(fl_client *client, const fl_msg *msg)
{
    fl_buf level_room, logger_room;

    if (client->events.on_log == NULL)
        return false;
    fl_span level = text_of(msg, "level", &level_room);
    fl_span logger = text_of(msg, "logger", &logger_room);
    client->events.on_log(client, level, logger,
                          fl_json_get(msg->params, FL_SPAN("data")),
                          client->user);
    fl_buf_reset(&level_room);
    fl_buf_reset(&logger_room);
    return true;
}

void fl_client_tell(fl_client *client, const fl_msg *msg)
{
    const struct change *change = find_change(msg);
    bool told = false;

    if (change != NULL)
        told = tell_change(client, change);
    else if (fl_msg_method_is(msg, FL_SPAN("notifications/resources/updated")))
        told = tell_update(client, msg);
    else if (fl_msg_method_is(msg, FL_SPAN("notifications/message")))
        told = tell_log(client, msg);
    if (!told && client->events.on_notification != NULL)
        client->events.on_notification(client, msg->method, msg->params,
                                       client->user);
}
