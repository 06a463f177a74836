/*
 * test_hpack_huffman.c - strings packed with the code of RFC 7541 appendix B,
 * held against a decoder that goes bit by bit.
 *
 * The code is written down here as how long each symbol's is, which is another
 * way than the library's. Among codes of one length those of smaller symbols
 * come first, and the first of a length is what follows the last of the next
 * shorter one.
 */
#include "unit/hpack_wire.h"

enum { EOS = 256, CODES = 257, LONGEST = 30, PADDING = 7 };

static const unsigned char lengths[CODES] = {
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28,
    28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28, 6,  10, 10, 12, 13, 6,
    8,  11, 10, 10, 8,  11, 8,  6,  6,  6,  5,  5,  5,  6,  6,  6,  6,  6,  6,
    6,  7,  8,  15, 6,  12, 10, 13, 6,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,
    7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  8,  7,  8,  13, 19, 13, 14,
    6,  15, 5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,  6,  7,
    6,  5,  5,  6,  7,  7,  7,  7,  7,  15, 11, 14, 13, 28, 20, 22, 20, 20, 22,
    22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23,
    23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22,
    24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22,
    22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19,
    21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21,
    22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27,
    27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
};

static uint32_t codes[CODES];

static int make_codes(void **state)
{
    uint32_t next = 0;

    (void)state;
    for (unsigned bits = 1; bits <= LONGEST; bits++, next <<= 1)
        for (size_t symbol = 0; symbol < CODES; symbol++)
            if (lengths[symbol] == bits)
                codes[symbol] = next++;
    return next == 1U << (LONGEST + 1) ? 0 : -1; /* none is left over */
}

typedef struct bits {
    unsigned char room[1024];
    size_t count;
} bits;

static void put_bit(bits *b, bool one)
{
    unsigned char *at = &b->room[b->count / 8];
    unsigned mask = 0x80U >> b->count % 8;

    assert_in_range(b->count, 0, sizeof b->room * 8 - 1);
    *at = (unsigned char)(one ? *at | mask : *at & ~mask);
    b->count++;
}

static void put_symbol(bits *b, size_t symbol)
{
    for (unsigned i = lengths[symbol]; i > 0; i--)
        put_bit(b, codes[symbol] >> (i - 1) & 1);
}

static void pad(bits *b)
{
    while (b->count % 8 != 0)
        put_bit(b, true);
}

static size_t symbol_of(uint32_t code, unsigned len)
{
    for (size_t symbol = 0; symbol < CODES; symbol++)
        if (lengths[symbol] == len && codes[symbol] == code)
            return symbol;
    return CODES;
}

/* Bit by bit; false: it is no packed string. */
static bool unpack_slowly(const bits *b, char *to, size_t *len)
{
    uint32_t code = 0;
    unsigned taken = 0;

    *len = 0;
    for (size_t i = 0; i < b->count; i++) {
        code = code << 1 | (b->room[i / 8] >> (7 - i % 8) & 1);
        size_t symbol = ++taken > 4 ? symbol_of(code, taken) : CODES;
        if (symbol == EOS)
            return false;
        if (symbol == CODES)
            continue;
        to[(*len)++] = (char)symbol;
        code = 0;
        taken = 0;
    }
    return taken <= PADDING && code == (1U << taken) - 1;
}

/* From and to memory that is just large enough, as it was said to be. */
static bool unpack(const bits *b, char *to, size_t *len)
{
    char *copy = hpack_copy((fl_span){(const char *)b->room, b->count / 8});
    const fl_span in = {copy, b->count / 8};
    size_t wanted = 0;
    bool good = fl_hpack_unpack(in, NULL, &wanted);
    char *out = malloc(wanted > 0 ? wanted : 1);

    assert_int_equal(b->count % 8, 0);
    assert_non_null(out);
    assert_int_equal(fl_hpack_unpack(in, out, len), good);
    assert_int_equal(*len, wanted);
    memcpy(to, out, *len);
    free(out);
    ration_raw_free(copy);
    return good;
}

static void takes(const bits *b, fl_span want)
{
    char text[2048];
    size_t len;

    assert_true(unpack(b, text, &len));
    assert_true(fl_span_equal((fl_span){text, len}, want));
}

static void refuses(const bits *b)
{
    char text[2048];
    size_t len;

    assert_false(unpack(b, text, &len));
}

static void agrees(const bits *b)
{
    char text[2048], want[2048];
    size_t len, want_len;
    bool good = unpack_slowly(b, want, &want_len);

    assert_int_equal(unpack(b, text, &len), good);
    if (good)
        assert_true(
            fl_span_equal((fl_span){text, len}, (fl_span){want, want_len}));
}

