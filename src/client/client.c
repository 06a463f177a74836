/*
 * client.c - the life of the client's end of one conversation.
 *
 *   OPENING -> AGREEING -> READY -> (outage) OPENING ... -> CLOSING
 *
 * When a link comes up, or comes back after an outage, client and server
 * agree on how to speak before anything else is said. A client outlives its
 * link in one case: when the server could not bear being asked of which era
 * it is (client_agree.c), a new link is opened to it, once.
 */
#include "client/client.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "client/client_steps.h"
#include "json/write.h"

#include <fairlead/version.h>

#include <string.h>

enum {
    REQUEST_TIMEOUT_MS = 60000,
    MAX_IN_FLIGHT = 1024,
    MAX_ASKS = 64,
    IDENTITY_MAX = 1024 * 1024,
};

static void shut(fl_client *client)
{
    client->state = FL_CLIENT_CLOSING;
    fl_client_agree_stop(client);
    fl_client_listen_stop(client);
    fl_link_close(client->link);
}

void fl_client_give_up(fl_client *client, const fl_error *why)
{
    if (client->state == FL_CLIENT_CLOSING)
        return;
    client->why = *why;
    shut(client);
}

void fl_client_close(fl_client *client)
{
    if (client->state != FL_CLIENT_CLOSING)
        shut(client);
}

static void free_client(fl_client *client)
{
    fl_requests_deinit(&client->requests);
    fl_wishes_drop_all(client);
    fl_client_offer_deinit(client);
    fl_client_cache_deinit(&client->cache);
    fl_map_deinit(&client->task_tools);
    fl_target_deinit(&client->target);
    fl_buf_reset(&client->said);
    fl_buf_reset(&client->agreement.late_said);
    fl_buf_reset(&client->identity);
    fl_buf_reset(&client->claim);
    fl_mem_free(client);
}

/* The link has gone, and there will be no other. */
static void finish(fl_client *client, const fl_error *why)
{
    if (client->state != FL_CLIENT_CLOSING)
        client->why = why->status == FL_END && client->complaint.status != FL_OK
                          ? client->complaint
                          : *why;
    client->state = FL_CLIENT_CLOSING;
    if (client->agreement.made == 0)
        fl_target_hint(&client->target, &client->why);
    fl_client_agree_stop(client);
    fl_client_listen_stop(client);
    fl_requests_fail(&client->requests, false, FL_E_CLOSED,
                     fl_span_of(client->why.status != FL_OK
                                    ? client->why.text
                                    : "the client was closed"));
    fl_client_asked_withdraw(client, false);
    if (client->events.on_closed != NULL)
        client->events.on_closed(client, &client->why, client->user);
    free_client(client);
}

static void on_open(fl_link *link)
{
    fl_client_agree(link->user);
}

static void on_writable(fl_link *link)
{
    fl_client *client = link->user;

    fl_client_send_waiting(client);
    if (client->lane != NULL && client->state == FL_CLIENT_READY)
        client->lane->on_writable(client->user);
}

/* What was sent on a channel is lost with it. A request with a stream of its
 * own ends with that, and says how. */
static void on_down(fl_link *link, const fl_error *why)
{
    fl_client *client = link->user;

    if (client->state == FL_CLIENT_CLOSING)
        return;
    (void)fl_client_verdict_lost(client);
    client->state = FL_CLIENT_OPENING;
    fl_client_agree_stop(client);
    fl_client_listen_stop(client);
    if (!client->streams)
        fl_requests_fail(&client->requests, true, FL_E_CLOSED,
                         fl_span_of(why->text));
    fl_client_asked_withdraw(client, true);
    if (client->lane != NULL)
        client->lane->on_down(client->user, why);
}

static fl_status open_link(fl_client *client, fl_error *error);

static void on_closed(fl_link *link, const fl_error *why)
{
    fl_client *client = link->user;
    fl_error error;

    if (!fl_client_verdict_renews(client, why)) {
        finish(client, why);
        return;
    }
    fl_client_asked_withdraw(client, true); /* the next one has not asked */
    if (client->state == FL_CLIENT_CLOSING)
        finish(client, why);
    else if (open_link(client, &error) != FL_OK)
        finish(client, &error);
}

static const fl_link_events link_events = {
    .on_open = on_open,
    .on_message = fl_client_hear,
    .on_writable = on_writable,
    .on_down = on_down,
    .on_closed = on_closed,
};

static fl_status open_link(fl_client *client, fl_error *error)
{
    fl_link_info info;
    fl_status rc = fl_link_connect(client->loop, client->target.url,
                                   &client->target.options, &link_events,
                                   client, &client->link, error);

    if (rc != FL_OK)
        return rc;
    fl_link_get_info(client->link, &info);
    client->streams = (info.traits & FL_LINK_CHANNEL) == 0;
    client->complaint.status = FL_OK;
    return FL_OK;
}

