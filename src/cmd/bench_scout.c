/*
 * bench_scout.c - a look at the server, before it is put under load.
 *
 *   open -> ready -> (list the tools) -> ask once -> close
 *
 * With nothing said about what to ask, a tool named echo is called if there is
 * one with a text to fill in, or else the tools are listed: both change
 * nothing, and most servers have one of them.
 */
#include "cmd/bench_scout.h"

#include "base/span.h"
#include "base/status.h"
#include "cmd/guess.h"
#include "json/nav.h"
#include "json/write.h"

enum {
    NAME_MAX_BYTES = 1024,
    PARAMS_MAX = 48 * 1024 * 1024,
    GUESS_MAX = 200, /* of what fits into an error's text */
};

typedef struct look {
    fl_bench_scout *found;
    const fl_bench_line *line;
    fl_client *client; /* NULL once it has gone */
    fl_error *error;
    bool done;
} look;

static void fail(look *l, fl_status status, const char *what, fl_span text)
{
    if (l->error->status == FL_OK && !l->done)
        fl_error_set(l->error, status, "%s%.*s", what,
                     (int)(text.len < 300 ? text.len : 300),
                     text.len > 0 ? text.ptr : "");
    l->done = true;
    if (l->client != NULL)
        fl_client_close(l->client);
}

/* What a tool that failed says, in its first words. */
static void tell_failure(look *l, fl_span result)
{
    fl_json_walk walk;
    fl_json_member first = {0};
    fl_buf text;

    fl_buf_init(&text, NAME_MAX_BYTES);
    fl_json_walk_init(&walk, fl_json_get(result, FL_SPAN("content")));
    if (!fl_json_walk_next(&walk, &first) ||
        fl_json_string_copy(fl_json_get(first.value, FL_SPAN("text")), &text) !=
            FL_OK)
        fl_buf_clear(&text);
    fail(l, FL_E_REMOTE, "the tool says that it failed: ", fl_buf_view(&text));
    fl_buf_reset(&text);
}

static void on_first(fl_client *client, const fl_answer *answer, void *user)
{
    look *l = user;

    (void)client;
    if (answer->status == FL_E_CLOSED)
        return;
    if (answer->status != FL_OK) {
        fail(l, answer->status, "the first request failed: ", answer->text);
        return;
    }
    if (fl_json_type_of(fl_json_get(answer->result, FL_SPAN("isError"))) ==
        FL_JSON_TRUE) {
        tell_failure(l, answer->result);
        return;
    }
    l->done = true;
    fl_client_close(l->client);
}

static void ask_once(look *l)
{
    fl_bench_scout *found = l->found;
    fl_request_options options = {.timeout_ms = l->line->plan.timeout_ms};
    fl_status rc =
        fl_client_request(l->client, found->method, fl_buf_view(&found->params),
                          &options, on_first, l, NULL);

    if (rc != FL_OK)
        fail(l, rc, "cannot ask: ", fl_span_of(fl_status_text(rc)));
}

static fl_span find_tool(fl_span tools, const char *name)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, tools);
    while (fl_json_walk_next(&walk, &member))
        if (fl_json_string_is(fl_json_get(member.value, FL_SPAN("name")),
                              fl_span_of(name)))
            return member.value;
    return (fl_span){0};
}

static bool is_text(fl_span property)
{
    return fl_json_string_is(fl_json_get(property, FL_SPAN("type")),
                             FL_SPAN("string")) &&
           fl_json_get(property, FL_SPAN("enum")).len == 0;
}

/* The key of an argument that any text will do for: one that is required, if
 * there is one. Without quotes; empty: none. */
static fl_span find_text(fl_span tool, fl_span given)
{
    fl_span schema = fl_json_get(tool, FL_SPAN("inputSchema"));
    fl_span properties = fl_json_get(schema, FL_SPAN("properties"));
    fl_span required = fl_json_get(schema, FL_SPAN("required"));
    fl_span any = {0};
    fl_json_walk walk, inner;
    fl_json_member member, name;

    fl_json_walk_init(&walk, properties);
    while (fl_json_walk_next(&walk, &member)) {
        if (!is_text(member.value) || fl_json_get(given, member.key).len > 0)
            continue;
        any = any.len > 0 ? any : member.key;
        fl_json_walk_init(&inner, required);
        while (fl_json_walk_next(&inner, &name))
            if (fl_json_string_is(name.value, member.key))
                return member.key;
    }
    return any;
}

static void put_given(fl_json_writer *writer, fl_span given)
{
    fl_json_walk walk;
    fl_json_member member;

    fl_json_walk_init(&walk, given);
    while (fl_json_walk_next(&walk, &member)) {
        fl_json_raw_key(writer, member.key);
        fl_json_raw(writer, member.value);
    }
}

static fl_status put_text(fl_json_writer *writer, size_t size)
{
    fl_buf text;

    fl_buf_init(&text, PARAMS_MAX);
    char *room = fl_buf_reserve(&text, size);
    if (room == NULL)
        return FL_E_TOO_BIG;
    for (size_t i = 0; i < size; i++)
        room[i] = (char)('a' + i % 26);
    fl_buf_commit(&text, size);
    fl_json_text(writer, fl_buf_view(&text));
    fl_buf_reset(&text);
    return FL_OK;
}

