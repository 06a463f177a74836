/*
 * lists.h - requests about resources, prompts and completions, for tests to
 * put together.
 */
#ifndef TESTS_UNIT_LISTS_H
#define TESTS_UNIT_LISTS_H

#include "modern.h"
#include "server_host.h"

#define ASK(id, method, params)                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method                  \
    "\",\"params\":" params "}"
#define RESULT(id, result)                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" result "}"
#define READ(id, uri) ASK(id, "resources/read", "{\"uri\":\"" uri "\"}")
#define MODERN_READ(id, uri)                                                   \
    MODERN(id, "resources/read", ",\"uri\":\"" uri "\"")

/* Says what it was asked for: the URI, and what a template made of it. */
static inline void read_echo(fl_call *call, void *user)
{
    fl_span uri = fl_call_uri(call), all = fl_call_arguments(call);

    (void)user;
    fl_call_replyf(call, "%.*s %.*s", (int)uri.len, uri.ptr, (int)all.len,
                   all.len > 0 ? all.ptr : "");
}

static inline void read_later(fl_call *call, void *user)
{
    tool_wait(call, user);
}

static inline void add_resource(fl_server *server, const char *uri)
{
    const fl_resource resource = {.uri = uri, .name = uri, .read = read_echo};

    assert_int_equal(fl_server_add_resource(server, &resource), FL_OK);
}

static inline void add_template(fl_server *server, const char *uri)
{
    const fl_resource resource = {.uri = uri, .name = uri, .read = read_echo};

    assert_int_equal(fl_server_add_template(server, &resource), FL_OK);
}

static inline void lists_begin(server_host *host, const char *revision)
{
    host_listen(host, NULL);
    if (revision != NULL)
        host_greet(&host->peer, revision);
}

#endif
