/*
 * ws_h2.c - a stream of HTTP/2 as the pipe of a WebSocket (RFC 8441).
 *
 * The turn that was the CONNECT is the pipe: its exchange carries bytes both
 * ways until one side ends it, and other requests and sockets go on beside it
 * on the same connection. Windows of HTTP/2 do what a socket's buffers do
 * elsewhere: a peer that does not open its own is one that does not read.
 *
 * Nothing here may come back to the link from inside a call it makes, so that
 * the pipe has gone is told by the turn's timer.
 */
#include "transport/ws_server.h"

#include "base/span.h"
#include "base/status.h"

#include <stdio.h>

static const fl_http_turn *turn_of(const fl_ws_link *ws)
{
    return ((const fl_ws_socket *)ws)->turn;
}

static fl_ws_link *link_of(const fl_http_turn *turn)
{
    return (fl_ws_link *)turn->link;
}

static size_t count_pending(const fl_ws_link *ws)
{
    const fl_http_turn *turn = turn_of(ws);

    return turn->exchange != NULL ? fl_exchange_pending(turn->exchange) : 0;
}

static fl_status write_out(fl_ws_link *ws, const fl_span *parts, size_t count,
                           bool urgent)
{
    const fl_http_turn *turn = turn_of(ws);
    size_t high = ws->settings->high_water;

    if (turn->exchange == NULL)
        return FL_E_STATE;
    if (!urgent && count_pending(ws) >= high) {
        fl_exchange_drain_at(turn->exchange, high / 2);
        return FL_BUSY;
    }
    if (count == 0)
        return FL_OK;
    fl_status rc = fl_exchange_send(turn->exchange, parts, count, true);
    if (rc == FL_OK && count_pending(ws) >= high)
        fl_exchange_drain_at(turn->exchange, high / 2);
    fl_http_backlog_charge(turn->conn);
    return rc;
}

static void pause(fl_ws_link *ws, bool paused)
{
    const fl_http_turn *turn = turn_of(ws);

    if (turn->exchange != NULL)
        fl_exchange_pause(turn->exchange, paused);
}

/* What waits is HTTP/2's to send, once it is finished; a connection that does
 * not take it ends by its own rules. */
static void close_turn(fl_ws_link *ws, uint64_t flush_ms)
{
    fl_http_turn *turn = ((fl_ws_socket *)ws)->turn;
    fl_exchange *exchange = turn->exchange;

    fl_timer_start(&turn->timer, 0);
    if (exchange == NULL)
        return;
    fl_http_turn_let_go(turn);
    if (flush_ms > 0)
        fl_exchange_finish(exchange);
    else
        fl_exchange_reset(exchange);
}

static void name_peer(const fl_ws_link *ws, char name[FL_STREAM_NAME])
{
    const fl_http_turn *turn = turn_of(ws);

    if (turn->conn != NULL)
        fl_stream_peer_name(turn->conn->stream, name);
    else
        snprintf(name, FL_STREAM_NAME, "gone");
}

const fl_ws_pipe fl_ws_h2_pipe = {
    .write = write_out,
    .pending = count_pending,
    .pause = pause,
    .close = close_turn,
    .name = name_peer,
};

void fl_ws_h2_take(fl_http_turn *turn, fl_span bytes)
{
    if (bytes.len > 0)
        fl_ws_link_on_data(link_of(turn), bytes);
}

void fl_ws_h2_end(fl_http_turn *turn)
{
    fl_error why;

    fl_error_set(&why, FL_END, "%s", fl_status_text(FL_END));
    fl_ws_link_on_end(link_of(turn), &why);
}

void fl_ws_h2_writable(fl_http_turn *turn)
{
    fl_ws_link_on_drain(link_of(turn));
}

void fl_ws_h2_lost(fl_http_turn *turn, const fl_error *why)
{
    fl_ws_link_on_end(link_of(turn), why);
}

void fl_ws_h2_gone(fl_http_turn *turn)
{
    fl_ws_socket *socket = (fl_ws_socket *)link_of(turn);

    socket->turn = NULL;
    fl_ws_link_on_gone(&socket->ws); /* the turn holds a reference */
    fl_http_turn_free(turn);
}
