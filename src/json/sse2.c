/*
 * sse2.c - the kernel every x86-64 processor can run.
 *
 * Four registers of 16 bytes make a block. SSE2 has no table look-up, so sets
 * of bytes are compared one member at a time, and UTF-8 is left to the base
 * room's validator, block by block: a sequence that a block cuts in two is
 * held back and looked at again with the next one.
 */
#include "json/kernel.h"
#include "json/masks.h"
#include "json/token.h"

#include "base/utf8.h"

#ifdef __SSE2__
#include <emmintrin.h>

#define KERNEL static inline __attribute__((always_inline))

typedef struct vectors {
    __m128i part[4];
} vectors;

/* What every block is compared with; kept in registers, or at least in
 * memory, rather than made anew four instructions at a time. */
typedef struct constants {
    __m128i quote, slash, control, open, shut, colon, comma, bit, space, tab,
        line, feed;
} constants;

KERNEL __m128i fill(char byte)
{
    __m128i v = _mm_set1_epi8(byte);

    __asm__("" : "+x"(v));
    return v;
}

KERNEL constants constants_make(void)
{
    return (constants){
        .quote = fill('"'),
        .slash = fill('\\'),
        .control = fill(0x1f),
        .open = fill('{'),
        .shut = fill('}'),
        .colon = fill(':'),
        .comma = fill(','),
        .bit = fill(0x20), /* in which { and [, } and ] differ */
        .space = fill(' '),
        .tab = fill('\t'),
        .line = fill('\n'),
        .feed = fill('\r'),
    };
}

KERNEL vectors load(const char *at)
{
    const __m128i *from = (const __m128i *)(const void *)at;

    return (vectors){{_mm_loadu_si128(from), _mm_loadu_si128(from + 1),
                      _mm_loadu_si128(from + 2), _mm_loadu_si128(from + 3)}};
}

KERNEL uint64_t bits(vectors v)
{
    uint64_t a = (uint64_t)_mm_movemask_epi8(v.part[0]);
    uint64_t b = (uint64_t)_mm_movemask_epi8(v.part[1]);
    uint64_t c = (uint64_t)_mm_movemask_epi8(v.part[2]);
    uint64_t d = (uint64_t)_mm_movemask_epi8(v.part[3]);

    return a | b << 16 | c << 32 | d << 48;
}

KERNEL uint64_t parity(uint64_t mask)
{
    mask ^= mask << 1;
    mask ^= mask << 2;
    mask ^= mask << 4;
    mask ^= mask << 8;
    mask ^= mask << 16;
    return mask ^ mask << 32;
}

KERNEL vectors same(vectors v, __m128i sought)
{
    return (vectors){
        {_mm_cmpeq_epi8(v.part[0], sought), _mm_cmpeq_epi8(v.part[1], sought),
         _mm_cmpeq_epi8(v.part[2], sought), _mm_cmpeq_epi8(v.part[3], sought)}};
}

KERNEL uint64_t equal(vectors v, __m128i sought)
{
    return bits(same(v, sought));
}

KERNEL vectors join(vectors a, vectors b)
{
    return (vectors){{_mm_or_si128(a.part[0], b.part[0]),
                      _mm_or_si128(a.part[1], b.part[1]),
                      _mm_or_si128(a.part[2], b.part[2]),
                      _mm_or_si128(a.part[3], b.part[3])}};
}

/* Bytes at most as large as those of `limit`, unsigned. */
KERNEL vectors upto(vectors v, __m128i limit)
{
    return (vectors){
        {_mm_cmpeq_epi8(_mm_min_epu8(v.part[0], limit), v.part[0]),
         _mm_cmpeq_epi8(_mm_min_epu8(v.part[1], limit), v.part[1]),
         _mm_cmpeq_epi8(_mm_min_epu8(v.part[2], limit), v.part[2]),
         _mm_cmpeq_epi8(_mm_min_epu8(v.part[3], limit), v.part[3])}};
}

/* Bytes from `low` to `high`, both included. */
KERNEL vectors between(vectors v, char low, char high)
{
    __m128i from = _mm_set1_epi8(low);
    vectors moved = {
        {_mm_sub_epi8(v.part[0], from), _mm_sub_epi8(v.part[1], from),
         _mm_sub_epi8(v.part[2], from), _mm_sub_epi8(v.part[3], from)}};

    return upto(moved, _mm_set1_epi8((char)(high - low)));
}

KERNEL vectors either(vectors v, char a, char b)
{
    return join(same(v, _mm_set1_epi8(a)), same(v, _mm_set1_epi8(b)));
}

KERNEL string_masks strings_of(const constants *k, vectors v)
{
    return (string_masks){
        .quote = equal(v, k->quote),
        .slash = equal(v, k->slash),
        .control = bits(upto(v, k->control)),
    };
}

KERNEL token_masks tokens_of(const constants *k, vectors v)
{
    vectors joint = join(v, (vectors){{k->bit, k->bit, k->bit, k->bit}});
    vectors blank = join(same(v, k->space), same(v, k->tab));
    vectors ends = join(same(v, k->line), same(v, k->feed));

    return (token_masks){
        .open = equal(joint, k->open),
        .shut = equal(joint, k->shut),
        .colon = equal(v, k->colon),
        .comma = equal(v, k->comma),
        .space = bits(join(blank, ends)),
    };
}

KERNEL escape_masks escapes_of(vectors v)
{
    vectors good = join(either(v, '"', '\\'), either(v, '/', 'b'));
    vectors more = join(either(v, 'f', 'n'), either(v, 'r', 't'));
    vectors u = same(v, _mm_set1_epi8('u'));
    vectors letters = join(between(v, 'a', 'f'), between(v, 'A', 'F'));

    return (escape_masks){
        .good = bits(join(join(good, more), u)),
        .u = bits(u),
        .hex = bits(join(between(v, '0', '9'), letters)),
    };
}

/* Everything before `done` is valid, or ASCII and not even looked at. */
typedef struct utf8 {
    size_t done;
    bool active;
} utf8;

KERNEL bool is_ascii(const utf8 *u, vectors v)
{
    return !u->active && bits(v) == 0;
}

KERNEL bool utf8_take(utf8 *u, vectors v, fl_span text, size_t base)
{
    enum { LONGEST = 4 };
    size_t left = text.len - base, size = left < BLOCK ? left : BLOCK;

    (void)v;
    if (!u->active)
        u->done = base;
    fl_span part = {text.ptr + u->done, base + size - u->done};
    size_t valid = fl_utf8_valid_prefix(part);
    u->done += valid;
    u->active = valid < part.len;
    return !u->active || (left > BLOCK && part.len - valid < LONGEST);
}

KERNEL bool quiet(const constants *k, const utf8 *u, vectors v)
{
    vectors any = join(join(same(v, k->quote), same(v, k->slash)),
                       join(upto(v, k->control), v));
    __m128i all = _mm_or_si128(_mm_or_si128(any.part[0], any.part[1]),
                               _mm_or_si128(any.part[2], any.part[3]));

    return !u->active && _mm_movemask_epi8(all) == 0;
}

/* The order matters: each builds on the one before. */
#include "json/block_strings.h"

#include "json/block_check.h"

#include "json/block_mark.h"

static bool check(fl_span text, unsigned max_depth, fl_json_marks *marks)
{
    return check_blocks(text, max_depth, marks);
}

static size_t mark(fl_span text, size_t from, size_t want, size_t *at)
{
    return mark_blocks(text, from, want, at);
}

const fl_json_kernel fl_json_kernel_sse2 = {
    .name = "sse2", .check = check, .mark = mark};

#endif
