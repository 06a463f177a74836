/*
 * server_run.c - a whole server program in one call: loop, signals, doors; and
 * one for the program that did not get so far.
 */
#include "base/log.h"
#include "base/span.h"
#include "io/loop.h"
#include "io/signals.h"

#include <fairlead/server.h>

#include <stdio.h>
#include <string.h>

enum { GRACE_MS = 1000 };

struct run {
    fl_server *server;
    fl_signals *signals;
    bool stdio; /* the peer of stdio leaving ends the program */
    bool closing;
};

static void on_closed(void *user)
{
    struct run *run = user;

    fl_signals_close(run->signals);
}

static void shut(void *user)
{
    struct run *run = user;

    if (run->closing)
        return;
    run->closing = true;
    if (run->server == NULL)
        on_closed(run);
    else
        fl_server_close(run->server, GRACE_MS, on_closed, run);
}

static void on_idle(void *user)
{
    struct run *run = user;

    if (run->stdio)
        shut(run);
}

static bool listen_all(struct run *run, fl_loop *loop, const char *const *urls)
{
    fl_error error;

    for (; *urls != NULL; urls++) {
        if (fl_server_listen(run->server, loop, *urls, NULL, &error) != FL_OK) {
            fprintf(stderr, "fairlead: %s\n", error.text);
            return false;
        }
        run->stdio = run->stdio || strcmp(*urls, "stdio:") == 0;
    }
    return true;
}

int fl_server_run(fl_server *server, const char *const *urls)
{
    struct run run = {.server = server};
    fl_log *log = fl_log_new(&(fl_log_options){.level = FL_LOG_WARN});
    fl_loop *loop = fl_loop_new_with(&(fl_loop_options){.log = log});

    if (loop != NULL)
        run.signals = fl_signals_watch(loop, shut, &run);
    bool ok = server != NULL && run.signals != NULL;
    if (!ok)
        fprintf(stderr, "fairlead: out of memory or descriptors\n");
    ok = ok && listen_all(&run, loop, urls);
    if (ok)
        fl_server_on_idle(server, on_idle, &run);
    else
        shut(&run);
    if (loop != NULL)
        fl_loop_run(loop);
    fl_server_free(server);
    fl_loop_free(loop);
    fl_log_free(log);
    return ok ? 0 : 1;
}

int fl_server_fail(fl_server *server)
{
    const char *why = "out of memory";

    if (server != NULL)
        why = fl_server_error(server)->status != FL_OK
                  ? fl_server_error(server)->text
                  : "the server could not be set up";
    fprintf(stderr, "fairlead: %s\n", why);
    fl_server_free(server);
    return 1;
}
