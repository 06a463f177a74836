/*
 * ws_client_impl.h - the inside of a WebSocket client link.
 *
 *   ws_client.c        the link: connections made, lost, and made again
 *   ws_client_setup.c  from an address and options to a link
 *   ws_client_shake.c  the handshake: from a stream of bytes to a socket
 */
#ifndef FL_TRANSPORT_WS_CLIENT_IMPL_H
#define FL_TRANSPORT_WS_CLIENT_IMPL_H

#include "transport/http_proxy.h"
#include "transport/redial.h"
#include "transport/ws_client.h"
#include "transport/ws_link.h"
#include "wire/ws_handshake.h"

typedef struct fl_ws_client fl_ws_client;

/* What is there only while hands are shaken. */
typedef struct fl_ws_shake {
    fl_http *http; /* NULL: there is none */
    char accept[FL_WS_ACCEPT];
    uint64_t begun_ms; /* loop time at which the connection was asked for */
    unsigned status;   /* of the answer; 0: none yet */
    uint64_t asked_s;  /* its Retry-After; or 0 */
    const char *fault; /* of a 101; or NULL */
    fl_buf body;       /* of any other */
    fl_ws_agreed agreed;
    bool done; /* a 101 without fault came, and is whole */
} fl_ws_shake;

struct fl_ws_client {
    fl_ws_link ws; /* first. It has its stream while that is being made, too,
                      so that closing the link closes it; and no pipe */
    fl_ws_link_settings settings;
    fl_redial redial;
    fl_ws_shake shake;
    fl_address address;
    fl_proxy proxy;
    fl_buf tunnel; /* what to ask the proxy; empty: none */
    fl_tls *tls;   /* or NULL */
    char *server_name;
    fl_stream_limits limits;
    fl_buf authority;
    fl_buf target;
    fl_fields fields; /* with every request */
};

/* ws_client.c */
void fl_ws_client_init(fl_ws_client *client, fl_loop *loop);
/* CONNECTING, and the first attempt. */
void fl_ws_client_start(fl_ws_client *client);
/* The handshake is done; `rest` came behind it. */
void fl_ws_client_open(fl_ws_client *client, fl_span rest);
/* The attempt has failed; `final`: so would every other. */
void fl_ws_client_failed(fl_ws_client *client, const fl_error *why, bool final);

/* ws_client_shake.c: for the client's stream, `user` is the client. */
extern const fl_stream_events fl_ws_shake_events;
void fl_ws_shake_timed_out(fl_ws_client *client);
void fl_ws_shake_forget(fl_ws_client *client);

#endif
