/*
 * socket_server.c - listens on TCP, TLS and Unix sockets.
 *
 * What the links of one listener share is its hub: the settings, the count
 * and the guards. The hub is counted, because links live on after their
 * listener has closed. A connection is looked at in this order, cheapest
 * first: may this address come at all, does it come too often, is there room.
 * Who is refused for reasons that pass is told so in one line before the
 * connection closes; who is denied is not spoken to.
 */
#include "transport/socket.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "guard/addresses.h"
#include "guard/rate.h"
#include "io/acceptor.h"
#include "io/loop.h"
#include "io/tls.h"
#include "rpc/error.h"
#include "transport/defaults.h"
#include "transport/line_link.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

enum {
    RATE_KEYS = 4096, /* addresses remembered */
    REFUSED_MAX = 64, /* refused connections being told so at one time */
};

typedef struct socket_listener socket_listener;

struct hub {
    fl_line_settings settings;
    socket_listener *listener; /* NULL once it has closed */
    unsigned refs;
    unsigned connections;
    unsigned refused; /* of them, those that are only being told */
    unsigned max_connections;
    fl_addresses *addresses; /* NULL: everybody */
    fl_rate *rate;           /* NULL: any number */
};

struct socket_listener {
    fl_listener listener;
    fl_acceptor *acceptor;
    struct hub *hub;
};

typedef struct server_link {
    fl_line_link line;
    struct hub *hub;
    uint32_t retry_ms; /* not 0: it came too often, and may again by then */
    bool refused;      /* to be told and closed */
} server_link;

static_assert(sizeof(server_link) <= 264, "an idle link stays small");

static void hub_unref(struct hub *hub)
{
    if (--hub->refs > 0)
        return;
    fl_addresses_free(hub->addresses);
    fl_rate_free(hub->rate);
    fl_mem_free(hub);
}

static fl_status hub_new(const fl_options *options, struct hub **out)
{
    struct hub *hub = fl_mem_zalloc(sizeof *hub);
    fl_status rc = FL_OK;

    *out = hub;
    if (hub == NULL)
        return FL_E_NOMEM;
    hub->refs = 1;
    hub->settings = fl_line_settings_from(options);
    hub->max_connections = options->max_connections;
    if (options->allow_addresses != NULL || options->deny_addresses != NULL)
        rc = fl_addresses_new(options->allow_addresses, options->deny_addresses,
                              &hub->addresses);
    if (rc == FL_OK && options->max_per_second > 0) {
        hub->rate = fl_rate_new(options->max_per_second,
                                options->max_per_second, RATE_KEYS);
        rc = hub->rate != NULL ? FL_OK : FL_E_NOMEM;
    }
    if (rc != FL_OK) {
        hub_unref(hub);
        *out = NULL;
    }
    return rc;
}

static const char *refusal(const server_link *link)
{
    return link->retry_ms > 0 ? "too many new connections from this address"
                              : "connection limit reached";
}

/* One line that says why, then the end. */
static void tell_refusal(server_link *link)
{
    char data[96];
    int n = link->retry_ms > 0
                ? snprintf(data, sizeof data, "{\"retryAfterMs\":%" PRIu32 "}",
                           link->retry_ms)
                : snprintf(data, sizeof data, "{\"limit\":%u}",
                           link->hub->max_connections);

    fl_line_link_complain(&link->line, FL_RPC_BUSY, fl_span_of(refusal(link)),
                          (fl_span){data, (size_t)n});
    fl_link_close(&link->line.link);
}

static void on_active(fl_line_link *line)
{
    server_link *link = (server_link *)line;
    socket_listener *from = link->hub->listener;

    if (link->refused) {
        tell_refusal(link);
        return;
    }
    if (from == NULL) { /* it closed while we shook hands */
        fl_link_close(&line->link);
        return;
    }
    from->listener.events->on_link(&from->listener, &line->link,
                                   from->listener.user);
    if (line->link.events == NULL)
        fl_link_close(&line->link);
}

/* The place is free when the connection is, whoever still holds the link. */
static void on_stream_gone(fl_line_link *line)
{
    server_link *link = (server_link *)line;

    link->hub->connections--;
    if (link->refused)
        link->hub->refused--;
    fl_line_link_end(line);
}

static void free_link(fl_line_link *line)
{
    server_link *link = (server_link *)line;

    hub_unref(link->hub);
    fl_mem_free(link);
}

static const fl_line_hooks server_hooks = {
    .on_active = on_active,
    .on_stream_gone = on_stream_gone,
    .free = free_link,
};

