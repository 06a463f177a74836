/*
 * pattern.h - regular expressions as ECMA-262 has them, on PCRE2.
 *
 * Patterns are rewritten where the two dialects differ and compiled when the
 * schema is. Matching allocates nothing once it has run, and what it costs is
 * counted in the steps of the check.
 */
#ifndef FL_SCHEMA_PATTERN_H
#define FL_SCHEMA_PATTERN_H

#include "base/buf.h"

typedef struct fl_pattern fl_pattern;

/* All patterns of a schema. Fields are private to pattern.c. */
typedef struct fl_patterns {
    void *general, *compile, *match, *data; /* PCRE2's contexts */
    fl_pattern *first;
    size_t used, max; /* bytes */
    size_t idle;      /* of those used, before the first match */
    uint32_t max_backtracks;
} fl_patterns;

enum { FL_PATTERN_MAX = 4096 }; /* bytes of one expression */

/* In place, and not to be moved; `max` bounds what all of them take. */
FL_MUST_USE fl_status fl_patterns_init(fl_patterns *patterns, size_t max,
                                       uint32_t max_backtracks);
void fl_patterns_deinit(fl_patterns *patterns);

/* FL_E_INVALID, FL_E_UNSUPPORTED, FL_E_LIMIT, FL_E_NOMEM; `why`, of at least
 * 128 bytes, is for people. */
FL_MUST_USE fl_status fl_pattern_compile(fl_patterns *patterns, fl_span text,
                                         const fl_pattern **out, char *why);

/* FL_OK: it matches somewhere in `subject`, which is UTF-8; FL_END: it does
 * not; FL_E_LIMIT: finding out takes more than *steps, which is reduced;
 * FL_E_NOMEM. */
FL_MUST_USE fl_status fl_pattern_match(fl_patterns *patterns,
                                       const fl_pattern *pattern,
                                       fl_span subject, uint64_t *steps);

/* Whether `text` is a regular expression, for the format of that name. */
bool fl_pattern_is_valid(fl_patterns *patterns, fl_span text);

/* What PCRE2 understands in the place of `text`; FL_E_INVALID with a reason
 * if it is not ECMA-262. (ecma.c) */
FL_MUST_USE fl_status fl_ecma_rewrite(fl_span text, fl_buf *out,
                                      const char **why);

/* "Lu" for "Uppercase_Letter"; NULL for what is no such name.
 * (ecma_category.c) */
const char *fl_ecma_category(fl_span name);

#endif
