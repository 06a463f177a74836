/*
 * client_ask.c - a client's requests on their way out.
 *
 * A request waits in its list until the client is ready and the link takes it.
 * Only then is it known what the server can do and how it wants to be spoken
 * to, so what it cannot do is found out here, at once or when it is its turn.
 */
#include "client/client.h"

#include "base/span.h"
#include "client/client_steps.h"
#include "io/loop.h"
#include "json/nav.h"
#include "json/write.h"

#include <string.h>

#define TASKS "io.modelcontextprotocol/tasks"
#define SKILLS "io.modelcontextprotocol/skills"

/* A slash is in the names of extensions only. */
bool fl_client_server_has(const fl_client *client, const char *capability)
{
    fl_span declared = fl_client_capabilities(client);

    if (fl_buf_len(&client->said) == 0)
        return true;
    if (strchr(capability, '/') != NULL)
        declared = fl_json_get(declared, FL_SPAN("extensions"));
    return fl_json_get(declared, fl_span_of(capability)).len > 0;
}

/* The capability that declares a method, by the method's first part. */
static const char *capability_of(const char *method)
{
    static const char *const table[][2] = {
        {"tools/", "tools"},
        {"resources/", "resources"},
        {"prompts/", "prompts"},
        {"logging/", "logging"},
        {"completion/", "completions"},
        {"tasks/", "tasks"},
        {"skills/", SKILLS},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strncmp(method, table[i][0], strlen(table[i][0])) == 0)
            return table[i][1];
    return NULL;
}

/* What 2026-07-28 has done away with. */
static bool is_gone(fl_span method)
{
    static const char *const gone[] = {"initialize",
                                       "ping",
                                       "logging/setLevel",
                                       "resources/subscribe",
                                       "resources/unsubscribe",
                                       "tasks/list",
                                       "tasks/result"};

    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (fl_span_equal(method, fl_span_of(gone[i])))
            return true;
    return false;
}

/* Before completions had a capability of their own, they came with what they
 * complete. */
static bool is_declared(const fl_client *client, const char *capability)
{
    if (strcmp(capability, "completions") == 0 &&
        !fl_revision_has(client->revision, FL_HAS_COMPLETIONS))
        return true;
    if (strcmp(capability, "tasks") == 0 && fl_client_is_modern(client))
        capability = TASKS;
    return fl_client_server_has(client, capability);
}

/* A modern server says so when it acknowledges. */
static bool takes_subscriptions(const fl_client *client)
{
    fl_span resources =
        fl_json_get(fl_client_capabilities(client), FL_SPAN("resources"));

    return fl_client_is_modern(client) || fl_buf_len(&client->said) == 0 ||
           fl_json_type_of(fl_json_get(resources, FL_SPAN("subscribe"))) ==
               FL_JSON_TRUE;
}

static bool can_serve(const fl_client *client, fl_span method,
                      fl_request_kind kind, const char *capability)
{
    if (capability != NULL && !is_declared(client, capability))
        return false;
    if (kind == FL_REQUEST_SUBSCRIBE && !takes_subscriptions(client))
        return false;
    return kind != FL_REQUEST_PLAIN || !fl_client_is_modern(client) ||
           !is_gone(method);
}

static fl_status send(fl_client *client, fl_request *request)
{
    fl_span parts[FL_REQUEST_PARTS];
    fl_span claim =
        request->claims ? fl_buf_view(&client->claim) : (fl_span){0};
    size_t count = fl_request_compose(request, claim, parts);
    fl_status rc = fl_link_send(client->link, parts, count);

    if (rc != FL_OK)
        return rc;
    request->sent_in = client->agreement.made;
    /* a request on a stream of its own may turn out not to have been taken */
    fl_request_left(request,
                    request->keeps || (client->streams && !request->own));
    return FL_OK;
}

/* What a server of this era is not asked, but spared. */
static fl_status answer_here(fl_client *client, fl_request *request)
{
    if (fl_client_cache_answers(&client->cache, request))
        return FL_OK;
    switch (request->kind) {
    case FL_REQUEST_SUBSCRIBE:
    case FL_REQUEST_UNSUBSCRIBE:
        fl_client_listen_wish(client, request);
        return FL_OK;
    case FL_REQUEST_LEVEL: /* said in each request from now on */
        return fl_request_know(request, FL_SPAN("{}"));
    case FL_REQUEST_PLAIN:
        break;
    }
    return FL_AGAIN;
}

