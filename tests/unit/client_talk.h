/*
 * client_talk.h - a client under test, opened with whatever options, and a
 * raw server of either era that the test speaks for.
 */
#ifndef TESTS_UNIT_CLIENT_TALK_H
#define TESTS_UNIT_CLIENT_TALK_H

#include "client_desk.h"

#include "support/ration.h"

enum { TALK_ASKS = 8 };

typedef struct talk {
    raw_peer server;
    int door;
    fl_ask *asks[TALK_ASKS]; /* that were not answered at once */
    int asked, withdrawn;
    int updates, changes, logs;
    char log[256], uri[128];
    fl_list_kind changed;
    bool close_in_event; /* close the client in the next of them */
} talk;

static talk said;

static inline void talk_event(fl_client *client)
{
    if (said.close_in_event)
        fl_client_close(client);
}

static inline void talk_on_changed(fl_client *client, fl_list_kind kind,
                                   void *user)
{
    (void)user;
    said.changes++;
    said.changed = kind;
    talk_event(client);
}

static inline void talk_on_updated(fl_client *client, fl_span uri, void *user)
{
    (void)user;
    said.updates++;
    desk_keep(said.uri, sizeof said.uri, uri);
    talk_event(client);
}

static inline void talk_on_log(fl_client *client, fl_span level, fl_span logger,
                               fl_span data, void *user)
{
    (void)user;
    said.logs++;
    snprintf(said.log, sizeof said.log, "%.*s %.*s %.*s", (int)level.len,
             level.ptr, (int)logger.len, logger.len > 0 ? logger.ptr : "",
             (int)data.len, data.len > 0 ? data.ptr : "");
    talk_event(client);
}

static const fl_client_events talk_events = {
    .on_ready = desk_on_ready,
    .on_list_changed = talk_on_changed,
    .on_resource_updated = talk_on_updated,
    .on_log = talk_on_log,
    .on_notification = desk_on_notification,
    .on_closed = desk_on_closed,
};

static inline void talk_on_cancel(fl_client *client, fl_ask *ask, void *user)
{
    (void)client;
    assert_ptr_equal(user, &said);
    assert_true(fl_ask_cancelled(ask));
    said.withdrawn++;
}

/* Keeps the ask for later. */
static inline void talk_keep(fl_client *client, fl_ask *ask, void *user)
{
    (void)client;
    assert_ptr_equal(user, &at);
    assert_false(fl_ask_cancelled(ask));
    assert_true(said.asked < TALK_ASKS);
    said.asks[said.asked++] = ask;
    fl_ask_on_cancel(ask, talk_on_cancel, &said);
    talk_event(client);
}

static const fl_client_handlers talk_handlers = {
    .sample = talk_keep,
    .elicit = talk_keep,
    .elicit_url = talk_keep,
    .roots = talk_keep,
};

static inline void talk_open(const fl_client_options *options,
                             const fl_client_events *events)
{
    fl_client_options full =
        options != NULL ? *options : (fl_client_options){0};
    uint16_t port = 0;
    char url[64];
    fl_error error;

    at = (desk){.now = 1000};
    said.asked = said.withdrawn = 0;
    said.updates = said.changes = said.logs = 0;
    said.close_in_event = false;
    full.connection.reconnect_first_ms = 100;
    full.connection.reconnect_max_ms = 100;
    at.loop = io_driven_loop(&at.now);
    said.door = raw_listen(&port);
    snprintf(url, sizeof url, "tcp://127.0.0.1:%u", port);
    assert_int_equal(
        fl_client_open(at.loop, url, &full, events, &at, &at.client, &error),
        FL_OK);
}

static inline void talk_welcome(const char *line)
{
    at.ready = 0;
    raw_say(&said.server, line);
    io_until(at.loop, at.ready > 0);
}

static inline void talk_accept_modern(const char *id, const char *capabilities)
{
    char line[1024];

    raw_accept(&said.server, at.loop, said.door);
    raw_hears_part(&said.server, "\"method\":\"server/discover\"");
    snprintf(line, sizeof line,
             ANSWER("%s", DISCOVERED("[\"2026-07-28\"]", "%s")), id,
             capabilities);
    talk_welcome(line);
}

static inline void talk_modern_with(const fl_client_options *options,
                                    const char *capabilities)
{
    talk_open(options, &talk_events);
    talk_accept_modern("1", capabilities);
}

static inline void talk_accept_legacy(const char *id, const char *version,
                                      const char *capabilities)
{
    char line[1024];

    raw_accept(&said.server, at.loop, said.door);
    raw_hears_part(&said.server, "\"method\":\"initialize\"");
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"protocolVersion\":"
             "\"%s\",\"capabilities\":%s,\"serverInfo\":{\"name\":\"old\","
             "\"version\":\"7\"}}}",
             id, version, capabilities);
    talk_welcome(line);
    raw_hears(&said.server, INITIALIZED);
}

static inline void talk_legacy_with(const fl_client_options *options,
                                    const char *capabilities)
{
    fl_client_options full =
        options != NULL ? *options : (fl_client_options){0};

    full.era = FL_ERA_LEGACY;
    talk_open(&full, &talk_events);
    talk_accept_legacy("1", "2025-11-25", capabilities);
}

static inline void talk_end(void)
{
    desk_close();
    close(said.door);
    if (said.server.fd >= 0)
        close(said.server.fd);
    said.server.fd = -1;
}

