/*
 * chop.h - a parser must not care how the bytes were cut.
 *
 * The same bytes are fed whole, at every split in two, and one at a time. The
 * reader under test writes down what it saw; every run must say the same.
 * Each piece is a heap block of exactly its size that is freed as soon as the
 * reader returns, so a sanitizer sees any read past it or after it.
 */
#ifndef TESTS_SUPPORT_CHOP_H
#define TESTS_SUPPORT_CHOP_H

#include <fairlead/types.h>

/* What a run saw, as text. */
typedef struct chop_notes chop_notes;

void chop_note(chop_notes *notes, const char *format, ...) FL_PRINTF(2, 3);
void chop_note_bytes(chop_notes *notes, fl_span bytes);

/* The thing under test. `start` makes it anew for each run, `end` is the end
 * of the stream and the place to free it; either may be NULL. */
typedef struct chop_reader {
    void (*start)(void *user);
    void (*piece)(void *user, fl_span piece, chop_notes *notes);
    void (*end)(void *user, chop_notes *notes);
} chop_reader;

/* Fails the test unless every run's notes are `want`; NULL stands for what
 * the whole, uncut bytes gave. */
void chop(const chop_reader *reader, void *user, fl_span bytes,
          const char *want);

/* One run: a first piece of `first` bytes (0: none), then `step` at a time.
 * The notes, ended with a NUL, are good until the next run. */
const char *chop_run(const chop_reader *reader, void *user, fl_span bytes,
                     size_t first, size_t step);

#endif
