/*
 * walk.h - one step of a walk, where it is taken for every message.
 *
 * fl_json_walk_next() (nav.h) in the reader's own loop: most walks of the
 * short way are over one or two members whose delimiters a scan has noted, in
 * text without white space, and there a call costs more than the step does.
 * What is not so is nav.c's.
 */
#ifndef FL_JSON_WALK_H
#define FL_JSON_WALK_H

#include "json/nav.h"

/* For fl_json_between(), when there is something to trim. */
fl_span fl_json_trim(fl_span text, size_t from, size_t to);

/* For fl_json_walk_step(): looks for some more delimiters; false if there are
 * less than `want`. */
bool fl_json_walk_look(fl_json_walk *walk, size_t want);

/* text[from, to) without the white space around it. A byte that is not ASCII
 * is below a space here, and looked at again. */
static inline fl_span fl_json_between(fl_span text, size_t from, size_t to)
{
    const char *bytes = text.ptr;

    if (from < to && (signed char)bytes[from] > ' ' &&
        (signed char)bytes[to - 1] > ' ')
        return (fl_span){bytes + from, to - from};
    return fl_json_trim(text, from, to);
}

/* As fl_json_walk_next(), but that at the end `member` is left as it is. */
static inline bool fl_json_walk_step(fl_json_walk *walk, fl_json_member *member)
{
    size_t want = walk->in_object ? 2 : 1, from = walk->from;
    fl_span text = walk->text, key = {0};

    if (from >= text.len || ((size_t)(walk->last - walk->at) < want &&
                             !fl_json_walk_look(walk, want)))
        return false;
    size_t first = walk->at[0], end = walk->at[want - 1];
    if (want == 2) {
        key = fl_json_between(text, from, first);
        key = key.len >= 2 ? (fl_span){key.ptr + 1, key.len - 2} : (fl_span){0};
        from = first + 1;
    }
    fl_span value = fl_json_between(text, from, end);
    bool more = text.ptr[end] == ',' && value.len > 0;
    walk->at += want;
    walk->from = more ? end + 1 : text.len;
    *member = (fl_json_member){key, value};
    return value.len > 0;
}

#endif
