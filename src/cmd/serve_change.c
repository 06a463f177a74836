/*
 * serve_change.c - a configuration file, read again.
 *
 * Servers that are in it as before keep their sessions. One that has some of
 * its places as before stays too, and the others come and go: its sessions move
 * by themselves. All others are ended, or begin.
 */
#include "cmd/serve_places.h"

#include "base/span.h"
#include "cmd/complain.h"
#include "gateway/gateway.h"

#include <string.h>

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

/* How it is reached; its weight may be another. */
static bool same_place(const fl_config_server *a, const fl_config_server *b)
{
    return a->kind == b->kind && a->disabled == b->disabled &&
           a->era == b->era && a->http2 == b->http2 &&
           same_list(&a->argv, &b->argv) && same_list(&a->env, &b->env) &&
           same_text(a->cwd.text, b->cwd.text) &&
           same_text(a->url.text, b->url.text) &&
           same_list(&a->headers, &b->headers);
}

static bool same_login(const fl_config_login *a, const fl_config_login *b)
{
    return a->grant == b->grant &&
           same_text(a->client_id.text, b->client_id.text) &&
           same_text(a->client_secret.text, b->client_secret.text) &&
           same_text(a->scope.text, b->scope.text) &&
           same_text(a->redirect_uri.text, b->redirect_uri.text) &&
           same_text(a->metadata_url.text, b->metadata_url.text) &&
           same_text(a->store.text, b->store.text);
}

static bool same_rest(const fl_config_server *a, const fl_config_server *b)
{
    return a->disabled == b->disabled && a->child == b->child &&
           a->timeout_ms == b->timeout_ms && a->allow_http == b->allow_http &&
           same_list(&a->include, &b->include) &&
           same_list(&a->exclude, &b->exclude) &&
           same_text(a->prefix, b->prefix) &&
           same_login(&a->login, &b->login) &&
           memcmp(&a->outages, &b->outages, sizeof a->outages) == 0;
}

/* The place of the other server that is this one, under the same label; or as
 * many as there are. */
static size_t find_place(const fl_config_server *from, size_t i,
                         const fl_config_server *among)
{
    const fl_config_server *place = fl_serve_place_at(from, i);
    size_t nth = 0;

    for (size_t j = 0; j < i; j++)
        nth += fl_serve_same_base(fl_serve_place_at(from, j), place);
    for (size_t j = 0; j < fl_serve_count_places(among); j++)
        if (fl_serve_same_base(fl_serve_place_at(among, j), place) &&
            nth-- == 0)
            return same_place(fl_serve_place_at(among, j), place)
                       ? j
                       : fl_serve_count_places(among);
    return fl_serve_count_places(among);
}

/* The same server in the other file, if it is that still: all that is so of
 * its name is as before, and so is one of its places. */
static const fl_config_server *find_same(const fl_config_server *server,
                                         const fl_config *config)
{
    size_t count;
    const fl_config_server *servers = fl_config_servers(config, &count);

    for (size_t i = 0; i < count; i++) {
        const fl_config_server *other = &servers[i];
        if (strcmp(other->name, server->name) != 0)
            continue;
        for (size_t j = 0; j < fl_serve_count_places(server); j++)
            if (!fl_serve_place_at(server, j)->disabled &&
                find_place(server, j, other) < fl_serve_count_places(other))
                return same_rest(server, other) ? other : NULL;
        return server->disabled && other->disabled ? other : NULL;
    }
    return NULL;
}

static void tell(const fl_serve_line *line, const fl_config *config,
                 const fl_config_server *place, const fl_error *error)
{
    fl_complain(line->command, "%s:%zu: %s: %s", fl_config_file(config),
                place->line, place->name, error->text);
}

static void drop_place(const fl_config_server *server, size_t i,
                       fl_gateway *gateway)
{
    fl_error error;
    fl_buf label;

    fl_buf_init(&label, FL_CONFIG_BYTES);
    if (fl_serve_write_label(server, i, &label) == FL_OK)
        (void)!fl_gateway_remove_replica(gateway, server->name,
                                         fl_buf_view(&label).ptr, &error);
    fl_buf_reset(&label);
}

static void weigh_place(const fl_config_server *server, size_t i,
                        fl_gateway *gateway)
{
    fl_error error;
    fl_buf label;

    fl_buf_init(&label, FL_CONFIG_BYTES);
    if (fl_serve_write_label(server, i, &label) == FL_OK)
        (void)!fl_gateway_weigh_replica(
            gateway, server->name, fl_buf_view(&label).ptr,
            fl_serve_place_at(server, i)->weight, &error);
    fl_buf_reset(&label);
}

/* One place at least is as before: the server is never without any. */
static void change_places(const fl_serve_site *site, const fl_config *config,
                          const fl_config_server *old,
                          const fl_config_server *server)
{
    fl_error error;

    for (size_t i = 0; i < fl_serve_count_places(old); i++)
        if (!fl_serve_place_at(old, i)->disabled &&
            find_place(old, i, server) == fl_serve_count_places(server))
            drop_place(old, i, site->gateway);
    for (size_t i = 0; i < fl_serve_count_places(server); i++) {
        const fl_config_server *place = fl_serve_place_at(server, i);
        size_t before = find_place(server, i, old);
        if (place->disabled)
            continue;
        if (before == fl_serve_count_places(old)) {
            if (fl_serve_add_place(site, server, i, fl_gateway_add_replica,
                                   &error) != FL_OK)
                tell(site->line, config, place, &error);
        } else if (fl_serve_place_at(old, before)->weight != place->weight) {
            weigh_place(server, i, site->gateway);
        }
    }
}

void fl_serve_config_change(const fl_serve_site *site, const fl_config *old,
                            const fl_config *config)
{
    size_t count;
    const fl_config_server *servers = fl_config_servers(old, &count);
    fl_error error;

    for (size_t i = 0; i < count; i++)
        if (find_same(&servers[i], config) == NULL) /* perhaps never there */
            (void)!fl_gateway_remove(site->gateway, servers[i].name, &error);
    servers = fl_config_servers(config, &count);
    for (size_t i = 0; i < count; i++) {
        const fl_config_server *before = find_same(&servers[i], old);
        /* it may have been in the old file, and could not be added */
        bool runs =
            fl_gateway_find_name(site->gateway, servers[i].name) != NULL;
        if (before != NULL && !before->disabled && runs)
            change_places(site, config, before, &servers[i]);
        else if (!runs && !servers[i].disabled &&
                 fl_serve_add_server(site, &servers[i], &error) != FL_OK)
            tell(site->line, config, &servers[i], &error);
    }
}
