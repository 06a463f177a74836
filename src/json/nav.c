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

/* Most keys are told apart by their length or their first byte. */
static bool is_key(fl_span name, fl_span key)
{
    if (name.len < key.len)
        return false;
    if (key.len > 0 && name.ptr[0] != key.ptr[0] && name.ptr[0] != '\\')
        return false;
    return fl_json_unescape_is(name, key);
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
            if (is_key(unquote(between(object, from, at[i])), key)) {
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

    walk->in_object = type == FL_JSON_OBJECT;
    walk->next = walk->found = 0;
    walk->from = 1;
    walk->text =
        walk->in_object || type == FL_JSON_ARRAY ? container : (fl_span){0};
}

/* Ends the walk: there is nothing more to look through. */
static bool stop(fl_json_walk *walk, fl_json_member *member)
{
    walk->text = (fl_span){0};
    walk->next = walk->found;
    *member = (fl_json_member){0};
    return false;
}

/* Sees to it that `want` delimiters are known; false if there are not. */
static bool look_ahead(fl_json_walk *walk, size_t want)
{
    if (walk->next == walk->found) {
        size_t found =
            walk->from < walk->text.len
                ? fl_json_kernel_best()->mark(walk->text, walk->from,
                                              FL_JSON_WALK_AHEAD, walk->at)
                : 0;
        walk->next = 0;
        walk->found = (unsigned char)found;
    }
    return (size_t)walk->found - walk->next >= want;
}

bool fl_json_walk_next(fl_json_walk *walk, fl_json_member *member)
{
    size_t want = walk->in_object ? 2 : 1, from = walk->from;

    if (!look_ahead(walk, want))
        return stop(walk, member);
    member->key = (fl_span){0};
    if (walk->in_object) {
        size_t colon = walk->at[walk->next];
        member->key = unquote(between(walk->text, from, colon));
        from = colon + 1;
    }
    size_t end = walk->at[walk->next + want - 1];
    member->value = between(walk->text, from, end);
    if (member->value.len == 0)
        return stop(walk, member);
    walk->next = (unsigned char)(walk->next + want);
    walk->from = end + 1;
    if (walk->text.ptr[end] != ',') { /* the last one */
        walk->next = walk->found;
        walk->from = walk->text.len;
    }
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
