/*
 * filter.h - which tools of a server may be seen and called through us.
 */
#ifndef FL_GATEWAY_FILTER_H
#define FL_GATEWAY_FILTER_H

#include "base/buf.h"

/* Owned by whoever embeds it. */
typedef struct fl_filter {
    char **allow; /* globs, NULL-terminated; NULL: all */
    char **deny;  /* NULL: none */
} fl_filter;

/* FL_E_NOMEM. Either list may be NULL. */
FL_MUST_USE fl_status fl_filter_init(fl_filter *filter,
                                     const char *const *allow,
                                     const char *const *deny);
void fl_filter_deinit(fl_filter *filter);

static inline bool fl_filter_is_on(const fl_filter *filter)
{
    return filter->allow != NULL || filter->deny != NULL;
}

/* `name` is a JSON string. What is none is let through: the server will say
 * what it thinks of it. */
bool fl_filter_allows(const fl_filter *filter, fl_span name);

/* Appends the message `text`, an answer to tools/list whose result is
 * `result`, without the tools that are not allowed. */
FL_MUST_USE fl_status fl_filter_tools(const fl_filter *filter, fl_span text,
                                      fl_span result, fl_buf *out);

#endif
