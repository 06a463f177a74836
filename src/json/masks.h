/*
 * masks.h - a block of 64 bytes as bits: what a vector kernel makes of it.
 */
#ifndef FL_JSON_MASKS_H
#define FL_JSON_MASKS_H

#include <stdint.h>

enum { BLOCK = 64 };

/* What tells where strings are. */
typedef struct string_masks {
    uint64_t quote, slash, control;
} string_masks;

/* What counts outside of strings. */
typedef struct token_masks {
    uint64_t open, shut, colon, comma, space;
} token_masks;

/* What counts after a backslash. */
typedef struct escape_masks {
    uint64_t good, u, hex;
} escape_masks;

#endif
