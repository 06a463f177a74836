/*
 * number.c - JSON numbers as the machine's own.
 *
 * The gateway passes numbers through untouched; these two are for whoever
 * has to reckon with one. JSON has one kind of number, so 1.0 and 1e2 are as
 * whole as 1 and 100.
 */
#include "json/nav.h"

#include "json/decimal.h"

fl_status fl_json_double(fl_span value, double *out)
{
    fl_decimal decimal;

    *out = 0;
    if (!fl_decimal_read(&decimal, value))
        return FL_E_INVALID;
    *out = fl_decimal_double(&decimal);
    return FL_OK;
}

fl_status fl_json_int64(fl_span value, int64_t *out)
{
    enum { MOST_DIGITS = 19 };
    fl_decimal decimal;
    int64_t whole = 0;

    *out = 0;
    if (!fl_decimal_read(&decimal, value) || decimal.exponent < 0 ||
        decimal.exponent > MOST_DIGITS || decimal.len > MOST_DIGITS)
        return FL_E_INVALID;
    for (unsigned i = 0; i < decimal.len + (unsigned)decimal.exponent; i++) {
        int digit = i < decimal.len ? decimal.digits[i] - '0' : 0;
        /* downwards, for the smallest is further from zero */
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_sub_overflow(whole, digit, &whole))
            return FL_E_INVALID;
    }
    if (!decimal.negative && __builtin_sub_overflow(0, whole, &whole))
        return FL_E_INVALID;
    *out = whole;
    return FL_OK;
}
