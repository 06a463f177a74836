/*
 * serve.c - "fairlead serve" and "fairlead connect": the gateway.
 *
 * serve puts a server, an address or a command, or those of a file, behind any
 * number of addresses. connect is the same with stdio as its only address, for
 * hosts that can do nothing but run a command; it ends with its host.
 */
#include "cmd/serve.h"

#include "base/span.h"
#include "base/status.h"
#include "cmd/complain.h"
#include "cmd/control.h"
#include "cmd/exits.h"
#include "cmd/help.h"
#include "cmd/serve_config.h"
#include "cmd/serve_line.h"
#include "cmd/serve_replicas.h"
#include "cmd/slurp.h"
#include "cmd/term.h"
#include "cmd/whereis.h"
#include "io/hangup.h"
#include "io/loop.h"
#include "io/signals.h"
#include "transport/address.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { DRAIN_MS = 5000 };

#define DEFAULT_URL "http://127.0.0.1:8080/mcp"

struct serve {
    const fl_serve_line *line;
    fl_options door; /* its, with the keys */
    fl_keys *keys;   /* or NULL */
    fl_loop *loop;
    fl_log *log;
    fl_gateway *gateway;
    fl_signals *signals;
    fl_control *control; /* or NULL */
    fl_config *config;   /* or NULL */
    fl_term term;        /* where a user is asked to log in */
    fl_auth *auth;       /* or NULL */
    fl_logins logins;    /* of the servers of the file */
    fl_hangup starter;   /* who holds the other end of stdin */
    bool only_stdio;     /* so far */
    bool closing;
};

static void on_closed(void *user)
{
    struct serve *serve = user;

    fl_hangup_deinit(&serve->starter);
    fl_control_close(serve->control);
    fl_signals_close(serve->signals);
}

static void shut(void *user)
{
    struct serve *serve = user;
    uint64_t drain_ms = serve->line->drain_ms;

    if (serve->closing)
        return;
    serve->closing = true;
    fl_gateway_close(serve->gateway, drain_ms > 0 ? drain_ms : DRAIN_MS,
                     on_closed, serve);
}

static void on_idle(void *user)
{
    struct serve *serve = user;

    if (serve->only_stdio)
        shut(serve);
}

/* People at a terminal get commands to paste. False: there are none. */
static bool greet(const fl_serve_line *line, const char *url, const char *ws)
{
    const char *name = line->upstream.name;
    fl_term term = fl_term_of(stderr);

    if (!term.is_tty || line->door.log_format == FL_LOG_JSON)
        return false;
    if (line->door.quiet || strcmp(url, "stdio:") == 0)
        return true; /* who is at the other end is no person */
    fl_term_say(&term, FL_TERM_BOLD, "Serving on %s\n", url);
    fl_term_say(&term, FL_TERM_PLAIN, "    %s call %s tools\n",
                program_invocation_name, url);
    if (ws[0] != '\0')
        fl_term_say(&term, FL_TERM_PLAIN,
                    "    %s call %s tools\n"
                    "    claude mcp add --transport http %s %s\n"
                    "    {\"mcpServers\": {\"%s\": {\"type\": \"http\", "
                    "\"url\": \"%s\"}}}\n",
                    program_invocation_name, ws, name != NULL ? name : "server",
                    url, name != NULL ? name : "server", url);
    if (ws[0] != '\0' && fl_door_keys_wanted(&line->keys))
        fl_term_say(&term, FL_TERM_PLAIN,
                    "Clients must show a key: \"X-API-Key: KEY\", or "
                    "\"Authorization: Bearer KEY\"\n"
                    "    %s call %s tools --header-file FILE\n",
                    program_invocation_name, url);
    return true;
}

/* Who listens on the way has the key then, too. */
static void warn_of_plain(const struct serve *serve, const char *url)
{
    fl_address address;

    if (serve->keys != NULL && fl_address_parse(url, &address, NULL) == FL_OK &&
        !fl_address_is_local(&address) && !fl_address_is_tls(&address))
        fl_log_say(serve->log, FL_LOG_WARN,
                   "keys come in the clear; put it behind TLS",
                   fl_log_text("url", fl_span_of(url)));
}

