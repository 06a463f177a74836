/*
 * client.c - the client's end of one conversation.
 *
 *   OPENING -> INITIALIZING -> READY -> (outage) OPENING ... -> CLOSING
 *
 * A request waits in its list until the session is ready and the link takes
 * it. When a link comes back after an outage the session is opened anew
 * before anything else is said. What comes in is client_hear.c's.
 */
#include "peer/client.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "json/nav.h"
#include "json/write.h"

#include <fairlead/version.h>

#include <stdio.h>
#include <string.h>

enum {
    REQUEST_TIMEOUT_MS = 60000,
    MAX_IN_FLIGHT = 1024,
    SAID_MAX = 16 * 1024 * 1024,
};

/* Ends the conversation because of something the server did. */
static void give_up(fl_client *client, fl_status status, const char *what,
                    fl_span detail)
{
    if (client->state == FL_CLIENT_CLOSING)
        return;
    int shown = (int)(detail.len < 200 ? detail.len : 200);
    fl_error_set(&client->why, status, "%s%.*s", what, shown,
                 shown > 0 ? detail.ptr : "");
    client->state = FL_CLIENT_CLOSING;
    fl_link_close(client->link);
}

static bool server_has(const fl_client *client, const char *capability)
{
    return fl_json_get(fl_client_capabilities(client), fl_span_of(capability))
               .len > 0;
}

/* Sends one request if it is its turn; FL_BUSY: not yet. */
static fl_status try_send(fl_client *client, fl_request *request)
{
    bool may = request->urgent ? client->state == FL_CLIENT_INITIALIZING
                               : client->state == FL_CLIENT_READY;

    if (!may)
        return FL_BUSY;
    if (request->capability != NULL && !server_has(client, request->capability))
        return FL_E_UNSUPPORTED;
    fl_span text = fl_buf_view(&request->text);
    fl_status rc = fl_link_send(client->link, &text, 1);
    if (rc == FL_OK)
        fl_buf_reset(&request->text);
    return rc;
}