static fl_status send_one(fl_client *client, fl_request *request)
{
    request->claims = fl_client_is_modern(client);
    if (request->resumes && !request->claims)
        return FL_E_CLOSED; /* it was begun with a server of another era */
    if (!can_serve(client, fl_request_method(request), request->kind,
                   request->capability))
        return FL_E_UNSUPPORTED;
    fl_status rc = request->claims ? answer_here(client, request)
                                   : fl_client_task_offer(client, request);
    if (request->claims ? rc != FL_AGAIN : rc != FL_OK)
        return rc;
    return send(client, request);
}

void fl_client_send_waiting(fl_client *client)
{
    fl_list *node = client->requests.list.next;

    while (client->state == FL_CLIENT_READY && node != &client->requests.list) {
        fl_request *request = FL_LIST_ENTRY(node, fl_request, node);
        node = node->next;
        if (request->sent || request->held)
            continue;
        fl_status rc = send_one(client, request);
        if (rc == FL_BUSY)
            return;
        if (rc != FL_OK)
            fl_request_fail_later(request, rc);
    }
}

void fl_client_let_go(fl_client *client, fl_request *request)
{
    request->held = false;
    fl_request_await(request, FL_WAIT_ANSWER, 0);
    fl_client_send_waiting(client);
}

fl_status fl_client_ask_own(fl_client *client, const fl_own *own,
                            fl_request **slot)
{
    fl_request_options options = {.timeout_ms = own->timeout_ms};
    fl_status rc = fl_request_new(&client->requests, own->method, own->params,
                                  &options, slot);

    if (rc != FL_OK)
        return rc;
    (*slot)->own = true;
    (*slot)->claims = own->claims;
    (*slot)->on_answer = own->on_answer;
    client->own++;
    rc = send(client, *slot);
    if (rc != FL_OK)
        fl_client_drop_own(client, slot);
    return rc;
}

void fl_client_own_ended(fl_client *client, fl_request **slot)
{
    *slot = NULL;
    client->own--;
}

void fl_client_drop_own(fl_client *client, fl_request **slot)
{
    fl_request *request = *slot;

    if (request == NULL)
        return;
    fl_client_own_ended(client, slot);
    if (request->sent)
        fl_link_cancel(client->link, fl_span_of(request->token));
    fl_request_drop(request);
}

/* Those whose text is more than what to send: it is sent again, or read. */
static bool keeps_text(const char *method, fl_request_kind kind)
{
    static const char *const kept[] = {"tools/call", "prompts/get",
                                       "resources/read", "tools/list"};

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strcmp(method, kept[i]) == 0)
            return true;
    return kind != FL_REQUEST_PLAIN;
}

static fl_status make(fl_client *client, const fl_wanted *wanted,
                      fl_request **out)
{
    fl_request_options full =
        wanted->options != NULL ? *wanted->options : (fl_request_options){0};
    const char *capability = capability_of(wanted->method);

    *out = NULL;
    if (client->state == FL_CLIENT_CLOSING)
        return FL_E_CLOSED;
    if (fl_map_count(&client->requests.by_token) - client->own >=
        client->max_requests)
        return FL_BUSY;
    if (full.timeout_ms == 0)
        full.timeout_ms = client->timeout_ms;
    if (client->state == FL_CLIENT_READY &&
        !can_serve(client, fl_span_of(wanted->method), wanted->kind,
                   capability))
        return FL_E_UNSUPPORTED;
    fl_status rc = fl_request_new(&client->requests, wanted->method,
                                  wanted->params, &full, out);
    if (rc == FL_OK)
        (*out)->capability = capability;
    return rc;
}

fl_status fl_client_want(fl_client *client, const fl_wanted *wanted)
{
    fl_request *request;
    fl_status rc = make(client, wanted, &request);

    if (rc != FL_OK) {
        fl_pages_free(wanted->pages);
        fl_follow_free(wanted->follow);
        return rc;
    }
    request->kind = wanted->kind;
    request->pages = wanted->pages;
    request->follow = wanted->follow;
    request->keeps = keeps_text(wanted->method, wanted->kind);
    request->repeats = wanted->follow != NULL;
    request->on_answer = wanted->on_answer;
    request->user = wanted->user;
    if (wanted->id != NULL)
        *wanted->id = request->id;
    fl_client_send_waiting(client);
    return FL_OK;
}

