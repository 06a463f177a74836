/*
 * write.h - writing JSON into a buffer, commas and escapes done for you.
 *
 * A writer remembers its first failure (memory, the buffer's maximum, too
 * deep, something that would not be JSON here: FL_E_STATE) and ignores
 * everything after it, so that a caller writes the whole text in one breath and
 * asks once, at fl_json_writer_end().
 */
#ifndef FL_JSON_WRITE_H
#define FL_JSON_WRITE_H

#include "base/buf.h"

enum { FL_JSON_WRITE_DEPTH = 64 };

/* Owned by whoever embeds it. Fields are private to write.c. */
typedef struct fl_json_writer {
    fl_buf *out;
    uint64_t has_member; /* bit n: the container at depth n+1 is not empty */
    uint64_t objects;    /* bit n: the container at depth n+1 is an object */
    unsigned depth;
    bool after_key;
    bool done; /* the outermost value was begun */
    fl_status status;
} fl_json_writer;

void fl_json_writer_init(fl_json_writer *writer, fl_buf *out);

void fl_json_object(fl_json_writer *writer);
void fl_json_object_end(fl_json_writer *writer);
void fl_json_array(fl_json_writer *writer);
void fl_json_array_end(fl_json_writer *writer);

/* Ends the innermost, whichever it is. */
void fl_json_end(fl_json_writer *writer);

/* A key of an object; the value comes next. Text must be UTF-8; bytes that
 * are not become U+FFFD, so that what we write is always valid. */
void fl_json_key(fl_json_writer *writer, const char *key);
/* One that was read: between its quotes, escapes as they came. */
void fl_json_raw_key(fl_json_writer *writer, fl_span key);
void fl_json_text(fl_json_writer *writer, fl_span text);
void fl_json_string(fl_json_writer *writer, const char *text);

/* Between quotes it is a string as it is: no escapes, and all of it UTF-8. */
bool fl_json_is_plain(fl_span text);

/* The fewest digits that read back the same; NaN and infinity are null. */
void fl_json_number(fl_json_writer *writer, double number);
void fl_json_integer(fl_json_writer *writer, int64_t number);
void fl_json_bool(fl_json_writer *writer, bool value);
void fl_json_null(fl_json_writer *writer);

/* A string that is `bytes` in Base64. */
void fl_json_base64(fl_json_writer *writer, fl_span bytes);

/* A value that is JSON already; the caller vouches for it. */
void fl_json_raw(fl_json_writer *writer, fl_span json);

/* What comes cannot be written: as if writing had failed. */
void fl_json_fail(fl_json_writer *writer, fl_status status);

/* FL_OK if one whole value was written; FL_E_STATE if it lacks its end. */
FL_MUST_USE fl_status fl_json_writer_end(fl_json_writer *writer);

#endif
