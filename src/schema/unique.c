/*
 * unique.c - are all elements of an array different?
 *
 * Each element is looked up among those before it by its hash, in a table that
 * lies on the stack while it is small. The hash is keyed where that is cheap,
 * and where somebody finds values that collide all the same he pays for each
 * comparison in steps.
 */
#include "base/mem.h"
#include "schema/value.h"
#include "json/nav.h"

#include <string.h>

enum { ON_STACK = 64 };

typedef struct slot {
    uint64_t hash;
    fl_span value; /* empty: the slot is free */
    size_t index;
} slot;

typedef struct table {
    slot *slots;
    size_t count, cap;
    slot few[ON_STACK];
} table;

static slot *find_free(const table *t, uint64_t hash)
{
    size_t at = (size_t)hash & (t->cap - 1);

    while (t->slots[at].value.len > 0)
        at = (at + 1) & (t->cap - 1);
    return &t->slots[at];
}

static void clear(table *t)
{
    if (t->slots != t->few)
        fl_mem_free(t->slots);
}

static fl_status grow(table *t)
{
    table larger = {.cap = t->cap * 2, .count = t->count};

    larger.slots = fl_mem_zalloc(larger.cap * sizeof *larger.slots);
    if (larger.slots == NULL)
        return FL_E_NOMEM;
    for (size_t i = 0; i < t->cap; i++)
        if (t->slots[i].value.len > 0)
            *find_free(&larger, t->slots[i].hash) = t->slots[i];
    clear(t);
    t->slots = larger.slots;
    t->cap = larger.cap;
    return FL_OK;
}

/* FL_END: it is there already. */
static fl_status add(fl_work *work, table *t, fl_span value, size_t same[2])
{
    uint64_t hash;
    fl_status rc = fl_value_hash(work, value, &hash);

    if (rc == FL_OK && t->count * 2 >= t->cap)
        rc = grow(t);
    if (rc != FL_OK)
        return rc;
    size_t at = (size_t)hash & (t->cap - 1);
    for (; t->slots[at].value.len > 0; at = (at + 1) & (t->cap - 1)) {
        if (!fl_work_spend(work, 0))
            return FL_E_LIMIT;
        if (t->slots[at].hash != hash)
            continue;
        rc = fl_value_same(work, t->slots[at].value, value);
        if (rc == FL_OK) {
            same[0] = t->slots[at].index;
            same[1] = t->count;
        }
        if (rc != FL_END)
            return rc == FL_OK ? FL_END : rc;
    }
    t->slots[at] = (slot){hash, value, t->count++};
    return FL_OK;
}

fl_status fl_value_unique(fl_work *work, fl_span array, size_t same[2])
{
    table t;
    fl_json_walk walk;
    fl_json_member member;
    fl_status rc = FL_OK;

    if (!fl_work_spend(work, array.len))
        return FL_E_LIMIT;
    t.slots = t.few;
    t.cap = ON_STACK;
    t.count = 0;
    memset(t.few, 0, sizeof t.few);
    fl_json_walk_init(&walk, array);
    while (rc == FL_OK && fl_json_walk_next(&walk, &member))
        rc = add(work, &t, member.value, same);
    clear(&t);
    return rc;
}
