/*
 * hpack_read.c - header blocks taken apart (RFC 7541 6).
 *
 * A field that enters no table lives as long as the head it is in, which is
 * mostly the length of one call. A few of those are kept to be used again, so
 * that a message which differs from the last one by its length and its id
 * costs no allocation.
 */
#include "base/mem.h"
#include "base/span.h"
#include "wire/hpack_impl.h"
#include "wire/http2_rules.h"

enum {
    SPARE_ROOM = 96, /* bytes of text */
    SPARES_MAX = 4,
    INTEGER_BYTES = 4, /* after the first: 2^28 and more is nobody's length */
};

void fl_hpack_reader_init(fl_hpack_reader *reader)
{
    *reader = (fl_hpack_reader){.limit = FL_HPACK_TABLE};
    fl_hpack_table_init(&reader->table);
}

void fl_hpack_reader_deinit(fl_hpack_reader *reader)
{
    fl_hpack_table_deinit(&reader->table);
    while (reader->spares != NULL) {
        fl_hpack_entry *spare = reader->spares;
        reader->spares = spare->self;
        fl_mem_free(spare);
    }
    reader->spare_count = 0;
}

void fl_hpack_reader_limit(fl_hpack_reader *reader, uint32_t limit)
{
    reader->limit = limit < FL_HPACK_TABLE ? limit : FL_HPACK_TABLE;
}

/* A spare one, if it is for a short while and the text is short enough. */
static fl_hpack_entry *make(fl_hpack_reader *reader, size_t room, bool enters)
{
    fl_hpack_entry *spare = reader->spares;

    if (enters || room > SPARE_ROOM)
        return fl_hpack_entry_new(room);
    if (spare == NULL)
        return fl_hpack_entry_new(SPARE_ROOM);
    reader->spares = spare->self;
    reader->spare_count--;
    *spare = (fl_hpack_entry){.self = spare, .refs = 1, .room = SPARE_ROOM};
    return spare;
}

void fl_hpack_drop(fl_hpack_reader *reader, const fl_hpack_entry *entry)
{
    fl_hpack_entry *own = entry->self;

    if (own == NULL || --own->refs > 0)
        return;
    if (own->room != SPARE_ROOM || reader->spare_count == SPARES_MAX) {
        fl_mem_free(own);
        return;
    }
    own->self = reader->spares;
    reader->spares = own;
    reader->spare_count++;
}

static unsigned char take_byte(fl_span *rest)
{
    unsigned char byte = (unsigned char)rest->ptr[0];

    *rest = fl_span_from(*rest, 1);
    return byte;
}

/* RFC 7541 5.1: a number whose first part is the low `bits` bits of the next
 * byte. */
static bool read_integer(fl_span *rest, unsigned bits, uint32_t *out)
{
    uint32_t full = (1U << bits) - 1;

    if (rest->len == 0)
        return false;
    *out = take_byte(rest) & full;
    if (*out < full)
        return true;
    for (unsigned i = 0; i < INTEGER_BYTES && rest->len > 0; i++) {
        unsigned char byte = take_byte(rest);
        *out += (uint32_t)(byte & 0x7f) << 7 * i;
        if ((byte & 0x80) == 0)
            return true;
    }
    return false;
}

/* A string as it is in the block. */
typedef struct packed {
    fl_span bytes;
    size_t len; /* when it is unpacked */
    bool huffman;
} packed;

static bool read_string(fl_span *rest, packed *out)
{
    uint32_t len;

    *out = (packed){.huffman = rest->len > 0 && (rest->ptr[0] & 0x80) != 0};
    if (!read_integer(rest, 7, &len) || len > rest->len)
        return false;
    out->bytes = (fl_span){rest->ptr, len};
    out->len = len;
    *rest = fl_span_from(*rest, len);
    return !out->huffman || fl_hpack_unpack(out->bytes, NULL, &out->len);
}

/* Copies a string that was read to `to`, and says what it is there. */
static fl_span unpack(const packed *string, char *to)
{
    size_t len = string->len;

    if (string->huffman)
        (void)fl_hpack_unpack(string->bytes, to, &len);
    else if (len > 0)
        memcpy(to, string->bytes.ptr, len);
    return (fl_span){to, len};
}

