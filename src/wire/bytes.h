/*
 * bytes.h - which bytes may stand where in HTTP (RFC 9110 5.5 and 5.6.2).
 *
 * The searches look at sixteen bytes at a time where the processor can do so
 * without being asked (SSE2 is part of x86-64), and never past the end.
 */
#ifndef FL_WIRE_BYTES_H
#define FL_WIRE_BYTES_H

#include <fairlead/types.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* What names and methods are made of. Two words of 64 bits are the table. */
static inline bool fl_bytes_is_token(char byte)
{
    unsigned c = (unsigned char)byte;
    uint64_t low = 0x03ff6cfa00000000;  /* !#$%&'*+-. and digits */
    uint64_t high = 0x57ffffffc7fffffe; /* letters and ^_`|~ */

    return c < 128 && (((c < 64 ? low : high) >> (c & 63)) & 1) != 0;
}

/* May not stand in a field value: a control other than HTAB. */
static inline bool fl_bytes_is_control(char byte)
{
    unsigned c = (unsigned char)byte;

    return (c < 0x20 && c != '\t') || c == 0x7f;
}

static inline bool fl_bytes_is_visible(char byte)
{
    return byte > 0x20 && byte < 0x7f;
}

static inline bool fl_bytes_is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static inline bool fl_bytes_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static inline char fl_bytes_lower(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (char)(byte | 0x20) : byte;
}

/* Without the blanks at its ends. */
static inline fl_span fl_bytes_trim(fl_span text)
{
    while (text.len > 0 && fl_bytes_is_blank(text.ptr[0]))
        text = (fl_span){text.ptr + 1, text.len - 1};
    while (text.len > 0 && fl_bytes_is_blank(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

#ifdef __SSE2__
static inline unsigned fl_bytes_mask(__m128i hits)
{
    return (unsigned)_mm_movemask_epi8(hits);
}
#endif

#ifdef __SSE2__
static inline unsigned fl_bytes_controls(__m128i x)
{
    __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(0x1f)), x);
    __m128i tab = _mm_cmpeq_epi8(x, _mm_set1_epi8('\t'));
    __m128i del = _mm_cmpeq_epi8(x, _mm_set1_epi8(0x7f));

    return fl_bytes_mask(_mm_or_si128(_mm_andnot_si128(tab, low), del));
}
#endif

/* How many bytes come before the first that is a control. */
static inline size_t fl_bytes_until_control(const char *at, size_t len)
{
    size_t n = 0;

#ifdef __SSE2__
    for (; len - n >= 16; n += 16) {
        unsigned mask = fl_bytes_controls(
            _mm_loadu_si128((const __m128i *)(const void *)(at + n)));
        if (mask != 0)
            return n + (size_t)__builtin_ctz(mask);
    }
    if (len - n >= 8) { /* short values are what we say most */
        unsigned mask = fl_bytes_controls(
            _mm_loadl_epi64((const __m128i *)(const void *)(at + n)));
        n += (size_t)__builtin_ctz(mask | 0x100);
        if ((mask & 0xff) != 0)
            return n;
    }
#endif
    while (n < len && !fl_bytes_is_control(at[n]))
        n++;
    return n;
}

/* How many bytes come before the first that is not visible ASCII. */
static inline size_t fl_bytes_until_hidden(const char *at, size_t len)
{
    size_t n = 0;

#ifdef __SSE2__
    const __m128i low = _mm_set1_epi8(0x21), high = _mm_set1_epi8(0x7e);
    for (; len - n >= 16; n += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(at + n));
        /* signed: what is above ASCII is below 0x21 */
        __m128i bad =
            _mm_or_si128(_mm_cmplt_epi8(x, low), _mm_cmpgt_epi8(x, high));
        unsigned mask = fl_bytes_mask(bad);
        if (mask != 0)
            return n + (size_t)__builtin_ctz(mask);
    }
#endif
    while (n < len && fl_bytes_is_visible(at[n]))
        n++;
    return n;
}

/* How many bytes come before the first `byte`: for finds that are near, where
 * calling memchr() would cost more than the search. */
static inline size_t fl_bytes_until(char byte, const char *at, size_t len)
{
    size_t n = 0;

#ifdef __SSE2__
    const __m128i wanted = _mm_set1_epi8(byte);
    for (; len - n >= 16; n += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(at + n));
        unsigned mask = fl_bytes_mask(_mm_cmpeq_epi8(x, wanted));
        if (mask != 0)
            return n + (size_t)__builtin_ctz(mask);
    }
#endif
    while (n < len && at[n] != byte)
        n++;
    return n;
}

#endif
