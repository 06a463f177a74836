/*
 * demo_tools.c - the tools of the demo: one of each kind a client must handle.
 *
 * One that gives back what it got, one that computes, one that takes its time
 * (demo_slow.c), one that fails, one whose answer is large, one without
 * arguments, one that changes the list of tools, and some that ask back
 * (demo_inputs.c).
 */
#include "cmd/demo.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/span.h"
#include "base/status.h"
#include "json/nav.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A message may have 16 MiB by default; leave room for its envelope. */
enum { LARGE_MAX = 15 * 1024 * 1024 };

/* Text with escapes goes back as it came, undone by nobody: a lone \ud800 is
 * JSON but no text, and would come back as something else. */
static void echo_raw(fl_call *call, fl_span raw)
{
    fl_span parts[] = {FL_SPAN("{\"content\":[{\"type\":\"text\",\"text\":"),
                       raw, FL_SPAN("}]}")};
    fl_buf result;

    fl_buf_init(&result, fl_span_total(parts, 3));
    fl_status rc = fl_buf_append_all(&result, parts, 3);
    if (rc == FL_OK)
        fl_call_reply_json(call, fl_buf_view(&result));
    else
        fl_call_fail(call, "%s", fl_status_text(rc));
    fl_buf_reset(&result);
}

static void echo(fl_call *call, void *user)
{
    fl_span raw = fl_call_raw(call, "text");

    (void)user;
    if (fl_json_type_of(raw) != FL_JSON_STRING)
        fl_call_reply_text(call, fl_call_text(call, "text")); /* its fault */
    else if (fl_span_find(raw, '\\') < raw.len)
        echo_raw(call, raw);
    else
        fl_call_reply_text(call, (fl_span){raw.ptr + 1, raw.len - 2});
}

/* The fewest digits that read back as the same number. */
static void format_number(double number, char *text, size_t size)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
}

static void add(fl_call *call, void *user)
{
    double sum = fl_call_number(call, "a") + fl_call_number(call, "b");
    char text[32];

    (void)user;
    if (!isfinite(sum)) {
        fl_call_fail(call, "the sum is too large for a number");
        return;
    }
    format_number(sum, text, sizeof text);
    fl_call_replyf(call, "%s", text);
}

static void fail(fl_call *call, void *user)
{
    fl_span message = fl_call_text(call, "message");

    (void)user;
    fl_call_fail(call, "%.*s", (int)message.len, message.ptr);
}

/* Lines of 64 bytes, so that people who look at it see something. */
static void fill(char *text, size_t size)
{
    static const char line[] = "0123456789abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ.\n";

    static_assert(sizeof line - 1 == 64, "a line is 64 bytes");
    for (size_t at = 0; at < size; at += sizeof line - 1)
        memcpy(text + at, line,
               size - at < sizeof line - 1 ? size - at : sizeof line - 1);
}

static void large(fl_call *call, void *user)
{
    int64_t bytes = fl_call_integer(call, "bytes");
    fl_buf text;

    (void)user;
    if (bytes < 0 || bytes > LARGE_MAX) {
        fl_call_fail(call, "bytes: %" PRId64 " is out of range, want 0 to %d",
                     bytes, LARGE_MAX);
        return;
    }
    fl_buf_init(&text, LARGE_MAX);
    char *room = bytes > 0 ? fl_buf_reserve(&text, (size_t)bytes) : NULL;
    if (room != NULL) {
        fill(room, (size_t)bytes);
        fl_buf_commit(&text, (size_t)bytes);
    }
    if (room != NULL || bytes == 0)
        fl_call_reply_text(call, fl_buf_view(&text));
    else
        fl_call_fail(call, "out of memory");
    fl_buf_reset(&text);
}

static void tell_time(fl_call *call, void *user)
{
    char stamp[FL_CLOCK_STAMP];

    (void)user;
    fl_clock_stamp(stamp);
    fl_call_replyf(call, "%s", stamp);
}

static void open_vault(fl_call *call, void *user)
{
    (void)user;
    fl_call_reply_text(call, FL_SPAN("a small brass key, and dust"));
}

#define SEALED "{\"type\":\"object\",\"additionalProperties\":false}"

/* For all clients: what is listed must not depend on the connection (MCP
 * 2026-07-28, "Tools, Capabilities"). */
static void unlock(fl_call *call, void *user)
{
    const fl_tool vault = {
        .name = "vault",
        .title = "Vault",
        .description = "Tells what was locked away",
        .input_schema = SEALED,
        .call = open_vault,
    };
    fl_status rc = fl_server_add_tool(user, &vault);

    if (rc == FL_OK)
        fl_call_replyf(call, "there is a new tool: %s", vault.name);
    else if (rc == FL_E_IN_USE)
        fl_call_replyf(call, "%s is unlocked already", vault.name);
    else
        fl_call_fail(call, "%s", fl_status_text(rc));
}

