/*
 * target.h - where a client connects to, kept so that it can do so again.
 *
 * Options are borrowed for the call that gets them. A link that ended is gone,
 * with what it had copied of them; whoever wants another one like it needs a
 * copy of his own.
 */
#ifndef FL_CLIENT_TARGET_H
#define FL_CLIENT_TARGET_H

#include <fairlead/options.h>

/* Owned by whoever embeds it. */
typedef struct fl_target {
    const char *url; /* NULL: options.child is run */
    fl_options options;
    void *block; /* everything the two point to */
    size_t size;
} fl_target;

/* FL_E_NOMEM. */
FL_MUST_USE fl_status fl_target_init(fl_target *target, const char *url,
                                     const fl_options *options);

/* `why` is what came of connecting to it. If it was reached but no MCP was
 * found there, and the URL has no path, where most servers are is added. */
void fl_target_hint(const fl_target *target, fl_error *why);

/* Leaves zeroes, in the memory too: there may be secrets among them. */
void fl_target_deinit(fl_target *target);

#endif
