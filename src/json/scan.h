/*
 * scan.h - one validating pass over a JSON text, without a tree.
 *
 * The pass checks RFC 8259 grammar and strict UTF-8 together, and notes where
 * the members of the outermost object lie, so that nobody has to look for
 * them again. It never allocates and never recurses: memory use is a fixed
 * stack of open brackets. Of the two levels below it notes the delimiters,
 * which makes a walk over what lies there (fl_json_walk_inside()) a matter of
 * cutting. (Members further in are found when asked for, by fl_json_get():
 * that is faster than noting them all for nobody.)
 *
 * Duplicate keys are grammatical JSON and pass. Whoever looks a key up gets
 * the last one, as in every JavaScript and Python program a message may have
 * come from or may go to; the JSON-RPC envelope refuses them (rpc/msg.h).
 * Lone \uD800 escapes are grammatical too and pass through untouched.
 */
#ifndef FL_JSON_SCAN_H
#define FL_JSON_SCAN_H

#include <fairlead/types.h>

typedef enum fl_json_type {
    FL_JSON_NONE, /* nothing there */
    FL_JSON_OBJECT,
    FL_JSON_ARRAY,
    FL_JSON_STRING,
    FL_JSON_NUMBER,
    FL_JSON_TRUE,
    FL_JSON_FALSE,
    FL_JSON_NULL,
} fl_json_type;

/* A raw slice of the text: numbers, escapes and white space inside it are
 * exactly as they came. A key is without its quotes, a string value with. */
typedef struct fl_json_member {
    fl_span key;
    fl_span value;
} fl_json_member;

enum {
    FL_JSON_MEMBERS = 16, /* of the outermost object that are noted */
    FL_JSON_MARKS = 2 * FL_JSON_MEMBERS,
    FL_JSON_LEVELS = 3,      /* whose delimiters are */
    FL_JSON_MAX_DEPTH = 512, /* open brackets at one time; default limit */
};

/*
 * Where the delimiters of one level of nesting lie, container after container:
 * in an object colon, comma, colon, comma ... and the closing bracket last; in
 * an array only commas and the bracket. `count` goes on counting when `at` is
 * full.
 */
typedef struct fl_json_level {
    size_t count;
    size_t at[FL_JSON_MARKS];
} fl_json_level;

/* The outermost container is level 0. */
typedef struct fl_json_marks {
    fl_json_level level[FL_JSON_LEVELS];
} fl_json_marks;

/* What a pass found. Borrows from the text. */
typedef struct fl_json_top {
    fl_span value; /* the text without the white space around it */
    fl_json_type type;
    size_t count; /* members of the outermost object (elements of an array);
                     those past FL_JSON_MEMBERS are counted, not noted */
    fl_json_member members[FL_JSON_MEMBERS];
    fl_span text;        /* as it came, which is what the marks count from */
    fl_json_marks marks; /* for nav.c */
} fl_json_top;

/*
 * Checks `text` whole and fills `top`.
 *
 * FL_OK          it is one JSON value with nothing but white space around it
 * FL_E_BAD_JSON  it is not; `*at`, if wanted, is the offset of the first byte
 *                that cannot be right (text.len: it ends too early)
 * FL_E_BAD_TEXT  likewise, for bytes that are not UTF-8
 * FL_E_TOO_DEEP  likewise, at the bracket one deeper than `max_depth`
 *
 * `max_depth` 0 means FL_JSON_MAX_DEPTH, and more than that is not possible.
 * After a failure `top` is zeroed.
 */
FL_MUST_USE fl_status fl_json_scan(fl_span text, unsigned max_depth,
                                   fl_json_top *top, size_t *at);

#endif
