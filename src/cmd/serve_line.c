/*
 * serve_line.c - the command line of "fairlead serve" and "fairlead connect",
 * understood.
 *
 * A server is named by an address, by a command after "--", or by a file that
 * may name many; a file and one of the others go together, and then that other
 * is the one at the address itself. What is said about servers holds for those
 * of a file, too, as far as the file does not say otherwise.
 */
#include "cmd/serve_line.h"

#include "base/status.h"
#include "cmd/serve_replicas.h"
#include "transport/address.h"

#include <string.h>

enum { OWN_FLAGS = 64, ATTEMPTS = 100, QUEUE = 10000 };

static const char *const modes[] = {"auto", "shared", "session", "request",
                                    NULL};
static const char *const eras[] = {"auto", "legacy", "modern", NULL};

static size_t server_flags(fl_serve_line *to, fl_flag *flags)
{
    fl_upstream *upstream = &to->upstream;
    fl_options *connection = &upstream->client.connection;
    const fl_flag rows[] = {
        {"--child", FL_FLAG_CHOICE, &to->child, modes},
        {"--max-children", FL_FLAG_COUNT, &upstream->max_children, NULL},
        {"--warm", FL_FLAG_COUNT, &upstream->warm, NULL},
        {"--breaker-pause", FL_FLAG_SECONDS, &upstream->breaker_pause_ms, NULL},
        {"--breaker-failures", FL_FLAG_COUNT, &upstream->breaker_failures,
         NULL},
        {"--one-at-a-time", FL_FLAG_SWITCH, &upstream->one_at_a_time, NULL},
        {"--era", FL_FLAG_CHOICE, &to->era, eras},
        {"--name", FL_FLAG_TEXT, &upstream->name, NULL},
        {"--header", FL_FLAG_LIST, &to->headers.list, NULL},
        {"--header-file", FL_FLAG_TEXT, &to->headers.file, NULL},
        {"--header-env", FL_FLAG_LIST, &to->headers.env, NULL},
        {"--env", FL_FLAG_LIST, &to->env, NULL},
        {"--inherit-env", FL_FLAG_LIST, &to->inherit, NULL},
        {"--hide-tool", FL_FLAG_LIST, &to->hidden, NULL},
        {"--cwd", FL_FLAG_TEXT, &connection->child.cwd, NULL},
        {"--timeout", FL_FLAG_SECONDS, &upstream->timeout_ms, NULL},
        {"--max-time", FL_FLAG_SECONDS, &upstream->max_total_ms, NULL},
        {"--input-timeout", FL_FLAG_SECONDS, &upstream->input_timeout_ms, NULL},
        {"--child-idle", FL_FLAG_SECONDS, &upstream->idle_ms, NULL},
        {"--allow-http", FL_FLAG_SWITCH, &connection->http.allow_plaintext,
         NULL},
        {"--http2", FL_FLAG_SWITCH, &connection->http.http2_only, NULL},
        {"--config", FL_FLAG_TEXT, &to->config, NULL},
        {"--config-json", FL_FLAG_TEXT, &to->config_json, NULL},
        {"--check", FL_FLAG_SWITCH, &to->check, NULL},
        {"--control", FL_FLAG_TEXT, &to->control, NULL},
        {"--until-stdin-ends", FL_FLAG_SWITCH, &to->until_stdin, NULL},
    };

    memcpy(flags, rows, sizeof rows);
    return sizeof rows / sizeof *rows;
}

static size_t outage_flags(fl_serve_line *to, fl_flag *flags)
{
    fl_upstream *upstream = &to->upstream;
    const fl_flag rows[] = {
        {"--replica", FL_FLAG_LIST, &to->replicas, NULL},
        {"--weight", FL_FLAG_COUNT, &upstream->weight, NULL},
        {"--health-interval", FL_FLAG_SECONDS, &upstream->health_ms, NULL},
        {"--no-health-checks", FL_FLAG_SWITCH, &to->unchecked, NULL},
        {"--connect-attempts", FL_FLAG_COUNT, &upstream->connect_attempts,
         NULL},
        {"--connect-backoff", FL_FLAG_SECONDS, &upstream->connect_backoff_ms,
         NULL},
        {"--connect-backoff-max", FL_FLAG_SECONDS,
         &upstream->connect_backoff_max_ms, NULL},
        {"--queue-max", FL_FLAG_COUNT, &upstream->queue_max, NULL},
        {"--queue-bytes", FL_FLAG_BYTES, &upstream->queue_bytes, NULL},
        {"--queue-time", FL_FLAG_SECONDS, &upstream->queue_ms, NULL},
        {"--drain", FL_FLAG_SECONDS, &to->drain_ms, NULL},
    };

    memcpy(flags, rows, sizeof rows);
    return sizeof rows / sizeof *rows;
}

