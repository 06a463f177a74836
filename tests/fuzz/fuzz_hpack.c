/*
 * fuzz_hpack.c - our HPACK against nghttp2's.
 *
 * The first byte says who makes the header blocks. Either the input is cut
 * into blocks, each behind a byte that is its length and one that may set
 * another limit; or it tells our writer what to say, under limits that change.
 * Both readers get every block, one field at a time. They must see the same
 * fields, refuse the same ones, and have the same entries in their tables when
 * the block is over; what the writer said must be what they see.
 *
 * Known to differ, and stepped over:
 * - nghttp2 takes numbers of five bytes after the first, we take four. No
 *   number that means anything needs as many, so these are padded with zeroes.
 * - Where a table must shrink, the block that follows has to say so (RFC 7541
 *   4.2). nghttp2 lets an empty one pass, we do not.
 * - Of several limits between two blocks nghttp2 insists on hearing of the
 *   lowest, we on one that is not above the last. Our writer names both, so it
 *   is given several; a block of the input's has one before it at most.
 */
#include "base/span.h"
#include "wire/hpack_impl.h"
#include "wire/http2_rules.h"

#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    WRITES = 1, /* the bit of the first byte */
    FIELDS_MAX = 24,
    BLOCK_ROOM = 32 * 1024,
    HELD_MAX = 8,
    SETS_LIMIT = 0x80,
    OUR_INTEGER = 4, /* bytes after the first */
};

typedef struct field {
    fl_span name;
    fl_span value;
    uint8_t kind;
    fl_hpack_how how;
} field;

/* An entry that we keep past the life of its block, and what it was. */
typedef struct held {
    const fl_hpack_entry *entry;
    uint64_t sum;
} held;

typedef struct readers {
    fl_hpack_reader ours;
    nghttp2_hd_inflater *theirs;
    held held[HELD_MAX];
    size_t fields;
} readers;

typedef enum verdict {
    FIELD,
    END,
    BAD,
} verdict;

static void require(bool fact)
{
    if (!fact)
        abort();
}

static uint64_t digest(const fl_hpack_entry *entry)
{
    const fl_span parts[] = {entry->name, entry->value};
    uint64_t sum = entry->kind;

    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < parts[i].len; j++)
            sum = (sum ^ (unsigned char)parts[i].ptr[j]) * 0x100000001b3u;
    return sum;
}

static void let_go(readers *r, held *h)
{
    if (h->entry == NULL)
        return;
    require(digest(h->entry) == h->sum);
    fl_hpack_drop(&r->ours, h->entry);
    h->entry = NULL;
}

static void keep(readers *r, const fl_hpack_entry *entry)
{
    held *h = &r->held[r->fields++ % HELD_MAX];

    let_go(r, h);
    *h = (held){entry, digest(entry)};
}

static void readers_init(readers *r)
{
    *r = (readers){.fields = 0};
    fl_hpack_reader_init(&r->ours);
    require(nghttp2_hd_inflate_new(&r->theirs) == 0);
}

static void readers_deinit(readers *r)
{
    for (size_t i = 0; i < HELD_MAX; i++)
        let_go(r, &r->held[i]);
    fl_hpack_reader_deinit(&r->ours);
    nghttp2_hd_inflate_del(r->theirs);
}

static void readers_limit(readers *r, uint32_t limit)
{
    fl_hpack_reader_limit(&r->ours, limit);
    require(nghttp2_hd_inflate_change_table_size(r->theirs, limit) == 0);
}

static bool is_text(fl_span text, const uint8_t *bytes, size_t len)
{
    return fl_span_equal(text, (fl_span){(const char *)bytes, len});
}

static bool is_pair(const fl_hpack_entry *entry, const nghttp2_nv *nv)
{
    return is_text(entry->name, nv->name, nv->namelen) &&
           is_text(entry->value, nv->value, nv->valuelen);
}

/* From an entry on: those that are there for ever are the same for ever. */
static void compare_tables(readers *r, uint32_t first)
{
    const fl_hpack_table *ours = &r->ours.table;
    size_t all = nghttp2_hd_inflate_get_num_table_entries(r->theirs);

    require(all == FL_HPACK_STATIC + ours->count);
    require(nghttp2_hd_inflate_get_dynamic_table_size(r->theirs) == ours->size);
    require(nghttp2_hd_inflate_get_max_dynamic_table_size(r->theirs) ==
            ours->max);
    for (uint32_t i = first; i <= all; i++)
        require(is_pair(fl_hpack_lookup(ours, i),
                        nghttp2_hd_inflate_get_table_entry(r->theirs, i)));
}

