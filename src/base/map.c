/*
 * map.c - from bytes to a pointer.
 *
 * Open addressing with linear probing: an entry lies at the slot its hash
 * names, or in the first free one after it. Two choices keep it quiet in
 * steady state. Keys up to 24 bytes, which most ids are, lie in the slot
 * itself, so coming and going costs no allocation. And removal leaves no
 * tombstone: the entries behind the hole are moved up until one lies where it
 * belongs, so that a map that has seen a million keys probes like a new one.
 *
 * The hash is kept beside the key: growing and moving up never hash again,
 * and a probe compares bytes only when all 32 bits agree.
 */
#include "base/map.h"

#include "base/mem.h"
#include "base/random.h"
#include "base/siphash.h"
#include "base/span.h"

#include <assert.h>

enum { FIRST_CAP = 8, SMALL_KEY = 24 };

struct fl_map_slot {
    void *value;   /* NULL: the slot is free */
    uint32_t hash; /* as much of it as any map needs */
    uint32_t len;
    union {
        char small[SMALL_KEY];
        char *large;
    } key;
};

static_assert(sizeof(fl_map_slot) == 40, "a slot is five words");

void fl_map_init(fl_map *map, size_t max)
{
    /* so that neither the doubling nor the size in bytes can wrap */
    assert(max > 0 && max < SIZE_MAX / (4 * sizeof(fl_map_slot)));
    *map = (fl_map){.max = max};
}

static fl_span key_of(const fl_map_slot *slot)
{
    const char *bytes =
        slot->len <= SMALL_KEY ? slot->key.small : slot->key.large;

    return (fl_span){bytes, slot->len};
}

static void free_key(fl_map_slot *slot)
{
    if (slot->value != NULL && slot->len > SMALL_KEY)
        fl_mem_free(slot->key.large);
}

void fl_map_deinit(fl_map *map)
{
    for (size_t at = 0; at < map->cap; at++)
        free_key(&map->slots[at]);
    fl_mem_free(map->slots);
    *map = (fl_map){0};
}

static uint32_t hash_of(const fl_map *map, fl_span key)
{
    return (uint32_t)fl_siphash(map->seed, key);
}

/* The slot that holds `key`, or the free one where it would go. */
static fl_map_slot *find(const fl_map *map, fl_span key, uint32_t hash)
{
    size_t at = hash & (map->cap - 1);

    while (map->slots[at].value != NULL) {
        const fl_map_slot *slot = &map->slots[at];
        if (slot->hash == hash && fl_span_equal(key_of(slot), key))
            break;
        at = (at + 1) & (map->cap - 1);
    }
    return &map->slots[at];
}

void *fl_map_get(const fl_map *map, fl_span key)
{
    if (map->count == 0)
        return NULL;
    return find(map, key, hash_of(map, key))->value;
}

static void move_in(fl_map *map, const fl_map_slot *entry)
{
    size_t at = entry->hash & (map->cap - 1);

    while (map->slots[at].value != NULL)
        at = (at + 1) & (map->cap - 1);
    map->slots[at] = *entry;
}

static fl_status grow(fl_map *map)
{
    fl_map larger = *map;

    larger.cap = map->cap > 0 ? 2 * map->cap : FIRST_CAP;
    larger.slots = fl_mem_zalloc(larger.cap * sizeof *larger.slots);
    if (larger.slots == NULL)
        return FL_E_NOMEM;
    for (size_t at = 0; at < map->cap; at++)
        if (map->slots[at].value != NULL)
            move_in(&larger, &map->slots[at]);
    fl_mem_free(map->slots);
    *map = larger;
    return FL_OK;
}

/* At the first entry: until then the map has no seed to hash with. */
static fl_status open_map(fl_map *map)
{
    fl_status rc = fl_random_bytes(map->seed, sizeof map->seed);

    return rc == FL_OK ? grow(map) : rc;
}

/* Three quarters full is full. */
static fl_status make_room(fl_map *map)
{
    if (map->count >= map->max)
        return FL_E_LIMIT;
    return map->count < map->cap / 4 * 3 ? FL_OK : grow(map);
}

static fl_status copy_key(fl_map_slot *slot, fl_span key)
{
    char *bytes = slot->key.small;

    if (key.len > UINT32_MAX)
        return FL_E_LIMIT;
    if (key.len > SMALL_KEY) {
        bytes = fl_mem_alloc(key.len);
        if (bytes == NULL)
            return FL_E_NOMEM;
        slot->key.large = bytes;
    }
    if (key.len > 0)
        memcpy(bytes, key.ptr, key.len);
    slot->len = (uint32_t)key.len;
    return FL_OK;
}

fl_status fl_map_add(fl_map *map, fl_span key, void *value)
{
    assert(value != NULL && map->max > 0);
    fl_status rc = map->cap > 0 ? FL_OK : open_map(map);
    if (rc != FL_OK)
        return rc;

    uint32_t hash = hash_of(map, key);
    if (find(map, key, hash)->value != NULL)
        return FL_E_IN_USE;
    rc = make_room(map);
    if (rc != FL_OK)
        return rc;
    fl_map_slot *slot = find(map, key, hash);
    rc = copy_key(slot, key);
    if (rc != FL_OK)
        return rc;
    slot->hash = hash;
    slot->value = value;
    map->count++;
    return FL_OK;
}

/*
 * Fills the hole at `hole` from behind. An entry may move up into it unless
 * that would put it before the slot its hash names: unless, seen from where
 * it lies, its home is nearer than the hole.
 */
static void close_hole(fl_map *map, size_t hole)
{
    size_t mask = map->cap - 1;

    for (size_t at = (hole + 1) & mask; map->slots[at].value != NULL;
         at = (at + 1) & mask) {
        size_t from_home = (at - map->slots[at].hash) & mask;
        size_t from_hole = (at - hole) & mask;
        if (from_home < from_hole)
            continue;
        map->slots[hole] = map->slots[at];
        hole = at;
    }
    map->slots[hole] = (fl_map_slot){0};
}

void *fl_map_remove(fl_map *map, fl_span key)
{
    if (map->count == 0)
        return NULL;

    fl_map_slot *slot = find(map, key, hash_of(map, key));
    void *value = slot->value;
    if (value == NULL)
        return NULL;
    free_key(slot);
    close_hole(map, (size_t)(slot - map->slots));
    map->count--;
    return value;
}

bool fl_map_next(const fl_map *map, size_t *at, fl_span *key, void **value)
{
    while (*at < map->cap) {
        const fl_map_slot *slot = &map->slots[(*at)++];
        if (slot->value == NULL)
            continue;
        *key = key_of(slot);
        *value = slot->value;
        return true;
    }
    *key = (fl_span){0};
    *value = NULL;
    return false;
}
