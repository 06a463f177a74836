/*
 * term.h - writing for people: what a terminal may be shown.
 *
 * A server's text may hold escape sequences that move the cursor, change the
 * window's title or hide what follows. On a terminal they are made visible;
 * in a file or a pipe the bytes are left as they came.
 */
#ifndef FL_CMD_TERM_H
#define FL_CMD_TERM_H

#include "base/buf.h"

#include <stdio.h>

typedef struct fl_term {
    FILE *file;
    bool is_tty;
    bool colour; /* a terminal, and NO_COLOR is not set */
} fl_term;

typedef enum fl_term_style {
    FL_TERM_PLAIN,
    FL_TERM_BOLD,
    FL_TERM_DIM,
    FL_TERM_RED,
    FL_TERM_GREEN,
    FL_TERM_YELLOW,
} fl_term_style;

fl_term fl_term_of(FILE *file);

/* Text from somebody else. */
void fl_term_put(const fl_term *term, fl_span text);

/* The same, of our own; a style lasts for this text. */
void fl_term_say(const fl_term *term, fl_term_style style, const char *format,
                 ...) FL_PRINTF(3, 4);

/* Appends `text` with everything but letters, line ends and tabs spelt out:
 * ESC becomes "\x1b". Characters that turn the writing direction, which can
 * make text read differently from what it is, are spelt out too. */
FL_MUST_USE fl_status fl_term_spell(fl_buf *out, fl_span text);

/* How many columns there are to write in; 80 when nobody knows. */
size_t fl_term_columns(const fl_term *term);

#endif
