/*
 * server_host.h - a server with a tool for every way of answering, on a loop
 * whose clock the test drives, and one raw client of it.
 */
#ifndef TESTS_UNIT_SERVER_HOST_H
#define TESTS_UNIT_SERVER_HOST_H

#include "base/span.h"
#include "raw_peer.h"

#include <fairlead/fairlead.h>

enum { KEPT_MAX = 64 };

typedef struct server_host {
    uint64_t now;
    fl_loop *loop;
    fl_server *server;
    raw_peer peer;
    fl_call *kept[KEPT_MAX]; /* deferred by the tool "wait" */
    int kept_count;
    int cancelled;         /* times "wait" was told that nobody waits */
    bool answer_cancelled; /* whether it then answers at once */
    int closed;
} server_host;

#define TEXT_ANSWER(id, text)                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}}"

#define FAILED_ANSWER(id, text)                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"" text            \
    "\"}],\"isError\":true}}"

#define ERROR_ANSWER(id, code, rest)                                           \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code             \
    ",\"message\":" rest "}}"

#define CALL(id, name, arguments)                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name                  \
    "\",\"arguments\":" arguments "}}"

#define INITIALIZE(id, version)                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"" version    \
    "\",\"capabilities\":{},\"clientInfo\":{\"name\":\"raw\","                 \
    "\"version\":\"0\"}}}"

#define INITIALIZED                                                            \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"

#define CANCELLED(id)                                                          \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{" \
    "\"requestId\":" id "}}"

static inline void tool_echo(fl_call *call, void *user)
{
    (void)user;
    fl_call_reply_text(call, fl_call_text(call, "text"));
}

static inline void tool_types(fl_call *call, void *user)
{
    fl_span text = fl_call_text(call, "t");
    double number = fl_call_number(call, "n");
    int64_t integer = fl_call_integer(call, "i");
    bool flag = fl_call_bool(call, "b");

    (void)user;
    fl_call_replyf(call, "%.*s %g %lld %s", (int)text.len, text.ptr, number,
                   (long long)integer, flag ? "yes" : "no");
}

static inline void tool_json(fl_call *call, void *user)
{
    (void)user;
    fl_call_reply_json(call, fl_call_raw(call, "result"));
}

static inline void tool_fail(fl_call *call, void *user)
{
    (void)user;
    fl_call_fail(call, "it \"broke\": %d", 7);
}

static inline void tool_error(fl_call *call, void *user)
{
    (void)user;
    fl_call_error(call, -32050, "not %s", "today");
}

static inline void tool_silent(fl_call *call, void *user)
{
    (void)call;
    (void)user;
}

static inline void on_wait_cancelled(fl_call *call, void *user)
{
    server_host *host = user;

    assert_true(fl_call_cancelled(call));
    host->cancelled++;
    if (!host->answer_cancelled)
        return;
    for (int i = 0; i < host->kept_count; i++)
        if (host->kept[i] == call)
            host->kept[i] = NULL;
    fl_call_reply_text(call, FL_SPAN("too late"));
}

static inline void tool_wait(fl_call *call, void *user)
{
    server_host *host = user;
    fl_call *kept = fl_call_defer(call);

    if (kept == NULL)
        return;
    assert_true(host->kept_count < KEPT_MAX);
    fl_call_on_cancel(kept, on_wait_cancelled, host);
    host->kept[host->kept_count++] = kept;
}

static inline fl_status host_add_tools(server_host *host)
{
    const fl_tool tools[] = {
        {.name = "echo",
         .title = "Echo",
         .description = "Says it \"again\"",
         .input_schema = "{\"type\":\"object\",\"required\":[\"text\"]}",
         .output_schema = "{\"type\":\"object\"}",
         .annotations = "{\"readOnlyHint\":true}",
         .call = tool_echo},
        {.name = "types", .call = tool_types},
        {.name = "json", .call = tool_json},
        {.name = "fail", .call = tool_fail},
        {.name = "error", .call = tool_error},
        {.name = "silent", .call = tool_silent},
        {.name = "wait", .call = tool_wait, .user = host},
        {.name = "say \"hi\"\\\xC3\xA9", .call = tool_echo},
    };
    fl_status rc = FL_OK;

    for (size_t i = 0; i < sizeof tools / sizeof *tools && rc == FL_OK; i++)
        rc = fl_server_add_tool(host->server, &tools[i]);
    return rc;
}

/* Another client of the same server. */
static inline void host_dial(server_host *host, raw_peer *peer)
{
    raw_take(peer, host->loop, raw_dial(fl_server_port(host->server)));
}

static inline void host_listen(server_host *host, const fl_options *options)
{
    fl_error error;

    assert_int_equal(fl_server_listen(host->server, host->loop,
                                      "tcp://127.0.0.1:0", options, &error),
                     FL_OK);
    host_dial(host, &host->peer);
}

static inline void host_begin_bare(server_host *host)
{
    static const struct server_host none;

    memcpy(host, &none, offsetof(server_host, peer));
    memset((char *)host + offsetof(server_host, kept), 0,
           sizeof *host - offsetof(server_host, kept));
    host->now = 1000;
    host->loop = io_driven_loop(&host->now);
    host->server = fl_server_new("host", "1.2");
    assert_non_null(host->server);
}

static inline void host_begin_with(server_host *host, const fl_options *options)
{
    host_begin_bare(host);
    assert_int_equal(host_add_tools(host), FL_OK);
    host_listen(host, options);
}

/* The client says hello, in the revision given, unless that is NULL. */
static inline void host_greet(raw_peer *peer, const char *revision)
{
    char line[512];

    snprintf(line, sizeof line, INITIALIZE("0", "%s"), revision);
    raw_say(peer, line);
    snprintf(line, sizeof line, "\"protocolVersion\":\"%s\"", revision);
    raw_hears_part(peer, line);
    raw_say(peer, INITIALIZED);
    raw_asks(peer, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}",
             "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}");
}

static inline void host_begin(server_host *host, const char *revision)
{
    host_begin_with(host, NULL);
    host_greet(&host->peer, revision);
}

static inline void host_closed(void *user)
{
    ((server_host *)user)->closed++;
}

static inline void host_kept(server_host *host, int count)
{
    io_until(host->loop, host->kept_count >= count);
    assert_int_equal(host->kept_count, count);
}

static inline void host_answer(server_host *host, int index, const char *text)
{
    fl_call *call = host->kept[index];

    host->kept[index] = NULL;
    fl_call_reply_text(call, fl_span_of(text));
}

/* Answers what is left, closes, and frees everything. */
static inline void host_end(server_host *host)
{
    for (int i = 0; i < host->kept_count; i++)
        if (host->kept[i] != NULL)
            host_answer(host, i, "at last");
    if (host->closed == 0)
        fl_server_close(host->server, 0, host_closed, host);
    /* a link whose client said something unread lingers for a while */
    io_until(host->loop, (host->now += 1000, host->closed > 0));
    assert_int_equal(host->closed, 1);
    assert_int_equal(fl_server_links(host->server), 0);
    fl_server_free(host->server);
    fl_loop_free(host->loop);
    if (host->peer.fd >= 0)
        close(host->peer.fd);
}

#endif
