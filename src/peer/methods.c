/*
 * methods.c - the methods a server knows, and when it serves them.
 *
 * The message decides its era. A request that makes a claim is of the modern
 * era whatever was said before it, and must climb the ladder (ladder.h). Any
 * other is of the session's revision, and K6 holds: before initialize only
 * initialize and ping are served; after it, only methods of capabilities the
 * server has declared. Which method leads where in which era is a table.
 */
#include "peer/methods.h"

#include "base/span.h"
#include "peer/call.h"
#include "peer/ladder.h"
#include "peer/listen.h"
#include "peer/server.h"
#include "rpc/error.h"

#include "json/nav.h"
#include "json/write.h"

enum { SUPPORTED_MAX = 512 };

static void on_ping(const fl_return *to, const fl_msg *msg)
{
    to->session->link->stats.pings++;
    fl_return_result(to, msg->id, FL_SPAN("{}"));
}

static void on_initialized(const fl_return *to, const fl_msg *msg)
{
    (void)msg;
    if (to->session->state == FL_SESSION_OPENED)
        to->session->state = FL_SESSION_READY;
}

static void on_cancelled(const fl_return *to, const fl_msg *msg)
{
    fl_session *session = to->session;
    fl_span id = fl_json_get(msg->params, FL_SPAN("requestId"));

    /* where clients share a link an id names nobody's request */
    if ((session->traits & FL_LINK_STATELESS) != 0 ||
        fl_listen_cancel(session, id))
        return;
    for (fl_list *node = session->calls.next; node != &session->calls;
         node = node->next) {
        fl_call *call = FL_LIST_ENTRY(node, fl_call, node);
        if (!call->cancelled && fl_msg_id_equal(call->id, id)) {
            fl_call_cancel(call);
            return;
        }
    }
}

enum era { LEGACY = 1, MODERN = 2, BOTH = LEGACY | MODERN };

struct method {
    fl_span name;
    fl_method_fn *serve;
    enum era era;
    bool request;
    bool before_initialize;
    bool needs_tools;
};

/* The most frequent first. */
static const struct method methods[] = {
    {{"tools/call", 10}, fl_method_tools_call, BOTH, true, false, true},
    {{"ping", 4}, on_ping, LEGACY, true, true, false},
    {{"tools/list", 10}, fl_method_tools_list, BOTH, true, false, true},
    {{"server/discover", 15}, fl_method_discover, MODERN, true, false, false},
    {{"subscriptions/listen", 20},
     fl_method_listen,
     MODERN,
     true,
     false,
     false},
    {{"initialize", 10}, fl_method_initialize, LEGACY, true, true, false},
    {{"notifications/cancelled", 23}, on_cancelled, BOTH, false, true, false},
    {{"notifications/initialized", 25},
     on_initialized,
     LEGACY,
     false,
     false,
     false},
};

/* A session has what it was told at initialize; a request that knows of no
 * other has what there is. */
static bool has_tools(const fl_return *to)
{
    const fl_session *session = to->session;

    return to->revision == session->revision &&
                   session->state != FL_SESSION_FRESH
               ? session->has_tools
               : session->server->tools.count > 0;
}

static const struct method *find_method(const fl_return *to, const fl_msg *msg,
                                        enum era era)
{
    bool request = msg->kind == FL_MSG_REQUEST;

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const struct method *method = &methods[i];
        if (method->request != request || (method->era & era) == 0 ||
            !fl_msg_method_is(msg, method->name))
            continue;
        return method->needs_tools && !has_tools(to) ? NULL : method;
    }
    return NULL;
}

/* The method as it came: its quotes are in the text too. */
static fl_span method_token(const fl_msg *msg)
{
    return (fl_span){msg->method.ptr - 1, msg->method.len + 2};
}

static void refuse_method(const fl_return *to, const fl_msg *msg)
{
    fl_return early = *to;

    early.early = true;
    fl_return_refuse(&early, msg->id, FL_RPC_METHOD_NOT_FOUND,
                     "method not found, or its capability was not declared",
                     "method", method_token(msg));
}

static void serve_modern(const fl_return *legacy, const fl_msg *msg)
{
    fl_return to = *legacy;

    if (to.batch != NULL) {
        fl_return_error(&to, msg->id, FL_RPC_INVALID_REQUEST,
                        FL_SPAN("a request with a claim must not be in a "
                                "batch"),
                        (fl_span){0});
        return;
    }
    if (!fl_ladder_claim(&to, msg))
        return;
    const struct method *method = find_method(&to, msg, MODERN);
    if (method == NULL)
        refuse_method(&to, msg);
    else if (fl_ladder_name(&to, msg))
        method->serve(&to, msg);
}

fl_status fl_methods_write_supported(fl_buf *out, fl_span requested)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "supported");
    fl_server_write_versions(&writer);
    if (requested.len > 0) {
        fl_json_key(&writer, "requested");
        fl_json_raw(&writer, requested);
    }
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

/* Neither a claim nor a session: it is of no revision. */
static void refuse_unclaimed(const fl_return *to, const fl_msg *msg)
{
    fl_return early = *to;
    fl_buf data;

    early.early = true;
    fl_buf_init(&data, SUPPORTED_MAX);
    fl_status rc = fl_methods_write_supported(&data, (fl_span){0});
    fl_return_error(&early, msg->id, FL_RPC_INVALID_PARAMS,
                    FL_SPAN("Missing _meta io.modelcontextprotocol/"
                            "protocolVersion; or send initialize"),
                    rc == FL_OK ? fl_buf_view(&data) : (fl_span){0});
    fl_buf_reset(&data);
}

static void serve_legacy(const fl_return *to, const fl_msg *msg)
{
    const struct method *method = find_method(to, msg, LEGACY);
    bool opened = to->revision != NULL;

    if (!opened && (method == NULL || !method->before_initialize))
        refuse_unclaimed(to, msg);
    else if (method == NULL)
        refuse_method(to, msg);
    else
        method->serve(to, msg);
}

/* An initialize is one, whatever it claims, unless it claims to be of the era
 * that has none. */
static bool is_modern(const fl_msg *msg)
{
    const fl_claim *claim = &msg->inner.claim;
    fl_span version = claim->version;

    if (!claim->present || !fl_msg_method_is(msg, FL_SPAN("initialize")))
        return claim->present;
    return fl_json_type_of(version) == FL_JSON_STRING &&
           fl_revision_is_modern((fl_span){version.ptr + 1, version.len - 2});
}

void fl_methods_request(const fl_return *to, const fl_msg *msg)
{
    if (is_modern(msg))
        serve_modern(to, msg);
    else
        serve_legacy(to, msg);
}

void fl_methods_notify(const fl_return *to, const fl_msg *msg)
{
    const struct method *method = find_method(to, msg, BOTH);

    if (method != NULL)
        method->serve(to, msg);
}