/* The next line is a request of this id and method, with these params beside
 * what every modern request says. */
static inline void talk_hears(const char *id, const char *method,
                              const char *params)
{
    char head[256];
    const char *line = raw_hear(&said.server);

    snprintf(head, sizeof head,
             "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\"", id, method);
    if (strncmp(line, head, strlen(head)) != 0 || strstr(line, params) == NULL)
        fail_msg("no '%s' with '%s' in '%s'", head, params, line);
}

static inline void talk_sees_answer(fl_status status, const char *part)
{
    io_until(at.loop, at.answers > 0);
    assert_int_equal(at.answers, 1);
    if (at.status != status ||
        strstr(status == FL_OK ? at.result : at.text, part) == NULL)
        fail_msg("%s '%s' '%s', not %s '%s'", fl_status_name(at.status),
                 at.result, at.text, fl_status_name(status), part);
    at.answers = 0;
}

static inline void talk_answer(const char *id, const char *result)
{
    static char line[1 << 16];

    snprintf(line, sizeof line, ANSWER("%s", "%s"), id, result);
    raw_say(&said.server, line);
}

static inline fl_status talk_call(const fl_request_options *options,
                                  uint64_t *id)
{
    return fl_client_call_tool(at.client, FL_SPAN("dig"), FL_SPAN("{\"a\":1}"),
                               options, desk_on_answer, NULL, id);
}

/*
 * A server for tests with little memory: it answers each line at once, by a
 * table from a part of the line to what is said; %s becomes the line's id.
 * Allocates nothing.
 */
typedef struct robot_rule {
    const char *part;
    const char *answer;
} robot_rule;

static inline void robot_reply(int fd, const char *line,
                               const robot_rule *rules)
{
    char id[32] = "0", out[2048];
    const char *at_id = strstr(line, "\"id\":");

    if (at_id != NULL)
        snprintf(id, sizeof id, "%.*s", (int)strcspn(at_id + 5, ",}"),
                 at_id + 5);
    for (; rules->part != NULL; rules++) {
        const char *hole = strstr(rules->answer, "%s");
        if (strstr(line, rules->part) == NULL)
            continue;
        if (hole == NULL)
            snprintf(out, sizeof out, "%s\n", rules->answer);
        else
            snprintf(out, sizeof out, "%.*s%s%s\n", (int)(hole - rules->answer),
                     rules->answer, id, hole + 2);
        (void)!send(fd, out, strlen(out), MSG_NOSIGNAL);
        return;
    }
}

static inline void robot_turn(int fd, const robot_rule *rules)
{
    static char room[1 << 16];
    static size_t held;
    ssize_t n;
    char *end;

    if (fd < 0) {
        held = 0;
        return;
    }
    while ((n = recv(fd, room + held, sizeof room - 1 - held, MSG_DONTWAIT)) >
           0) {
        held += (size_t)n;
        while ((end = memchr(room, '\n', held)) != NULL) {
            *end = '\0';
            robot_reply(fd, room, rules);
            held -= (size_t)(end - room) + 1;
            memmove(room, end + 1, held);
        }
    }
}

/* A client's whole life with such a server. `begin` asks, and says how often;
 * `handlers` must answer at once. */
typedef struct robot_life {
    fl_client_options options;
    const robot_rule *rules;
    int (*begin)(fl_client *client);
    int door;
    uint16_t port;
} robot_life;

static inline void robot_live(void *user)
{
    const robot_life *life = user;
    fl_clock clock = {io_read_clock, &at.now};
    char url[64];
    fl_error error;
    int fd = -1, yes = 1;

    at = (desk){.now = 1000};
    robot_turn(-1, NULL);
    at.loop = fl_loop_new_with(&(fl_loop_options){.clock = &clock});
    if (at.loop == NULL)
        return;
    snprintf(url, sizeof url, "tcp://127.0.0.1:%u", life->port);
    if (fl_client_open(at.loop, url, &life->options, &talk_events, &at,
                       &at.client, &error) != FL_OK) {
        assert_int_equal(error.status, FL_E_NOMEM);
        fl_loop_free(at.loop);
        return;
    }
    int asked = life->begin(at.client);
    for (int i = 0;
         i < 150 && at.closed == 0 && (at.answers < asked || at.ready == 0);
         i++, at.now += 100) {
        fl_loop_step(at.loop);
        if (fd < 0 && (fd = accept(life->door, NULL, NULL)) < 0)
            io_turn(at.loop);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        robot_turn(fd, life->rules);
    }
    if (at.closed == 0)
        fl_client_close(at.client);
    if (fd >= 0)
        close(fd);
    for (int i = 0; i < 1000 && at.closed == 0; i++, at.now += 1000)
        io_turn(at.loop);
    assert_int_equal(at.closed, 1);
    assert_int_equal(at.answers, asked);
    while ((fd = accept(life->door, NULL, NULL)) >= 0)
        close(fd);
    fl_loop_free(at.loop);
}

/* With all the memory it needs it comes to this; with less, to an end. */
static inline void robot_run(robot_life *life)
{
    life->options.connection.no_reconnect = true;
    life->door = raw_listen(&life->port);
    assert_true(ration_each(robot_live, life) > 20);
    assert_int_equal(at.status, FL_OK);
    close(life->door);
}

#endif