/* {"name":...,"arguments":{...}}; `key` is that of the text, or empty. */
static fl_status write_call(look *l, const char *tool, fl_span key, size_t size)
{
    fl_json_writer writer;
    fl_status rc = FL_OK;

    fl_json_writer_init(&writer, &l->found->params);
    fl_json_object(&writer);
    fl_json_key(&writer, "name");
    fl_json_string(&writer, tool);
    fl_json_key(&writer, "arguments");
    fl_json_object(&writer);
    put_given(&writer, fl_buf_view(&l->line->arguments));
    if (key.len > 0) {
        fl_json_raw_key(&writer, key);
        rc = put_text(&writer, size);
    }
    fl_json_object_end(&writer);
    fl_json_object_end(&writer);
    fl_status written = fl_json_writer_end(&writer);
    l->found->method = "tools/call";
    if (rc == FL_OK)
        rc = fl_buf_printf(&l->found->what, "tools/call %s", tool);
    return rc == FL_OK ? written : rc;
}

static void ask_for(look *l, const char *method, const char *what)
{
    l->found->method = method;
    if (fl_buf_append(&l->found->what, fl_span_of(what)) == FL_OK)
        ask_once(l);
    else
        fail(l, FL_E_NOMEM, "out of memory", (fl_span){0});
}

static void refuse_tool(look *l, fl_span tools)
{
    fl_buf guess;

    fl_buf_init(&guess, GUESS_MAX);
    if (fl_guess_name(tools, "tool", l->line->tool, &guess) != FL_OK)
        fl_buf_clear(&guess);
    fail(l, FL_E_REMOTE, "", fl_buf_view(&guess)); /* the server is there */
    fl_buf_reset(&guess);
}

static void choose(look *l, fl_span tools)
{
    const fl_bench_line *line = l->line;
    const char *name = line->tool != NULL ? line->tool : "echo";
    fl_span tool = find_tool(tools, name);
    fl_span key = find_text(tool, fl_buf_view(&line->arguments));
    bool any = line->action == FL_BENCH_ANY;

    if (any && key.len == 0 && line->size == 0) {
        ask_for(l, "tools/list", "tools/list");
        return;
    }
    if (tool.len == 0) {
        refuse_tool(l, tools);
        return;
    }
    if (line->size > 0 && key.len == 0) {
        fail(l, FL_E_INVALID,
             "--size: the tool has no text argument left to fill: ",
             fl_span_of(name));
        return;
    }
    if (line->size == 0 && !any)
        key = (fl_span){0};
    fl_status rc = write_call(l, name, key, line->size > 0 ? line->size : 16);
    if (rc == FL_OK)
        ask_once(l);
    else
        fail(l, rc,
             "the request cannot be made: ", fl_span_of(fl_status_text(rc)));
}

static void on_tools(fl_client *client, const fl_answer *answer, void *user)
{
    look *l = user;

    (void)client;
    if (answer->status == FL_E_CLOSED)
        return;
    if (answer->status != FL_OK) {
        fail(l, answer->status, "cannot list the tools: ", answer->text);
        return;
    }
    choose(l, fl_json_get(answer->result, FL_SPAN("tools")));
}

static void list_tools(look *l)
{
    fl_status rc =
        fl_client_list(l->client, FL_LIST_TOOLS, NULL, on_tools, l, NULL);

    if (rc != FL_OK)
        fail(l, rc, "cannot list the tools: ", fl_span_of(fl_status_text(rc)));
}

static void note_server(look *l)
{
    fl_span info = fl_client_server_info(l->client);
    fl_buf *to = &l->found->server;
    fl_span version = fl_json_get(info, FL_SPAN("version"));

    if (fl_json_string_copy(fl_json_get(info, FL_SPAN("name")), to) != FL_OK)
        fl_buf_clear(to); /* it need not say */
    if (fl_buf_len(to) > 0 && version.len > 0 &&
        fl_buf_append(to, FL_SPAN(" ")) == FL_OK &&
        fl_json_string_copy(version, to) != FL_OK)
        fl_buf_clear(to);
    l->found->verdict = fl_client_verdict(l->client);
}

static void on_ready(fl_client *client, void *user)
{
    look *l = user;

    if (l->found->method != NULL || l->done)
        return;
    note_server(l);
    if (l->line->action == FL_BENCH_TOOLS)
        ask_for(l, "tools/list", "tools/list");
    else if (l->line->action != FL_BENCH_PING)
        list_tools(l);
    else if (fl_client_era(client) == FL_ERA_MODERN) /* which has no ping */
        ask_for(l, "server/discover", "server/discover");
    else
        ask_for(l, "ping", "ping");
}

static void on_closed(fl_client *client, const fl_error *why, void *user)
{
    look *l = user;

    (void)client;
    l->client = NULL;
    if (!l->done)
        *l->error = *why;
    l->done = true;
}

static const fl_client_events events = {
    .on_ready = on_ready,
    .on_closed = on_closed,
};

fl_status fl_bench_scout_run(fl_bench_scout *scout, fl_loop *loop,
                             const fl_bench_line *line, fl_error *error)
{
    look l = {.found = scout, .line = line, .error = error};
    fl_client_options options = line->plan.client;

    *scout = (fl_bench_scout){0};
    *error = (fl_error){0};
    fl_buf_init(&scout->server, NAME_MAX_BYTES);
    fl_buf_init(&scout->what, NAME_MAX_BYTES);
    fl_buf_init(&scout->params, PARAMS_MAX);
    options.connection.no_reconnect = true;
    fl_status rc = fl_client_open(loop, line->plan.url, &options, &events, &l,
                                  &l.client, error);
    if (rc != FL_OK)
        return rc;
    fl_loop_run(loop);
    return error->status;
}

void fl_bench_scout_deinit(fl_bench_scout *scout)
{
    fl_buf_reset(&scout->server);
    fl_buf_reset(&scout->what);
    fl_buf_reset(&scout->params);
}
