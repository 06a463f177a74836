/*
 * pretty.c - JSON laid out for people.
 *
 * The text was validated when its message was read, so that one pass over its
 * bytes is enough: outside strings only brackets, commas and colons move the
 * layout. Nothing is parsed, and nothing recurses into a deep document.
 */
#include "cmd/pretty.h"

#include "base/span.h"

#include <string.h>

typedef struct layout {
    fl_buf *out;
    size_t depth;
    fl_status status; /* the first failure stays */
} layout;

static void put(layout *to, fl_span text)
{
    if (to->status == FL_OK)
        to->status = fl_buf_append(to->out, text);
}

static void put_line(layout *to)
{
    put(to, FL_SPAN("\n"));
    for (size_t i = 0; i < to->depth; i++)
        put(to, FL_SPAN("  "));
}

/* The string or scalar at the front, whole. */
static size_t token_length(fl_span text)
{
    size_t n = 1;

    if (text.ptr[0] != '"') {
        while (n < text.len && strchr(",:[]{} \t\r\n", text.ptr[n]) == NULL)
            n++;
        return n;
    }
    while (n < text.len && text.ptr[n] != '"')
        n += text.ptr[n] == '\\' ? 2 : 1;
    return n < text.len ? n + 1 : text.len;
}

static fl_span skip_space(fl_span text)
{
    size_t n = 0;

    while (n < text.len && strchr(" \t\r\n", text.ptr[n]) != NULL)
        n++;
    return fl_span_from(text, n);
}

/* Empty containers stay on their line. */
static size_t open_container(layout *to, fl_span text)
{
    fl_span inside = skip_space(fl_span_from(text, 1));

    put(to, (fl_span){text.ptr, 1});
    if (inside.len > 0 && (inside.ptr[0] == '}' || inside.ptr[0] == ']')) {
        put(to, (fl_span){inside.ptr, 1});
        return text.len - inside.len + 1;
    }
    to->depth++;
    put_line(to);
    return 1;
}

static size_t lay_out(layout *to, fl_span text)
{
    switch (text.ptr[0]) {
    case '{':
    case '[':
        return open_container(to, text);
    case '}':
    case ']':
        if (to->depth > 0)
            to->depth--;
        put_line(to);
        put(to, (fl_span){text.ptr, 1});
        return 1;
    case ',':
        put(to, FL_SPAN(","));
        put_line(to);
        return 1;
    case ':':
        put(to, FL_SPAN(": "));
        return 1;
    default:
        break;
    }
    size_t len = token_length(text);
    put(to, (fl_span){text.ptr, len});
    return len;
}

fl_status fl_pretty(fl_buf *out, fl_span json)
{
    layout to = {.out = out};

    for (json = skip_space(json); json.len > 0 && to.status == FL_OK;
         json = skip_space(json))
        json = fl_span_from(json, lay_out(&to, json));
    return to.status;
}
