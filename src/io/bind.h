/*
 * bind.h - makes sockets that listen.
 */
#ifndef FL_IO_BIND_H
#define FL_IO_BIND_H

#include "io/acceptor.h"

/* A non-blocking socket that listens on what the options say. `limits` are
 * those of the options, with the defaults filled in. */
FL_MUST_USE fl_status fl_bind_listen(const fl_acceptor_options *options,
                                     const fl_stream_limits *limits, int *fd,
                                     fl_error *error);

#endif
