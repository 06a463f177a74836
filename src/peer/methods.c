/*
 * methods.c - the methods a server knows, and when it serves them.
 *
 * K6: before initialize only initialize and ping are served; after it, only
 * methods of capabilities the server has declared. Which method leads where is
 * a table.
 */
#include "peer/methods.h"

#include "base/span.h"
#include "peer/call.h"
#include "peer/server.h"
#include "rpc/error.h"

#include "json/nav.h"
#include <stdio.h>

enum { NAME_MAX_BYTES = 1024 };

static void on_ping(fl_return to, const fl_msg *msg)
{
    to.session->link->stats.pings++;
    fl_return_result(to, msg->id, FL_SPAN("{}"));
}

/* Why the params of initialize will not do, or NULL. */
static const char *check_initialize(const fl_msg *msg)
{
    fl_span version = fl_json_get(msg->params, FL_SPAN("protocolVersion"));

    if (fl_json_type_of(version) != FL_JSON_STRING)
        return "protocolVersion must be a string";
    if (fl_json_type_of(fl_json_get(msg->params, FL_SPAN("capabilities"))) !=
        FL_JSON_OBJECT)
        return "capabilities must be an object";
    if (fl_json_type_of(fl_json_get(msg->params, FL_SPAN("clientInfo"))) !=
        FL_JSON_OBJECT)
        return "clientInfo must be an object";
    return NULL;
}

static void on_initialize(fl_return to, const fl_msg *msg)
{
    fl_session *session = to.session;
    const char *wrong = check_initialize(msg);
    fl_span hello;

    if (session->state != FL_SESSION_FRESH || to.batch != NULL) {
        fl_return_error(to, msg->id, FL_RPC_INVALID_REQUEST,
                        to.batch != NULL
                            ? FL_SPAN("initialize must not be in a batch")
                            : FL_SPAN("this connection is initialized"),
                        (fl_span){0});
        return;
    }
    if (wrong != NULL) {
        fl_return_error(to, msg->id, FL_RPC_INVALID_PARAMS, fl_span_of(wrong),
                        (fl_span){0});
        return;
    }
    fl_span asked = fl_json_get(msg->params, FL_SPAN("protocolVersion"));
    if (fl_server_hello(session->server, &hello) != FL_OK) {
        fl_return_error(to, msg->id, FL_RPC_INTERNAL_ERROR,
                        FL_SPAN("out of memory"), (fl_span){0});
        return;
    }
    session->revision =
        fl_revision_negotiate((fl_span){asked.ptr + 1, asked.len - 2});
    session->state = FL_SESSION_OPENED;
    session->has_tools = session->server->tools.count > 0;
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"),
        msg->id,
        FL_SPAN(",\"result\":{\"protocolVersion\":\""),
        fl_span_of(session->revision->name),
        FL_SPAN("\","),
        hello,
        FL_SPAN("}}"),
    };
    fl_return_send(to, msg->id, parts, 7);
}

static void on_tools_list(fl_return to, const fl_msg *msg)
{
    fl_session *session = to.session;
    fl_span list;

    if (fl_json_get(msg->params, FL_SPAN("cursor")).len > 0) {
        fl_return_error(to, msg->id, FL_RPC_INVALID_PARAMS,
                        FL_SPAN("unknown cursor: the list has one page"),
                        (fl_span){0});
        return;
    }
    if (fl_tools_list(&session->server->tools, session->revision, &list) !=
        FL_OK) {
        fl_return_error(to, msg->id, FL_RPC_INTERNAL_ERROR,
                        FL_SPAN("out of memory"), (fl_span){0});
        return;
    }
    fl_return_result(to, msg->id, list);
}

/* By the meaning of the name; almost none has an escape in it. */
static const fl_tool *find_tool(fl_session *session, fl_span name)
{
    fl_span inside = {name.ptr + 1, name.len - 2};
    const fl_tool *tool = NULL;

    if (fl_span_find(inside, '\\') == inside.len)
        return fl_tools_find(&session->server->tools, inside);
    fl_buf text;
    fl_buf_init(&text, NAME_MAX_BYTES);
    if (fl_json_string_copy(name, &text) == FL_OK)
        tool = fl_tools_find(&session->server->tools, fl_buf_view(&text));
    fl_buf_reset(&text);
    return tool;
}

static bool is_outstanding(const fl_session *session, fl_span id)
{
    for (fl_list *node = session->calls.next; node != &session->calls;
         node = node->next)
        if (fl_msg_id_equal(FL_LIST_ENTRY(node, fl_call, node)->id, id))
            return true;
    return false;
}

/* Members of params this handler looks at, found in one walk. */
struct call_params {
    fl_span name;
    fl_span arguments;
    fl_span meta;
};

static void read_call_params(fl_span params, struct call_params *out)
{
    fl_json_walk walk;
    fl_json_member member;

    *out = (struct call_params){0};
    fl_json_walk_init(&walk, params);
    while (fl_json_walk_next(&walk, &member))
        if (fl_span_equal(member.key, FL_SPAN("name")))
            out->name = member.value;
        else if (fl_span_equal(member.key, FL_SPAN("arguments")))
            out->arguments = member.value;
        else if (fl_span_equal(member.key, FL_SPAN("_meta")))
            out->meta = member.value;
}

