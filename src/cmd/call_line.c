/*
 * call_line.c - the command line of "fairlead call", understood.
 *
 * A server is named by a URL in front or by a command behind "--", never by
 * both; the words in between are the action and what it needs.
 */
#include "cmd/call_line.h"

#include "base/log.h"
#include "base/span.h"
#include "base/status.h"
#include "cmd/json_args.h"
#include "cmd/suggest.h"

#include <string.h>

static const char *const actions[] = {
    [FL_CALL_TOOLS] = "tools", [FL_CALL_TOOL] = "call",
    [FL_CALL_PING] = "ping",   [FL_CALL_INFO] = "info",
    [FL_CALL_INFO + 1] = NULL,
};

/* In the order of fl_log_level, counted from 1. */
static const char *const levels[] = {"debug", "info", "warn",
                                     "error", "off",  NULL};

/* In the order of fl_era, counted from 1. */
static const char *const eras[] = {"auto", "legacy", "modern", NULL};

static fl_status parse_flags(char **argv, fl_call_line *to, fl_words *words,
                             fl_error *error)
{
    fl_tls_settings *tls = &to->client.connection.tls;
    const fl_flag flags[] = {
        {"--json", FL_FLAG_SWITCH, &to->json, NULL},
        {"--timeout", FL_FLAG_SECONDS, &to->timeout_ms, NULL},
        {"--revision", FL_FLAG_TEXT, &to->client.revision, NULL},
        {"--era", FL_FLAG_CHOICE, &to->era, eras},
        {"--header", FL_FLAG_LIST, &to->headers.list, NULL},
        {"--header-file", FL_FLAG_TEXT, &to->headers.file, NULL},
        {"--tls-ca", FL_FLAG_TEXT, &tls->ca_file, NULL},
        {"--tls-cert", FL_FLAG_TEXT, &tls->cert_file, NULL},
        {"--tls-key", FL_FLAG_TEXT, &tls->key_file, NULL},
        {"--tls-server-name", FL_FLAG_TEXT, &tls->server_name, NULL},
        {"--insecure-skip-verify", FL_FLAG_SWITCH, &tls->insecure_skip_verify,
         NULL},
        {"--env", FL_FLAG_LIST, &to->env, NULL},
        {"--inherit-env", FL_FLAG_LIST, &to->inherit, NULL},
        {"--cwd", FL_FLAG_TEXT, &to->client.connection.child.cwd, NULL},
        {"--log-level", FL_FLAG_CHOICE, &to->log_level, levels},
        {"--help", FL_FLAG_SWITCH, &to->help, NULL},
        {"-h", FL_FLAG_SWITCH, &to->help, NULL},
        {0},
    };

    return fl_flags_parse(flags, argv, words, error);
}

static bool is_action(const char *word)
{
    for (size_t i = 0; actions[i] != NULL; i++)
        if (strcmp(actions[i], word) == 0)
            return true;
    return false;
}

static void drop_word(fl_words *words)
{
    words->word++;
    words->count--;
}

static fl_status take_server(fl_words *words, fl_call_line *to, fl_error *error)
{
    const char *first = words->count > 0 ? words->word[0] : NULL;

    if (words->rest != NULL) {
        if (words->rest[0] == NULL)
            return fl_error_set(error, FL_E_INVALID,
                                "nothing comes after --; want the command to "
                                "run and its arguments");
        if (first != NULL && strchr(first, ':') != NULL && !is_action(first))
            return fl_error_set(error, FL_E_INVALID,
                                "'%s' or the command after --: which one? "
                                "Give one of them",
                                first);
        to->client.connection.child.argv = (const char *const *)words->rest;
        return FL_OK;
    }
    if (first == NULL || is_action(first))
        return fl_error_set(error, FL_E_INVALID,
                            "which server? Give its address first, as in "
                            "tcp://127.0.0.1:7332, or its command after --");
    to->url = first;
    drop_word(words);
    return FL_OK;
}

static fl_status take_headers(fl_call_line *line, fl_error *error)
{
    fl_status rc = fl_headers_take(&line->headers, line->url, error);

    if (line->headers.list.count > 0)
        line->client.connection.http.headers = line->headers.list.items;
    return rc;
}

static fl_status take_action(fl_words *words, fl_call_line *to, fl_error *error)
{
    const char *word = words->count > 0 ? words->word[0] : "tools";

    for (size_t i = 0; actions[i] != NULL; i++)
        if (strcmp(actions[i], word) == 0) {
            to->action = (fl_call_action)i;
            if (words->count > 0)
                drop_word(words);
            return FL_OK;
        }
    const char *near = fl_suggest_nearest(fl_span_of(word), actions);
    return fl_error_set(error, FL_E_INVALID,
                        "unknown action '%s'; want tools, call, ping or "
                        "info%s%s%s",
                        word, near != NULL ? ". Did you mean " : "",
                        near != NULL ? near : "", near != NULL ? "?" : "");
}

static fl_status take_arguments(fl_words *words, fl_call_line *to,
                                fl_error *error)
{
    if (to->action != FL_CALL_TOOL)
        return words->count == 0
                   ? FL_OK
                   : fl_error_set(error, FL_E_INVALID,
                                  "'%s': %s takes no arguments", words->word[0],
                                  actions[to->action]);
    if (words->count == 0)
        return fl_error_set(error, FL_E_INVALID,
                            "which tool? Want 'call NAME key=value...'; "
                            "'tools' lists them");
    to->tool = words->word[0];
    drop_word(words);
    return fl_json_args(words->word, words->count, &to->arguments, error);
}

static void settle_options(fl_call_line *line)
{
    fl_options *connection = &line->client.connection;

    connection->no_reconnect = true;
    connection->open_timeout_ms = line->timeout_ms;
    line->client.request_timeout_ms = line->timeout_ms;
    if (line->era > 0)
        line->client.era = (fl_era)(line->era - 1);
    if (line->env.count > 0)
        connection->child.env = line->env.items;
    if (line->inherit.count > 0)
        connection->child.env_inherit = line->inherit.items;
    if (line->log_level == FL_LOG_DEFAULT)
        line->log_level = FL_LOG_WARN;
}

fl_status fl_call_line_parse(char **argv, fl_call_line *line, fl_error *error)
{
    fl_words words;

    *line = (fl_call_line){0};
    fl_buf_init(&line->arguments, FL_JSON_ARGS_MAX);
    fl_status rc = parse_flags(argv, line, &words, error);
    if (rc != FL_OK || line->help)
        return rc;
    settle_options(line);
    rc = take_server(&words, line, error);
    if (rc == FL_OK)
        rc = take_headers(line, error);
    if (rc == FL_OK)
        rc = take_action(&words, line, error);
    if (rc == FL_OK)
        rc = take_arguments(&words, line, error);
    return rc;
}

void fl_call_line_deinit(fl_call_line *line)
{
    fl_buf_reset(&line->arguments);
    fl_headers_deinit(&line->headers);
}
