/*
 * server.c - an MCP server: its tools, its doors, its sessions, its end.
 *
 * Closing takes three steps: the doors are shut, calls in flight get a while
 * to be answered (the rest are failed), and the links are closed. When the
 * last of them has gone, the closing is over.
 */
#include "peer/server.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "peer/session.h"
#include "json/write.h"

#include <assert.h>

enum { HELLO_MAX = 1 << 20, OPENING_ROOM = 128, DEFAULT_IN_FLIGHT = 1024 };

typedef struct fl_server_door {
    fl_list node;
    fl_server *server;
    fl_listener *listener;
    unsigned max_in_flight;
} fl_server_door;

static fl_status write_identity(fl_buf *out, const char *name,
                                const char *version)
{
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "name");
    fl_json_string(&writer, name);
    fl_json_key(&writer, "version");
    fl_json_string(&writer, version);
    fl_json_object_end(&writer);
    return fl_json_writer_end(&writer);
}

static fl_status write_opening(fl_buf *out, fl_span identity)
{
    fl_status rc =
        fl_buf_append(out, FL_SPAN(FL_RESULT FL_RESULT_TYPE FL_RESULT_SERVER));

    if (rc == FL_OK)
        rc = fl_buf_append(out, identity);
    return rc == FL_OK ? fl_buf_append(out, FL_SPAN("},")) : rc;
}

fl_server *fl_server_new(const char *name, const char *version)
{
    fl_server *server = fl_mem_zalloc(sizeof *server);

    if (server == NULL)
        return NULL;
    fl_tools_init(&server->tools);
    fl_buf_init(&server->identity, HELLO_MAX);
    fl_buf_init(&server->opening, HELLO_MAX + OPENING_ROOM);
    fl_buf_init(&server->hello, HELLO_MAX);
    fl_buf_init(&server->discovery, HELLO_MAX);
    fl_list_init(&server->doors);
    fl_list_init(&server->sessions);
    if (write_identity(&server->identity, name, version) != FL_OK ||
        write_opening(&server->opening, fl_buf_view(&server->identity)) !=
            FL_OK) {
        fl_server_free(server);
        return NULL;
    }
    return server;
}

/* What we say of ourselves is not true any more. */
static void forget_hello(fl_server *server)
{
    fl_buf_reset(&server->hello);
    fl_buf_reset(&server->discovery);
}

void fl_server_free(fl_server *server)
{
    if (server == NULL)
        return;
    assert(fl_list_empty(&server->doors) && fl_list_empty(&server->sessions));
    if (server->loop != NULL)
        fl_timer_stop(&server->timer); /* freed from on_idle, while closing */
    fl_tools_deinit(&server->tools);
    forget_hello(server);
    fl_buf_reset(&server->identity);
    fl_buf_reset(&server->opening);
    fl_mem_free(server->instructions);
    fl_mem_free(server);
}

fl_status fl_server_set_instructions(fl_server *server, const char *text)
{
    char *copy = fl_mem_string(fl_span_of(text));

    if (copy == NULL)
        return FL_E_NOMEM;
    fl_mem_free(server->instructions);
    server->instructions = copy;
    forget_hello(server);
    return FL_OK;
}

fl_status fl_server_add_tool(fl_server *server, const fl_tool *tool)
{
    fl_status rc = fl_tools_add(&server->tools, tool);

    if (rc != FL_OK)
        return rc;
    forget_hello(server); /* the first tool makes the capability */
    for (fl_list *node = server->sessions.next; node != &server->sessions;
         node = node->next)
        fl_session_tools_changed(FL_LIST_ENTRY(node, fl_session, node));
    return FL_OK;
}

static void on_link(fl_listener *listener, fl_link *link, void *user)
{
    fl_server_door *door = user;
    fl_link_info info;

    (void)listener;
    if (fl_session_open(door->server, link, door->max_in_flight) != FL_OK) {
        fl_log_say(fl_loop_log(link->loop), FL_LOG_ERROR, "link closed",
                   fl_log_text("reason", FL_SPAN("out of memory")));
        return; /* without events it is closed */
    }
    door->server->links++;
    fl_link_get_info(link, &info);
    fl_log_say(fl_loop_log(link->loop), FL_LOG_INFO, "link opened",
               fl_log_text("kind", fl_span_of(info.kind)),
               fl_log_text("peer", fl_span_of(info.peer)));
}

