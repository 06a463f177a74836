/*
 * ask.c - one question of the server's, from the handler to its answer.
 *
 * The answer is a result in either era; only where it goes differs: to the
 * link, or into the round of input that a request of ours waits for. When
 * nobody waits any more the ask is cut off from its client, and answering it
 * does nothing but free it. So whoever answers, a dialog or a model far away,
 * never has to find out first whether he still may.
 */
#include "client/ask.h"

#include "base/mem.h"
#include "base/span.h"
#include "client/client.h"
#include "client/client_steps.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "json/nav.h"
#include "json/unescape.h"
#include "json/write.h"

enum { TEXT_MAX = 64 * 1024 * 1024 };

static void free_ask(fl_ask *ask)
{
    fl_buf_reset(&ask->text);
    fl_buf_reset(&ask->message);
    fl_buf_reset(&ask->url);
    fl_mem_free(ask);
}

/* Those of a legacy server are a reason for it to be silent meanwhile. */
static void unlink_ask(fl_ask *ask)
{
    fl_client *client = ask->client;
    bool legacy = ask->request == NULL;

    ask->client = NULL;
    ask->request = NULL;
    fl_list_remove(&ask->node);
    client->asked.count--;
    if (!legacy)
        return;
    client->requests.patience--;
    fl_requests_touch(&client->requests);
}

static void link_ask(fl_ask *ask, fl_client *client, fl_request *request)
{
    ask->client = client;
    ask->request = request;
    fl_list_append(&client->asked.list, &ask->node);
    client->asked.count++;
    if (request == NULL)
        client->requests.patience++;
}

static fl_status copy_text(fl_span params, const char *key, fl_buf *to)
{
    fl_span value = fl_json_get(params, fl_span_of(key));

    return fl_json_type_of(value) == FL_JSON_STRING
               ? fl_json_string_copy(value, to)
               : FL_OK;
}

static fl_status fill(fl_ask *ask, const fl_question *question)
{
    fl_status rc = fl_buf_append(&ask->text, question->name);

    ask->named = question->name.len;
    ask->method_len = question->method.len;
    if (rc == FL_OK)
        rc = fl_buf_append(&ask->text, question->method);
    if (rc == FL_OK)
        rc = fl_buf_append(&ask->text, question->params);
    if (rc == FL_OK)
        rc = copy_text(question->params, "message", &ask->message);
    if (rc == FL_OK)
        rc = copy_text(question->params, "url", &ask->url);
    return rc;
}

fl_status fl_ask_new(fl_client *client, fl_request *request,
                     const fl_question *question)
{
    fl_ask *ask = fl_mem_zalloc(sizeof *ask);

    if (ask == NULL)
        return FL_E_NOMEM;
    ask->kind = question->kind;
    fl_buf_init(&ask->text, TEXT_MAX);
    fl_buf_init(&ask->message, TEXT_MAX);
    fl_buf_init(&ask->url, TEXT_MAX);
    fl_list_init(&ask->node);
    fl_status rc = fill(ask, question);
    if (rc != FL_OK) {
        free_ask(ask);
        return rc;
    }
    link_ask(ask, client, request);
    return FL_OK;
}

void fl_ask_show(fl_ask *ask)
{
    fl_client *client = ask->client;
    const fl_client_handlers *handlers = &client->handlers;

    ask->shown = true;
    if (ask->kind == FL_ASK_SAMPLE)
        handlers->sample(client, ask, client->user);
    else if (ask->kind == FL_ASK_ROOTS)
        handlers->roots(client, ask, client->user);
    else if (ask->kind == FL_ASK_URL)
        handlers->elicit_url(client, ask, client->user);
    else
        handlers->elicit(client, ask, client->user);
}

void fl_ask_withdraw(fl_ask *ask)
{
    fl_client *client = ask->client;

    unlink_ask(ask);
    if (!ask->shown)
        free_ask(ask);
    else if (ask->on_cancel != NULL)
        ask->on_cancel(client, ask, ask->user);
}

