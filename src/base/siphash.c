/*
 * siphash.c - SipHash-1-3, after Aumasson and Bernstein, "SipHash: a fast
 * short-input PRF" (2012).
 */
#include "base/siphash.h"

typedef struct sip_state {
    uint64_t a, b, c, d; /* v0 to v3 of the paper */
} sip_state;

static uint64_t rotate(uint64_t word, unsigned by)
{
    return word << by | word >> (64 - by);
}

static void mix(sip_state *s)
{
    s->a += s->b;
    s->b = rotate(s->b, 13) ^ s->a;
    s->a = rotate(s->a, 32);
    s->c += s->d;
    s->d = rotate(s->d, 16) ^ s->c;
    s->a += s->d;
    s->d = rotate(s->d, 21) ^ s->a;
    s->c += s->b;
    s->b = rotate(s->b, 17) ^ s->c;
    s->c = rotate(s->c, 32);
}

/* Byte by byte in little-endian order: the compiler makes one load of it. */
static uint64_t read_word(const char *at, size_t len)
{
    uint64_t word = 0;

    for (size_t i = 0; i < len; i++)
        word |= (uint64_t)(unsigned char)at[i] << 8 * i;
    return word;
}

static void absorb(sip_state *s, uint64_t word)
{
    s->d ^= word;
    mix(s);
    s->a ^= word;
}

uint64_t fl_siphash(const uint64_t seed[2], fl_span bytes)
{
    sip_state s = {
        .a = seed[0] ^ 0x736f6d6570736575u,
        .b = seed[1] ^ 0x646f72616e646f6du,
        .c = seed[0] ^ 0x6c7967656e657261u,
        .d = seed[1] ^ 0x7465646279746573u,
    };
    size_t at = 0;

    for (; bytes.len - at >= 8; at += 8)
        absorb(&s, read_word(bytes.ptr + at, 8));

    /* the last word carries the length, so that zeroes at the end count */
    uint64_t last = (uint64_t)bytes.len << 56;
    if (bytes.len > at)
        last |= read_word(bytes.ptr + at, bytes.len - at);
    absorb(&s, last);

    s.c ^= 0xff;
    mix(&s);
    mix(&s);
    mix(&s);
    return s.a ^ s.b ^ s.c ^ s.d;
}
