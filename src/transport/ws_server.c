/*
 * ws_server.c - from a request at our HTTP server to a WebSocket link.
 *
 * The door has looked at the connection, the Host and the Origin, as for any
 * request. Everything that can fail is done before the answer is given: after
 * a 101 nothing can be refused any more. Then HTTP/1.1 gives up its stream,
 * and the connection stays behind only to keep its place in the counts; in
 * HTTP/2 the request itself goes on, as the pipe (ws_h2.c).
 */
#include "transport/ws_server.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "transport/ws_shake.h"

enum { EXTENSIONS_MAX = 4096, FIELDS_MAX = 6 };

/* What is answered, as far as it is not the same for all. */
typedef struct handshake {
    char accept[FL_WS_ACCEPT]; /* "" in HTTP/2 */
    fl_span protocol;          /* empty: none */
    fl_buf extensions;         /* the same */
    fl_ws_agreed agreed;
} handshake;

/* The endpoint's own, unless it has a name. */
static char *name_path(const fl_http_hub *hub)
{
    const char *own = hub->options.ws.path;
    fl_span base = fl_span_of(hub->path);
    char *name = NULL;
    fl_buf path;

    if (hub->sockets_only || own != NULL)
        return fl_mem_string(fl_span_of(hub->sockets_only ? hub->path : own));
    while (base.len > 0 && base.ptr[base.len - 1] == '/')
        base.len--;
    fl_buf_init(&path, base.len + sizeof "/ws");
    if (fl_buf_append(&path, base) == FL_OK &&
        fl_buf_append(&path, FL_SPAN("/ws")) == FL_OK)
        name = fl_mem_string(fl_buf_view(&path));
    fl_buf_reset(&path);
    return name;
}

fl_status fl_ws_server_prepare(fl_http_hub *hub)
{
    if (!hub->sockets_only && (!hub->serve_mcp || hub->options.ws.off))
        return FL_OK;
    hub->limits.take_connect = true;
    hub->sockets = fl_ws_link_settings_from(&hub->options, false);
    hub->sockets.budget = &hub->budget;
    if (!hub->sockets.packing.off) {
        hub->sockets.frames.packs = fl_ws_packs_new();
        if (hub->sockets.frames.packs == NULL)
            return FL_E_NOMEM;
    }
    hub->socket_path = name_path(hub);
    return hub->socket_path != NULL ? FL_OK : FL_E_NOMEM;
}

/* One connection of HTTP/2 may carry many sockets: each counts as if it had
 * one of its own. */
static void count_in(fl_ws_socket *socket, fl_http_caller *caller)
{
    socket->caller = caller;
    caller->connections++;
    socket->hub->connections++;
}

static void count_out(fl_ws_socket *socket)
{
    fl_http_caller *caller = socket->caller;

    if (caller == NULL)
        return;
    socket->caller = NULL;
    socket->hub->connections--;
    caller->connections--;
    fl_http_hub_let_go(socket->hub, caller);
}

/* The place is free when the pipe is, whoever still holds the link. */
static void on_gone(fl_ws_link *ws)
{
    fl_ws_socket *socket = (fl_ws_socket *)ws;
    fl_http_conn *conn = socket->conn;

    socket->conn = NULL;
    if (conn != NULL)
        fl_http_conn_gone(conn);
    count_out(socket);
    fl_ws_link_end(ws);
}

static void free_socket(fl_ws_link *ws)
{
    fl_ws_socket *socket = (fl_ws_socket *)ws;

    fl_http_hub_unref(socket->hub);
    fl_mem_free(socket);
}

static const fl_ws_hooks hooks = {
    .on_gone = on_gone,
    .free = free_socket,
};

static const char *find_limit(const fl_http_turn *turn)
{
    const fl_http_hub *hub = turn->hub;

    if (turn->conn->version != 20) /* it was looked at when it came */
        return NULL;
    if (turn->conn->caller->connections >=
        hub->options.http.max_connections_per_address)
        return "too many connections from this address "
               "(http.max_connections_per_address)";
    return hub->connections >= hub->options.max_connections
               ? "connection limit reached (max_connections)"
               : NULL;
}

/* Why not; 0: it may. */
static unsigned examine(const fl_http_turn *turn, const fl_head *head,
                        const char **what)
{
    unsigned status = fl_ws_refused(head, what);

    if (status != 0)
        return status;
    *what = "the server is closing";
    if (turn->hub->listener == NULL)
        return 503;
    *what = find_limit(turn);
    if (*what != NULL)
        return 503;
    *what = "the memory budget (http.memory_budget) is used up";
    return fl_budget_open(&turn->hub->budget) ? 0 : 503;
}

static void refuse(fl_http_turn *turn, unsigned status, const char *what)
{
    fl_http_refuse(
        turn, &(fl_http_refusal){
                  .status = status,
                  .code = status == 503 ? FL_RPC_BUSY : FL_RPC_INVALID_REQUEST,
                  .message = fl_span_of(what),
                  .allow = status == 405 ? FL_SPAN("GET") : (fl_span){0},
                  .retry_ms = status == 503 ? 1000 : 0,
                  .upgrade = status == 426,
              });
}

static fl_status agree(const fl_http_turn *turn, const fl_head *head,
                       handshake *shake)
{
    fl_buf offers;

    fl_buf_init(&offers, turn->hub->options.http.max_head);
    fl_status rc = fl_ws_join(head, FL_FIELD_SEC_WEBSOCKET_EXTENSIONS, &offers);
    if (rc == FL_OK)
        rc = fl_ws_agree(fl_buf_view(&offers), &turn->hub->sockets.packing,
                         &shake->agreed, &shake->extensions);
    fl_buf_reset(&offers);
    return rc;
}

