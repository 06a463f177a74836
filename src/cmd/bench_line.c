/*
 * bench_line.c - the command line of "fairlead bench", understood.
 */
#include "cmd/bench_line.h"

#include "base/status.h"
#include "cmd/json_args.h"
#include "cmd/reach_flags.h"

#include <string.h>

enum {
    WARMUP_MS = 1000,
    DURATION_MS = 10000,
    TIMEOUT_MS = 10000,
    CONNECTIONS_MAX = 100000,
    DEPTH_MAX = 10000,
};

/* In the order of fl_era, counted from 1. */
static const char *const eras[] = {"auto", "legacy", "modern", NULL};
static const char *const arrivals[] = {"even", "random", NULL};

static fl_status parse_flags(char **argv, fl_bench_line *to, fl_words *words,
                             fl_error *error)
{
    fl_load_plan *plan = &to->plan;
    fl_options *options = &plan->client.connection;
    fl_tls_settings *tls = &options->tls;
    const fl_flag flags[] = {
        {"--connections", FL_FLAG_COUNT, &plan->connections, NULL},
        {"-c", FL_FLAG_COUNT, &plan->connections, NULL},
        {"--depth", FL_FLAG_COUNT, &plan->depth, NULL},
        {"--rate", FL_FLAG_COUNT, &to->rate, NULL},
        {"--arrivals", FL_FLAG_CHOICE, &to->arrivals, arrivals},
        {"--threads", FL_FLAG_COUNT, &plan->threads, NULL},
        {"--warmup", FL_FLAG_SECONDS, &plan->warmup_ms, NULL},
        {"--no-warmup", FL_FLAG_SWITCH, &to->no_warmup, NULL},
        {"--duration", FL_FLAG_SECONDS, &plan->duration_ms, NULL},
        {"--requests", FL_FLAG_COUNT, &to->requests, NULL},
        {"--size", FL_FLAG_BYTES, &to->size, NULL},
        {"--timeout", FL_FLAG_SECONDS, &plan->timeout_ms, NULL},
        {"--json", FL_FLAG_SWITCH, &to->json, NULL},
        {"--html", FL_FLAG_TEXT, &to->html, NULL},
        {"--revision", FL_FLAG_TEXT, &plan->client.revision, NULL},
        {"--era", FL_FLAG_CHOICE, &to->era, eras},
        {"--http2", FL_FLAG_SWITCH, &options->http.http2_only, NULL},
        {"--header", FL_FLAG_LIST, &to->headers.list, NULL},
        {"--header-file", FL_FLAG_TEXT, &to->headers.file, NULL},
        {"--header-env", FL_FLAG_LIST, &to->headers.env, NULL},
        FL_REACH_TLS(tls),
        FL_REACH_CHILD(to, &options->child),
        {"--help", FL_FLAG_SWITCH, &to->help, NULL},
        {"-h", FL_FLAG_SWITCH, &to->help, NULL},
        {0},
    };

    return fl_flags_parse(flags, argv, words, error);
}

static bool is_action(const char *word)
{
    return strcmp(word, "call") == 0 || strcmp(word, "tools") == 0 ||
           strcmp(word, "ping") == 0;
}

static void drop_word(fl_words *words)
{
    words->word++;
    words->count--;
}

static fl_status take_server(fl_words *words, fl_bench_line *to,
                             fl_error *error)
{
    bool has_url = words->count > 0 && !is_action(words->word[0]);
    bool has_command = words->rest != NULL && words->rest[0] != NULL;

    if (has_url && words->rest != NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "'%s' or the command after --: which one? Give "
                            "one of them",
                            words->word[0]);
    if (!has_url && !has_command)
        return fl_error_set(error, FL_E_INVALID,
                            "which server? Give its address first, as in "
                            "http://127.0.0.1:8080/mcp, or its command after "
                            "--");
    if (has_command) {
        to->plan.client.connection.child.argv =
            (const char *const *)words->rest;
        return FL_OK;
    }
    to->plan.url = words->word[0];
    drop_word(words);
    return FL_OK;
}

static fl_status take_call(fl_words *words, fl_bench_line *to, fl_error *error)
{
    if (words->count == 0)
        return fl_error_set(error, FL_E_INVALID,
                            "which tool? Want 'call NAME key=value...'");
    to->action = FL_BENCH_CALL;
    to->tool = words->word[0];
    drop_word(words);
    return fl_json_args(words->word, words->count, &to->arguments, error);
}

