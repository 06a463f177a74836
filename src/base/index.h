/*
 * index.h - finds values by keys that they hold themselves.
 *
 * Where fl_map copies each key, an index asks the value for it: an entry is
 * twelve bytes instead of forty, and nothing but the table is ever allocated.
 * For what there is one of per client. Hashing is keyed as in fl_map, for the
 * same reason.
 */
#ifndef FL_BASE_INDEX_H
#define FL_BASE_INDEX_H

#include <fairlead/types.h>

/* The key of a value, which stays as it is while the value is in an index. */
typedef fl_span fl_index_key_fn(const void *value);

/* Owned by whoever embeds it. Fields are private to index.c. */
typedef struct fl_index {
    fl_index_key_fn *key_of;
    void **values;    /* NULL: the place is free */
    uint32_t *hashes; /* of their keys, behind them in the same block */
    size_t cap;       /* a power of two, or 0 */
    size_t count;
    size_t max;
    uint64_t seed[2];
} fl_index;

/* Allocates nothing. At most `max` values will be held. */
void fl_index_init(fl_index *index, size_t max, fl_index_key_fn *key_of);
void fl_index_deinit(fl_index *index);

static inline size_t fl_index_count(const fl_index *index)
{
    return index->count;
}

/* NULL when none has this key. */
void *fl_index_get(const fl_index *index, fl_span key);

/* FL_E_IN_USE when one has its key already, FL_E_LIMIT at the maximum,
 * FL_E_NOMEM, FL_E_IO: no random source. `value` must not be NULL. */
FL_MUST_USE fl_status fl_index_add(fl_index *index, void *value);

/* Takes the value with this key out; NULL when there was none. */
void *fl_index_remove(fl_index *index, fl_span key);

#endif
