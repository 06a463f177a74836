/*
 * listen.c - subscriptions/listen: a request that stays open.
 *
 * What may not be sent at once, because the client reads slowly, is owed: the
 * acknowledgement, which must come first, and one word that the tools have
 * changed, however often they did.
 *
 * How it ends is told in two ways by two pages of the specification: a result
 * ("Subscriptions, Graceful Closure") and notifications/cancelled
 * ("Cancellation"). So both are sent, in this order: whoever has seen the
 * result ignores what comes after it. Where the end of the stream is the end
 * of the request, the result alone will do.
 */
#include "peer/listen.h"

#include "base/mem.h"
#include "base/span.h"
#include "peer/methods.h"
#include "peer/server.h"
#include "rpc/error.h"

#include "json/nav.h"
#include <stdio.h>
#include <string.h>

#define SUBSCRIPTION "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":"

struct fl_listen {
    fl_list node; /* among the session's */
    fl_return to;
    fl_span id;       /* lies behind the struct */
    bool wants_tools; /* and is told of them */
    bool owes_welcome;
    bool owes_tools;
};

static fl_listen *entry(fl_list *node)
{
    return FL_LIST_ENTRY(node, fl_listen, node);
}

/* Why the filter will not do, or NULL. */
static const char *check_filter(fl_span filter)
{
    static const char *const flags[] = {
        "toolsListChanged", "promptsListChanged", "resourcesListChanged"};
    fl_span uris = fl_json_get(filter, FL_SPAN("resourceSubscriptions"));

    if (fl_json_type_of(filter) != FL_JSON_OBJECT)
        return "params.notifications must be an object";
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        fl_json_type type =
            fl_json_type_of(fl_json_get(filter, fl_span_of(flags[i])));
        if (type != FL_JSON_NONE && type != FL_JSON_TRUE &&
            type != FL_JSON_FALSE)
            return "what params.notifications asks for must be true or false";
    }
    if (uris.len > 0 && fl_json_type_of(uris) != FL_JSON_ARRAY)
        return "resourceSubscriptions must be a list";
    return NULL;
}

static fl_listen *open_listen(const fl_return *to, fl_span id)
{
    fl_listen *listen = fl_mem_zalloc(sizeof *listen + id.len);

    if (listen == NULL)
        return NULL;
    listen->to = *to;
    memcpy(listen + 1, id.ptr, id.len);
    listen->id = (fl_span){(char *)(listen + 1), id.len};
    listen->owes_welcome = true;
    fl_list_append(&to->session->listens, &listen->node);
    to->session->listening++;
    fl_link_hold(to->session->link);
    return listen;
}

static void free_listen(fl_listen *listen)
{
    fl_session *session = listen->to.session;

    fl_list_remove(&listen->node);
    session->listening--;
    fl_link_release(session->link);
    fl_mem_free(listen);
}

/* Ends it without a word. */
static void drop(fl_listen *listen)
{
    fl_return_send(&listen->to, listen->id, NULL, 0);
    free_listen(listen);
}

/* True: it has been said, or cannot be. */
static bool say(fl_listen *listen, fl_span method, fl_span filter)
{
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"),
        method,
        FL_SPAN("\",\"params\":{" SUBSCRIPTION),
        listen->id,
        FL_SPAN("}"),
        filter,
        FL_SPAN("}}"),
    };

    return fl_reply_send(listen->to.reply, parts, 7) != FL_BUSY;
}

static void pay(fl_listen *listen)
{
    if (listen->owes_welcome)
        listen->owes_welcome =
            !say(listen, FL_SPAN("subscriptions/acknowledged"),
                 listen->wants_tools
                     ? FL_SPAN(",\"notifications\":{\"toolsListChanged\":true}")
                     : FL_SPAN(",\"notifications\":{}"));
    if (listen->owes_tools && !listen->owes_welcome)
        listen->owes_tools =
            !say(listen, FL_SPAN("tools/list_changed"), FL_SPAN(""));
}

