/*
 * headers.c - the headers a person wants sent, from the command line or a file.
 *
 * Command lines are for all to see, in the list of processes and in the
 * shell's history; so there is the file, for headers that are secrets. All are
 * checked here, although the library does so again: it does not know of lines
 * and of options with dashes.
 */
#include "cmd/headers.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/status.h"
#include "cmd/slurp.h"
#include "transport/address.h"
#include "transport/http_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FILE_MAX = 64 * 1024, WHERE = 128 };

/* What an error of these begins with. */
static const char *name_of(const fl_headers *headers)
{
    return headers->list.count > 0  ? "--header"
           : headers->env.count > 0 ? "--header-env"
                                    : "--header-file";
}

static bool says_websocket(const char *url)
{
    return strncmp(url, "ws:", 3) == 0 || strncmp(url, "wss:", 4) == 0;
}

fl_status fl_headers_check_http2(const char *url, fl_error *error)
{
    if (url != NULL && fl_address_says_http(url))
        return FL_OK;
    return fl_error_set(error, FL_E_INVALID,
                        "option --http2: it is for a server at http:// or "
                        "https://, not for %s",
                        url != NULL ? url : "a command");
}

static fl_status check_server(const fl_headers *headers, const char *url,
                              fl_error *error)
{
    if (url == NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "option %s: a command gets no headers, only a "
                            "server at http(s):// or ws(s):// does",
                            name_of(headers));
    if (fl_address_says_http(url) || says_websocket(url))
        return FL_OK;
    return fl_error_set(error, FL_E_INVALID,
                        "option %s: there are no headers over '%.*s:', only "
                        "over http(s):// and ws(s)://",
                        name_of(headers), (int)strcspn(url, ":"), url);
}

static fl_status check_given(const fl_headers *headers, fl_error *error)
{
    fl_status rc = FL_OK;
    fl_field field;
    char where[WHERE];

    for (size_t i = 0; i < headers->list.count && rc == FL_OK; i++) {
        snprintf(where, sizeof where, "option --header, number %zu", i + 1);
        rc = fl_http_options_header(headers->list.items[i], where, &field,
                                    error);
    }
    return rc;
}

static fl_status add(fl_headers *headers, const char *header, const char *where,
                     fl_error *error)
{
    fl_flag_list *list = &headers->list;
    fl_field field;
    fl_status rc = fl_http_options_header(header, where, &field, error);

    if (rc == FL_OK && list->count == FL_FLAG_LIST_MAX)
        rc = fl_error_set(error, FL_E_LIMIT, "%s: more than %d headers", where,
                          FL_FLAG_LIST_MAX);
    if (rc == FL_OK)
        list->items[list->count++] = header;
    return rc;
}

static fl_status take_variable(fl_headers *headers, const char *pair,
                               fl_error *error)
{
    size_t len = strcspn(pair, "=");
    const char *value = pair[len] == '=' ? getenv(pair + len + 1) : NULL;
    char where[WHERE];
    fl_buf text;

    snprintf(where, sizeof where, "option --header-env %.*s", (int)(len % 64),
             pair);
    if (pair[len] != '=')
        return fl_error_set(error, FL_E_INVALID, "%s: want NAME=VARIABLE",
                            where);
    if (value == NULL)
        return fl_error_set(error, FL_E_INVALID,
                            "%s: the variable %s is not set", where,
                            pair + len + 1);
    fl_buf_init(&text, len + strlen(value) + sizeof ": ");
    if (fl_buf_printf(&text, "%.*s: %s", (int)len, pair, value) == FL_OK)
        headers->made[headers->made_count] = fl_mem_string(fl_buf_view(&text));
    if (text.ptr != NULL)
        fl_mem_wipe(text.ptr, text.cap);
    fl_buf_reset(&text);
    if (headers->made[headers->made_count] == NULL)
        return fl_error_set(error, FL_E_NOMEM, "out of memory");
    return add(headers, headers->made[headers->made_count++], where, error);
}

static fl_status take_variables(fl_headers *headers, fl_error *error)
{
    fl_status rc = FL_OK;

    for (size_t i = 0; i < headers->env.count && rc == FL_OK; i++)
        rc = take_variable(headers, headers->env.items[i], error);
    return rc;
}

static fl_status read_file(fl_headers *headers, fl_error *error)
{
    fl_buf text;

    fl_buf_init(&text, FILE_MAX);
    fl_status rc = fl_slurp(headers->file, &text, error);
    if (rc == FL_OK) {
        fl_span all = fl_buf_view(&text);
        if (all.len > 0 && memchr(all.ptr, '\0', all.len) != NULL)
            rc = fl_error_set(error, FL_E_INVALID,
                              "option --header-file: '%s' is no text",
                              headers->file);
        else if ((headers->text = fl_mem_string(all)) == NULL)
            rc = fl_error_set(error, FL_E_NOMEM, "out of memory");
        else
            headers->text_len = all.len;
    }
    if (text.ptr != NULL) /* secrets, as like as not */
        fl_mem_wipe(text.ptr, text.cap);
    fl_buf_reset(&text);
    return rc;
}

static fl_status take_line(fl_headers *headers, char *line, size_t number,
                           fl_error *error)
{
    char where[WHERE];

    snprintf(where, sizeof where, "%.80s, line %zu",
             strcmp(headers->file, "-") == 0 ? "stdin" : headers->file, number);
    return add(headers, line, where, error);
}

/* Of an editor that ends lines with two characters. */
static void cut_return(char *line)
{
    size_t len = strlen(line);

    if (len > 0 && line[len - 1] == '\r')
        line[len - 1] = '\0';
}

/* Empty lines and those that begin with # are for people. */
static fl_status take_lines(fl_headers *headers, fl_error *error)
{
    size_t before = headers->list.count, number = 1;
    char *next;

    for (char *line = headers->text; line != NULL; line = next, number++) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        cut_return(line);
        if (line[0] == '#' || line[strspn(line, " \t")] == '\0')
            continue;
        fl_status rc = take_line(headers, line, number, error);
        if (rc != FL_OK)
            return rc;
    }
    if (headers->list.count == before)
        return fl_error_set(error, FL_E_INVALID,
                            "option --header-file: there is no header in '%s'",
                            headers->file);
    return FL_OK;
}

fl_status fl_headers_take(fl_headers *headers, const char *url, fl_error *error)
{
    if (headers->list.count == 0 && headers->env.count == 0 &&
        headers->file == NULL)
        return FL_OK;
    fl_status rc = check_server(headers, url, error);
    if (rc == FL_OK)
        rc = check_given(headers, error);
    if (rc == FL_OK)
        rc = take_variables(headers, error);
    if (rc != FL_OK || headers->file == NULL)
        return rc;
    rc = read_file(headers, error);
    return rc == FL_OK ? take_lines(headers, error) : rc;
}

void fl_headers_deinit(fl_headers *headers)
{
    if (headers->text != NULL)
        fl_mem_wipe(headers->text, headers->text_len);
    fl_mem_free(headers->text);
    headers->text = NULL;
    while (headers->made_count > 0) {
        char *made = headers->made[--headers->made_count];
        fl_mem_wipe(made, strlen(made));
        fl_mem_free(made);
    }
}
