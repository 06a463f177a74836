/*
 * method.c - the methods of MCP by number.
 *
 * Names are told apart by their length first, so that of thirty-odd rows one
 * or two are compared. A name with escapes in it is legal and rare: it is
 * compared by what it means, against every row.
 */
#include "rpc/method.h"

#include "base/span.h"
#include "rpc/carry.h"

#define ROW(method, text, traits)                                              \
    [method] = {{text, sizeof(text) - 1}, (traits)}

enum {
    L = FL_METHOD_LEGACY,
    M = FL_METHOD_MODERN,
    C = FL_METHOD_CLIENTS,
    S = FL_METHOD_SERVERS,
    N = FL_METHOD_NOTICE,
    ASK = FL_METHOD_CAN_ASK,
    KEEP = FL_METHOD_CACHEABLE,
    SAFE = FL_METHOD_SAFE,
};

static const struct row {
    fl_span name;
    unsigned traits;
} rows[FL_METHOD_COUNT] = {
    ROW(FL_METHOD_INITIALIZE, "initialize", L | C),
    ROW(FL_METHOD_PING, "ping", L | C | S | SAFE),
    ROW(FL_METHOD_DISCOVER, "server/discover", M | C | KEEP | SAFE),
    ROW(FL_METHOD_TOOLS_LIST, "tools/list", L | M | C | KEEP | SAFE),
    ROW(FL_METHOD_TOOLS_CALL, "tools/call", L | M | C | ASK),
    ROW(FL_METHOD_RESOURCES_LIST, "resources/list", L | M | C | KEEP | SAFE),
    ROW(FL_METHOD_TEMPLATES_LIST, "resources/templates/list",
        L | M | C | KEEP | SAFE),
    ROW(FL_METHOD_RESOURCES_READ, "resources/read",
        L | M | C | ASK | KEEP | SAFE),
    ROW(FL_METHOD_SUBSCRIBE, "resources/subscribe", L | C | SAFE),
    ROW(FL_METHOD_UNSUBSCRIBE, "resources/unsubscribe", L | C | SAFE),
    ROW(FL_METHOD_PROMPTS_LIST, "prompts/list", L | M | C | KEEP | SAFE),
    ROW(FL_METHOD_PROMPTS_GET, "prompts/get", L | M | C | ASK | SAFE),
    ROW(FL_METHOD_COMPLETE, "completion/complete", L | M | C | SAFE),
    ROW(FL_METHOD_SET_LEVEL, "logging/setLevel", L | C | SAFE),
    ROW(FL_METHOD_LISTEN, "subscriptions/listen", M | C),
    ROW(FL_METHOD_TASKS_GET, "tasks/get", L | M | C | SAFE),
    ROW(FL_METHOD_TASKS_CANCEL, "tasks/cancel", L | M | C),
    ROW(FL_METHOD_TASKS_RESULT, "tasks/result", L | C),
    ROW(FL_METHOD_TASKS_LIST, "tasks/list", L | C | SAFE),
    ROW(FL_METHOD_TASKS_UPDATE, "tasks/update", M | C),
    ROW(FL_METHOD_ROOTS_LIST, "roots/list", L | S | SAFE),
    ROW(FL_METHOD_SAMPLE, "sampling/createMessage", L | S),
    ROW(FL_METHOD_ELICIT, "elicitation/create", L | S),
    ROW(FL_METHOD_INITIALIZED, "notifications/initialized", L | C | N),
    ROW(FL_METHOD_CANCELLED, "notifications/cancelled", L | M | C | S | N),
    ROW(FL_METHOD_PROGRESS, "notifications/progress", L | M | C | S | N),
    ROW(FL_METHOD_MESSAGE, "notifications/message", L | M | S | N),
    ROW(FL_METHOD_TOOLS_CHANGED, "notifications/tools/list_changed",
        L | M | S | N),
    ROW(FL_METHOD_PROMPTS_CHANGED, "notifications/prompts/list_changed",
        L | M | S | N),
    ROW(FL_METHOD_RESOURCES_CHANGED, "notifications/resources/list_changed",
        L | M | S | N),
    ROW(FL_METHOD_RESOURCE_UPDATED, "notifications/resources/updated",
        L | M | S | N),
    ROW(FL_METHOD_ROOTS_CHANGED, "notifications/roots/list_changed", L | C | N),
    ROW(FL_METHOD_ELICITED, "notifications/elicitation/complete", L | S | N),
    ROW(FL_METHOD_TASK_STATUS, "notifications/tasks/status", L | S | N),
    ROW(FL_METHOD_TASK_TOLD, "notifications/tasks", M | S | N),
    ROW(FL_METHOD_ACKNOWLEDGED, "notifications/subscriptions/acknowledged",
        M | S | N),
    ROW(FL_METHOD_HANG_UP, FL_CARRY_HANG_UP, L | M | S | N),
};

/* Names of one length seldom end alike. */
static bool is_plainly(fl_span name, fl_span row)
{
    return name.len == row.len &&
           name.ptr[name.len - 1] == row.ptr[row.len - 1] &&
           fl_span_equal(name, row);
}

fl_method fl_method_of(const fl_msg *msg)
{
    bool escaped = fl_span_find(msg->method, '\\') < msg->method.len;

    for (unsigned i = FL_METHOD_OTHER + 1; i < FL_METHOD_COUNT; i++)
        if (escaped ? fl_msg_method_is(msg, rows[i].name)
                    : is_plainly(msg->method, rows[i].name))
            return (fl_method)i;
    return FL_METHOD_OTHER;
}

fl_span fl_method_name(fl_method method)
{
    return method < FL_METHOD_COUNT ? rows[method].name : (fl_span){0};
}

unsigned fl_method_traits(fl_method method)
{
    return method < FL_METHOD_COUNT ? rows[method].traits : 0;
}