static void log_refused(socket_listener *from, const char *reason,
                        const char *address)
{
    fl_log_say(fl_loop_log(from->listener.loop), FL_LOG_WARN,
               "connection refused", fl_log_text("reason", fl_span_of(reason)),
               fl_log_text("peer", fl_span_of(address)));
}

/* Sets why the connection is refused; false: not even that is told. */
static bool examine(socket_listener *from, const char *address,
                    server_link *link)
{
    struct hub *hub = from->hub;
    uint64_t wait_ms = 0;
    char owner[FL_ADDRESSES_OWNER];

    if (hub->addresses != NULL &&
        !fl_addresses_allowed(hub->addresses, address)) {
        log_refused(from, "address not allowed", address);
        return false;
    }
    if (hub->rate != NULL &&
        !fl_rate_take(hub->rate, fl_addresses_owner(address, owner),
                      fl_loop_now(from->listener.loop), &wait_ms)) {
        link->refused = true;
        link->retry_ms = wait_ms > 0 ? (uint32_t)wait_ms : 1;
    } else if (hub->connections - hub->refused >= hub->max_connections) {
        link->refused = true;
    }
    if (!link->refused)
        return true;
    log_refused(from, refusal(link), address);
    return hub->refused < REFUSED_MAX;
}

static void on_accept(void *user, fl_stream *stream, const char *address)
{
    socket_listener *from = user;
    server_link verdict = {0};

    if (!examine(from, address, &verdict)) {
        fl_stream_close(stream);
        return;
    }
    server_link *link = fl_mem_alloc(sizeof *link);
    if (link == NULL) {
        log_refused(from, fl_status_text(FL_E_NOMEM), address);
        fl_stream_close(stream);
        return;
    }
    *link = verdict;
    link->hub = from->hub;
    link->hub->refs++;
    link->hub->connections++;
    if (link->refused)
        link->hub->refused++;
    fl_line_link_init(&link->line, from->listener.transport,
                      from->listener.loop, true, &server_hooks,
                      &link->hub->settings);
    fl_line_link_attach(&link->line, stream);
}

static void free_listener(socket_listener *listener)
{
    listener->hub->listener = NULL;
    hub_unref(listener->hub);
    fl_mem_free(listener);
}

static void on_acceptor_closed(void *user)
{
    socket_listener *listener = user;

    listener->listener.events->on_closed(&listener->listener,
                                         listener->listener.user);
    free_listener(listener);
}

static const fl_acceptor_events acceptor_events = {
    .on_accept = on_accept,
    .on_closed = on_acceptor_closed,
};

static fl_status open_acceptor(socket_listener *listener,
                               const fl_address *address,
                               const fl_options *options, fl_error *error)
{
    fl_tls *tls;
    fl_status rc = fl_options_server_tls(options, address, NULL, &tls, error);

    if (rc != FL_OK)
        return rc;
    rc = fl_acceptor_open(listener->listener.loop,
                          &(fl_acceptor_options){
                              .host = fl_address_host(address),
                              .port = address->port,
                              .path = fl_address_socket(address),
                              .mode = options->socket_mode,
                              .backlog = options->backlog,
                              .tls = tls,
                              .limits = fl_options_limits(options),
                          },
                          &acceptor_events, listener, &listener->acceptor,
                          error);
    fl_tls_unref(tls);
    return rc;
}

fl_status fl_socket_listen(fl_loop *loop, const fl_address *address,
                           const fl_options *options,
                           const fl_listener_events *events, void *user,
                           fl_listener **out, fl_error *error)
{
    socket_listener *listener = fl_mem_zalloc(sizeof *listener);
    fl_status rc = FL_E_NOMEM;

    if (listener == NULL || (rc = hub_new(options, &listener->hub)) != FL_OK) {
        fl_mem_free(listener);
        return fl_error_set(error, rc, "%s", fl_status_text(rc));
    }
    listener->hub->listener = listener;
    listener->listener = (fl_listener){
        .transport = fl_socket_transport(address),
        .loop = loop,
        .events = events,
        .user = user,
    };
    rc = open_acceptor(listener, address, options, error);
    if (rc != FL_OK) {
        free_listener(listener);
        return rc;
    }
    listener->listener.port = fl_acceptor_port(listener->acceptor);
    *out = &listener->listener;
    return FL_OK;
}

void fl_socket_close_listener(fl_listener *listener)
{
    socket_listener *self = (socket_listener *)listener;

    self->hub->listener = NULL; /* handshakes under way come to nothing */
    fl_acceptor_close(self->acceptor);
}
