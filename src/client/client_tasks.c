/*
 * client_tasks.c - a request that the server has made a task of.
 *
 *   tools/call -> task -> tasks/get ... tasks/get -> done
 *                            |   ^
 *                   questions v   | answers
 *                         tasks/update
 *
 * So in 2026-07-28, where the last tasks/get has the result in it (extension
 * io.modelcontextprotocol/tasks). In 2025-11-25 tasks/result fetches it, which
 * waits until there is one; a task that wants input is waited for in the same
 * way, for its questions come as requests of the server's.
 *
 * A task does not end with the connection: to look how it stands changes
 * nothing, and is done again when there is a new one.
 */
#include "client/client_steps.h"

#include "base/mem.h"
#include "base/span.h"
#include "client/client.h"
#include "json/nav.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    POLL_MS = 1000,
    POLL_MIN_MS = 10,
    POLL_MAX_MS = 3600 * 1000,
    TOOLS = 4096,
    TEXT_MAX = 64 * 1024 * 1024,
    SHOWN = 80,
};

typedef enum stage {
    STAGE_GET,
    STAGE_UPDATE,
    STAGE_RESULT,
} stage;

struct fl_follow {
    fl_buf id; /* the raw token */
    stage stage;
    uint64_t poll_ms;
    fl_buf asked; /* the keys of questions we have answered, one to a line */
};

void fl_follow_free(fl_follow *follow)
{
    if (follow == NULL)
        return;
    fl_buf_reset(&follow->id);
    fl_buf_reset(&follow->asked);
    fl_mem_free(follow);
}

fl_status fl_follow_new(fl_span token, fl_follow **out)
{
    fl_follow *follow = fl_mem_zalloc(sizeof *follow);

    *out = NULL;
    if (follow == NULL)
        return FL_E_NOMEM;
    fl_buf_init(&follow->id, TEXT_MAX);
    fl_buf_init(&follow->asked, TEXT_MAX);
    follow->poll_ms = POLL_MS;
    fl_status rc = fl_buf_append(&follow->id, token);
    if (rc != FL_OK) {
        fl_follow_free(follow);
        return rc;
    }
    *out = follow;
    return FL_OK;
}

/* As often as the server wants it; the two eras have a word each for it. */
static void heed_interval(fl_follow *follow, fl_span task)
{
    fl_span modern = fl_json_get(task, FL_SPAN("pollIntervalMs"));
    fl_span legacy = fl_json_get(task, FL_SPAN("pollInterval"));
    int64_t ms;

    if (fl_json_int64(modern.len > 0 ? modern : legacy, &ms) != FL_OK)
        return;
    follow->poll_ms = ms < POLL_MIN_MS   ? POLL_MIN_MS
                      : ms > POLL_MAX_MS ? POLL_MAX_MS
                                         : (uint64_t)ms;
}

static void look_later(fl_request *request, uint64_t ms)
{
    request->sent = false;
    request->held = true;
    request->follow->stage = STAGE_GET;
    fl_request_await(request, FL_WAIT_PAUSE, ms);
}

static fl_status ask(fl_client *client, fl_request *request, stage next)
{
    static const char *const methods[] = {
        [STAGE_GET] = "tasks/get",
        [STAGE_UPDATE] = "tasks/update",
        [STAGE_RESULT] = "tasks/result",
    };
    fl_follow *follow = request->follow;
    fl_span id = fl_buf_view(&follow->id);
    fl_span inputs =
        next == STAGE_UPDATE ? fl_round_members(request->round) : (fl_span){0};
    fl_buf params;

    fl_buf_init(&params, TEXT_MAX);
    fl_status rc = fl_buf_printf(
        &params, "{\"taskId\":%.*s%s%.*s%s}", (int)id.len, id.ptr,
        inputs.len > 0 ? ",\"inputResponses\":{" : "", (int)inputs.len,
        inputs.len > 0 ? inputs.ptr : "", inputs.len > 0 ? "}" : "");
    if (rc == FL_OK)
        rc = fl_request_become(request, methods[next], fl_buf_view(&params));
    fl_buf_reset(&params);
    if (rc != FL_OK)
        return rc;
    follow->stage = next;
    request->repeats = request->keeps = true;
    fl_client_let_go(client, request);
    return FL_OK;
}

void fl_client_task_due(fl_client *client, fl_request *request)
{
    fl_status rc = ask(client, request, STAGE_GET);

    if (rc != FL_OK)
        fl_request_fail_later(request, rc);
}

