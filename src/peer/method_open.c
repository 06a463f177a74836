/*
 * method_open.c - how a client finds out whom it talks to: initialize in the
 * legacy era, server/discover in the modern one.
 */
#include "base/span.h"
#include "peer/methods.h"
#include "peer/server.h"
#include "rpc/error.h"

#include "json/nav.h"

/* Why the params of initialize will not do, or NULL. */
static const char *check_params(const fl_msg *msg)
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

/* Why there can be no initialize here, or NULL. */
static const char *check_place(const fl_return *to)
{
    if (to->batch != NULL)
        return "initialize must not be in a batch";
    if ((to->session->traits & FL_LINK_STATELESS) != 0)
        return "there are no sessions here";
    if (to->session->state != FL_SESSION_FRESH)
        return "this connection is initialized";
    return NULL;
}

static void refuse(const fl_return *to, const fl_msg *msg, int code,
                   const char *why)
{
    fl_return_error(to, msg->id, code, fl_span_of(why), (fl_span){0});
}

void fl_method_initialize(const fl_return *to, const fl_msg *msg)
{
    fl_session *session = to->session;
    const char *misplaced = check_place(to), *wrong = check_params(msg);
    fl_span hello;

    if (misplaced != NULL) {
        refuse(to, msg, FL_RPC_INVALID_REQUEST, misplaced);
        return;
    }
    if (wrong != NULL) {
        refuse(to, msg, FL_RPC_INVALID_PARAMS, wrong);
        return;
    }
    fl_span asked = fl_json_get(msg->params, FL_SPAN("protocolVersion"));
    if (fl_server_hello(session->server, &hello) != FL_OK) {
        refuse(to, msg, FL_RPC_INTERNAL_ERROR, "out of memory");
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

void fl_method_discover(const fl_return *to, const fl_msg *msg)
{
    fl_span discovery;

    if (fl_server_discovery(to->session->server, &discovery) == FL_OK)
        fl_return_result(to, msg->id, discovery);
    else
        refuse(to, msg, FL_RPC_INTERNAL_ERROR, "out of memory");
}
