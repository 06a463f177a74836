/*
 * method_open.c - how a client finds out whom it talks to: initialize in the
 * legacy era, server/discover in the modern one; and from which level on it
 * wants to hear our log.
 */
#include "base/span.h"
#include "rpc/error.h"
#include "server/levels.h"
#include "server/methods.h"
#include "server/server.h"

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

static const fl_revision *negotiated(fl_span asked)
{
    return fl_revision_negotiate((fl_span){asked.ptr + 1, asked.len - 2});
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
    if (fl_server_hello(session->server, negotiated(asked), &hello) != FL_OK ||
        fl_introductions_take(&session->server->introductions, msg->params,
                              &session->client) != FL_OK) {
        refuse(to, msg, FL_RPC_INTERNAL_ERROR, "out of memory");
        return;
    }
    session->revision = negotiated(asked);
    session->state = FL_SESSION_OPENED;
    session->offers = (uint8_t)fl_server_offers(session->server);
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

static void set_level(const fl_return *to, const fl_msg *msg, fl_level level)
{
    to->session->log_level = (uint8_t)level;
    fl_return_result(to, msg->id, FL_SPAN("{}"));
}

/* On a link that many share, what one wants would be done to all. */
void fl_method_set_level(const fl_return *to, const fl_msg *msg)
{
    fl_span token = fl_json_get(msg->params, FL_SPAN("level"));
    fl_level level;

    if ((to->session->traits & FL_LINK_STATELESS) != 0)
        refuse(to, msg, FL_RPC_INVALID_REQUEST, "there are no sessions here");
    else if (fl_levels_read(token, &level) == FL_OK)
        set_level(to, msg, level);
    else
        refuse(to, msg, FL_RPC_INVALID_PARAMS,
               "level must be one of debug, info, notice, warning, error, "
               "critical, alert, emergency");
}

void fl_method_discover(const fl_return *to, const fl_msg *msg)
{
    fl_span discovery;

    if (fl_server_discovery(to->session->server, to->revision, &discovery) ==
        FL_OK)
        fl_return_result(to, msg->id, discovery);
    else
        refuse(to, msg, FL_RPC_INTERNAL_ERROR, "out of memory");
}
