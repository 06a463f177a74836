/*
 * methods.c - the methods a server knows, and when it serves them.
 *
 * The message decides its era. A request that makes a claim is of the modern
 * era whatever was said before it, and must climb the ladder (ladder.h). Any
 * other is of the session's revision, and K6 holds: before initialize only
 * initialize and ping are served; after it, only methods of capabilities the
 * server has declared. Which method leads where in which era is a table.
 */
#include "server/methods.h"

#include "base/span.h"
#include "rpc/error.h"
#include "server/call.h"
#include "server/ladder.h"
#include "server/listen.h"
#include "server/server.h"

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
        if (!call->cancelled && !call->detached &&
            fl_msg_id_equal(call->msg->id, id)) {
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
    unsigned needs; /* offers, any of which will do; 0: none */
    enum {
        LATER = 0,
        EARLY = 1, /* before initialize, too */
        NOTICE = 2 /* a notification */
    } is;
};

#define NAME(text)                                                             \
    {                                                                          \
        text, sizeof(text) - 1                                                 \
    }

/* The most frequent first. */
static const struct method methods[] = {
    {NAME("tools/call"), fl_method_tools_call, BOTH, FL_OFFER_TOOLS, LATER},
    {NAME("ping"), on_ping, LEGACY, 0, EARLY},
    {NAME("tools/list"), fl_method_tools_list, BOTH, FL_OFFER_TOOLS, LATER},
    {NAME("resources/read"), fl_method_resources_read, BOTH, FL_OFFER_RESOURCES,
     LATER},
    {NAME("resources/list"), fl_method_resources_list, BOTH, FL_OFFER_RESOURCES,
     LATER},
    {NAME("resources/templates/list"), fl_method_templates_list, BOTH,
     FL_OFFER_RESOURCES, LATER},
    {NAME("resources/subscribe"), fl_method_subscribe, LEGACY,
     FL_OFFER_RESOURCES, LATER},
    {NAME("resources/unsubscribe"), fl_method_unsubscribe, LEGACY,
     FL_OFFER_RESOURCES, LATER},
    {NAME("prompts/get"), fl_method_prompts_get, BOTH, FL_OFFER_PROMPTS, LATER},
    {NAME("prompts/list"), fl_method_prompts_list, BOTH, FL_OFFER_PROMPTS,
     LATER},
    {NAME("completion/complete"), fl_method_complete, BOTH,
     FL_OFFER_COMPLETIONS, LATER},
    {NAME("logging/setLevel"), fl_method_set_level, LEGACY, FL_OFFER_LOGGING,
     LATER},
    {NAME("tasks/get"), fl_method_tasks_get, BOTH, FL_OFFER_TASKS, LATER},
    {NAME("tasks/cancel"), fl_method_tasks_cancel, BOTH, FL_OFFER_TASKS, LATER},
    {NAME("tasks/update"), fl_method_tasks_update, MODERN, FL_OFFER_TASKS,
     LATER},
    {NAME("tasks/result"), fl_method_tasks_result, LEGACY, FL_OFFER_TASKS,
     LATER},
    {NAME("tasks/list"), fl_method_tasks_list, LEGACY, FL_OFFER_TASKS, LATER},
    {NAME("skills/list"), fl_method_skills_list, BOTH, FL_OFFER_SKILLS, LATER},
    {NAME("skills/get"), fl_method_skills_get, BOTH, FL_OFFER_SKILLS, LATER},
    {NAME("resources/directory/read"), fl_method_directory_read, BOTH,
     FL_OFFER_SKILLS, LATER},
    {NAME("server/discover"), fl_method_discover, MODERN, 0, LATER},
    {NAME("subscriptions/listen"), fl_method_listen, MODERN, 0, LATER},
    {NAME("initialize"), fl_method_initialize, LEGACY, 0, EARLY},
    {NAME("notifications/cancelled"), on_cancelled, BOTH, 0, EARLY | NOTICE},
    {NAME("notifications/initialized"), on_initialized, LEGACY, 0, NOTICE},
};

