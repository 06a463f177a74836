/*
 * avx2.c - the kernel for processors of the last decade.
 *
 * Two registers of 32 bytes make a block. AVX2 has a table look-up in sixteen
 * entries (shuffle), which does in one step what takes a comparison for each
 * byte sought: white space, the letters after a backslash, and UTF-8 after
 * J. Keiser and D. Lemire, "Validating UTF-8 In Less Than One Instruction Per
 * Byte" (2021), where three look-ups of nibbles name every way in which two
 * neighbouring bytes can be wrong.
 *
 * The file is compiled with the rest; only its functions ask for more than
 * the base instruction set, and nobody calls them unless the processor can
 * follow.
 */
#include "json/kernel.h"
#include "json/masks.h"
#include "json/token.h"

#ifdef __SSE2__
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2,pclmul,popcnt")))
#define KERNEL static inline __attribute__((always_inline)) TARGET

typedef struct vectors {
    __m256i low, high;
} vectors;

/*
 * What every block is compared with. Left to itself the compiler makes these
 * anew from integers at each use, three instructions a time; hiding where
 * they came from makes it load each once and keep it.
 */
typedef struct constants {
    __m256i quote, slash, control, open, shut, colon, comma, bit, spaces;
} constants;

KERNEL __m256i table(const char *entries)
{
    const __m128i *from = (const __m128i *)(const void *)entries;

    return _mm256_broadcastsi128_si256(_mm_loadu_si128(from));
}

KERNEL constants constants_make(void)
{
    const char *bytes = "\"\\\x1f{}:, ";

    __asm__("" : "+r"(bytes));
    return (constants){
        .quote = _mm256_set1_epi8(bytes[0]),
        .slash = _mm256_set1_epi8(bytes[1]),
        .control = _mm256_set1_epi8(bytes[2]),
        .open = _mm256_set1_epi8(bytes[3]),
        .shut = _mm256_set1_epi8(bytes[4]),
        .colon = _mm256_set1_epi8(bytes[5]),
        .comma = _mm256_set1_epi8(bytes[6]),
        .bit = _mm256_set1_epi8(bytes[7]), /* in which { and [ differ */
        .spaces = table(" \0\0\0\0\0\0\0\0\t\n\0\0\r\0"),
    };
}

KERNEL vectors load(const char *at)
{
    const __m256i *from = (const __m256i *)(const void *)at;

    return (vectors){_mm256_loadu_si256(from), _mm256_loadu_si256(from + 1)};
}

KERNEL uint64_t bits(__m256i low, __m256i high)
{
    uint32_t first = (uint32_t)_mm256_movemask_epi8(low);
    uint32_t second = (uint32_t)_mm256_movemask_epi8(high);

    return (uint64_t)second << 32 | first;
}

/* A multiplication without carries, by all ones. */
KERNEL uint64_t parity(uint64_t mask)
{
    __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)mask),
                                           _mm_set1_epi8((char)0xff), 0);

    return (uint64_t)_mm_cvtsi128_si64(product);
}

KERNEL uint64_t equal(vectors v, __m256i sought)
{
    return bits(_mm256_cmpeq_epi8(v.low, sought),
                _mm256_cmpeq_epi8(v.high, sought));
}

/* Bytes at most as large as those of `limit`, unsigned. */
KERNEL __m256i upto(__m256i v, __m256i limit)
{
    return _mm256_cmpeq_epi8(_mm256_min_epu8(v, limit), v);
}

KERNEL __m256i nibbles(__m256i v)
{
    return _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_set1_epi8(0xf));
}

KERNEL string_masks strings_of(const constants *k, vectors v)
{
    return (string_masks){
        .quote = equal(v, k->quote),
        .slash = equal(v, k->slash),
        .control = bits(upto(v.low, k->control), upto(v.high, k->control)),
    };
}

/* A shuffle by the byte itself finds the entry that equals it, if any. */
KERNEL __m256i find(__m256i v, __m256i entries)
{
    return _mm256_cmpeq_epi8(v, _mm256_shuffle_epi8(entries, v));
}

