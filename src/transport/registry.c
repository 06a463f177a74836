/*
 * registry.c - every link and server by name, and which one to use.
 *
 * Entries lie in a list, in the order they came, and in a map by id. Turns are
 * not kept as a place in that list, which would have to be mended whenever an
 * entry goes: each entry remembers when it was last chosen, and the one that
 * has waited longest is next. So every kind has its own fair order, and so
 * does the choice among all kinds.
 *
 * A message that is too big, or that there is no memory for, says nothing
 * about the entry that refused it: it is passed over but not marked down, or
 * one oversized message would take every entry out of service.
 */
#include "transport/registry.h"

#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/span.h"

enum { ID_MAX = 128 };

struct item {
    fl_registry_entry entry; /* first: an entry is its item */
    fl_list node;
    uint64_t chosen; /* the turn in which it last was; 0: never */
    uint64_t tried;  /* the last send that came to it */
    char strings[];
};

struct fl_registry {
    fl_list items;
    fl_map by_id;
    uint64_t turn;
    uint64_t sends;
};

fl_registry *fl_registry_new(size_t max_entries)
{
    fl_registry *registry = fl_mem_zalloc(sizeof *registry);

    if (registry == NULL)
        return NULL;
    fl_list_init(&registry->items);
    fl_map_init(&registry->by_id, max_entries);
    return registry;
}

static void free_item(struct item *item)
{
    if (item->entry.link != NULL)
        fl_link_unref(item->entry.link);
    fl_mem_free(item);
}

void fl_registry_free(fl_registry *registry)
{
    fl_list *node;

    if (registry == NULL)
        return;
    while ((node = fl_list_take(&registry->items)) != NULL)
        free_item(FL_LIST_ENTRY(node, struct item, node));
    fl_map_deinit(&registry->by_id);
    fl_mem_free(registry);
}

static bool valid_id(const char *id)
{
    size_t n = 0;

    if (id == NULL)
        return false;
    while (n <= ID_MAX && id[n] > ' ' && id[n] <= '~')
        n++;
    return n > 0 && n <= ID_MAX && id[n] == '\0';
}

static bool valid_health(fl_health health)
{
    return health >= FL_HEALTH_UNKNOWN && health <= FL_HEALTH_DOWN;
}

