/*
 * http_client_setup.c - from an address and options to a link.
 *
 * Everything that can be wrong is found here, before anything is sent: fields
 * that may not be, a proxy that makes no sense, secrets about to travel in
 * the clear.
 */
#include "transport/http_client_impl.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/tls.h"
#include "transport/defaults.h"

#include <fairlead/version.h>

#include <string.h>

enum {
    CUSTOM_MAX = 64,
    OWN_FIELDS = 3,
    POST_FIELDS = 2,
    AUTHORITY_MAX = 300,
    TUNNEL_MAX = 8 * 1024,
    ENDPOINT_MAX = 8 * 1024,
};

static bool has_scheme(const fl_address *address, const char *scheme)
{
    const char *name = address->scheme;

    if (strncmp(name, "sse+", 4) == 0)
        name += 4;
    return strcmp(name, scheme) == 0;
}

static fl_status no_memory(fl_error *error)
{
    return fl_error_set(error, FL_E_NOMEM, "out of memory");
}

static fl_status check(const fl_address *address, const fl_options *options,
                       fl_error *error)
{
    if (options->http.http1_only && options->http.http2_only)
        return fl_error_set(error, FL_E_INVALID,
                            "option http.http2_only: not together with "
                            "http.http1_only");
    if (has_scheme(address, "https") || fl_address_is_local(address) ||
        options->http.allow_plaintext)
        return FL_OK;
    return fl_error_set(error, FL_E_INVALID,
                        "address '%s': everybody on the way could read and "
                        "change what is said; use https://, or allow it with "
                        "--allow-http (http.allow_plaintext)",
                        address->host);
}

static fl_status name_site(fl_http_client *client, fl_error *error)
{
    const fl_address *address = &client->address;
    fl_url *url = &client->site.url;
    fl_span target = fl_span_of(address->target);

    *url = (fl_url){
        .scheme =
            has_scheme(address, "https") ? FL_SPAN("https") : FL_SPAN("http"),
        .host = fl_span_of(address->host),
        .port = address->port,
        .has_port = true,
        .is_ipv6 = strchr(address->host, ':') != NULL,
    };
    fl_status rc = fl_url_write_authority(url, &client->authority);
    if (rc == FL_OK && (target.len == 0 || target.ptr[0] != '/'))
        rc = fl_buf_append(&client->target, FL_SPAN("/"));
    if (rc == FL_OK)
        rc = fl_buf_append(&client->target, target);
    client->site.authority = fl_buf_view(&client->authority);
    return rc == FL_OK ? FL_OK : no_memory(error);
}

static fl_status prepare(fl_http_client *client, fl_field *fields, size_t count)
{
    fl_status rc = fl_fields_init(&client->fields, fields, count);

    client->site.fields = &client->fields;
    fields[count++] = FL_FIELD_SET(CONTENT_TYPE, FL_SPAN("application/json"));
    fields[count++] =
        FL_FIELD_SET(ACCEPT, FL_SPAN("application/json, text/event-stream"));
    return rc == FL_OK ? fl_fields_init(&client->post_fields, fields, count)
                       : rc;
}

static fl_status make_fields(fl_http_client *client, const fl_options *options,
                             fl_error *error)
{
    fl_field fields[OWN_FIELDS + CUSTOM_MAX + POST_FIELDS];
    fl_buf names;
    size_t count = 0;

    fields[count++] = FL_FIELD_SET(USER_AGENT, FL_SPAN("fairlead/" FL_VERSION));
    if (!options->http.no_compression)
        fields[count++] = FL_FIELD_SET(ACCEPT_ENCODING, FL_SPAN("gzip"));
    if (client->site.absolute && client->proxy.authorization != NULL)
        fields[count++] =
            (fl_field){FL_SPAN("proxy-authorization"),
                       fl_span_of(client->proxy.authorization), FL_FIELD_OTHER};
    fl_status rc =
        fl_http_fields_custom(options->http.headers, fields,
                              OWN_FIELDS + CUSTOM_MAX, &count, &names, error);
    if (rc == FL_OK) {
        rc = prepare(client, fields, count);
        if (rc != FL_OK)
            fl_error_set(error, rc, "option http.headers: %s",
                         fl_status_text(rc));
    }
    fl_buf_reset(&names);
    return rc;
}

