/*
 * task_tell.c - how a task goes on and ends, and who is told of it.
 *
 * A task changes in few ways: it asks, goes on, has a result or an error, is
 * cancelled. Each is written down in the job, is told to whoever listens, and,
 * when it is the last, to those who wait for the result. They are deferred
 * calls of the task's session; what the task asks meanwhile goes to the first
 * of them.
 */
#include "rpc/error.h"
#include "server/asking.h"
#include "server/call.h"
#include "server/listen.h"
#include "server/server.h"
#include "server/session.h"
#include "server/tasks.h"

#include "base/span.h"
#include "io/loop.h"
#include "json/nav.h"

static void set_message(fl_job *job, fl_span text)
{
    if (text.len > FL_JOB_MESSAGE)
        text.len = FL_JOB_MESSAGE;
    fl_buf_clear(&job->message);
    /* without memory it has none */
    (void)!fl_buf_append(&job->message, text);
}

void fl_call_task_status(fl_call *call, const char *message)
{
    if (call->job == NULL)
        return;
    set_message(call->job, fl_span_of(message));
    fl_clock_stamp(call->job->updated);
}

void fl_job_moved(fl_call *call)
{
    if (call->job != NULL)
        call->job->call = call;
}

/* Modern clients that have asked to be. */
static void announce_to_listens(const fl_job *job)
{
    fl_list *sessions = &job->server->sessions;

    for (fl_list *node = sessions->next; node != sessions; node = node->next)
        fl_listen_task(FL_LIST_ENTRY(node, fl_session, node),
                       fl_span_of(job->id));
}

/* Legacy sessions are told, and must not rely on it: they may ask. */
static void announce(const fl_job *job)
{
    fl_session *session = job->session;

    if (session == NULL)
        announce_to_listens(job);
    if (session == NULL || session->link == NULL)
        return;
    fl_buf *out = fl_loop_scratch(session->loop);
    if (fl_job_write_details(out, job) != FL_OK)
        return;
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tasks/"
                "status\",\"params\":"),
        fl_buf_view(out),
        FL_SPAN("}"),
    };
    (void)!fl_link_send(session->link, parts, 3);
}

static void change(fl_job *job, fl_job_status status)
{
    job->status = status;
    fl_clock_stamp(job->updated);
    if (status != FL_JOB_CANCELLED || job->session == NULL)
        announce(job); /* a session that cancels is told by the answer */
}

static fl_call *first_waiter(const fl_job *job)
{
    if (job->session == NULL)
        return NULL;
    for (fl_list *node = job->session->calls.next; node != &job->session->calls;
         node = node->next) {
        fl_call *call = FL_LIST_ENTRY(node, fl_call, node);
        if (call->awaits == job)
            return call;
    }
    return NULL;
}

/* Wherever questions went before, whoever waits now is the one to answer. */
static void ask(const fl_job *job, const fl_call *waiter)
{
    (void)!fl_asking_send(job->call, waiter->to.reply, fl_span_of(job->id));
}

/* Questions that have not left must not leave by a reply that has gone. */
static void stop_waiting(fl_call *waiter, void *user)
{
    fl_call *call = waiter->awaits != NULL ? waiter->awaits->call : NULL;

    (void)user;
    if (call != NULL && call->asking != NULL &&
        call->asking->reply.stream == waiter->to.reply.stream)
        call->asking->reply = (fl_reply){0};
    fl_call_end_whole(waiter, NULL, 0);
}

void fl_job_await(fl_job *job, fl_call *waiter)
{
    waiter->awaits = job;
    fl_call_on_cancel(waiter, stop_waiting, NULL);
    if (fl_job_is_over(job))
        fl_job_tell_waiters(job);
    else if (job->status == FL_JOB_INPUT_REQUIRED)
        ask(job, waiter);
}

static void tell(const fl_job *job, fl_call *waiter)
{
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"),
        waiter->msg->id,
        job->has_error ? FL_SPAN(",\"error\":") : FL_SPAN(",\"result\":"),
        fl_buf_view(&job->outcome),
        FL_SPAN("}"),
    };

    waiter->awaits = NULL;
    if (job->status == FL_JOB_CANCELLED)
        fl_call_end_error(waiter, FL_RPC_INVALID_REQUEST,
                          FL_SPAN("the task was cancelled"), (fl_span){0});
    else if (fl_buf_len(&job->outcome) == 0)
        fl_call_end_error(waiter, FL_RPC_INTERNAL_ERROR,
                          FL_SPAN("out of memory"), (fl_span){0});
    else
        fl_call_end_whole(waiter, parts, 5);
}

void fl_job_tell_waiters(fl_job *job)
{
    fl_call *waiter;

    while ((waiter = first_waiter(job)) != NULL)
        tell(job, waiter);
}

void fl_job_disappoint(fl_job *job, fl_span why)
{
    fl_call *waiter;

    while ((waiter = first_waiter(job)) != NULL) {
        waiter->awaits = NULL;
        fl_call_end_error(waiter, FL_RPC_INVALID_PARAMS, why, (fl_span){0});
    }
}

/* The record outlives the work. */
static fl_job *part(fl_call *call)
{
    fl_job *job = call->job;

    job->call = NULL;
    call->job = NULL;
    return job;
}

void fl_job_cancelled(fl_call *call)
{
    fl_job *job = part(call);

    set_message(job, FL_SPAN("the task was cancelled"));
    change(job, FL_JOB_CANCELLED);
    fl_job_tell_waiters(job);
}

void fl_job_asks(fl_call *call)
{
    fl_call *waiter = first_waiter(call->job);

    change(call->job, FL_JOB_INPUT_REQUIRED);
    if (waiter != NULL)
        ask(call->job, waiter);
}

void fl_job_goes_on(fl_call *call)
{
    change(call->job, FL_JOB_WORKING);
}

static void fail(fl_job *job, int code, fl_span message, fl_span data)
{
    if (fl_job_keep_error(job, code, message, data) != FL_OK)
        job->has_error = true; /* without words */
    set_message(job, message);
    change(job, FL_JOB_FAILED);
    fl_job_tell_waiters(job);
}

void fl_job_error(fl_call *call, int code, fl_span message, fl_span data)
{
    fail(part(call), code, message, data);
}

/* In the legacy era a tool that failed is a task that failed. */
static bool has_failed(const fl_job *job, fl_span result)
{
    return job->session != NULL &&
           fl_json_type_of(fl_json_get(result, FL_SPAN("isError"))) ==
               FL_JSON_TRUE;
}

void fl_job_result(fl_call *call, fl_span result)
{
    fl_job *job = part(call);
    fl_status rc = fl_job_keep_result(job, result);

    if (rc != FL_OK) {
        fail(job, FL_RPC_INTERNAL_ERROR,
             rc == FL_E_TOO_BIG ? FL_SPAN("the result is too large to be kept")
                                : FL_SPAN("out of memory"),
             (fl_span){0});
        return;
    }
    bool failed = has_failed(job, result);
    if (failed)
        set_message(job, FL_SPAN("the tool failed: its result says why"));
    change(job, failed ? FL_JOB_FAILED : FL_JOB_COMPLETED);
    fl_job_tell_waiters(job);
}
