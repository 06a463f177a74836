/*
 * tasks.c - tasks of legacy clients at modern servers: what a client has of
 * them, and its tasks/...
 *
 * A call that was to be a task but is done at once becomes one all the same: a
 * task of ours, completed, that keeps the result until it is asked for. Those
 * of the server's are known here as it told of them last, for tasks/list; all
 * else about them is the server's to say.
 */
#include "gateway/tasks.h"

#include "adapt/adapt.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "json/nav.h"
#include "json/write.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    TEXT_MAX = 64 * 1024 * 1024,
    KEPT_MAX = 256, /* of one client */
    ID_ROOM = 40,
};

typedef struct kept {
    fl_list node;
    fl_buf state;  /* a Task, as 2025-11-25 has it */
    fl_buf result; /* if it is ours; else empty */
    uint64_t until_ms;
} kept;

void fl_tasks_init(fl_tasks *tasks)
{
    tasks->count = 0;
    fl_list_init(&tasks->kept);
}

static void forget(fl_tasks *tasks, kept *task)
{
    fl_list_remove(&task->node);
    tasks->count--;
    fl_buf_reset(&task->state);
    fl_buf_reset(&task->result);
    fl_mem_free(task);
}

void fl_tasks_deinit(fl_tasks *tasks)
{
    while (!fl_list_empty(&tasks->kept))
        forget(tasks, FL_LIST_ENTRY(tasks->kept.next, kept, node));
}

static void forget_late(fl_tasks *tasks, uint64_t now_ms)
{
    fl_list *next;

    for (fl_list *node = tasks->kept.next; node != &tasks->kept; node = next) {
        kept *task = FL_LIST_ENTRY(node, kept, node);
        next = node->next;
        if (task->until_ms <= now_ms)
            forget(tasks, task);
    }
}

static kept *find(const fl_tasks *tasks, fl_span id)
{
    for (fl_list *node = tasks->kept.next; node != &tasks->kept;
         node = node->next) {
        kept *task = FL_LIST_ENTRY(node, kept, node);
        fl_span own = fl_json_get(fl_buf_view(&task->state), FL_SPAN("taskId"));
        if (fl_msg_id_equal(own, id))
            return task;
    }
    return NULL;
}

/* NULL when there is no memory. The oldest makes room. */
static kept *add(fl_tasks *tasks)
{
    kept *task = fl_mem_zalloc(sizeof *task);

    if (task == NULL)
        return NULL;
    if (tasks->count >= KEPT_MAX)
        forget(tasks, FL_LIST_ENTRY(tasks->kept.next, kept, node));
    fl_buf_init(&task->state, TEXT_MAX);
    fl_buf_init(&task->result, TEXT_MAX);
    fl_list_append(&tasks->kept, &task->node);
    tasks->count++;
    return task;
}

static uint64_t now(const fl_errand *errand)
{
    return fl_loop_now(errand->asker.front->link->loop);
}

/* Until when a state promises to be there. */
static uint64_t end_of(fl_span state, uint64_t now_ms)
{
    int64_t ttl;

    return fl_json_int64(fl_json_get(state, FL_SPAN("ttl")), &ttl) == FL_OK &&
                   ttl >= 0
               ? now_ms + (uint64_t)ttl
               : UINT64_MAX;
}

/* What the server says of one of its own; without memory it is not listed. */
static void note(fl_tasks *tasks, uint64_t now_ms, fl_span state)
{
    fl_span id = fl_json_get(state, FL_SPAN("taskId"));
    kept *task = find(tasks, id);

    if (fl_json_type_of(id) != FL_JSON_STRING)
        return;
    if (task == NULL)
        task = add(tasks);
    if (task == NULL)
        return;
    fl_buf_clear(&task->state);
    if (fl_buf_append(&task->state, state) != FL_OK) {
        forget(tasks, task);
        return;
    }
    task->until_ms = end_of(state, now_ms);
}

static fl_span id_of(const fl_errand *errand)
{
    return errand->msg != NULL
               ? fl_json_get(errand->msg->params, FL_SPAN("taskId"))
               : (fl_span){0};
}

