/*
 * ws_frame.c - the parts of a frame: its head, its mask, the body of a close.
 *
 * Masking is where a WebSocket's processor time goes, so it runs 32 bytes at
 * a time. What does not fill the last sixteen is not done byte by
 * byte, but as sixteen that overlap those before: they are read before the
 * loop and written after it, so that it works in place, too. Fewer than
 * sixteen are two words that overlap.
 */
#include "wire/ws.h"

#include "base/span.h"
#include "wire/ws_rules.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static size_t put_number(char *out, uint64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++)
        out[i] = (char)(number >> (8 * (size - 1 - i)) & 0xff);
    return size;
}

size_t fl_ws_head(char out[FL_WS_HEAD_MAX], fl_ws_kind kind, bool packed,
                  uint64_t len, const unsigned char *key)
{
    unsigned masked = key != NULL ? FL_WS_BIT_MASKED : 0;
    size_t n = 2;

    out[0] = (char)(FL_WS_BIT_FIN | (packed ? FL_WS_BIT_RSV1 : 0) | kind);
    if (len < FL_WS_LENGTH_16) {
        out[1] = (char)(masked | len);
    } else if (len <= UINT16_MAX) {
        out[1] = (char)(masked | FL_WS_LENGTH_16);
        n += put_number(out + n, len, sizeof(uint16_t));
    } else {
        out[1] = (char)(masked | FL_WS_LENGTH_64);
        n += put_number(out + n, len, sizeof(uint64_t));
    }
    if (key != NULL) {
        memcpy(out + n, key, 4);
        n += 4;
    }
    return n;
}

/* The key as it stands in memory from `phase` on. */
static uint32_t turn_key(const unsigned char key[4], size_t phase)
{
    unsigned bits = 8 * (phase & 3);
    uint32_t word;

    memcpy(&word, key, sizeof word);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return word >> bits | word << (-bits & 31);
#else
    return word << bits | word >> (-bits & 31);
#endif
}

static void mask4(char *dst, uint32_t word, uint32_t key)
{
    word ^= key;
    memcpy(dst, &word, sizeof word);
}

static void mask8(char *dst, uint64_t word, uint32_t key)
{
    word ^= (uint64_t)key << 32 | key;
    memcpy(dst, &word, sizeof word);
}

/* The second word lies at len - 8 or len - 4, which turns the key as len does.
 */
static void mask_short(char *dst, const char *src, size_t len,
                       const unsigned char key[4], size_t phase)
{
    if (len >= 8) {
        uint64_t first, second;
        memcpy(&first, src, 8);
        memcpy(&second, src + len - 8, 8);
        mask8(dst, first, turn_key(key, phase));
        mask8(dst + len - 8, second, turn_key(key, phase + len));
    } else if (len >= 4) {
        uint32_t first, second;
        memcpy(&first, src, 4);
        memcpy(&second, src + len - 4, 4);
        mask4(dst, first, turn_key(key, phase));
        mask4(dst + len - 4, second, turn_key(key, phase + len));
    } else {
        for (size_t i = 0; i < len; i++)
            dst[i] = (char)((unsigned char)src[i] ^ key[(phase + i) & 3]);
    }
}

#ifdef __SSE2__

static __m128i load(const char *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

static void store(char *at, __m128i bytes)
{
    _mm_storeu_si128((__m128i *)(void *)at, bytes);
}

static __m128i spread(uint32_t key)
{
    return _mm_set1_epi32((int)key);
}

void fl_ws_mask(char *dst, const char *src, size_t len,
                const unsigned char key[4], size_t phase)
{
    if (len < 16) {
        mask_short(dst, src, len, key, phase);
        return;
    }

    const __m128i mask = spread(turn_key(key, phase));
    const __m128i last =
        _mm_xor_si128(load(src + len - 16), spread(turn_key(key, phase + len)));
    size_t at = 0;
    for (; len - at >= 32; at += 32) {
        __m128i a = _mm_xor_si128(load(src + at), mask);
        __m128i b = _mm_xor_si128(load(src + at + 16), mask);
        store(dst + at, a);
        store(dst + at + 16, b);
    }
    if (len - at >= 16)
        store(dst + at, _mm_xor_si128(load(src + at), mask));
    store(dst + len - 16, last);
}

#else

void fl_ws_mask(char *dst, const char *src, size_t len,
                const unsigned char key[4], size_t phase)
{
    uint32_t mask = turn_key(key, phase);
    size_t at = 0;

    for (; len - at >= 16; at += 8) {
        uint64_t word;
        memcpy(&word, src + at, sizeof word);
        mask8(dst + at, word, mask);
    }
    mask_short(dst + at, src + at, len - at, key, phase);
}

#endif

/* The registry has since named 1012 to 1014; 1004 is reserved, 1005, 1006 and
 * 1015 are for reports only. */
bool fl_ws_code_ok(unsigned code)
{
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
           (code >= 3000 && code <= 4999);
}

/* Of a valid character: C0, DEL and C1. */
static bool is_control(const char *at)
{
    unsigned char first = (unsigned char)at[0];

    return first < 0x20 || first == 0x7f ||
           (first == 0xc2 && (unsigned char)at[1] < 0xa0);
}

/* Length of the character at the front, or 0 when it is none. */
static size_t character(fl_span text)
{
    for (size_t n = 1; n <= 4 && n <= text.len; n++)
        if (fl_utf8_valid((fl_span){text.ptr, n}))
            return n;
    return 0;
}

size_t fl_ws_close_body(char out[FL_WS_CONTROL_MAX], unsigned code,
                        fl_span reason)
{
    if (code == FL_WS_NO_CODE)
        return 0;

    size_t n = put_number(out, code, 2);
    while (reason.len > 0) {
        size_t size = character(reason);
        bool bad = size == 0 || is_control(reason.ptr);
        size_t room = bad ? 1 : size;
        if (n + room > FL_WS_CONTROL_MAX)
            break;
        if (bad)
            out[n] = '?';
        else
            memcpy(out + n, reason.ptr, size);
        n += room;
        reason = fl_span_from(reason, size > 0 ? size : 1);
    }
    return n;
}
