/*
 * client_listen.c - being told of changes by a modern server.
 *
 * A legacy server tells of changes in its lists by itself. A modern one does
 * so only on a subscription: a request that is not answered until it ends. If
 * there is who wants to hear, one is opened for all lists that the server says
 * it tells of, and opened again when the server or an outage ends it; so that
 * whoever uses the client need not know the difference.
 *
 * What belongs to a subscription carries its id. An id we do not know is that
 * of one that has ended, and what it says is no news.
 */
#include "peer/client.h"

#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "json/nav.h"
#include "json/write.h"

enum { FIRST_MS = 1000, MAX_MS = 60000 };

static const struct kind {
    const char *capability;
    const char *filter;
} kinds[] = {
    {"tools", "toolsListChanged"},
    {"prompts", "promptsListChanged"},
    {"resources", "resourcesListChanged"},
};

static bool tells_of(const fl_client *client, const struct kind *kind)
{
    fl_span declared = fl_json_get(fl_client_capabilities(client),
                                   fl_span_of(kind->capability));

    return fl_json_type_of(fl_json_get(declared, FL_SPAN("listChanged"))) ==
           FL_JSON_TRUE;
}

/* Says whether there is anything to subscribe to. */
static bool write_filter(const fl_client *client, fl_buf *out)
{
    fl_json_writer writer;
    bool any = false;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "notifications");
    fl_json_object(&writer);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (tells_of(client, &kinds[i])) {
            fl_json_key(&writer, kinds[i].filter);
            fl_json_bool(&writer, true);
            any = true;
        }
    fl_json_object_end(&writer);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer) == FL_OK && any;
}

static void listen_later(fl_client *client)
{
    uint64_t wait_ms;

    if (fl_backoff_next(&client->listening.backoff, &wait_ms) == FL_OK)
        fl_timer_start(&client->listening.timer, wait_ms);
}

/* The server does not have it, whatever it declared: no use in asking again. */
static bool is_final(const fl_answer *answer)
{
    return answer->status == FL_E_REMOTE &&
           (answer->code == FL_RPC_METHOD_NOT_FOUND ||
            answer->code == FL_RPC_INVALID_PARAMS);
}

static void on_ended(fl_client *client, const fl_answer *answer, void *user)
{
    fl_listening *listening = &client->listening;
    uint64_t lasted = fl_loop_now(client->loop) - listening->since_ms;

    (void)user;
    fl_client_own_ended(client, &listening->request);
    if (client->state != FL_CLIENT_READY || is_final(answer))
        return;
    if (lasted >= MAX_MS)
        fl_backoff_reset(&listening->backoff);
    listen_later(client);
}

void fl_client_listen(fl_client *client)
{
    fl_listening *listening = &client->listening;
    fl_buf *params = fl_loop_scratch(client->loop);

    if (client->events.on_notification == NULL || listening->request != NULL ||
        !fl_client_is_modern(client) || !write_filter(client, params))
        return;
    fl_timer_stop(&listening->timer);
    listening->since_ms = fl_loop_now(client->loop);
    fl_status rc = fl_client_ask_own(client,
                                     &(fl_own){
                                         .method = "subscriptions/listen",
                                         .params = fl_buf_view(params),
                                         .timeout_ms = FL_NEVER,
                                         .claims = true,
                                         .on_answer = on_ended,
                                     },
                                     &listening->request);
    if (rc != FL_OK)
        listen_later(client);
}

static void on_timer(fl_timer *timer, void *user)
{
    fl_client *client = user;

    (void)timer;
    if (client->state == FL_CLIENT_READY)
        fl_client_listen(client);
}

void fl_client_listen_init(fl_client *client)
{
    client->listening = (fl_listening){
        .backoff = {.first_ms = FIRST_MS, .max_ms = MAX_MS},
    };
    fl_timer_init(&client->listening.timer, client->loop, on_timer, client);
}

void fl_client_listen_stop(fl_client *client)
{
    fl_timer_stop(&client->listening.timer);
    fl_client_drop_own(client, &client->listening.request);
}

/* The server ends a subscription so, with or without an answer before it
 * (MCP 2026-07-28, cancellation). */
static void end_subscription(fl_client *client, fl_span id)
{
    fl_request *request = fl_requests_find(&client->requests, id);

    if (request != NULL && request->sent && request->ending == FL_OK)
        fl_request_fail(request, FL_E_CANCELLED,
                        FL_SPAN("the server ended it"));
}

bool fl_client_listen_takes(fl_client *client, const fl_msg *msg)
{
    fl_span meta = fl_json_get(msg->params, FL_SPAN("_meta"));
    fl_span id =
        fl_json_get(meta, FL_SPAN("io.modelcontextprotocol/subscriptionId"));

    if (!fl_client_is_modern(client))
        return false;
    if (fl_msg_method_is(msg, FL_SPAN("notifications/cancelled"))) {
        end_subscription(client,
                         fl_json_get(msg->params, FL_SPAN("requestId")));
        return true;
    }
    if (id.len == 0)
        return false;
    const fl_request *request = fl_requests_find(&client->requests, id);
    bool ours = request != NULL && request == client->listening.request;
    return request == NULL ||
           (ours &&
            fl_msg_method_is(
                msg, FL_SPAN("notifications/subscriptions/acknowledged")));
}
