/*
 * environ.h - what of our environment a child gets to see.
 *
 * Everything, except names that look like secrets (API_KEY, GITHUB_TOKEN,
 * DB_PASSWORD...): a server somebody downloaded has no business with them
 * unless they were named for it. What is set for the child comes on top.
 * Pure: the parent's environment is a parameter.
 */
#ifndef FL_TRANSPORT_ENVIRON_H
#define FL_TRANSPORT_ENVIRON_H

#include <fairlead/types.h>

/* Whether a variable of this name is kept from children by default. */
bool fl_environ_is_secret(fl_span name);

/*
 * A NULL-terminated list of borrowed strings: `parent` filtered, `inherit`
 * naming exceptions, `extra` ("NAME=value") over both. One allocation, freed
 * with fl_mem_free(); NULL when there is no memory.
 */
FL_MUST_USE const char **fl_environ_make(const char *const *parent,
                                         const char *const *inherit,
                                         const char *const *extra);

#endif