static void send_waiting(fl_client *client)
{
    fl_list *node = client->requests.list.next;

    while (node != &client->requests.list) {
        fl_request *request = FL_LIST_ENTRY(node, fl_request, node);
        node = node->next;
        if (fl_buf_len(&request->text) == 0 || request->ending != FL_OK)
            continue;
        fl_status rc = try_send(client, request);
        if (rc == FL_BUSY)
            return;
        if (rc != FL_OK)
            fl_request_fail_later(request, rc);
    }
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

fl_status fl_client_request(fl_client *client, const char *method,
                            fl_span params, const fl_request_options *options,
                            fl_answer_fn *on_answer, void *user, uint64_t *id)
{
    fl_request_options full =
        options != NULL ? *options : (fl_request_options){0};
    fl_request *request;

    if (client->state == FL_CLIENT_CLOSING)
        return FL_E_CLOSED;
    if (fl_map_count(&client->requests.by_token) - client->opening >=
        client->max_requests)
        return FL_BUSY;
    if (full.timeout_ms == 0)
        full.timeout_ms = client->timeout_ms;
    const char *capability = capability_of(method);
    if (client->state == FL_CLIENT_READY && capability != NULL &&
        !server_has(client, capability))
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
    send_waiting(client);
    return FL_OK;
}

fl_status fl_client_call_tool(fl_client *client, fl_span name,
                              fl_span arguments,
                              const fl_request_options *options,
                              fl_answer_fn *on_answer, void *user, uint64_t *id)
{
    fl_buf params;
    fl_json_writer writer;
    fl_json_top top;

    if (arguments.len > 0 && (fl_json_scan(arguments, 0, &top, NULL) != FL_OK ||
                              top.type != FL_JSON_OBJECT))
        return FL_E_INVALID; /* or it could end the params and go on */
    fl_buf_init(&params, SAID_MAX);
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
    fl_json_top top;

    if (client->state != FL_CLIENT_READY)
        return FL_E_STATE;
    if (!fl_request_method_ok(method))
        return FL_E_INVALID;
    if (params.len > 0 && (fl_json_scan(params, 0, &top, NULL) != FL_OK ||
                           top.type != FL_JSON_OBJECT))
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

static void on_abandoned(fl_requests *requests, fl_request *request)
{
    fl_client *client = requests->client;

    if (!request->urgent && fl_buf_len(&request->text) == 0)
        say_cancelled(client, request, "timed out");
}

static const fl_requests_events requests_events = {
    .on_abandoned = on_abandoned,
};

fl_status fl_client_cancel(fl_client *client, uint64_t id, const char *reason)
{
    char token[24];

    snprintf(token, sizeof token, "%llu", (unsigned long long)id);
    fl_request *request =
        fl_requests_find(&client->requests, fl_span_of(token));
    if (request == NULL || request->ending != FL_OK || request->urgent)
        return FL_E_NOT_FOUND;
    if (fl_buf_len(&request->text) == 0)
        say_cancelled(client, request, reason != NULL ? reason : "cancelled");
    fl_request_fail_later(request, FL_E_CANCELLED);
    return FL_OK;
}

/* What the server said to initialize: kept, and understood. */
static bool take_result(fl_client *client, fl_span result)
{
    fl_span version = fl_json_get(result, FL_SPAN("protocolVersion"));

    if (fl_json_type_of(version) != FL_JSON_STRING) {
        give_up(client, FL_E_BAD_MESSAGE,
                "the server's answer to initialize has no protocolVersion",
                (fl_span){0});
        return false;
    }
    fl_span name = {version.ptr + 1, version.len - 2};
    client->revision = fl_revision_find(name);
    if (client->revision == NULL || !client->revision->legacy) {
        give_up(
            client, FL_E_UNSUPPORTED,
            "this client does not speak the revision the server wants: ", name);
        return false;
    }
    fl_buf_reset(&client->said);
    if (fl_buf_append(&client->said, result) != FL_OK) {
        give_up(client, FL_E_NOMEM, "out of memory", (fl_span){0});
        return false;
    }
    return true;
}

static void on_initialized(fl_client *client, const fl_answer *answer,
                           void *user)
{
    fl_span note = FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":"
                           "\"notifications/initialized\"}");

    (void)user;
    client->opening = 0;
    if (client->state != FL_CLIENT_INITIALIZING ||
        answer->status == FL_E_CLOSED)
        return; /* the link tells the rest */
    if (answer->status != FL_OK) {
        give_up(client, answer->status, "initialize failed: ", answer->text);
        return;
    }
    if (!take_result(client, answer->result))
        return;
    if (fl_link_send(client->link, &note, 1) != FL_OK) {
        give_up(client, FL_E_CLOSED, "cannot finish initialize", (fl_span){0});
        return;
    }
    client->state = FL_CLIENT_READY;
    send_waiting(client);
    if (client->events.on_ready != NULL)
        client->events.on_ready(client, client->user);
}

static fl_status write_initialize(const fl_client *client, fl_buf *out)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "protocolVersion");
    fl_json_string(&writer, client->offered->name);
    fl_json_key(&writer, "capabilities");
    fl_json_raw(&writer, FL_SPAN("{}"));
    fl_json_key(&writer, "clientInfo");
    fl_json_object(&writer);
    fl_json_key(&writer, "name");
    fl_json_string(&writer, client->name);
    fl_json_key(&writer, "version");
    fl_json_string(&writer, client->version);
    fl_json_object_end(&writer);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

static void on_open(fl_link *link)
{
    fl_client *client = link->user;
    fl_request_options options = {.timeout_ms = client->timeout_ms};
    fl_request *request = NULL;
    fl_buf *params = fl_loop_scratch(client->loop);

    client->state = FL_CLIENT_INITIALIZING;
    fl_status rc = write_initialize(client, params);
    if (rc == FL_OK)
        rc = fl_request_new(&client->requests, "initialize",
                            fl_buf_view(params), &options, &request);
    if (rc == FL_OK) {
        client->opening = 1;
        request->urgent = true;
        request->on_answer = on_initialized;
        rc = try_send(client, request);
    }
    if (rc != FL_OK)
        give_up(client, rc,
                "cannot send initialize: ", fl_span_of(fl_status_text(rc)));
}

static void on_writable(fl_link *link)
{
    send_waiting(link->user);
}