static size_t size_of(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

/* Copies `text` to `*at`, which moves past it; NULL stays NULL. */
static const char *keep(char **at, const char *text)
{
    char *copy = *at;

    if (text == NULL)
        return NULL;
    memcpy(copy, text, size_of(text));
    *at += size_of(text);
    return copy;
}

static struct item *new_item(const fl_registry_entry *entry)
{
    struct item *item =
        fl_mem_alloc(sizeof *item + size_of(entry->id) + size_of(entry->kind) +
                     size_of(entry->capabilities));

    if (item == NULL)
        return NULL;
    char *at = item->strings;
    item->entry = (fl_registry_entry){
        .health = entry->health,
        .link = entry->link != NULL ? fl_link_ref(entry->link) : NULL,
    };
    item->entry.id = keep(&at, entry->id);
    item->entry.kind = keep(&at, entry->kind);
    item->entry.capabilities = keep(&at, entry->capabilities);
    item->chosen = 0;
    item->tried = 0;
    return item;
}

fl_status fl_registry_add(fl_registry *registry, const fl_registry_entry *entry)
{
    if (!valid_id(entry->id) || entry->kind == NULL || *entry->kind == '\0' ||
        !valid_health(entry->health))
        return FL_E_INVALID;

    struct item *item = new_item(entry);
    if (item == NULL)
        return FL_E_NOMEM;
    fl_status rc = fl_map_add(&registry->by_id, fl_span_of(entry->id), item);
    if (rc != FL_OK) {
        free_item(item);
        return rc;
    }
    fl_list_append(&registry->items, &item->node);
    return FL_OK;
}

fl_status fl_registry_remove(fl_registry *registry, const char *id)
{
    struct item *item = fl_map_remove(&registry->by_id, fl_span_of(id));

    if (item == NULL)
        return FL_E_NOT_FOUND;
    fl_list_remove(&item->node);
    free_item(item);
    return FL_OK;
}

fl_status fl_registry_set_health(fl_registry *registry, const char *id,
                                 fl_health health)
{
    struct item *item = fl_map_get(&registry->by_id, fl_span_of(id));

    if (!valid_health(health))
        return FL_E_INVALID;
    if (item == NULL)
        return FL_E_NOT_FOUND;
    item->entry.health = health;
    return FL_OK;
}

const fl_registry_entry *fl_registry_find(const fl_registry *registry,
                                          const char *id)
{
    const struct item *item = fl_map_get(&registry->by_id, fl_span_of(id));

    return item != NULL ? &item->entry : NULL;
}

const fl_registry_entry *fl_registry_next(const fl_registry *registry,
                                          const fl_registry_entry *entry)
{
    const fl_list *at =
        entry != NULL ? &((const struct item *)entry)->node : &registry->items;

    return at->next != &registry->items
               ? &FL_LIST_ENTRY(at->next, struct item, node)->entry
               : NULL;
}

static bool is_usable(const fl_registry_entry *entry, const char *kind)
{
    return entry->health != FL_HEALTH_DOWN && entry->link != NULL &&
           entry->link->state == FL_LINK_ACTIVE &&
           (kind == NULL || strcmp(kind, entry->kind) == 0);
}

/* Sound ones before degraded ones, then who has waited longest; equals keep
 * the order they came in. */
static bool is_better(const struct item *a, const struct item *b)
{
    bool a_degraded = a->entry.health == FL_HEALTH_DEGRADED;
    bool b_degraded = b->entry.health == FL_HEALTH_DEGRADED;

    return a_degraded != b_degraded ? b_degraded : a->chosen < b->chosen;
}

/* Leaves out those the send of that number has tried; 0 leaves out none. */
static struct item *choose(const fl_registry *registry, const char *kind,
                           uint64_t untried_by)
{
    struct item *best = NULL;

    for (fl_list *node = registry->items.next; node != &registry->items;
         node = node->next) {
        struct item *candidate = FL_LIST_ENTRY(node, struct item, node);
        if (!is_usable(&candidate->entry, kind) ||
            (untried_by > 0 && candidate->tried == untried_by))
            continue;
        if (best == NULL || is_better(candidate, best))
            best = candidate;
    }
    return best;
}

const fl_registry_entry *fl_registry_select(fl_registry *registry,
                                            const char *kind)
{
    struct item *item = choose(registry, kind, 0);

    if (item == NULL)
        return NULL;
    item->chosen = ++registry->turn;
    return &item->entry;
}

static bool is_fault_of_message(fl_status rc)
{
    return rc == FL_E_TOO_BIG || rc == FL_E_NOMEM;
}

fl_status fl_registry_send(fl_registry *registry, const char *kind,
                           const fl_span *parts, size_t count, const char **id)
{
    uint64_t send = ++registry->sends;
    fl_status verdict = FL_E_NOT_FOUND;
    struct item *item;

    if (id != NULL)
        *id = NULL;
    while ((item = choose(registry, kind, send)) != NULL) {
        item->tried = send;
        fl_status rc = fl_link_send(item->entry.link, parts, count);
        if (rc == FL_OK) {
            item->chosen = ++registry->turn;
            if (id != NULL)
                *id = item->entry.id;
            return FL_OK;
        }
        /* that all were busy outweighs that one was too small */
        if (rc == FL_BUSY || (is_fault_of_message(rc) && verdict != FL_BUSY))
            verdict = rc;
        else if (!is_fault_of_message(rc))
            item->entry.health = FL_HEALTH_DOWN;
    }
    return verdict;
}