static void test_hpack_unpacks_every_symbol_at_every_bit(void **state)
{
    (void)state;
    for (size_t symbol = 0; symbol < EOS; symbol++)
        for (size_t before = 0; before < 8; before++) {
            bits b = {.count = 0};
            char want[10] = "00000000";
            for (size_t i = 0; i < before; i++)
                put_symbol(&b, '0');
            put_symbol(&b, symbol);
            put_symbol(&b, 'z');
            pad(&b);
            want[before] = (char)symbol;
            want[before + 1] = 'z';
            takes(&b, (fl_span){want, before + 2});
        }
}

static void test_hpack_unpacks_every_pair_of_symbols(void **state)
{
    (void)state;
    for (size_t first = 0; first < EOS; first++)
        for (size_t second = 0; second < EOS; second++) {
            const char want[2] = {(char)first, (char)second};
            bits b = {.count = 0};
            put_symbol(&b, first);
            put_symbol(&b, second);
            pad(&b);
            takes(&b, (fl_span){want, 2});
        }
}

static void test_hpack_unpacks_nothing_to_nothing(void **state)
{
    bits b = {.count = 0};

    (void)state;
    takes(&b, (fl_span){"", 0});
}

/* Eight symbols of five bits leave every number of bits to pad. */
static void test_hpack_takes_up_to_seven_ones_behind_a_string(void **state)
{
    (void)state;
    for (size_t count = 0; count <= 8; count++) {
        bits b = {.count = 0};
        for (size_t i = 0; i < count; i++)
            put_symbol(&b, 'a');
        pad(&b);
        takes(&b, (fl_span){"aaaaaaaa", count});
        for (int i = 0; i < 8; i++) /* a byte too many */
            put_bit(&b, true);
        refuses(&b);
    }
}

static void test_hpack_refuses_zeroes_behind_a_string(void **state)
{
    (void)state;
    for (size_t count = 1; count < 8; count++)
        for (size_t ones = 0; ones < 8; ones++) {
            bits b = {.count = 0};
            for (size_t i = 0; i < count; i++)
                put_symbol(&b, 'a');
            size_t left = (8 - b.count % 8) % 8;
            for (size_t i = 0; i < left; i++)
                put_bit(&b, i < ones);
            if (ones < left && left < 5) /* too few for a symbol */
                refuses(&b);
            agrees(&b);
        }
}

static void test_hpack_refuses_the_end_of_a_string(void **state)
{
    (void)state;
    for (size_t before = 0; before < 8; before++)
        for (size_t behind = 0; behind < 4; behind++) {
            bits b = {.count = 0};
            for (size_t i = 0; i < before; i++)
                put_symbol(&b, '1');
            put_symbol(&b, EOS);
            for (size_t i = 0; i < behind; i++)
                put_symbol(&b, '1');
            pad(&b);
            refuses(&b);
        }
}

static void test_hpack_judges_short_strings_as_one_does_slowly(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 0x100; i++)
        agrees(&(bits){.room = {(unsigned char)i}, .count = 8});
    for (unsigned i = 0; i < 0x10000; i++)
        agrees(
            &(bits){.room = {(unsigned char)(i >> 8), (unsigned char)(i & 255)},
                    .count = 16});
}

/* Random bytes are mostly short codes, so ones are strewn in. */
static void test_hpack_judges_long_strings_as_one_does_slowly(void **state)
{
    uint64_t seed = 7541;

    (void)state;
    for (int run = 0; run < 3000; run++) {
        bits b = {.count = 0};
        size_t parts = hpack_draw(&seed) % 12;
        while (parts-- > 0 && b.count < 1000)
            if (hpack_draw(&seed) % 4 > 0)
                put_symbol(&b, hpack_draw(&seed) % EOS);
            else
                for (unsigned n = hpack_draw(&seed) % 32; n > 0; n--)
                    put_bit(&b, hpack_draw(&seed) % 8 > 0);
        while (b.count % 8 != 0)
            put_bit(&b, hpack_draw(&seed) % 16 > 0);
        agrees(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hpack_unpacks_every_symbol_at_every_bit),
        cmocka_unit_test(test_hpack_unpacks_every_pair_of_symbols),
        cmocka_unit_test(test_hpack_unpacks_nothing_to_nothing),
        cmocka_unit_test(test_hpack_takes_up_to_seven_ones_behind_a_string),
        cmocka_unit_test(test_hpack_refuses_zeroes_behind_a_string),
        cmocka_unit_test(test_hpack_refuses_the_end_of_a_string),
        cmocka_unit_test(test_hpack_judges_short_strings_as_one_does_slowly),
        cmocka_unit_test(test_hpack_judges_long_strings_as_one_does_slowly),
    };

    return cmocka_run_group_tests(tests, make_codes, NULL);
}
