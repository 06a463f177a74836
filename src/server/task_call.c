/*
 * task_call.c - calls that become tasks, and tell them how they go.
 *
 * In the legacy era the client asks for a task, and has it before the handler
 * runs. In the modern one the handler decides, for clients that have declared
 * the extension. Either way the request is answered at that moment, and what
 * the handler says from then on is written down in the job.
 */
#include "rpc/error.h"
#include "server/call.h"
#include "server/methods.h"
#include "server/server.h"
#include "server/session.h"
#include "server/tasks.h"
#include "server/tools.h"

#include "base/span.h"
#include "io/loop.h"
#include "json/nav.h"

#include <stdio.h>

bool fl_jobs_declared(fl_span capabilities)
{
    fl_span extensions = fl_json_get(capabilities, FL_SPAN("extensions"));

    return fl_json_type_of(fl_json_get(
               extensions, FL_SPAN("io.modelcontextprotocol/tasks"))) ==
           FL_JSON_OBJECT;
}

/* While its link goes there is a server yet, and nobody to be sent away. */
static bool is_open(const fl_session *session)
{
    return session->server != NULL && session->link != NULL &&
           session->server->closing != FL_SERVER_LINKS;
}

bool fl_jobs_possible(const fl_call *call)
{
    if (call->job != NULL)
        return true;
    if (call->to.revision->legacy || call->kind != FL_CALL_TOOL ||
        call->replied || !is_open(call->to.session))
        return false;
    return ((const fl_tools_entry *)call->entry)->tool.task != FL_TASK_NEVER &&
           fl_jobs_declared(fl_call_capabilities(call));
}

/* Calls that have left their link live there. NULL when there is no memory,
 * or no room for this one. */
static fl_session *find_errands(const fl_call *call)
{
    fl_server *server = call->to.session->server;
    fl_jobs *jobs = &server->jobs;

    if (jobs->errands == NULL)
        jobs->errands = fl_session_new(server, server->loop);
    if (jobs->errands != NULL && jobs->errands->kept > 0 &&
        jobs->errands->kept + call->kept > FL_SESSION_KEPT_MAX)
        return NULL;
    return jobs->errands;
}

/* Answers the request. The job is there, and can be asked about. */
static fl_status answer(fl_call *call, const fl_job *job)
{
    fl_buf *out = fl_loop_scratch(fl_call_loop(call));
    fl_status rc = fl_job_write_created(out, job);

    if (rc == FL_OK)
        fl_return_foreign_result(&call->to, call->msg->id, fl_buf_view(out));
    return rc;
}

/* From now on it has nobody to answer, and holds nobody up. */
static void let_go(fl_call *call, fl_job *job)
{
    call->job = job;
    call->replied = true;
    call->detached = true;
    call->to.reply = (fl_reply){0};
}

static void move(fl_call *call, fl_session *errands)
{
    fl_session *from = call->to.session;

    fl_link_release(from->link);
    fl_list_remove(&call->node);
    from->deferred--;
    from->kept -= call->kept;
    call->to.session = errands;
    fl_list_append(&errands->calls, &call->node);
    errands->deferred++;
    errands->kept += call->kept;
}

/* If it cannot be one, it is answered in the end like any other. */
static void become_task(fl_call *call, uint64_t ttl_ms)
{
    fl_session *errands = find_errands(call);
    fl_job *job;

    if (errands == NULL || fl_job_new(call, ttl_ms, &job) != FL_OK)
        return;
    if (answer(call, job) != FL_OK) {
        job->call = NULL;
        fl_job_drop(job, (fl_span){0});
        return;
    }
    let_go(call, job);
    move(call, errands);
}

fl_call *fl_call_as_task(fl_call *call, uint64_t ttl_ms)
{
    fl_call *kept = fl_call_defer(call);

    if (kept == NULL)
        return NULL;
    if (kept->job == NULL && fl_jobs_possible(kept))
        become_task(kept, ttl_ms);
    else if (kept->job != NULL && ttl_ms > 0 && !kept->job->ttl_asked &&
             kept->to.revision->legacy)
        fl_job_set_ttl(kept->job, ttl_ms);
    return kept;
}

