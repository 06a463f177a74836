/*
 * hint.c - what to type instead, made of what was typed.
 *
 * advice.c knows what to do about a status. Here it is the words of a failure
 * that tell, and what was typed on the command line goes into the sentence.
 */
#include "cmd/hint.h"

#include "base/span.h"

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
