/*
 * door_keys.c - the keys that clients must show, from variables and a file.
 *
 * A key is never an argument, which everybody on the machine could read. What
 * came by a variable is moved here and overwritten where it stood, so that it
 * is in no child's environment, not even by --inherit-env '*'. The file can be
 * read again while the command runs; what is said about it names the line.
 */
#include "cmd/door_keys.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "cmd/slurp.h"
#include "guard/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1024 * 1024, WHERE = 128 };

/* The keys of a file, which borrow from its text. */
typedef struct key_list {
    const char *items[FL_KEYS_MAX + 1];
    size_t count;
} key_list;

bool fl_door_keys_wanted(const fl_door_keys *keys)
{
    return keys->env.count > 0 || keys->file != NULL;
}

static fl_status check(const fl_door_keys *keys, const char *key,
                       const char *where, fl_error *error)
{
    fl_status rc = fl_keys_check(fl_span_of(key), where, error);

    if (rc == FL_OK && strlen(key) < FL_DOOR_KEY_LEAST && !keys->allow_short)
        rc = fl_error_set(error, FL_E_INVALID,
                          "%s: a key of %zu characters can be guessed; want "
                          "%d or more, as of 'openssl rand -hex 16', or "
                          "--allow-short-keys",
                          where, strlen(key), FL_DOOR_KEY_LEAST);
    return rc;
}

fl_status fl_door_keys_check(const fl_door_keys *keys, fl_error *error)
{
    fl_status rc = FL_OK;
    char where[WHERE];

    if (keys->allow_short && !fl_door_keys_wanted(keys))
        return fl_error_set(error, FL_E_INVALID,
                            "option --allow-short-keys: there are none; add "
                            "--api-key-file or --api-key-env");
    for (size_t i = 0; i < keys->env.count && rc == FL_OK; i++) {
        const char *name = keys->env.items[i], *value = getenv(name);
        snprintf(where, sizeof where, "option --api-key-env: %.64s", name);
        rc = value != NULL ? check(keys, value, where, error)
                           : fl_error_set(error, FL_E_INVALID,
                                          "option --api-key-env: the variable "
                                          "%s is not set",
                                          name);
    }
    return rc;
}

fl_status fl_door_keys_hide(fl_door_keys *keys, fl_error *error)
{
    for (size_t i = 0; i < keys->env.count; i++) {
        const char *value = getenv(keys->env.items[i]);
        keys->of_env[i] = fl_mem_string(fl_span_of(value));
        if (keys->of_env[i] == NULL)
            return fl_error_set(error, FL_E_NOMEM, "out of memory");
    }
    for (size_t i = 0; i < keys->env.count; i++) {
        char *value = getenv(keys->env.items[i]);
        if (value != NULL) /* a variable may be named twice */
            fl_mem_wipe(value, strlen(value));
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): nothing else runs yet */
        unsetenv(keys->env.items[i]);
    }
    return FL_OK;
}

static fl_status add(key_list *list, const char *key, fl_error *error)
{
    if (list->count == FL_KEYS_MAX)
        return fl_error_set(error, FL_E_LIMIT,
                            "option --api-key-file: more than %d keys",
                            FL_KEYS_MAX);
    list->items[list->count++] = key;
    return FL_OK;
}

/* Cuts `line` down to its key; empty: there is none. False: there is more on
 * it than a key and a remark. */
static bool cut_key(char **line)
{
    *line += strspn(*line, " \t\r");
    if (**line == '#')
        **line = '\0';
    char *end = *line + strcspn(*line, " \t\r");
    const char *rest = end + strspn(end, " \t\r");
    bool alone = *rest == '\0' || *rest == '#';
    *end = '\0';
    return alone;
}

static fl_status take_line(const fl_door_keys *keys, char *line, size_t number,
                           key_list *list, fl_error *error)
{
    char where[WHERE];

    snprintf(where, sizeof where, "%.80s, line %zu", keys->file, number);
    if (!cut_key(&line))
        return fl_error_set(error, FL_E_INVALID,
                            "%s: one key a line, and behind it nothing but a "
                            "remark that begins with #",
                            where);
    if (line[0] == '\0')
        return FL_OK;
    fl_status rc = check(keys, line, where, error);
    return rc == FL_OK ? add(list, line, error) : rc;
}

static fl_status take_lines(const fl_door_keys *keys, char *text,
                            key_list *list, fl_error *error)
{
    fl_status rc = FL_OK;
    size_t number = 1;
    char *next;

    for (char *line = text; line != NULL && rc == FL_OK; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        rc = take_line(keys, line, number++, list, error);
    }
    if (rc == FL_OK && list->count == 0)
        rc = fl_error_set(error, FL_E_INVALID,
                          "option --api-key-file: there is no key in '%s'",
                          keys->file);
    return rc;
}

/* A copy with an end; `len` is how much of it to overwrite. */
static fl_status read_file(const char *path, char **copy, size_t *len,
                           fl_error *error)
{
    fl_buf text;

    fl_buf_init(&text, FILE_MAX);
    fl_status rc = fl_slurp(path, &text, error);
    fl_span all = fl_buf_view(&text);
    *len = all.len;
    if (rc == FL_OK && all.len > 0 && memchr(all.ptr, '\0', all.len) != NULL)
        rc = fl_error_set(error, FL_E_INVALID,
                          "option --api-key-file: '%s' is no text", path);
    if (rc == FL_OK && (*copy = fl_mem_string(all)) == NULL)
        rc = fl_error_set(error, FL_E_NOMEM, "out of memory");
    if (text.ptr != NULL)
        fl_mem_wipe(text.ptr, text.cap);
    fl_buf_reset(&text);
    return rc;
}

fl_status fl_door_keys_load(const fl_door_keys *keys, fl_keys *into,
                            fl_error *error)
{
    key_list list = {.count = 0};
    fl_status rc = FL_OK;
    char *text = NULL;
    size_t len = 0;

    if (keys->file != NULL)
        rc = read_file(keys->file, &text, &len, error);
    if (text != NULL)
        rc = take_lines(keys, text, &list, error);
    for (size_t i = 0; i < keys->env.count && rc == FL_OK; i++)
        rc = add(&list, keys->of_env[i], error);
    if (rc == FL_OK)
        rc = fl_keys_set(into, list.items, error);
    fl_mem_wipe(text, len);
    fl_mem_free(text);
    return rc;
}

void fl_door_keys_deinit(fl_door_keys *keys)
{
    for (size_t i = 0; i < keys->env.count; i++) {
        if (keys->of_env[i] != NULL)
            fl_mem_wipe(keys->of_env[i], strlen(keys->of_env[i]));
        fl_mem_free(keys->of_env[i]);
        keys->of_env[i] = NULL;
    }
}
