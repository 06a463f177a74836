/*
 * serve_config.c - the servers of a configuration file, for a gateway.
 *
 * The file's reader knows neither files nor variables; both are lent to it
 * here. A server that is to have what is not built yet is left out, and that
 * is said, for one that is quietly not as its file says would be worse.
 */
#include "cmd/serve_config.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "cmd/complain.h"
#include "cmd/slurp.h"
#include "config/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 4 * FL_CONFIG_BYTES };

static const char *variable(void *user, const char *name)
{
    (void)user;
    return getenv(name);
}

static fl_status read_other(void *user, const char *path, fl_buf *out)
{
    fl_error error;

    (void)user;
    return fl_slurp(path, out, &error);
}

static const fl_config_source source = {
    .variable = variable,
    .read = read_other,
};

static void tell_problems(const fl_config *config)
{
    fl_buf text;

    fl_buf_init(&text, SHOWN_MAX);
    if (fl_config_show_problems(config, &text) == FL_OK &&
        fl_buf_len(&text) > 0)
        fwrite(fl_buf_view(&text).ptr, 1, fl_buf_len(&text), stderr);
    fl_buf_reset(&text);
}

static fl_status slurp(const fl_serve_line *line, fl_buf *text, fl_error *error)
{
    return line->config != NULL
               ? fl_slurp(line->config, text, error)
               : fl_buf_append(text, fl_span_of(line->config_json));
}

fl_status fl_serve_config_read(const fl_serve_line *line, fl_config **out)
{
    const char *name = line->config != NULL ? line->config : "--config-json";
    fl_error error;
    fl_buf text;

    *out = NULL;
    fl_error_set(&error, FL_E_TOO_BIG, "%s: too big", name);
    fl_buf_init(&text, FL_CONFIG_BYTES);
    fl_status rc = slurp(line, &text, &error);
    if (rc == FL_OK)
        rc = fl_config_read(fl_buf_view(&text), name, &source, out, &error);
    if (*out != NULL)
        tell_problems(*out);
    else if (rc != FL_OK)
        fl_complain(line->command, "%s", error.text);
    if (text.ptr != NULL) /* there may be secrets in it */
        fl_mem_wipe(text.ptr, text.cap);
    fl_buf_reset(&text);
    return rc;
}

fl_status fl_serve_config_show(const fl_config *config)
{
    fl_buf text;

    fl_buf_init(&text, SHOWN_MAX);
    fl_status rc = fl_config_show_servers(config, &text);
    fl_span all = fl_buf_view(&text);
    if (rc == FL_OK && all.len > 0 &&
        fwrite(all.ptr, 1, all.len, stdout) != all.len)
        rc = FL_E_IO;
    fl_buf_reset(&text);
    return rc;
}

/* What of it is not built; NULL: all is. */
static const char *find_unbuilt(const fl_config_server *server)
{
    return server->socket.text != NULL ? "HTTP through a Unix socket" : NULL;
}

/* Whether it is to be served; and what there is to say about it. */
static bool is_wanted(const fl_serve_line *line, const fl_config *config,
                      const fl_config_server *server)
{
    const char *what = find_unbuilt(server);

    if (server->disabled)
        return false;
    if (what != NULL)
        fl_complain(line->command,
                    "%s:%zu: warning: %s is left out, for %s is not built yet",
                    fl_config_file(config), server->line, server->name, what);
    else if (server->replicas.count > 0)
        fl_complain(line->command,
                    "%s:%zu: warning: of %s the url alone is used, for "
                    "fairlead.replicas is not built yet",
                    fl_config_file(config), server->line, server->name);
    return what == NULL;
}

static fl_child_mode child_mode(const fl_serve_line *line,
                                const fl_config_server *server)
{
    switch (server->child) {
    case FL_CONFIG_CHILD_SHARED:
        return FL_CHILD_SHARED;
    case FL_CONFIG_CHILD_SESSION:
        return FL_CHILD_SESSION;
    case FL_CONFIG_CHILD_REQUEST:
        return FL_CHILD_REQUEST;
    case FL_CONFIG_CHILD_AUTO:
        break;
    }
    return line->upstream.child;
}

/* HTTP+SSE has a scheme of its own here. */
static fl_status write_url(const fl_config_server *server, fl_buf *url)
{
    const char *text = server->url.text;
    bool sse = server->kind == FL_CONFIG_SSE && strncmp(text, "sse+", 4) != 0;
    fl_status rc = sse ? fl_buf_append(url, FL_SPAN("sse+")) : FL_OK;

    if (rc == FL_OK)
        rc = fl_buf_append(url, fl_span_of(text));
    return rc == FL_OK ? fl_buf_append(url, (fl_span){"", 1}) : rc;
}