static void on_down(fl_link *link, const fl_error *why)
{
    fl_client *client = link->user;

    if (client->state == FL_CLIENT_CLOSING)
        return;
    client->state = FL_CLIENT_OPENING;
    fl_requests_fail(&client->requests, true, FL_E_CLOSED,
                     fl_span_of(why->text));
}

static void free_client(fl_client *client)
{
    fl_requests_deinit(&client->requests);
    fl_buf_reset(&client->said);
    fl_mem_free(client->name);
    fl_mem_free(client->version);
    fl_mem_free(client);
}

static void on_closed(fl_link *link, const fl_error *why)
{
    fl_client *client = link->user;

    if (client->state != FL_CLIENT_CLOSING)
        client->why = why->status == FL_END && client->complaint.status != FL_OK
                          ? client->complaint
                          : *why;
    client->state = FL_CLIENT_CLOSING;
    fl_requests_fail(&client->requests, false, FL_E_CLOSED,
                     fl_span_of(client->why.status != FL_OK
                                    ? client->why.text
                                    : "the client was closed"));
    if (client->events.on_closed != NULL)
        client->events.on_closed(client, &client->why, client->user);
    free_client(client);
}

static const fl_link_events link_events = {
    .on_open = on_open,
    .on_message = fl_client_hear,
    .on_writable = on_writable,
    .on_down = on_down,
    .on_closed = on_closed,
};

static fl_status check_options(const fl_client_options *options,
                               const fl_revision **offered, fl_error *error)
{
    const char *name =
        options->revision != NULL ? options->revision : "2025-11-25";

    *offered = fl_revision_find(fl_span_of(name));
    if (*offered == NULL || !(*offered)->legacy)
        return fl_error_set(error, FL_E_INVALID,
                            "option revision: '%s' is not one this client can "
                            "open; want 2024-11-05, 2025-03-26, 2025-06-18 or "
                            "2025-11-25",
                            name);
    return FL_OK;
}

static fl_client *make(fl_loop *loop, const fl_client_options *options,
                       const fl_client_events *events, void *user)
{
    fl_client *client = fl_mem_zalloc(sizeof *client);

    if (client == NULL)
        return NULL;
    client->loop = loop;
    if (events != NULL)
        client->events = *events;
    client->user = user;
    client->timeout_ms = options->request_timeout_ms > 0
                             ? options->request_timeout_ms
                             : REQUEST_TIMEOUT_MS;
    client->why.status = FL_OK;
    fl_buf_init(&client->said, SAID_MAX);
    client->max_requests = options->connection.max_in_flight > 0
                               ? options->connection.max_in_flight
                               : MAX_IN_FLIGHT;
    fl_requests_init(&client->requests, client, loop, client->max_requests + 1,
                     &requests_events);
    client->name = fl_mem_string(
        fl_span_of(options->name != NULL ? options->name : "fairlead"));
    client->version = fl_mem_string(
        fl_span_of(options->version != NULL ? options->version : FL_VERSION));
    if (client->name == NULL || client->version == NULL) {
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
    const fl_revision *offered;

    *out = NULL;
    if (options == NULL)
        options = &defaults;
    fl_status rc = check_options(options, &offered, error);
    if (rc != FL_OK)
        return rc;
    fl_client *client = make(loop, options, events, user);
    if (client == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    client->offered = offered;
    rc = fl_link_connect(loop, url, &options->connection, &link_events, client,
                         &client->link, error);
    if (rc != FL_OK) {
        free_client(client);
        return rc;
    }
    *out = client;
    return FL_OK;
}

void fl_client_close(fl_client *client)
{
    if (client->state == FL_CLIENT_CLOSING)
        return;
    client->state = FL_CLIENT_CLOSING;
    fl_link_close(client->link);
}

const char *fl_client_revision(const fl_client *client)
{
    return client->revision != NULL ? client->revision->name : "";
}

static fl_span said(const fl_client *client, fl_span key)
{
    return fl_json_get(fl_buf_view(&client->said), key);
}

fl_span fl_client_server_info(const fl_client *client)
{
    return said(client, FL_SPAN("serverInfo"));
}

fl_span fl_client_capabilities(const fl_client *client)
{
    return said(client, FL_SPAN("capabilities"));
}

fl_span fl_client_instructions(const fl_client *client)
{
    return said(client, FL_SPAN("instructions"));
}
