/*
 * http_server.c - listens for HTTP connections and decides who is served.
 *
 * Looked at in this order, cheapest first: may this address come at all, does
 * it come too often, has it too many connections, is there room. Who is
 * refused for reasons that pass is told so, in HTTP, as the answer to his first
 * request; who is denied is not spoken to.
 *
 * A listener that closes lets its connections finish what they are at, and has
 * closed when the last of them has gone.
 */
#include "transport/http_server.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "io/tls.h"
#include "transport/defaults.h"

enum { REFUSED_MAX = 64 }; /* refused connections being told so at one time */

static void log_refused(fl_http_hub *hub, const char *reason,
                        const char *address)
{
    fl_log_say(fl_loop_log(hub->loop), FL_LOG_WARN, "connection refused",
               fl_log_text("reason", fl_span_of(reason)),
               fl_log_text("peer", fl_span_of(address)));
}

const char *fl_http_refusal_text(fl_http_turned_away why)
{
    static const char *const texts[] = {
        [FL_HTTP_WELCOME] = "",
        [FL_HTTP_TOO_OFTEN] = "too many new connections from this address "
                              "(max_per_second)",
        [FL_HTTP_TOO_MANY] = "too many connections from this address "
                             "(http.max_connections_per_address)",
        [FL_HTTP_FULL] = "connection limit reached (max_connections)",
    };
    return texts[why];
}

static fl_http_turned_away examine(fl_http_hub *hub, const char *address,
                                   const fl_http_caller *caller,
                                   uint64_t *retry_ms)
{
    char owner[FL_ADDRESSES_OWNER];

    *retry_ms = 0;
    if (hub->rate != NULL &&
        !fl_rate_take(hub->rate, fl_addresses_owner(address, owner),
                      fl_loop_now(hub->loop), retry_ms)) {
        *retry_ms += *retry_ms == 0;
        return FL_HTTP_TOO_OFTEN;
    }
    if (caller->connections >= hub->options.http.max_connections_per_address)
        return FL_HTTP_TOO_MANY;
    if (hub->connections >= hub->options.max_connections)
        return FL_HTTP_FULL;
    return FL_HTTP_WELCOME;
}

static void on_accept(void *user, fl_stream *stream, const char *address)
{
    fl_http_hub *hub = ((fl_http_listener *)user)->hub;
    fl_http_caller *caller;
    uint64_t retry_ms;

    if (hub->addresses != NULL &&
        !fl_addresses_allowed(hub->addresses, address)) {
        log_refused(hub, "address not allowed", address);
        fl_stream_close(stream);
        return;
    }
    if (address[0] == '\0')
        address = "unix"; /* whoever may use that socket is one user */
    caller = fl_http_hub_caller(hub, address);
    if (caller == NULL) {
        log_refused(hub, fl_status_text(FL_E_NOMEM), address);
        fl_stream_close(stream);
        return;
    }
    fl_http_turned_away refusal = examine(hub, address, caller, &retry_ms);
    if (refusal != FL_HTTP_WELCOME)
        log_refused(hub, fl_http_refusal_text(refusal), address);
    if (refusal != FL_HTTP_WELCOME && hub->refused >= REFUSED_MAX) {
        fl_http_hub_let_go(hub, caller);
        fl_stream_close(stream);
        return;
    }
    fl_http_conn_open(hub, stream, caller, refusal, retry_ms);
}

static void free_listener(fl_http_listener *self)
{
    self->hub->listener = self->hub->closing = NULL;
    fl_http_hub_unref(self->hub);
    fl_mem_free(self);
}

/* Sockets live on, as links do; so connections that are nothing else are not
 * waited for. */
static void leave_sockets(fl_http_hub *hub)
{
    for (fl_list *node = hub->conns.next; node != &hub->conns;) {
        fl_http_conn *conn = FL_LIST_ENTRY(node, fl_http_conn, node);
        node = node->next;
        if (!fl_http_conn_has_sockets_only(conn))
            continue;
        fl_list_remove(&conn->node);
        fl_list_append(&hub->yielded, &conn->node);
    }
}

