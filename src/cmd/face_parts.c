/*
 * face_parts.c - what the command lines of several programs have in common.
 *
 * These programs listen on all addresses and ask nobody who he is. That is
 * taken over where somebody wrote the address down, and not where it was only
 * the default: a server that was meant for one machine has been found by the
 * whole network that way more than once.
 */
#include "cmd/face_parts.h"

#include "base/buf.h"
#include "base/log_mask.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { VARIABLE = 128, DAY_MS = 86400000, MAX_PORT = 65535 };

#define VARIABLES "FAIRLEAD_HEADER_"

bool fl_face_is_url(const char *text)
{
    return strncasecmp(text, "http://", 7) == 0 ||
           strncasecmp(text, "https://", 8) == 0;
}

bool fl_face_is_loopback(fl_span host)
{
    return fl_span_equal(host, FL_SPAN("localhost")) ||
           fl_span_equal(host, FL_SPAN("::1")) ||
           fl_span_equal(host, FL_SPAN("[::1]")) ||
           fl_span_starts(host, FL_SPAN("127."));
}

static bool read_number(const char *text, uint64_t *number)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

fl_status fl_face_millis(fl_face *face, const char *option, const char *ours,
                         const char *value, fl_error *error)
{
    uint64_t ms;

    if (value == NULL || !read_number(value, &ms))
        return fl_error_set(error, FL_E_INVALID,
                            "option %s: '%s' is not a time in milliseconds",
                            option, value != NULL ? value : "");
    if (ms == 0 || ms > DAY_MS) {
        fl_face_warn(face, "%s %s: a day is the longest here, and is taken",
                     option, value);
        ms = DAY_MS;
    }
    if (ms % 1000 == 0)
        fl_face_putf(face, ours, "%u", (unsigned)(ms / 1000));
    else
        fl_face_putf(face, ours, "%u.%03u", (unsigned)(ms / 1000),
                     (unsigned)(ms % 1000));
    return FL_OK;
}

static const char *choose_host(fl_face *face, const fl_face_door *door)
{
    const char *name = face->program->name;

    if (door->host != NULL || door->private_host)
        return door->host != NULL ? door->host : "127.0.0.1";
    if (door->asks)
        return "::";
    fl_face_warn(face,
                 "%s listens on all addresses and asks nobody who he is; this "
                 "listens on 127.0.0.1. For all, as in a container, say --host "
                 "0.0.0.0",
                 name);
    return "127.0.0.1";
}

static void open_to_all(fl_face *face, const fl_face_door *door,
                        const char *host)
{
    if (door->asks || fl_face_is_loopback(fl_span_of(host)))
        return;
    fl_face_put(face, "--insecure-no-auth", NULL);
    fl_face_warn(face,
                 "whoever reaches %s port %s can use the server: nobody "
                 "is asked who he is",
                 host, door->port);
}

fl_status fl_face_listen(fl_face *face, const fl_face_door *door,
                         fl_error *error)
{
    const char *host = choose_host(face, door);
    bool six = strchr(host, ':') != NULL && host[0] != '[';
    uint64_t port;

    if (!read_number(door->port, &port) || port > MAX_PORT)
        return fl_error_set(error, FL_E_INVALID,
                            "option --port: '%s' is not a port, 0 to 65535",
                            door->port);
    if (door->path[0] != '/')
        return fl_error_set(error, FL_E_INVALID,
                            "the path '%s' does not begin with a slash",
                            door->path);
    fl_face_putf(face, "--listen", "%s://%s%s%s:%u%s", door->scheme,
                 six ? "[" : "", host, six ? "]" : "", (unsigned)port,
                 door->path);
    open_to_all(face, door, host);
    return FL_OK;
}

/* Two headers of one name are one variable: the last one counts. */
static void put_once(fl_face *face, const char *flag, const char *lead,
                     const char *name)
{
    char text[2 * VARIABLE];

    snprintf(text, sizeof text, "%s%s", lead, name);
    for (size_t i = 0; i < face->argv.count; i++)
        if (strcmp(face->argv.items[i], text) == 0)
            return;
    fl_face_put(face, flag, text);
}

void fl_face_secret(fl_face *face, const char *flag, const char *lead,
                    const char *name, const char *value)
{
    size_t len = strlen(name), size = len + strlen(value) + 2;
    fl_buf text;

    fl_buf_init(&text, size);
    if (fl_buf_printf(&text, "%s=%s", name, value) == FL_OK)
        fl_texts_add_span(&face->secrets, fl_buf_view(&text));
    else
        face->failed = true;
    if (text.ptr != NULL)
        fl_mem_wipe(text.ptr, text.cap);
    fl_buf_reset(&text);
    put_once(face, flag, lead, name);
}

fl_status fl_face_bearer(fl_face *face, const char *option, const char *token,
                         fl_error *error)
{
    fl_buf value;
    fl_status rc = FL_OK;

    fl_buf_init(&value, strlen(token) + 8);
    if (fl_buf_printf(&value, "Bearer %s", token) == FL_OK)
        rc = fl_face_header(face, option, FL_SPAN("Authorization"),
                            fl_buf_view(&value), true, error);
    else
        face->failed = true;
    if (value.ptr != NULL)
        fl_mem_wipe(value.ptr, value.cap);
    fl_buf_reset(&value);
    return rc;
}

