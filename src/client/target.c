/*
 * target.c - where a client connects to, kept so that it can do so again.
 *
 * Every pointer in fl_options is named in one of two tables: a string, or a
 * list of strings. All they point to is copied into one block, first the
 * lists, which need to be aligned, then the texts.
 */
#include "client/target.h"

#include "base/mem.h"
#include "base/status.h"

#include <string.h>

#define AT(field) offsetof(fl_options, field)

static const size_t strings[] = {
    AT(label),         AT(tls.cert_file),      AT(tls.key_file),
    AT(tls.ca_file),   AT(tls.server_name),    AT(child.cwd),
    AT(http.sse_path), AT(http.messages_path), AT(http.health_path),
};

static const size_t lists[] = {
    AT(child.argv),   AT(child.env),          AT(child.env_inherit),
    AT(child.allow),  AT(http.allow_origins), AT(http.allow_hosts),
    AT(http.headers), AT(allow_addresses),    AT(deny_addresses),
};

enum {
    STRINGS = sizeof strings / sizeof *strings,
    LISTS = sizeof lists / sizeof *lists,
};

/* What has been used of the block. */
typedef struct cursor {
    const char **list;
    char *text;
} cursor;

static const char **string_at(fl_options *options, size_t i)
{
    return (const char **)((char *)options + strings[i]);
}

static const char *const **list_at(fl_options *options, size_t i)
{
    return (const char *const **)((char *)options + lists[i]);
}

static size_t text_size(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

static size_t count(const char *const *list)
{
    size_t n = 0;

    while (list[n] != NULL)
        n++;
    return n;
}

/* How much the lists take, and how much the texts. */
static void measure(fl_options *options, size_t *list_size, size_t *text_sum)
{
    for (size_t i = 0; i < STRINGS; i++)
        *text_sum += text_size(*string_at(options, i));
    for (size_t i = 0; i < LISTS; i++) {
        const char *const *list = *list_at(options, i);
        if (list == NULL)
            continue;
        size_t n = count(list);
        *list_size += (n + 1) * sizeof *list;
        for (size_t j = 0; j < n; j++)
            *text_sum += text_size(list[j]);
    }
}

static const char *keep(cursor *at, const char *text)
{
    size_t size = text_size(text);
    char *copy = at->text;

    if (text == NULL)
        return NULL;
    memcpy(copy, text, size);
    at->text += size;
    return copy;
}

static const char *const *keep_list(cursor *at, const char *const *list)
{
    const char **copy = at->list;

    if (list == NULL)
        return NULL;
    for (; *list != NULL; list++)
        *at->list++ = keep(at, *list);
    *at->list++ = NULL;
    return copy;
}

fl_status fl_target_init(fl_target *target, const char *url,
                         const fl_options *options)
{
    size_t list_size = 0, text_sum = text_size(url);

    *target = (fl_target){.options = *options};
    measure(&target->options, &list_size, &text_sum);
    size_t size = list_size + text_sum;
    char *block = fl_mem_alloc(size > 0 ? size : 1);
    if (block == NULL)
        return FL_E_NOMEM;
    target->block = block;
    target->size = size;
    cursor at = {.list = target->block, .text = block + list_size};
    for (size_t i = 0; i < STRINGS; i++)
        *string_at(&target->options, i) =
            keep(&at, *string_at(&target->options, i));
    for (size_t i = 0; i < LISTS; i++)
        *list_at(&target->options, i) =
            keep_list(&at, *list_at(&target->options, i));
    target->url = keep(&at, url);
    return FL_OK;
}

void fl_target_deinit(fl_target *target)
{
    if (target->block != NULL)
        fl_mem_wipe(target->block, target->size);
    fl_mem_free(target->block);
    *target = (fl_target){0};
}

/* What comes before the path of a URL that has none, without "/"; 0: it has
 * one, or is no URL of HTTP's or WebSocket's. */
static size_t length_without_path(const char *url)
{
    const char *host = strstr(url, "://");

    if (host == NULL ||
        (strncmp(url, "http", 4) != 0 && strncmp(url, "ws", 2) != 0))
        return 0;
    host += 3;
    size_t len = strcspn(host, "/?#");
    const char *rest = host + len;
    return rest[0] == '\0' || strcmp(rest, "/") == 0 ? (size_t)(rest - url) : 0;
}

void fl_target_hint(const fl_target *target, fl_error *why)
{
    bool reached =
        why->status == FL_E_REMOTE || why->status == FL_E_NOT_FOUND ||
        why->status == FL_E_UNSUPPORTED || why->status == FL_E_BAD_MESSAGE;
    size_t len = target->url != NULL ? length_without_path(target->url) : 0;

    if (reached && len > 0)
        fl_error_set(why, why->status,
                     "%.140s; the address has no path: try %.*s/mcp", why->text,
                     (int)len, target->url);
}
