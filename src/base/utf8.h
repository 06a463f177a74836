/*
 * utf8.h - is this text?
 */
#ifndef FL_BASE_UTF8_H
#define FL_BASE_UTF8_H

#include <fairlead/types.h>

/*
 * Strict by the Unicode Standard, table 3-7: no overlong forms, no
 * surrogates, nothing past U+10FFFF. NUL is a character like any other.
 */
bool fl_utf8_valid(fl_span text);

/* How many bytes at the front are valid: text.len when all are. */
size_t fl_utf8_valid_prefix(fl_span text);

/*
 * The same for text that comes in pieces: false as soon as a byte came that no
 * text could go on with, in the middle of a character if need be.
 */
typedef struct fl_utf8_state {
    unsigned char begun[4]; /* a character that is not whole */
    uint8_t len;
} fl_utf8_state; /* {0} at the start of a text */

bool fl_utf8_next(fl_utf8_state *state, fl_span piece);
/* Whether the text may end here. */
static inline bool fl_utf8_whole(const fl_utf8_state *state)
{
    return state->len == 0;
}

/* Writes one code point (a valid one) and returns its length, 1 to 4. */
size_t fl_utf8_encode(uint32_t code_point, char out[4]);

#endif
