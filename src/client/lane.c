/*
 * lane.c - a client that carries what others say.
 */
#include "client/lane.h"

#include "base/span.h"
#include "base/status.h"
#include "client/client.h"
#include "client/era.h"

static void on_ready(fl_client *client, void *user)
{
    client->lane->on_ready(user);
}

static void on_closed(fl_client *client, const fl_error *why, void *user)
{
    client->lane->on_closed(user, why);
}

/* What it says of itself is what we were told. */
static fl_status take_hello(fl_client *client, const fl_lane_hello *hello)
{
    fl_buf_clear(&client->identity);
    client->requests.last_id = hello->last_number;
    if (hello->offered != NULL)
        client->offered = hello->offered;
    fl_status rc = fl_buf_append(&client->identity, hello->client_info);
    if (rc == FL_OK)
        rc = fl_buf_append(&client->offer.foreign, hello->capabilities);
    if (rc == FL_OK)
        rc = fl_buf_append(&client->offer.foreign_modern,
                           hello->modern_capabilities);
    return rc;
}

fl_client *fl_lane_open(fl_loop *loop, const char *url,
                        const fl_client_options *options,
                        const fl_lane_hello *hello,
                        const fl_lane_events *events, void *user,
                        fl_error *error)
{
    static const fl_client_events ours = {
        .on_ready = on_ready,
        .on_closed = on_closed,
    };
    fl_client *lane = NULL;

    if (fl_client_open(loop, url, options, &ours, user, &lane, error) != FL_OK)
        return NULL;
    lane->lane = events;
    fl_status rc = take_hello(lane, hello);
    if (rc == FL_OK)
        return lane;
    fl_client_abandon(lane);
    (void)fl_error_set(error, rc, "%s", fl_status_text(rc));
    return NULL;
}

void fl_lane_drop(fl_client *lane)
{
    fl_client_abandon(lane);
}

bool fl_lane_is_ready(const fl_client *lane)
{
    return lane->state == FL_CLIENT_READY;
}

const fl_revision *fl_lane_revision(const fl_client *lane)
{
    return lane->revision;
}

fl_span fl_lane_said(const fl_client *lane)
{
    return fl_buf_view(&lane->said);
}

fl_span fl_lane_claim(const fl_client *lane)
{
    return fl_client_is_modern(lane) ? fl_buf_view(&lane->claim) : (fl_span){0};
}

uint64_t fl_lane_number(fl_client *lane)
{
    return ++lane->requests.last_id;
}

fl_status fl_lane_send(fl_client *lane, const fl_span *parts, size_t count)
{
    if (lane->state != FL_CLIENT_READY)
        return FL_E_STATE;
    return fl_link_send(lane->link, parts, count);
}

fl_status fl_lane_relay(fl_client *lane, const fl_msg *msg, fl_span id)
{
    if (lane->state != FL_CLIENT_READY)
        return FL_E_STATE;
    return fl_link_relay(lane->link, msg, id);
}

void fl_lane_cancel(fl_client *lane, fl_span id)
{
    if (lane->state == FL_CLIENT_READY)
        fl_link_cancel(lane->link, id);
}

bool fl_lane_was_refused(fl_client *lane, fl_span error)
{
    int http = lane->streams ? fl_era_http_status(error) : FL_HTTP_NONE;
    bool modern = fl_client_is_modern(lane);

    if (modern
            ? lane->agreement.wanted == FL_ERA_MODERN || !fl_era_is_doubt(http)
            : http != 404)
        return false;
    if (lane->state == FL_CLIENT_READY) /* otherwise that is under way */
        fl_client_doubt(lane);
    return true;
}

bool fl_lane_doubt(fl_client *lane)
{
    if (lane->state != FL_CLIENT_READY ||
        lane->agreement.wanted == FL_ERA_MODERN)
        return false;
    fl_client_doubt(lane);
    return true;
}

bool fl_lane_has_streams(const fl_client *lane)
{
    return lane->streams;
}

fl_link *fl_lane_link(const fl_client *lane)
{
    return lane->link;
}