static fl_span task_wanted(const fl_errand *errand)
{
    bool can = fl_revision_has(errand->asker.revision, FL_HAS_TASKS) &&
               errand->method == FL_METHOD_TOOLS_CALL && errand->msg != NULL;
    fl_span task =
        can ? fl_json_get(errand->msg->params, FL_SPAN("task")) : (fl_span){0};

    return fl_json_type_of(task) == FL_JSON_OBJECT ? task : (fl_span){0};
}

static bool is_about_tasks(fl_method method)
{
    return method == FL_METHOD_TASKS_GET || method == FL_METHOD_TASKS_RESULT ||
           method == FL_METHOD_TASKS_CANCEL || method == FL_METHOD_TASKS_LIST;
}

bool fl_tasks_are_declared(const fl_errand *errand)
{
    return is_about_tasks(errand->method) || task_wanted(errand).len > 0 ||
           (errand->rounds != NULL && errand->rounds->declares_tasks);
}

static void fail(fl_errand *errand, int code, const char *text)
{
    fl_errand_fail(errand, code, fl_span_of(text), (fl_span){0});
}

/* {"task":...} */
static void answer_made(fl_errand *errand, fl_span state)
{
    fl_buf out;

    fl_buf_init(&out, TEXT_MAX);
    if (fl_buf_printf(&out, "{\"task\":%.*s}", (int)state.len, state.ptr) ==
        FL_OK)
        fl_errand_result(errand, fl_buf_view(&out));
    else
        fail(errand, FL_RPC_INTERNAL_ERROR, "out of memory");
    fl_buf_reset(&out);
}

/* What a call that is done at once leaves behind. */
static fl_status fill(kept *task, fl_errand *errand, fl_span result)
{
    bool failed = fl_json_type_of(fl_json_get(result, FL_SPAN("isError"))) ==
                  FL_JSON_TRUE;
    fl_span ttl = fl_json_get(task_wanted(errand), FL_SPAN("ttl"));
    uint64_t random[2];
    char id[ID_ROOM];

    fl_status rc = fl_random_bytes(random, sizeof random);
    if (rc != FL_OK)
        return rc;
    int n = snprintf(id, sizeof id, "\"%016" PRIx64 "%016" PRIx64 "\"",
                     random[0], random[1]);
    fl_span token = {id, (size_t)n};
    rc = fl_tasks_state(token, failed ? "failed" : "completed", ttl,
                        &task->state);
    if (rc == FL_OK)
        rc = fl_tasks_relate(result, token, &task->result);
    task->until_ms = end_of(fl_buf_view(&task->state), now(errand));
    return rc;
}

static void keep_done(fl_tasks *tasks, fl_errand *errand, const fl_msg *msg)
{
    fl_adapt adapt = fl_back_adapt(errand);
    kept *task = add(tasks);
    fl_buf out;

    fl_buf_init(&out, TEXT_MAX);
    fl_status rc =
        task != NULL ? fl_adapt_result(&adapt, msg->result, &out) : FL_E_NOMEM;
    if (rc == FL_OK || rc == FL_END)
        rc = fill(task, errand, rc == FL_OK ? fl_buf_view(&out) : msg->result);
    fl_buf_reset(&out);
    if (rc == FL_OK) {
        answer_made(errand, fl_buf_view(&task->state));
        return;
    }
    if (task != NULL)
        forget(tasks, task);
    fail(errand, FL_RPC_INTERNAL_ERROR, "the task cannot be kept");
}

/* The server's word on a task, in those of the client. */
static void note_lowered(fl_tasks *tasks, fl_errand *errand, fl_span result)
{
    fl_adapt adapt = fl_back_adapt(errand);
    fl_buf out;

    fl_buf_init(&out, TEXT_MAX);
    if (fl_adapt_result(&adapt, result, &out) == FL_OK)
        note(tasks, now(errand),
             errand->method == FL_METHOD_TOOLS_CALL
                 ? fl_json_get(fl_buf_view(&out), FL_SPAN("task"))
                 : fl_buf_view(&out));
    fl_buf_reset(&out);
}

