/*
 * client_desk.h - who sits on this side of a client under test and writes down
 * what it is told.
 */
#ifndef TESTS_UNIT_CLIENT_DESK_H
#define TESTS_UNIT_CLIENT_DESK_H

#include "base/span.h"
#include "raw_peer.h"

#include <fairlead/fairlead.h>

#include <stdio.h>

typedef struct desk {
    uint64_t now;
    fl_loop *loop;
    fl_client *client;
    bool close_when_ready;
    int ready, notes, closed, answers;
    fl_error why;
    fl_status status; /* of the last answer */
    int code;
    char result[2048], text[256];
    char note[256];
} desk;

static desk at;

static inline void desk_keep(char *to, size_t size, fl_span text)
{
    snprintf(to, size, "%.*s", (int)text.len, text.len > 0 ? text.ptr : "");
}

static inline void desk_on_ready(fl_client *client, void *user)
{
    assert_ptr_equal(user, &at);
    assert_int_equal(at.closed, 0);
    at.ready++;
    if (at.close_when_ready)
        fl_client_close(client);
}

static inline void desk_on_notification(fl_client *client, fl_span method,
                                        fl_span params, void *user)
{
    (void)client, (void)user;
    at.notes++;
    snprintf(at.note, sizeof at.note, "%.*s %.*s", (int)method.len, method.ptr,
             (int)params.len, params.len > 0 ? params.ptr : "");
}

static inline void desk_on_closed(fl_client *client, const fl_error *why,
                                  void *user)
{
    (void)client, (void)user;
    at.closed++;
    at.why = *why;
    at.client = NULL;
}

/* Who does not want to be told of changes, and who does. */
static const fl_client_events desk_events = {
    .on_ready = desk_on_ready,
    .on_closed = desk_on_closed,
};
static const fl_client_events desk_hears_all = {
    .on_ready = desk_on_ready,
    .on_notification = desk_on_notification,
    .on_closed = desk_on_closed,
};

static inline void desk_on_answer(fl_client *client, const fl_answer *answer,
                                  void *user)
{
    (void)client, (void)user;
    at.answers++;
    at.status = answer->status;
    at.code = answer->code;
    desk_keep(at.result, sizeof at.result, answer->result);
    desk_keep(at.text, sizeof at.text, answer->text);
}

static inline fl_status desk_try(const char *method, const char *params)
{
    return fl_client_request(at.client, method, fl_span_of(params), NULL,
                             desk_on_answer, NULL, NULL);
}

static inline void desk_ask(const char *method)
{
    assert_int_equal(desk_try(method, ""), FL_OK);
}

static inline void desk_is(fl_era era, const char *revision)
{
    assert_int_equal(fl_client_era(at.client), era);
    assert_string_equal(fl_client_revision(at.client), revision);
}

/* Time for what was said to arrive where nothing is to be seen of it. */
static inline void desk_digest(void)
{
    for (int i = 0; i < 4; i++)
        io_turn(at.loop);
}

/* Time passes until the client has gone. */
static inline void desk_see_closed(fl_status status, const char *part)
{
    io_until(at.loop, (at.now += 500, at.closed > 0));
    if (at.why.status != status || strstr(at.why.text, part) == NULL)
        fail_msg("%s, not %s '%s'", at.why.text, fl_status_name(status), part);
}

static inline void desk_close(void)
{
    if (at.client != NULL)
        fl_client_close(at.client);
    io_until(at.loop, (at.now += 500, at.closed > 0));
    io_some_turns(at.loop);
    assert_int_equal(at.closed, 1);
    fl_loop_free(at.loop);
}

#define CLAIM                                                                  \
    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","              \
    "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"fairlead\","           \
    "\"version\":\"" FL_VERSION "\"},"                                         \
    "\"io.modelcontextprotocol/clientCapabilities\":{}"

#define DISCOVER(id)                                                           \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"server/discover\",\"params\":{\"_meta\":{" CLAIM "}}}"

#define INITIALIZE(id)                                                         \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"initialize\",\"params\":{\"protocolVersion\":"              \
    "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":"             \
    "\"fairlead\",\"version\":\"" FL_VERSION "\"}}}"

#define INITIALIZED                                                            \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"

#define ANSWER(id, result)                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" result "}"

#define REFUSAL(id, code, data)                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code             \
    ",\"message\":\"no\"" data "}}"

#define SUPPORTED(versions)                                                    \
    ",\"data\":{\"supported\":" versions ",\"requested\":\"2026-07-28\"}"

#define DISCOVERED(versions, capabilities)                                     \
    "{\"resultType\":\"complete\",\"supportedVersions\":" versions             \
    ",\"capabilities\":" capabilities                                          \
    ",\"instructions\":\"be kind\",\"ttlMs\":0,\"cacheScope\":\"private\","    \
    "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"new\","     \
    "\"version\":\"8\"}}}"

#define WELCOME                                                                \
    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"     \
    "\"serverInfo\":{\"name\":\"old\",\"version\":\"7\"}}"

#define TOOLS "{\"tools\":{}}"

/* As each is on the wire, in the two eras. */
#define LEGACY(id, method)                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"}"
#define MODERN(id, method)                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method                  \
    "\",\"params\":{\"_meta\":{" CLAIM "}}}"

#endif