static fl_upstream describe(const fl_serve_line *line,
                            const fl_config_server *server)
{
    fl_upstream upstream = line->upstream;
    fl_options *connection = &upstream.client.connection;

    upstream.name = server->name;
    upstream.url = NULL;
    upstream.child = child_mode(line, server);
    if (server->era != FL_ERA_AUTO)
        upstream.client.era = server->era;
    if (server->timeout_ms > 0)
        upstream.timeout_ms = server->timeout_ms;
    connection->child.argv = server->argv.items;
    connection->child.env = server->env.items;
    connection->child.cwd =
        server->cwd.text != NULL ? server->cwd.text : connection->child.cwd;
    connection->http.headers = server->headers.items;
    upstream.allow_tools = server->include.items;
    upstream.deny_tools = server->exclude.items;
    upstream.prefix = server->prefix;
    connection->http.auth = NULL; /* that is one server's */
    return upstream;
}

static fl_status add(const fl_serve_line *line, const fl_config_server *server,
                     fl_gateway *gateway, fl_error *error)
{
    fl_upstream upstream = describe(line, server);
    fl_buf url;

    fl_buf_init(&url, FL_CONFIG_VALUE + sizeof "sse+");
    fl_error_set(error, FL_E_NOMEM, "out of memory");
    fl_status rc = FL_OK;
    if (server->kind != FL_CONFIG_CHILD) {
        rc = write_url(server, &url);
        upstream.url = fl_buf_view(&url).ptr;
    }
    if (rc == FL_OK)
        rc = fl_gateway_add(gateway, &upstream, error);
    fl_buf_reset(&url);
    return rc;
}

fl_status fl_serve_config_add(const fl_serve_line *line,
                              const fl_config *config, fl_gateway *gateway,
                              fl_error *error)
{
    size_t count, added = 0;
    const fl_config_server *servers = fl_config_servers(config, &count);
    fl_status rc = FL_OK;

    for (size_t i = 0; i < count && rc == FL_OK; i++) {
        if (!is_wanted(line, config, &servers[i]))
            continue;
        rc = add(line, &servers[i], gateway, error);
        added++;
    }
    if (rc == FL_OK && added == 0 && !line->has_target)
        rc = fl_error_set(error, FL_E_INVALID, "%s: there is no server in it%s",
                          fl_config_file(config),
                          count > 0 ? " that can be served" : "");
    return rc;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_list(const fl_config_list *a, const fl_config_list *b)
{
    for (size_t i = 0; a->count == b->count && i < a->count; i++)
        if (strcmp(a->items[i], b->items[i]) != 0)
            return false;
    return a->count == b->count;
}

static bool is_same(const fl_config_server *a, const fl_config_server *b)
{
    return a->kind == b->kind && a->disabled == b->disabled &&
           a->child == b->child && a->era == b->era &&
           a->timeout_ms == b->timeout_ms && same_list(&a->argv, &b->argv) &&
           same_list(&a->env, &b->env) && same_text(a->cwd.text, b->cwd.text) &&
           same_text(a->url.text, b->url.text) &&
           same_text(a->socket.text, b->socket.text) &&
           same_list(&a->headers, &b->headers) &&
           same_list(&a->include, &b->include) &&
           same_list(&a->exclude, &b->exclude) &&
           same_text(a->prefix, b->prefix);
}

/* The same server in the other file, if it has not changed. */
static bool is_kept(const fl_config_server *server, const fl_config *other)
{
    size_t count;
    const fl_config_server *servers = fl_config_servers(other, &count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(servers[i].name, server->name) == 0)
            return is_same(&servers[i], server);
    return false;
}

void fl_serve_config_change(const fl_serve_line *line, const fl_config *old,
                            const fl_config *config, fl_gateway *gateway)
{
    size_t count;
    const fl_config_server *servers = fl_config_servers(old, &count);
    fl_error error;

    for (size_t i = 0; i < count; i++)
        if (!is_kept(&servers[i], config)) /* it may never have been there */
            (void)!fl_gateway_remove(gateway, servers[i].name, &error);
    servers = fl_config_servers(config, &count);
    for (size_t i = 0; i < count; i++)
        if (!is_kept(&servers[i], old) &&
            is_wanted(line, config, &servers[i]) &&
            add(line, &servers[i], gateway, &error) != FL_OK)
            fl_complain(line->command, "%s:%zu: %s: %s", fl_config_file(config),
                        servers[i].line, servers[i].name, error.text);
}