/* What is known of an entry is what the rules say of its texts. */
static void check_judgement(const fl_hpack_entry *entry)
{
    uint8_t kind;

    require(entry->bad_name == !fl_http2_name_ok(entry->name, &kind));
    require(entry->kind == kind);
    require(entry->bad_value == !fl_http2_value_ok(kind, entry->value));
}

static verdict next_of_ours(readers *r, fl_hpack_block *block,
                            const fl_hpack_entry **entry)
{
    fl_status rc = fl_hpack_read(&r->ours, block, entry);

    require(rc == FL_OK || rc == FL_END || rc == FL_E_INVALID);
    if (rc != FL_OK)
        return rc == FL_END ? END : BAD;
    check_judgement(*entry);
    keep(r, *entry);
    return FIELD;
}

static verdict next_of_theirs(readers *r, fl_span *rest, nghttp2_nv *nv)
{
    for (;;) {
        int flags = 0;
        ssize_t n = nghttp2_hd_inflate_hd2(
            r->theirs, nv, &flags, (const uint8_t *)rest->ptr, rest->len, 1);
        if (n < 0)
            return BAD;
        *rest = fl_span_from(*rest, (size_t)n);
        if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0)
            return FIELD;
        if ((flags & NGHTTP2_HD_INFLATE_FINAL) == 0)
            continue;
        require(nghttp2_hd_inflate_end_headers(r->theirs) == 0);
        return END;
    }
}

/* A number is stepped over; one that we would not have taken is marked. */
static uint64_t skip_number(fl_span *rest, unsigned bits, bool *is_long)
{
    uint64_t full = (1U << bits) - 1, number = 0;

    if (rest->len == 0)
        return 0;
    number = (unsigned char)rest->ptr[0] & full;
    *rest = fl_span_from(*rest, 1);
    for (unsigned i = 0; number >= full && i < 8 && rest->len > 0; i++) {
        unsigned char byte = (unsigned char)rest->ptr[0];
        *rest = fl_span_from(*rest, 1);
        number += (uint64_t)(byte & 0x7f) << 7 * i;
        *is_long = *is_long || i >= OUR_INTEGER;
        if (byte < 0x80)
            break;
    }
    return number;
}

static void skip_string(fl_span *rest, bool *is_long)
{
    uint64_t len = skip_number(rest, 7, is_long);

    *rest = fl_span_from(*rest, len < rest->len ? len : rest->len);
}

/* Whether the next field, or a size before it, has such a number. */
static bool has_long_number(fl_span rest)
{
    bool is_long = false;

    while (rest.len > 0 && (rest.ptr[0] & 0xe0) == 0x20)
        skip_number(&rest, 5, &is_long);
    if (rest.len == 0)
        return is_long;
    unsigned char first = (unsigned char)rest.ptr[0];
    if (first >= 0x80) {
        skip_number(&rest, 7, &is_long);
        return is_long;
    }
    if (skip_number(&rest, first >= 0x40 ? 6 : 4, &is_long) == 0)
        skip_string(&rest, &is_long);
    skip_string(&rest, &is_long);
    return is_long;
}

/* We refused what they did not. */
static void check_excuse(const readers *r, fl_span whole, fl_span rest)
{
    bool shrinks = r->ours.table.max > r->ours.limit;

    require(has_long_number(rest) || (whole.len == 0 && shrinks));
}

/* As the writer was told. */
static void check_wanted(const field *want, const nghttp2_nv *nv)
{
    bool secret = (nv->flags & NGHTTP2_NV_FLAG_NO_INDEX) != 0;

    require(is_text(want->name, nv->name, nv->namelen));
    require(is_text(want->value, nv->value, nv->valuelen));
    require(secret == (want->how == FL_HPACK_SECRET));
}

/* False: it is no block, and nothing can follow it. */
static bool read_block(readers *r, fl_span bytes, const field *want,
                       size_t *count)
{
    fl_hpack_block block = {.rest = bytes};
    fl_span rest = bytes;
    verdict ours = FIELD;

    for (*count = 0; ours == FIELD;) {
        fl_span before = block.rest;
        const fl_hpack_entry *entry;
        nghttp2_nv nv;
        ours = next_of_ours(r, &block, &entry);
        verdict theirs = next_of_theirs(r, &rest, &nv);
        if (ours == BAD && theirs != BAD)
            check_excuse(r, bytes, before);
        else
            require(ours == theirs);
        if (ours != FIELD)
            break;
        require(is_pair(entry, &nv));
        if (want != NULL)
            check_wanted(&want[*count], &nv);
        ++*count;
    }
    if (ours == END)
        compare_tables(r, FL_HPACK_STATIC + 1);
    return ours == END;
}