/* "X-Api-Key" becomes FAIRLEAD_HEADER_X_API_KEY. */
static void name_variable(fl_span header, char name[VARIABLE])
{
    size_t len = sizeof VARIABLES - 1;

    memcpy(name, VARIABLES, len);
    for (size_t i = 0; i < header.len && len + 1 < VARIABLE; i++) {
        char c = header.ptr[i];
        bool lower = c >= 'a' && c <= 'z';
        bool keep = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        name[len++] = lower ? (char)(c - ('a' - 'A')) : keep ? c : '_';
    }
    name[len] = '\0';
}

static bool is_token(fl_span name)
{
    static const char others[] = "!#$%&'*+-.^_`|~"; /* RFC 9110 5.6.2 */

    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              (c >= '0' && c <= '9') ||
              (c != '\0' && strchr(others, c) != NULL)))
            return false;
    }
    return name.len > 0;
}

static bool has_line_end(fl_span value)
{
    return fl_span_find(value, '\n') < value.len ||
           fl_span_find(value, '\r') < value.len;
}

static void put_secret_header(fl_face *face, fl_span name, fl_span value)
{
    char variable[VARIABLE], lead[VARIABLE];
    char *copy = fl_mem_string(value);

    if (copy == NULL) {
        face->failed = true;
        return;
    }
    name_variable(name, variable);
    snprintf(lead, sizeof lead, "%.*s=", (int)name.len, name.ptr);
    fl_face_secret(face, "--header-env", lead, variable, copy);
    fl_mem_wipe(copy, value.len);
    fl_mem_free(copy);
}

fl_status fl_face_header(fl_face *face, const char *option, fl_span name,
                         fl_span value, bool secret, fl_error *error)
{
    fl_buf line;

    if (!is_token(name) || name.len > VARIABLE / 2 || has_line_end(value))
        return fl_error_set(error, FL_E_INVALID,
                            "option %s: want 'NAME: VALUE', on one line",
                            option);
    if (secret || fl_log_is_secret(name, NULL)) {
        put_secret_header(face, name, value);
        return FL_OK;
    }
    fl_buf_init(&line, name.len + value.len + 3);
    if (fl_buf_append(&line, name) != FL_OK ||
        fl_buf_append(&line, FL_SPAN(": ")) != FL_OK ||
        fl_buf_append(&line, value) != FL_OK)
        face->failed = true;
    fl_texts_add(&face->argv, "--header");
    fl_texts_add_span(&face->argv, fl_buf_view(&line));
    fl_buf_reset(&line);
    return FL_OK;
}

static fl_span trim(fl_span text)
{
    while (text.len > 0 && strchr(" \t", text.ptr[text.len - 1]) != NULL)
        text.len--;
    while (text.len > 0 && strchr(" \t", text.ptr[0]) != NULL)
        text = fl_span_from(text, 1);
    return text;
}

fl_status fl_face_header_line(fl_face *face, const char *option,
                              const char *line, bool secret, fl_error *error)
{
    fl_span all = fl_span_of(line);
    size_t colon = fl_span_find(all, ':');
    fl_span name = {all.ptr, colon};

    if (colon == all.len)
        name.len = 0; /* which is refused */
    return fl_face_header(face, option, trim(name),
                          colon < all.len ? trim(fl_span_from(all, colon + 1))
                                          : (fl_span){0},
                          secret, error);
}

bool fl_face_is_plain(const char *url)
{
    if (strncasecmp(url, "http://", 7) != 0)
        return false;
    const char *host = url + 7;
    size_t len =
        host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/?#");
    return !fl_face_is_loopback((fl_span){host, len});
}

fl_status fl_face_server(fl_face *face, const char *url, bool sse,
                         fl_error *error)
{
    fl_buf text;

    if (!fl_face_is_url(url))
        return fl_error_set(error, FL_E_INVALID,
                            "'%s' is not the URL of a server: want http:// or "
                            "https://",
                            url);
    if (fl_face_is_plain(url) &&
        fl_face_next(face, "--allow-http", NULL) == NULL) {
        fl_face_put(face, "--allow-http", NULL);
        fl_face_warn(face, "http:// to another machine can be read by all on "
                           "the way; use https:// if the server has it");
    }
    fl_buf_init(&text, strlen(url) + 8);
    if (fl_buf_printf(&text, "%s%s", sse ? "sse+" : "", url) != FL_OK)
        face->failed = true;
    fl_texts_add_span(&face->target, fl_buf_view(&text));
    fl_buf_reset(&text);
    return FL_OK;
}

void fl_face_debug(fl_face *face)
{
    fl_texts_add(&face->target, "--log-level");
    fl_texts_add(&face->target, "debug");
}

void fl_face_command(fl_face *face, fl_texts *words)
{
    fl_texts_add(&face->target, "--");
    fl_texts_move(&face->target, words);
}
