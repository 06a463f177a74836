/*
 * method_tasks.c - what clients ask about tasks.
 *
 * A legacy client sees the tasks of its session, and no others; a modern one
 * those whose id it knows, and none of a session's.
 */
#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "server/call.h"
#include "server/methods.h"
#include "server/server.h"
#include "server/tasks.h"

#include "json/nav.h"

static void say_no_memory(const fl_return *to, const fl_msg *msg)
{
    fl_return_error(to, msg->id, FL_RPC_INTERNAL_ERROR,
                    FL_SPAN("out of memory"), (fl_span){0});
}

/* The extension's methods are for those who have declared it. */
static bool may_ask(const fl_return *to, const fl_msg *msg)
{
    if (to->revision->legacy ||
        fl_jobs_declared(msg->inner.claim.client_capabilities))
        return true;
    fl_return_error(to, msg->id, FL_RPC_MISSING_CAPABILITY, (fl_span){0},
                    fl_job_requirement());
    return false;
}

/* The task the request is about; NULL: refused, and said so. */
static fl_job *find(const fl_return *to, const fl_msg *msg)
{
    const fl_session *owner = to->revision->legacy ? to->session : NULL;

    if (!may_ask(to, msg))
        return NULL;
    fl_job *job = fl_job_find(to->session->server, owner, msg->inner.task_id);
    if (job == NULL)
        fl_methods_refuse(to, msg, "no such task, or it has expired");
    return job;
}

static void tell(const fl_return *to, const fl_msg *msg, const fl_job *job)
{
    fl_buf *out = fl_loop_scratch(to->session->loop);

    if (fl_job_write_details(out, job) == FL_OK)
        fl_return_result(to, msg->id, fl_buf_view(out));
    else
        say_no_memory(to, msg);
}

static void acknowledge(const fl_return *to, const fl_msg *msg)
{
    fl_return_foreign_result(to, msg->id, FL_SPAN("{}"));
}

void fl_method_tasks_get(const fl_return *to, const fl_msg *msg)
{
    fl_job *job = find(to, msg);

    if (job != NULL)
        tell(to, msg, job);
}

void fl_method_tasks_cancel(const fl_return *to, const fl_msg *msg)
{
    fl_job *job = find(to, msg);

    if (job == NULL)
        return;
    if (to->revision->legacy && fl_job_is_over(job)) {
        fl_methods_refuse(to, msg, "the task is over: it cannot be cancelled");
        return;
    }
    if (job->call != NULL)
        fl_call_cancel(job->call);
    if (to->revision->legacy)
        tell(to, msg, job);
    else
        acknowledge(to, msg);
}

/* What was not asked for, or is answered already, is ignored. */
void fl_method_tasks_update(const fl_return *to, const fl_msg *msg)
{
    fl_span answers = fl_json_get(msg->params, FL_SPAN("inputResponses"));
    fl_job *job = find(to, msg);

    if (job == NULL)
        return;
    if (fl_json_type_of(answers) != FL_JSON_OBJECT) {
        fl_methods_refuse(to, msg, "inputResponses must be an object");
        return;
    }
    fl_call *call = job->status == FL_JOB_INPUT_REQUIRED ? job->call : NULL;
    bool complete = call != NULL && fl_asking_take(call, answers);
    acknowledge(to, msg);
    if (complete) {
        fl_job_goes_on(call);
        fl_call_rerun(call);
    }
}

/* Whoever wants the result before it is there waits as a call that nobody
 * runs. */
void fl_method_tasks_result(const fl_return *to, const fl_msg *msg)
{
    fl_job *job = find(to, msg);
    fl_call call;

    if (job == NULL || !fl_methods_admit(to, msg))
        return;
    fl_call_init(&call, &(fl_call_start){.to = to,
                                         .msg = msg,
                                         .kind = FL_CALL_TOOL,
                                         .entry = job->entry});
    fl_call *waiter = fl_call_defer(&call);
    if (waiter != NULL)
        fl_job_await(job, waiter);
}

/* Of the session's tasks, those numbered past `after`, up to a page full. */
static fl_status write_page(fl_buf *out, const fl_session *session,
                            uint64_t after)
{
    const fl_server *server = session->server;
    uint64_t last = 0;
    size_t count = 0;
    fl_json_writer writer;
    fl_list *node = server->jobs.all.next;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "tasks");
    fl_json_array(&writer);
    for (; node != &server->jobs.all; node = node->next) {
        const fl_job *job = FL_LIST_ENTRY(node, fl_job, node);
        if (job->session != session || job->number <= after)
            continue;
        if (count++ == server->page_size)
            break;
        last = job->number;
        fl_json_object(&writer);
        fl_job_write(&writer, job, false);
        fl_json_object_end(&writer);
    }
    fl_json_array_end(&writer);
    if (node != &server->jobs.all)
        fl_catalog_write_cursor(&writer, "tasks", last);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

void fl_method_tasks_list(const fl_return *to, const fl_msg *msg)
{
    fl_span cursor = fl_json_get(msg->params, FL_SPAN("cursor"));
    fl_buf *out = fl_loop_scratch(to->session->loop);
    uint64_t after;
    fl_status rc = fl_catalog_read_cursor("tasks", cursor, &after);

    if (rc == FL_OK)
        rc = write_page(out, to->session, after);
    if (rc == FL_OK)
        fl_return_result(to, msg->id, fl_buf_view(out));
    else if (rc == FL_E_INVALID)
        fl_return_refuse(to, msg->id, FL_RPC_INVALID_PARAMS,
                         "unknown cursor: begin again without one", "cursor",
                         cursor);
    else
        say_no_memory(to, msg);
}
