/*
 * serve_config.c - the servers of a configuration file, for a gateway.
 *
 * The file's reader knows neither files nor variables; both are lent to it
 * here.
 *
 * A server is one place or several: the entry itself is the first, and those of
 * its replicas follow (serve_change.c has what becomes of them when the file is
 * read again).
 */
#include "cmd/serve_config.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "cmd/complain.h"
#include "cmd/serve_places.h"
#include "cmd/slurp.h"
#include "cmd/whereis.h"
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

/* What cannot be reached as it stands; it may be in vain, but the others need
 * not be. */
static void tell_plain(const fl_serve_line *line, const fl_config *config,
                       const fl_config_server *server)
{
    for (size_t i = 0; i < fl_serve_count_places(server); i++) {
        const fl_config_server *place = fl_serve_place_at(server, i);
        if (!place->disabled && place->kind != FL_CONFIG_CHILD &&
            fl_serve_is_plain(place->url.text))
            fl_complain(line->command,
                        "%s:%zu: warning: %s: it is not asked at %s, where "
                        "everybody on the way could read and change what is "
                        "said; if that is fine, set fairlead.allowHttp, or add "
                        "--allow-http",
                        fl_config_file(config), place->line, server->name,
                        place->url.shown);
    }
}

static void tell_missing(const fl_serve_line *line, const fl_config *config)
{
    bool plain = line->upstream.client.connection.http.allow_plaintext;
    size_t count;
    const fl_config_server *servers = fl_config_servers(config, &count);

    for (size_t i = 0; i < count; i++) {
        const fl_config_server *server = &servers[i];
        if (!plain && !server->allow_http)
            tell_plain(line, config, server);
        if (!server->disabled && server->kind == FL_CONFIG_CHILD &&
            !fl_whereis(server->argv.items[0], server->cwd.text))
            fl_complain(line->command,
                        "%s:%zu: warning: %s: there is no program '%s'",
                        fl_config_file(config), server->line, server->name,
                        server->argv.items[0]);
    }
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
    if (rc == FL_OK) {
        tell_missing(line, *out);
        rc = fl_serve_config_judge(line, *out, &error);
        if (rc != FL_OK)
            fl_complain(line->command, "%s", error.text);
    }
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

/* The entry itself, and its replicas after it. */
const fl_config_server *fl_serve_place_at(const fl_config_server *server,
                                          size_t i)
{
    return i == 0 ? server : &server->replicas[i - 1];
}

size_t fl_serve_count_places(const fl_config_server *server)
{
    return 1 + server->replica_count;
}

/* What may be shown of where it is. */
static fl_status write_base(const fl_config_server *place, fl_buf *out)
{
    fl_status rc = FL_OK;

    if (place->kind != FL_CONFIG_CHILD)
        return fl_buf_append(out, fl_span_of(place->url.shown));
    for (size_t i = 0; i < place->argv.count && rc == FL_OK; i++)
        rc = fl_buf_printf(out, "%s%s", i > 0 ? " " : "", place->argv.shown[i]);
    return rc;
}

bool fl_serve_same_base(const fl_config_server *a, const fl_config_server *b)
{
    if (a->kind != FL_CONFIG_CHILD && b->kind != FL_CONFIG_CHILD)
        return strcmp(a->url.shown, b->url.shown) == 0;
    bool same = a->kind == b->kind && a->argv.count == b->argv.count;
    for (size_t i = 0; same && i < a->argv.count; i++)
        same = strcmp(a->argv.shown[i], b->argv.shown[i]) == 0;
    return same;
}

/* Those that would be called the same are counted. */
fl_status fl_serve_write_label(const fl_config_server *server, size_t i,
                               fl_buf *out)
{
    unsigned before = 0;
    fl_status rc = write_base(fl_serve_place_at(server, i), out);

    for (size_t j = 0; j < i; j++)
        before += fl_serve_same_base(fl_serve_place_at(server, j),
                                     fl_serve_place_at(server, i));
    if (rc == FL_OK && before > 0)
        rc = fl_buf_printf(out, " (%u)", before + 1);
    return rc == FL_OK ? fl_buf_append(out, (fl_span){"", 1}) : rc;
}

static void take_outages(const fl_config_outages *outages, fl_upstream *to)
{
    if (outages->connect_attempts > 0)
        to->connect_attempts = outages->connect_attempts;
    if (outages->connect_backoff_ms > 0)
        to->connect_backoff_ms = outages->connect_backoff_ms;
    if (outages->connect_backoff_max_ms > 0)
        to->connect_backoff_max_ms = outages->connect_backoff_max_ms;
    if (outages->queue_max > 0)
        to->queue_max = outages->queue_max;
    if (outages->queue_bytes > 0)
        to->queue_bytes = outages->queue_bytes;
    if (outages->queue_ms > 0)
        to->queue_ms = outages->queue_ms;
    if (outages->breaker_failures > 0)
        to->breaker_failures = outages->breaker_failures;
    if (outages->breaker_pause_ms > 0)
        to->breaker_pause_ms = outages->breaker_pause_ms;
    if (outages->health_ms > 0)
        to->health_ms =
            outages->health_ms == UINT32_MAX ? FL_NEVER : outages->health_ms;
}

/* What is so of all its places. */
static fl_upstream describe(const fl_serve_line *line,
                            const fl_config_server *server)
{
    fl_upstream upstream = line->upstream;

    upstream.name = server->name;
    upstream.child = child_mode(line, server);
    if (server->timeout_ms > 0)
        upstream.timeout_ms = server->timeout_ms;
    upstream.allow_tools = server->include.items;
    upstream.deny_tools = server->exclude.items;
    upstream.prefix = server->prefix;
    if (server->allow_http)
        upstream.client.connection.http.allow_plaintext = true;
    take_outages(&server->outages, &upstream);
    return upstream;
}

static void describe_place(const fl_config_server *place, fl_upstream *to)
{
    fl_options *connection = &to->client.connection;

    to->url = NULL;
    if (place->era != FL_ERA_AUTO)
        to->client.era = place->era;
    connection->child.argv = place->argv.items;
    connection->child.env = place->env.items;
    connection->child.cwd =
        place->cwd.text != NULL ? place->cwd.text : connection->child.cwd;
    connection->http.headers = place->headers.items;
    connection->http.http2_only = connection->http.http2_only || place->http2;
    to->weight = place->weight;
    to->standby = place->weight == 0;
}

fl_status fl_serve_add_place(const fl_serve_site *site,
                             const fl_config_server *server, size_t i,
                             fl_serve_add_fn *add, fl_error *error)
{
    const fl_config_server *place = fl_serve_place_at(server, i);
    fl_upstream upstream = describe(site->line, server);
    fl_auth **auth = &upstream.client.connection.http.auth;
    fl_buf url, label;

    fl_buf_init(&url, FL_CONFIG_VALUE + sizeof "sse+");
    fl_buf_init(&label, FL_CONFIG_BYTES);
    fl_error_set(error, FL_E_NOMEM, "out of memory");
    fl_status rc = fl_serve_write_label(server, i, &label);
    describe_place(place, &upstream);
    upstream.replica = fl_buf_view(&label).ptr;
    if (rc == FL_OK && place->kind != FL_CONFIG_CHILD) {
        rc = write_url(place, &url);
        upstream.url = fl_buf_view(&url).ptr;
    }
    if (rc == FL_OK)
        rc = fl_logins_find(site->logins, server, i, place, auth, error);
    if (rc == FL_OK)
        rc = add(site->gateway, &upstream, error);
    fl_buf_reset(&label);
    fl_buf_reset(&url);
    return rc;
}

fl_status fl_serve_add_server(const fl_serve_site *site,
                              const fl_config_server *server, fl_error *error)
{
    fl_status rc = fl_serve_add_place(site, server, 0, fl_gateway_add, error);

    for (size_t i = 1; i < fl_serve_count_places(server) && rc == FL_OK; i++)
        if (!fl_serve_place_at(server, i)->disabled)
            rc = fl_serve_add_place(site, server, i, fl_gateway_add_replica,
                                    error);
    return rc;
}

fl_status fl_serve_config_add(const fl_serve_site *site,
                              const fl_config *config, fl_error *error)
{
    size_t count;
    const fl_config_server *servers = fl_config_servers(config, &count);
    fl_status rc = FL_OK;

    for (size_t i = 0; i < count && rc == FL_OK; i++) {
        if (servers[i].disabled)
            continue;
        fl_error why;
        rc = fl_serve_add_server(site, &servers[i], &why);
        if (rc != FL_OK)
            fl_error_set(error, rc, "%s:%zu: %s: %s", fl_config_file(config),
                         servers[i].line, servers[i].name, why.text);
    }
    return rc;
}
