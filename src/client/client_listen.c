/*
 * client_listen.c - being told of changes by a modern server.
 *
 * A legacy server tells of changes in its lists by itself. A modern one does
 * so only on a subscription: a request that is not answered until it ends. If
 * there is who wants to hear, one is opened for all lists that the server says
 * it tells of and for the resources that were wished for, and opened again when
 * the server or an outage ends it; so that whoever uses the client need not
 * know the difference.
 *
 * A subscription cannot be changed. When the wishes change a new one is opened,
 * and the old one ended once the new one is acknowledged: so nothing is missed
 * in between. Then, too, it is known which wishes were granted.
 *
 * What belongs to a subscription carries its id. An id we do not know is that
 * of one that has ended, and what it says is no news.
 */
#include "client/client.h"

#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "json/nav.h"
#include "json/write.h"

enum { FIRST_MS = 1000, MAX_MS = 60000, URI_MAX = 1024 * 1024 };

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

static bool wants_lists(const fl_client *client)
{
    return client->events.on_notification != NULL ||
           client->events.on_list_changed != NULL;
}

/* Says whether there is anything to subscribe to. */
static bool write_filter(const fl_client *client, fl_buf *out)
{
    fl_json_writer writer;
    bool any = client->wishes.count > 0;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "notifications");
    fl_json_object(&writer);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (wants_lists(client) && tells_of(client, &kinds[i])) {
            fl_json_key(&writer, kinds[i].filter);
            fl_json_bool(&writer, true);
            any = true;
        }
    if (client->wishes.count > 0) {
        fl_json_key(&writer, "resourceSubscriptions");
        fl_json_array(&writer);
        fl_wishes_write(client, &writer);
        fl_json_array_end(&writer);
    }
    fl_json_object_end(&writer);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer) == FL_OK && any;
}

static bool is_wish(const fl_request *request)
{
    return request->kind == FL_REQUEST_SUBSCRIBE ||
           request->kind == FL_REQUEST_UNSUBSCRIBE;
}

/* Is held until a subscription of its batch is acknowledged. */
static bool is_pending(const fl_request *request)
{
    return is_wish(request) && request->held && request->wait == FL_WAIT_ANSWER;
}

/* The first one of this batch; 0: that has none yet. */
static fl_request *find_pending(const fl_client *client, unsigned batch)
{
    const fl_list *list = &client->requests.list;

    for (fl_list *node = list->next; node != list; node = node->next) {
        fl_request *request = FL_LIST_ENTRY(node, fl_request, node);
        if (is_pending(request) && request->batch == batch)
            return request;
    }
    return NULL;
}

