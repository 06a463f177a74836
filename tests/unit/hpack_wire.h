/*
 * hpack_wire.h - header blocks in hex, and what they say as text, for the
 * tests of HPACK.
 *
 * A field is a line "name: value". A table is a line "size name: value" for
 * each entry, the newest first, and "= size" for all of them, as in RFC 7541
 * appendix C. A block is read from memory of exactly its length, which is not
 * counted in the ration, so that a sanitizer sees whoever reads on.
 */
#ifndef TESTS_UNIT_HPACK_WIRE_H
#define TESTS_UNIT_HPACK_WIRE_H

#include "base/span.h"
#include "support/data.h"
#include "support/ration.h"
#include "wire/hpack_impl.h"
#include "wire/http2_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { HPACK_ROOM = 16 * 1024 };

typedef struct hpack_text {
    char room[HPACK_ROOM];
    size_t len;
} hpack_text;

static inline void hpack_note(hpack_text *text, const char *format, ...)
    FL_PRINTF(2, 3);
static inline void hpack_note(hpack_text *text, const char *format, ...)
{
    size_t left = sizeof text->room - text->len;
    va_list args;

    va_start(args, format);
    int n = vsnprintf(text->room + text->len, left, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < left);
    text->len += (size_t)n;
}

static inline void hpack_note_field(hpack_text *text, fl_span name,
                                    fl_span value)
{
    hpack_note(text, "%.*s: %.*s\n", (int)name.len, name.ptr, (int)value.len,
               value.ptr);
}

/* The next of a row of numbers that is the same every time. */
static inline unsigned hpack_draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 33);
}

/* A copy of exactly that length. */
static inline char *hpack_copy(fl_span bytes)
{
    char *copy = ration_raw_realloc(NULL, bytes.len > 0 ? bytes.len : 1);

    assert_non_null(copy);
    if (bytes.len > 0)
        memcpy(copy, bytes.ptr, bytes.len);
    return copy;
}

/* What a block says, and how it ended. */
static inline fl_status hpack_read_all(fl_hpack_reader *reader, fl_span bytes,
                                       hpack_text *text)
{
    char *copy = hpack_copy(bytes);
    fl_hpack_block block = {.rest = {copy, bytes.len}};
    const fl_hpack_entry *entry;
    fl_status rc;

    *text = (hpack_text){.len = 0};
    while ((rc = fl_hpack_read(reader, &block, &entry)) == FL_OK) {
        hpack_note_field(text, entry->name, entry->value);
        fl_hpack_drop(reader, entry);
    }
    ration_raw_free(copy);
    return rc;
}

static inline fl_span hpack_unhex(const char *hex, char *room, size_t size)
{
    return (fl_span){room, data_unhex(fl_span_of(hex), room, size)};
}

/* The block says these fields, and no more. */
static inline void hpack_takes(fl_hpack_reader *reader, const char *hex,
                               const char *fields)
{
    static hpack_text text;
    char room[1024];
    fl_span bytes = hpack_unhex(hex, room, sizeof room);

    assert_int_equal(hpack_read_all(reader, bytes, &text), FL_END);
    assert_string_equal(text.room, fields);
}

/* The block is none, and before that is seen it says these fields. */
static inline void hpack_refuses(fl_hpack_reader *reader, const char *hex,
                                 const char *fields)
{
    static hpack_text text;
    char room[1024];
    fl_span bytes = hpack_unhex(hex, room, sizeof room);

    assert_int_equal(hpack_read_all(reader, bytes, &text), FL_E_INVALID);
    assert_string_equal(text.room, fields);
}

/* The same, of readers that have seen nothing else. */
static inline void hpack_new_takes(const char *hex, const char *fields)
{
    fl_hpack_reader reader;

    fl_hpack_reader_init(&reader);
    hpack_takes(&reader, hex, fields);
    fl_hpack_reader_deinit(&reader);
}

static inline void hpack_new_refuses(const char *hex, const char *fields)
{
    fl_hpack_reader reader;

    fl_hpack_reader_init(&reader);
    hpack_refuses(&reader, hex, fields);
    fl_hpack_reader_deinit(&reader);
}

static inline void hpack_table_is(const fl_hpack_table *table, const char *want)
{
    static hpack_text text;

    text.len = 0;
    for (uint32_t age = 0; age < table->count; age++) {
        const fl_hpack_entry *entry = fl_hpack_table_at(table, age);
        hpack_note(&text, "%zu ", fl_hpack_size(entry->name, entry->value));
        hpack_note_field(&text, entry->name, entry->value);
    }
    hpack_note(&text, "= %u", table->size);
    assert_string_equal(text.room, want);
}

#endif
