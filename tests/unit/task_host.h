/*
 * task_host.h - tools that become tasks in every way there is, and the words
 * to ask about them.
 */
#ifndef TESTS_UNIT_TASK_HOST_H
#define TESTS_UNIT_TASK_HOST_H

#include "modern.h"
#include "server_host.h"

#include "server/server.h"
#include "server/session.h"
#include "server/tasks.h"

#define EXTENSION "\"extensions\":{\"" IOMCP "tasks\":{}}"
#define TASK_CLAIM                                                             \
    VERSION_IS("\"2026-07-28\"")                                               \
    "," CAPABILITIES_ARE("{" EXTENSION ",\"elicitation\":{}}")
#define TASK_CALL(id, name)                                                    \
    MODERN_META(id, "tools/call", TASK_CLAIM,                                  \
                ",\"name\":\"" name "\",\"arguments\":{}")
/* `method` is get, cancel or update; `rest` begins with a comma. */
#define TASK_ASK(id, method, rest)                                             \
    MODERN_META(id, "tasks/" method, TASK_CLAIM, ",\"taskId\":\"%s\"" rest)

#define LEGACY_CALL(id, name, task)                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name                  \
    "\",\"arguments\":{},\"_meta\":{\"progressToken\":7}" task "}}"
#define LEGACY_ASK(id, method)                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tasks/" method            \
    "\",\"params\":{\"taskId\":\"%s\"}}"

#define NAME_SCHEMA                                                            \
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},"    \
    "\"required\":[\"name\"]}"

static inline void keep_call(server_host *host, fl_call *kept)
{
    if (kept == NULL)
        return;
    assert_true(host->kept_count < KEPT_MAX);
    fl_call_on_cancel(kept, on_wait_cancelled, host);
    host->kept[host->kept_count++] = kept;
}

static inline void tool_job(fl_call *call, void *user)
{
    uint64_t ttl = 0;

    if (fl_call_has(call, "ttl"))
        ttl = (uint64_t)fl_call_integer(call, "ttl");
    keep_call(user, fl_call_as_task(call, ttl));
}

/* Defers first, and thinks better of it. */
static inline void tool_later(fl_call *call, void *user)
{
    fl_call *kept = fl_call_defer(call);

    if (kept != NULL)
        keep_call(user, fl_call_as_task(kept, 0));
}

static inline void tool_broken(fl_call *call, void *user)
{
    fl_call *kept = fl_call_as_task(call, 0);

    (void)user;
    if (kept != NULL)
        fl_call_fail(kept, "it \"broke\"");
}

static inline void tool_wrong(fl_call *call, void *user)
{
    fl_call *kept = fl_call_as_task(call, 0);

    (void)user;
    if (kept != NULL)
        fl_call_error(kept, -32050, "not today");
}

static inline void greet(fl_call *call, fl_span form)
{
    fl_call_replyf(call, "Hello, %.*s", (int)form.len, form.ptr);
}

/* Asks as a task. */
static inline void tool_asker(fl_call *call, void *user)
{
    fl_call *kept = fl_call_as_task(call, 0);
    fl_span form;

    (void)user;
    if (kept == NULL)
        return;
    if (fl_call_input(kept, "name", &form) == FL_INPUT_ACCEPTED) {
        greet(kept, form);
        return;
    }
    fl_call_want_form(kept, "name", "Who?", NAME_SCHEMA);
    fl_call_ask(kept);
}

/* Asks for two things, of a call it never defers itself. */
static inline void tool_two(fl_call *call, void *user)
{
    fl_span one, two;

    (void)user;
    if (!fl_call_client_can(call, FL_CAN_HOLD_TASKS)) {
        fl_call_fail(call, "no task");
        return;
    }
    call = fl_call_as_task(call, 0);
    if (call == NULL)
        return;
    if (fl_call_input(call, "one", &one) == FL_INPUT_ACCEPTED &&
        fl_call_input(call, "two", &two) == FL_INPUT_ACCEPTED) {
        fl_call_replyf(call, "%.*s %.*s", (int)one.len, one.ptr, (int)two.len,
                       two.ptr);
        return;
    }
    fl_call_want_form(call, "one", "First?", NAME_SCHEMA);
    fl_call_want_form(call, "two", "Second?", NAME_SCHEMA);
    fl_call_ask(call);
}

/* Asks before it is a task, and is one then. */
static inline void tool_composed(fl_call *call, void *user)
{
    fl_span form;

    (void)user;
    if (fl_call_input(call, "user_name", &form) != FL_INPUT_ACCEPTED) {
        fl_call_want_form(call, "user_name", "Who?", NAME_SCHEMA);
        fl_call_ask(call);
        return;
    }
    fl_call *kept = fl_call_as_task(call, 0);
    if (kept == NULL)
        return;
    if (fl_call_input(kept, "user_name", &form) == FL_INPUT_ACCEPTED)
        greet(kept, form);
}

static inline void tool_tagged(fl_call *call, void *user)
{
    (void)user;
    fl_call_reply_json(
        call, FL_SPAN("{\"content\":[],\"_meta\":{\"a\":1,\"io.modelcontext"
                      "protocol/related-task\":{\"taskId\":\"x\"}}}"));
}

