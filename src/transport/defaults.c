/*
 * defaults.c - options checked and their zeroes replaced (K13).
 *
 * Ranges are a table: name, where it lies, default, least, most. So an option
 * that is added gets its check, its default and its error text in one line.
 */
#include "transport/defaults.h"

#include "base/span.h"
#include "base/status.h"
#include "guard/addresses.h"
#include "io/tls.h"
#include "transport/http_options.h"
#include "transport/ws_options.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define KIB ((uint64_t)1024)
#define MIB (1024 * KIB)

enum width { SIZE, MS, UINT, INT };

struct range {
    const char *name;
    size_t offset;
    enum width width;
    uint64_t normal; /* the default */
    uint64_t least, most;
};

#define RANGE(field, width, normal, least, most)                               \
    {                                                                          \
#field, offsetof(fl_options, field), width, normal, least, most        \
    }
#define DAY_MS ((uint64_t)24 * 3600 * 1000)

/* clang-format off */
static const struct range ranges[] = {
    RANGE(max_message, SIZE, 16 * MIB, 64, 1024 * MIB),
    RANGE(high_water, SIZE, 256 * KIB, 1, 1024 * MIB),
    RANGE(open_timeout_ms, MS, 5000, 1, DAY_MS),
    RANGE(send_timeout_ms, MS, 5000, 1, DAY_MS),
    RANGE(dead_peer_ms, MS, 30000, 1, DAY_MS),
    RANGE(idle_timeout_ms, MS, 300000, 1, DAY_MS),
    RANGE(lease_ms, MS, 30000, 1, DAY_MS),
    RANGE(drain_ms, MS, 1500, 1, DAY_MS),
    RANGE(max_in_flight, UINT, 1024, 1, 1000000),
    RANGE(max_connections, UINT, 1024, 1, 1000000),
    RANGE(max_per_second, UINT, 0, 0, 1000000),
    RANGE(backlog, INT, 1024, 1, 65535),
    RANGE(socket_buffer, INT, 0, 0, 64 * MIB),
    RANGE(socket_mode, UINT, 0600, 0001, 0777),
    RANGE(reconnect_attempts, UINT, 0, 0, 1000000),
    RANGE(reconnect_first_ms, MS, 1000, 1, DAY_MS),
    RANGE(reconnect_max_ms, MS, 60000, 1, DAY_MS),
    RANGE(outage_queue, SIZE, MIB, 1, 1024 * MIB),
    RANGE(http.max_head, SIZE, 32 * KIB, 256, 16 * MIB),
    RANGE(http.max_fields, UINT, 100, 4, 128),
    RANGE(http.max_streams, UINT, 100, 1, 10000),
    RANGE(http.max_sessions, UINT, 10000, 1, 10000000),
    RANGE(http.max_sessions_per_address, UINT, 1000, 1, 10000000),
    RANGE(http.max_connections_per_address, UINT, 1024, 1, 1000000),
    RANGE(http.memory_budget, SIZE, 256 * MIB, 64 * KIB, 1024 * (1024 * MIB)),
    RANGE(http.head_timeout_ms, MS, 10000, 1, DAY_MS),
    RANGE(http.body_timeout_ms, MS, 30000, 1, DAY_MS),
    RANGE(http.keepalive_ms, MS, 15000, 1, DAY_MS),
    RANGE(http.stream_after_ms, MS, 250, 1, DAY_MS),
    RANGE(http.session_idle_ms, MS, 3600000, 1, 30 * DAY_MS),
    RANGE(http.retry_ms, MS, 5000, 1, DAY_MS),
    RANGE(http.event_max, SIZE, 1000, 1, 1000000),
    RANGE(http.event_bytes, SIZE, 4 * MIB, 1, 1024 * MIB),
    RANGE(http.event_age_ms, MS, 300000, 1, DAY_MS),
    RANGE(http.give_up_ms, MS, 0, 0, DAY_MS),
    RANGE(http.pool, UINT, 10, 1, 1000),
    RANGE(http.pool_overflow, UINT, 5, 1, 1000),
    RANGE(ws.high_water, SIZE, 100 * KIB, 1, 1024 * MIB),
    RANGE(ws.ping_ms, MS, 30000, 1, DAY_MS),
    RANGE(ws.fragment_ms, MS, 30000, 1, DAY_MS),
    RANGE(ws.close_ms, MS, 2000, 1, DAY_MS),
    RANGE(child.stop_grace_ms, MS, 2000, 1, DAY_MS),
    RANGE(child.kill_grace_ms, MS, 2000, 1, DAY_MS),
};
/* clang-format on */