KERNEL token_masks tokens_of(const constants *k, vectors v)
{
    vectors joint = {_mm256_or_si256(v.low, k->bit),
                     _mm256_or_si256(v.high, k->bit)};

    return (token_masks){
        .open = equal(joint, k->open),
        .shut = equal(joint, k->shut),
        .colon = equal(v, k->colon),
        .comma = equal(v, k->comma),
        .space = bits(find(v.low, k->spaces), find(v.high, k->spaces)),
    };
}

/* In two tables by nibble, a byte is in the set if the entries share a bit. */
KERNEL __m256i in_set(__m256i v, __m256i low, __m256i high)
{
    __m256i a = _mm256_shuffle_epi8(
        low, _mm256_and_si256(v, _mm256_set1_epi8((char)0x8f)));
    __m256i b = _mm256_shuffle_epi8(high, nibbles(v));

    return _mm256_cmpgt_epi8(_mm256_and_si256(a, b), _mm256_setzero_si256());
}

KERNEL escape_masks escapes_of(vectors v)
{
    /* bit 0: " and /   bit 1: \   bit 2: b f n   bit 3: r t u */
    const __m256i low = table("\0\0\x0d\0\x08\x08\x04\0\0\0\0\0\x02\0\x04\x01");
    const __m256i high = table("\0\0\x01\0\0\x02\x04\x08\0\0\0\0\0\0\0\0");
    /* bit 0: 0 to 9   bit 1: A to F, a to f */
    const __m256i hex_low =
        table("\x01\x03\x03\x03\x03\x03\x03\x01\x01\x01\0\0\0\0\0\0");
    const __m256i hex_high = table("\0\0\0\x01\x02\0\x02\0\0\0\0\0\0\0\0\0");

    return (escape_masks){
        .good = bits(in_set(v.low, low, high), in_set(v.high, low, high)),
        .u = equal(v, _mm256_set1_epi8('u')),
        .hex = bits(in_set(v.low, hex_low, hex_high),
                    in_set(v.high, hex_low, hex_high)),
    };
}

/* How a byte and the one before it can be wrong together. */
enum {
    TOO_SHORT = 1 << 0,  /* a lead byte without a tail byte */
    TOO_LONG = 1 << 1,   /* a tail byte after ASCII */
    OVERLONG_3 = 1 << 2, /* E0 80 to E0 9F */
    TOO_LARGE = 1 << 3,  /* F4 90 to F4 BF, F5 to FF */
    SURROGATE = 1 << 4,  /* ED A0 to ED BF */
    OVERLONG_2 = 1 << 5, /* C0, C1 */
    EDGE_4 = 1 << 6,     /* F0 80 to F0 8F (overlong), F5 80 and so on */
    TWO_TAILS = 1 << 7,  /* right in the third and fourth place only */
    ANY_LOW = TOO_SHORT | TOO_LONG | TWO_TAILS,
    BIG_LOW = ANY_LOW | TOO_LARGE | EDGE_4,
    TAIL = TOO_LONG | OVERLONG_2 | TWO_TAILS,
};

#define X4(a) (char)(a), (char)(a), (char)(a), (char)(a)

