/*
 * ws_options.h - the options only WebSocket has, checked before anything
 * starts; http(s):// servers take sockets, so they have them too.
 */
#ifndef FL_TRANSPORT_WS_OPTIONS_H
#define FL_TRANSPORT_WS_OPTIONS_H

#include <fairlead/options.h>

/* To be called when those of HTTP are filled in. */
FL_MUST_USE fl_status fl_ws_options_for_server(fl_options *full,
                                               fl_error *error);
FL_MUST_USE fl_status fl_ws_options_for_client(fl_options *full,
                                               fl_error *error);

#endif
