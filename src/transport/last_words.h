/*
 * last_words.h - the last lines that a child wrote to its stderr.
 *
 * When a child dies its reason stands there, and whoever waited for an answer
 * is told it. So it is bounded, and what looks like a secret is masked before
 * it is kept.
 */
#ifndef FL_TRANSPORT_LAST_WORDS_H
#define FL_TRANSPORT_LAST_WORDS_H

#include "base/buf.h"

enum { FL_LAST_WORDS_LINES = 20, FL_LAST_WORDS_BYTES = 4096 };

/* Owned by whoever embeds it. Fields are private to last_words.c. */
typedef struct fl_last_words {
    fl_buf text; /* whole lines, each with its end */
    unsigned lines;
} fl_last_words;

void fl_last_words_init(fl_last_words *words);
void fl_last_words_deinit(fl_last_words *words);

/* Adds a line, for which the oldest make room. Without memory it is not
 * kept. */
void fl_last_words_add(fl_last_words *words, fl_span line);

/* All of them, oldest first, each with its end; or the last one without. Good
 * until the next is added. */
fl_span fl_last_words_view(const fl_last_words *words);
fl_span fl_last_words_latest(const fl_last_words *words);

#endif
