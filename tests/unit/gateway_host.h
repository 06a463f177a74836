/*
 * gateway_host.h - a gateway under test, between a raw client and a raw server
 * that the test speaks for, in a time that the test drives.
 */
#ifndef TESTS_UNIT_GATEWAY_HOST_H
#define TESTS_UNIT_GATEWAY_HOST_H

#include "base/span.h"
#include "raw_peer.h"

#include <fairlead/fairlead.h>
#include <fairlead/gateway.h>

#include <stdio.h>

/* What a modern client says of itself; MORE goes into its _meta. */
#define CLAIM_WITH(more)                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","   \
    "\"io.modelcontextprotocol/clientCapabilities\":{\"sampling\":{},"         \
    "\"elicitation\":{\"form\":{},\"url\":{}}}" more "}"
#define CLAIM CLAIM_WITH("")
#define ASK(id, method, params)                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method                  \
    "\",\"params\":{" params "}}"
#define GIVE(id, result)                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" result "}"
#define CALL(id) ASK(id, "tools/call", "\"name\":\"t\"," CLAIM)

typedef struct gateway_host {
    uint64_t now;
    fl_loop *loop;
    fl_gateway *gateway;
    int door; /* the server's */
    raw_peer server, client;
    bool closed;
} gateway_host;

static gateway_host host;

/* The gateway, and a client that has come. */
static inline void host_open(const fl_upstream *upstream)
{
    fl_upstream full = upstream != NULL ? *upstream : (fl_upstream){0};
    uint16_t port = 0;
    char url[64];
    fl_error error;

    host.now = 1000;
    host.closed = false;
    host.loop = io_driven_loop(&host.now);
    host.door = raw_listen(&port);
    snprintf(url, sizeof url, "tcp://127.0.0.1:%u", port);
    full.url = url;
    full.client.era = FL_ERA_LEGACY;
    host.gateway = fl_gateway_new();
    assert_non_null(host.gateway);
    assert_int_equal(fl_gateway_add(host.gateway, &full, &error), FL_OK);
    assert_int_equal(fl_gateway_listen(host.gateway, host.loop,
                                       "tcp://127.0.0.1:0", NULL, &error),
                     FL_OK);
    raw_take(&host.client, host.loop, raw_dial(fl_gateway_port(host.gateway)));
}

/* The server begins, since somebody has asked for it. */
static inline void host_welcome(const char *revision, const char *capabilities)
{
    char line[1024];

    raw_accept(&host.server, host.loop, host.door);
    raw_hears_part(&host.server, "\"method\":\"initialize\"");
    snprintf(line, sizeof line,
             GIVE("1", "{\"protocolVersion\":\"%s\",\"capabilities\":%s,"
                       "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}"),
             revision, capabilities);
    raw_say(&host.server, line);
    raw_hears_part(&host.server, "notifications/initialized");
}

/* Time passes, and what is due then happens. */
static inline void host_wait(uint64_t ms)
{
    host.now += ms;
    for (int i = 0; i < 4; i++)
        io_turn(host.loop);
}

static inline void host_on_closed(void *user)
{
    (void)user;
    host.closed = true;
}

static inline void host_end(void)
{
    fl_gateway_close(host.gateway, 0, host_on_closed, NULL);
    io_until(host.loop, (host.now += 500, host.closed));
    fl_gateway_free(host.gateway);
    raw_close(&host.client);
    raw_close(&host.server);
    close(host.door);
    io_some_turns(host.loop);
    fl_loop_free(host.loop);
}

#endif
