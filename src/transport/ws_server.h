/*
 * ws_server.h - a WebSocket at our server, for ws_server.c and ws_h2.c.
 */
#ifndef FL_TRANSPORT_WS_SERVER_H
#define FL_TRANSPORT_WS_SERVER_H

#include "transport/http_server.h"

typedef struct fl_ws_socket {
    fl_ws_link ws; /* first */
    fl_http_hub *hub;
    fl_http_conn *conn;     /* HTTP/1.1: whose stream it has; NULL once gone */
    fl_http_turn *turn;     /* HTTP/2: whose exchange is its pipe; the same */
    fl_http_caller *caller; /* HTTP/2: whose connections it is one of */
} fl_ws_socket;

/* A turn's exchange as it is. */
extern const fl_ws_pipe fl_ws_h2_pipe;

#endif
