/*
 * server.c - an MCP server: what it has, its doors, its sessions, its end.
 *
 * Closing takes three steps: the doors are shut, calls in flight get a while
 * to be answered (the rest are failed), and the links are closed. When the
 * last of them has gone, the closing is over.
 */
#include "server/server.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "server/files.h"
#include "server/prompts.h"
#include "server/resources.h"
#include "server/session.h"
#include "server/skills.h"
#include "server/tools.h"
#include "json/write.h"

#include <assert.h>
#include <string.h>

enum {
    HELLO_MAX = 1 << 20,
    DEFAULT_IN_FLIGHT = 1024,
    INPUT_TIMEOUT_MS = 600000,
};

static const fl_catalog_kind *const kinds[FL_SERVER_CATALOGS] = {
    [FL_LIST_TOOLS] = &fl_tools_kind,
    [FL_LIST_RESOURCES] = &fl_resources_kind,
    [FL_LIST_TEMPLATES] = &fl_templates_kind,
    [FL_LIST_PROMPTS] = &fl_prompts_kind,
};

typedef struct fl_server_door {
    fl_list node;
    fl_server *server;
    fl_listener *listener;
    unsigned max_in_flight;
} fl_server_door;

fl_server *fl_server_new(const char *name, const char *version)
{
    fl_server *server = fl_mem_zalloc(sizeof *server);

    if (server == NULL)
        return NULL;
    for (size_t i = 0; i < FL_SERVER_CATALOGS; i++)
        fl_catalog_init(&server->catalogs[i], kinds[i]);
    server->page_size = FL_CATALOG_PAGE;
    server->input_timeout_ms = INPUT_TIMEOUT_MS;
    for (size_t i = 0; i < FL_CATALOG_LISTS; i++)
        fl_buf_init(&server->hellos[i], HELLO_MAX);
    fl_list_init(&server->doors);
    fl_list_init(&server->sessions);
    fl_introductions_init(&server->introductions);
    fl_jobs_init(&server->jobs);
    fl_list_init(&server->mounts);
    if (fl_server_name(server, name, version) != FL_OK) {
        fl_server_free(server);
        return NULL;
    }
    return server;
}

void fl_server_forget_hello(fl_server *server)
{
    for (size_t i = 0; i < FL_CATALOG_LISTS; i++)
        fl_buf_reset(&server->hellos[i]);
}

void fl_server_free(fl_server *server)
{
    if (server == NULL)
        return;
    assert(fl_list_empty(&server->doors) && fl_list_empty(&server->sessions));
    fl_jobs_end(server);
    fl_introductions_deinit(&server->introductions);
    if (server->loop != NULL)
        fl_timer_stop(&server->timer); /* freed from on_idle, while closing */
    for (size_t i = 0; i < FL_SERVER_CATALOGS; i++)
        fl_catalog_deinit(&server->catalogs[i]);
    fl_files_free(server);
    fl_skills_free(server);
    fl_server_forget_hello(server);
    fl_buf_reset(&server->identity);
    fl_buf_reset(&server->opening);
    fl_mem_free(server->instructions);
    fl_mem_wipe(&server->key, sizeof server->key);
    fl_mem_free(server);
}

fl_status fl_server_set_instructions(fl_server *server, const char *text)
{
    char *copy = fl_mem_string(fl_span_of(text));

    if (copy == NULL)
        return FL_E_NOMEM;
    fl_mem_free(server->instructions);
    server->instructions = copy;
    fl_server_forget_hello(server);
    return FL_OK;
}

void fl_server_set_key(fl_server *server, const unsigned char key[32])
{
    memcpy(server->key.bytes, key, sizeof server->key.bytes);
    server->has_key = true;
}

void fl_server_set_input_timeout(fl_server *server, uint64_t ms)
{
    server->input_timeout_ms = ms;
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
static void on_timer(fl_timer *timer);

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
        fl_timer_init(&server->timer, loop, on_timer);
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
        if (fl_session_is_busy(FL_LIST_ENTRY(node, fl_session, node)))
            return true;
    return fl_jobs_are_busy(&server->jobs);
}

static void close_links(fl_server *server)
{
    server->closing = FL_SERVER_LINKS;
    fl_jobs_end(server);
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

static void on_timer(fl_timer *timer)
{
    fl_server *server = FL_LIST_ENTRY(timer, fl_server, timer);

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
