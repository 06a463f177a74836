/*
 * client_verbs.c - what can be asked of a server, by name.
 *
 * Each is params put together and a request made of them. What the caller
 * gives as text becomes a string, whatever is in it; what he gives as JSON is
 * checked first, or it could end the params and go on.
 */
#include "client/client.h"

#include "base/span.h"
#include "client/client_steps.h"
#include "json/nav.h"

#include <string.h>

enum { PARAMS_MAX = 64 * 1024 * 1024 };

/* Params on their way: writer and buffer, until they are asked with. */
typedef struct draft {
    fl_buf text;
    fl_json_writer writer;
} draft;

static void begin(draft *to)
{
    fl_buf_init(&to->text, PARAMS_MAX);
    fl_json_writer_init(&to->writer, &to->text);
    fl_json_object(&to->writer);
}

static void put_text(draft *to, const char *key, fl_span text)
{
    fl_json_key(&to->writer, key);
    fl_json_text(&to->writer, text);
}

static void put_object(draft *to, const char *key, fl_span json)
{
    fl_json_top top;

    if (json.len == 0)
        return;
    fl_json_key(&to->writer, key);
    if (fl_json_scan(json, 0, &top, NULL) == FL_OK &&
        top.type == FL_JSON_OBJECT)
        fl_json_raw(&to->writer, top.value);
    /* or else the key has no value, and the end fails */
}

static void drop_wanted(const fl_wanted *wanted)
{
    fl_pages_free(wanted->pages);
    fl_follow_free(wanted->follow);
}

static fl_status ask_with(fl_client *client, draft *to, fl_wanted *wanted)
{
    fl_json_object_end(&to->writer);
    fl_status rc = fl_json_writer_end(&to->writer);

    wanted->params = fl_buf_view(&to->text);
    if (rc == FL_OK)
        rc = fl_client_want(client, wanted);
    else
        drop_wanted(wanted);
    fl_buf_reset(&to->text);
    return rc == FL_E_STATE ? FL_E_INVALID : rc;
}

static fl_wanted want(const char *method, const fl_request_options *options,
                      fl_answer_fn *on_answer, void *user, uint64_t *id)
{
    return (fl_wanted){.method = method,
                       .options = options,
                       .on_answer = on_answer,
                       .user = user,
                       .id = id};
}

fl_status fl_client_request(fl_client *client, const char *method,
                            fl_span params, const fl_request_options *options,
                            fl_answer_fn *on_answer, void *user, uint64_t *id)
{
    fl_wanted wanted = want(method, options, on_answer, user, id);

    wanted.params = params;
    return fl_client_want(client, &wanted);
}

fl_status fl_client_call_tool(fl_client *client, fl_span name,
                              fl_span arguments,
                              const fl_request_options *options,
                              fl_answer_fn *on_answer, void *user, uint64_t *id)
{
    fl_wanted wanted = want("tools/call", options, on_answer, user, id);
    draft to;

    begin(&to);
    put_text(&to, "name", name);
    put_object(&to, "arguments", arguments);
    return ask_with(client, &to, &wanted);
}

fl_status fl_client_get_prompt(fl_client *client, fl_span name,
                               fl_span arguments,
                               const fl_request_options *options,
                               fl_answer_fn *on_answer, void *user,
                               uint64_t *id)
{
    fl_wanted wanted = want("prompts/get", options, on_answer, user, id);
    draft to;

    begin(&to);
    put_text(&to, "name", name);
    put_object(&to, "arguments", arguments);
    return ask_with(client, &to, &wanted);
}

fl_status fl_client_read(fl_client *client, fl_span uri,
                         const fl_request_options *options,
                         fl_answer_fn *on_answer, void *user, uint64_t *id)
{
    fl_wanted wanted = want("resources/read", options, on_answer, user, id);
    draft to;

    begin(&to);
    put_text(&to, "uri", uri);
    return ask_with(client, &to, &wanted);
}