/* From memory of exactly that length. */
static bool read_copy(readers *r, fl_span bytes, const field *want,
                      size_t *count)
{
    char *copy = malloc(bytes.len + (bytes.len == 0));

    require(copy != NULL);
    if (bytes.len > 0)
        memcpy(copy, bytes.ptr, bytes.len);
    bool good = read_block(r, (fl_span){copy, bytes.len}, want, count);
    free(copy);
    return good;
}

static unsigned take(fl_span *in)
{
    if (in->len == 0)
        return 0;
    unsigned byte = (unsigned char)in->ptr[0];
    *in = fl_span_from(*in, 1);
    return byte;
}

static fl_span take_some(fl_span *in, size_t len)
{
    fl_span some = {in->ptr, len < in->len ? len : in->len};

    *in = fl_span_from(*in, some.len);
    return some;
}

/* Mostly small ones, for there more happens. */
static uint32_t limit_of(unsigned byte)
{
    uint32_t root = byte & 0x7f;

    return root == 0x7f ? FL_HPACK_TABLE : root * root / 4;
}

static void read_input(fl_span in)
{
    bool good = true;
    size_t count;
    readers r;

    readers_init(&r);
    compare_tables(&r, 1);
    while (good && in.len > 0) {
        unsigned len = take(&in), limit = take(&in);
        if ((limit & SETS_LIMIT) != 0)
            readers_limit(&r, limit_of(limit));
        good = read_copy(&r, take_some(&in, len), NULL, &count);
    }
    readers_deinit(&r);
}

/* A name of those that are known, or one of the input's. */
static void take_name(fl_span *in, field *f)
{
    static const char *const names[] = {
        ":method", ":path",        ":status", "accept", "content-length",
        "cookie",  "x-request-id", "vary",    "via",    "mcp-session-id",
        "x-own",   "x-other",      "x",       "",
    };
    unsigned pick = take(in);

    if (pick < 0xf0) {
        f->name = fl_span_of(names[pick % (sizeof names / sizeof *names)]);
        fl_http2_name_ok(f->name, &f->kind);
        return;
    }
    f->name = take_some(in, pick & 0x0f);
    f->kind = FL_FIELD_OTHER;
}

/* Values that occur again, as long as the input says, or some of its own. */
static fl_span take_value(fl_span *in)
{
    static char same[1024];
    unsigned pick = take(in);

    if (pick >= 0xe0)
        return take_some(in, pick & 0x1f);
    if (pick >= 0xc0)
        return (fl_span){same, (pick & 0x03) * 256 + take(in)};
    return (fl_span){same, pick % 8};
}

static field take_field(fl_span *in)
{
    field f = {.how = (fl_hpack_how)(take(in) % 3)};

    take_name(in, &f);
    f.value = take_value(in);
    return f;
}

static void take_limits(fl_span *in, fl_hpack_writer *writer, readers *r)
{
    for (unsigned n = take(in) % 4; n > 0; n--) {
        unsigned byte = take(in);
        uint32_t limit = byte == 0xff ? UINT32_MAX : limit_of(byte);
        fl_hpack_writer_limit(writer, limit);
        readers_limit(r, limit);
    }
}

/* Returns how long the block is. */
static size_t write_block(fl_hpack_writer *writer, const field *fields,
                          size_t count, char *block)
{
    char *to = fl_hpack_begin(writer, block);

    require(to - block <= FL_HPACK_BEGIN);
    for (size_t i = 0; i < count; i++) {
        const field *f = &fields[i];
        size_t room = FL_HPACK_FIELD + f->name.len + f->value.len;
        char *end =
            fl_hpack_write(writer, to, f->kind, f->name, f->value, f->how);
        require(end > to && (size_t)(end - to) <= room);
        to = end;
    }
    return (size_t)(to - block);
}

static void write_input(fl_span in)
{
    static char block[BLOCK_ROOM];
    field fields[FIELDS_MAX];
    fl_hpack_writer writer;
    size_t seen;
    readers r;

    readers_init(&r);
    fl_hpack_writer_init(&writer);
    while (in.len > 0) {
        take_limits(&in, &writer, &r);
        size_t count = take(&in) % (FIELDS_MAX + 1);
        for (size_t i = 0; i < count; i++)
            fields[i] = take_field(&in);
        size_t len = write_block(&writer, fields, count, block);
        require(read_copy(&r, (fl_span){block, len}, fields, &seen));
        require(seen == count);
        require(writer.table.count == r.ours.table.count);
        require(writer.table.size == r.ours.table.size);
    }
    fl_hpack_writer_deinit(&writer);
    readers_deinit(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    fl_span in = {(const char *)data + 1, size - 1};
    if ((data[0] & WRITES) != 0)
        write_input(in);
    else
        read_input(in);
    return 0;
}
