/*
 * numeral.h - numbers compared exactly, as they are written.
 *
 * A numeral is a view of a JSON number's text: sign, significant digits and
 * the power of ten of the last of them. No digit is ever rounded away, however
 * many there are.
 */
#ifndef FL_SCHEMA_NUMERAL_H
#define FL_SCHEMA_NUMERAL_H

#include <fairlead/types.h>

typedef struct fl_numeral {
    bool negative;
    fl_span digits; /* first to last that is not 0; a point may lie between.
                       Empty for zero */
    size_t count;   /* of digits, without the point */
    int64_t exponent;
} fl_numeral;

/* `text` is a JSON number. */
fl_numeral fl_numeral_read(fl_span text);

/* Below zero, zero, above zero: as a is less than, equal to, more than b. */
int fl_numeral_compare(const fl_numeral *a, const fl_numeral *b);

/* Has it no fraction? */
bool fl_numeral_is_whole(const fl_numeral *numeral);

/* The same for numerals that mean the same. */
uint64_t fl_numeral_hash(const fl_numeral *numeral);

/* A positive number that others may be multiples of: whole * 10^exponent. */
typedef struct fl_divisor {
    uint64_t whole;
    int64_t exponent;
} fl_divisor;

/* False if it is not positive or has more digits than 64 bits hold. */
bool fl_divisor_make(fl_divisor *divisor, const fl_numeral *numeral);
bool fl_divisor_divides(const fl_divisor *divisor, const fl_numeral *numeral);

#endif
