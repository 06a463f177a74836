/*
 * suggest.h - what somebody who mistyped perhaps meant.
 */
#ifndef FL_CMD_SUGGEST_H
#define FL_CMD_SUGGEST_H

#include <fairlead/types.h>

/* The one of `names` (NULL-terminated) nearest to `word`, or NULL when none
 * is near enough to be worth a guess. */
const char *fl_suggest_nearest(fl_span word, const char *const *names);

#endif