static fl_status make_tls(fl_http_client *client, const fl_options *options,
                          fl_error *error)
{
    static const char *const both[] = {"h2", "http/1.1", NULL};
    static const char *const old[] = {"http/1.1", NULL};
    static const char *const h2[] = {"h2", NULL};

    if (!has_scheme(&client->address, "https"))
        return FL_OK;
    return fl_tls_new_client(
        &(fl_tls_options){
            .cert_file = options->tls.cert_file,
            .key_file = options->tls.key_file,
            .ca_file = options->tls.ca_file,
            .insecure_skip_verify = options->tls.insecure_skip_verify,
            .alpn = options->http.http1_only   ? old
                    : options->http.http2_only ? h2
                                               : both,
        },
        &client->tls, error);
}

static bool names_authorization(const fl_fields *fields)
{
    for (size_t i = 0; i < fields->count; i++)
        if (fields->fields[i].id == FL_FIELD_AUTHORIZATION)
            return true;
    return false;
}

static unsigned version_for(const fl_http_client *client,
                            const fl_options *options)
{
    if (options->http.http2_only)
        return 20;
    return options->http.http1_only || client->tls == NULL ? 11 : 0;
}

static fl_status make_pool(fl_http_client *client, const fl_options *options,
                           fl_error *error)
{
    const fl_address *address = &client->address;
    const fl_proxy *proxy = &client->proxy;
    const char *name = options->tls.server_name;
    fl_status rc = FL_OK;
    fl_buf tunnel;

    fl_buf_init(&tunnel, TUNNEL_MAX);
    if (proxy->used && client->tls != NULL)
        rc = fl_proxy_write_connect(proxy, address->host, address->port,
                                    &tunnel);
    if (rc == FL_OK)
        rc = fl_http_pool_new(
            client->link.loop,
            &(fl_http_pool_options){
                .connect = {.host = proxy->used ? proxy->host
                                                : fl_address_host(address),
                            .port = proxy->used ? proxy->port : address->port,
                            .path = fl_address_socket(address),
                            .tls = client->tls,
                            .server_name = name != NULL ? name : address->host,
                            .tunnel = fl_buf_view(&tunnel).ptr,
                            .limits = fl_options_limits(options)},
                .version = version_for(client, options),
                .keep = options->http.pool,
                .overflow = options->http.pool_overflow,
                .on_room = fl_http_client_on_room,
                .on_gone = fl_http_client_on_gone,
                .user = client,
            },
            &client->site.pool);
    if (tunnel.ptr != NULL)
        fl_mem_wipe(tunnel.ptr, tunnel.cap);
    fl_buf_reset(&tunnel);
    return rc == FL_OK ? FL_OK : no_memory(error);
}

static fl_status choose_proxy(fl_http_client *client, const fl_options *options,
                              fl_error *error)
{
    bool tls = has_scheme(&client->address, "https");
    fl_proxy_env env = fl_proxy_env_read();

    if (options->http.no_proxy || fl_address_socket(&client->address) != NULL)
        return FL_OK;
    fl_status rc = fl_proxy_choose(&env, tls, client->address.host,
                                   client->address.port, &client->proxy, error);
    client->site.absolute = client->proxy.used && !tls;
    if (client->site.absolute && options->http.http2_only)
        return fl_error_set(error, FL_E_UNSUPPORTED,
                            "option http.http2_only: not through a proxy for "
                            "http:// (http_proxy), which is spoken to in "
                            "HTTP/1.1; http.no_proxy goes without it");
    return rc;
}

