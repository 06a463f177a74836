/*
 * doctor_line.c - the command line of "fairlead doctor", understood.
 *
 * Whether an address makes sense is not asked here: a wrong one is a finding,
 * the first that there can be.
 */
#include "cmd/doctor_line.h"

#include "base/status.h"
#include "cmd/reach_flags.h"

enum {
    TIMEOUT_MS = 10000,
    GRACE_MS = 500, /* for each process but the first, which is watched */
};

static fl_status parse_flags(char **argv, fl_doctor_line *to, fl_words *words,
                             fl_error *error)
{
    fl_tls_settings *tls = &to->options.tls;
    const fl_flag flags[] = {
        {"--json", FL_FLAG_SWITCH, &to->json, NULL},
        {"--timeout", FL_FLAG_SECONDS, &to->timeout_ms, NULL},
        {"--header", FL_FLAG_LIST, &to->headers.list, NULL},
        {"--header-file", FL_FLAG_TEXT, &to->headers.file, NULL},
        {"--header-env", FL_FLAG_LIST, &to->headers.env, NULL},
        FL_REACH_TLS(tls),
        FL_REACH_CHILD(to, &to->options.child),
        {"--help", FL_FLAG_SWITCH, &to->help, NULL},
        {"-h", FL_FLAG_SWITCH, &to->help, NULL},
        {0},
    };

    return fl_flags_parse(flags, argv, words, error);
}

static fl_status take_server(const fl_words *words, fl_doctor_line *to,
                             fl_error *error)
{
    bool has_command = words->rest != NULL && words->rest[0] != NULL;

    if (words->count > 1)
        return fl_error_set(error, FL_E_INVALID,
                            "one server at a time: '%s' is one too many",
                            words->word[1]);
    if (words->count == 1 && words->rest != NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "either an address or a command after --, not "
                            "both");
    if (words->count == 0 && !has_command)
        return fl_error_set(error, FL_E_INVALID,
                            "which server? Give its address, as in "
                            "http://127.0.0.1:8080/mcp, or its command after "
                            "--");
    if (words->count == 1)
        to->url = words->word[0];
    else
        to->options.child.argv = (const char *const *)words->rest;
    return FL_OK;
}

static bool has_headers(const fl_headers *headers)
{
    return headers->list.count > 0 || headers->env.count > 0 ||
           headers->file != NULL;
}

static void settle_options(fl_doctor_line *line)
{
    fl_options *options = &line->options;

    if (line->timeout_ms == 0)
        line->timeout_ms = TIMEOUT_MS;
    options->no_reconnect = true;
    options->child.stop_grace_ms = GRACE_MS;
    options->child.kill_grace_ms = GRACE_MS;
    options->open_timeout_ms = line->timeout_ms;
    options->http.allow_plaintext = true; /* that it is plain is a finding */
    if (line->env.count > 0)
        options->child.env = line->env.items;
    if (line->inherit.count > 0)
        options->child.env_inherit = line->inherit.items;
    if (line->headers.list.count > 0)
        options->http.headers = line->headers.list.items;
}

fl_status fl_doctor_line_parse(char **argv, fl_doctor_line *line,
                               fl_error *error)
{
    fl_words words;

    *line = (fl_doctor_line){0};
    fl_status rc = parse_flags(argv, line, &words, error);
    if (rc != FL_OK || line->help)
        return rc;
    rc = take_server(&words, line, error);
    if (rc == FL_OK && has_headers(&line->headers))
        rc = fl_headers_take(&line->headers, line->url, error);
    settle_options(line);
    return rc;
}

void fl_doctor_line_deinit(fl_doctor_line *line)
{
    fl_headers_deinit(&line->headers);
}
