/*
 * demo.c - "fairlead demo": a server to try things with.
 *
 * It ends when it is told to (SIGINT, SIGTERM), and when stdio is all it
 * serves, with its client: a host that starts a server over stdio expects it
 * to go when stdin ends. stdout belongs to the protocol and to nothing else;
 * whatever there is to say goes to stderr (demo_hello.c).
 */
#include "cmd/demo.h"

#include "base/log.h"
#include "base/status.h"
#include "cmd/complain.h"
#include "cmd/demo_hello.h"
#include "cmd/door.h"
#include "cmd/exits.h"
#include "cmd/help.h"
#include "io/loop.h"
#include "io/signals.h"

#include <fairlead/version.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { GRACE_MS = 1000 };

#define DEFAULT_URL "tcp://127.0.0.1:7332"

struct demo {
    const fl_door_settings *settings;
    fl_loop *loop;
    fl_log *log;
    fl_server *server;
    fl_signals *signals;
    fl_demo_hello hello;
    bool only_stdio; /* so far */
    bool closing;
};

static void on_closed(void *user)
{
    struct demo *demo = user;

    fl_signals_close(demo->signals);
}

static void shut(void *user)
{
    struct demo *demo = user;

    if (demo->closing)
        return;
    demo->closing = true;
    fl_server_close(demo->server, GRACE_MS, on_closed, demo);
}

static void on_idle(void *user)
{
    struct demo *demo = user;

    if (demo->only_stdio)
        shut(demo);
}

static bool listen_on(struct demo *demo, const char *url)
{
    fl_error error;

    if (fl_server_listen(demo->server, demo->loop, url,
                         &demo->settings->options, &error) != FL_OK) {
        fl_complain("demo", "%s", error.text);
        if (error.status == FL_E_DENIED) /* the library speaks of options */
            fputs("On this command they are --require-client-cert and "
                  "--insecure-no-auth.\n",
                  stderr);
        return false;
    }
    if (strcmp(url, "stdio:") != 0)
        demo->only_stdio = false;
    fl_demo_hello_add(&demo->hello, url, fl_server_port(demo->server));
    return true;
}

static bool listen_all(struct demo *demo)
{
    const fl_flag_list *list = &demo->settings->listen;

    demo->only_stdio = true;
    if (list->count == 0)
        return listen_on(demo, isatty(STDIN_FILENO) ? DEFAULT_URL : "stdio:");
    for (size_t i = 0; i < list->count; i++)
        if (!listen_on(demo, list->items[i]))
            return false;
    return true;
}

static bool prepare(struct demo *demo)
{
    demo->loop = fl_loop_new_with(&(fl_loop_options){.log = demo->log});
    demo->server = fl_server_new("fairlead-demo", fl_version());
    if (demo->loop != NULL)
        demo->signals = fl_signals_watch(demo->loop, shut, demo);
    if (demo->server == NULL || demo->signals == NULL ||
        fl_demo_add_tools(demo->server) != FL_OK ||
        fl_demo_add_resources(demo->server) != FL_OK ||
        fl_server_set_instructions(demo->server,
                                   "A server to try clients with: its tools "
                                   "have no effects.") != FL_OK) {
        fl_complain("demo", "out of memory or descriptors");
        return false;
    }
    return listen_all(demo);
}

static int serve(const fl_door_settings *settings)
{
    struct demo demo = {.settings = settings};

    demo.log = fl_door_log(settings);
    demo.hello = fl_demo_hello_new(demo.log, settings);
    bool ok = demo.log != NULL && prepare(&demo);
    if (ok) {
        fl_server_on_idle(demo.server, on_idle, &demo);
        fl_demo_hello_done(&demo.hello);
    } else if (demo.server != NULL && demo.signals != NULL) {
        shut(&demo);
    } else {
        on_closed(&demo);
    }
    if (demo.loop != NULL)
        fl_loop_run(demo.loop);
    fl_server_free(demo.server);
    fl_loop_free(demo.loop);
    fl_log_free(demo.log);
    return ok ? FL_EXIT_OK : FL_EXIT_LOCAL;
}

static fl_status parse(char **argv, fl_door_settings *to, fl_error *error)
{
    fl_flag flags[FL_DOOR_FLAGS + 1];
    fl_words words;

    flags[fl_door_flags(to, flags)] = (fl_flag){0};
    fl_status rc = fl_flags_parse(flags, argv, &words, error);
    if (rc == FL_OK && (words.count > 0 || words.rest != NULL))
        rc = fl_error_set(error, FL_E_INVALID,
                          "'%s' is not an option; addresses come after "
                          "--listen",
                          words.count > 0 ? words.word[0] : "--");
    return rc;
}

int fl_demo(char **argv)
{
    fl_door_settings settings = {0};
    fl_error error;

    if (parse(argv, &settings, &error) != FL_OK)
        return fl_complain_usage("demo", &error);
    if (settings.help) {
        fl_help_demo(stdout);
        return FL_EXIT_OK;
    }
    fl_door_settle(&settings);
    return serve(&settings);
}