static bool admit(const fl_return *to, const fl_msg *msg)
{
    const fl_session *session = to->session;
    unsigned max = session->max_in_flight;
    char data[48];

    if (!fl_methods_admit(to, msg))
        return false;
    if ((session->traits & FL_LINK_STATELESS) == 0 && max > FL_LISTEN_MAX)
        max = FL_LISTEN_MAX;
    if (session->listening < max)
        return true;
    int n = snprintf(data, sizeof data, "{\"limit\":%u}", max);
    fl_return_error(to, msg->id, FL_RPC_BUSY, FL_SPAN("too many subscriptions"),
                    (fl_span){data, (size_t)n});
    return false;
}

void fl_method_listen(const fl_return *to, const fl_msg *msg)
{
    fl_span filter = fl_json_get(msg->params, FL_SPAN("notifications"));
    const char *wrong = check_filter(filter);

    if (!admit(to, msg))
        return;
    if (wrong != NULL) {
        fl_return_error(to, msg->id, FL_RPC_INVALID_PARAMS, fl_span_of(wrong),
                        (fl_span){0});
        return;
    }
    fl_listen *listen = open_listen(to, msg->id);
    if (listen == NULL) {
        fl_return_error(to, msg->id, FL_RPC_INTERNAL_ERROR,
                        FL_SPAN("out of memory"), (fl_span){0});
        return;
    }
    /* tools are all we have that changes; of the rest nothing is promised */
    listen->wants_tools =
        to->session->server->tools.count > 0 &&
        fl_json_type_of(fl_json_get(filter, FL_SPAN("toolsListChanged"))) ==
            FL_JSON_TRUE;
    pay(listen);
}

fl_listen *fl_listen_find(const fl_session *session, fl_span id)
{
    for (fl_list *node = session->listens.next; node != &session->listens;
         node = node->next)
        if (fl_msg_id_equal(entry(node)->id, id))
            return entry(node);
    return NULL;
}

bool fl_listen_cancel(fl_session *session, fl_span id)
{
    fl_listen *listen = fl_listen_find(session, id);

    if (listen != NULL)
        drop(listen);
    return listen != NULL;
}

bool fl_listen_abandon(fl_session *session, const void *stream)
{
    for (fl_list *node = session->listens.next; node != &session->listens;
         node = node->next)
        if (entry(node)->to.reply.stream == stream) {
            drop(entry(node));
            return true;
        }
    return false;
}

void fl_listen_tools_changed(fl_session *session)
{
    for (fl_list *node = session->listens.next; node != &session->listens;
         node = node->next)
        entry(node)->owes_tools = entry(node)->wants_tools;
    fl_listen_resume(session);
}

void fl_listen_resume(fl_session *session)
{
    for (fl_list *node = session->listens.next, *next;
         node != &session->listens; node = next) {
        next = node->next;
        pay(entry(node));
    }
}

static void say_goodbye(fl_listen *listen)
{
    fl_session *session = listen->to.session;
    fl_span result[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"),
        listen->id,
        FL_SPAN(",\"result\":{\"resultType\":\"complete\"," SUBSCRIPTION),
        listen->id,
        FL_SPAN(",\"io.modelcontextprotocol/serverInfo\":"),
        fl_buf_view(&session->server->identity),
        FL_SPAN("}}}"),
    };
    fl_span cancelled[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                "\"params\":{\"requestId\":"),
        listen->id,
        FL_SPAN(",\"reason\":\"the subscription has ended\"}}"),
    };

    fl_return_send(&listen->to, listen->id, result, 7);
    if ((session->traits & FL_LINK_CHANNEL) != 0)
        (void)!fl_link_send(session->link, cancelled, 3);
}

void fl_listen_end(fl_session *session)
{
    while (!fl_list_empty(&session->listens)) {
        fl_listen *listen = entry(session->listens.next);
        say_goodbye(listen);
        free_listen(listen);
    }
}

void fl_listen_forget(fl_session *session)
{
    while (!fl_list_empty(&session->listens))
        free_listen(entry(session->listens.next));
}
