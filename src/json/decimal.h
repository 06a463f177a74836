/*
 * decimal.h - a JSON number as digits and a power of ten.
 *
 * The C library reads and writes numbers with the locale's decimal point,
 * which is not always a dot. Written as digits and an exponent, with no point
 * at all ("15e-1"), a number means the same in every locale: so that is the
 * only form in which numbers cross that border.
 */
#ifndef FL_JSON_DECIMAL_H
#define FL_JSON_DECIMAL_H

#include <fairlead/types.h>

/* More digits than decide how any double is rounded (767), and one for
 * "something else followed". */
enum { FL_DECIMAL_DIGITS = 768, FL_DECIMAL_TEXT = FL_DECIMAL_DIGITS + 16 };

/* digits * 10^exponent; no zeroes in front or behind, none at all for zero. */
typedef struct fl_decimal {
    bool negative;
    unsigned len;
    int64_t exponent;
    char digits[FL_DECIMAL_DIGITS + 1];
} fl_decimal;

/* False if `text` is not a JSON number, whole. */
bool fl_decimal_read(fl_decimal *decimal, fl_span text);

/* The nearest double; infinite when it is too large for one. */
double fl_decimal_double(const fl_decimal *decimal);

/* The fewest digits that read back as `number`, which is finite. */
void fl_decimal_shortest(fl_decimal *decimal, double number);

#endif
