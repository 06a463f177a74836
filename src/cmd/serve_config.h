/*
 * serve_config.h - the servers of a configuration file, for a gateway.
 */
#ifndef FL_CMD_SERVE_CONFIG_H
#define FL_CMD_SERVE_CONFIG_H

#include "cmd/serve_line.h"
#include "cmd/serve_logins.h"
#include "config/config.h"

/* Reads what the line names, and says on stderr what is wrong with it, be it
 * one server or what they are together. Unless it is FL_OK it cannot be used.
 * `*out` may be set all the same. */
FL_MUST_USE fl_status fl_serve_config_read(const fl_serve_line *line,
                                           fl_config **out);

/* serve_judge.c: whether they can be served together, beside what the line
 * names itself. FL_E_INVALID, FL_E_IN_USE: `error` says why not, and where. */
FL_MUST_USE fl_status fl_serve_config_judge(const fl_serve_line *line,
                                            const fl_config *config,
                                            fl_error *error);

/* Shows the servers on stdout. */
FL_MUST_USE fl_status fl_serve_config_show(const fl_config *config);

/* Where the servers of a file are put. */
typedef struct fl_serve_site {
    const fl_serve_line *line;
    fl_gateway *gateway;
    fl_logins *logins;
} fl_serve_site;

/* Puts a gateway that has the servers of `old` right: those that are not in
 * `config`, or otherwise, go, and what is new comes. Each that cannot is said
 * on stderr; the rest goes on. */
void fl_serve_config_change(const fl_serve_site *site, const fl_config *old,
                            const fl_config *config);

/* Adds those that are not switched off. */
FL_MUST_USE fl_status fl_serve_config_add(const fl_serve_site *site,
                                          const fl_config *config,
                                          fl_error *error);

#endif
