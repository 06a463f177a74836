/*
 * utf8.c - is this text?
 *
 * Eight ASCII bytes are passed in one comparison; everything else goes through
 * the well-formed ranges of the Unicode Standard, table 3-7. The second byte
 * alone tells overlong forms, surrogates and code points past U+10FFFF apart,
 * so its range depends on the first byte; the bytes after it do not.
 */
#include "base/utf8.h"

#include <string.h>

static bool is_tail(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
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

    unsigned char low = 0x80, high = 0xbf;
    if (first == 0xe0)
        low = 0xa0; /* below: overlong */
    else if (first == 0xed)
        high = 0x9f; /* above: surrogates */
    else if (first == 0xf0)
        low = 0x90; /* below: overlong */
    else if (first == 0xf4)
        high = 0x8f; /* above: past U+10FFFF */
    if (at[1] < low || at[1] > high)
        return 0;
    if (first < 0xf0)
        return len >= 3 && is_tail(at[2]) ? 3 : 0;
    return len >= 4 && is_tail(at[2]) && is_tail(at[3]) ? 4 : 0;
}

size_t fl_utf8_valid_prefix(fl_span text)
{
    const unsigned char *bytes = (const unsigned char *)text.ptr;
    size_t at = 0;

    while (at < text.len) {
        uint64_t word;
        if (text.len - at >= sizeof word) {
            memcpy(&word, bytes + at, sizeof word);
            if ((word & 0x8080808080808080u) == 0) {
                at += sizeof word;
                continue;
            }
        }
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