static size_t trust_flags(fl_serve_line *to, fl_flag *flags)
{
    fl_login *login = &to->login;
    const fl_flag rows[] = {
        {"--tls-server-name", FL_FLAG_TEXT, &to->tls.server_name, NULL},
        {"--insecure-skip-verify", FL_FLAG_SWITCH,
         &to->tls.insecure_skip_verify, NULL},
        {"--auth", FL_FLAG_CHOICE, &login->how, fl_login_ways},
        {"--client-id", FL_FLAG_TEXT, &login->client_id, NULL},
        {"--client-secret-file", FL_FLAG_TEXT, &login->secret_file, NULL},
        {"--client-secret-env", FL_FLAG_TEXT, &login->secret_env, NULL},
        {"--client-metadata-url", FL_FLAG_TEXT, &login->metadata_url, NULL},
        {"--redirect-uri", FL_FLAG_TEXT, &login->redirect_uri, NULL},
        {"--auth-timeout", FL_FLAG_SECONDS, &login->timeout_ms, NULL},
        {"--auth-store", FL_FLAG_TEXT, &login->store, NULL},
        {"--scope", FL_FLAG_TEXT, &login->scope, NULL},
    };

    memcpy(flags, rows, sizeof rows);
    return sizeof rows / sizeof *rows;
}

static size_t key_flags(fl_serve_line *to, fl_flag *flags)
{
    const fl_flag rows[] = {
        {"--api-key-env", FL_FLAG_LIST, &to->keys.env, NULL},
        {"--api-key-file", FL_FLAG_TEXT, &to->keys.file, NULL},
        {"--allow-short-keys", FL_FLAG_SWITCH, &to->keys.allow_short, NULL},
        {"--key-in-query", FL_FLAG_SWITCH, &to->door.options.http.key_in_query,
         NULL},
    };

    memcpy(flags, rows, sizeof rows);
    return sizeof rows / sizeof *rows;
}

static fl_status take_target(fl_serve_line *to, const fl_words *words,
                             fl_error *error)
{
    bool has_command = words->rest != NULL && words->rest[0] != NULL;
    bool has_file = to->config != NULL || to->config_json != NULL;

    if (words->count > 1)
        return fl_error_set(error, FL_E_INVALID,
                            "one server at a time: '%s' is one too many; "
                            "--config FILE is for several",
                            words->word[1]);
    if (words->count > 0 && words->rest != NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "either an address or a command after --, not "
                            "both");
    if (words->count == 0 && !has_command && !has_file)
        return fl_error_set(error, FL_E_INVALID,
                            "which server? Give its address, or -- and the "
                            "command that runs it, or --config FILE");
    to->has_target = words->count > 0 || has_command;
    if (words->count > 0)
        to->upstream.url = words->word[0];
    else if (has_command)
        to->upstream.client.connection.child.argv =
            (const char *const *)words->rest;
    return FL_OK;
}

/* The first option given that is about one server, or NULL. */
static const char *find_lonely(const fl_serve_line *line)
{
    const struct {
        bool given;
        const char *option;
    } lonely[] = {
        {line->headers.list.count > 0, "--header"},
        {line->headers.env.count > 0, "--header-env"},
        {line->headers.file != NULL, "--header-file"},
        {line->env.count > 0, "--env"},
        {line->replicas.count > 0, "--replica"},
        {line->upstream.weight > 0, "--weight"},
        {line->hidden.count > 0, "--hide-tool"},
        {line->upstream.name != NULL, "--name"},
    };

    for (size_t i = 0; i < sizeof lonely / sizeof *lonely; i++)
        if (lonely[i].given)
            return lonely[i].option;
    return NULL;
}

static fl_status check_file(const fl_serve_line *line, fl_error *error)
{
    bool has_file = line->config != NULL || line->config_json != NULL;
    const char *lonely = find_lonely(line);

    if (line->config != NULL && line->config_json != NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "either --config or --config-json, not both");
    if (line->check && !has_file)
        return fl_error_set(error, FL_E_INVALID,
                            "option --check: it reads what --config names");
    if (has_file && !line->has_target && lonely != NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "option %s: it is about one server; say it in the "
                            "file, of the server it is for",
                            lonely);
    return FL_OK;
}

static fl_status check_outages(const fl_serve_line *line, fl_error *error)
{
    const fl_upstream *upstream = &line->upstream;

    if (upstream->connect_attempts > ATTEMPTS)
        return fl_error_set(error, FL_E_INVALID,
                            "option --connect-attempts: %u is more than %d",
                            upstream->connect_attempts, ATTEMPTS);
    if (upstream->queue_max > QUEUE)
        return fl_error_set(error, FL_E_INVALID,
                            "option --queue-max: %u is more than %d",
                            upstream->queue_max, QUEUE);
    if (upstream->connect_backoff_max_ms > 0 &&
        upstream->connect_backoff_ms > upstream->connect_backoff_max_ms)
        return fl_error_set(error, FL_E_INVALID,
                            "option --connect-backoff: it is more than "
                            "--connect-backoff-max");
    if (line->unchecked && upstream->health_ms > 0)
        return fl_error_set(error, FL_E_INVALID,
                            "either --health-interval or --no-health-checks, "
                            "not both");
    return fl_serve_replicas_check(line, error);
}

static bool takes_keys(const char *url)
{
    return fl_address_says_http(url) || strncmp(url, "ws", 2) == 0;
}

