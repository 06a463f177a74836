/*
 * defaults.h - options checked and their zeroes replaced, before anything
 * starts (K13).
 */
#ifndef FL_TRANSPORT_DEFAULTS_H
#define FL_TRANSPORT_DEFAULTS_H

#include "io/stream.h"
#include "transport/address.h"

#include <fairlead/options.h>

/* `given` may be NULL: all defaults. FL_E_INVALID names the option, its value
 * and what would be right. Strings stay borrowed from `given`. */
FL_MUST_USE fl_status fl_options_for_server(const fl_options *given,
                                            const fl_address *address,
                                            fl_options *full, fl_error *error);
FL_MUST_USE fl_status fl_options_for_client(const fl_options *given,
                                            const fl_address *address,
                                            fl_options *full, fl_error *error);

/* The TLS of a listener on this address; NULL in `tls` if it has none. `alpn`
 * as in io/tls.h. */
FL_MUST_USE fl_status fl_options_server_tls(const fl_options *full,
                                            const fl_address *address,
                                            const char *const *alpn,
                                            fl_tls **tls, fl_error *error);

/* What the io room needs to know of checked options. */
fl_stream_limits fl_options_limits(const fl_options *full);

#endif
