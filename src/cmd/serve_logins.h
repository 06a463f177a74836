/*
 * serve_logins.h - who the gateway is to the servers of a file that ask.
 *
 * One login for each URL of each server, made when the place is added. A file
 * that is read again finds those it had: nobody is asked twice. They stay until
 * the end, for a place that has been taken out may have calls under way.
 */
#ifndef FL_CMD_SERVE_LOGINS_H
#define FL_CMD_SERVE_LOGINS_H

#include "base/list.h"
#include "cmd/login.h"
#include "config/config.h"

typedef struct fl_logins {
    const fl_login *line; /* its `how` is for those that say nothing, and its
                             `store` is a folder */
    fl_term term;         /* where a user is asked */
    fl_list all;
} fl_logins;

void fl_logins_init(fl_logins *logins, const fl_login *line);
void fl_logins_deinit(fl_logins *logins);

/* That of place `i` of a server, which is `place`. `*out` is NULL if there is
 * to be none; it belongs to `logins`. */
FL_MUST_USE fl_status fl_logins_find(fl_logins *logins,
                                     const fl_config_server *server, size_t i,
                                     const fl_config_server *place,
                                     fl_auth **out, fl_error *error);

#endif
