/*
 * jsonc.h - JSON as people write it made JSON as it is defined.
 *
 * Line comments, block comments and commas before a closing bracket become
 * spaces, in place, so that every byte that is left stands where it stood.
 */
#ifndef FL_CONFIG_JSONC_H
#define FL_CONFIG_JSONC_H

#include <fairlead/types.h>

/* FL_E_BAD_JSON: a block comment has no end; `*at` is where it begins. Whether
 * the rest is JSON is not looked at. */
FL_MUST_USE fl_status fl_jsonc_blank(char *text, size_t len, size_t *at);

#endif