static void settle(fl_server *server);
static void on_timer(fl_timer *timer, void *user);

static void on_door_closed(fl_listener *listener, void *user)
{
    fl_server_door *door = user;
    fl_server *server = door->server;

    (void)listener;
    fl_list_remove(&door->node);
    fl_mem_free(door);
    settle(server);
}

static const fl_listener_events door_events = {
    .on_link = on_link,
    .on_closed = on_door_closed,
};

fl_status fl_server_listen(fl_server *server, fl_loop *loop, const char *url,
                           const fl_options *options, fl_error *error)
{
    if (server->closing != FL_SERVER_OPEN)
        return fl_error_set(error, FL_E_STATE, "the server is closing");
    if (server->loop != NULL && server->loop != loop)
        return fl_error_set(error, FL_E_INVALID,
                            "a server listens on one loop");
    fl_server_door *door = fl_mem_zalloc(sizeof *door);
    if (door == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    door->server = server;
    door->max_in_flight = options != NULL && options->max_in_flight > 0
                              ? options->max_in_flight
                              : DEFAULT_IN_FLIGHT;
    fl_status rc = fl_link_listen(loop, url, options, &door_events, door,
                                  &door->listener, error);
    if (rc != FL_OK) {
        fl_mem_free(door);
        return rc;
    }
    fl_list_append(&server->doors, &door->node);
    if (door->listener->port != 0)
        server->port = door->listener->port;
    if (server->loop == NULL)
        fl_timer_init(&server->timer, loop, on_timer, server);
    server->loop = loop;
    return FL_OK;
}

uint16_t fl_server_port(const fl_server *server)
{
    return server->port;
}

size_t fl_server_links(const fl_server *server)
{
    return server->links;
}

void fl_server_on_idle(fl_server *server, fl_task *done, void *user)
{
    server->on_idle = done;
    server->idle_user = user;
}

static bool has_calls(const fl_server *server)
{
    for (fl_list *node = server->sessions.next; node != &server->sessions;
         node = node->next)
        if (FL_LIST_ENTRY(node, fl_session, node)->in_flight > 0)
            return true;
    return false;
}

static void close_links(fl_server *server)
{
    server->closing = FL_SERVER_LINKS;
    for (fl_list *node = server->sessions.next; node != &server->sessions;
         node = node->next) {
        fl_session *session = FL_LIST_ENTRY(node, fl_session, node);
        fl_session_shut(session);
        fl_link_close(session->link);
    }
    settle(server);
}

/* Closing goes on from a timer, never from under whoever called. */
static void settle(fl_server *server)
{
    bool answered = server->closing == FL_SERVER_DOORS && !has_calls(server);
    bool gone = server->closing == FL_SERVER_LINKS && server->links == 0 &&
                fl_list_empty(&server->doors);

    if (answered || gone)
        fl_timer_start(&server->timer, 0);
}

static void on_timer(fl_timer *timer, void *user)
{
    fl_server *server = user;

    (void)timer;
    if (server->closing == FL_SERVER_DOORS) {
        close_links(server);
    } else {
        server->closing = FL_SERVER_OPEN;
        server->loop = NULL;
        if (server->on_closed != NULL)
            server->on_closed(server->closed_user);
    }
}

void fl_server_close(fl_server *server, uint64_t grace_ms, fl_task *done,
                     void *user)
{
    if (server->closing != FL_SERVER_OPEN)
        return;
    if (server->loop == NULL) {
        if (done != NULL)
            done(user);
        return;
    }
    server->closing = FL_SERVER_DOORS;
    server->on_closed = done;
    server->closed_user = user;
    for (fl_list *node = server->doors.next; node != &server->doors;
         node = node->next)
        fl_listener_close(FL_LIST_ENTRY(node, fl_server_door, node)->listener);
    fl_timer_start(&server->timer, grace_ms);
    settle(server);
}

void fl_server_answered(fl_server *server)
{
    settle(server);
}

void fl_server_left(fl_server *server)
{
    server->links--;
    settle(server);
    if (server->links == 0 && server->on_idle != NULL)
        server->on_idle(server->idle_user);
}