static uint64_t load(const fl_options *options, const struct range *range)
{
    const char *at = (const char *)options + range->offset;
    unsigned u;
    int i;
    uint64_t wide;

    static_assert(sizeof(size_t) == sizeof(uint64_t), "SIZE is read as MS is");
    switch (range->width) {
    case UINT:
        memcpy(&u, at, sizeof u);
        return u;
    case INT:
        memcpy(&i, at, sizeof i);
        return (uint64_t)(int64_t)i; /* a negative one is past every limit */
    case SIZE:
    case MS:
        break;
    }
    memcpy(&wide, at, sizeof wide);
    return wide;
}

static void store(fl_options *options, const struct range *range,
                  uint64_t value)
{
    char *at = (char *)options + range->offset;
    unsigned u = (unsigned)value; /* checked against the range before */

    if (range->width == UINT || range->width == INT)
        memcpy(at, &u, sizeof u);
    else
        memcpy(at, &value, sizeof value);
}

/* Only an int can have been negative. */
static fl_status refuse(const struct range *range, uint64_t value,
                        fl_error *error)
{
    bool negative = range->width == INT && value > INT64_MAX;

    return fl_error_set(error, FL_E_INVALID,
                        "option %s: %s%" PRIu64 " is out of range, want "
                        "%" PRIu64 " to %" PRIu64 "%s",
                        range->name, negative ? "-" : "",
                        negative ? 0 - value : value, range->least, range->most,
                        range->width == MS ? " ms, or FL_NEVER" : "");
}

static fl_status fill(fl_options *options, fl_error *error)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const struct range *range = &ranges[i];
        uint64_t value = load(options, range);
        if (value == 0) {
            store(options, range, range->normal);
            continue;
        }
        if (range->width == MS && value == FL_NEVER)
            continue;
        if (value < range->least || value > range->most)
            return refuse(range, value, error);
    }
    if (options->reconnect_first_ms > options->reconnect_max_ms)
        return fl_error_set(error, FL_E_INVALID,
                            "option reconnect_first_ms: %" PRIu64
                            " is more than reconnect_max_ms, which is %" PRIu64,
                            options->reconnect_first_ms,
                            options->reconnect_max_ms);
    return FL_OK;
}

static fl_status check_file(const char *option, const char *path,
                            fl_error *error)
{
    if (path == NULL || access(path, R_OK) == 0)
        return FL_OK;
    return fl_error_set(error, FL_E_INVALID,
                        "option %s: cannot read '%s'; want a PEM file", option,
                        path);
}

/* Files may be there for another address. But whoever asks for certificates
 * believes that nobody comes in without one. */
static fl_status refuse_plain(fl_error *error)
{
    return fl_error_set(error, FL_E_INVALID,
                        "option tls.require_client_cert: the address has no "
                        "TLS, so everybody could come in");
}

static fl_status check_tls(const fl_tls_settings *tls, bool used,
                           fl_error *error)
{
    if (!used && tls->require_client_cert)
        return refuse_plain(error);
    if (tls->server_name != NULL && tls->server_name[0] == '\0')
        return fl_error_set(error, FL_E_INVALID,
                            "option tls.server_name: empty; want the name in "
                            "the server's certificate");
    fl_status rc = check_file("tls.cert_file", tls->cert_file, error);

    if (rc == FL_OK)
        rc = check_file("tls.key_file", tls->key_file, error);
    if (rc == FL_OK)
        rc = check_file("tls.ca_file", tls->ca_file, error);
    if (rc == FL_OK && (tls->cert_file == NULL) != (tls->key_file == NULL))
        rc = fl_error_set(error, FL_E_INVALID,
                          "option %s: missing; certificate and key come "
                          "together",
                          tls->cert_file == NULL ? "tls.cert_file"
                                                 : "tls.key_file");
    return rc;
}

static fl_status check_addresses(const char *option, const char *const *list,
                                 fl_error *error)
{
    for (; list != NULL && *list != NULL; list++)
        if (!fl_addresses_valid(*list))
            return fl_error_set(error, FL_E_INVALID,
                                "option %s: '%s' is not an address; want "
                                "192.0.2.1, 10.0.0.0/8, ::1 or fd00::/8",
                                option, *list);
    return FL_OK;
}

static fl_status check_server_tls(const fl_options *full, fl_error *error)
{
    if (full->tls.cert_file == NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "option tls.cert_file: missing; a server with TLS "
                            "needs a certificate and its key");
    if (full->tls.require_client_cert && full->tls.ca_file == NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "option tls.ca_file: missing; "
                            "tls.require_client_cert needs to know whom to "
                            "trust");
    return FL_OK;
}

/* ws:// begins as http:// does. */
static bool is_http(const fl_address *address)
{
    return strstr(address->scheme, "http") != NULL ||
           fl_address_is_websocket(address);
}

