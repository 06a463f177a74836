/*
 * hpack_impl.h - what the reader and the writer of header blocks share: the
 * tables and the code of strings.
 */
#ifndef FL_WIRE_HPACK_IMPL_H
#define FL_WIRE_HPACK_IMPL_H

#include "wire/hpack.h"

enum { FL_HPACK_STATIC = 61 }; /* entries, from 1 on */

/* hpack_static.c: RFC 7541 appendix A. */
extern const fl_hpack_entry fl_hpack_static[FL_HPACK_STATIC];

/* hpack_table.c */
/* NULL: there is no memory. Held once. */
FL_MUST_USE fl_hpack_entry *fl_hpack_entry_new(size_t room);
/* The text behind it. */
static inline char *fl_hpack_entry_text(fl_hpack_entry *entry)
{
    return (char *)(entry + 1);
}

static inline void fl_hpack_hold(const fl_hpack_entry *entry)
{
    if (entry->self != NULL)
        entry->self->refs++;
}

void fl_hpack_table_init(fl_hpack_table *table);
void fl_hpack_table_deinit(fl_hpack_table *table);
void fl_hpack_table_resize(fl_hpack_table *table, uint32_t max);
/* Holds the entry, and lets the oldest go for it; one that is larger than the
 * table empties it, and is not held. False: there is no memory. */
FL_MUST_USE bool fl_hpack_table_add(fl_hpack_table *table,
                                    fl_hpack_entry *entry);

/* As RFC 7541 4.1 reckons. */
static inline size_t fl_hpack_size(fl_span name, fl_span value)
{
    return name.len + value.len + 32;
}

/* By its age: 0 is the newest. */
static inline fl_hpack_entry *fl_hpack_table_at(const fl_hpack_table *table,
                                                uint32_t age)
{
    return table->ring[(table->made - 1 - age) & (table->cap - 1)];
}

/* By its index, as it goes over the wire; NULL: there is none. */
static inline const fl_hpack_entry *fl_hpack_lookup(const fl_hpack_table *table,
                                                    uint32_t index)
{
    if (index > 0 && index <= FL_HPACK_STATIC)
        return &fl_hpack_static[index - 1];
    uint32_t age = index - FL_HPACK_STATIC - 1;
    return index > 0 && age < table->count ? fl_hpack_table_at(table, age)
                                           : NULL;
}

/* hpack_huffman.c: unpacks a string; without `to` it says only how long that
 * will be. False: it is none. */
bool fl_hpack_unpack(fl_span packed, char *to, size_t *len);

#endif
