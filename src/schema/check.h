/*
 * check.h - what the parts of a check share.
 *
 * check.c applies a node to a value; check_value.c, check_array.c and
 * check_object.c know the rules of each kind of value, check_apply.c those
 * that are about other schemas. All of them answer FL_OK (valid),
 * FL_E_INVALID, or whatever kept them from deciding.
 */
#ifndef FL_SCHEMA_CHECK_H
#define FL_SCHEMA_CHECK_H

#include "schema/marks.h"
#include "schema/value.h"

/* Where in the instance we are, from the inside out. */
typedef struct fl_path {
    const struct fl_path *parent;
    fl_span key; /* raw; its ptr is NULL for an element */
    size_t index;
} fl_path;

/* The resources we came through, from the inside out. */
typedef struct fl_scope {
    const struct fl_scope *parent;
    const fl_resource *resource;
} fl_scope;

typedef struct fl_check {
    fl_work work;
    unsigned depth; /* left */
    unsigned quiet; /* trials we are in, whose faults nobody wants to know */
    const fl_path *path;
    const fl_scope *scope;
    const char *keyword; /* that led here, for a schema that is `false` */
    fl_schema_fault *fault;
} fl_check;

/*
 * Applies `node` to `value`. Members or elements that are evaluated are added
 * to `marks`, if there are any; after a failure they mean nothing.
 */
FL_MUST_USE fl_status fl_check_node(fl_check *check, const fl_node *node,
                                    fl_span value, fl_marks *marks);

/* The same one step further into the instance. */
FL_MUST_USE fl_status fl_check_inside(fl_check *check, const fl_node *node,
                                      fl_span value, fl_path step);

FL_MUST_USE fl_status fl_check_number(fl_check *check, const fl_node *node,
                                      fl_span value);
FL_MUST_USE fl_status fl_check_string(fl_check *check,
                                      const fl_string_rules *rules,
                                      fl_span value);
FL_MUST_USE fl_status fl_check_array(fl_check *check,
                                     const fl_array_rules *rules, fl_span value,
                                     fl_marks *marks);
FL_MUST_USE fl_status fl_check_object(fl_check *check,
                                      const fl_object_rules *rules,
                                      fl_span value, fl_marks *marks);
FL_MUST_USE fl_status fl_check_applies(fl_check *check, const fl_node *node,
                                       fl_span value, fl_marks *marks);
/* Those that no mark speaks of. */
FL_MUST_USE fl_status fl_check_unevaluated(fl_check *check, const fl_node *node,
                                           const char *keyword, fl_span value,
                                           fl_marks *marks);

/* Fills the fault, unless this is a trial, and returns FL_E_INVALID. */
fl_status fl_check_fail(fl_check *check, const char *keyword,
                        const char *format, ...) FL_PRINTF(3, 4);
/* The same for FL_E_LIMIT. */
fl_status fl_check_limit(fl_check *check);

/* How much of a quoted text goes into a fault. */
static inline int fl_check_shown(fl_span text)
{
    return text.len < 80 ? (int)text.len : 80;
}

#endif