KERNEL __m256i wrong_pairs(__m256i before, __m256i v)
{
    static const char lead[16] = {
        X4(TOO_LONG),
        X4(TOO_LONG),
        X4(TWO_TAILS),
        TOO_SHORT | OVERLONG_2,
        TOO_SHORT,
        TOO_SHORT | OVERLONG_3 | SURROGATE,
        TOO_SHORT | TOO_LARGE | EDGE_4,
    };
    static const char lead_low[16] = {
        (char)(ANY_LOW | OVERLONG_2 | OVERLONG_3 | EDGE_4),
        (char)(ANY_LOW | OVERLONG_2),
        (char)ANY_LOW,
        (char)ANY_LOW,
        (char)(ANY_LOW | TOO_LARGE),
        X4(BIG_LOW),
        X4(BIG_LOW),
        (char)(BIG_LOW | SURROGATE),
        (char)BIG_LOW,
        (char)BIG_LOW,
    };
    static const char second[16] = {
        X4(TOO_SHORT),
        X4(TOO_SHORT),
        (char)(TAIL | OVERLONG_3 | EDGE_4),
        (char)(TAIL | OVERLONG_3 | TOO_LARGE),
        (char)(TAIL | SURROGATE | TOO_LARGE),
        (char)(TAIL | SURROGATE | TOO_LARGE),
        X4(TOO_SHORT),
    };
    const __m256i nibble = _mm256_set1_epi8(0xf);
    __m256i a = _mm256_shuffle_epi8(table(lead), nibbles(before));
    __m256i b =
        _mm256_shuffle_epi8(table(lead_low), _mm256_and_si256(before, nibble));
    __m256i c = _mm256_shuffle_epi8(table(second), nibbles(v));

    return _mm256_and_si256(_mm256_and_si256(a, b), c);
}

/* Zero if the 32 bytes `v`, which come after `last`, go on rightly. */
KERNEL __m256i wrong_text(__m256i last, __m256i v)
{
    __m256i middle = _mm256_permute2x128_si256(last, v, 0x21);
    __m256i before1 = _mm256_alignr_epi8(v, middle, 15);
    __m256i before2 = _mm256_alignr_epi8(v, middle, 14);
    __m256i before3 = _mm256_alignr_epi8(v, middle, 13);
    __m256i third = _mm256_subs_epu8(before2, _mm256_set1_epi8(0x60));
    __m256i fourth = _mm256_subs_epu8(before3, _mm256_set1_epi8(0x70));
    __m256i tails = _mm256_and_si256(_mm256_or_si256(third, fourth),
                                     _mm256_set1_epi8((char)0x80));

    return _mm256_xor_si256(tails, wrong_pairs(before1, v));
}

/* The last bytes of the block before; zeroes as long as all is ASCII. */
typedef struct utf8 {
    __m256i last;
    bool active;
} utf8;

KERNEL bool is_ascii(const utf8 *u, vectors v)
{
    return !u->active &&
           _mm256_movemask_epi8(_mm256_or_si256(v.low, v.high)) == 0;
}

KERNEL bool utf8_take(utf8 *u, vectors v, fl_span text, size_t base)
{
    __m256i wrong =
        _mm256_or_si256(wrong_text(u->last, v.low), wrong_text(v.low, v.high));

    (void)text;
    (void)base;
    u->active = _mm256_movemask_epi8(_mm256_or_si256(v.low, v.high)) != 0;
    u->last = u->active ? v.high : _mm256_setzero_si256();
    return _mm256_testz_si256(wrong, wrong) != 0;
}

KERNEL __m256i special(const constants *k, __m256i v)
{
    __m256i quote = _mm256_cmpeq_epi8(v, k->quote);
    __m256i slash = _mm256_cmpeq_epi8(v, k->slash);

    /* v itself: the top bit of a byte that is not ASCII */
    return _mm256_or_si256(_mm256_or_si256(quote, slash),
                           _mm256_or_si256(upto(v, k->control), v));
}

KERNEL bool quiet(const constants *k, const utf8 *u, vectors v)
{
    __m256i any = _mm256_or_si256(special(k, v.low), special(k, v.high));

    return !u->active && _mm256_movemask_epi8(any) == 0;
}

/* The order matters: each builds on the one before. */
#include "json/block_strings.h"

#include "json/block_check.h"

#include "json/block_mark.h"

TARGET static bool check(fl_span text, unsigned max_depth, fl_json_marks *marks)
{
    return check_blocks(text, max_depth, marks);
}

TARGET static size_t mark(fl_span text, size_t from, size_t want, size_t *at)
{
    return mark_blocks(text, from, want, at);
}

const fl_json_kernel fl_json_kernel_avx2 = {
    .name = "avx2", .check = check, .mark = mark};

#endif