static bool listen_on(struct serve *serve, const char *url)
{
    const fl_serve_line *line = serve->line;
    char shown[FL_DOOR_URL], ws[FL_DOOR_URL];
    fl_error error;

    if (fl_gateway_listen(serve->gateway, serve->loop, url, &serve->door,
                          &error) != FL_OK) {
        fl_complain(line->command, "%s", error.text);
        if (error.status == FL_E_DENIED) /* the library speaks of options */
            fputs("On this command they are --api-key-file, "
                  "--require-client-cert and --insecure-no-auth.\n",
                  stderr);
        return false;
    }
    if (strcmp(url, "stdio:") != 0)
        serve->only_stdio = false;
    warn_of_plain(serve, url);
    fl_door_describe(url, fl_gateway_port(serve->gateway), shown);
    fl_door_describe_ws(&line->door, shown, ws);
    if (!greet(line, shown, ws))
        fl_door_announce(serve->log, shown, ws);
    return true;
}

static bool listen_all(struct serve *serve)
{
    const fl_flag_list *list = &serve->line->door.listen;

    serve->only_stdio = true;
    if (list->count == 0)
        return listen_on(serve, DEFAULT_URL);
    for (size_t i = 0; i < list->count; i++)
        if (!listen_on(serve, list->items[i]))
            return false;
    return true;
}

static void warn_of_missing(const fl_serve_line *line)
{
    const fl_child_settings *child = &line->upstream.client.connection.child;

    if (line->upstream.url == NULL && child->argv != NULL &&
        !fl_whereis(child->argv[0], child->cwd))
        fl_complain(line->command, "warning: there is no program '%s'",
                    child->argv[0]);
}

static fl_status add_target(struct serve *serve, fl_error *error)
{
    fl_upstream upstream = serve->line->upstream;

    if (!serve->line->has_target)
        return FL_OK;
    warn_of_missing(serve->line);
    serve->term = fl_term_of(stderr);
    fl_status rc =
        fl_login_open(&serve->line->login, &serve->term, &serve->auth, error);
    upstream.client.connection.http.auth = serve->auth;
    if (rc == FL_OK)
        rc = fl_gateway_add(serve->gateway, &upstream, error);
    return rc == FL_OK ? fl_serve_replicas_add(serve->line, &upstream,
                                               serve->gateway, error)
                       : rc;
}

/* A file that is wrong now changes nothing. */
static void reload_keys(struct serve *serve)
{
    const fl_serve_line *line = serve->line;
    fl_error error;

    if (fl_door_keys_load(&line->keys, serve->keys, &error) == FL_OK) {
        fl_log_say(serve->log, FL_LOG_INFO, "read again",
                   fl_log_text("file", fl_span_of(line->keys.file)));
        return;
    }
    fl_complain(line->command, "%s", error.text);
    fl_complain(line->command, "the keys stay as they were");
}

static fl_serve_site site_of(struct serve *serve)
{
    return (fl_serve_site){serve->line, serve->gateway, &serve->logins};
}

static void reload_servers(struct serve *serve)
{
    fl_config *config = NULL;

    if (fl_serve_config_read(serve->line, &config) != FL_OK) {
        fl_complain(serve->line->command, "the servers stay as they were");
        fl_config_free(config);
        return;
    }
    fl_serve_site site = site_of(serve);
    fl_serve_config_change(&site, serve->config, config);
    fl_config_free(serve->config);
    serve->config = config;
    fl_log_say(serve->log, FL_LOG_INFO, "read again",
               fl_log_text("file", fl_span_of(fl_config_file(config))));
}

/* Whoever writes to a pipe has gone, and to wait for him would stop all. */
static bool is_there_again(const fl_serve_line *line, const char *path)
{
    if (fl_slurp_is_file(path))
        return true;
    fl_complain(line->command, "%s is no file, and cannot be read again", path);
    return false;
}

static bool has_key_file(const fl_serve_line *line)
{
    return line->keys.file != NULL && strcmp(line->keys.file, "-") != 0;
}

static void reload(void *user)
{
    struct serve *serve = user;
    const fl_serve_line *line = serve->line;

    if (serve->closing)
        return;
    if (has_key_file(line) && is_there_again(line, line->keys.file))
        reload_keys(serve);
    if (line->config != NULL && is_there_again(line, line->config))
        reload_servers(serve);
}

