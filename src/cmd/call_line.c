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
#include "cmd/call_words.h"
#include "cmd/json_args.h"
#include "cmd/reach_flags.h"
#include "cmd/suggest.h"

#include <string.h>

static const char *const actions[] = {
    [FL_CALL_TOOLS] = "tools",         [FL_CALL_RESOURCES] = "resources",
    [FL_CALL_TEMPLATES] = "templates", [FL_CALL_PROMPTS] = "prompts",
    [FL_CALL_TOOL] = "call",           [FL_CALL_READ] = "read",
    [FL_CALL_PROMPT] = "prompt",       [FL_CALL_COMPLETE] = "complete",
    [FL_CALL_PING] = "ping",           [FL_CALL_INFO] = "info",
    [FL_CALL_INFO + 1] = NULL,
};

/* In the order of fl_log_level, counted from 1. */
static const char *const levels[] = {"debug", "info", "warn",
                                     "error", "off",  NULL};

const char *const fl_call_levels[] = {
    "debug",    "info",  "notice",    "warning", "error",
    "critical", "alert", "emergency", NULL,
};

/* In the order of fl_era, counted from 1. */
static const char *const eras[] = {"auto", "legacy", "modern", NULL};

static fl_status parse_flags(char **argv, fl_call_line *to, fl_words *words,
                             fl_error *error)
{
    fl_tls_settings *tls = &to->client.connection.tls;
    fl_http_settings *http = &to->client.connection.http;
    const fl_flag flags[] = {
        {"--json", FL_FLAG_SWITCH, &to->json, NULL},
        {"--timeout", FL_FLAG_SECONDS, &to->timeout_ms, NULL},
        {"--revision", FL_FLAG_TEXT, &to->client.revision, NULL},
        {"--era", FL_FLAG_CHOICE, &to->era, eras},
        {"--header", FL_FLAG_LIST, &to->headers.list, NULL},
        {"--header-file", FL_FLAG_TEXT, &to->headers.file, NULL},
        {"--allow-http", FL_FLAG_SWITCH, &http->allow_plaintext, NULL},
        {"--http2", FL_FLAG_SWITCH, &http->http2_only, NULL},
        {"--auth", FL_FLAG_CHOICE, &to->login.how, fl_login_ways},
        {"--client-id", FL_FLAG_TEXT, &to->login.client_id, NULL},
        {"--client-secret-file", FL_FLAG_TEXT, &to->login.secret_file, NULL},
        {"--auth-store", FL_FLAG_TEXT, &to->login.store, NULL},
        {"--scope", FL_FLAG_TEXT, &to->login.scope, NULL},
        FL_REACH_TLS(tls),
        FL_REACH_CHILD(to, &to->client.connection.child),
        {"--log-level", FL_FLAG_CHOICE, &to->log_level, levels},
        {"--server-log", FL_FLAG_CHOICE, &to->server_log, fl_call_levels},
        {"--root", FL_FLAG_LIST, &to->roots, NULL},
        {"--answer", FL_FLAG_LIST, &to->answers, NULL},
        {"--accept-defaults", FL_FLAG_SWITCH, &to->accept_defaults, NULL},
        {"--decline", FL_FLAG_SWITCH, &to->decline, NULL},
        {"--task", FL_FLAG_SWITCH, &to->task, NULL},
        {"--progress", FL_FLAG_SWITCH, &to->progress, NULL},
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
    fl_status rc = line->client.connection.http.http2_only
                       ? fl_headers_check_http2(line->url, error)
                       : FL_OK;

    if (rc == FL_OK)
        rc = fl_headers_take(&line->headers, line->url, error);
    if (line->headers.list.count > 0)
        line->client.connection.http.headers = line->headers.list.items;
    return rc;
}

/* A tool's name is often taken for one, most surely with arguments behind. */
static fl_status refuse_action(const fl_words *words, const char *word,
                               fl_error *error)
{
    const char *near = fl_suggest_nearest(fl_span_of(word), actions);
    bool is_tool = near == NULL ||
                   (words->count > 1 && strchr(words->word[1], '=') != NULL);

    return fl_error_set(error, FL_E_INVALID,
                        "unknown action '%.40s'; want tools, resources, "
                        "templates, prompts, call, read, prompt, complete, "
                        "ping or info. %s %.40s%s",
                        word, is_tool ? "To call a tool: call" : "Did you mean",
                        is_tool ? word : near, is_tool ? "" : "?");
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
    return refuse_action(words, word, error);
}

static fl_status take_object(fl_words *words, fl_call_line *to,
                             const char *hint, fl_error *error)
{
    if (words->count == 0)
        return fl_error_set(error, FL_E_INVALID, "%s", hint);
    to->object = words->word[0];
    drop_word(words);
    return FL_OK;
}

static fl_status expect_end(const fl_words *words, const fl_call_line *to,
                            fl_error *error)
{
    return words->count == 0
               ? FL_OK
               : fl_error_set(error, FL_E_INVALID, "'%s': %s takes no %s",
                              words->word[0], actions[to->action],
                              to->object != NULL ? "more than that"
                                                 : "arguments");
}

static fl_status take_completion(fl_words *words, fl_call_line *to,
                                 fl_error *error)
{
    static const char hint[] =
        "complete what? Want 'complete prompt NAME argument=begin' or "
        "'complete resource URI argument=begin'";
    const char *of = words->count > 0 ? words->word[0] : "";

    to->of_resource = strcmp(of, "resource") == 0;
    if (!to->of_resource && strcmp(of, "prompt") != 0)
        return fl_error_set(error, FL_E_INVALID, "%s", hint);
    drop_word(words);
    fl_status rc = take_object(words, to, hint, error);
    if (rc == FL_OK && words->count == 0)
        rc = fl_error_set(error, FL_E_INVALID, "%s", hint);
    return rc == FL_OK ? fl_call_words_completion(words, to, error) : rc;
}

static fl_status take_arguments(fl_words *words, fl_call_line *to,
                                fl_error *error)
{
    fl_status rc = FL_OK;

    switch (to->action) {
    case FL_CALL_TOOL:
        rc = take_object(words, to,
                         "which tool? Want 'call NAME key=value...'; 'tools' "
                         "lists them",
                         error);
        return rc == FL_OK ? fl_json_args(words->word, words->count,
                                          &to->arguments, error)
                           : rc;
    case FL_CALL_PROMPT:
        rc = take_object(words, to,
                         "which prompt? Want 'prompt NAME key=value...'; "
                         "'prompts' lists them",
                         error);
        return rc == FL_OK ? fl_call_words_texts(words, to, error) : rc;
    case FL_CALL_READ:
        rc = take_object(words, to,
                         "read what? Want 'read URI'; 'resources' lists them",
                         error);
        break;
    case FL_CALL_COMPLETE:
        return take_completion(words, to, error);
    case FL_CALL_TOOLS:
    case FL_CALL_RESOURCES:
    case FL_CALL_TEMPLATES:
    case FL_CALL_PROMPTS:
    case FL_CALL_PING:
    case FL_CALL_INFO:
        break;
    }
    return rc == FL_OK ? expect_end(words, to, error) : rc;
}

static void settle_options(fl_call_line *line)
{
    fl_options *connection = &line->client.connection;

    connection->no_reconnect = true;
    line->client.tasks = line->task;
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

static fl_status check_answers(const fl_call_line *line, fl_error *error)
{
    bool some = line->answers.count > 0;

    if (line->decline && (some || line->accept_defaults))
        return fl_error_set(error, FL_E_INVALID, "%s or --decline: which one?",
                            some ? "--answer" : "--accept-defaults");
    for (size_t i = 0; i < line->answers.count; i++) {
        const char *one = line->answers.items[i];
        size_t len = strcspn(one, "=");
        if (len == 0 || one[len] == '\0')
            return fl_error_set(error, FL_E_INVALID,
                                "--answer '%s': want FIELD=VALUE", one);
        for (size_t j = 0; j < i; j++)
            if (strncmp(line->answers.items[j], one, len + 1) == 0)
                return fl_error_set(error, FL_E_INVALID,
                                    "--answer '%.*s' is given twice", (int)len,
                                    one);
    }
    return FL_OK;
}

fl_status fl_call_line_parse(char **argv, fl_call_line *line, fl_error *error)
{
    fl_words words;

    *line = (fl_call_line){0};
    fl_buf_init(&line->arguments, FL_JSON_ARGS_MAX);
    fl_buf_init(&line->argument, FL_JSON_ARGS_MAX);
    fl_buf_init(&line->value, FL_JSON_ARGS_MAX);
    fl_status rc = parse_flags(argv, line, &words, error);
    if (rc != FL_OK || line->help)
        return rc;
    rc = check_answers(line, error);
    if (rc != FL_OK)
        return rc;
    settle_options(line);
    rc = take_server(&words, line, error);
    if (rc == FL_OK)
        rc = take_headers(line, error);
    if (rc == FL_OK)
        rc = fl_login_take(&line->login, line->url, error);
    if (rc == FL_OK)
        rc = take_action(&words, line, error);
    if (rc == FL_OK)
        rc = take_arguments(&words, line, error);
    return rc;
}

void fl_call_line_deinit(fl_call_line *line)
{
    fl_buf_reset(&line->arguments);
    fl_buf_reset(&line->argument);
    fl_buf_reset(&line->value);
    fl_headers_deinit(&line->headers);
    fl_login_deinit(&line->login);
}
