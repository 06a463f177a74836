/*
 * nav.h - finding one's way in JSON that fl_json_scan() has accepted.
 *
 * Nothing is parsed ahead of being asked for. Every function takes a raw
 * value slice of VALIDATED text and gives raw slices back; on text that was
 * not validated they stay inside the slice but promise nothing else.
 */
#ifndef FL_JSON_NAV_H
#define FL_JSON_NAV_H

#include "base/buf.h"
#include "json/scan.h"

/* By the first byte; FL_JSON_NONE for an empty slice. Inline, for what is
 * asked is nearly always whether it is one certain type: one comparison. */
static inline fl_json_type fl_json_type_of(fl_span value)
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

/* The value of the last member of `object` with this key (escapes in the key
 * undone before comparing); an empty span if there is none or no object. */
fl_span fl_json_get(fl_span object, fl_span key);

enum { FL_JSON_WALK_AHEAD = 16 };

/* A walk over the members of an object or the elements of an array. All but
 * `in_object` is private to nav.c: delimiters are found some at a time. */
typedef struct fl_json_walk {
    bool in_object;
    size_t from;             /* where the next member begins */
    fl_span text;            /* it ends where the container does */
    const size_t *at, *last; /* those known: in `ahead`, or noted by a scan */
    size_t ahead[FL_JSON_WALK_AHEAD];
} fl_json_walk;

/* A slice that is neither object nor array walks over nothing. */
void fl_json_walk_init(fl_json_walk *walk, fl_span container);

/* The same for a container that is a member's value `level` deep in what was
 * scanned: 1 is a member of the outermost object. What the scan has noted is
 * not looked for again. Both must outlive the walk. */
void fl_json_walk_inside(fl_json_walk *walk, const fl_json_top *top,
                         unsigned level, fl_span container);

enum { FL_JSON_CUTS = 8 };

/* Where the first delimiters of one container lie, counted from its beginning:
 * what a scan has noted of it, kept for walks that come when the scan's notes
 * have gone. Some of them will do, or none; and they are those of a copy of
 * the container, too. */
typedef struct fl_json_cuts {
    size_t count;
    size_t at[FL_JSON_CUTS];
} fl_json_cuts;

/* `level` and `container` as for fl_json_walk_inside(). */
void fl_json_cuts_keep(fl_json_cuts *cuts, const fl_json_top *top,
                       unsigned level, fl_span container);

/* As fl_json_walk_init(); `cuts`, if not NULL, are the container's, and must
 * outlive the walk. */
void fl_json_walk_along(fl_json_walk *walk, fl_span container,
                        const fl_json_cuts *cuts);

/* As fl_json_get(), likewise. */
fl_span fl_json_get_along(fl_span object, const fl_json_cuts *cuts,
                          fl_span key);

/* The next member (`key` is empty in an array); false at the end. */
bool fl_json_walk_next(fl_json_walk *walk, fl_json_member *member);

/* Compares what the string means, escapes undone. False if not a string. */
bool fl_json_string_is(fl_span value, fl_span text);

/* Appends the string's meaning as UTF-8. A lone surrogate becomes U+FFFD.
 * FL_E_INVALID when `value` is not a string. */
FL_MUST_USE fl_status fl_json_string_copy(fl_span value, fl_buf *out);

/* FL_E_INVALID when it is no number; an int64 also refuses fractions and
 * values out of range (1.0 and 1e2 are whole numbers and accepted). */
FL_MUST_USE fl_status fl_json_double(fl_span value, double *out);
FL_MUST_USE fl_status fl_json_int64(fl_span value, int64_t *out);

#endif
