/*
 * nav.c - finding one's way in validated JSON.
 *
 * A member or an element lies between two delimiters, and a kernel finds
 * those 64 bytes at a time, strings and inner containers passed over. What
 * lies between is trimmed of white space and handed out raw. Nothing here
 * checks grammar; everything here stays inside the slice it was given.
 */
#include "json/nav.h"

#include "json/kernel.h"
#include "json/unescape.h"

fl_json_type fl_json_type_of(fl_span value)
{
    if (value.len == 0)
        return FL_JSON_NONE;
    switch (value.ptr[0]) {
    case '{':
        return FL_JSON_OBJECT;
    case '[':
        return FL_JSON_ARRAY;
    case '"':
        return FL_JSON_STRING;
    case 't':
        return FL_JSON_TRUE;
    case 'f':
        return FL_JSON_FALSE;
    case 'n':
        return FL_JSON_NULL;
    default:
        return FL_JSON_NUMBER;
    }
}

/* text[from, to) without the white space around it. */
static fl_span between(fl_span text, size_t from, size_t to)
{
    while (from < to && (unsigned char)text.ptr[from] <= ' ')
        from++;
    while (to > from && (unsigned char)text.ptr[to - 1] <= ' ')
        to--;
    return (fl_span){text.ptr + from, to - from};
}

/* A string without its quotes. */
static fl_span unquote(fl_span string)
{
    return string.len >= 2 ? (fl_span){string.ptr + 1, string.len - 2}
                           : (fl_span){0};
}

fl_span fl_json_get(fl_span object, fl_span key)
{
    const fl_json_kernel *kernel = fl_json_kernel_best();
    size_t at[FL_JSON_MARKS], found, from = 1, first = 0, last = 0;

    if (fl_json_type_of(object) != FL_JSON_OBJECT)
        return (fl_span){0};
    do {
        found = kernel->mark(object, from, FL_JSON_MARKS, at);
        for (size_t i = 0; i + 1 < found; i += 2) {
            fl_span name = unquote(between(object, from, at[i]));
            if (fl_json_unescape_is(name, key)) {
                first = at[i] + 1;
                last = at[i + 1];
            }
            from = at[i + 1] + 1;
        }
    } while (found == FL_JSON_MARKS);
    return last > 0 ? between(object, first, last) : (fl_span){0};
}

void fl_json_walk_init(fl_json_walk *walk, fl_span container)
{
    fl_json_type type = fl_json_type_of(container);
    bool walks = type == FL_JSON_OBJECT || type == FL_JSON_ARRAY;

    *walk = (fl_json_walk){.in_object = type == FL_JSON_OBJECT};
    if (walks)
        walk->rest = (fl_span){container.ptr + 1, container.len - 1};
}

/* Ends the walk: an empty rest has no next. */
static bool stop(fl_json_walk *walk, fl_json_member *member)
{
    walk->rest = (fl_span){0};
    *member = (fl_json_member){0};
    return false;
}

bool fl_json_walk_next(fl_json_walk *walk, fl_json_member *member)
{
    fl_span rest = walk->rest;
    size_t at[2], want = walk->in_object ? 2 : 1, from = 0;

    if (rest.len == 0 || fl_json_kernel_best()->mark(rest, 0, want, at) != want)
        return stop(walk, member);
    member->key = (fl_span){0};
    if (walk->in_object) {
        member->key = unquote(between(rest, 0, at[0]));
        from = at[0] + 1;
    }
    size_t end = at[want - 1];
    member->value = between(rest, from, end);
    if (member->value.len == 0)
        return stop(walk, member);
    walk->rest = rest.ptr[end] == ','
                     ? (fl_span){rest.ptr + end + 1, rest.len - end - 1}
                     : (fl_span){0};
    return true;
}

bool fl_json_string_is(fl_span value, fl_span text)
{
    return fl_json_type_of(value) == FL_JSON_STRING && value.len >= 2 &&
           fl_json_unescape_is(unquote(value), text);
}

fl_status fl_json_string_copy(fl_span value, fl_buf *out)
{
    size_t before = fl_buf_len(out);

    if (fl_json_type_of(value) != FL_JSON_STRING || value.len < 2)
        return FL_E_INVALID;
    fl_status rc = fl_json_unescape(unquote(value), out);
    if (rc != FL_OK)
        fl_buf_truncate(out, before);
    return rc;
}
