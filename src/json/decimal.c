/*
 * decimal.c - a JSON number as digits and a power of ten.
 *
 * Most numbers are short, and a short one is exact: up to 15 digits and a
 * power of ten up to 22 are both whole doubles, so one multiplication or
 * division rounds correctly. Everything else is strtod()'s, in the form no
 * locale can misread.
 */
#include "json/decimal.h"

#include "json/token.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Where doubles have long become zero or infinite, whatever the digits. */
enum { FAR = 100000 };

static void add_digit(fl_decimal *d, char digit, bool fraction, bool *more)
{
    if (d->len == 0 && digit == '0') {
        d->exponent -= fraction;
        return;
    }
    if (d->len < FL_DECIMAL_DIGITS) {
        d->digits[d->len++] = digit;
        d->exponent -= fraction;
        return;
    }
    *more |= digit != '0';
    d->exponent += !fraction;
}

static int64_t read_exponent(const char *at, const char *end)
{
    const int64_t most = INT64_MAX / 20; /* beyond any text's length */
    bool negative = *at == '-';
    int64_t exponent = 0;

    if (*at == '-' || *at == '+')
        at++;
    for (; at < end && exponent < most; at++)
        exponent = exponent * 10 + (*at - '0');
    return negative ? -exponent : exponent;
}

static void tidy(fl_decimal *d, bool more)
{
    if (more) {
        d->digits[d->len++] = '1';
        d->exponent--;
    }
    while (d->len > 0 && d->digits[d->len - 1] == '0') {
        d->len--;
        d->exponent++;
    }
    if (d->len == 0)
        d->exponent = 0;
}

bool fl_decimal_read(fl_decimal *decimal, fl_span text)
{
    const char *at = text.ptr, *end = text.len > 0 ? at + text.len : at;
    bool fraction = false, more = false;

    decimal->len = 0;
    decimal->exponent = 0;
    decimal->negative = text.len > 0 && *at == '-';
    if (text.len == 0 || !fl_json_take_number(&at, end) || at != end)
        return false;
    for (at = text.ptr + decimal->negative; at < end; at++) {
        if (*at == '.')
            fraction = true;
        else if (fl_json_is_digit(*at))
            add_digit(decimal, *at, fraction, &more);
        else
            break;
    }
    if (at < end)
        decimal->exponent += read_exponent(at + 1, end);
    tidy(decimal, more);
    return true;
}

static double read_slowly(const fl_decimal *decimal)
{
    char text[FL_DECIMAL_TEXT];
    int64_t exponent = decimal->exponent;

    exponent = exponent > FAR ? FAR : exponent < -FAR ? -FAR : exponent;
    memcpy(text, decimal->digits, decimal->len);
    snprintf(text + decimal->len, sizeof text - decimal->len, "e%d",
             (int)exponent);
    return strtod(text, NULL);
}

double fl_decimal_double(const fl_decimal *decimal)
{
    enum { EXACT_DIGITS = 15, EXACT_POWER = 22 };
    static const double powers[EXACT_POWER + 1] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double value = 0;

    if (decimal->len > EXACT_DIGITS || decimal->exponent > EXACT_POWER ||
        decimal->exponent < -EXACT_POWER) {
        value = read_slowly(decimal);
    } else {
        for (unsigned i = 0; i < decimal->len; i++)
            value = value * 10 + (decimal->digits[i] - '0');
        if (decimal->exponent < 0)
            value /= powers[-decimal->exponent];
        else
            value *= powers[decimal->exponent];
    }
    return decimal->negative ? -value : value;
}

/* From "-1.5e+02", whatever the point looks like here. */
static void read_printed(fl_decimal *d, const char *text)
{
    bool more = false;

    d->negative = *text == '-';
    d->len = 0;
    d->exponent = 1;
    for (; *text != 'e'; text++)
        if (fl_json_is_digit(*text))
            add_digit(d, *text, true, &more);
    d->exponent += read_exponent(text + 1, text + strlen(text));
    tidy(d, more);
}

void fl_decimal_shortest(fl_decimal *decimal, double number)
{
    enum { ENOUGH = 17 };
    char text[64];
    /* Any 15 digits survive the way through a normal double, so a number that
     * has fewer shows zeroes behind them. The subnormal ones hold less. */
    int digits = fabs(number) < DBL_MIN ? 1 : DBL_DIG;

    assert(isfinite(number));
    for (; digits <= ENOUGH; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, number);
        read_printed(decimal, text);
        if (fl_decimal_double(decimal) == number)
            return;
    }
}
