/*
 * environ.c - what of our environment a child gets to see.
 */
#include "transport/environ.h"

#include "base/mem.h"
#include "base/span.h"

#include <strings.h>

static fl_span name_of(const char *entry)
{
    fl_span text = fl_span_of(entry);

    return (fl_span){text.ptr, fl_span_find(text, '=')};
}

/* A whole word between underscores or ends: KEY is one in API_KEY and KEY_ID,
 * not in KEYBOARD or MONKEY. */
static bool has_word(fl_span name, fl_span word)
{
    for (size_t at = 0; at + word.len <= name.len; at++) {
        size_t after = at + word.len;
        bool starts = at == 0 || name.ptr[at - 1] == '_';
        bool ends = after == name.len || name.ptr[after] == '_';
        if (starts && ends &&
            strncasecmp(name.ptr + at, word.ptr, word.len) == 0)
            return true;
    }
    return false;
}

static bool has_part(fl_span name, fl_span part)
{
    for (size_t at = 0; at + part.len <= name.len; at++)
        if (strncasecmp(name.ptr + at, part.ptr, part.len) == 0)
            return true;
    return false;
}

bool fl_environ_is_secret(fl_span name)
{
    static const fl_span words[] = {
        {"KEY", 3}, {"KEYS", 4}, {"PASS", 4}, {"PWD", 3}, {"AUTH", 4},
        {"DSN", 3}, {"PAT", 3},  {"JWT", 3},  {"PSK", 3}, {"CREDS", 5},
    };
    static const fl_span parts[] = {
        {"TOKEN", 5},         {"SECRET", 6},      {"PASSWORD", 8},
        {"PASSWD", 6},        {"CREDENTIAL", 10}, {"PASSPHRASE", 10},
        {"DATABASE_URL", 12}, {"APIKEY", 6},      {"PRIVATE", 7},
        {"COOKIE", 6},
    };

    if (fl_span_equal(name, FL_SPAN("PWD"))) /* the working directory */
        return false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (has_part(name, parts[i]))
            return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_word(name, words[i]))
            return true;
    return false;
}

static size_t count(const char *const *list)
{
    size_t n = 0;

    while (list != NULL && list[n] != NULL)
        n++;
    return n;
}

static bool names(const char *const *list, fl_span name)
{
    for (; list != NULL && *list != NULL; list++)
        if (fl_span_equal(name_of(*list), name))
            return true;
    return false;
}

const char **fl_environ_make(const char *const *parent,
                             const char *const *inherit,
                             const char *const *extra)
{
    size_t most = count(parent) + count(extra) + 1, n = 0;
    const char **made = fl_mem_alloc(most * sizeof *made);

    if (made == NULL)
        return NULL;
    bool all = names(inherit, FL_SPAN("*"));
    for (; parent != NULL && *parent != NULL; parent++) {
        fl_span name = name_of(*parent);
        if (names(extra, name))
            continue;
        if (all || !fl_environ_is_secret(name) || names(inherit, name))
            made[n++] = *parent;
    }
    for (; extra != NULL && *extra != NULL; extra++)
        made[n++] = *extra;
    made[n] = NULL;
    return made;
}
