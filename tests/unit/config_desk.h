/*
 * config_desk.h - reading configurations at a desk: a few variables, a few
 * files, and nothing of the machine.
 */
#ifndef TESTS_UNIT_CONFIG_DESK_H
#define TESTS_UNIT_CONFIG_DESK_H

#include "base/span.h"
#include "config/config.h"
#include "config/show.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static inline const char *desk_look_up(const char *const (*table)[2],
                                       const char *name)
{
    for (; (*table)[0] != NULL; table++)
        if (strcmp((*table)[0], name) == 0)
            return (*table)[1];
    return NULL;
}

static inline const char *desk_variable(void *user, const char *name)
{
    static const char *const table[][2] = {
        {"HOME", "/home/ada"},
        {"TOKEN", "s3cret-token"},
        {"EMPTY", ""},
        {"GITHUB_TOKEN", "s3cret-github"},
        {"ISSUES_TOKEN", "s3cret-issues"},
        {"DOCS_KEY", "s3cret-docs"},
        {"SEARCH_TOKEN", "s3cret-search"},
        {"STOCK_SECRET", "s3cret-stock"},
        {"LISTED_TOKEN", "s3cret-listed"},
        {"API_KEY", "s3cret-api"},
        {"URL", "https://s3cret.example/mcp"},
        {"SOCKET", "/run/s3cret.sock"},
        {"LINES", "s3cret\r\nX-Evil: 1"},
        {"FAIRLEAD_INPUT_PERPLEXITY_KEY", "s3cret-perplexity"},
        {"FAIRLEAD_WORKSPACE", "/home/ada/project"},
        {NULL, NULL},
    };

    (void)user;
    return desk_look_up(table, name);
}

static inline fl_status desk_read(void *user, const char *path, fl_buf *out)
{
    static const char *const table[][2] = {
        {"/home/ada/secrets/figma", "s3cret-figma\r\n"},
        {"/home/ada/secrets/wiki", "s3cret-wiki\n"},
        {"/home/ada/secrets/remote", "s3cret-remote\n"},
        {"/home/ada/project/.env", "# of the project\nPORT=8080\n"
                                   "export KEY=\"s3cret env\" # told nobody\n"},
        {"/etc/mcp/near", "s3cret-near\n\n"},
        {"/etc/mcp/bad.env", "A=1\nnot a variable\n"},
        {NULL, NULL},
    };
    const char *content = desk_look_up(table, path);

    (void)user;
    if (strcmp(path, "/etc/mcp/nul") == 0)
        return fl_buf_append(out, (fl_span){"a\0b", 3});
    return content != NULL ? fl_buf_append(out, fl_span_of(content))
                           : FL_E_NOT_FOUND;
}

static const fl_config_source desk_source = {
    .variable = desk_variable,
    .read = desk_read,
};

static inline fl_config *desk_take(fl_span text, fl_status expected)
{
    fl_config *config;
    fl_error error = {.status = FL_OK};
    fl_status rc = fl_config_read(text, "/etc/mcp/mcp.json", &desk_source,
                                  &config, &error);

    if (rc != expected)
        fail_msg("%.*s: %s", (int)text.len, text.ptr, error.text);
    assert_non_null(config);
    return config;
}

/* Compares what a function shows of a configuration. */
static inline void desk_expect(const fl_config *config,
                               fl_status (*show)(const fl_config *, fl_buf *),
                               const char *expected)
{
    fl_buf out;

    fl_buf_init(&out, 1 << 20);
    assert_int_equal(show(config, &out), FL_OK);
    assert_int_equal(fl_buf_append(&out, (fl_span){"", 1}), FL_OK);
    assert_null(strstr(fl_buf_view(&out).ptr, "s3cret"));
    assert_string_equal(fl_buf_view(&out).ptr, expected);
    fl_buf_reset(&out);
}

/* It reads well, and its servers are these. */
static inline void desk_servers(const char *text, const char *expected)
{
    fl_config *config = desk_take(fl_span_of(text), FL_OK);

    desk_expect(config, fl_config_show_servers, expected);
    fl_config_free(config);
}

/* These are its problems, all of them. */
static inline void desk_problems(const char *text, fl_status status,
                                 const char *expected)
{
    fl_config *config = desk_take(fl_span_of(text), status);

    desk_expect(config, fl_config_show_problems, expected);
    fl_config_free(config);
}

static inline const fl_config_server *desk_first(const fl_config *config)
{
    size_t count;
    const fl_config_server *servers = fl_config_servers(config, &count);

    assert_true(count > 0);
    return servers;
}

/* A file of the source tree, with a NUL behind it; for free(). */
static inline char *desk_load(const char *name)
{
    char path[4096];
    char *text = malloc(1 << 20);

    snprintf(path, sizeof path, "%s/%s", SOURCE_ROOT, name);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    assert_non_null(text);
    size_t len = fread(text, 1, (1 << 20) - 1, in);
    text[len] = '\0';
    fclose(in);
    return text;
}

#endif
