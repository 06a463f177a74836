/*
 * nav.c - finding one's way in validated JSON.
 *
 * A member or an element lies between two delimiters, and a kernel finds
 * those 64 bytes at a time, strings and inner containers passed over; or the
 * scan has found them already, while it was there. What lies between is trimmed
 * of white space and handed out raw. Nothing here checks grammar; everything
 * here stays inside the slice it was given.
 */
#include "json/nav.h"

#include "json/kernel.h"
#include "json/unescape.h"
#include "json/walk.h"

#include <assert.h>

fl_span fl_json_trim(fl_span text, size_t from, size_t to)
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
            if (is_key(unquote(fl_json_between(object, from, at[i])), key)) {
                first = at[i] + 1;
                last = at[i + 1];
            }
            from = at[i + 1] + 1;
        }
    } while (found == FL_JSON_MARKS);
    return last > 0 ? fl_json_between(object, first, last) : (fl_span){0};
}

void fl_json_walk_init(fl_json_walk *walk, fl_span container)
{
    char first = container.len > 0 ? container.ptr[0] : '\0';

    walk->in_object = first == '{';
    walk->at = walk->last = walk->ahead;
    walk->from = 1;
    walk->text = first == '{' || first == '[' ? container : (fl_span){0};
}

void fl_json_walk_inside(fl_json_walk *walk, const fl_json_top *top,
                         unsigned level, fl_span container)
{
    fl_json_walk_init(walk, container);
    if (walk->text.len == 0 || level >= FL_JSON_LEVELS)
        return;
    const fl_json_level *marks = &top->marks.level[level];
    size_t count = marks->count < FL_JSON_MARKS ? marks->count : FL_JSON_MARKS;
    const size_t *at = marks->at, *last = marks->at + count;
    size_t start = (size_t)(container.ptr - top->text.ptr);
    size_t end = start + container.len;

    walk->from = start + 1;
    walk->text = (fl_span){top->text.ptr, end};
    while (at < last && *at < start)
        at++;
    /* what comes after the closing bracket is another container's: a walk
     * ends there, but for one that has nothing before it */
    if (at < last && *at + 1 < end) {
        walk->at = at;
        walk->last = last;
    }
}

void fl_json_cuts_keep(fl_json_cuts *cuts, const fl_json_top *top,
                       unsigned level, fl_span container)
{
    const fl_json_level *marks = &top->marks.level[level];
    size_t count = marks->count < FL_JSON_MARKS ? marks->count : FL_JSON_MARKS;
    size_t start = (size_t)(container.ptr - top->text.ptr), i = 0, kept = 0;

    assert(level < FL_JSON_LEVELS);
    while (i < count && marks->at[i] < start)
        i++;
    for (; i < count && kept < FL_JSON_CUTS; i++, kept++) {
        size_t at = marks->at[i] - start;
        if (at >= container.len)
            break;
        cuts->at[kept] = at;
    }
    cuts->count = kept;
}

void fl_json_walk_along(fl_json_walk *walk, fl_span container,
                        const fl_json_cuts *cuts)
{
    fl_json_walk_init(walk, container);
    if (cuts != NULL && walk->text.len > 0) {
        walk->at = cuts->at;
        walk->last = cuts->at + cuts->count;
    }
}

bool fl_json_walk_look(fl_json_walk *walk, size_t want)
{
    size_t found = fl_json_kernel_best()->mark(walk->text, walk->from,
                                               FL_JSON_WALK_AHEAD, walk->ahead);

    walk->at = walk->ahead;
    walk->last = walk->ahead + found;
    if (found < want)
        walk->from = walk->text.len; /* there is nothing to look through */
    return found >= want;
}

bool fl_json_walk_next(fl_json_walk *walk, fl_json_member *member)
{
    bool found = fl_json_walk_step(walk, member);

    if (!found)
        *member = (fl_json_member){0};
    return found;
}

fl_span fl_json_get_along(fl_span object, const fl_json_cuts *cuts, fl_span key)
{
    fl_json_walk walk;
    fl_json_member member;
    fl_span found = {0};

    fl_json_walk_along(&walk, object, cuts);
    while (walk.in_object && fl_json_walk_step(&walk, &member))
        if (is_key(member.key, key))
            found = member.value;
    return found;
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
