/*
 * log_mask.h - what of a value may be shown in a log.
 *
 * Best effort, on the safe side: text is searched for the shapes credentials
 * come in, and what looks like one is masked whole, even if now and then a
 * harmless word goes with it.
 */
#ifndef FL_BASE_LOG_MASK_H
#define FL_BASE_LOG_MASK_H

#include <fairlead/types.h>

/* What stands in place of a secret. */
#define FL_LOG_MASKED "[redacted]"

enum {
    FL_LOG_NAME = 64,                 /* a folded name and its NUL */
    FL_LOG_SHOWN = 512,               /* bytes shown of one value */
    FL_LOG_VALUE = FL_LOG_SHOWN + 48, /* with "…(+N bytes)" */
};

/*
 * Writes `name` in lower case and without '-' and '_', so that "X-Api-Key" and
 * "x_api_key" are one. Of a long name only the end is kept.
 */
void fl_log_fold(fl_span name, char folded[FL_LOG_NAME]);

/*
 * Does a field of this name hold a secret? It does when its folded name ends
 * in one of the words we know, or is one of `more`: folded names, each with
 * its NUL, an empty one last; NULL means none.
 */
bool fl_log_is_secret(fl_span name, const char *more);

/*
 * Copies `text` with its secrets masked and returns what to show. At most
 * FL_LOG_SHOWN bytes are; then comes "…(+N bytes)", N counted in `text`. A
 * multi-byte character is not cut in two.
 */
fl_span fl_log_mask(fl_span text, const char *more, char out[FL_LOG_VALUE]);

#endif
