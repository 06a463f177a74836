/*
 * texts.h - a growing list of strings that belong to it.
 *
 * It remembers that memory ran out and ignores everything after it, so that a
 * whole list is put together in one breath and asked about once.
 */
#ifndef FL_CMD_TEXTS_H
#define FL_CMD_TEXTS_H

#include <fairlead/types.h>

/* All zeroes is an empty list. */
typedef struct fl_texts {
    char **items; /* NULL-terminated; NULL while there are none */
    size_t count;
    size_t room;
    bool failed; /* no memory: something is missing */
} fl_texts;

void fl_texts_add(fl_texts *list, const char *text);
void fl_texts_add_span(fl_texts *list, fl_span text);

/* Moves all of `from` to the end of `list` and leaves it empty. */
void fl_texts_move(fl_texts *list, fl_texts *from);

/* What it held is overwritten: there may have been secrets. */
void fl_texts_deinit(fl_texts *list);

#endif
