/*
 * ws.c - the table row of WebSocket.
 *
 * A ws:// server is an HTTP server with nothing but sockets behind its door;
 * an http:// server makes the same links beside its own.
 */
#include "transport/http_server.h"
#include "transport/ws_client.h"

static const char *const schemes[] = {"ws", "wss", NULL};
static const char *const none[] = {NULL};

#define SOCKET                                                                 \
    .send = fl_ws_link_send, .answer = fl_ws_link_answer,                      \
    .close = fl_ws_link_close, .free = fl_ws_link_free,                        \
    .info = fl_ws_link_info

const fl_transport fl_transport_ws = {
    .name = "ws",
    .schemes = schemes,
    .address = FL_ADDRESS_URL,
    .traits = FL_LINK_CHANNEL | FL_LINK_NETWORK | FL_LINK_RECONNECTS,
    .listen = fl_http_listen,
    .connect = fl_ws_connect,
    .close_listener = fl_http_close_listener,
    .serve = fl_http_serve,
    SOCKET,
};

const fl_transport fl_ws_open_transport = {
    .name = "ws",
    .schemes = none,
    .traits = FL_LINK_CHANNEL | FL_LINK_NETWORK | FL_LINK_OPEN,
    SOCKET,
};
