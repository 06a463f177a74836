/*
 * ws_client.h - a link to a server behind a ws:// or wss:// address.
 */
#ifndef FL_TRANSPORT_WS_CLIENT_H
#define FL_TRANSPORT_WS_CLIENT_H

#include "transport/transport.h"

FL_MUST_USE fl_status fl_ws_connect(fl_loop *loop, const fl_address *address,
                                    const fl_options *options,
                                    const fl_link_events *events, void *user,
                                    fl_link **out, fl_error *error);

#endif