/* MCP has tokens be strings or numbers; anything else asks for nothing. */
static fl_span progress_token(fl_span meta)
{
    fl_span token = fl_json_get(meta, FL_SPAN("progressToken"));
    fl_json_type type = fl_json_type_of(token);

    return type == FL_JSON_STRING || type == FL_JSON_NUMBER ? token
                                                            : (fl_span){0};
}

static void say_busy(fl_return to, const fl_msg *msg, const char *why,
                     size_t limit)
{
    char data[48];
    int n = snprintf(data, sizeof data, "{\"limit\":%zu}", limit);

    fl_return_error(to, msg->id, FL_RPC_BUSY, fl_span_of(why),
                    (fl_span){data, (size_t)n});
}

static bool admit(fl_return to, const fl_msg *msg)
{
    fl_session *session = to.session;

    if (fl_list_empty(&session->calls))
        return true;
    if (is_outstanding(session, msg->id)) {
        fl_return_error(to, msg->id, FL_RPC_INVALID_REQUEST,
                        FL_SPAN("a request with this id is in flight"),
                        (fl_span){0});
        return false;
    }
    /* cancelled ones count until their handler is done, or a client that
     * cancels all it asks for could have any number of them running */
    if (session->deferred >= session->max_in_flight) {
        say_busy(to, msg, "too many requests in flight",
                 session->max_in_flight);
        return false;
    }
    if (session->kept + msg->text.len > FL_SESSION_KEPT_MAX) {
        say_busy(to, msg, "the requests in flight are too large together",
                 FL_SESSION_KEPT_MAX);
        return false;
    }
    return true;
}

static void on_tools_call(fl_return to, const fl_msg *msg)
{
    struct call_params params;

    if (!admit(to, msg))
        return;
    read_call_params(msg->params, &params);
    if (fl_json_type_of(params.name) != FL_JSON_STRING) {
        fl_return_error(to, msg->id, FL_RPC_INVALID_PARAMS,
                        FL_SPAN("params.name must be a string"), (fl_span){0});
        return;
    }
    if (params.arguments.len > 0 &&
        fl_json_type_of(params.arguments) != FL_JSON_OBJECT) {
        fl_return_error(to, msg->id, FL_RPC_INVALID_PARAMS,
                        FL_SPAN("params.arguments must be an object"),
                        (fl_span){0});
        return;
    }
    const fl_tool *tool = find_tool(to.session, params.name);
    if (tool == NULL) {
        fl_return_refuse(to, msg->id, FL_RPC_INVALID_PARAMS, "unknown tool",
                         "name", params.name);
        return;
    }
    fl_call_run(to, tool, msg->id, params.arguments,
                progress_token(params.meta));
}

static void on_initialized(fl_return to, const fl_msg *msg)
{
    (void)msg;
    if (to.session->state == FL_SESSION_OPENED)
        to.session->state = FL_SESSION_READY;
}

static void on_cancelled(fl_return to, const fl_msg *msg)
{
    fl_session *session = to.session;
    fl_span id = fl_json_get(msg->params, FL_SPAN("requestId"));

    for (fl_list *node = session->calls.next; node != &session->calls;
         node = node->next) {
        fl_call *call = FL_LIST_ENTRY(node, fl_call, node);
        if (fl_msg_id_equal(call->id, id)) {
            fl_call_cancel(call);
            return;
        }
    }
}

struct method {
    fl_span name;
    void (*serve)(fl_return to, const fl_msg *msg);
    bool request;
    bool before_initialize;
    bool needs_tools;
};

/* The most frequent first. The door of 2026-07-28 (server/discover and the
 * stateless methods) will be rows here too. */
static const struct method methods[] = {
    {{"tools/call", 10}, on_tools_call, true, false, true},
    {{"ping", 4}, on_ping, true, true, false},
    {{"tools/list", 10}, on_tools_list, true, false, true},
    {{"initialize", 10}, on_initialize, true, true, false},
    {{"notifications/cancelled", 23}, on_cancelled, false, true, false},
    {{"notifications/initialized", 25}, on_initialized, false, false, false},
};

static const struct method *find_method(const fl_session *session,
                                        const fl_msg *msg)
{
    bool request = msg->kind == FL_MSG_REQUEST;

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const struct method *method = &methods[i];
        if (method->request != request || !fl_msg_method_is(msg, method->name))
            continue;
        return method->needs_tools && !session->has_tools ? NULL : method;
    }
    return NULL;
}

/* The method as it came: its quotes are in the text too. */
static fl_span method_token(const fl_msg *msg)
{
    return (fl_span){msg->method.ptr - 1, msg->method.len + 2};
}

void fl_methods_request(fl_return to, const fl_msg *msg)
{
    const struct method *method = find_method(to.session, msg);

    if (to.session->state == FL_SESSION_FRESH &&
        (method == NULL || !method->before_initialize))
        fl_return_refuse(to, msg->id, FL_RPC_NOT_INITIALIZED,
                         "not initialized: send initialize first", "method",
                         method_token(msg));
    else if (method == NULL)
        fl_return_refuse(to, msg->id, FL_RPC_METHOD_NOT_FOUND,
                         "method not found, or its capability was not declared",
                         "method", method_token(msg));
    else
        method->serve(to, msg);
}

void fl_methods_notify(fl_return to, const fl_msg *msg)
{
    const struct method *method = find_method(to.session, msg);

    if (method != NULL)
        method->serve(to, msg);
}