static fl_status take_action(fl_words *words, fl_bench_line *to,
                             fl_error *error)
{
    const char *word = words->count > 0 ? words->word[0] : NULL;

    if (word == NULL)
        return fl_json_args(words->word, 0, &to->arguments, error);
    if (!is_action(word))
        return fl_error_set(error, FL_E_INVALID,
                            "unknown action '%.40s'; want call, tools or ping. "
                            "To call a tool: call %.40s",
                            word, word);
    drop_word(words);
    if (strcmp(word, "call") == 0)
        return take_call(words, to, error);
    to->action = strcmp(word, "ping") == 0 ? FL_BENCH_PING : FL_BENCH_TOOLS;
    if (words->count > 0)
        return fl_error_set(error, FL_E_INVALID, "'%s': %s takes no arguments",
                            words->word[0], word);
    return FL_OK;
}

static void default_count(unsigned *value, unsigned otherwise)
{
    if (*value == 0)
        *value = otherwise;
}

static void default_ms(uint64_t *value, uint64_t otherwise)
{
    if (*value == 0)
        *value = otherwise;
}

/* A connection has as many sockets over HTTP/1.1 as requests under way, and
 * one for its event stream. */
static void settle_options(fl_bench_line *line)
{
    fl_load_plan *plan = &line->plan;
    fl_options *options = &plan->client.connection;

    default_count(&plan->connections, 1);
    default_count(&plan->depth, 1);
    default_count(&plan->threads, 1);
    default_ms(&plan->warmup_ms, WARMUP_MS);
    default_ms(&plan->duration_ms, DURATION_MS);
    default_ms(&plan->timeout_ms, TIMEOUT_MS);
    if (line->no_warmup)
        plan->warmup_ms = 0;
    plan->rate = line->rate;
    plan->requests = line->requests;
    plan->scatter = line->arrivals == 2;
    plan->client.era = line->era > 0 ? (fl_era)(line->era - 1) : FL_ERA_AUTO;
    plan->client.no_cache = true;
    plan->client.request_timeout_ms = plan->timeout_ms; /* greetings, too */
    options->open_timeout_ms = plan->timeout_ms;
    options->max_in_flight = plan->depth + 16;
    options->http.pool = plan->depth + 1;
    options->http.pool_overflow = 1;
    options->http.allow_plaintext = true;
    if (line->env.count > 0)
        options->child.env = line->env.items;
    if (line->inherit.count > 0)
        options->child.env_inherit = line->inherit.items;
}

static fl_status check(const fl_bench_line *line, fl_error *error)
{
    const fl_load_plan *plan = &line->plan;

    if (plan->connections > CONNECTIONS_MAX || plan->depth > DEPTH_MAX)
        return fl_error_set(error, FL_E_INVALID,
                            "--connections %u --depth %u: want at most %d and "
                            "%d",
                            plan->connections, plan->depth, CONNECTIONS_MAX,
                            DEPTH_MAX);
    if (plan->threads > FL_LOAD_THREADS)
        return fl_error_set(error, FL_E_INVALID,
                            "--threads %u: want at most %d", plan->threads,
                            FL_LOAD_THREADS);
    if (line->arrivals != 0 && line->rate == 0)
        return fl_error_set(error, FL_E_INVALID,
                            "--arrivals says how the requests of --rate N "
                            "come: give both");
    if (line->size > 0 &&
        (line->action == FL_BENCH_TOOLS || line->action == FL_BENCH_PING))
        return fl_error_set(error, FL_E_INVALID,
                            "--size is for the text of a tool call; tools and "
                            "ping have none");
    return FL_OK;
}

static fl_status take_headers(fl_bench_line *line, fl_error *error)
{
    fl_options *options = &line->plan.client.connection;
    fl_headers *headers = &line->headers;
    fl_status rc = options->http.http2_only
                       ? fl_headers_check_http2(line->plan.url, error)
                       : FL_OK;

    if (rc == FL_OK && (headers->list.count > 0 || headers->env.count > 0 ||
                        headers->file != NULL))
        rc = fl_headers_take(headers, line->plan.url, error);
    if (headers->list.count > 0)
        options->http.headers = headers->list.items;
    return rc;
}

fl_status fl_bench_line_parse(char **argv, fl_bench_line *line, fl_error *error)
{
    fl_words words;

    *line = (fl_bench_line){0};
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
        rc = check(line, error);
    return rc;
}

void fl_bench_line_deinit(fl_bench_line *line)
{
    fl_buf_reset(&line->arguments);
    fl_headers_deinit(&line->headers);
}
