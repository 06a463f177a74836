/*
 * span.h - small verbs on fl_span, the borrowed view of bytes.
 */
#ifndef FL_BASE_SPAN_H
#define FL_BASE_SPAN_H

#include <fairlead/types.h>

#include <string.h>

/* A span of a string literal, its length known to the compiler. */
#define FL_SPAN(literal) ((fl_span){"" literal, sizeof(literal) - 1})

static inline fl_span fl_span_of(const char *text)
{
    return text != NULL ? (fl_span){text, strlen(text)} : (fl_span){0};
}

static inline bool fl_span_equal(fl_span a, fl_span b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool fl_span_starts(fl_span span, fl_span prefix)
{
    return span.len >= prefix.len &&
           (prefix.len == 0 || memcmp(span.ptr, prefix.ptr, prefix.len) == 0);
}

/* The rest of `span` after its first `n` bytes; `n` is at most its length. */
static inline fl_span fl_span_from(fl_span span, size_t n)
{
    /* an empty span may be NULL, and NULL + 0 is undefined */
    return n > 0 ? (fl_span){span.ptr + n, span.len - n} : span;
}

/* Offset of the first `byte`, or span.len when it does not occur. */
static inline size_t fl_span_find(fl_span span, char byte)
{
    const char *at = span.len > 0 ? memchr(span.ptr, byte, span.len) : NULL;
    return at != NULL ? (size_t)(at - span.ptr) : span.len;
}

/* How many bytes the parts have together. */
static inline size_t fl_span_total(const fl_span *parts, size_t count)
{
    size_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += parts[i].len;
    return sum;
}

#endif
