/*
 * utf8.c - is this text?
 *
 * Characters go through the well-formed ranges of the Unicode Standard, table
 * 3-7. The second byte alone tells overlong forms, surrogates and code points
 * past U+10FFFF apart, so its range depends on the first byte; the bytes after
 * it do not.
 *
 * With SSE2 that is done for sixty-four bytes in one go, each question about
 * them a mask of as many bits: where tails lie must be where the first bytes
 * want them. A block that ends within a character is followed by one that
 * begins with it, so that nothing is carried from one to the next. What is left
 * is done one by one, and ASCII in words.
 *
 * Of text that comes in pieces no more is kept than a character that was cut:
 * each piece is checked as a whole once that is made up.
 */
#include "base/utf8.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static bool is_tail(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* Whether `second` may follow `first`, which begins three bytes or four. */
static bool is_second(unsigned char first, unsigned char second)
{
    unsigned char low = 0x80, high = 0xbf;

    if (first == 0xe0)
        low = 0xa0; /* below: overlong */
    else if (first == 0xed)
        high = 0x9f; /* above: surrogates */
    else if (first == 0xf0)
        low = 0x90; /* below: overlong */
    else if (first == 0xf4)
        high = 0x8f; /* above: past U+10FFFF */
    return second >= low && second <= high;
}

/* Length of the sequence at the front of `at`, or 0 when it is ill-formed. */
static size_t sequence(const unsigned char *at, size_t len)
{
    unsigned char first = at[0];

    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4 || len < 2)
        return 0;
    if (first < 0xe0)
        return is_tail(at[1]) ? 2 : 0;
    if (!is_second(first, at[1]))
        return 0;
    if (first < 0xf0)
        return len >= 3 && is_tail(at[2]) ? 3 : 0;
    return len >= 4 && is_tail(at[2]) && is_tail(at[3]) ? 4 : 0;
}

