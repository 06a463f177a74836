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

/* Writes one code point (a valid one) and returns its length, 1 to 4. */
size_t fl_utf8_encode(uint32_t code_point, char out[4]);

#endif
