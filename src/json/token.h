/*
 * token.h - the smallest pieces of JSON, one byte or one word at a time.
 *
 * Shared by the kernels and the writer, and inline because a token is shorter
 * than a call. Each taker moves *at past what it took; where it fails, *at is
 * the first byte that cannot be right, or `end` when the text ran out.
 */
#ifndef FL_JSON_TOKEN_H
#define FL_JSON_TOKEN_H

#include <fairlead/types.h>

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static inline bool fl_json_is_space(char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

static inline bool fl_json_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static inline bool fl_json_is_hex(char byte)
{
    return fl_json_is_digit(byte) || (byte >= 'a' && byte <= 'f') ||
           (byte >= 'A' && byte <= 'F');
}

/* May a number or a literal end before this byte? */
static inline bool fl_json_is_end(char byte)
{
    static const bool ends[256] = {
        [','] = true, ['}'] = true,  [']'] = true,  [':'] = true,
        [' '] = true, ['\n'] = true, ['\r'] = true, ['\t'] = true,
    };

    return ends[(unsigned char)byte];
}

#ifdef __SSE2__
/* Of sixteen bytes, those that do not mean themselves inside a string. */
static inline unsigned fl_json_special(const char *at)
{
    __m128i part = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i hits =
        _mm_or_si128(_mm_cmpeq_epi8(part, _mm_set1_epi8('"')),
                     _mm_or_si128(_mm_cmpeq_epi8(part, _mm_set1_epi8('\\')),
                                  _mm_cmplt_epi8(part, _mm_set1_epi8(' '))));

    return (unsigned)_mm_movemask_epi8(hits);
}

/* fl_json_plain_run() of sixteen bytes or more: the last step goes back over
 * some that were plain, rather than on byte by byte. */
static inline const char *fl_json_plain_vectors(const char *at, const char *end)
{
    for (const char *last = end - 16;; at += 16) {
        if (at > last)
            at = last;
        unsigned hit = fl_json_special(at);
        if (hit != 0)
            return at + __builtin_ctz(hit);
        if (at == last)
            return end;
    }
}
#endif

/*
 * How many bytes from `at` are ASCII that means itself inside a string: no
 * quote, backslash or control. Eight at a time: a byte is below 0x20 if
 * taking 0x20 away borrows into its top bit, and zero once it has been XORed
 * with what is sought. A borrow may spread to the byte above a hit, never
 * below it, so the lowest hit is always a true one. With SSE2 sixteen at a
 * time: as signed bytes what is not ASCII is below 0x20, too.
 */
static inline const char *fl_json_plain_run(const char *at, const char *end)
{
    const uint64_t ones = 0x0101010101010101u;

#ifdef __SSE2__
    if (end - at >= 16)
        return fl_json_plain_vectors(at, end);
#endif
    while (end - at >= 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        uint64_t quote = word ^ ones * '"', slash = word ^ ones * '\\';
        uint64_t hit =
            ((word - ones * 0x20) | (quote - ones) | (slash - ones) | word) &
            ones * 0x80;
        if (hit != 0)
            break;
        at += 8;
    }
    while (at < end && *at >= 0x20 && *at != '"' && *at != '\\' &&
           (unsigned char)*at < 0x80)
        at++;
    return at;
}

/* Digits, none of them needed. Most numbers are short: words come late. */
static inline const char *fl_json_digits(const char *at, const char *end)
{
    const uint64_t ones = 0x0101010101010101u;

    for (int i = 0; i < 4; i++, at++)
        if (at == end || !fl_json_is_digit(*at))
            return at;
    while (end - at >= 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        /* 0x30 to 0x39 keep their high nibble when 6 is added; and no byte
         * of that kind carries into the next. */
        if (((word & (word + ones * 6)) & ones * 0xf0) != ones * 0x30 ||
            ((word | (word + ones * 6)) & ones * 0xf0) != ones * 0x30)
            break;
        at += 8;
    }
    while (at < end && fl_json_is_digit(*at))
        at++;
    return at;
}

static inline bool fl_json_some_digits(const char **at, const char *end)
{
    const char *from = *at;

    *at = fl_json_digits(from, end);
    return *at > from;
}

/* RFC 8259, section 6. */
static inline bool fl_json_take_number(const char **at, const char *end)
{
    if (*at < end && **at == '-')
        ++*at;
    if (*at < end && **at == '0')
        ++*at;
    else if (!fl_json_some_digits(at, end))
        return false;
    if (*at < end && **at == '.') {
        ++*at;
        if (!fl_json_some_digits(at, end))
            return false;
    }
    if (*at < end && (**at | 0x20) == 'e') {
        ++*at;
        if (*at < end && (**at == '+' || **at == '-'))
            ++*at;
        return fl_json_some_digits(at, end);
    }
    return true;
}

static inline bool fl_json_take_word(const char **at, const char *end,
                                     const char *word, size_t len)
{
    if ((size_t)(end - *at) >= len && memcmp(*at, word, len) == 0) {
        *at += len;
        return true;
    }
    while (*at < end && **at == *word) { /* word's NUL is not in the text */
        ++*at;
        word++;
    }
    return false;
}

/* A number, true, false or null, whatever comes after it. */
static inline bool fl_json_take_scalar(const char **at, const char *end)
{
    switch (**at) {
    case 't':
        return fl_json_take_word(at, end, "true", 4);
    case 'f':
        return fl_json_take_word(at, end, "false", 5);
    case 'n':
        return fl_json_take_word(at, end, "null", 4);
    default:
        return fl_json_take_number(at, end);
    }
}

/*
 * One UTF-8 sequence by the Unicode Standard, table 3-7. The bytes passed
 * over before a failure are its maximal subpart (Unicode 3.9, "U+FFFD
 * Substitution of Maximal Subparts").
 */
static inline bool fl_json_take_sequence(const char **at, const char *end)
{
    unsigned char first = (unsigned char)*(*at);
    unsigned low = 0x80, high = 0xbf, more = 1;

    if (first < 0x80) {
        ++*at;
        return true;
    }
    if (first < 0xc2 || first > 0xf4)
        return false;
    if (first >= 0xe0) {
        more = first >= 0xf0 ? 3 : 2;
        low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
        high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    }
    for (++*at; more > 0; more--, ++*at) {
        if (*at == end || (unsigned char)**at < low ||
            (unsigned char)**at > high)
            return false;
        low = 0x80;
        high = 0xbf;
    }
    return true;
}

/* What a backslash may be followed by, the backslash itself gone. */
static inline bool fl_json_take_escape(const char **at, const char *end)
{
    if (*at == end || **at == '\0' || strchr("\"\\/bfnrtu", **at) == NULL)
        return false;
    if (*(*at)++ != 'u')
        return true;
    for (int i = 0; i < 4; i++, ++*at)
        if (*at == end || !fl_json_is_hex(**at))
            return false;
    return true;
}

#endif
