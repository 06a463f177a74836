/*
 * numeral.c - numbers compared exactly, as they are written.
 *
 * With zeroes stripped from both ends of the digits, numbers are equal if
 * sign, digits and exponent are, and the larger is the one whose first digit
 * stands higher, or else the first digit that differs. To divide, digits are
 * taken modulo the divisor one by one, and the power of ten by squaring: the
 * cost is that of reading the text, whatever the exponent.
 */
#include "schema/numeral.h"

#include "base/span.h"
#include "json/token.h"

__extension__ typedef unsigned __int128 wide;

/* Clamped where no text could make up for it with digits. */
static int64_t read_exponent(fl_span text)
{
    const int64_t most = INT64_MAX / 64;
    bool negative = text.len > 0 && text.ptr[0] == '-';
    int64_t exponent = 0;

    for (size_t i = 0; i < text.len && exponent < most; i++)
        if (fl_json_is_digit(text.ptr[i]))
            exponent = exponent * 10 + (text.ptr[i] - '0');
    return negative ? -exponent : exponent;
}

static bool is_significant(char byte)
{
    return byte >= '1' && byte <= '9';
}

fl_numeral fl_numeral_read(fl_span text)
{
    fl_numeral n = {.negative = text.len > 0 && text.ptr[0] == '-'};
    size_t end = 0, first, last;

    while (end < text.len && (text.ptr[end] | 0x20) != 'e')
        end++;
    size_t point = fl_span_find((fl_span){text.ptr, end}, '.');
    for (first = n.negative; first < end; first++)
        if (is_significant(text.ptr[first]))
            break;
    if (first == end)
        return (fl_numeral){0};
    for (last = end - 1; !is_significant(text.ptr[last]); last--)
        ;
    n.digits = (fl_span){text.ptr + first, last + 1 - first};
    n.count = n.digits.len - (first < point && point < last);
    if (end < text.len)
        n.exponent = read_exponent(fl_span_from(text, end + 1));
    n.exponent +=
        last < point ? (int64_t)(point - last) - 1 : -(int64_t)(last - point);
    return n;
}

/* The digit at *at, which moves on; 0 past the end. */
static char next_digit(fl_span digits, size_t *at)
{
    if (*at < digits.len && digits.ptr[*at] == '.')
        ++*at;
    return *at < digits.len ? digits.ptr[(*at)++] : '0';
}

static int compare_sizes(const fl_numeral *a, const fl_numeral *b)
{
    int64_t high = a->exponent + (int64_t)a->count;
    int64_t other = b->exponent + (int64_t)b->count;
    size_t i = 0, j = 0;

    if (high != other)
        return high < other ? -1 : 1;
    while (i < a->digits.len || j < b->digits.len) {
        int less = next_digit(a->digits, &i) - next_digit(b->digits, &j);
        if (less != 0)
            return less;
    }
    return 0;
}

int fl_numeral_compare(const fl_numeral *a, const fl_numeral *b)
{
    if (a->count == 0 || b->count == 0) {
        int left = a->count == 0 ? 0 : a->negative ? -1 : 1;
        int right = b->count == 0 ? 0 : b->negative ? -1 : 1;
        return left - right;
    }
    if (a->negative != b->negative)
        return a->negative ? -1 : 1;
    return a->negative ? compare_sizes(b, a) : compare_sizes(a, b);
}

bool fl_numeral_is_whole(const fl_numeral *numeral)
{
    return numeral->exponent >= 0;
}

uint64_t fl_numeral_hash(const fl_numeral *numeral)
{
    uint64_t hash = (uint64_t)numeral->exponent * 2 + numeral->negative;

    for (size_t at = 0; at < numeral->digits.len;)
        hash = hash * 0x9e3779b97f4a7c15u +
               (unsigned char)next_digit(numeral->digits, &at);
    return hash;
}

bool fl_divisor_make(fl_divisor *divisor, const fl_numeral *numeral)
{
    uint64_t whole = 0;

    for (size_t at = 0; at < numeral->digits.len;) {
        unsigned digit = (unsigned)(next_digit(numeral->digits, &at) - '0');
        if (__builtin_mul_overflow(whole, 10u, &whole) ||
            __builtin_add_overflow(whole, digit, &whole))
            return false;
    }
    *divisor = (fl_divisor){whole, numeral->exponent};
    return numeral->count > 0 && !numeral->negative;
}

static uint64_t times(uint64_t a, uint64_t b, uint64_t modulus)
{
    return (uint64_t)((wide)a * b % modulus);
}

bool fl_divisor_divides(const fl_divisor *divisor, const fl_numeral *numeral)
{
    uint64_t rest = 0, power = 10 % divisor->whole;

    if (numeral->count == 0)
        return true;
    /* the last digit is not 0, so no higher power of ten divides it */
    if (numeral->exponent < divisor->exponent)
        return false;
    for (size_t at = 0; at < numeral->digits.len;) {
        unsigned digit = (unsigned)(next_digit(numeral->digits, &at) - '0');
        rest = (uint64_t)(((wide)rest * 10 + digit) % divisor->whole);
    }
    uint64_t zeroes = (uint64_t)(numeral->exponent - divisor->exponent);
    for (; zeroes > 0; zeroes >>= 1) {
        if ((zeroes & 1) != 0)
            rest = times(rest, power, divisor->whole);
        power = times(power, power, divisor->whole);
    }
    return rest == 0;
}