unsigned fl_methods_offers(const fl_return *to)
{
    const fl_session *session = to->session;
    unsigned offers =
        to->revision == session->revision && session->state != FL_SESSION_FRESH
            ? session->offers
            : fl_server_offers(session->server);

    if (to->revision == NULL ||
        (to->revision->legacy && !fl_revision_has(to->revision, FL_HAS_TASKS)))
        offers &= ~(unsigned)FL_OFFER_TASKS;
    return offers;
}

/* Names in the table have no backslash, so one that is as long and the same
 * has none either. */
static bool is_named(const fl_msg *msg, fl_span name)
{
    if (msg->method.len <= name.len)
        return fl_span_same_name(msg->method, name);
    return fl_msg_method_is(msg, name);
}

static const struct method *find_method(const fl_return *to, const fl_msg *msg,
                                        enum era era)
{
    bool notice = msg->kind != FL_MSG_REQUEST;

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const struct method *method = &methods[i];
        if (((method->is & NOTICE) != 0) != notice ||
            (method->era & era) == 0 || !is_named(msg, method->name))
            continue;
        return method->needs == 0 ||
                       (fl_methods_offers(to) & method->needs) != 0
                   ? method
                   : NULL;
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
                    to->session->server->era == FL_ERA_MODERN
                        ? FL_SPAN("Missing _meta io.modelcontextprotocol/"
                                  "protocolVersion")
                        : FL_SPAN("Missing _meta io.modelcontextprotocol/"
                                  "protocolVersion; or send initialize"),
                    rc == FL_OK ? fl_buf_view(&data) : (fl_span){0});
    fl_buf_reset(&data);
}

/* An initialize where the era that has it is not served. */
static void refuse_initialize(const fl_return *to, const fl_msg *msg)
{
    fl_return early = *to;
    fl_buf data;

    early.early = true;
    fl_buf_init(&data, SUPPORTED_MAX);
    fl_status rc = fl_methods_write_supported(
        &data, fl_json_get(msg->params, FL_SPAN("protocolVersion")));
    fl_return_error(&early, msg->id, FL_RPC_UNSUPPORTED_VERSION, (fl_span){0},
                    rc == FL_OK ? fl_buf_view(&data) : (fl_span){0});
    fl_buf_reset(&data);
}

/* A server that knows nothing of claims. HTTP has told the era of a server
 * by its status since before there were two. */
static void refuse_unopened(const fl_return *to, const fl_msg *msg)
{
    fl_return early = *to;

    if ((to->session->traits & FL_LINK_STATELESS) == 0) {
        refuse_method(to, msg);
        return;
    }
    early.early = true;
    fl_return_error(&early, msg->id, FL_RPC_INVALID_REQUEST,
                    FL_SPAN("no session: send initialize"), (fl_span){0});
}

static void serve_legacy(const fl_return *to, const fl_msg *msg)
{
    const struct method *method = find_method(to, msg, LEGACY);
    bool opened = to->revision != NULL;

    if (!opened && (method == NULL || (method->is & EARLY) == 0))
        (to->session->server->era == FL_ERA_LEGACY ? refuse_unopened
                                                   : refuse_unclaimed)(to, msg);
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
    fl_era era = to->session->server->era;

    if (era != FL_ERA_LEGACY && is_modern(msg))
        serve_modern(to, msg);
    else if (era == FL_ERA_MODERN &&
             fl_msg_method_is(msg, FL_SPAN("initialize")))
        refuse_initialize(to, msg);
    else if (era == FL_ERA_MODERN)
        refuse_unclaimed(to, msg);
    else
        serve_legacy(to, msg);
}

void fl_methods_notify(const fl_return *to, const fl_msg *msg)
{
    const struct method *method = find_method(to, msg, BOTH);

    if (method != NULL)
        method->serve(to, msg);
}