static bool refuse(const fl_call *call, int code, const char *why, fl_span data)
{
    fl_return_error(&call->to, call->msg->id, code, fl_span_of(why), data);
    return false;
}

/* What the client wants of the task; false: it cannot be meant. */
static bool read_ttl(fl_span wanted, int64_t *ttl)
{
    fl_span token = fl_json_get(wanted, FL_SPAN("ttl"));

    *ttl = 0;
    if (fl_json_type_of(wanted) != FL_JSON_OBJECT)
        return false;
    if (token.len == 0 || fl_json_type_of(token) == FL_JSON_NULL)
        return true;
    return fl_json_int64(token, ttl) == FL_OK && *ttl >= 0;
}

static bool refuse_limit(const fl_call *call, fl_status rc)
{
    const fl_jobs *jobs = &call->to.session->server->jobs;
    char data[48];
    int n =
        snprintf(data, sizeof data, "{\"limit\":%zu}", jobs->max_of_session);

    if (rc == FL_E_LIMIT)
        return refuse(call, FL_RPC_BUSY, "too many tasks",
                      (fl_span){data, (size_t)n});
    return refuse(call, FL_RPC_INTERNAL_ERROR, "out of memory", (fl_span){0});
}

/* Legacy: the client has asked for one. */
static bool start_task(fl_call *call, fl_span wanted)
{
    int64_t ttl;
    fl_job *job;

    if (!read_ttl(wanted, &ttl))
        return refuse(call, FL_RPC_INVALID_PARAMS,
                      "params.task must be an object, and its ttl a number of "
                      "milliseconds",
                      (fl_span){0});
    if (!is_open(call->to.session))
        return refuse(call, FL_RPC_INTERNAL_ERROR,
                      "the server is shutting down", (fl_span){0});
    bool asked =
        fl_json_type_of(fl_json_get(wanted, FL_SPAN("ttl"))) == FL_JSON_NUMBER;
    fl_status rc = fl_job_new(
        call, asked && ttl == 0 ? FL_JOB_TTL_MIN : (uint64_t)ttl, &job);
    if (rc != FL_OK)
        return refuse_limit(call, rc);
    job->ttl_asked = asked;
    rc = answer(call, job);
    if (rc != FL_OK) {
        job->call = NULL;
        fl_job_drop(job, (fl_span){0});
        return refuse_limit(call, rc);
    }
    let_go(call, job);
    return true;
}

/* MCP 2025-11-25 tasks, "Tool-Level Negotiation". Where we have not declared
 * tasks, the wish for one is to be ignored. */
static bool start_legacy(fl_call *call, const fl_tool *tool)
{
    fl_span wanted = {0};

    if (call->msg->inner.task.len > 0 &&
        (fl_methods_offers(&call->to) & FL_OFFER_TASKS) != 0)
        wanted = call->msg->inner.task;
    if (wanted.len == 0)
        return tool->task != FL_TASK_MUST ||
               refuse(call, FL_RPC_METHOD_NOT_FOUND,
                      "this tool can only be called as a task", (fl_span){0});
    if (tool->task == FL_TASK_NEVER)
        return refuse(call, FL_RPC_METHOD_NOT_FOUND,
                      "this tool cannot be called as a task", (fl_span){0});
    return start_task(call, wanted);
}

bool fl_jobs_start(fl_call *call, const fl_tool *tool)
{
    if (call->to.revision->legacy)
        return start_legacy(call, tool);
    return tool->task != FL_TASK_MUST ||
           fl_jobs_declared(fl_call_capabilities(call)) ||
           refuse(call, FL_RPC_MISSING_CAPABILITY,
                  "this tool answers with tasks", fl_job_requirement());
}
