/*
 * edges.c - which request a response is to that is too long to be read.
 *
 * Forwards, members are read until one is cut off. "result" or "error" must be
 * among them, for an id may also be that of the peer's own request. Backwards
 * only plain members are read: the quote before the last one of a string
 * without a backslash is its first.
 */
#include "rpc/edges.h"

#include "base/numbers.h"
#include "base/span.h"

#include <string.h>

void fl_edges_add(fl_edges *edges, fl_span text)
{
    size_t room = FL_EDGE - edges->start_len;
    size_t first = text.len < room ? text.len : room;
    size_t last = text.len < FL_EDGE ? text.len : FL_EDGE;
    size_t kept =
        FL_EDGE - last < edges->end_len ? FL_EDGE - last : edges->end_len;

    if (text.len == 0)
        return;
    memcpy(edges->start + edges->start_len, text.ptr, first);
    edges->start_len += first;
    memmove(edges->end, edges->end + edges->end_len - kept, kept);
    memcpy(edges->end + kept, text.ptr + text.len - last, last);
    edges->end_len = kept + last;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_scalar(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' ||
           c == '+' || c == '.' || c == 'E';
}

static void skip_blanks(fl_span *text)
{
    while (text->len > 0 && is_blank(text->ptr[0]))
        *text = fl_span_from(*text, 1);
}

static bool take_char(fl_span *text, char c)
{
    skip_blanks(text);
    if (text->len == 0 || text->ptr[0] != c)
        return false;
    *text = fl_span_from(*text, 1);
    return true;
}

/* With its quotes taken off. False: it is none, or was cut off. */
static bool take_string(fl_span *text, fl_span *string)
{
    if (!take_char(text, '"'))
        return false;
    for (size_t i = 0; i < text->len; i++) {
        if (text->ptr[i] == '\\') {
            i++;
        } else if (text->ptr[i] == '"') {
            *string = (fl_span){text->ptr, i};
            *text = fl_span_from(*text, i + 1);
            return true;
        }
    }
    return false;
}

static fl_span quoted(fl_span string)
{
    return (fl_span){string.ptr - 1, string.len + 2};
}

/* A string, or a number or a word whose end is there; as it is written. */
static bool take_plain(fl_span *text, fl_span *value)
{
    size_t len = 0;

    skip_blanks(text);
    if (text->len > 0 && text->ptr[0] == '"') {
        bool whole = take_string(text, value);
        *value = whole ? quoted(*value) : (fl_span){0};
        return whole;
    }
    while (len < text->len && is_scalar(text->ptr[len]))
        len++;
    *value = (fl_span){text->ptr, len};
    *text = fl_span_from(*text, len);
    return len > 0 && text->len > 0;
}

static bool is_result(fl_span key)
{
    return fl_span_equal(key, FL_SPAN("result")) ||
           fl_span_equal(key, FL_SPAN("error"));
}

/* Whether it is a response; and its id, if that is before the result. */
static bool read_start(fl_span text, uint64_t *id)
{
    fl_span key, value;

    if (!take_char(&text, '{'))
        return false;
    while (take_string(&text, &key) && take_char(&text, ':')) {
        if (is_result(key))
            return true;
        if (!take_plain(&text, &value))
            return false;
        if (fl_span_equal(key, FL_SPAN("id")))
            *id = fl_numbers_read(value);
        if (!take_char(&text, ','))
            return false;
    }
    return false;
}

static void drop_blanks(fl_span *text)
{
    while (text->len > 0 && is_blank(text->ptr[text->len - 1]))
        text->len--;
}

static bool drop_char(fl_span *text, char c)
{
    drop_blanks(text);
    if (text->len == 0 || text->ptr[text->len - 1] != c)
        return false;
    text->len--;
    return true;
}

static bool drop_string(fl_span *text, fl_span *string)
{
    size_t from;

    if (!drop_char(text, '"'))
        return false;
    for (from = text->len; from > 0 && text->ptr[from - 1] != '"'; from--)
        if (text->ptr[from - 1] == '\\')
            return false;
    if (from < 2 || text->ptr[from - 2] == '\\')
        return false;
    *string = (fl_span){text->ptr + from, text->len - from};
    text->len = from - 1;
    return true;
}

static bool drop_plain(fl_span *text, fl_span *value)
{
    size_t from;

    drop_blanks(text);
    if (text->len > 0 && text->ptr[text->len - 1] == '"') {
        bool whole = drop_string(text, value);
        *value = whole ? quoted(*value) : (fl_span){0};
        return whole;
    }
    for (from = text->len; from > 0 && is_scalar(text->ptr[from - 1]);)
        from--;
    *value = (fl_span){text->ptr + from, text->len - from};
    text->len = from;
    return value->len > 0;
}

static uint64_t read_end(fl_span text)
{
    fl_span key, value;

    if (!drop_char(&text, '}'))
        return 0;
    while (drop_plain(&text, &value) && drop_char(&text, ':') &&
           drop_string(&text, &key)) {
        if (fl_span_equal(key, FL_SPAN("id")))
            return fl_numbers_read(value);
        if (!drop_char(&text, ','))
            return 0;
    }
    return 0;
}

uint64_t fl_edges_answers(const fl_edges *edges)
{
    uint64_t id = 0;

    if (!read_start((fl_span){edges->start, edges->start_len}, &id))
        return 0;
    return id != 0 ? id : read_end((fl_span){edges->end, edges->end_len});
}
