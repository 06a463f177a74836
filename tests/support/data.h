/*
 * data.h - test vectors that lie outside the source tree.
 *
 * They are looked for in the directory that FAIRLEAD_DATA names, or else where
 * the build was told. A test whose vectors are missing is skipped, and says
 * which file it missed: a quiet pass would be a lie.
 */
#ifndef TESTS_SUPPORT_DATA_H
#define TESTS_SUPPORT_DATA_H

#include <fairlead/types.h>

const char *data_directory(void);

/* The whole file, or the running test is skipped; free with data_free(). */
fl_span data_load(const char *name);
void data_free(fl_span file);

/* Calls `visit` with each file of a directory in the order of their names, or
 * skips the running test. Returns how many there were. */
size_t data_each(const char *directory,
                 void (*visit)(void *user, const char *name, fl_span file),
                 void *user);

/*
 * Just enough of a reader for vector files that hold flat JSON objects: takes
 * the next {...} off `rest`. Strings must hold neither braces nor escapes.
 */
bool data_next_object(fl_span *rest, fl_span *object);

/* The value of a member, without its quotes; empty when it is not there. */
fl_span data_member(fl_span object, const char *name);

/* Writes the bytes that `hex` spells; returns how many. */
size_t data_unhex(fl_span hex, char *out, size_t size);

#endif
