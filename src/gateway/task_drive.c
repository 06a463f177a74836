/*
 * task_drive.c - waiting for a task on behalf of a client that does not poll.
 *
 *   working          asked for again after a while
 *   input_required   the client is asked, the server told: tasks/update
 *   completed        its result is the answer, or its error
 *
 * Two kinds of calls wait so: tasks/result of 2025-11-25, and a call that the
 * server would not take from somebody who knows nothing of tasks.
 */
#include "base/span.h"
#include "base/status.h"
#include "gateway/gateway.h"
#include "gateway/rounds.h"
#include "gateway/tasks.h"
#include "rpc/error.h"
#include "json/nav.h"
#include "json/write.h"

enum {
    TEXT_MAX = 64 * 1024 * 1024,
    POLL_MS = 1000,
    POLL_FIRST_MS = 20,
    POLL_MAX_MS = 60000,
};

static bool is(fl_span state, const char *status)
{
    return fl_json_string_is(fl_json_get(state, FL_SPAN("status")),
                             fl_span_of(status));
}

static bool has_ended(fl_span state)
{
    return is(state, "completed") || is(state, "failed") ||
           is(state, "cancelled");
}

/* {"taskId":...,"_meta":...} and what else there is to say. */
static fl_status write_params(fl_rounds *rounds, fl_span members, fl_buf *out)
{
    fl_errand *errand = rounds->errand;
    fl_span claim =
        fl_front_claim(errand->asker.front, errand->back->revision, true);
    fl_span task = fl_buf_view(&rounds->task);

    if (claim.len == 0)
        return FL_E_NOMEM;
    return fl_buf_printf(out, "{\"taskId\":%.*s,\"_meta\":%.*s%s%.*s}",
                         (int)task.len, task.ptr, (int)claim.len, claim.ptr,
                         members.len > 0 ? "," : "", (int)members.len,
                         members.len > 0 ? members.ptr : "");
}

static fl_status send(fl_rounds *rounds, fl_method method, fl_own_fn *own,
                      fl_errand **asked)
{
    fl_errand *errand = rounds->errand;
    fl_span members = method == FL_METHOD_TASKS_UPDATE
                          ? fl_buf_view(&rounds->members)
                          : (fl_span){0};
    fl_buf params;

    fl_buf_init(&params, TEXT_MAX);
    fl_status rc = write_params(rounds, members, &params);
    if (rc == FL_OK)
        rc = fl_back_ask(errand->back, method, fl_buf_view(&params), own,
                         rounds, asked);
    fl_buf_reset(&params);
    return rc;
}

static void ask(fl_rounds *rounds, fl_method method, fl_own_fn *own)
{
    fl_status rc = send(rounds, method, own, &rounds->own);
    fl_error why;

    if (rc == FL_OK)
        return;
    fl_error_set(&why, rc, "%s", fl_status_text(rc));
    fl_tasks_lose(rounds->errand, &why);
}

/* An answer, as if it had been the call's. */
static void answer(fl_errand *errand, const char *kind, fl_span value)
{
    fl_msg msg;
    fl_msg_fault fault;
    fl_buf text;

    fl_buf_init(&text, TEXT_MAX);
    if (value.len > 0 &&
        fl_buf_printf(&text, "{\"jsonrpc\":\"2.0\",\"id\":0,\"%s\":%.*s}", kind,
                      (int)value.len, value.ptr) == FL_OK &&
        fl_msg_read(fl_buf_view(&text), &msg, &fault) == FL_OK)
        fl_back_answer(errand, &msg);
    else
        fl_errand_fail(errand, FL_RPC_INTERNAL_ERROR,
                       FL_SPAN("the task ended in no way that is known"),
                       (fl_span){0});
    fl_buf_reset(&text);
}

static void answer_result(fl_rounds *rounds, fl_span result)
{
    fl_errand *errand = rounds->errand;
    fl_buf related;

    fl_buf_init(&related, TEXT_MAX);
    if (errand->method == FL_METHOD_TASKS_RESULT &&
        fl_tasks_relate(result, fl_buf_view(&rounds->task), &related) == FL_OK)
        result = fl_buf_view(&related);
    answer(errand, "result", result);
    fl_buf_reset(&related);
}

static void wait(fl_rounds *rounds, fl_span state)
{
    int64_t ms;

    if (fl_json_int64(fl_json_get(state, FL_SPAN("pollIntervalMs")), &ms) !=
        FL_OK)
        ms = POLL_MS;
    rounds->polling = true;
    fl_timer_start(&rounds->timer, ms < POLL_FIRST_MS ? POLL_FIRST_MS
                                   : ms > POLL_MAX_MS ? POLL_MAX_MS
                                                      : (uint64_t)ms);
}

static void on_state(void *user, const fl_msg *msg, const fl_error *why)
{
    fl_rounds *rounds = user;
    fl_errand *errand = rounds->errand;

    rounds->own = NULL;
    if (msg == NULL) {
        fl_tasks_lose(errand, why);
        return;
    }
    fl_span state = msg->result;
    rounds->task_ended = msg->kind == FL_MSG_ERROR || has_ended(state);
    if (msg->kind == FL_MSG_ERROR)
        fl_back_answer(errand, msg);
    else if (is(state, "completed"))
        answer_result(rounds, fl_json_get(state, FL_SPAN("result")));
    else if (is(state, "failed"))
        answer(errand, "error", fl_json_get(state, FL_SPAN("error")));
    else if (is(state, "cancelled"))
        fl_errand_fail(errand, FL_RPC_INTERNAL_ERROR,
                       FL_SPAN("the task was cancelled"), (fl_span){0});
    else if (!is(state, "input_required") || !fl_rounds_hear(rounds, state))
        wait(rounds, state);
}

static void on_updated(void *user, const fl_msg *msg, const fl_error *why)
{
    fl_rounds *rounds = user;

    rounds->own = NULL;
    if (msg == NULL)
        fl_tasks_lose(rounds->errand, why);
    else if (msg->kind == FL_MSG_ERROR)
        fl_back_answer(rounds->errand, msg);
    else
        wait(rounds, FL_SPAN("{\"pollIntervalMs\":0}"));
}

void fl_tasks_poll(fl_rounds *rounds)
{
    ask(rounds, FL_METHOD_TASKS_GET, on_state);
}

void fl_tasks_update(fl_rounds *rounds)
{
    ask(rounds, FL_METHOD_TASKS_UPDATE, on_updated);
}

void fl_tasks_drive(fl_errand *errand, fl_span task)
{
    fl_rounds *rounds = fl_rounds_of(errand);

    fl_back_set_aside(errand);
    if (rounds == NULL || fl_buf_append(&rounds->task, task) != FL_OK) {
        fl_errand_fail(errand, FL_RPC_INTERNAL_ERROR, FL_SPAN("out of memory"),
                       (fl_span){0});
        return;
    }
    rounds->declares_tasks = true;
    fl_tasks_poll(rounds);
}

static void on_called_off(void *user, const fl_msg *msg, const fl_error *why)
{
    (void)user; /* gone */
    (void)msg;
    (void)why;
}

void fl_tasks_call_off(fl_rounds *rounds)
{
    if (rounds->errand->method == FL_METHOD_TOOLS_CALL)
        (void)!send(rounds, FL_METHOD_TASKS_CANCEL, on_called_off, NULL);
}

void fl_tasks_lose(fl_errand *errand, const fl_error *why)
{
    fl_asker asker = errand->asker;

    fl_gateway_refuse(&asker, errand->id, why);
    fl_errand_drop(errand);
}
