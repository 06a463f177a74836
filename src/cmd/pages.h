/*
 * pages.h - a list that comes in pages, put together (MCP, pagination).
 */
#ifndef FL_CMD_PAGES_H
#define FL_CMD_PAGES_H

#include "base/buf.h"

enum {
    FL_PAGES_MAX = 1000,
    FL_PAGES_BYTES_MAX = 64 * 1024 * 1024,
};

typedef struct fl_pages {
    const char *key; /* where in a result the list is: "tools" */
    fl_buf list;     /* a JSON array, once ended */
    fl_buf params;   /* what to ask for next, JSON; empty: from the start */
    unsigned count;
} fl_pages;

void fl_pages_init(fl_pages *pages, const char *key);
void fl_pages_deinit(fl_pages *pages);

/*
 * Adds one page. FL_AGAIN: ask for the next, with pages->params. FL_OK: that
 * was the last, and the list is whole. FL_E_BAD_MESSAGE: there is no list in
 * it; FL_E_LIMIT: the server gives one page after another without end.
 */
FL_MUST_USE fl_status fl_pages_add(fl_pages *pages, fl_span result);

#endif
