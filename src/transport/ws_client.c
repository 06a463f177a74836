/*
 * ws_client.c - a link to a WebSocket server that outlives the sockets it is
 * made of.
 *
 *   CONNECTING -> ACTIVE -> DISCONNECTED -> (wait, doubling) -> CONNECTING
 *
 * The same life as socket_client.c's, with a handshake in CONNECTING. What a
 * connection ends with decides whether another one is worth trying: a server
 * that turns us away by policy (a 4xx, a close with 1008) would do so again.
 */
#include "transport/ws_client.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/connect.h"
#include "io/loop.h"
#include "io/tls.h"
#include "transport/ws_client_impl.h"

static void schedule(fl_ws_client *client)
{
    fl_ws_link *ws = &client->ws;

    if (fl_redial_wait(&client->redial, &ws->link, &ws->timer) != FL_OK)
        fl_ws_link_give_up(ws, &client->redial.last);
}

static fl_status connect_stream(fl_ws_client *client)
{
    const fl_address *address = &client->address;
    const fl_proxy *proxy = &client->proxy;

    return fl_connect(client->ws.link.loop,
                      &(fl_connect_options){
                          .host = proxy->used ? proxy->host : address->host,
                          .port = proxy->used ? proxy->port : address->port,
                          .tls = client->tls,
                          .server_name = client->server_name,
                          .tunnel = fl_buf_view(&client->tunnel).ptr,
                          .limits = client->limits,
                      },
                      &client->ws.stream);
}

static void dial(fl_ws_client *client)
{
    fl_ws_link *ws = &client->ws;
    fl_status rc = connect_stream(client);

    client->shake.begun_ms = fl_loop_now(ws->link.loop);
    if (rc == FL_OK) {
        /* FL_AGAIN: a connection is never open at once */
        (void)!fl_stream_start(ws->stream, &fl_ws_shake_events, client);
        return;
    }
    fl_error_set(&client->redial.last, rc, "cannot connect: %s",
                 fl_status_text(rc));
    if (fl_link_move(&ws->link, FL_LINK_DISCONNECTED) == FL_OK)
        schedule(client);
}

void fl_ws_client_start(fl_ws_client *client)
{
    if (fl_link_move(&client->ws.link, FL_LINK_CONNECTING) == FL_OK)
        dial(client);
}

static void on_retry(fl_ws_link *ws)
{
    fl_ws_client *client = (fl_ws_client *)ws;

    if (ws->link.state == FL_LINK_CONNECTING)
        fl_ws_shake_timed_out(client);
    else
        fl_ws_client_start(client);
}

void fl_ws_client_failed(fl_ws_client *client, const fl_error *why, bool final)
{
    fl_ws_link *ws = &client->ws;

    fl_timer_stop(&ws->timer);
    fl_redial_lost(&client->redial, &ws->link, why);
    if (final || !client->redial.reconnects)
        fl_ws_link_give_up(ws, why);
    else if (fl_link_move(&ws->link, FL_LINK_DISCONNECTED) == FL_OK)
        fl_stream_close(ws->stream); /* on_gone goes on */
}

/* Each in a message of its own, past the high water mark: the stream has room
 * for all of them. */
static fl_status send_kept(fl_ws_client *client)
{
    fl_span lines = fl_buf_view(&client->redial.unsent);

    while (lines.len > 0) {
        fl_span line = {lines.ptr, fl_span_find(lines, '\n')};
        fl_status rc = fl_ws_link_answer(&client->ws.link, NULL, 0, &line, 1);
        if (rc != FL_OK)
            return rc;
        lines = fl_span_from(lines, line.len + 1);
    }
    fl_redial_sent(&client->redial);
    return FL_OK;
}

static void go_on(fl_ws_client *client, fl_span rest)
{
    fl_ws_link *ws = &client->ws;
    fl_status rc = send_kept(client);
    fl_error why;

    if (rc != FL_OK) {
        fl_error_set(&why, rc, "cannot send what was kept: %s",
                     fl_status_text(rc));
        fl_ws_link_fail(ws, FL_WS_INTERNAL, &why);
        return;
    }
    fl_redial_tell(&client->redial, &ws->link);
    if (rest.len > 0 && ws->pipe != NULL)
        fl_ws_link_on_data(ws, rest);
}

void fl_ws_client_open(fl_ws_client *client, fl_span rest)
{
    fl_ws_link *ws = &client->ws;
    fl_error why;

    fl_timer_stop(&ws->timer);
    fl_status rc =
        fl_ws_link_open(ws, &fl_ws_stream_pipe, &client->shake.agreed);
    if (rc != FL_OK) {
        fl_error_set(&why, rc, "cannot open the socket: %s",
                     fl_status_text(rc));
        fl_ws_client_failed(client, &why, false);
        return;
    }
    fl_stream_rebind(ws->stream, &fl_ws_stream_events, ws);
    fl_ws_shake_forget(client);
    fl_link_ref(&ws->link);
    go_on(client, rest);
    fl_link_unref(&ws->link);
}

static void on_lost(fl_ws_link *ws, const fl_error *why)
{
    fl_ws_client *client = (fl_ws_client *)ws;
    const fl_link_events *events = ws->link.events;
    bool turned_away = ws->close_heard && ws->close_code == FL_WS_POLICY;

    fl_redial_lost(&client->redial, &ws->link, why);
    if (turned_away || !client->redial.reconnects)
        fl_ws_link_give_up(ws, why);
    else if (fl_link_move(&ws->link, FL_LINK_DISCONNECTED) == FL_OK &&
             events->on_down != NULL)
        events->on_down(&ws->link, why);
}

static void on_gone(fl_ws_link *ws)
{
    fl_ws_client *client = (fl_ws_client *)ws;

    fl_ws_shake_forget(client);
    if (ws->link.state == FL_LINK_CLOSING)
        fl_ws_link_end(ws);
    else
        schedule(client);
}

static fl_status on_unsent(fl_ws_link *ws, const fl_span *parts, size_t count)
{
    return fl_redial_keep(&((fl_ws_client *)ws)->redial, parts, count);
}

static void free_client(fl_ws_link *ws)
{
    fl_ws_client *client = (fl_ws_client *)ws;

    fl_ws_shake_forget(client);
    fl_redial_deinit(&client->redial);
    fl_ws_packs_free(client->settings.frames.packs);
    fl_proxy_deinit(&client->proxy);
    if (client->tunnel.ptr != NULL) /* credentials */
        fl_mem_wipe(client->tunnel.ptr, client->tunnel.cap);
    fl_buf_reset(&client->tunnel);
    fl_tls_unref(client->tls);
    fl_mem_free(client->server_name);
    fl_buf_reset(&client->authority);
    fl_buf_reset(&client->target);
    fl_fields_deinit(&client->fields);
    fl_mem_free(client);
}

static const fl_ws_hooks hooks = {
    .on_lost = on_lost,
    .on_gone = on_gone,
    .on_unsent = on_unsent,
    .on_retry = on_retry,
    .free = free_client,
};

void fl_ws_client_init(fl_ws_client *client, fl_loop *loop)
{
    const fl_transport *transport =
        fl_transport_find(fl_span_of(client->address.scheme));

    fl_ws_link_init(&client->ws, transport, loop, false, &hooks,
                    &client->settings);
}