fl_status fl_options_for_server(const fl_options *given,
                                const fl_address *address, fl_options *full,
                                fl_error *error)
{
    bool tls = fl_address_is_tls(address);

    *full = given != NULL ? *given : (fl_options){0};
    fl_status rc = fill(full, error);
    if (rc == FL_OK)
        rc = check_tls(&full->tls, tls, error);
    if (rc == FL_OK && tls)
        rc = check_server_tls(full, error);
    if (rc == FL_OK)
        rc = check_addresses("allow_addresses", full->allow_addresses, error);
    if (rc == FL_OK)
        rc = check_addresses("deny_addresses", full->deny_addresses, error);
    if (rc == FL_OK && is_http(address))
        rc = fl_http_options_for_server(address, &full->http, error);
    if (rc == FL_OK && is_http(address))
        rc = fl_ws_options_for_server(full, error);
    if (rc != FL_OK)
        return rc;

    bool asks_cert = tls && full->tls.require_client_cert;
    bool asks_key = is_http(address) && full->http.keys != NULL;
    if (address->path[0] == '@' && !full->allow_public && !asks_key)
        return fl_error_set(error, FL_E_DENIED,
                            "address 'unix:%s': an abstract socket has no "
                            "mode, so every local user could use it; give a "
                            "path, or set allow_public",
                            address->path);
    if (!fl_address_is_local(address) && !asks_cert && !asks_key &&
        full->http.keys != NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "address '%s://%s': keys are shown over HTTP and "
                            "WebSocket only, so this would be a way in "
                            "without one; bind it to 127.0.0.1, or require "
                            "client certificates (tls.require_client_cert)",
                            address->scheme, address->host);
    bool asks_who = asks_cert || asks_key;
    if (!fl_address_is_local(address) && !asks_who && !full->allow_public)
        return fl_error_set(error, FL_E_DENIED,
                            "address '%s': anybody who can reach it could use "
                            "this server; bind to 127.0.0.1, ask for keys "
                            "over HTTP (http.keys), require client "
                            "certificates (tls.require_client_cert), or set "
                            "allow_public",
                            address->host);
    return FL_OK;
}

static fl_status check_child(const fl_child_settings *child, fl_error *error)
{
    if (child->argv == NULL || child->argv[0] == NULL ||
        child->argv[0][0] == '\0')
        return fl_error_set(error, FL_E_INVALID,
                            "option child.argv: empty; want the command to "
                            "run and its arguments");
    if (child->set_uid && !child->set_gid)
        return fl_error_set(error, FL_E_INVALID,
                            "option child.gid: missing; with child.uid alone "
                            "the child would keep our group");
    for (const char *const *at = child->env; at != NULL && *at != NULL; at++)
        if (strchr(*at, '=') == NULL || **at == '=')
            return fl_error_set(error, FL_E_INVALID,
                                "option child.env: '%.*s' is not NAME=value",
                                (int)strcspn(*at, "="), *at);
    return FL_OK;
}

fl_status fl_options_for_client(const fl_options *given,
                                const fl_address *address, fl_options *full,
                                fl_error *error)
{
    *full = given != NULL ? *given : (fl_options){0};
    bool child = strcmp(address->scheme, "stdio") == 0;
    if (full->idle_timeout_ms == 0)
        full->idle_timeout_ms = FL_NEVER;
    /* a server of one thread does not read while it works, and may work long */
    if (full->send_timeout_ms == 0 && child)
        full->send_timeout_ms = FL_NEVER;

    fl_status rc = fill(full, error);
    if (rc == FL_OK)
        rc = check_tls(&full->tls, fl_address_is_tls(address), error);
    if (rc == FL_OK && child)
        rc = check_child(&full->child, error);
    if (rc == FL_OK && is_http(address))
        rc = fl_http_options_for_client(address, &full->http, error);
    if (rc == FL_OK && is_http(address))
        rc = fl_ws_options_for_client(full, error);
    if (rc == FL_OK && address->has_port && address->port == 0)
        rc = fl_error_set(error, FL_E_INVALID,
                          "address: port 0 is no place to connect to");
    return rc;
}

fl_status fl_options_server_tls(const fl_options *full,
                                const fl_address *address,
                                const char *const *alpn, fl_tls **tls,
                                fl_error *error)
{
    *tls = NULL;
    if (!fl_address_is_tls(address))
        return FL_OK;
    return fl_tls_new_server(
        &(fl_tls_options){
            .cert_file = full->tls.cert_file,
            .key_file = full->tls.key_file,
            .ca_file = full->tls.ca_file,
            .require_client_cert = full->tls.require_client_cert,
            .alpn = alpn,
        },
        tls, error);
}

fl_stream_limits fl_options_limits(const fl_options *full)
{
    return (fl_stream_limits){
        .high_water = full->high_water,
        /* one whole message may come on top of a full buffer */
        .out_max =
            (full->high_water > full->ws.high_water ? full->high_water
                                                    : full->ws.high_water) +
            full->max_message + 64 * KIB,
        .send_timeout_ms = full->send_timeout_ms,
        .open_timeout_ms = full->open_timeout_ms,
        .recv_buffer = full->socket_buffer,
        .send_buffer = full->socket_buffer,
        .dead_peer_ms = full->dead_peer_ms,
    };
}