fl_status fl_client_list(fl_client *client, fl_list_kind kind,
                         const fl_request_options *options,
                         fl_answer_fn *on_answer, void *user, uint64_t *id)
{
    fl_wanted wanted =
        want(fl_client_list_method(kind), options, on_answer, user, id);

    if (wanted.method == NULL)
        return FL_E_INVALID;
    fl_status rc = fl_pages_new(kind, &wanted.pages);
    return rc == FL_OK ? fl_client_want(client, &wanted) : rc;
}

fl_status fl_client_list_page(fl_client *client, fl_list_kind kind,
                              fl_span cursor, const fl_request_options *options,
                              fl_answer_fn *on_answer, void *user, uint64_t *id)
{
    fl_wanted wanted =
        want(fl_client_list_method(kind), options, on_answer, user, id);
    draft to;

    if (wanted.method == NULL)
        return FL_E_INVALID;
    if (cursor.len == 0)
        return fl_client_want(client, &wanted);
    begin(&to);
    put_text(&to, "cursor", cursor);
    return ask_with(client, &to, &wanted);
}

static void put_reference(draft *to, const fl_completion *of)
{
    bool prompt = of->prompt.len > 0;

    fl_json_key(&to->writer, "ref");
    fl_json_object(&to->writer);
    put_text(to, "type",
             prompt ? FL_SPAN("ref/prompt") : FL_SPAN("ref/resource"));
    put_text(to, prompt ? "name" : "uri", prompt ? of->prompt : of->resource);
    fl_json_object_end(&to->writer);
}

/* It came with elicitation, in 2025-06-18. */
static bool takes_context(const fl_client *client)
{
    return client->revision == NULL ||
           fl_revision_has(client->revision, FL_HAS_ELICITATION);
}

fl_status fl_client_complete(fl_client *client, const fl_completion *of,
                             const fl_request_options *options,
                             fl_answer_fn *on_answer, void *user, uint64_t *id)
{
    fl_wanted wanted =
        want("completion/complete", options, on_answer, user, id);
    draft to;

    if ((of->prompt.len > 0) == (of->resource.len > 0) || of->argument.len == 0)
        return FL_E_INVALID;
    begin(&to);
    put_reference(&to, of);
    fl_json_key(&to.writer, "argument");
    fl_json_object(&to.writer);
    put_text(&to, "name", of->argument);
    put_text(&to, "value", of->value);
    fl_json_object_end(&to.writer);
    if (of->context.len > 0 && takes_context(client)) {
        fl_json_key(&to.writer, "context");
        fl_json_object(&to.writer);
        put_object(&to, "arguments", of->context);
        fl_json_object_end(&to.writer);
    }
    return ask_with(client, &to, &wanted);
}

static fl_status wish(fl_client *client, fl_span uri, fl_wanted *wanted)
{
    draft to;

    if (uri.len == 0)
        return FL_E_INVALID;
    begin(&to);
    put_text(&to, "uri", uri);
    return ask_with(client, &to, wanted);
}

fl_status fl_client_subscribe(fl_client *client, fl_span uri,
                              const fl_request_options *options,
                              fl_answer_fn *on_answer, void *user, uint64_t *id)
{
    fl_wanted wanted =
        want("resources/subscribe", options, on_answer, user, id);

    wanted.kind = FL_REQUEST_SUBSCRIBE;
    return wish(client, uri, &wanted);
}

fl_status fl_client_unsubscribe(fl_client *client, fl_span uri,
                                const fl_request_options *options,
                                fl_answer_fn *on_answer, void *user,
                                uint64_t *id)
{
    fl_wanted wanted =
        want("resources/unsubscribe", options, on_answer, user, id);

    wanted.kind = FL_REQUEST_UNSUBSCRIBE;
    return wish(client, uri, &wanted);
}

static const char *find_level(const char *level)
{
    static const char *const levels[] = {"debug",   "info",     "notice",
                                         "warning", "error",    "critical",
                                         "alert",   "emergency"};

    for (size_t i = 0; level != NULL && i < sizeof levels / sizeof *levels; i++)
        if (strcmp(levels[i], level) == 0)
            return levels[i];
    return NULL;
}