static bool is_object(fl_span json)
{
    fl_json_top top;

    return fl_json_scan(json, 0, &top, NULL) == FL_OK &&
           top.type == FL_JSON_OBJECT;
}

fl_status fl_client_notify(fl_client *client, const char *method,
                           fl_span params)
{
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\""),
        fl_span_of(method),
        params.len > 0 ? FL_SPAN("\",\"params\":") : FL_SPAN("\""),
        params,
        FL_SPAN("}"),
    };

    if (client->state != FL_CLIENT_READY)
        return FL_E_STATE;
    if (!fl_request_method_ok(method) || (params.len > 0 && !is_object(params)))
        return FL_E_INVALID;
    return fl_link_send(client->link, parts, 5);
}

/* Best effort: if it cannot be said, the answer will be dropped anyway. */
static void say_cancelled(fl_client *client, const fl_request *request,
                          const char *reason)
{
    fl_buf *out = fl_loop_scratch(client->loop);
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "requestId");
    fl_json_raw(&writer, fl_span_of(request->token));
    fl_json_key(&writer, "reason");
    fl_json_string(&writer, reason);
    fl_json_object_end(&writer);
    if (fl_json_writer_end(&writer) == FL_OK)
        (void)!fl_client_notify(client, "notifications/cancelled",
                                fl_buf_view(out));
}

/* Where each request has its stream, a modern server takes the end of that for
 * the word; a legacy one does not, and wants to be told. Before we are ready
 * nothing can be told, for initialize must not be cancelled. A task is stopped
 * by a request. */
void fl_client_call_off(fl_client *client, const fl_request *request,
                        const char *reason)
{
    bool silent = client->streams && client->revision != NULL &&
                  fl_revision_has(client->revision, FL_HAS_DISCONNECT_CANCELS);

    if (request->follow != NULL)
        fl_client_task_stop(client, request);
    if (!request->sent)
        return;
    if (!silent && request->follow == NULL)
        say_cancelled(client, request, reason);
    fl_link_cancel(client->link, fl_span_of(request->token));
}

static void on_abandoned(fl_requests *requests, fl_request *request)
{
    fl_client_call_off(requests->client, request, "timed out");
}

static void on_due(fl_requests *requests, fl_request *request)
{
    if (request->follow != NULL)
        fl_client_task_due(requests->client, request);
    else
        fl_client_let_go(requests->client, request);
}

/* From the cache, or of our own making. */
static void on_known(fl_requests *requests, fl_request *request)
{
    fl_client *client = requests->client;
    fl_buf known = fl_request_take_known(request);
    fl_answer answer = {.status = FL_OK, .result = fl_buf_view(&known)};
    fl_buf text;

    fl_buf_init(&text, FL_CLIENT_SAID_MAX);
    if (request->pages == NULL ||
        !fl_client_step_page(client, request, &answer, &text))
        fl_request_end(request, &answer);
    fl_buf_reset(&text);
    fl_buf_reset(&known);
}

static void on_dropped(fl_requests *requests, fl_request *request)
{
    fl_client_round_drop(requests->client, request);
    fl_client_listen_unwish(requests->client, request);
    fl_pages_free(request->pages);
    fl_follow_free(request->follow);
}

static bool is_asking(fl_requests *requests)
{
    fl_link_info info;

    fl_link_get_info(requests->client->link, &info);
    return info.is_asking;
}

const fl_requests_events fl_client_requests_events = {
    .on_abandoned = on_abandoned,
    .on_due = on_due,
    .on_known = on_known,
    .on_dropped = on_dropped,
    .is_asking = is_asking,
};

fl_status fl_client_cancel(fl_client *client, uint64_t id, const char *reason)
{
    fl_request *request = fl_requests_find_first(&client->requests, id);

    if (request == NULL || request->ending != FL_OK || request->own)
        return FL_E_NOT_FOUND;
    fl_client_call_off(client, request, reason != NULL ? reason : "cancelled");
    fl_request_fail_later(request, FL_E_CANCELLED);
    return FL_OK;
}