/* The answers leave; they are not asked for again, whatever the task says
 * until it has heard them. */
static fl_status remember(fl_follow *follow, fl_span members)
{
    fl_json_walk walk;
    fl_json_member member;
    fl_buf object;

    fl_buf_init(&object, TEXT_MAX);
    fl_status rc = fl_buf_printf(&object, "{%.*s}", (int)members.len,
                                 members.len > 0 ? members.ptr : "");
    fl_json_walk_init(&walk, fl_buf_view(&object));
    while (rc == FL_OK && fl_json_walk_next(&walk, &member))
        rc = fl_buf_printf(&follow->asked, "\"%.*s\"\n", (int)member.key.len,
                           member.key.ptr);
    fl_buf_reset(&object);
    return rc;
}

void fl_client_task_gathered(fl_client *client, fl_request *request)
{
    fl_span members = fl_round_members(request->round);
    fl_status rc = remember(request->follow, members);

    if (rc == FL_OK && members.len > 0)
        rc = ask(client, request, STAGE_UPDATE);
    else if (rc == FL_OK)
        look_later(request, request->follow->poll_ms);
    fl_round_free(request->round);
    request->round = NULL;
    if (rc != FL_OK)
        fl_request_fail_later(request, rc);
}

/* Its answer may take as long as the work does. */
static bool fetch(fl_client *client, fl_request *request, fl_answer *answer,
                  fl_buf *text)
{
    request->options.timeout_ms = FL_NEVER;
    fl_status rc = ask(client, request, STAGE_RESULT);

    if (rc == FL_OK)
        return true;
    *answer = fl_client_blunder(rc, text, "%s", fl_status_text(rc));
    return false;
}

static bool gather(fl_client *client, fl_request *request, fl_answer *answer,
                   fl_buf *text)
{
    fl_span inputs = fl_json_get(answer->result, FL_SPAN("inputRequests"));

    request->sent = false;
    fl_status rc = fl_client_gather(client, request, inputs,
                                    fl_buf_view(&request->follow->asked), text);
    if (rc == FL_OK)
        return true;
    fl_span why = fl_buf_view(text);
    *answer = (fl_answer){.status = rc, .text = why};
    if (why.len == 0)
        answer->text = fl_span_of(fl_status_text(rc));
    return false;
}

/* It has ended: how, a modern server says at once. */
static bool finish(fl_client *client, fl_request *request, fl_answer *answer,
                   fl_buf *text)
{
    fl_span result = fl_json_get(answer->result, FL_SPAN("result"));
    fl_span error = fl_json_get(answer->result, FL_SPAN("error"));

    if (!request->claims)
        return fetch(client, request, answer, text);
    if (fl_json_type_of(error) == FL_JSON_OBJECT)
        *answer = fl_client_refusal(error, text);
    else if (fl_json_type_of(result) == FL_JSON_OBJECT)
        *answer = (fl_answer){.status = FL_OK, .result = result};
    else
        *answer = fl_client_blunder(
            FL_E_BAD_MESSAGE, text,
            "the server's task has ended without a result or an error");
    return false;
}

static bool read_status(fl_client *client, fl_request *request,
                        fl_answer *answer, fl_buf *text)
{
    fl_span status = fl_json_get(answer->result, FL_SPAN("status"));

    if (status.len == 0)
        status = FL_SPAN("none");
    heed_interval(request->follow, answer->result);
    if (fl_json_string_is(status, FL_SPAN("working"))) {
        look_later(request, request->follow->poll_ms);
        return true;
    }
    if (fl_json_string_is(status, FL_SPAN("input_required")))
        return request->claims ? gather(client, request, answer, text)
                               : fetch(client, request, answer, text);
    if (fl_json_string_is(status, FL_SPAN("completed")) ||
        fl_json_string_is(status, FL_SPAN("failed")))
        return finish(client, request, answer, text);
    if (fl_json_string_is(status, FL_SPAN("cancelled")))
        *answer = fl_client_blunder(FL_E_CANCELLED, text,
                                    "the server has cancelled the task");
    else
        *answer = fl_client_blunder(
            FL_E_BAD_MESSAGE, text,
            "the server's task is in a state this client "
            "does not know: %.*s",
            (int)(status.len < SHOWN ? status.len : SHOWN), status.ptr);
    return false;
}