static fl_status take_keys(struct serve *serve, fl_error *error)
{
    const fl_serve_line *line = serve->line;

    serve->door = line->door.options;
    if (!fl_door_keys_wanted(&line->keys))
        return FL_OK;
    serve->door.http.keys = serve->keys = fl_keys_new();
    if (serve->keys == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    return fl_door_keys_load(&line->keys, serve->keys, error);
}

static bool watch_stdin(struct serve *serve)
{
    if (!serve->line->until_stdin ||
        fl_hangup_init(&serve->starter, serve->loop, STDIN_FILENO, shut,
                       serve) == FL_OK)
        return true;
    fl_complain(serve->line->command, "option --until-stdin-ends: stdin cannot "
                                      "be watched");
    return false;
}

static bool prepare(struct serve *serve)
{
    /* beside a target, what the line says of a login is the target's */
    static const fl_login nobody = {0};
    const fl_serve_line *line = serve->line;
    fl_error error;

    serve->loop = fl_loop_new_with(&(fl_loop_options){.log = serve->log});
    serve->gateway = fl_gateway_new();
    if (serve->loop != NULL)
        serve->signals = fl_signals_watch(serve->loop, shut, serve);
    if (serve->gateway == NULL || serve->signals == NULL) {
        fl_complain(line->command, "out of memory or descriptors");
        return false;
    }
    fl_logins_init(&serve->logins, line->has_target ? &nobody : &line->login);
    fl_serve_site site = site_of(serve);
    if (take_keys(serve, &error) != FL_OK ||
        add_target(serve, &error) != FL_OK ||
        (serve->config != NULL &&
         fl_serve_config_add(&site, serve->config, &error) != FL_OK)) {
        fl_complain(line->command, "%s", error.text);
        return false;
    }
    if (line->config != NULL || has_key_file(line))
        fl_signals_on_hangup(serve->signals, reload);
    serve->control =
        fl_control_open(serve->gateway, serve->loop, line->control);
    return listen_all(serve) && watch_stdin(serve);
}

/* Takes the configuration. */
static int run(const fl_serve_line *line, fl_config *config)
{
    struct serve serve = {.line = line, .config = config};

    serve.log = fl_door_log(&line->door);
    bool ok = serve.log != NULL && prepare(&serve);
    if (ok)
        fl_gateway_on_idle(serve.gateway, on_idle, &serve);
    else if (serve.gateway != NULL && serve.signals != NULL)
        shut(&serve);
    else
        on_closed(&serve);
    if (serve.loop != NULL)
        fl_loop_run(serve.loop);
    fl_gateway_free(serve.gateway);
    fl_logins_deinit(&serve.logins);
    fl_auth_free(serve.auth);
    fl_keys_free(serve.keys);
    fl_loop_free(serve.loop);
    fl_log_free(serve.log);
    fl_config_free(serve.config);
    return ok ? FL_EXIT_OK : FL_EXIT_LOCAL;
}

/* From here on nobody else needs what is in the environment. */
static fl_status hide_keys(fl_serve_line *line)
{
    fl_error error;
    fl_status rc = fl_door_keys_hide(&line->keys, &error);

    if (rc != FL_OK)
        fl_complain(line->command, "%s", error.text);
    return rc;
}

static int run_or_check(fl_serve_line *line)
{
    fl_config *config = NULL;
    fl_status rc = FL_OK;

    if (line->config != NULL || line->config_json != NULL)
        rc = fl_serve_config_read(line, &config);
    if (rc == FL_OK && line->check)
        rc = fl_serve_config_show(config);
    else if (rc == FL_OK)
        rc = hide_keys(line);
    if (rc == FL_OK && !line->check)
        return run(line, config);
    fl_config_free(config);
    return rc == FL_OK ? FL_EXIT_OK : FL_EXIT_LOCAL;
}

static int serve(fl_serve_line *line, char **argv)
{
    fl_error error;
    int exit;

    if (fl_serve_line_read(line, argv, &error) != FL_OK) {
        exit = fl_complain_usage(line->command, &error);
    } else if (line->door.help) {
        fl_help_serve(stdout);
        exit = FL_EXIT_OK;
    } else {
        exit = run_or_check(line);
    }
    fl_serve_line_deinit(line);
    return exit;
}

int fl_serve_command(char **argv)
{
    fl_serve_line line = {.command = "serve"};

    return serve(&line, argv);
}

int fl_connect_command(char **argv)
{
    fl_serve_line line = {.command = "connect"};

    line.door.listen.items[line.door.listen.count++] = "stdio:";
    return serve(&line, argv);
}
