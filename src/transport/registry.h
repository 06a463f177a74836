/*
 * registry.h - every link and server by name: what it is, how it is, and
 * which one to use (K10).
 *
 * An entry may have a link or not (a listener, a server that is down). Health
 * is what the owner last said of it; selection takes only entries that are
 * not down and whose link is ACTIVE, in turn, so that load spreads and a
 * failing entry is passed over.
 */
#ifndef FL_TRANSPORT_REGISTRY_H
#define FL_TRANSPORT_REGISTRY_H

#include "transport/link.h"

typedef struct fl_registry fl_registry;

typedef enum fl_health {
    FL_HEALTH_UNKNOWN, /* counts as usable: nobody has complained yet */
    FL_HEALTH_OK,
    FL_HEALTH_DEGRADED, /* used only when nothing better is there */
    FL_HEALTH_DOWN,     /* never selected */
} fl_health;

typedef struct fl_registry_entry {
    const char *id;           /* unique, 1 to 128 bytes of visible ASCII */
    const char *kind;         /* "tcp", "stdio"...; selection goes by it */
    const char *capabilities; /* JSON object, or NULL */
    fl_link *link;            /* or NULL; the registry takes a reference */
    fl_health health;
} fl_registry_entry;

/* At most `max_entries` at one time. */
FL_MUST_USE fl_registry *fl_registry_new(size_t max_entries);
/* Lets go of every link; closes none. */
void fl_registry_free(fl_registry *registry);

/* Copies the strings. FL_E_IN_USE, FL_E_LIMIT, FL_E_INVALID, FL_E_NOMEM. */
FL_MUST_USE fl_status fl_registry_add(fl_registry *registry,
                                      const fl_registry_entry *entry);
/* FL_E_NOT_FOUND when there is none. */
fl_status fl_registry_remove(fl_registry *registry, const char *id);
fl_status fl_registry_set_health(fl_registry *registry, const char *id,
                                 fl_health health);

/* NULL when there is none. Borrowed until the entry is removed. */
const fl_registry_entry *fl_registry_find(const fl_registry *registry,
                                          const char *id);

/* In the order they came: start with NULL, ends with NULL. The link's state
 * and statistics are read from entry->link. */
const fl_registry_entry *fl_registry_next(const fl_registry *registry,
                                          const fl_registry_entry *entry);

/* The next usable entry of this kind (NULL: of any), or NULL. */
const fl_registry_entry *fl_registry_select(fl_registry *registry,
                                            const char *kind);

/*
 * Sends to the first usable entry of `kind` that accepts: one that fails is
 * marked down and the next is tried, one that is busy is passed over. `id`,
 * if wanted, names who got it. FL_E_NOT_FOUND: no usable entry; FL_BUSY: all
 * were busy. A message is never given to two.
 */
FL_MUST_USE fl_status fl_registry_send(fl_registry *registry, const char *kind,
                                       const fl_span *parts, size_t count,
                                       const char **id);

#endif
