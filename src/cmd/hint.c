/*
 * hint.c - what to type instead, made of what was typed.
 *
 * advice.c knows what to do about a status. Here it is the words of a failure
 * that tell, and what was typed on the command line goes into the sentence.
 */
#include "cmd/hint.h"

#include "base/span.h"
#include "json/nav.h"

#include <stdio.h>
#include <string.h>

/* What one says to the other's port is refused in these words: lines have no
 * version of HTTP in front, and JSON is no method of it. */
static const struct mistake {
    const char *scheme, *words;
    const char *speaks, *instead, *path;
} mistakes[] = {
    {"http", "malformed version", "lines", "tcp", ""},
    {"ws", "malformed version", "lines", "tcp", ""},
    {"https", "malformed version", "lines", "tls", ""},
    {"wss", "malformed version", "lines", "tls", ""},
    {"tcp", "malformed method", "HTTP", "http", "/mcp"},
    {"tls", "malformed method", "HTTP", "https", "/mcp"},
};

static bool has(fl_span text, const char *words)
{
    return text.len > 0 &&
           memmem(text.ptr, text.len, words, strlen(words)) != NULL;
}

bool fl_hint_of_port(const char *url, fl_span text, char out[FL_HINT_SIZE])
{
    const char *mark = url != NULL ? strstr(url, "://") : NULL;

    out[0] = '\0';
    if (mark == NULL)
        return false;
    fl_span scheme = {url, (size_t)(mark - url)};
    size_t host = strcspn(mark + 3, "/?#");
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistake *m = &mistakes[i];
        if (!fl_span_equal(scheme, fl_span_of(m->scheme)) ||
            !has(text, m->words))
            continue;
        snprintf(out, FL_HINT_SIZE,
                 "This port seems to speak %s: try %s://%.*s%s", m->speaks,
                 m->instead, (int)(host < 300 ? host : 300), mark + 3, m->path);
        return true;
    }
    return false;
}

/* What json_args.c takes for JSON although it may have been meant as text. */
static bool is_plain(fl_json_type type)
{
    return type == FL_JSON_NUMBER || type == FL_JSON_TRUE ||
           type == FL_JSON_FALSE || type == FL_JSON_NULL;
}

/* Every server has its own words for it, but all of them say "string", and
 * nearly all name the argument. */
bool fl_hint_of_string(fl_span arguments, fl_span said, char out[FL_HINT_SIZE])
{
    fl_json_walk walk;
    fl_json_member member;

    out[0] = '\0';
    if (!has(said, "string"))
        return false;
    fl_json_walk_init(&walk, arguments);
    while (fl_json_walk_next(&walk, &member)) {
        int key = (int)(member.key.len < 100 ? member.key.len : 100);
        int value = (int)(member.value.len < 100 ? member.value.len : 100);
        char name[128];
        snprintf(name, sizeof name, "%.*s", key, member.key.ptr);
        if (key == 0 || !is_plain(fl_json_type_of(member.value)) ||
            !has(said, name))
            continue;
        snprintf(out, FL_HINT_SIZE,
                 "%s=%.*s is JSON, and no string: %s:=%.*s sends one.", name,
                 value, member.value.ptr, name, value, member.value.ptr);
        return true;
    }
    return false;
}
