/*
 * extra.c - what fairlead itself wants to know of a server, under "fairlead".
 *
 * Nobody else writes here, so what is not known is a mistake.
 */
#include "config/extra.h"

#include "base/span.h"
#include "config/pick.h"
#include "config/replicas.h"

enum {
    PREFIX = 32,
    WEIGHT = 1000,
    ATTEMPTS = 100,
    QUEUE = 10000,
    QUEUE_BYTES = 1024 * 1024 * 1024,
    FAILURES = 1000000,
    DAY_MS = 86400000,
};

enum {
    CHILD,
    PREFIX_KEY,
    REPLICAS_KEY,
    WEIGHT_KEY,
    ALLOW,
    DENY,
    CONNECT_ATTEMPTS,
    CONNECT_BACKOFF,
    CONNECT_BACKOFF_MAX,
    QUEUE_MAX,
    QUEUE_BYTES_KEY,
    QUEUE_TIME,
    HEALTH_INTERVAL,
    BREAKER_FAILURES,
    BREAKER_PAUSE,
    HTTP2,
    ALLOW_HTTP,
    KEYS
};

static const char *const names[] = {
    "child",           "prefix",          "replicas",
    "weight",          "allow",           "deny",
    "connectAttempts", "connectBackoff",  "connectBackoffMax",
    "queueMax",        "queueBytes",      "queueTime",
    "healthInterval",  "breakerFailures", "breakerPause",
    "http2",           "allowHttp",       NULL,
};

static void read_child(fl_reader *reader, fl_span value,
                       fl_config_server *server)
{
    static const char *const words[] = {"auto", "shared", "session", "request",
                                        NULL};
    size_t which;

    if (!fl_pick_word(reader, value, words, &which))
        return;
    server->child = (fl_config_child)which;
    if (server->kind != FL_CONFIG_CHILD)
        fl_reader_error(reader, value.ptr, "it is for a server with a command");
}

static bool is_prefix(const char *text)
{
    size_t len = 0;

    for (; text[len] != '\0'; len++) {
        char c = text[len];
        if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') &&
            (c < '0' || c > '9') && c != '_' && c != '-' && c != '.')
            return false;
    }
    return len <= PREFIX;
}

static void read_prefix(fl_reader *reader, fl_span value,
                        fl_config_server *server)
{
    fl_config_text text;

    if (!fl_pick_text(reader, value, &text))
        return;
    server->prefix = text.text;
    if (!is_prefix(text.text))
        fl_reader_error(reader, value.ptr,
                        "it must be up to %d of A-Z a-z 0-9 _ - .", PREFIX);
}

static void read_health(fl_reader *reader, fl_span value,
                        fl_config_outages *outages)
{
    if (fl_pick_number(reader, value, 0, DAY_MS, &outages->health_ms) &&
        outages->health_ms == 0)
        outages->health_ms = UINT32_MAX;
}

static void read_outages(fl_reader *reader, const fl_span *values,
                         fl_config_outages *outages)
{
    const struct {
        int key;
        uint32_t most;
        uint32_t *into;
    } rows[] = {
        {CONNECT_ATTEMPTS, ATTEMPTS, &outages->connect_attempts},
        {CONNECT_BACKOFF, DAY_MS, &outages->connect_backoff_ms},
        {CONNECT_BACKOFF_MAX, DAY_MS, &outages->connect_backoff_max_ms},
        {QUEUE_MAX, QUEUE, &outages->queue_max},
        {QUEUE_BYTES_KEY, QUEUE_BYTES, &outages->queue_bytes},
        {QUEUE_TIME, DAY_MS, &outages->queue_ms},
        {BREAKER_FAILURES, FAILURES, &outages->breaker_failures},
        {BREAKER_PAUSE, DAY_MS, &outages->breaker_pause_ms},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        fl_pick_number(reader, values[rows[i].key], 1, rows[i].most,
                       rows[i].into);
    read_health(reader, values[HEALTH_INTERVAL], outages);
    if (outages->connect_backoff_max_ms > 0 &&
        outages->connect_backoff_ms > outages->connect_backoff_max_ms)
        fl_reader_error(reader, values[CONNECT_BACKOFF].ptr,
                        "it is more than \"connectBackoffMax\"");
}

static void read_http2(fl_reader *reader, fl_span value,
                       fl_config_server *server)
{
    fl_config_kind kind = server->kind;

    if (value.len == 0)
        return;
    fl_pick_bool(reader, value, &server->http2);
    if (kind != FL_CONFIG_AUTO && kind != FL_CONFIG_HTTP &&
        kind != FL_CONFIG_SSE)
        fl_reader_error(reader, value.ptr,
                        "it is for a server at http:// or https://");
}

void fl_extra_read(fl_reader *reader, fl_span value, fl_config_server *server)
{
    fl_span values[KEYS];

    if (value.len == 0 ||
        !fl_pick_find(reader, value, names, values, FL_PICK_REFUSE))
        return;
    read_child(reader, values[CHILD], server);
    read_prefix(reader, values[PREFIX_KEY], server);
    fl_replicas_read(reader, values[REPLICAS_KEY], server);
    fl_pick_number(reader, values[WEIGHT_KEY], 0, WEIGHT, &server->weight);
    read_outages(reader, values, &server->outages);
    fl_pick_texts(reader, values[ALLOW], &server->include);
    fl_pick_texts(reader, values[DENY], &server->exclude);
    read_http2(reader, values[HTTP2], server);
    fl_pick_bool(reader, values[ALLOW_HTTP], &server->allow_http);
}