/* A modern server hears of it with each request; a legacy one once, and once
 * more after a new initialize. */
static fl_status keep_level(fl_client *client, const char *level)
{
    const char *before = client->log_level;

    client->log_level = level;
    if (!fl_client_is_modern(client))
        return FL_OK;
    fl_status rc = fl_client_write_claim(client, client->revision);
    if (rc != FL_OK)
        client->log_level = before;
    return rc;
}

fl_status fl_client_set_log_level(fl_client *client, const char *level,
                                  const fl_request_options *options,
                                  fl_answer_fn *on_answer, void *user,
                                  uint64_t *id)
{
    fl_wanted wanted = want("logging/setLevel", options, on_answer, user, id);
    const char *found = find_level(level);
    draft to;

    if (found == NULL)
        return FL_E_INVALID;
    if (client->state == FL_CLIENT_READY &&
        !fl_client_server_has(client, "logging"))
        return FL_E_UNSUPPORTED;
    fl_status rc = keep_level(client, found);
    if (rc != FL_OK)
        return rc;
    wanted.kind = FL_REQUEST_LEVEL;
    begin(&to);
    put_text(&to, "level", fl_span_of(found));
    return ask_with(client, &to, &wanted);
}

fl_status fl_client_ping(fl_client *client, const fl_request_options *options,
                         fl_answer_fn *on_answer, void *user, uint64_t *id)
{
    fl_wanted wanted = want("ping", options, on_answer, user, id);

    return fl_client_want(client, &wanted);
}

static fl_status ask_task(fl_client *client, fl_span task, fl_wanted *wanted)
{
    draft to;

    begin(&to);
    put_text(&to, "taskId", task);
    return ask_with(client, &to, wanted);
}

fl_status fl_client_task_get(fl_client *client, fl_span task,
                             const fl_request_options *options,
                             fl_answer_fn *on_answer, void *user, uint64_t *id)
{
    fl_wanted wanted = want("tasks/get", options, on_answer, user, id);

    return ask_task(client, task, &wanted);
}

fl_status fl_client_task_cancel(fl_client *client, fl_span task,
                                const fl_request_options *options,
                                fl_answer_fn *on_answer, void *user,
                                uint64_t *id)
{
    fl_wanted wanted = want("tasks/cancel", options, on_answer, user, id);

    return ask_task(client, task, &wanted);
}

fl_status fl_client_task_list(fl_client *client, fl_span cursor,
                              const fl_request_options *options,
                              fl_answer_fn *on_answer, void *user, uint64_t *id)
{
    fl_wanted wanted = want("tasks/list", options, on_answer, user, id);
    draft to;

    if (cursor.len == 0)
        return fl_client_want(client, &wanted);
    begin(&to);
    put_text(&to, "cursor", cursor);
    return ask_with(client, &to, &wanted);
}

static fl_status follow_text(fl_span task, fl_follow **out)
{
    fl_json_writer writer;
    fl_buf token;

    fl_buf_init(&token, PARAMS_MAX);
    fl_json_writer_init(&writer, &token);
    fl_json_text(&writer, task);
    fl_status rc = fl_json_writer_end(&writer);
    if (rc == FL_OK)
        rc = fl_follow_new(fl_buf_view(&token), out);
    fl_buf_reset(&token);
    return rc;
}

fl_status fl_client_task_await(fl_client *client, fl_span task,
                               const fl_request_options *options,
                               fl_answer_fn *on_answer, void *user,
                               uint64_t *id)
{
    fl_wanted wanted = want("tasks/get", options, on_answer, user, id);
    fl_request_options patient =
        options != NULL ? *options : (fl_request_options){0};

    patient.task = true; /* as it was, so it has all the time it needs */
    wanted.options = &patient;
    fl_status rc = follow_text(task, &wanted.follow);
    return rc == FL_OK ? ask_task(client, task, &wanted) : rc;
}
