/*
 * value.h - what JSON values mean: equality, hashes, strings, at a price.
 *
 * All of it works on raw slices and pays for what it looks at in steps, for
 * a stranger wrote the values, and maybe the schema too.
 */
#ifndef FL_SCHEMA_VALUE_H
#define FL_SCHEMA_VALUE_H

#include "schema/model.h"

typedef struct fl_work {
    const fl_schema *schema;
    uint64_t steps; /* left */
} fl_work;

enum { FL_STEP_BYTES = 64 }; /* looked through at the price of one step */

/* False, and nothing left, when there is not enough. */
static inline bool fl_work_spend(fl_work *work, size_t bytes)
{
    uint64_t cost = 1 + bytes / FL_STEP_BYTES;

    if (cost > work->steps) {
        work->steps = 0;
        return false;
    }
    work->steps -= cost;
    return true;
}

/* What a string (quotes and all) means. It borrows from the string or from
 * the schema's scratch: good until the next call of anything here. */
FL_MUST_USE fl_status fl_value_text(fl_work *work, fl_span string,
                                    fl_span *text);

/* How many code points it has. */
size_t fl_value_length(fl_span string);

/* The same for values that are the same. */
FL_MUST_USE fl_status fl_value_hash(fl_work *work, fl_span value,
                                    uint64_t *hash);

/* FL_OK: they are the same; FL_END: they are not. */
FL_MUST_USE fl_status fl_value_same(fl_work *work, fl_span a, fl_span b);

/* FL_OK: it is one of them; FL_END: it is not. */
FL_MUST_USE fl_status fl_value_find(fl_work *work, const fl_value_set *set,
                                    fl_span value);

/* FL_OK: no two elements of `array` are the same; FL_END: these are.
 * (unique.c) */
FL_MUST_USE fl_status fl_value_unique(fl_work *work, fl_span array,
                                      size_t same[2]);

#endif