/* Closed: the acceptor has gone, and so has every connection. */
void fl_http_listener_settle(fl_http_hub *hub)
{
    fl_http_listener *self = hub->closing;

    if (self == NULL || self->acceptor != NULL)
        return;
    leave_sockets(hub);
    if (!fl_list_empty(&hub->conns))
        return;
    fl_timer_stop(&hub->closer);
    self->listener.events->on_closed(&self->listener, self->listener.user);
    free_listener(self);
}

/* Whoever is owed an answer keeps his connection as long as his link lives,
 * which is for the owner of the links to say; who only stays is shown out. */
static void on_closer(fl_timer *timer)
{
    fl_http_hub *hub = FL_LIST_ENTRY(timer, fl_http_hub, closer);

    for (fl_list *node = hub->conns.next; node != &hub->conns;) {
        fl_http_conn *conn = FL_LIST_ENTRY(node, fl_http_conn, node);
        node = node->next;
        if (conn->closing)
            fl_stream_close(conn->stream); /* it had its time to read */
        else if (!fl_http_conn_is_busy(conn))
            fl_http_conn_break(conn, FL_E_CLOSED, "the server is closing");
    }
    fl_timer_start(&hub->closer, hub->options.drain_ms);
    fl_http_listener_settle(hub);
}

static void on_acceptor_closed(void *user)
{
    fl_http_listener *self = user;

    self->acceptor = NULL;
    fl_http_listener_settle(self->hub);
}

static const fl_acceptor_events acceptor_events = {
    .on_accept = on_accept,
    .on_closed = on_acceptor_closed,
};

static fl_status open_acceptor(fl_http_listener *self,
                               const fl_address *address,
                               const fl_options *options, fl_error *error)
{
    static const char *const alpn[] = {"h2", "http/1.1", NULL};
    fl_tls *tls;
    fl_status rc = fl_options_server_tls(options, address, alpn, &tls, error);

    if (rc != FL_OK)
        return rc;
    rc = fl_acceptor_open(self->listener.loop,
                          &(fl_acceptor_options){
                              .host = fl_address_host(address),
                              .port = address->port,
                              .path = fl_address_socket(address),
                              .mode = options->socket_mode,
                              .backlog = options->backlog,
                              .tls = tls,
                              .limits = fl_options_limits(options),
                          },
                          &acceptor_events, self, &self->acceptor, error);
    fl_tls_unref(tls);
    return rc;
}

fl_status fl_http_listen(fl_loop *loop, const fl_address *address,
                         const fl_options *options,
                         const fl_listener_events *events, void *user,
                         fl_listener **out, fl_error *error)
{
    fl_http_listener *self = fl_mem_zalloc(sizeof *self);

    if (self == NULL)
        return fl_error_set(error, FL_E_NOMEM, "%s",
                            fl_status_text(FL_E_NOMEM));
    fl_status rc = fl_http_hub_new(loop, address, options, &self->hub, error);
    if (rc != FL_OK) {
        fl_mem_free(self);
        return rc;
    }
    self->hub->listener = self;
    self->listener = (fl_listener){
        .transport = fl_transport_find(fl_span_of(address->scheme)),
        .loop = loop,
        .events = events,
        .user = user,
    };
    rc = open_acceptor(self, address, options, error);
    if (rc != FL_OK) {
        free_listener(self);
        return rc;
    }
    self->listener.port = fl_acceptor_port(self->acceptor);
    *out = &self->listener;
    return FL_OK;
}

void fl_http_close_listener(fl_listener *listener)
{
    fl_http_listener *self = (fl_http_listener *)listener;
    fl_http_hub *hub = self->hub;

    if (hub->closing != NULL)
        return;
    hub->listener = NULL;
    hub->closing = self;
    hub->sockets.leaving = true;
    fl_acceptor_close(self->acceptor);
    fl_timer_init(&hub->closer, hub->loop, on_closer);
    if (hub->options.drain_ms != FL_NEVER)
        fl_timer_start(&hub->closer, hub->options.drain_ms);
    for (fl_list *node = hub->conns.next; node != &hub->conns;) {
        fl_http_conn *conn = FL_LIST_ENTRY(node, fl_http_conn, node);
        node = node->next; /* it leaves the list later, never now */
        fl_http_conn_shut(conn);
    }
}
