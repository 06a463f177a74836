/*
 * hpack_huffman.c - strings packed with the code of RFC 7541 appendix B.
 *
 * The code is canonical: among codes of one length those of smaller symbols
 * come first, and a longer code is greater than a shorter one, both aligned to
 * the left. So all of it follows from how many codes there are of each length,
 * and from the symbols in their order; and the length of the code that some
 * bits begin with is found by comparing them with the first code of each
 * length. What occurs in headers has five to eight bits, and is found at once.
 */
#include "wire/hpack_impl.h"

#include <endian.h>
#include <string.h>

enum {
    WINDOW = 64, /* bits looked at */
    PADDING = 7, /* bits at most */
};

/* How long codes are, how many shorter ones there are, and the first of them,
 * at the left end of 32 bits. Behind the last of them there is only EOS, which
 * no string may have. */
static const struct {
    uint8_t bits;
    uint8_t before;
    uint32_t first;
} lengths[] = {
    {5, 0, 0x00000000},    {6, 10, 0x50000000},   {7, 36, 0xb8000000},
    {8, 68, 0xf8000000},   {10, 74, 0xfe000000},  {11, 79, 0xff400000},
    {12, 82, 0xffa00000},  {13, 84, 0xffc00000},  {14, 90, 0xfff00000},
    {15, 92, 0xfff80000},  {19, 95, 0xfffe0000},  {20, 98, 0xfffe6000},
    {21, 106, 0xfffee000}, {22, 119, 0xffff4800}, {23, 145, 0xffffb000},
    {24, 174, 0xffffea00}, {25, 186, 0xfffff600}, {26, 190, 0xfffff800},
    {27, 205, 0xfffffbc0}, {28, 224, 0xfffffe20}, {30, 253, 0xfffffff0},
};

static const uint32_t end_of_codes = 0xfffffffc;

static const uint8_t symbols[256] = {
    48,  49,  50,  97,  99,  101, 105, 111, 115, 116, 32,  37,  45,  46,  47,
    51,  52,  53,  54,  55,  56,  57,  61,  65,  95,  98,  100, 102, 103, 104,
    108, 109, 110, 112, 114, 117, 58,  66,  67,  68,  69,  70,  71,  72,  73,
    74,  75,  76,  77,  78,  79,  80,  81,  82,  83,  84,  85,  86,  87,  89,
    106, 107, 113, 118, 119, 120, 121, 122, 38,  42,  44,  59,  88,  90,  33,
    34,  40,  41,  63,  39,  43,  124, 35,  62,  0,   36,  64,  91,  93,  126,
    94,  125, 60,  96,  123, 92,  195, 208, 128, 130, 131, 162, 184, 194, 224,
    226, 153, 161, 167, 172, 176, 177, 179, 209, 216, 217, 227, 229, 230, 129,
    132, 133, 134, 136, 146, 154, 156, 160, 163, 164, 169, 170, 173, 178, 181,
    185, 186, 187, 189, 190, 196, 198, 228, 232, 233, 1,   135, 137, 138, 139,
    140, 141, 143, 147, 149, 150, 151, 152, 155, 157, 158, 165, 166, 168, 174,
    175, 180, 182, 183, 188, 191, 197, 231, 239, 9,   142, 144, 145, 148, 159,
    171, 206, 215, 225, 236, 237, 199, 207, 234, 235, 192, 193, 200, 201, 202,
    205, 210, 213, 218, 219, 238, 240, 242, 243, 255, 203, 204, 211, 212, 214,
    221, 222, 223, 241, 244, 245, 246, 247, 248, 250, 251, 252, 253, 254, 2,
    3,   4,   5,   6,   7,   8,   11,  12,  14,  15,  16,  17,  18,  19,  20,
    21,  23,  24,  25,  26,  27,  28,  29,  30,  31,  127, 220, 249, 10,  13,
    22,
};

/* Up to eight bytes at the left end, zeroes behind them. */
static uint64_t load(const char *at, size_t len)
{
    uint64_t bits = 0;

    if (len >= sizeof bits) {
        memcpy(&bits, at, sizeof bits);
        return be64toh(bits);
    }
    for (size_t i = 0; i < len; i++)
        bits |= (uint64_t)(unsigned char)at[i] << (WINDOW - 8 - 8 * i);
    return bits;
}

/* The row of the code that these bits begin with. */
static size_t row_of(uint32_t bits)
{
    size_t row = 0, last = sizeof lengths / sizeof *lengths - 1;

    while (row < last && bits >= lengths[row + 1].first)
        row++;
    return row;
}

/* Less than a byte of ones (RFC 7541 5.2). */
static bool is_padding(uint64_t bits, size_t count)
{
    return count <= PADDING && (count == 0 || ~bits >> (WINDOW - count) == 0);
}

bool fl_hpack_unpack(fl_span packed, char *to, size_t *len)
{
    size_t at = 0, total = packed.len * 8, n = 0;

    for (;;) {
        size_t byte = at / 8, left = total - at;
        uint64_t bits = load(packed.ptr + byte, packed.len - byte) << at % 8;
        uint32_t front = (uint32_t)(bits >> 32);
        size_t row = row_of(front);
        unsigned size = lengths[row].bits;
        if (size > left || front >= end_of_codes) {
            *len = n;
            return is_padding(bits, left);
        }
        size_t nth = (uint64_t)(front - lengths[row].first) >> (32 - size);
        if (to != NULL)
            to[n] = (char)symbols[lengths[row].before + nth];
        n++;
        at += size;
    }
}
