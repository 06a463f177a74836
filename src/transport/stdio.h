/*
 * stdio.h - the two sides of stdio, for stdio.c alone.
 */
#ifndef FL_TRANSPORT_STDIO_H
#define FL_TRANSPORT_STDIO_H

#include "transport/transport.h"

extern const fl_transport fl_transport_stdio;

/* stdio_server.c: this process's own stdin and stdout. */
FL_MUST_USE fl_status fl_stdio_listen(fl_loop *loop, const fl_address *address,
                                      const fl_options *options,
                                      const fl_listener_events *events,
                                      void *user, fl_listener **out,
                                      fl_error *error);
void fl_stdio_close_listener(fl_listener *listener);

/* stdio_client.c: a child process's. */
FL_MUST_USE fl_status fl_stdio_connect(fl_loop *loop, const fl_address *address,
                                       const fl_options *options,
                                       const fl_link_events *events, void *user,
                                       fl_link **out, fl_error *error);
/* Of a child the name is that of the server, or its command. */
void fl_stdio_info(const fl_link *link, fl_link_info *info);
FL_MUST_USE fl_status fl_stdio_operate(fl_link *link, const char *operation,
                                       fl_buf *answer);

#endif
