/*
 * catalog.h - a list a server has: of tools, resources, templates or prompts.
 *
 * The four differ in what an entry says of itself, and in nothing else: each
 * is in the order things were added, is found by name, is told in pages, and
 * is made into text once per revision, for lists are asked for often and
 * change seldom.
 *
 * Pages are cut by number, not by place: every entry gets the next number when
 * it is added and keeps it, and a cursor says after which number to go on. So
 * a client that turns pages while entries come and go misses none that was
 * there all the time, and sees none twice.
 */
#ifndef FL_SERVER_CATALOG_H
#define FL_SERVER_CATALOG_H

#include "base/buf.h"
#include "base/map.h"
#include "rpc/revision.h"
#include "json/write.h"

#include <fairlead/call.h>

enum {
    FL_CATALOG_MAX = 65536,
    FL_CATALOG_LISTS = FL_REVISION_2026_07_28 + 1,
    FL_CATALOG_PAGE = 1000,
};

/* The common part, first in every kind of entry. */
typedef struct fl_entry {
    const char *key; /* the name or the URI; lies in the entry's own block */
    fl_call_fn *run;
    fl_call_fn *complete; /* or NULL */
    void *user;
    uint64_t number;
    unsigned refs; /* the catalog's, and one for each call that is using it */
    void (*free)(struct fl_entry *entry);
} fl_entry;

/* What the entries of one catalog have in common. */
typedef struct fl_catalog_kind {
    const char *member; /* of the result: "tools" */
    void (*write)(fl_json_writer *writer, const fl_entry *entry,
                  const fl_revision *revision);
} fl_catalog_kind;

/* Owned by whoever embeds it. Fields but `count` and `completers` are private
 * to catalog.c. */
typedef struct fl_catalog {
    const fl_catalog_kind *kind;
    fl_map by_key;
    fl_entry **entries; /* by number */
    size_t count, cap;
    size_t completers; /* entries that can complete their arguments */
    uint64_t last_number;
    fl_entry *last;                 /* found: often asked for again */
    fl_span last_key;               /* its key */
    fl_buf lists[FL_CATALOG_LISTS]; /* those of one page; made when wanted */
} fl_catalog;

void fl_catalog_init(fl_catalog *catalog, const fl_catalog_kind *kind);
void fl_catalog_deinit(fl_catalog *catalog);

/* Takes the entry over, whose refs must be 1. FL_E_IN_USE, FL_E_LIMIT or
 * FL_E_NOMEM: the entry is still the caller's. */
FL_MUST_USE fl_status fl_catalog_add(fl_catalog *catalog, fl_entry *entry);

/* FL_E_NOT_FOUND. */
FL_MUST_USE fl_status fl_catalog_remove(fl_catalog *catalog, fl_span key);

/* NULL when there is none. */
fl_entry *fl_catalog_find(fl_catalog *catalog, fl_span key);

/* The same for a raw JSON string, by its meaning. */
fl_entry *fl_catalog_find_token(fl_catalog *catalog, fl_span token);

/* By place, 0 to count - 1, for whoever looks at all of them. */
static inline fl_entry *fl_catalog_at(const fl_catalog *catalog, size_t place)
{
    return catalog->entries[place];
}

static inline fl_entry *fl_entry_ref(fl_entry *entry)
{
    entry->refs++;
    return entry;
}

static inline void fl_entry_unref(fl_entry *entry)
{
    if (--entry->refs == 0)
        entry->free(entry);
}

/* One page of a list. */
typedef struct fl_catalog_page {
    const fl_revision *revision;
    fl_span cursor; /* a raw token of the message; empty: the first page */
    size_t size;    /* elements */
} fl_catalog_page;

/*
 * The result of a list request, as JSON, good until the catalog or `scratch`
 * changes. FL_E_INVALID: the cursor is none of ours.
 */
FL_MUST_USE fl_status fl_catalog_list(fl_catalog *catalog,
                                      const fl_catalog_page *page,
                                      fl_buf *scratch, fl_span *result);

/* The member nextCursor of a list, and what it says: after which number to go
 * on, 0 for an empty token. FL_E_INVALID: it is no cursor of this list. */
void fl_catalog_write_cursor(fl_json_writer *writer, const char *member,
                             uint64_t number);
FL_MUST_USE fl_status fl_catalog_read_cursor(const char *member, fl_span token,
                                             uint64_t *number);

/* For those who write entries: a member, left out when it is not set. */
void fl_catalog_write_text(fl_json_writer *writer, const char *key,
                           const char *text);
void fl_catalog_write_json(fl_json_writer *writer, const char *key,
                           const char *json);

/* For those who make them: room for `size` bytes and copies of all `texts`,
 * which are set to point into it; NULLs stay. NULL when there is no memory. */
FL_MUST_USE void *fl_catalog_copy(size_t size, const char **texts,
                                  size_t count);

/* NULL, or one JSON value that begins with `open`: '{' or '['. */
bool fl_catalog_is_json(const char *json, char open);

#endif