static uint64_t load8(const unsigned char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

/* How many bytes at the front are ASCII, in words; once there is one, four at
 * a time. */
static size_t skip_ascii(const unsigned char *at, size_t len)
{
    const uint64_t high = 0x8080808080808080u;
    size_t n = 0;

    while (len - n >= 8 && (load8(at + n) & high) == 0) {
        n += 8;
        while (len - n >= 32 && ((load8(at + n) | load8(at + n + 8) |
                                  load8(at + n + 16) | load8(at + n + 24)) &
                                 high) == 0)
            n += 32;
    }
    return n;
}

#ifdef __SSE2__

enum { BLOCK = 64, PARTS = 4 };

typedef __m128i question(__m128i part, char byte);

static inline __m128i is(__m128i part, char byte)
{
    return _mm_cmpeq_epi8(part, _mm_set1_epi8(byte));
}

/* As signed bytes: 0x80 is the least, and ASCII is above all others. */
static inline __m128i is_above(__m128i part, char byte)
{
    return _mm_cmpgt_epi8(part, _mm_set1_epi8(byte));
}

/* C0, C1, E0, ED: what may follow them, if anything, is not like others. */
static inline __m128i is_odd(__m128i part, char unused)
{
    __m128i pair = _mm_and_si128(part, _mm_set1_epi8((char)0xfe));

    (void)unused;
    return _mm_or_si128(
        is(pair, (char)0xc0),
        _mm_or_si128(is(part, (char)0xe0), is(part, (char)0xed)));
}

static inline __m128i is_itself(__m128i part, char unused)
{
    (void)unused;
    return part;
}

static inline uint64_t ask(const __m128i block[PARTS], question *about,
                           char byte)
{
    uint64_t mask = 0;

    for (unsigned i = 0; i < PARTS; i++)
        mask |= (uint64_t)(unsigned)_mm_movemask_epi8(about(block[i], byte))
                << 16 * i;
    return mask;
}

/* Whether each of those that are odd, or begin four bytes, has what it wants;
 * the ranges of is_second(). */
static bool judge_odd(const __m128i block[PARTS], uint64_t high)
{
    uint64_t over_8f = ask(block, is_above, (char)0x8f) | ~high;
    uint64_t over_9f = ask(block, is_above, (char)0x9f) | ~high;
    uint64_t never = ask(block, is, (char)0xc0) | ask(block, is, (char)0xc1) |
                     (ask(block, is_above, (char)0xf4) & high);
    uint64_t e0 = ask(block, is, (char)0xe0), ed = ask(block, is, (char)0xed);
    uint64_t f0 = ask(block, is, (char)0xf0), f4 = ask(block, is, (char)0xf4);

    return (never | (e0 << 1 & ~over_9f) | (ed << 1 & over_9f) |
            (f0 << 1 & ~over_8f) | (f4 << 1 & over_8f)) == 0;
}

/* How far a block is valid, up to the last character that is whole; 0: it is
 * not, somewhere. */
static inline size_t pass_block(const unsigned char *bytes)
{
    __m128i block[PARTS];

    for (size_t i = 0; i < PARTS; i++)
        block[i] = _mm_loadu_si128((const __m128i *)(const void *)(bytes) + i);
    __m128i any = _mm_or_si128(_mm_or_si128(block[0], block[1]),
                               _mm_or_si128(block[2], block[3]));
    if (_mm_movemask_epi8(any) == 0)
        return BLOCK;
    uint64_t high = ask(block, is_itself, 0);
    uint64_t first = ask(block, is_above, (char)0xbf) & high;
    uint64_t three = ask(block, is_above, (char)0xdf) & high;
    uint64_t four = ask(block, is_above, (char)0xef) & high;
    if ((high ^ first) != (first << 1 | three << 2 | four << 3))
        return 0;
    if ((four | ask(block, is_odd, 0)) != 0 && !judge_odd(block, high))
        return 0;
    bool cut = (first >> 63 | three >> 62 | four >> 61) != 0;
    return cut ? 63 - (size_t)__builtin_clzll(first) : BLOCK;
}

/* All blocks up to one that is not valid. */
static size_t pass_blocks(fl_span text)
{
    const unsigned char *bytes = (const unsigned char *)text.ptr;
    size_t at = 0, n;

    while (text.len - at >= BLOCK && (n = pass_block(bytes + at)) > 0)
        at += n;
    return at;
}

#else

static size_t pass_blocks(fl_span text)
{
    (void)text;
    return 0;
}

#endif

size_t fl_utf8_valid_prefix(fl_span text)
{
    const unsigned char *bytes = (const unsigned char *)text.ptr;
    size_t at = pass_blocks(text);

    while (at < text.len) {
        at += skip_ascii(bytes + at, text.len - at);
        if (at == text.len)
            break;
        size_t n = sequence(bytes + at, text.len - at);
        if (n == 0)
            return at;
        at += n;
    }
    return at;
}

bool fl_utf8_valid(fl_span text)
{
    return fl_utf8_valid_prefix(text) == text.len;
}

/* How many bytes a character has that begins like this, ASCII aside; 0: none
 * does. */
static size_t length_of(unsigned char first)
{
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* Whether a character may begin with these bytes, and wants more. */
static bool is_begun(const unsigned char *at, size_t len)
{
    if (len >= length_of(at[0]))
        return false;
    return (len < 2 || is_second(at[0], at[1])) && (len < 3 || is_tail(at[2]));
}

/* Takes from the front of `piece` what the character begun still wants. */
static bool go_on(fl_utf8_state *state, fl_span *piece)
{
    while (state->len > 0 && piece->len > 0) {
        state->begun[state->len++] = (unsigned char)piece->ptr[0];
        *piece = (fl_span){piece->ptr + 1, piece->len - 1};
        if (sequence(state->begun, state->len) == state->len)
            state->len = 0;
        else if (!is_begun(state->begun, state->len))
            return false;
    }
    return true;
}

bool fl_utf8_next(fl_utf8_state *state, fl_span piece)
{
    if (state->len > 0 && !go_on(state, &piece))
        return false;

    size_t valid = fl_utf8_valid_prefix(piece), rest = piece.len - valid;
    if (rest == 0)
        return true;
    const unsigned char *at = (const unsigned char *)piece.ptr + valid;
    if (!is_begun(at, rest))
        return false;
    memcpy(state->begun, at, rest);
    state->len = (uint8_t)rest;
    return true;
}

size_t fl_utf8_encode(uint32_t code_point, char out[4])
{
    if (code_point < 0x80) {
        out[0] = (char)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = (char)(0xc0 | code_point >> 6);
        out[1] = (char)(0x80 | (code_point & 0x3f));
        return 2;
    }
    if (code_point < 0x10000) {
        out[0] = (char)(0xe0 | code_point >> 12);
        out[1] = (char)(0x80 | (code_point >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code_point & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code_point >> 18);
    out[1] = (char)(0x80 | (code_point >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code_point >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code_point & 0x3f));
    return 4;
}
