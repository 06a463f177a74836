/*
 * method_tools.c - tools/call, and whether what stays open may come in.
 */
#include "base/span.h"
#include "rpc/error.h"
#include "server/call.h"
#include "server/ladder.h"
#include "server/listen.h"
#include "server/methods.h"
#include "server/server.h"
#include "server/tools.h"

#include "json/nav.h"
#include <stdio.h>

static bool is_outstanding(const fl_session *session, fl_span id)
{
    for (fl_list *node = session->calls.next; node != &session->calls;
         node = node->next) {
        const fl_call *call = FL_LIST_ENTRY(node, fl_call, node);
        if (!call->detached && fl_msg_id_equal(call->msg->id, id))
            return true;
    }
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

/* Beside others that are open. */
__attribute__((noinline)) static bool admit_another(const fl_return *to,
                                                    const fl_msg *msg)
{
    fl_session *session = to->session;

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

bool fl_methods_admit(const fl_return *to, const fl_msg *msg)
{
    const fl_session *session = to->session;

    return (fl_list_empty(&session->calls) && session->listens == NULL) ||
           admit_another(to, msg);
}

void fl_methods_refuse(const fl_return *to, const fl_msg *msg, const char *what)
{
    fl_return_error(to, msg->id, FL_RPC_INVALID_PARAMS, fl_span_of(what),
                    (fl_span){0});
}

/* Arguments that the schema does not allow never reach the handler. */
static bool check_arguments(fl_call *call, const fl_tools_entry *tool)
{
    fl_schema_fault fault;
    fl_status rc = fl_tools_check_input(tool, &call->msg->inner, &fault);

    if (rc == FL_OK)
        return true;
    fl_buf *text = fl_call_keep(call);
    bool told =
        text != NULL && rc != FL_E_NOMEM &&
        fl_buf_printf(text, "invalid arguments: %s", fault.text) == FL_OK;
    fl_call_blame(call, told ? fl_buf_view(text)
                             : FL_SPAN("invalid arguments: out of memory"));
    fl_call_end_fault(call);
    return false;
}

void fl_method_tools_call(const fl_return *to, const fl_msg *msg)
{
    const fl_params *params = &msg->inner;

    if (!fl_methods_admit(to, msg))
        return;
    if (fl_json_type_of(params->name) != FL_JSON_STRING) {
        fl_methods_refuse(to, msg, "params.name must be a string");
        return;
    }
    if (params->arguments.len > 0 &&
        fl_json_type_of(params->arguments) != FL_JSON_OBJECT) {
        fl_methods_refuse(to, msg, "params.arguments must be an object");
        return;
    }
    fl_tools_entry *tool = (fl_tools_entry *)fl_catalog_find_token(
        &to->session->server->catalogs[FL_LIST_TOOLS], params->name);
    if (tool == NULL) {
        fl_return_refuse(to, msg->id, FL_RPC_INVALID_PARAMS, "unknown tool",
                         "name", params->name);
        return;
    }
    if (tool->mirrored &&
        !fl_ladder_arguments(to, msg, &tool->tool, params->arguments))
        return;
    fl_call call;
    fl_call_init(&call, &(fl_call_start){.to = to,
                                         .msg = msg,
                                         .kind = FL_CALL_TOOL,
                                         .entry = &tool->entry});
    if (check_arguments(&call, tool) && fl_jobs_start(&call, &tool->tool))
        fl_call_run(&call);
}
