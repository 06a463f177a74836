/*
 * map.h - from bytes to a pointer: open addressing, bounded at birth.
 *
 * Keys are copied into the map, values are borrowed. Hashing is keyed with a
 * random seed per map (SipHash-1-3), for keys come from peers and a peer must
 * not be able to make them collide.
 */
#ifndef FL_BASE_MAP_H
#define FL_BASE_MAP_H

#include <fairlead/types.h>

typedef struct fl_map_slot fl_map_slot;

/* Owned by whoever embeds it. Fields are private to map.c. */
typedef struct fl_map {
    fl_map_slot *slots;
    size_t cap; /* a power of two, or 0 */
    size_t count;
    size_t max;
    uint64_t seed[2];
} fl_map;

/* Allocates nothing. At most `max` entries will be held. */
void fl_map_init(fl_map *map, size_t max);
void fl_map_deinit(fl_map *map);

static inline size_t fl_map_count(const fl_map *map)
{
    return map->count;
}

/*
 * A number other than zero, as a value; (uintptr_t) makes it one again. It is
 * never followed, so an optimiser has nothing to lose by not knowing where it
 * would lead.
 */
static inline void *fl_map_number(uintptr_t number)
{
    return (void *)number; /* NOLINT(performance-no-int-to-ptr): see above */
}

/* NULL when the key is not there. */
void *fl_map_get(const fl_map *map, fl_span key);

/* FL_E_IN_USE when the key is there already, FL_E_LIMIT at the maximum and for
 * a key of 4 GiB, FL_E_NOMEM. `value` must not be NULL. */
FL_MUST_USE fl_status fl_map_add(fl_map *map, fl_span key, void *value);

/* Takes the entry out and returns its value; NULL when it was not there. */
void *fl_map_remove(fl_map *map, fl_span key);

/*
 * Walks all entries in no order: start with *at = 0, ends with false. The map
 * must not change during the walk.
 */
bool fl_map_next(const fl_map *map, size_t *at, fl_span *key, void **value);

#endif
