/*
 * hpack_write.c - header blocks put together (RFC 7541 6).
 *
 * Heads are much alike: the nth field of one is mostly the nth field of the
 * last. So where a field stands in the tables is guessed from that, and looked
 * for only where the guess is wrong. A field that is said once needs its name
 * in a table and no more: if it is in none, the field enters it for its name,
 * and those that follow refer to that.
 */
#include "base/mem.h"
#include "base/span.h"
#include "wire/hpack_impl.h"
#include "wire/http2_rules.h"

enum {
    INDEXED = 0x80,
    ENTERING = 0x40,
    RESIZING = 0x20,
    SECRET = 0x10,
    PLAIN = 0x00,
};

void fl_hpack_writer_init(fl_hpack_writer *writer)
{
    *writer = (fl_hpack_writer){.least = FL_HPACK_TABLE};
    fl_hpack_table_init(&writer->table);
}

void fl_hpack_writer_deinit(fl_hpack_writer *writer)
{
    fl_hpack_table_deinit(&writer->table);
}

void fl_hpack_writer_limit(fl_hpack_writer *writer, uint32_t limit)
{
    uint32_t max = limit < FL_HPACK_TABLE ? limit : FL_HPACK_TABLE;

    if (max == writer->table.max && !writer->limited)
        return;
    writer->limited = true;
    writer->least = max < writer->least ? max : writer->least;
    fl_hpack_table_resize(&writer->table, max);
}

static char *put_integer(char *to, unsigned bits, unsigned pattern,
                         size_t number)
{
    size_t full = (1U << bits) - 1;

    if (number < full) {
        *to++ = (char)(pattern | number);
        return to;
    }
    *to++ = (char)(pattern | full);
    for (number -= full; number >= 0x80; number >>= 7)
        *to++ = (char)(number | 0x80);
    *to++ = (char)number;
    return to;
}

static char *put_string(char *to, fl_span text)
{
    to = put_integer(to, 7, 0, text.len);
    if (text.len > 0)
        memcpy(to, text.ptr, text.len);
    return to + text.len;
}

/* RFC 7541 4.2: the lowest size there was in between, and the one there is. */
char *fl_hpack_begin(fl_hpack_writer *writer, char *to)
{
    uint32_t max = writer->table.max;

    writer->nth = 0;
    if (!writer->limited)
        return to;
    if (writer->least < max)
        to = put_integer(to, 5, RESIZING, writer->least);
    to = put_integer(to, 5, RESIZING, max);
    writer->limited = false;
    writer->least = max;
    return to;
}

typedef struct wanted {
    fl_span name;
    fl_span value;
    uint8_t kind;
} wanted;

static bool is_named(const fl_hpack_entry *entry, const wanted *field)
{
    return entry->kind == field->kind &&
           (field->kind != FL_FIELD_OTHER ||
            fl_span_same_name(entry->name, field->name));
}

static bool is_same(const fl_hpack_entry *entry, const wanted *field)
{
    return is_named(entry, field) && fl_span_equal(entry->value, field->value);
}

/* What the table has of a field. An index of 0: nothing. */
typedef struct found {
    uint32_t index;
    bool whole; /* its value, too */
} found;

static void look_at(const fl_hpack_table *table, uint32_t index,
                    const wanted *field, found *best)
{
    const fl_hpack_entry *entry = fl_hpack_lookup(table, index);

    if (best->whole || !is_named(entry, field))
        return;
    best->whole = fl_span_equal(entry->value, field->value);
    if (best->whole || best->index == 0)
        best->index = index;
}

/* Names of the static table first: those stay. */
static found search(const fl_hpack_table *table, const wanted *field)
{
    found best = {0};
    uint32_t all = FL_HPACK_STATIC + table->count;

    for (uint32_t index = 1; index <= all && !best.whole; index++)
        look_at(table, index, field, &best);
    return best;
}

/* A place that stays the same while the table grows: those of the static one
 * by their index, the others by how many were made before them. */
static uint32_t place_of(const fl_hpack_table *table, uint32_t index)
{
    return index <= FL_HPACK_STATIC
               ? index
               : FL_HPACK_STATIC + 1 + table->made - (index - FL_HPACK_STATIC);
}

static uint32_t index_of(const fl_hpack_table *table, uint32_t place)
{
    if (place <= FL_HPACK_STATIC)
        return place;
    uint32_t age = table->made - 1 - (place - FL_HPACK_STATIC - 1);
    return age < table->count ? FL_HPACK_STATIC + 1 + age : 0;
}