static fl_status uri_of(const fl_request *request, fl_buf *uri)
{
    fl_buf_init(uri, URI_MAX);
    return fl_json_string_copy(
        fl_json_get(fl_request_params(request), FL_SPAN("uri")), uri);
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

/* A subscription that was not acknowledged: its wishes end with it. */
static void fail_batch(fl_client *client, const fl_answer *answer)
{
    fl_answer why = *answer;
    fl_request *request;

    if (why.status == FL_OK)
        why = (fl_answer){
            .status = FL_E_UNSUPPORTED,
            .text = FL_SPAN("the server ended the subscription at once"),
        };
    while (client->state == FL_CLIENT_READY &&
           (request = find_pending(client, client->listening.batch)) != NULL)
        fl_request_end(request, &why);
}

static void ended(fl_client *client, const fl_answer *answer)
{
    fl_listening *listening = &client->listening;
    uint64_t lasted = fl_loop_now(client->loop) - listening->since_ms;

    if (client->state != FL_CLIENT_READY || listening->next != NULL ||
        listening->request != NULL || is_final(answer))
        return;
    if (lasted >= MAX_MS)
        fl_backoff_reset(&listening->backoff);
    listen_later(client);
}

static void on_ended(fl_client *client, const fl_answer *answer, void *user)
{
    (void)user;
    fl_client_own_ended(client, &client->listening.request);
    ended(client, answer);
}

static void on_next_ended(fl_client *client, const fl_answer *answer,
                          void *user)
{
    (void)user;
    fl_client_own_ended(client, &client->listening.next);
    fail_batch(client, answer);
    ended(client, answer);
    if (client->state == FL_CLIENT_READY && client->listening.stale)
        fl_timer_start(&client->listening.timer, 0);
}

static void call_off(fl_client *client, fl_request **slot)
{
    if (*slot == NULL)
        return;
    fl_client_call_off(client, *slot, "not needed any more");
    fl_client_drop_own(client, slot);
}

/* There is nothing to be told of: whoever waits for that has it. */
static void stop(fl_client *client)
{
    fl_request *request;

    call_off(client, &client->listening.request);
    while ((request = find_pending(client, 0)) != NULL)
        if (fl_request_know(request, FL_SPAN("{}")) != FL_OK)
            fl_request_fail_later(request, FL_E_NOMEM);
}

static void open_next(fl_client *client, fl_span params)
{
    fl_listening *listening = &client->listening;
    fl_request *request;

    fl_timer_stop(&listening->timer);
    listening->stale = false;
    listening->since_ms = fl_loop_now(client->loop);
    fl_status rc = fl_client_ask_own(client,
                                     &(fl_own){
                                         .method = "subscriptions/listen",
                                         .params = params,
                                         .timeout_ms = FL_NEVER,
                                         .claims = true,
                                         .on_answer = on_next_ended,
                                     },
                                     &listening->next);
    if (rc != FL_OK) {
        listen_later(client);
        return;
    }
    listening->batch++;
    while ((request = find_pending(client, 0)) != NULL)
        request->batch = listening->batch;
}

/* As things are now. */
static void listen(fl_client *client)
{
    fl_listening *listening = &client->listening;
    fl_buf *params = fl_loop_scratch(client->loop);

    if (listening->next != NULL)
        listening->stale = true; /* one at a time */
    else if (!write_filter(client, params))
        stop(client);
    else
        open_next(client, fl_buf_view(params));
}

void fl_client_listen(fl_client *client)
{
    if (client->listening.request == NULL && client->listening.next == NULL)
        listen(client);
}

static void on_timer(fl_timer *timer)
{
    fl_client *client = FL_LIST_ENTRY(timer, fl_client, listening.timer);

    if (client->state == FL_CLIENT_READY && fl_client_is_modern(client))
        listen(client);
}

void fl_client_listen_init(fl_client *client)
{
    client->listening = (fl_listening){
        .backoff = {.first_ms = FIRST_MS, .max_ms = MAX_MS},
    };
    fl_timer_init(&client->listening.timer, client->loop, on_timer);
}

/* Wishes that were not granted yet are made again to whoever comes next. */
void fl_client_listen_stop(fl_client *client)
{
    fl_list *list = &client->requests.list;

    fl_timer_stop(&client->listening.timer);
    fl_client_drop_own(client, &client->listening.request);
    fl_client_drop_own(client, &client->listening.next);
    client->listening.stale = false;
    for (fl_list *node = list->next; node != list; node = node->next) {
        fl_request *request = FL_LIST_ENTRY(node, fl_request, node);
        if (!is_pending(request))
            continue;
        request->held = false;
        request->batch = 0;
    }
}

/* All that come in one turn of the loop are one change. */
void fl_client_listen_wish(fl_client *client, fl_request *request)
{
    bool more = request->kind == FL_REQUEST_SUBSCRIBE;
    fl_buf uri;
    fl_status rc = uri_of(request, &uri);

    request->held = true;
    if (rc == FL_OK && more == fl_wish_is_granted(client, fl_buf_view(&uri))) {
        rc = fl_request_know(request, FL_SPAN("{}"));
    } else if (rc == FL_OK) {
        if (more)
            rc = fl_wish_add(client, fl_buf_view(&uri));
        else
            fl_wish_drop(client, fl_buf_view(&uri));
        fl_timer_start(&client->listening.timer, 0);
    }
    if (rc != FL_OK)
        fl_request_fail_later(request, rc);
    fl_buf_reset(&uri);
}

void fl_client_listen_unwish(fl_client *client, const fl_request *request)
{
    fl_buf uri;

    if (request->kind != FL_REQUEST_SUBSCRIBE || !request->claims ||
        fl_buf_len(&request->text) == 0 || request->method_len == 0)
        return;
    if (uri_of(request, &uri) == FL_OK &&
        !fl_wish_is_granted(client, fl_buf_view(&uri)))
        fl_wish_drop(client, fl_buf_view(&uri));
    fl_buf_reset(&uri);
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

static bool is_among(fl_span array, fl_span text)
{
    fl_json_walk walk;
    fl_json_member element;

    fl_json_walk_init(&walk, array);
    while (fl_json_walk_next(&walk, &element))
        if (fl_json_string_is(element.value, text))
            return true;
    return false;
}

/* A wish is granted, or it is said that it is not. */
static void judge_wish(fl_client *client, fl_request *request, fl_span agreed)
{
    fl_buf uri;
    fl_status rc = uri_of(request, &uri);
    bool granted = rc == FL_OK && is_among(agreed, fl_buf_view(&uri));

    if (granted)
        fl_wish_grant(client, fl_buf_view(&uri));
    if (rc == FL_OK && !granted && request->kind == FL_REQUEST_SUBSCRIBE) {
        fl_wish_drop(client, fl_buf_view(&uri));
        fl_request_explain_later(request, FL_E_UNSUPPORTED,
                                 FL_SPAN("the server does not agree to tell "
                                         "of changes of this resource"));
    } else if (rc == FL_OK) {
        rc = fl_request_know(request, FL_SPAN("{}"));
    }
    if (rc != FL_OK)
        fl_request_fail_later(request, rc);
    fl_buf_reset(&uri);
}

static void on_acknowledged(fl_client *client, const fl_msg *msg)
{
    fl_listening *listening = &client->listening;
    fl_span agreed =
        fl_json_get(fl_json_get(msg->params, FL_SPAN("notifications")),
                    FL_SPAN("resourceSubscriptions"));
    fl_request *request;

    call_off(client, &listening->request);
    listening->request = listening->next;
    listening->request->on_answer = on_ended;
    listening->next = NULL;
    while ((request = find_pending(client, listening->batch)) != NULL)
        judge_wish(client, request, agreed);
    if (listening->stale)
        fl_timer_start(&listening->timer, 0);
}

bool fl_client_listen_takes(fl_client *client, const fl_msg *msg)
{
    fl_listening *listening = &client->listening;
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
    bool ours = request != NULL &&
                (request == listening->request || request == listening->next);
    bool word = fl_msg_method_is(
        msg, FL_SPAN("notifications/subscriptions/acknowledged"));
    if (ours && word && request == listening->next)
        on_acknowledged(client, msg);
    return request == NULL || (ours && word);
}
