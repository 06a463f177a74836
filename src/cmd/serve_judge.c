/*
 * serve_judge.c - whether the servers of a file can be served together.
 *
 * Each of them may be right by itself, which the file's reader has seen to.
 * What they are together is judged here, at the start, for --check and when the
 * file is read again, before anything is done about it: a file is taken whole,
 * or not at all.
 */
#include "cmd/serve_config.h"

#include "base/status.h"
#include "gateway/aggregate.h"

#include <string.h>

static fl_status at(const fl_config *config, const fl_config_server *server,
                    const fl_error *why, fl_error *error)
{
    return fl_error_set(error, why->status, "%s:%zu: %s: %s",
                        fl_config_file(config), server->line, server->name,
                        why->text);
}

/* Names are of paths, which are there whatever else is. Prefixes are of the
 * list of all, which is not there if a server without a name has its place. */
static fl_status compare(const fl_naming *one, const fl_config_server *server,
                         bool listed, fl_error *why)
{
    if (strcmp(one->name, server->name) == 0)
        return fl_error_set(why, FL_E_IN_USE, "two servers are named %s",
                            server->name);
    return listed ? fl_aggregate_compare(
                        one, &(fl_naming){server->name, server->prefix}, why)
                  : FL_OK;
}

/* The server with those before it, and with that of the command line. */
static fl_status judge(const fl_serve_line *line, const fl_config *config,
                       size_t i, fl_error *error)
{
    size_t count;
    const fl_config_server *servers = fl_config_servers(config, &count);
    const char *name = line->has_target ? line->upstream.name : NULL;
    bool listed = !line->has_target || name != NULL;
    fl_status rc = FL_OK;
    fl_error why;

    if (name != NULL)
        rc = compare(&(fl_naming){name, NULL}, &servers[i], listed, &why);
    for (size_t j = 0; j < i && rc == FL_OK; j++)
        if (!servers[j].disabled)
            rc = compare(&(fl_naming){servers[j].name, servers[j].prefix},
                         &servers[i], listed, &why);
    return rc == FL_OK ? FL_OK : at(config, &servers[i], &why, error);
}

fl_status fl_serve_config_judge(const fl_serve_line *line,
                                const fl_config *config, fl_error *error)
{
    size_t count, served = 0;
    const fl_config_server *servers = fl_config_servers(config, &count);
    fl_status rc = FL_OK;

    for (size_t i = 0; i < count && rc == FL_OK; i++) {
        if (servers[i].disabled)
            continue;
        rc = judge(line, config, i, error);
        served++;
    }
    if (rc == FL_OK && served == 0 && !line->has_target)
        rc = fl_error_set(error, FL_E_INVALID, "%s: there is no server in it%s",
                          fl_config_file(config),
                          count > 0 ? " that can be served" : "");
    return rc;
}
