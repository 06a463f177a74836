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

/* How eight bytes, or four, differ: 0 if not at all. */
static inline uint64_t fl_span_differ8(const char *a, const char *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x ^ y;
}

static inline uint32_t fl_span_differ4(const char *a, const char *b)
{
    uint32_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x ^ y;
}

/* fl_span_equal() where every message comes by: most names have 4 to 16 bytes,
 * and two loads of each, which may overlap, take less than a call. */
static inline bool fl_span_same_name(fl_span a, fl_span b)
{
    size_t len = a.len;

    if (len != b.len)
        return false;
    if (len >= 8 && len <= 16)
        return (fl_span_differ8(a.ptr, b.ptr) |
                fl_span_differ8(a.ptr + len - 8, b.ptr + len - 8)) == 0;
    if (len >= 4 && len < 8)
        return (fl_span_differ4(a.ptr, b.ptr) |
                fl_span_differ4(a.ptr + len - 4, b.ptr + len - 4)) == 0;
    return fl_span_equal(a, b);
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

/* A part of the text at `from`, as part of its copy at `to`. */
static inline fl_span fl_span_moved(fl_span part, const char *from,
                                    const char *to)
{
    return part.ptr != NULL ? (fl_span){to + (part.ptr - from), part.len}
                            : part;
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
