/*
 * json.h - JSON: looking into what came, and writing what is to be said.
 *
 * Values are raw slices of the text they came in. Nothing is copied or parsed
 * ahead, and what is not there is an empty span, which may be looked into
 * like any other: so a path is a chain of calls with one check at its end.
 *
 *     fl_span text = fl_raw_get(fl_raw_at(content, 0), "text");
 *
 * What came over a link has been checked before anyone sees it. Of text from
 * elsewhere that is not JSON these make nothing sensible, and no harm.
 */
#ifndef FAIRLEAD_JSON_H
#define FAIRLEAD_JSON_H

#include <fairlead/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A member of an object (the last, if there are several of this name), or an
 * element of an array. Each is looked for from the front. */
FL_API fl_span fl_raw_get(fl_span object, const char *key);
FL_API fl_span fl_raw_at(fl_span array, size_t index);

/* Is it a string that means this? */
FL_API bool fl_raw_is(fl_span value, const char *text);

/*
 * What a number or a boolean means; `otherwise` for what is none, or is not
 * there. 2.0 and 2e3 are integers, 2.5 is not, nor is what does not fit.
 */
FL_API int64_t fl_raw_integer(fl_span value, int64_t otherwise);
FL_API double fl_raw_number(fl_span value, double otherwise);
FL_API bool fl_raw_bool(fl_span value, bool otherwise);

/*
 * What a string means, escapes undone, NUL-terminated, and as much of it as
 * fits into `size` bytes. Returns the length of all of it, as snprintf() does;
 * 0, and "", for what is no string.
 */
FL_API size_t fl_raw_text(fl_span value, char *out, size_t size);

/*
 * Writing: commas, quotes and escapes come by themselves.
 *
 *     fl_writer *writer = fl_writer_new();
 *     fl_write_object(writer, NULL);
 *     fl_write_string(writer, "city", "Kiel");
 *     fl_write_number(writer, "degrees", 21.5);
 *     fl_write_end(writer);
 *     fl_call_set_structured(call, fl_writer_json(writer));
 *     fl_writer_free(writer);
 *
 * Within an object each value has a key; within an array, and at the top, the
 * key is NULL. What goes wrong on the way (no memory; a key too many, or too
 * few; more than 64 levels) is remembered: what follows does nothing, and there
 * is no JSON at the end. So only the end needs a look, if any: an answer that
 * is given no JSON says so by itself. NULL for a writer is one that has failed.
 */
typedef struct fl_writer fl_writer;

FL_API FL_MUST_USE fl_writer *fl_writer_new(void);
FL_API void fl_writer_free(fl_writer *writer);

/* What was written, if that is one whole value, or else an empty span. Good
 * until the writer is freed, or begun anew. */
FL_API fl_span fl_writer_json(const fl_writer *writer);
/* What went wrong; FL_E_STATE, too, if the value is not whole. */
FL_API FL_MUST_USE fl_status fl_writer_status(const fl_writer *writer);
/* Forgets all of it, failures too, and begins with the next value. */
FL_API void fl_writer_restart(fl_writer *writer);

/* Each begins one; fl_write_end() ends the innermost. */
FL_API void fl_write_object(fl_writer *writer, const char *key);
FL_API void fl_write_array(fl_writer *writer, const char *key);
FL_API void fl_write_end(fl_writer *writer);

/* Text is UTF-8; bytes that are not become U+FFFD. NULL is null. */
FL_API void fl_write_string(fl_writer *writer, const char *key,
                            const char *text);
FL_API void fl_write_text(fl_writer *writer, const char *key, fl_span text);
FL_API void fl_write_stringf(fl_writer *writer, const char *key,
                             const char *format, ...) FL_PRINTF(3, 4);
/* The fewest digits that read back the same; NaN and infinity are null. */
FL_API void fl_write_number(fl_writer *writer, const char *key, double number);
FL_API void fl_write_integer(fl_writer *writer, const char *key,
                             int64_t number);
FL_API void fl_write_bool(fl_writer *writer, const char *key, bool value);
FL_API void fl_write_null(fl_writer *writer, const char *key);
/* A string that is these bytes in Base64. */
FL_API void fl_write_base64(fl_writer *writer, const char *key, fl_span bytes);
/* What is JSON already: a raw value that was looked up, or another writer's.
 * What is not JSON is a failure; levels inside of it are not counted. */
FL_API void fl_write_raw(fl_writer *writer, const char *key, fl_span json);

#ifdef __cplusplus
}
#endif

#endif
