/*
 * marks.h - which members or elements of a value have been evaluated.
 *
 * One bit each, in the order of the text. Up to 256 lie in the struct itself,
 * which lies on the stack; more are on the heap.
 */
#ifndef FL_SCHEMA_MARKS_H
#define FL_SCHEMA_MARKS_H

#include "base/mem.h"

#include <string.h>

enum { FL_MARKS_WORDS = 4 };

typedef struct fl_marks {
    uint64_t *bits; /* of `few`, or of the heap: not to be moved */
    size_t words;
    uint64_t few[FL_MARKS_WORDS];
} fl_marks;

/* FL_E_NOMEM; then there is nothing to deinit. */
FL_MUST_USE static inline fl_status fl_marks_init(fl_marks *marks, size_t count)
{
    marks->words = (count + 63) / 64;
    marks->bits = marks->few;
    memset(marks->few, 0, sizeof marks->few);
    if (marks->words > FL_MARKS_WORDS)
        marks->bits = fl_mem_zalloc(marks->words * sizeof *marks->bits);
    return marks->bits != NULL ? FL_OK : FL_E_NOMEM;
}

static inline void fl_marks_deinit(fl_marks *marks)
{
    if (marks->bits != marks->few)
        fl_mem_free(marks->bits);
}

static inline void fl_marks_set(fl_marks *marks, size_t index)
{
    marks->bits[index / 64] |= (uint64_t)1 << index % 64;
}

static inline bool fl_marks_has(const fl_marks *marks, size_t index)
{
    return (marks->bits[index / 64] >> index % 64 & 1) != 0;
}

/* Adds those of `other`, which are as many. */
static inline void fl_marks_add(fl_marks *marks, const fl_marks *other)
{
    for (size_t i = 0; i < marks->words; i++)
        marks->bits[i] |= other->bits[i];
}

#endif
