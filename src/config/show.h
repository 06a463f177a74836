/*
 * show.h - what was read, for people, with nothing in it that is secret.
 */
#ifndef FL_CONFIG_SHOW_H
#define FL_CONFIG_SHOW_H

#include "config/config.h"

/*
 * Appends each problem as a line of its own, as compilers do:
 *
 *     mcp.json:7:20: error: mcpServers.github.env.TOKEN: the variable ...
 */
FL_MUST_USE fl_status fl_config_show_problems(const fl_config *config,
                                              fl_buf *out);

/*
 * Appends the servers, some lines each. Variables stand there by name, what an
 * env file has by the word; what the file itself has in plain text is masked
 * where it looks like a secret or is called like one.
 */
FL_MUST_USE fl_status fl_config_show_servers(const fl_config *config,
                                             fl_buf *out);

#endif