/* `era` comes back as what the two options together mean. */
static fl_status check_options(const fl_client_options *options, fl_era *era,
                               const fl_revision **offered, fl_error *error)
{
    const char *name = options->revision;
    const fl_revision *newest = fl_revision_find(fl_span_of(name));

    *era = options->era;
    *offered = fl_revision_get(FL_REVISION_2025_11_25);
    if ((unsigned)options->era > FL_ERA_MODERN)
        return fl_error_set(error, FL_E_INVALID,
                            "option era: %d is none; want FL_ERA_AUTO, "
                            "FL_ERA_LEGACY or FL_ERA_MODERN",
                            (int)options->era);
    if ((unsigned)options->verdict.era > FL_ERA_MODERN)
        return fl_error_set(error, FL_E_INVALID, "option verdict: %d is no era",
                            (int)options->verdict.era);
    if (name == NULL)
        return FL_OK;
    if (newest == NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "option revision: '%s' is not one this client can "
                            "open; want 2024-11-05, 2025-03-26, 2025-06-18, "
                            "2025-11-25 or 2026-07-28",
                            name);
    if (options->era == (newest->legacy ? FL_ERA_MODERN : FL_ERA_LEGACY))
        return fl_error_set(error, FL_E_INVALID,
                            "option revision: '%s' is not of the era that is "
                            "asked for (option era)",
                            name);
    if (newest->legacy) { /* there is nothing newer to find out about */
        *era = FL_ERA_LEGACY;
        *offered = newest;
    }
    return FL_OK;
}

static fl_status write_identity(fl_client *client,
                                const fl_client_options *options)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, &client->identity);
    fl_json_object(&writer);
    fl_json_key(&writer, "name");
    fl_json_string(&writer, options->name != NULL ? options->name : "fairlead");
    fl_json_key(&writer, "version");
    fl_json_string(&writer,
                   options->version != NULL ? options->version : FL_VERSION);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

/* Whatever may fail comes after it. */
static void init(fl_client *client, const fl_client_options *options)
{
    client->timeout_ms = options->request_timeout_ms > 0
                             ? options->request_timeout_ms
                             : REQUEST_TIMEOUT_MS;
    client->max_requests = options->connection.max_in_flight > 0
                               ? options->connection.max_in_flight
                               : MAX_IN_FLIGHT;
    fl_buf_init(&client->said, FL_CLIENT_SAID_MAX);
    fl_buf_init(&client->identity, IDENTITY_MAX);
    fl_buf_init(&client->claim, IDENTITY_MAX);
    fl_requests_init(&client->requests, client, client->loop,
                     client->max_requests + FL_CLIENT_OWN_MAX,
                     &fl_client_requests_events);
    fl_list_init(&client->wishes.list);
    fl_list_init(&client->asked.list);
    client->asked.max = options->max_asks > 0 ? options->max_asks : MAX_ASKS;
    fl_client_cache_init(&client->cache, client->loop, options);
    fl_client_task_forget(client);
    fl_client_agree_init(client, options);
    fl_client_listen_init(client);
}

static fl_client *make(const fl_client *like, const char *url,
                       const fl_client_options *options, fl_error *error)
{
    fl_client *client = fl_mem_zalloc(sizeof *client);

    fl_error_set(error, FL_E_NOMEM, "out of memory");
    if (client == NULL)
        return NULL;
    *client = *like;
    init(client, options);
    if (fl_client_offer_init(client, options, error) != FL_OK ||
        fl_target_init(&client->target, url, &options->connection) != FL_OK ||
        write_identity(client, options) != FL_OK) {
        free_client(client);
        return NULL;
    }
    return client;
}

fl_status fl_client_open(fl_loop *loop, const char *url,
                         const fl_client_options *options,
                         const fl_client_events *events, void *user,
                         fl_client **out, fl_error *error)
{
    static const fl_client_options defaults = {0};
    fl_client like = {.loop = loop, .user = user};
    fl_error why;
    fl_era era;

    *out = NULL;
    if (options == NULL)
        options = &defaults;
    if (events != NULL)
        like.events = *events;
    fl_status rc = check_options(options, &era, &like.offered, error);
    if (rc != FL_OK)
        return rc;
    fl_client *client = make(&like, url, options, &why);
    if (client == NULL)
        return fl_error_set(error, why.status, "%s", why.text);
    client->agreement.wanted = era;
    rc = open_link(client, error);
    if (rc != FL_OK) {
        free_client(client);
        return rc;
    }
    *out = client;
    return FL_OK;
}

void fl_client_abandon(fl_client *client)
{
    static const fl_client_events nobody = {0};

    client->events = nobody;
    client->lane = NULL;
    fl_client_close(client);
}

void fl_client_drop_cache(fl_client *client)
{
    fl_client_cache_clear(&client->cache);
}
