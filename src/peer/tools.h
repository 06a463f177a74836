/*
 * tools.h - the tools of a server, and how each revision lists them.
 */
#ifndef FL_PEER_TOOLS_H
#define FL_PEER_TOOLS_H

#include "base/buf.h"
#include "base/map.h"
#include "rpc/revision.h"

#include <fairlead/server.h>

enum {
    FL_TOOLS_MAX = 4096,
    FL_TOOLS_LISTS = FL_REVISION_2026_07_28 + 1,
};

/* A tool, copied, and what was found out about it. */
typedef struct fl_tools_entry {
    fl_tool tool;
    bool mirrored; /* arguments of it are repeated in header fields */
} fl_tools_entry;

/* Owned by whoever embeds it. Fields are private to tools.c. */
typedef struct fl_tools {
    fl_map by_name;         /* to the entries */
    fl_tools_entry **tools; /* in the order they came */
    size_t count, cap;
    const fl_tools_entry
        *last; /* found: the same one is often asked for again */
    fl_buf lists[FL_TOOLS_LISTS]; /* tools/list results, made when asked for */
} fl_tools;

void fl_tools_init(fl_tools *tools);
void fl_tools_deinit(fl_tools *tools);

/* As fl_server_add_tool(). */
FL_MUST_USE fl_status fl_tools_add(fl_tools *tools, const fl_tool *tool);

/* NULL when there is none of this name. */
const fl_tools_entry *fl_tools_find(fl_tools *tools, fl_span name);

/* The result of tools/list as JSON, with what `revision` knows of. */
FL_MUST_USE fl_status fl_tools_list(fl_tools *tools,
                                    const fl_revision *revision,
                                    fl_span *result);

#endif
