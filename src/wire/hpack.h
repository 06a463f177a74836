/*
 * hpack.h - header compression for HTTP/2 (RFC 7541), without I/O.
 *
 * The fields that went one way over a connection are kept by both its ends, in
 * a table each, and what was said before is said again in a byte. So the cost
 * of a field is paid when it enters the table: there its name is looked up and
 * it is held to the rules (http2_rules.h), and whoever is referred to it later
 * gets the entry itself. Entries are counted: a head may hold on to one that
 * the table has dropped, and nothing is copied.
 *
 * The writer does not pack strings with Huffman's code, for what repeats is an
 * index and what does not is short. The reader unpacks what others pack.
 */
#ifndef FL_WIRE_HPACK_H
#define FL_WIRE_HPACK_H

#include "wire/field.h"

/* What both sides begin with, and no table here grows beyond. */
enum { FL_HPACK_TABLE = 4096 };

typedef struct fl_hpack_entry {
    fl_span name;
    fl_span value;
    struct fl_hpack_entry *self; /* NULL: it is there for ever. Of a spare one:
                                    the next */
    uint32_t refs;
    uint32_t room;  /* for text behind it */
    uint8_t kind;   /* fl_http2_kind, or fl_field_id */
    bool bad_name;  /* no message may have a field of this name, */
    bool bad_value; /* or with this value */
} fl_hpack_entry;

/* Fields private to the hpack files. */
typedef struct fl_hpack_table {
    fl_hpack_entry **ring; /* the newest is at (made - 1) % cap */
    uint32_t cap;          /* a power of two, or 0 */
    uint32_t count;
    uint32_t made; /* entries so far; it may wrap */
    uint32_t size; /* as RFC 7541 4.1 reckons */
    uint32_t max;
} fl_hpack_table;

typedef struct fl_hpack_reader {
    fl_hpack_table table;
    uint32_t limit;         /* what the peer may set table.max to */
    fl_hpack_entry *spares; /* for fields that are in no table */
    uint32_t spare_count;
} fl_hpack_reader;

/* A header block, as far as it has not been read. */
typedef struct fl_hpack_block {
    fl_span rest;
    bool begun;
} fl_hpack_block;

/* Allocates nothing. */
void fl_hpack_reader_init(fl_hpack_reader *reader);
void fl_hpack_reader_deinit(fl_hpack_reader *reader);

/* SETTINGS_HEADER_TABLE_SIZE of ours; FL_HPACK_TABLE at most. */
void fl_hpack_reader_limit(fl_hpack_reader *reader, uint32_t limit);

/*
 * The next field of a block, held for the caller, who gives it back with
 * fl_hpack_drop(). FL_END: the block is over. After FL_E_INVALID (it is no
 * header block) and FL_E_NOMEM the tables are out of step for good.
 */
FL_MUST_USE fl_status fl_hpack_read(fl_hpack_reader *reader,
                                    fl_hpack_block *block,
                                    const fl_hpack_entry **out);
void fl_hpack_drop(fl_hpack_reader *reader, const fl_hpack_entry *entry);

/* How a field is to be said. */
typedef enum fl_hpack_how {
    FL_HPACK_LASTING,  /* again: it enters the table */
    FL_HPACK_FLEETING, /* once: a table would be the worse for it */
    FL_HPACK_SECRET,   /* in no table, here or further on (RFC 7541 7.1.3) */
    FL_HPACK_NOT_AT_ALL,
} fl_hpack_how;

enum {
    FL_HPACK_GUESSES = 16,
    FL_HPACK_BEGIN = 12, /* bytes a block may begin with */
    FL_HPACK_FIELD = 12, /* and of a field, besides its name and value */
};

typedef struct fl_hpack_writer {
    fl_hpack_table table;
    uint32_t least; /* the peer's lowest limit since the last block */
    bool limited;   /* it has set one since then */
    uint8_t nth;    /* field of this block */
    uint32_t guesses[FL_HPACK_GUESSES]; /* what the nth field was last time */
} fl_hpack_writer;

void fl_hpack_writer_init(fl_hpack_writer *writer);
void fl_hpack_writer_deinit(fl_hpack_writer *writer);

/* SETTINGS_HEADER_TABLE_SIZE of the peer. */
void fl_hpack_writer_limit(fl_hpack_writer *writer, uint32_t limit);

/* Each writes at `to` and says where it stopped. The name is that of `kind`,
 * unless that is FL_FIELD_OTHER. Without memory a field enters no table. */
char *fl_hpack_begin(fl_hpack_writer *writer, char *to);
char *fl_hpack_write(fl_hpack_writer *writer, char *to, uint8_t kind,
                     fl_span name, fl_span value, fl_hpack_how how);

/* Many of them, each by its id, or kind; how, `manners` has for every
 * fl_field_id (pseudo fields last). FL_HPACK_NOT_AT_ALL: it is left out. */
char *fl_hpack_write_all(fl_hpack_writer *writer, char *to,
                         const fl_field *fields, size_t count,
                         const uint8_t manners[FL_FIELD_COUNT]);

/* Bytes of heap that a reader or writer holds. */
size_t fl_hpack_memory(const fl_hpack_table *table);
size_t fl_hpack_reader_memory(const fl_hpack_reader *reader);

#endif