#define READ_ONLY "{\"readOnlyHint\":true,\"openWorldHint\":false}"
#define OBJECT(properties, required)                                           \
    "{\"type\":\"object\",\"properties\":{" properties                         \
    "},\"required\":[" required "],\"additionalProperties\":false}"
#define PROPERTY(name, type, text)                                             \
    "\"" name "\":{\"type\":\"" type "\",\"description\":\"" text "\"}"
#define RANGED(name, least, most, normal, text)                                \
    "\"" name "\":{\"type\":\"integer\",\"minimum\":" #least                   \
    ",\"maximum\":" #most ",\"default\":" #normal ",\"description\":\"" text   \
    "\"}"

static const fl_tool tools[] = {
    {
        .name = "echo",
        .title = "Echo",
        .description = "Returns the text it was given",
        .input_schema =
            OBJECT(PROPERTY("text", "string", "What to return"), "\"text\""),
        .call = echo,
    },
    {
        .name = "add",
        .title = "Add",
        .description = "Adds two numbers",
        .input_schema = OBJECT(PROPERTY("a", "number", "One number") "," //
                               PROPERTY("b", "number", "The other"),
                               "\"a\",\"b\""),
        .call = add,
    },
    {
        .name = "slow",
        .title = "Slow",
        .description = "Takes its time, tells how far it is, can be cancelled",
        .input_schema =
            OBJECT(RANGED("steps", 0, 10000, 5, "How many steps") "," RANGED(
                       "delay_ms", 0, 60000, 200, "How long one takes"),
                   ""),
        .task = FL_TASK_MAY,
        .call = fl_demo_slow,
    },
    {
        .name = "fail",
        .title = "Fail",
        .description = "Fails with the message it was given",
        .input_schema = OBJECT(PROPERTY("message", "string", "Why it fails"),
                               "\"message\""),
        .call = fail,
    },
    {
        .name = "large",
        .title = "Large",
        .description = "Returns a text of so many bytes",
        .input_schema = OBJECT(
            "\"bytes\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":15728640"
            ",\"description\":\"How many\"}",
            "\"bytes\""),
        .call = large,
    },
    {
        .name = "time",
        .title = "Time",
        .description = "Tells the time, in UTC",
        .input_schema = OBJECT("", ""),
        .call = tell_time,
    },
    {
        .name = "unlock",
        .title = "Unlock",
        .description = "Adds a tool to the list, when it is first called",
        .input_schema = SEALED,
        .annotations = "{\"readOnlyHint\":false,\"destructiveHint\":false,"
                       "\"idempotentHint\":true,"
                       "\"openWorldHint\":false}",
        .call = unlock,
    },
    {
        .name = "ask",
        .title = "Ask",
        .description = "Asks the user for a name, and greets",
        .input_schema = SEALED,
        .call = fl_demo_ask,
    },
    {
        .name = "consult",
        .title = "Consult",
        .description = "Has the client's model answer a question",
        .input_schema = OBJECT(PROPERTY("question", "string", "What to ask it"),
                               "\"question\""),
        .call = fl_demo_consult,
    },
    {
        .name = "roots",
        .title = "Roots",
        .description = "Asks the client for its roots",
        .input_schema = SEALED,
        .output_schema = "{\"type\":\"object\",\"properties\":{\"roots\":{"
                         "\"type\":\"array\"}},\"required\":[\"roots\"]}",
        .call = fl_demo_roots,
    },
    {
        .name = "note",
        .title = "Note",
        .description = "Writes a line to the client's log",
        .input_schema =
            OBJECT(PROPERTY("text", "string", "What to write"), "\"text\""),
        .call = fl_demo_note,
    },
    {
        .name = "tick",
        .title = "Tick",
        .description = "Tells those who subscribed to demo://time of a change",
        .input_schema = SEALED,
        .call = fl_demo_tick,
    },
};

fl_status fl_demo_add_tools(fl_server *server)
{
    fl_status rc = FL_OK;

    static_assert(LARGE_MAX == 15728640, "the schema of large says so too");
    for (size_t i = 0; i < sizeof tools / sizeof *tools && rc == FL_OK; i++) {
        fl_tool tool = tools[i];
        tool.user = server;
        if (tool.annotations == NULL)
            tool.annotations = READ_ONLY;
        rc = fl_server_add_tool(server, &tool);
    }
    return rc;
}