/* The whole URL, for who shows credentials to this server alone. */
static fl_status attach(fl_http_client *client, const fl_options *options,
                        fl_error *error)
{
    fl_auth *auth = options->http.auth;
    fl_span path, query;
    fl_buf url;

    if (auth == NULL)
        return FL_OK;
    if (fl_address_socket(&client->address) != NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "option http.auth: not through a Unix socket, for "
                            "a token is made out for an address; send one in "
                            "http.headers");
    if (names_authorization(&client->fields))
        return fl_error_set(error, FL_E_INVALID,
                            "option http.auth: not together with a header "
                            "Authorization in http.headers");
    fl_buf_init(&url, AUTHORITY_MAX + sizeof client->address.target + 16);
    fl_url_split_target(fl_buf_view(&client->target), &path, &query);
    fl_span parts[] = {client->site.url.scheme, FL_SPAN("://"),
                       client->site.authority, path};
    fl_status rc = fl_buf_append_all(&url, parts, 4);
    rc = rc == FL_OK ? auth->ops->attach(auth, client->link.loop,
                                         fl_buf_view(&url), options, error)
                     : no_memory(error);
    fl_buf_reset(&url);
    if (rc == FL_OK)
        client->auth = client->standing_badge.auth =
            client->channel_badge.auth = auth;
    return rc;
}

static fl_http_client *make(fl_loop *loop, const fl_address *address,
                            const fl_options *options)
{
    fl_http_client *client = fl_mem_zalloc(sizeof *client);
    bool is_sse = strncmp(address->scheme, "sse+", 4) == 0;

    if (client == NULL)
        return NULL;
    fl_link_init(&client->link,
                 is_sse ? &fl_http_client_sse_transport
                        : &fl_http_client_transport,
                 loop, false);
    client->mode = is_sse ? FL_HTTP_CHANNEL : FL_HTTP_STREAMABLE;
    client->address = *address;
    client->max_message = options->max_message;
    client->reconnects = !options->no_reconnect;
    client->site.loop = loop;
    client->site.max_body = options->max_message;
    client->site.retry_ms =
        options->no_reconnect ? 0 : options->reconnect_first_ms;
    client->outage = (fl_backoff){
        .first_ms = options->reconnect_first_ms,
        .max_ms = options->reconnect_max_ms,
        .attempts = options->reconnect_attempts,
    };
    fl_mirrors_init(&client->mirrors);
    fl_list_init(&client->posts);
    fl_list_init(&client->spares);
    fl_list_init(&client->held);
    fl_buf_init(&client->authority, AUTHORITY_MAX);
    fl_buf_init(&client->target, sizeof address->target + 1);
    fl_buf_init(&client->endpoint, ENDPOINT_MAX);
    fl_http_client_init(client);
    return client;
}

fl_status fl_http_connect(fl_loop *loop, const fl_address *address,
                          const fl_options *options,
                          const fl_link_events *events, void *user,
                          fl_link **out, fl_error *error)
{
    *out = NULL;
    fl_status rc = check(address, options, error);
    if (rc != FL_OK)
        return rc;
    fl_http_client *client = make(loop, address, options);
    if (client == NULL)
        return no_memory(error);
    rc = choose_proxy(client, options, error);
    if (rc == FL_OK)
        rc = name_site(client, error);
    if (rc == FL_OK)
        rc = make_fields(client, options, error);
    if (rc == FL_OK)
        rc = make_tls(client, options, error);
    if (rc == FL_OK)
        rc = make_pool(client, options, error);
    if (rc == FL_OK)
        rc = attach(client, options, error);
    if (rc != FL_OK) {
        fl_link_unref(&client->link);
        return rc;
    }
    client->link.events = events;
    client->link.user = user;
    fl_http_client_start(client);
    *out = &client->link;
    return FL_OK;
}