fl_span fl_ask_method(const fl_ask *ask)
{
    return (fl_span){fl_buf_view(&ask->text).ptr + ask->named, ask->method_len};
}

fl_span fl_ask_params(const fl_ask *ask)
{
    return fl_span_from(fl_buf_view(&ask->text), ask->named + ask->method_len);
}

fl_span fl_ask_message(const fl_ask *ask)
{
    return fl_buf_view(&ask->message);
}

fl_span fl_ask_schema(const fl_ask *ask)
{
    return fl_json_get(fl_ask_params(ask), FL_SPAN("requestedSchema"));
}

fl_span fl_ask_url(const fl_ask *ask)
{
    return fl_buf_view(&ask->url);
}

bool fl_ask_cancelled(const fl_ask *ask)
{
    return ask->client == NULL;
}

void fl_ask_on_cancel(fl_ask *ask, fl_ask_fn *on_cancel, void *user)
{
    ask->on_cancel = on_cancel;
    ask->user = user;
}

static fl_status send_result(const fl_ask *ask, fl_span result)
{
    fl_span parts[] = {FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"),
                       fl_ask_name(ask), FL_SPAN(",\"result\":"), result,
                       FL_SPAN("}")};
    fl_status rc =
        fl_reply_end((fl_reply){.link = ask->client->link}, parts, 5);

    /* that the link is on its way out is not the answer's fault */
    return rc == FL_E_STATE || rc == FL_E_NOMEM ? FL_OK : rc;
}

/* `result` is a JSON object. What follows from the last answer of a round
 * follows when the ask has gone. */
static fl_status settle(fl_ask *ask, fl_span result)
{
    fl_client *client = ask->client;
    fl_request *request = ask->request;
    fl_status rc = FL_OK;

    if (request != NULL)
        rc = fl_round_add(request->round, fl_ask_name(ask), result);
    else if (client != NULL)
        rc = send_result(ask, result);
    if (rc != FL_OK)
        return rc;
    if (client != NULL)
        unlink_ask(ask);
    free_ask(ask);
    if (request != NULL)
        fl_client_round_answered(client, request);
    return FL_OK;
}

/* Without the white space around it. */
static bool is_object(fl_span *json)
{
    fl_json_top top;

    if (fl_json_scan(*json, 0, &top, NULL) != FL_OK ||
        top.type != FL_JSON_OBJECT)
        return false;
    *json = top.value;
    return true;
}

fl_status fl_ask_reply(fl_ask *ask, fl_span result)
{
    return is_object(&result) ? settle(ask, result) : FL_E_INVALID;
}

static bool is_elicitation(const fl_ask *ask)
{
    return ask->kind == FL_ASK_FORM || ask->kind == FL_ASK_URL;
}

fl_status fl_ask_decline(fl_ask *ask)
{
    return is_elicitation(ask)
               ? settle(ask, FL_SPAN("{\"action\":\"decline\"}"))
               : FL_E_INVALID;
}

fl_status fl_ask_cancel(fl_ask *ask)
{
    return is_elicitation(ask) ? settle(ask, FL_SPAN("{\"action\":\"cancel\"}"))
                               : FL_E_INVALID;
}

/* A comma if something is there already, then one more member, its key as it
 * came. */
static fl_status add_member(fl_buf *to, bool first, fl_span key, fl_span value)
{
    fl_span parts[] = {first ? FL_SPAN("\"") : FL_SPAN(",\""), key,
                       FL_SPAN("\":"), value};

    return fl_buf_append_all(to, parts, 4);
}

static fl_status has_member(fl_span object, fl_span raw_key, fl_buf *key,
                            bool *has)
{
    fl_buf_clear(key);
    fl_status rc = fl_json_unescape(raw_key, key);
    *has = rc == FL_OK && fl_json_get(object, fl_buf_view(key)).len > 0;
    return rc;
}

