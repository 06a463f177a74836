/*
 * ws_client_setup.c - from an address and options to a WebSocket client link.
 *
 * Everything that can be wrong is found here, before anything is sent. The way
 * to the server is HTTP's: the same proxies, the same fields, the same TLS.
 */
#include "transport/ws_client_impl.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/tls.h"
#include "transport/defaults.h"
#include "transport/http_client.h"
#include "wire/url.h"

#include <fairlead/version.h>

enum {
    CUSTOM_MAX = 64,
    OWN_FIELDS = 1,
    AUTHORITY_MAX = 300,
    TUNNEL_MAX = 8 * 1024,
    FRAMED = 4, /* a byte in a masked frame of its own, by its line of two */
};

static fl_status no_memory(fl_error *error)
{
    return fl_error_set(error, FL_E_NOMEM, "out of memory");
}

static fl_status name_place(fl_ws_client *client, fl_error *error)
{
    const fl_address *address = &client->address;
    fl_span target = fl_span_of(address->target);
    const fl_url url = {
        .scheme = fl_span_of(address->scheme),
        .host = fl_span_of(address->host),
        .port = address->port,
        .has_port = true,
        .is_ipv6 = strchr(address->host, ':') != NULL,
    };

    fl_status rc = fl_url_write_authority(&url, &client->authority);
    if (rc == FL_OK && (target.len == 0 || target.ptr[0] != '/'))
        rc = fl_buf_append(&client->target, FL_SPAN("/"));
    if (rc == FL_OK)
        rc = fl_buf_append(&client->target, target);
    return rc == FL_OK ? FL_OK : no_memory(error);
}

/* Through a proxy there is a tunnel, with TLS in it or without. */
static fl_status find_way(fl_ws_client *client, const fl_options *options,
                          fl_error *error)
{
    const fl_address *address = &client->address;
    fl_proxy_env env = fl_proxy_env_read();

    if (options->http.no_proxy)
        return FL_OK;
    fl_status rc =
        fl_proxy_choose(&env, fl_address_is_tls(address), address->host,
                        address->port, &client->proxy, error);
    if (rc != FL_OK || !client->proxy.used)
        return rc;
    rc = fl_proxy_write_connect(&client->proxy, address->host, address->port,
                                &client->tunnel);
    return rc == FL_OK ? FL_OK : no_memory(error);
}

static fl_status make_fields(fl_ws_client *client, const fl_options *options,
                             fl_error *error)
{
    fl_field fields[OWN_FIELDS + CUSTOM_MAX];
    size_t count = 0;
    fl_buf names;

    if (options->http.auth != NULL)
        return fl_error_set(error, FL_E_UNSUPPORTED,
                            "option http.auth: not for WebSocket; use "
                            "http(s)://, or http.headers");
    fields[count++] = FL_FIELD_SET(USER_AGENT, FL_SPAN("fairlead/" FL_VERSION));
    fl_status rc =
        fl_http_fields_custom(options->http.headers, fields,
                              OWN_FIELDS + CUSTOM_MAX, &count, &names, error);
    if (rc == FL_OK) {
        rc = fl_fields_init(&client->fields, fields, count);
        if (rc != FL_OK)
            fl_error_set(error, rc, "option http.headers: %s",
                         fl_status_text(rc));
    }
    fl_buf_reset(&names);
    return rc;
}

static fl_status make_tls(fl_ws_client *client, const fl_options *options,
                          fl_error *error)
{
    static const char *const alpn[] = {"http/1.1", NULL};
    const char *name = options->tls.server_name;

    if (!fl_address_is_tls(&client->address))
        return FL_OK;
    client->server_name =
        fl_mem_string(fl_span_of(name != NULL ? name : client->address.host));
    if (client->server_name == NULL)
        return no_memory(error);
    return fl_tls_new_client(
        &(fl_tls_options){
            .cert_file = options->tls.cert_file,
            .key_file = options->tls.key_file,
            .ca_file = options->tls.ca_file,
            .insecure_skip_verify = options->tls.insecure_skip_verify,
            .alpn = alpn,
        },
        &client->tls, error);
}

static fl_status make_packs(fl_ws_client *client, fl_error *error)
{
    if (client->settings.packing.off)
        return FL_OK;
    client->settings.frames.packs = fl_ws_packs_new();
    return client->settings.frames.packs != NULL ? FL_OK : no_memory(error);
}

static fl_ws_client *make(fl_loop *loop, const fl_address *address,
                          const fl_options *options)
{
    fl_ws_client *client = fl_mem_zalloc(sizeof *client);

    if (client == NULL)
        return NULL;
    client->address = *address;
    client->settings = fl_ws_link_settings_from(options, true);
    fl_redial_init(&client->redial, options);
    client->limits = fl_options_limits(options);
    client->limits.high_water = options->ws.high_water;
    client->limits.out_max += FRAMED * client->redial.unsent.max;
    fl_buf_init(&client->authority, AUTHORITY_MAX);
    fl_buf_init(&client->target, sizeof address->target + 1);
    fl_buf_init(&client->tunnel, TUNNEL_MAX);
    fl_ws_client_init(client, loop);
    return client;
}

fl_status fl_ws_connect(fl_loop *loop, const fl_address *address,
                        const fl_options *options, const fl_link_events *events,
                        void *user, fl_link **out, fl_error *error)
{
    fl_ws_client *client = make(loop, address, options);

    *out = NULL;
    if (client == NULL)
        return no_memory(error);
    fl_status rc = name_place(client, error);
    if (rc == FL_OK)
        rc = find_way(client, options, error);
    if (rc == FL_OK)
        rc = make_fields(client, options, error);
    if (rc == FL_OK)
        rc = make_tls(client, options, error);
    if (rc == FL_OK)
        rc = make_packs(client, error);
    if (rc != FL_OK) {
        fl_link_unref(&client->ws.link);
        return rc;
    }
    client->ws.link.events = events;
    client->ws.link.user = user;
    *out = &client->ws.link;
    fl_ws_client_start(client);
    return FL_OK;
}
