/*
 * index.c - finds values by keys that they hold themselves.
 *
 * The table is probed, grown and closed up as that of map.c is. The hashes lie
 * together: a probe runs along them, and follows a value to its key only when
 * all 32 bits agree; growing and closing up ask for no key at all.
 */
#include "base/index.h"

#include "base/mem.h"
#include "base/random.h"
#include "base/siphash.h"
#include "base/span.h"

#include <assert.h>

enum { FIRST_CAP = 8, ENTRY = sizeof(void *) + sizeof(uint32_t) };

void fl_index_init(fl_index *index, size_t max, fl_index_key_fn *key_of)
{
    /* so that neither the doubling nor the size in bytes can wrap */
    assert(max > 0 && max < SIZE_MAX / 4 / ENTRY);
    *index = (fl_index){.max = max, .key_of = key_of};
}

void fl_index_deinit(fl_index *index)
{
    fl_mem_free(index->values);
    *index = (fl_index){0};
}

static uint32_t hash_of(const fl_index *index, fl_span key)
{
    return (uint32_t)fl_siphash(index->seed, key);
}

/* Where the value with this key lies, or the free place where it would go. */
static size_t find(const fl_index *index, fl_span key, uint32_t hash)
{
    size_t mask = index->cap - 1, at = hash & mask;

    while (index->values[at] != NULL &&
           (index->hashes[at] != hash ||
            !fl_span_equal(index->key_of(index->values[at]), key)))
        at = (at + 1) & mask;
    return at;
}

void *fl_index_get(const fl_index *index, fl_span key)
{
    if (index->count == 0)
        return NULL;
    return index->values[find(index, key, hash_of(index, key))];
}

static void put(fl_index *index, size_t at, void *value, uint32_t hash)
{
    index->values[at] = value;
    index->hashes[at] = hash;
}

static void move_in(fl_index *index, void *value, uint32_t hash)
{
    size_t at = hash & (index->cap - 1);

    while (index->values[at] != NULL)
        at = (at + 1) & (index->cap - 1);
    put(index, at, value, hash);
}

static fl_status grow(fl_index *index)
{
    fl_index larger = *index;

    larger.cap = index->cap > 0 ? 2 * index->cap : FIRST_CAP;
    larger.values = fl_mem_zalloc(larger.cap * ENTRY);
    if (larger.values == NULL)
        return FL_E_NOMEM;
    larger.hashes = (uint32_t *)(void *)(larger.values + larger.cap);
    for (size_t at = 0; at < index->cap; at++)
        if (index->values[at] != NULL)
            move_in(&larger, index->values[at], index->hashes[at]);
    fl_mem_free(index->values);
    *index = larger;
    return FL_OK;
}

/* Three quarters full is full. */
static fl_status make_room(fl_index *index)
{
    if (index->count >= index->max)
        return FL_E_LIMIT;
    return index->count < index->cap / 4 * 3 ? FL_OK : grow(index);
}

/* At the first value: until then there is no seed to hash with. */
static fl_status open_index(fl_index *index)
{
    fl_status rc = fl_random_bytes(index->seed, sizeof index->seed);

    return rc == FL_OK ? grow(index) : rc;
}

fl_status fl_index_add(fl_index *index, void *value)
{
    assert(value != NULL && index->max > 0);
    fl_status rc = index->cap > 0 ? FL_OK : open_index(index);
    if (rc != FL_OK)
        return rc;

    fl_span key = index->key_of(value);
    uint32_t hash = hash_of(index, key);
    if (index->values[find(index, key, hash)] != NULL)
        return FL_E_IN_USE;
    rc = make_room(index);
    if (rc != FL_OK)
        return rc;
    move_in(index, value, hash);
    index->count++;
    return FL_OK;
}

/* Fills the hole from behind, as map.c does. */
static void close_hole(fl_index *index, size_t hole)
{
    size_t mask = index->cap - 1;

    for (size_t at = (hole + 1) & mask; index->values[at] != NULL;
         at = (at + 1) & mask) {
        size_t from_home = (at - index->hashes[at]) & mask;
        size_t from_hole = (at - hole) & mask;
        if (from_home < from_hole)
            continue;
        put(index, hole, index->values[at], index->hashes[at]);
        hole = at;
    }
    put(index, hole, NULL, 0);
}

void *fl_index_remove(fl_index *index, fl_span key)
{
    if (index->count == 0)
        return NULL;

    size_t at = find(index, key, hash_of(index, key));
    void *value = index->values[at];
    if (value == NULL)
        return NULL;
    close_hole(index, at);
    index->count--;
    return value;
}
