/*
 * client_asked.c - what a legacy server asks of its client.
 *
 * Its questions are requests, on whatever stream it likes. What has no handler
 * was not declared, and is unknown here; what has one waits for its answer,
 * until the server takes it back or the conversation in which it was asked has
 * ended. How many may wait at one time is bounded.
 */
#include "client/client.h"

#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "json/nav.h"

bool fl_client_has_roots(const fl_client *client)
{
    return client->handlers.roots == NULL &&
           fl_buf_len(&client->offer.roots) > 0;
}

/* Handlers are for all revisions; what was declared was so in one of them. */
static bool has(const fl_client *client, fl_feature feature)
{
    return fl_revision_has(fl_client_is_modern(client) ? client->revision
                                                       : client->offered,
                           feature);
}

static fl_ask_kind elicitation_kind(const fl_client *client, fl_span params,
                                    int *code)
{
    fl_span mode = fl_json_get(params, FL_SPAN("mode"));
    const fl_client_handlers *handlers = &client->handlers;

    *code = FL_RPC_METHOD_NOT_FOUND;
    if ((handlers->elicit == NULL && handlers->elicit_url == NULL) ||
        !has(client, FL_HAS_ELICITATION))
        return FL_ASK_UNKNOWN;
    *code = FL_RPC_INVALID_PARAMS;
    if (mode.len == 0 || fl_json_string_is(mode, FL_SPAN("form")))
        return handlers->elicit != NULL ? FL_ASK_FORM : FL_ASK_UNKNOWN;
    if (fl_json_string_is(mode, FL_SPAN("url")))
        return handlers->elicit_url != NULL &&
                       has(client, FL_HAS_URL_ELICITATION)
                   ? FL_ASK_URL
                   : FL_ASK_UNKNOWN;
    return FL_ASK_UNKNOWN;
}

fl_ask_kind fl_client_asked_kind(const fl_client *client, fl_span method,
                                 fl_span params, int *code)
{
    const fl_client_handlers *handlers = &client->handlers;

    *code = FL_RPC_METHOD_NOT_FOUND;
    if (fl_span_equal(method, FL_SPAN("roots/list")))
        return handlers->roots != NULL || fl_client_has_roots(client)
                   ? FL_ASK_ROOTS
                   : FL_ASK_UNKNOWN;
    if (fl_span_equal(method, FL_SPAN("elicitation/create")))
        return elicitation_kind(client, params, code);
    if (fl_span_equal(method, FL_SPAN("sampling/createMessage")))
        return handlers->sample != NULL ? FL_ASK_SAMPLE : FL_ASK_UNKNOWN;
    return FL_ASK_UNKNOWN;
}

static void refuse(const fl_msg *msg, fl_reply reply, int code, fl_span text)
{
    fl_buf *out = fl_loop_scratch(reply.link->loop);

    if (fl_rpc_error_write(out, msg->id, code, text, (fl_span){0}) != FL_OK)
        return;
    fl_span error = fl_buf_view(out);
    fl_reply_end(reply, &error, 1);
}

static void give(const fl_msg *msg, fl_reply reply, fl_span result)
{
    fl_span parts[] = {FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"), msg->id,
                       FL_SPAN(",\"result\":"), result, FL_SPAN("}")};

    fl_reply_end(reply, parts, 5);
}

static fl_ask *find(const fl_client *client, fl_span id)
{
    const fl_asked *asked = &client->asked;

    for (fl_list *node = asked->list.next; node != &asked->list;
         node = node->next) {
        fl_ask *ask = FL_LIST_ENTRY(node, fl_ask, node);
        if (ask->request == NULL && fl_msg_id_equal(fl_ask_name(ask), id))
            return ask;
    }
    return NULL;
}

/* One that we have declared, and have to ask somebody about. */
static void pass_on(fl_client *client, const fl_msg *msg, fl_reply reply,
                    fl_ask_kind kind)
{
    fl_asked *asked = &client->asked;
    fl_question question = {
        .kind = kind,
        .name = msg->id,
        .method = msg->method,
        .params = msg->params,
    };

    if (find(client, msg->id) != NULL)
        refuse(msg, reply, FL_RPC_INVALID_REQUEST,
               FL_SPAN("a request of this id has no answer yet"));
    else if (asked->count >= asked->max)
        refuse(msg, reply, FL_RPC_BUSY, (fl_span){0});
    else if (fl_ask_new(client, NULL, &question) != FL_OK)
        refuse(msg, reply, FL_RPC_INTERNAL_ERROR, FL_SPAN("out of memory"));
    else
        fl_ask_show(FL_LIST_ENTRY(asked->list.prev, fl_ask, node));
}

void fl_client_asked_request(fl_client *client, const fl_msg *msg,
                             fl_reply reply)
{
    int code;
    fl_ask_kind kind =
        fl_client_asked_kind(client, msg->method, msg->params, &code);

    if (fl_msg_method_is(msg, FL_SPAN("ping"))) {
        reply.link->stats.pings++;
        give(msg, reply, FL_SPAN("{}"));
    } else if (kind == FL_ASK_UNKNOWN) {
        refuse(msg, reply, code, FL_SPAN("this client has not declared that"));
    } else if (kind == FL_ASK_ROOTS && fl_client_has_roots(client)) {
        give(msg, reply, fl_buf_view(&client->offer.roots));
    } else if (msg->params.len > 0 &&
               fl_json_type_of(msg->params) != FL_JSON_OBJECT) {
        refuse(msg, reply, FL_RPC_INVALID_PARAMS,
               FL_SPAN("params must be an object"));
    } else {
        pass_on(client, msg, reply, kind);
    }
}

bool fl_client_asked_cancelled(fl_client *client, const fl_msg *msg)
{
    fl_span id = fl_json_get(msg->params, FL_SPAN("requestId"));

    if (!fl_msg_method_is(msg, FL_SPAN("notifications/cancelled")) ||
        fl_client_is_modern(client) || id.len == 0)
        return false;
    fl_ask *ask = find(client, id);
    if (ask != NULL)
        fl_ask_withdraw(ask);
    return ask != NULL;
}

static fl_ask *first(const fl_client *client, bool legacy_only)
{
    const fl_asked *asked = &client->asked;

    for (fl_list *node = asked->list.next; node != &asked->list;
         node = node->next) {
        fl_ask *ask = FL_LIST_ENTRY(node, fl_ask, node);
        if (ask->request == NULL || !legacy_only)
            return ask;
    }
    return NULL;
}

/* Whoever is told may answer others meanwhile, so it begins anew each time. */
void fl_client_asked_withdraw(fl_client *client, bool legacy_only)
{
    fl_ask *ask;

    while ((ask = first(client, legacy_only)) != NULL)
        fl_ask_withdraw(ask);
}
