/*
 * method_tools.c - tools/list and tools/call.
 */
#include "base/span.h"
#include "peer/call.h"
#include "peer/ladder.h"
#include "peer/listen.h"
#include "peer/methods.h"
#include "peer/server.h"
#include "rpc/error.h"

#include "json/nav.h"
#include <stdio.h>

enum { NAME_MAX_BYTES = 1024 };

void fl_method_tools_list(const fl_return *to, const fl_msg *msg)
{
    fl_span list;

    if (fl_json_get(msg->params, FL_SPAN("cursor")).len > 0) {
        fl_return_error(to, msg->id, FL_RPC_INVALID_PARAMS,
                        FL_SPAN("unknown cursor: the list has one page"),
                        (fl_span){0});
        return;
    }
    if (fl_tools_list(&to->session->server->tools, to->revision, &list) !=
        FL_OK) {
        fl_return_error(to, msg->id, FL_RPC_INTERNAL_ERROR,
                        FL_SPAN("out of memory"), (fl_span){0});
        return;
    }
    fl_return_result(to, msg->id, list);
}

/* By the meaning of the name; almost none has an escape in it. */
static const fl_tools_entry *find_tool(fl_session *session, fl_span name)
{
    fl_span inside = {name.ptr + 1, name.len - 2};
    const fl_tools_entry *entry = NULL;

    if (fl_span_find(inside, '\\') == inside.len)
        return fl_tools_find(&session->server->tools, inside);
    fl_buf text;
    fl_buf_init(&text, NAME_MAX_BYTES);
    if (fl_json_string_copy(name, &text) == FL_OK)
        entry = fl_tools_find(&session->server->tools, fl_buf_view(&text));
    fl_buf_reset(&text);
    return entry;
}

static bool is_outstanding(const fl_session *session, fl_span id)
{
    for (fl_list *node = session->calls.next; node != &session->calls;
         node = node->next)
        if (fl_msg_id_equal(FL_LIST_ENTRY(node, fl_call, node)->id, id))
            return true;
    return fl_listen_find(session, id) != NULL;
}

static void say_busy(const fl_return *to, const fl_msg *msg, const char *why,
                     size_t limit)
{
    char data[48];
    int n = snprintf(data, sizeof data, "{\"limit\":%zu}", limit);

    fl_return_error(to, msg->id, FL_RPC_BUSY, fl_span_of(why),
                    (fl_span){data, (size_t)n});
}

bool fl_methods_admit(const fl_return *to, const fl_msg *msg)
{
    fl_session *session = to->session;

    if (fl_list_empty(&session->calls) && fl_list_empty(&session->listens))
        return true;
    /* where each request has a stream of its own, that names it */
    if ((session->traits & FL_LINK_CHANNEL) != 0 &&
        is_outstanding(session, msg->id)) {
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
    if (session->deferred > 0 &&
        session->kept + msg->text.len > FL_SESSION_KEPT_MAX) {
        say_busy(to, msg, "the requests in flight are too large together",
                 FL_SESSION_KEPT_MAX);
        return false;
    }
    return true;
}

static void refuse_params(const fl_return *to, const fl_msg *msg,
                          const char *what)
{
    fl_return_error(to, msg->id, FL_RPC_INVALID_PARAMS, fl_span_of(what),
                    (fl_span){0});
}

/* MCP has tokens be strings or numbers; anything else asks for nothing. */
static fl_span progress_token(const fl_params *params)
{
    fl_span token = params->progress_token;
    fl_json_type type = fl_json_type_of(token);

    return type == FL_JSON_STRING || type == FL_JSON_NUMBER ? token
                                                            : (fl_span){0};
}

void fl_method_tools_call(const fl_return *to, const fl_msg *msg)
{
    const fl_params *params = &msg->inner;

    if (!fl_methods_admit(to, msg))
        return;
    if (fl_json_type_of(params->name) != FL_JSON_STRING) {
        refuse_params(to, msg, "params.name must be a string");
        return;
    }
    if (params->arguments.len > 0 &&
        fl_json_type_of(params->arguments) != FL_JSON_OBJECT) {
        refuse_params(to, msg, "params.arguments must be an object");
        return;
    }
    const fl_tools_entry *entry = find_tool(to->session, params->name);
    if (entry == NULL) {
        fl_return_refuse(to, msg->id, FL_RPC_INVALID_PARAMS, "unknown tool",
                         "name", params->name);
        return;
    }
    if (entry->mirrored &&
        !fl_ladder_arguments(to, msg, &entry->tool, params->arguments))
        return;
    fl_call_run(to, &entry->tool, msg->id, params->arguments,
                progress_token(params));
}