bool fl_client_step_task(fl_client *client, fl_request *request,
                         fl_answer *answer, fl_buf *text)
{
    fl_follow *follow = request->follow;

    if (answer->status != FL_OK || follow->stage == STAGE_RESULT)
        return false;
    if (follow->stage == STAGE_UPDATE) {
        look_later(request, follow->poll_ms);
        return true;
    }
    return read_status(client, request, answer, text);
}

static void tell(fl_client *client, fl_request *request)
{
    fl_buf id;

    if (request->options.on_task == NULL)
        return;
    fl_buf_init(&id, TEXT_MAX);
    if (fl_json_string_copy(fl_buf_view(&request->follow->id), &id) == FL_OK)
        request->options.on_task(client, fl_buf_view(&id), request->user);
    fl_buf_reset(&id);
}

bool fl_client_begin_task(fl_client *client, fl_request *request, fl_span task,
                          fl_answer *answer, fl_buf *text)
{
    fl_span id = fl_json_get(task, FL_SPAN("taskId"));
    fl_span status = fl_json_get(task, FL_SPAN("status"));

    if (fl_json_type_of(id) != FL_JSON_STRING) {
        *answer = fl_client_blunder(FL_E_BAD_MESSAGE, text,
                                    "the server's task has no taskId");
        return false;
    }
    fl_status rc = fl_follow_new(id, &request->follow);
    if (rc != FL_OK) {
        *answer = fl_client_blunder(rc, text, "%s", fl_status_text(rc));
        return false;
    }
    heed_interval(request->follow, task);
    bool working = fl_json_string_is(status, FL_SPAN("working"));
    look_later(request, working ? request->follow->poll_ms : 0);
    tell(client, request);
    return true;
}

static void ignore(fl_client *client, const fl_answer *answer, void *user)
{
    (void)client, (void)answer, (void)user;
}

void fl_client_task_stop(fl_client *client, const fl_request *request)
{
    fl_buf id;

    fl_buf_init(&id, TEXT_MAX);
    if (fl_json_string_copy(fl_buf_view(&request->follow->id), &id) == FL_OK)
        (void)!fl_client_task_cancel(client, fl_buf_view(&id), NULL, ignore,
                                     NULL, NULL);
    fl_buf_reset(&id);
}

static fl_span deep(fl_span object, const char *const keys[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        object = fl_json_get(object, fl_span_of(keys[i]));
    return object;
}

static bool may_be_task(const fl_client *client, const fl_request *request)
{
    static const char *const keys[] = {"tasks", "requests", "tools", "call"};
    fl_span params = fl_request_params(request);

    return request->options.task && client->revision->legacy &&
           fl_revision_has(client->revision, FL_HAS_TASKS) &&
           fl_span_equal(fl_request_method(request), FL_SPAN("tools/call")) &&
           deep(fl_client_capabilities(client), keys, 4).len > 0 &&
           fl_json_get(params, FL_SPAN("task")).len == 0 &&
           fl_map_get(&client->task_tools,
                      fl_json_get(params, FL_SPAN("name"))) != NULL;
}

fl_status fl_client_task_offer(const fl_client *client, fl_request *request)
{
    uint64_t ttl = request->options.task_ttl_ms;

    fl_buf_clear(
        &request->extra); /* it may have been sent before, to another */
    if (!may_be_task(client, request))
        return FL_OK;
    return ttl > 0 ? fl_buf_printf(&request->extra,
                                   "\"task\":{\"ttl\":%" PRIu64 "}", ttl)
                   : fl_buf_append(&request->extra, FL_SPAN("\"task\":{}"));
}

/* By the raw token of the name: as a name is written in a list, so it most
 * likely is in a call. One that is not is called without a task. */
void fl_client_task_learn(fl_client *client, fl_span tools)
{
    static const char *const keys[] = {"execution", "taskSupport"};
    fl_json_walk walk;
    fl_json_member tool;

    if (!fl_revision_has(client->revision, FL_HAS_TASKS))
        return;
    fl_json_walk_init(&walk, tools);
    while (fl_json_walk_next(&walk, &tool)) {
        fl_span name = fl_json_get(tool.value, FL_SPAN("name"));
        fl_span support = deep(tool.value, keys, 2);
        fl_map_remove(&client->task_tools, name);
        if (name.len > 0 && (fl_json_string_is(support, FL_SPAN("optional")) ||
                             fl_json_string_is(support, FL_SPAN("required"))))
            (void)!fl_map_add(&client->task_tools, name, client);
    }
}

void fl_client_task_forget(fl_client *client)
{
    fl_map_deinit(&client->task_tools);
    fl_map_init(&client->task_tools, TOOLS);
}
