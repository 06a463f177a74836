/*
 * serve_places.h - the places where a server of a configuration file runs, for
 * those who add them and those who change them.
 */
#ifndef FL_CMD_SERVE_PLACES_H
#define FL_CMD_SERVE_PLACES_H

#include "base/buf.h"
#include "cmd/serve_config.h"

/* The entry itself, and its replicas after it. */
const fl_config_server *fl_serve_place_at(const fl_config_server *server,
                                          size_t i);
size_t fl_serve_count_places(const fl_config_server *server);

/* They look the same, as far as they may be shown. */
bool fl_serve_same_base(const fl_config_server *a, const fl_config_server *b);
/* What the place is called, with a NUL behind it; no two of a server are the
 * same. */
FL_MUST_USE fl_status fl_serve_write_label(const fl_config_server *server,
                                           size_t i, fl_buf *out);

typedef fl_status fl_serve_add_fn(fl_gateway *gateway,
                                  const fl_upstream *upstream, fl_error *error);

/* One place, by fl_gateway_add() or fl_gateway_add_replica(); and all of them.
 */
FL_MUST_USE fl_status fl_serve_add_place(const fl_serve_site *site,
                                         const fl_config_server *server,
                                         size_t i, fl_serve_add_fn *add,
                                         fl_error *error);
FL_MUST_USE fl_status fl_serve_add_server(const fl_serve_site *site,
                                          const fl_config_server *server,
                                          fl_error *error);

#endif
