/*
 * serve_replicas.h - the further places where the server of a command line
 * runs: --replica "URL [weight=N]".
 */
#ifndef FL_CMD_SERVE_REPLICAS_H
#define FL_CMD_SERVE_REPLICAS_H

#include "cmd/serve_line.h"

/* FL_E_INVALID: `error` says what to write instead. */
FL_MUST_USE fl_status fl_serve_replicas_check(const fl_serve_line *line,
                                              fl_error *error);

/* The server has been added, with this upstream. */
FL_MUST_USE fl_status fl_serve_replicas_add(const fl_serve_line *line,
                                            const fl_upstream *first,
                                            fl_gateway *gateway,
                                            fl_error *error);

#endif
