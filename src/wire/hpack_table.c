/*
 * hpack_table.c - a table of the fields that went one way (RFC 7541 2.3.2).
 *
 * A ring of entries, the oldest of which make room for new ones. What it holds
 * is bounded by the bytes of all entries together, as both ends reckon them;
 * the ring grows as it must, so that a connection which has said little keeps
 * little.
 */
#include "base/mem.h"
#include "wire/hpack_impl.h"

/* More entries than CAP_MAX cannot be: each counts 32 and its text. */
enum { FIRST_CAP = 16, CAP_MAX = FL_HPACK_TABLE / 32 };

fl_hpack_entry *fl_hpack_entry_new(size_t room)
{
    fl_hpack_entry *entry = fl_mem_alloc(sizeof *entry + room);

    if (entry != NULL)
        *entry =
            (fl_hpack_entry){.self = entry, .refs = 1, .room = (uint32_t)room};
    return entry;
}

static void let_go(fl_hpack_entry *entry)
{
    if (--entry->refs == 0)
        fl_mem_free(entry);
}

void fl_hpack_table_init(fl_hpack_table *table)
{
    *table = (fl_hpack_table){.max = FL_HPACK_TABLE};
}

static void evict(fl_hpack_table *table)
{
    fl_hpack_entry *oldest = fl_hpack_table_at(table, table->count - 1);

    table->count--;
    table->size -= (uint32_t)fl_hpack_size(oldest->name, oldest->value);
    let_go(oldest);
}

void fl_hpack_table_deinit(fl_hpack_table *table)
{
    while (table->count > 0)
        evict(table);
    fl_mem_free(table->ring);
    fl_hpack_table_init(table);
}

void fl_hpack_table_resize(fl_hpack_table *table, uint32_t max)
{
    table->max = max;
    while (table->size > max)
        evict(table);
}

/* Everybody has another place in a larger ring. */
static bool grow(fl_hpack_table *table)
{
    uint32_t cap = table->cap > 0 ? table->cap * 2 : FIRST_CAP;
    fl_hpack_entry **ring = fl_mem_alloc(cap * sizeof(void *));

    if (ring == NULL)
        return false;
    for (uint32_t age = 0; age < table->count; age++)
        ring[(table->made - 1 - age) & (cap - 1)] =
            fl_hpack_table_at(table, age);
    fl_mem_free(table->ring);
    table->ring = ring;
    table->cap = cap;
    return true;
}

bool fl_hpack_table_add(fl_hpack_table *table, fl_hpack_entry *entry)
{
    size_t size = fl_hpack_size(entry->name, entry->value);
    bool fits = size <= table->max;

    /* before anything is let go: on failure both ends must still agree */
    if (fits && table->count == table->cap && table->cap < CAP_MAX &&
        !grow(table))
        return false;
    while (table->count > 0 && size + table->size > table->max)
        evict(table);
    if (!fits)
        return true;
    table->ring[table->made++ & (table->cap - 1)] = entry;
    table->count++;
    table->size += (uint32_t)size;
    entry->refs++;
    return true;
}

size_t fl_hpack_memory(const fl_hpack_table *table)
{
    size_t sum = table->cap * sizeof(void *);

    for (uint32_t age = 0; age < table->count; age++)
        sum += sizeof(fl_hpack_entry) + fl_hpack_table_at(table, age)->room;
    return sum;
}