/* Keys that nobody is asked for are a mistake. */
static fl_status check_keys(const fl_serve_line *line, fl_error *error)
{
    const fl_flag_list *listen = &line->door.listen;
    bool any = listen->count == 0;

    for (size_t i = 0; i < listen->count; i++)
        any |= takes_keys(listen->items[i]);
    if (fl_door_keys_wanted(&line->keys) && !any)
        return fl_error_set(error, FL_E_INVALID,
                            "option %s: keys are for clients over HTTP and "
                            "WebSocket, and there is no such --listen",
                            line->keys.file != NULL ? "--api-key-file"
                                                    : "--api-key-env");
    if (line->door.options.http.key_in_query &&
        !fl_door_keys_wanted(&line->keys))
        return fl_error_set(error, FL_E_INVALID,
                            "option --key-in-query: there are no keys; name "
                            "them with --api-key-file");
    return fl_door_keys_check(&line->keys, error);
}

/* connect has no door with certificates, so all of them are the server's. */
static void settle_tls(fl_serve_line *to)
{
    fl_tls_settings *door = &to->door.options.tls;

    if (strcmp(to->command, "connect") == 0) {
        to->tls.ca_file = door->ca_file;
        to->tls.cert_file = door->cert_file;
        to->tls.key_file = door->key_file;
        *door = (fl_tls_settings){0};
    }
    to->upstream.client.connection.tls = to->tls;
}

bool fl_serve_is_plain(const char *url)
{
    fl_address address;

    return fl_address_parse(url, &address, NULL) == FL_OK &&
           (fl_address_says_http(url) || fl_address_is_websocket(&address)) &&
           !fl_address_is_tls(&address) && !fl_address_is_local(&address);
}

/* It would be refused by the first client's request, and no sooner. */
static fl_status check_plain(const fl_serve_line *line, fl_error *error)
{
    const char *url = line->upstream.url;

    if (url == NULL || line->upstream.client.connection.http.allow_plaintext ||
        !fl_serve_is_plain(url))
        return FL_OK;
    return fl_error_set(error, FL_E_INVALID,
                        "'%s': everybody on the way could read and change what "
                        "is said; if that is fine, add --allow-http",
                        url);
}

/* Who forgets the two dashes gives us a command for an address. */
static fl_status check_target(const fl_serve_line *line, fl_error *error)
{
    const char *url = line->upstream.url;
    fl_address address;

    if (url == NULL)
        return FL_OK;
    if (strchr(url, ':') == NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "'%s' is no address; to run a command: fairlead %s "
                            "-- %s",
                            url, line->command, url);
    fl_status rc = fl_address_parse(url, &address, error);
    return rc == FL_OK ? check_plain(line, error) : rc;
}

static fl_status settle(fl_serve_line *to, fl_error *error)
{
    fl_upstream *upstream = &to->upstream;
    fl_options *connection = &upstream->client.connection;

    fl_door_settle(&to->door);
    settle_tls(to);
    if (to->unchecked)
        upstream->health_ms = FL_NEVER;
    upstream->child = to->child > 0 ? to->child - 1 : FL_CHILD_AUTO;
    upstream->client.era = to->era > 0 ? to->era - 1 : FL_ERA_AUTO;
    connection->max_message = to->door.options.max_message;
    if (to->env.count > 0)
        connection->child.env = to->env.items;
    if (to->inherit.count > 0)
        connection->child.env_inherit = to->inherit.items;
    if (to->hidden.count > 0)
        upstream->deny_tools = to->hidden.items;
    fl_status rc = FL_OK;
    if (connection->http.http2_only && to->has_target)
        rc = fl_headers_check_http2(upstream->url, error);
    if (rc == FL_OK)
        rc = fl_headers_take(&to->headers, upstream->url, error);
    if (to->headers.list.count > 0)
        connection->http.headers = to->headers.list.items;
    if (rc != FL_OK)
        return rc;
    return to->has_target ? fl_login_take(&to->login, upstream->url, error)
                          : fl_login_take_file(&to->login, error);
}

fl_status fl_serve_line_read(fl_serve_line *line, char **argv, fl_error *error)
{
    fl_flag flags[FL_DOOR_FLAGS + OWN_FLAGS];
    size_t count = fl_door_flags(&line->door, flags);
    fl_words words;

    count += server_flags(line, flags + count);
    count += outage_flags(line, flags + count);
    count += trust_flags(line, flags + count);
    count += key_flags(line, flags + count);
    flags[count] = (fl_flag){0};
    fl_status rc = fl_flags_parse(flags, argv, &words, error);
    if (rc != FL_OK || line->door.help)
        return rc;
    rc = take_target(line, &words, error);
    if (rc == FL_OK)
        rc = check_target(line, error);
    if (rc == FL_OK)
        rc = check_file(line, error);
    if (rc == FL_OK)
        rc = check_outages(line, error);
    if (rc == FL_OK)
        rc = check_keys(line, error);
    return rc == FL_OK ? settle(line, error) : rc;
}

void fl_serve_line_deinit(fl_serve_line *line)
{
    fl_headers_deinit(&line->headers);
    fl_login_deinit(&line->login);
    fl_door_keys_deinit(&line->keys);
}