static inline fl_status task_add_tools(server_host *host)
{
    const fl_tool tools[] = {
        {.name = "job", .task = FL_TASK_MAY, .call = tool_job, .user = host},
        {.name = "later",
         .task = FL_TASK_MAY,
         .call = tool_later,
         .user = host},
        {.name = "must", .task = FL_TASK_MUST, .call = tool_job, .user = host},
        {.name = "never", .call = tool_job, .user = host},
        {.name = "quick", .task = FL_TASK_MAY, .call = tool_silent},
        {.name = "fail", .task = FL_TASK_MAY, .call = tool_fail},
        {.name = "tagged", .task = FL_TASK_MAY, .call = tool_tagged},
        {.name = "broken", .task = FL_TASK_MAY, .call = tool_broken},
        {.name = "wrong", .task = FL_TASK_MAY, .call = tool_wrong},
        {.name = "asker", .task = FL_TASK_MAY, .call = tool_asker},
        {.name = "two", .task = FL_TASK_MAY, .call = tool_two},
        {.name = "composed", .task = FL_TASK_MUST, .call = tool_composed},
        {.name = "wait", .call = tool_wait, .user = host},
        {.name = "echo", .call = tool_echo},
    };
    fl_status rc = FL_OK;

    for (size_t i = 0; i < sizeof tools / sizeof *tools && rc == FL_OK; i++)
        rc = fl_server_add_tool(host->server, &tools[i]);
    return rc;
}

static inline void task_begin(server_host *host)
{
    host_begin_bare(host);
    assert_int_equal(task_add_tools(host), FL_OK);
    host_listen(host, NULL);
}

/* What is said of a task in `line` between `before` and the next quote. */
static inline void task_copy_id(const char *line, char id[FL_JOB_ID + 1])
{
    const char *at = strstr(line, "\"taskId\":\"");

    if (at == NULL)
        fail_msg("no task in '%s'", line);
    snprintf(id, FL_JOB_ID + 1, "%s", at + 10);
    assert_int_equal(strspn(id, "0123456789abcdef"), FL_JOB_ID);
}

static inline void task_say(raw_peer *peer, const char *format, const char *id)
{
    char line[1024];

    /* the formats are this file's */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(line, sizeof line, format, id);
#pragma GCC diagnostic pop
    raw_say(peer, line);
}

/* Every one of these, each before a NULL, is in what is heard next. */
static inline const char *task_hears(raw_peer *peer, const char *const *parts)
{
    const char *line = raw_hear(peer);

    for (; *parts != NULL; parts++)
        if (strstr(line, *parts) == NULL)
            fail_msg("no '%s' in '%s'", *parts, line);
    return line;
}

/* One client's visit, with memory that may run out somewhere in it: whatever
 * is refused, nothing may stay behind. Each task that is begun is asked for,
 * by ids that are read from the server. */
static inline void task_ask_for_all(server_host *host, int fd)
{
    char line[1024];

    for (fl_list *node = host->server->jobs.all.next;
         node != &host->server->jobs.all; node = node->next) {
        const fl_job *job = FL_LIST_ENTRY(node, fl_job, node);
        bool modern = job->session == NULL;
        int n = modern ? snprintf(line, sizeof line,
                                  TASK_ASK("5", "get", "") "\n", job->id)
                       : snprintf(line, sizeof line,
                                  LEGACY_ASK("5", "get") "\n" LEGACY_ASK(
                                      "6", "result") "\n",
                                  job->id, job->id);
        send(fd, line, (size_t)n, MSG_NOSIGNAL);
    }
}

static inline void task_visit(server_host *host, const char *lines)
{
    fl_clock clock = {io_read_clock, &host->now};
    fl_error error;

    host->now = 1000;
    host->loop = fl_loop_new_with(&(fl_loop_options){.clock = &clock});
    if (host->loop == NULL)
        return;
    host->kept_count = host->cancelled = host->closed = 0;
    host->answer_cancelled = false;
    host->server = fl_server_new("host", "1");
    if (host->server != NULL && task_add_tools(host) == FL_OK &&
        fl_server_listen(host->server, host->loop, "tcp://127.0.0.1:0", NULL,
                         &error) == FL_OK) {
        int fd = raw_dial(fl_server_port(host->server));
        send(fd, lines, strlen(lines), MSG_NOSIGNAL);
        for (int i = 0; i < 20; i++)
            fl_loop_step(host->loop);
        task_ask_for_all(host, fd);
        for (int i = 0; i < 10; i++)
            fl_loop_step(host->loop);
        if (host->kept_count > 0)
            host_answer(host, 0, "done");
        task_ask_for_all(host, fd);
        for (int i = 0; i < 10; i++)
            fl_loop_step(host->loop);
        close(fd);
    }
    if (host->server != NULL) {
        host->answer_cancelled = true;
        fl_server_close(host->server, 0, host_closed, host);
        for (int i = 0; i < 1000 && host->closed == 0; i++, host->now += 1000)
            io_turn(host->loop);
        assert_int_equal(host->closed, 1);
    }
    fl_server_free(host->server);
    fl_loop_free(host->loop);
}

#define HEARS(peer, ...)                                                       \
    task_hears(peer, (const char *const[]){__VA_ARGS__, NULL})

/* Begins a task, in the modern era. */
#define TASK_START(peer, id, name)                                             \
    do {                                                                       \
        raw_say(peer, TASK_CALL("1", name));                                   \
        task_copy_id(HEARS(peer, "\"id\":1,", "\"resultType\":\"task\""), id); \
    } while (0)

#endif