static found find(fl_hpack_writer *writer, const wanted *field, bool by_name)
{
    const fl_hpack_table *table = &writer->table;
    uint32_t *guess =
        writer->nth < FL_HPACK_GUESSES ? &writer->guesses[writer->nth] : NULL;
    uint32_t index = guess != NULL ? index_of(table, *guess) : 0;

    if (index != 0) {
        const fl_hpack_entry *entry = fl_hpack_lookup(table, index);
        if (by_name ? is_named(entry, field) : is_same(entry, field))
            return (found){index, !by_name};
    }
    found best = search(table, field);
    if (guess != NULL && best.index != 0)
        *guess = place_of(table, best.index);
    return best;
}

static bool enter(fl_hpack_writer *writer, const wanted *field)
{
    size_t room = field->name.len + field->value.len;
    fl_hpack_entry *entry =
        fl_hpack_size(field->name, field->value) <= writer->table.max
            ? fl_hpack_entry_new(room)
            : NULL;

    if (entry == NULL)
        return false;
    char *text = fl_hpack_entry_text(entry);
    if (field->name.len > 0)
        memcpy(text, field->name.ptr, field->name.len);
    if (field->value.len > 0)
        memcpy(text + field->name.len, field->value.ptr, field->value.len);
    entry->name = (fl_span){text, field->name.len};
    entry->value = (fl_span){text + field->name.len, field->value.len};
    entry->kind = field->kind;
    bool added = fl_hpack_table_add(&writer->table, entry);
    if (--entry->refs == 0)
        fl_mem_free(entry);
    if (added && writer->nth < FL_HPACK_GUESSES)
        writer->guesses[writer->nth] =
            place_of(&writer->table, FL_HPACK_STATIC + 1);
    return added;
}

static char *put_literal(char *to, unsigned bits, unsigned pattern,
                         uint32_t name_index, const wanted *field)
{
    to = put_integer(to, bits, pattern, name_index);
    if (name_index == 0)
        to = put_string(to, field->name);
    return put_string(to, field->value);
}

static char *write_one(fl_hpack_writer *writer, char *to, const wanted *field,
                       fl_hpack_how how)
{
    found at = find(writer, field, how != FL_HPACK_LASTING);

    if (how == FL_HPACK_LASTING && at.whole)
        to = put_integer(to, 7, INDEXED, at.index);
    else if (how == FL_HPACK_SECRET)
        to = put_literal(to, 4, SECRET, at.index, field);
    else if ((how == FL_HPACK_LASTING || at.index == 0) && enter(writer, field))
        to = put_literal(to, 6, ENTERING, at.index, field);
    else
        to = put_literal(to, 4, PLAIN, at.index, field);
    if (writer->nth < FL_HPACK_GUESSES)
        writer->nth++;
    return to;
}

char *fl_hpack_write(fl_hpack_writer *writer, char *to, uint8_t kind,
                     fl_span name, fl_span value, fl_hpack_how how)
{
    return write_one(writer, to, &(wanted){name, value, kind}, how);
}

/* The way of most fields: the same as last time, and lasting. NULL: it is not
 * so, and nothing was written. */
static inline char *write_again(fl_hpack_writer *writer, char *to,
                                const wanted *field)
{
    const fl_hpack_table *table = &writer->table;
    uint32_t index = writer->nth < FL_HPACK_GUESSES
                         ? index_of(table, writer->guesses[writer->nth])
                         : 0;

    if (index == 0 || !is_same(fl_hpack_lookup(table, index), field))
        return NULL;
    writer->nth++;
    return put_integer(to, 7, INDEXED, index);
}

char *fl_hpack_write_all(fl_hpack_writer *writer, char *to,
                         const fl_field *fields, size_t count,
                         const uint8_t manners[FL_FIELD_COUNT])
{
    for (size_t i = 0; i < count; i++) {
        uint8_t kind = (uint8_t)fields[i].id;
        fl_hpack_how how = kind < FL_FIELD_COUNT ? (fl_hpack_how)manners[kind]
                                                 : FL_HPACK_LASTING;
        const wanted field = {fields[i].name, fields[i].value, kind};
        if (how == FL_HPACK_NOT_AT_ALL)
            continue;
        char *end =
            how == FL_HPACK_LASTING ? write_again(writer, to, &field) : NULL;
        to = end != NULL ? end : write_one(writer, to, &field, how);
    }
    return to;
}
