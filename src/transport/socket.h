/*
 * socket.h - the two sides of TCP, TLS and Unix sockets, for socket.c alone.
 */
#ifndef FL_TRANSPORT_SOCKET_H
#define FL_TRANSPORT_SOCKET_H

#include "transport/transport.h"

/* socket_server.c */
FL_MUST_USE fl_status fl_socket_listen(fl_loop *loop, const fl_address *address,
                                       const fl_options *options,
                                       const fl_listener_events *events,
                                       void *user, fl_listener **out,
                                       fl_error *error);
void fl_socket_close_listener(fl_listener *listener);

/* socket_client.c */
FL_MUST_USE fl_status fl_socket_connect(
    fl_loop *loop, const fl_address *address, const fl_options *options,
    const fl_link_events *events, void *user, fl_link **out, fl_error *error);

/* The link's row in the table, by the scheme of its address. */
const fl_transport *fl_socket_transport(const fl_address *address);

#endif