static fl_status negotiate(const fl_http_turn *turn, const fl_head *head,
                           handshake *shake)
{
    static const char *const protocols[] = {"mcp.v1", "mcp", NULL};

    *shake = (handshake){.protocol = fl_ws_choose_protocol(head, protocols)};
    fl_buf_init(&shake->extensions, EXTENSIONS_MAX);
    fl_status rc = agree(turn, head, shake);
    if (rc == FL_OK && turn->conn->version != 20)
        rc = fl_ws_shake_accept(fl_head_get(head, FL_FIELD_SEC_WEBSOCKET_KEY),
                                shake->accept);
    return rc;
}

static fl_ws_socket *make(fl_http_turn *turn, const fl_ws_agreed *agreed)
{
    bool h2 = turn->conn->version == 20;
    fl_http_hub *hub = turn->hub;
    fl_ws_socket *socket = fl_mem_zalloc(sizeof *socket);

    if (socket == NULL)
        return NULL;
    fl_ws_link_init(&socket->ws,
                    hub->sockets.tool_dialect ? &fl_ws_open_transport
                                              : &fl_transport_ws,
                    hub->loop, true, &hooks, &hub->sockets);
    socket->hub = fl_http_hub_ref(hub);
    socket->ws.link.endpoint = turn->endpoint;
    socket->ws.principal = turn->asked->principal;
    if (h2)
        socket->turn = turn;
    else
        socket->ws.stream = turn->conn->stream;
    if (fl_ws_link_open(&socket->ws, h2 ? &fl_ws_h2_pipe : &fl_ws_stream_pipe,
                        agreed) == FL_OK)
        return socket;
    fl_link_unref(&socket->ws.link);
    return NULL;
}

static fl_status answer(fl_http_turn *turn, const handshake *shake)
{
    fl_span extensions = fl_buf_view(&shake->extensions);
    bool h2 = turn->conn->version == 20;
    fl_field fields[FIELDS_MAX];
    size_t count = 0;

    fl_http_hub_tick(turn->hub);
    fields[count++] = FL_FIELD_SET(X_REQUEST_ID, fl_span_of(turn->asked->id));
    if (!h2) {
        fields[count++] = FL_FIELD_SET(UPGRADE, FL_SPAN("websocket"));
        fields[count++] = (fl_field){FL_SPAN("sec-websocket-accept"),
                                     fl_span_of(shake->accept), FL_FIELD_OTHER};
    }
    if (shake->protocol.len > 0)
        fields[count++] = FL_FIELD_SET(SEC_WEBSOCKET_PROTOCOL, shake->protocol);
    if (extensions.len > 0)
        fields[count++] = FL_FIELD_SET(SEC_WEBSOCKET_EXTENSIONS, extensions);
    fl_heading heading = {
        .status = h2 ? 200 : 101,
        .common = h2 ? &turn->hub->empty_fields : NULL,
        .fields = fields,
        .count = count,
        .length = h2 ? FL_HTTP_STREAMED : 0,
    };
    return h2 ? fl_exchange_respond(turn->exchange, &heading)
              : fl_exchange_answer(turn->exchange, &heading, NULL, 0);
}

/* What the request was becomes the pipe. */
static void take_over(fl_ws_socket *socket, fl_http_turn *turn)
{
    if (socket->turn != NULL) {
        count_in(socket, turn->conn->caller);
        turn->socket = true;
        turn->phase = FL_HTTP_STREAMING;
        turn->link = fl_link_ref(&socket->ws.link);
        fl_http_turn_forget(turn);
        return;
    }
    socket->conn = turn->conn;
    fl_http_turn_let_go(turn);
    fl_http_turn_free(turn);
    fl_http_conn_yield(socket->conn, &socket->ws);
}

static void hand_over(fl_ws_socket *socket)
{
    fl_listener *from = &socket->hub->listener->listener;
    fl_link *link = &socket->ws.link;

    from->events->on_link(from, link, from->user);
    if (link->events == NULL)
        fl_link_close(link);
}

/* The answer could not be given: the request goes as if it had never been
 * one. */
static void abort_socket(fl_ws_socket *socket, fl_http_turn *turn)
{
    fl_exchange *exchange = turn->exchange;

    socket->ws.pipe = NULL;
    socket->ws.stream = NULL;
    socket->turn = NULL;
    fl_ws_link_give_up(&socket->ws, NULL);
    fl_http_turn_let_go(turn);
    fl_http_turn_free(turn);
    fl_exchange_reset(exchange);
}

void fl_ws_server_admit(fl_http_turn *turn, const fl_head *head)
{
    const char *what;
    handshake shake;
    unsigned status = examine(turn, head, &what);

    if (status != 0) {
        refuse(turn, status, what);
        return;
    }
    fl_ws_socket *socket = NULL;
    fl_status rc = negotiate(turn, head, &shake);
    if (rc == FL_OK) {
        socket = make(turn, &shake.agreed);
        rc = socket != NULL ? answer(turn, &shake) : FL_E_NOMEM;
    }
    fl_buf_reset(&shake.extensions);
    if (socket == NULL) {
        refuse(turn, 503, fl_status_text(rc));
    } else if (rc != FL_OK) {
        abort_socket(socket, turn);
    } else {
        take_over(socket, turn);
        hand_over(socket);
    }
}
