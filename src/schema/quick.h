/*
 * quick.h - the short way for schemas that only say which types there are.
 */
#ifndef FL_SCHEMA_QUICK_H
#define FL_SCHEMA_QUICK_H

#include "schema/model.h"

/* How many bytes an instance may have for the short way; 0: it does not know
 * all that `root` asks for. Asked once, when the schema has been compiled;
 * notes in it what makes the way easier. */
size_t fl_quick_plan(const fl_schema *schema, fl_node *root);

/* True: it is valid. False: perhaps it is not, and only the long way can tell.
 * For instances no longer than schema->quick. `cuts`, if not NULL, are the
 * instance's. */
bool fl_quick_check(const fl_schema *schema, fl_span instance,
                    const fl_json_cuts *cuts);

#endif
