/*
 * client_ask.c - a client's requests on their way out.
 *
 * A request waits in its list until the client is ready and the link takes it.
 * Only then is it known what the server can do and how it wants to be spoken
 * to, so what it cannot do is found out here, at once or when it is its turn.
 */
#include "peer/client.h"

#include "base/span.h"
#include "io/loop.h"
#include "json/nav.h"
#include "json/write.h"

#include <stdio.h>
#include <string.h>

/* A modern server that would not say what it has may have anything. */
static bool server_has(const fl_client *client, const char *capability)
{
    return fl_buf_len(&client->said) == 0 ||
           fl_json_get(fl_client_capabilities(client), fl_span_of(capability))
                   .len > 0;
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
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strncmp(method, table[i][0], strlen(table[i][0])) == 0)
            return table[i][1];
    return NULL;
}

/* What 2026-07-28 has done away with. */
static bool is_gone(fl_span method)
{
    static const char *const gone[] = {"initialize", "ping", "logging/setLevel",
                                       "resources/subscribe",
                                       "resources/unsubscribe"};

    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (fl_span_equal(method, fl_span_of(gone[i])))
            return true;
    return false;
}

static bool can_serve(const fl_client *client, fl_span method,
                      const char *capability)
{
    return (capability == NULL || server_has(client, capability)) &&
           !(fl_client_is_modern(client) && is_gone(method));
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
    fl_request_left(request, client->streams && !request->own);
    return FL_OK;
}

void fl_client_send_waiting(fl_client *client)
{
    fl_list *node = client->requests.list.next;

    while (client->state == FL_CLIENT_READY && node != &client->requests.list) {
        fl_request *request = FL_LIST_ENTRY(node, fl_request, node);
        node = node->next;
        if (request->sent || request->ending != FL_OK)
            continue;
        request->claims = fl_client_is_modern(client);
        fl_status rc =
            can_serve(client, fl_request_method(request), request->capability)
                ? send(client, request)
                : FL_E_UNSUPPORTED;
        if (rc == FL_BUSY)
            return;
        if (rc != FL_OK)
            fl_request_fail_later(request, rc);
    }
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

fl_status fl_client_request(fl_client *client, const char *method,
                            fl_span params, const fl_request_options *options,
                            fl_answer_fn *on_answer, void *user, uint64_t *id)
{
    fl_request_options full =
        options != NULL ? *options : (fl_request_options){0};
    const char *capability = capability_of(method);
    fl_request *request;

    if (client->state == FL_CLIENT_CLOSING)
        return FL_E_CLOSED;
    if (fl_map_count(&client->requests.by_token) - client->own >=
        client->max_requests)
        return FL_BUSY;
    if (full.timeout_ms == 0)
        full.timeout_ms = client->timeout_ms;
    if (client->state == FL_CLIENT_READY &&
        !can_serve(client, fl_span_of(method), capability))
        return FL_E_UNSUPPORTED;
    fl_status rc =
        fl_request_new(&client->requests, method, params, &full, &request);
    if (rc != FL_OK)
        return rc;
    request->capability = capability;
    request->on_answer = on_answer;
    request->user = user;
    if (id != NULL)
        *id = request->id;
    fl_client_send_waiting(client);
    return FL_OK;
}

static bool is_object(fl_span json)
{
    fl_json_top top;

    return fl_json_scan(json, 0, &top, NULL) == FL_OK &&
           top.type == FL_JSON_OBJECT;
}

fl_status fl_client_call_tool(fl_client *client, fl_span name,
                              fl_span arguments,
                              const fl_request_options *options,
                              fl_answer_fn *on_answer, void *user, uint64_t *id)
{
    fl_buf params;
    fl_json_writer writer;

    if (arguments.len > 0 && !is_object(arguments))
        return FL_E_INVALID; /* or it could end the params and go on */
    fl_buf_init(&params, FL_CLIENT_SAID_MAX);
    fl_json_writer_init(&writer, &params);
    fl_json_object(&writer);
    fl_json_key(&writer, "name");
    fl_json_text(&writer, name);
    if (arguments.len > 0) {
        fl_json_key(&writer, "arguments");
        fl_json_raw(&writer, arguments);
    }
    fl_json_object_end(&writer);
    fl_status rc = fl_json_writer_end(&writer);
    if (rc == FL_OK)
        rc = fl_client_request(client, "tools/call", fl_buf_view(&params),
                               options, on_answer, user, id);
    fl_buf_reset(&params);
    return rc;
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
 * nothing can be told, for initialize must not be cancelled. */
static void call_off(fl_client *client, const fl_request *request,
                     const char *reason)
{
    bool silent = client->streams && client->revision != NULL &&
                  fl_revision_has(client->revision, FL_HAS_DISCONNECT_CANCELS);

    if (!request->sent)
        return;
    if (!silent)
        say_cancelled(client, request, reason);
    fl_link_cancel(client->link, fl_span_of(request->token));
}

static void on_abandoned(fl_requests *requests, fl_request *request)
{
    call_off(requests->client, request, "timed out");
}

const fl_requests_events fl_client_requests_events = {
    .on_abandoned = on_abandoned,
};

fl_status fl_client_cancel(fl_client *client, uint64_t id, const char *reason)
{
    char token[24];

    snprintf(token, sizeof token, "%llu", (unsigned long long)id);
    fl_request *request =
        fl_requests_find(&client->requests, fl_span_of(token));
    if (request == NULL || request->ending != FL_OK || request->own)
        return FL_E_NOT_FOUND;
    call_off(client, request, reason != NULL ? reason : "cancelled");
    fl_request_fail_later(request, FL_E_CANCELLED);
    return FL_OK;
}