static bool answer_call(fl_tasks *tasks, fl_errand *errand, const fl_msg *msg)
{
    bool made = fl_json_string_is(
        fl_json_get(msg->result, FL_SPAN("resultType")), FL_SPAN("task"));
    bool wanted = task_wanted(errand).len > 0;

    if (made && wanted) {
        note_lowered(tasks, errand, msg->result);
        return false;
    }
    if (made)
        fl_tasks_drive(errand, fl_json_get(msg->result, FL_SPAN("taskId")));
    else if (wanted)
        keep_done(tasks, errand, msg);
    return made || wanted;
}

/* The server has acknowledged it; its client wants to see the task. */
static void answer_cancel(fl_tasks *tasks, fl_errand *errand)
{
    const kept *task = find(tasks, id_of(errand));
    fl_span ttl = task != NULL
                      ? fl_json_get(fl_buf_view(&task->state), FL_SPAN("ttl"))
                      : (fl_span){0};
    fl_buf out;

    fl_buf_init(&out, TEXT_MAX);
    if (fl_tasks_state(id_of(errand), "cancelled", ttl, &out) == FL_OK) {
        note(tasks, now(errand), fl_buf_view(&out));
        fl_errand_result(errand, fl_buf_view(&out));
    } else {
        fail(errand, FL_RPC_INTERNAL_ERROR, "out of memory");
    }
    fl_buf_reset(&out);
}

bool fl_tasks_answer(fl_tasks *tasks, fl_errand *errand, const fl_msg *msg)
{
    if (msg->kind != FL_MSG_RESULT)
        return false;
    if (errand->method == FL_METHOD_TOOLS_CALL)
        return answer_call(tasks, errand, msg);
    if (errand->method == FL_METHOD_TASKS_GET)
        note_lowered(tasks, errand, msg->result);
    if (errand->method != FL_METHOD_TASKS_CANCEL)
        return false;
    answer_cancel(tasks, errand);
    return true;
}

static void list(const fl_tasks *tasks, fl_errand *errand)
{
    fl_json_writer writer;
    fl_buf out;

    fl_buf_init(&out, TEXT_MAX);
    fl_json_writer_init(&writer, &out);
    fl_json_object(&writer);
    fl_json_key(&writer, "tasks");
    fl_json_array(&writer);
    for (fl_list *node = tasks->kept.next; node != &tasks->kept;
         node = node->next)
        fl_json_raw(&writer,
                    fl_buf_view(&FL_LIST_ENTRY(node, kept, node)->state));
    fl_json_array_end(&writer);
    fl_json_object_end(&writer);
    if (fl_json_writer_end(&writer) == FL_OK)
        fl_errand_result(errand, fl_buf_view(&out));
    else
        fail(errand, FL_RPC_INTERNAL_ERROR, "out of memory");
    fl_buf_reset(&out);
}

/* About one of ours. */
static void answer_for(const kept *task, fl_errand *errand)
{
    if (errand->method == FL_METHOD_TASKS_GET)
        fl_errand_result(errand, fl_buf_view(&task->state));
    else if (errand->method == FL_METHOD_TASKS_RESULT)
        fl_errand_result(errand, fl_buf_view(&task->result));
    else
        fail(errand, FL_RPC_INVALID_PARAMS,
             "Cannot cancel task: it has ended already");
}

bool fl_tasks_take(fl_tasks *tasks, fl_errand *errand)
{
    fl_span id = id_of(errand);

    if (!is_about_tasks(errand->method))
        return false;
    if (!fl_revision_has(errand->asker.revision, FL_HAS_TASKS)) {
        fail(errand, FL_RPC_METHOD_NOT_FOUND,
             "this revision has no such method");
        return true;
    }
    forget_late(tasks, now(errand));
    if (errand->method == FL_METHOD_TASKS_LIST) {
        list(tasks, errand);
        return true;
    }
    if (fl_json_type_of(id) != FL_JSON_STRING) {
        fail(errand, FL_RPC_INVALID_PARAMS, "params.taskId must be a string");
        return true;
    }
    const kept *task = find(tasks, id);
    if (task != NULL && fl_buf_len(&task->result) > 0)
        answer_for(task, errand);
    else if (errand->method == FL_METHOD_TASKS_RESULT)
        fl_tasks_drive(errand, id);
    else
        return false; /* the server knows */
    return true;
}