/* The defaults of the form, for what `content` does not have. */
static fl_status add_defaults(const fl_ask *ask, fl_span content, bool first,
                              fl_buf *to)
{
    fl_json_walk walk;
    fl_json_member property;
    fl_status rc = FL_OK;
    fl_buf key;
    bool has;

    fl_buf_init(&key, TEXT_MAX);
    fl_json_walk_init(&walk,
                      fl_json_get(fl_ask_schema(ask), FL_SPAN("properties")));
    while (rc == FL_OK && fl_json_walk_next(&walk, &property)) {
        fl_span value = fl_json_get(property.value, FL_SPAN("default"));
        if (!walk.in_object || value.len == 0)
            continue;
        rc = has_member(content, property.key, &key, &has);
        if (rc != FL_OK || has)
            continue;
        rc = add_member(to, first, property.key, value);
        first = false;
    }
    fl_buf_reset(&key);
    return rc;
}

static fl_status write_accept(const fl_ask *ask, fl_span content, fl_buf *to)
{
    fl_json_walk walk;
    fl_json_member member;
    bool first = true;
    fl_status rc =
        fl_buf_append(to, FL_SPAN("{\"action\":\"accept\",\"content\":{"));

    fl_json_walk_init(&walk, content);
    while (rc == FL_OK && fl_json_walk_next(&walk, &member)) {
        rc = add_member(to, first, member.key, member.value);
        first = false;
    }
    if (rc == FL_OK)
        rc = add_defaults(ask, content, first, to);
    if (rc == FL_OK)
        rc = fl_buf_append(to, FL_SPAN("}}"));
    return rc;
}

fl_status fl_ask_accept(fl_ask *ask, fl_span content)
{
    fl_buf result;

    if (!is_elicitation(ask) || (content.len > 0 && !is_object(&content)))
        return FL_E_INVALID;
    if (ask->kind == FL_ASK_URL)
        return content.len == 0
                   ? settle(ask, FL_SPAN("{\"action\":\"accept\"}"))
                   : FL_E_INVALID;
    fl_buf_init(&result, TEXT_MAX);
    fl_status rc = write_accept(ask, content, &result);
    if (rc == FL_OK)
        rc = settle(ask, fl_buf_view(&result));
    fl_buf_reset(&result);
    return rc;
}

/* A form that has to be filled in cannot be accepted as it is. */
static bool has_every_default(const fl_ask *ask)
{
    fl_span schema = fl_ask_schema(ask);
    fl_span properties = fl_json_get(schema, FL_SPAN("properties"));
    fl_json_walk walk;
    fl_json_member name;

    fl_json_walk_init(&walk, fl_json_get(schema, FL_SPAN("required")));
    while (fl_json_walk_next(&walk, &name)) {
        if (fl_json_type_of(name.value) != FL_JSON_STRING)
            continue;
        fl_span key = {name.value.ptr + 1, name.value.len - 2};
        if (fl_json_get(fl_json_get(properties, key), FL_SPAN("default")).len ==
            0)
            return false;
    }
    return true;
}

fl_status fl_ask_accept_defaults(fl_ask *ask)
{
    return has_every_default(ask) ? fl_ask_accept(ask, (fl_span){0})
                                  : FL_E_NOT_FOUND;
}

static void send_error(const fl_ask *ask, int code, fl_span text)
{
    fl_buf *out = fl_loop_scratch(ask->client->loop);

    if (fl_rpc_error_write(out, fl_ask_name(ask), code, text, (fl_span){0}) !=
        FL_OK)
        return;
    fl_span message = fl_buf_view(out);
    fl_reply_end((fl_reply){.link = ask->client->link}, &message, 1);
}

void fl_ask_error(fl_ask *ask, int code, const char *text)
{
    fl_client *client = ask->client;
    fl_request *request = ask->request;

    if (request != NULL && is_elicitation(ask) && fl_ask_cancel(ask) == FL_OK)
        return;
    if (client != NULL && request == NULL)
        send_error(ask, code, fl_span_of(text));
    if (client != NULL)
        unlink_ask(ask);
    free_ask(ask);
    if (request != NULL)
        fl_client_round_refused(client, request, text);
}