/* The name is that of another entry, and what is known of it holds; one that
 * is not there for ever is copied. */
static void borrow_name(fl_hpack_entry *entry, const fl_hpack_entry *from)
{
    entry->name = from->name;
    if (from->self != NULL) {
        memcpy(fl_hpack_entry_text(entry), from->name.ptr, from->name.len);
        entry->name.ptr = fl_hpack_entry_text(entry);
    }
    entry->kind = from->kind;
    entry->bad_name = from->bad_name;
}

/* A name, from the table (`from`) or spelled out, and a value behind it. */
static void fill(fl_hpack_entry *entry, const fl_hpack_entry *from,
                 const packed *name, const packed *value)
{
    bool copied = from == NULL || from->self != NULL;
    char *text = fl_hpack_entry_text(entry);

    if (from != NULL) {
        borrow_name(entry, from);
    } else {
        entry->name = unpack(name, text);
        entry->bad_name = !fl_http2_name_ok(entry->name, &entry->kind);
    }
    entry->value = unpack(value, text + (copied ? entry->name.len : 0));
    entry->bad_value = !fl_http2_value_ok(entry->kind, entry->value);
}

static fl_status read_literal(fl_hpack_reader *reader, fl_span *rest,
                              unsigned bits, bool enters,
                              const fl_hpack_entry **out)
{
    const fl_hpack_entry *from = NULL;
    packed name = {0}, value;
    uint32_t index;

    if (!read_integer(rest, bits, &index))
        return FL_E_INVALID;
    if (index > 0)
        from = fl_hpack_lookup(&reader->table, index);
    if (index > 0 ? from == NULL : !read_string(rest, &name))
        return FL_E_INVALID;
    if (!read_string(rest, &value))
        return FL_E_INVALID;

    size_t room = from != NULL ? from->name.len : name.len;
    fl_hpack_entry *entry = make(reader, room + value.len, enters);
    if (entry == NULL)
        return FL_E_NOMEM;
    fill(entry, from, &name, &value);
    if (enters && !fl_hpack_table_add(&reader->table, entry)) {
        fl_hpack_drop(reader, entry);
        return FL_E_NOMEM;
    }
    *out = entry;
    return FL_OK;
}

static fl_status read_indexed(fl_hpack_reader *reader, fl_span *rest,
                              const fl_hpack_entry **out)
{
    const fl_hpack_entry *entry = NULL;
    uint32_t index;

    if (read_integer(rest, 7, &index))
        entry = fl_hpack_lookup(&reader->table, index);
    if (entry == NULL)
        return FL_E_INVALID;
    fl_hpack_hold(entry);
    *out = entry;
    return FL_OK;
}

/* Another size for the table, at the beginning of a block only. */
static bool read_sizes(fl_hpack_reader *reader, fl_hpack_block *block)
{
    uint32_t max;

    while (block->rest.len > 0 && (block->rest.ptr[0] & 0xe0) == 0x20) {
        if (!read_integer(&block->rest, 5, &max) || max > reader->limit)
            return false;
        fl_hpack_table_resize(&reader->table, max);
    }
    return reader->table.max <= reader->limit;
}

fl_status fl_hpack_read(fl_hpack_reader *reader, fl_hpack_block *block,
                        const fl_hpack_entry **out)
{
    fl_span *rest = &block->rest;

    if (!block->begun && !read_sizes(reader, block))
        return FL_E_INVALID;
    block->begun = true;
    if (rest->len == 0)
        return FL_END;
    unsigned char first = (unsigned char)rest->ptr[0];
    if ((first & 0x80) != 0)
        return read_indexed(reader, rest, out);
    if ((first & 0x40) != 0)
        return read_literal(reader, rest, 6, true, out);
    if ((first & 0x20) != 0)
        return FL_E_INVALID;
    return read_literal(reader, rest, 4, false, out);
}

size_t fl_hpack_reader_memory(const fl_hpack_reader *reader)
{
    return fl_hpack_memory(&reader->table) +
           reader->spare_count * (sizeof(fl_hpack_entry) + SPARE_ROOM);
}
