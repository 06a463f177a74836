/*
 * base64.c - RFC 4648 sections 4 and 5, strict.
 *
 * A decoder that forgives (white space, missing padding, bits left over) has
 * many spellings for the same bytes, which is how filters are walked around.
 * What is carried this way is short, so it goes three bytes at a time.
 */
#include "base/base64.h"

#include "base/span.h"

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* All or nothing: on failure `out` is as long as it was before. */
static fl_status settle(fl_buf *out, size_t before, fl_status rc)
{
    if (rc != FL_OK)
        fl_buf_truncate(out, before);
    return rc;
}

/* One to three bytes to four characters. */
static void encode_three(fl_span from, char to[4])
{
    uint32_t word = 0;

    for (size_t i = 0; i < 3; i++)
        word = word << 8 | (i < from.len ? (unsigned char)from.ptr[i] : 0);
    for (size_t i = 0; i < 4; i++)
        to[i] = i <= from.len ? alphabet[word >> (18 - 6 * i) & 63] : '=';
}

void fl_base64_put(fl_span bytes, char *out)
{
    while (bytes.len > 0) {
        size_t n = bytes.len < 3 ? bytes.len : 3;
        encode_three((fl_span){bytes.ptr, n}, out);
        out += 4;
        bytes = fl_span_from(bytes, n);
    }
}

fl_status fl_base64_encode(fl_span bytes, fl_buf *out)
{
    size_t before = fl_buf_len(out);
    fl_status rc = FL_OK;

    while (rc == FL_OK && bytes.len > 0) {
        char four[4];
        size_t n = bytes.len < 3 ? bytes.len : 3;
        encode_three((fl_span){bytes.ptr, n}, four);
        rc = fl_buf_append(out, (fl_span){four, sizeof four});
        bytes = fl_span_from(bytes, n);
    }
    return settle(out, before, rc);
}

/* The two characters that mean something else in a URL. */
static char to_url(char byte)
{
    return (char)(byte == '+' ? '-' : byte == '/' ? '_' : byte);
}

static char from_url(char byte)
{
    if (byte == '+' || byte == '/' || byte == '=')
        return '\0'; /* of the other alphabet */
    return (char)(byte == '-' ? '+' : byte == '_' ? '/' : byte);
}

fl_status fl_base64url_encode(fl_span bytes, fl_buf *out)
{
    size_t before = fl_buf_len(out);
    fl_status rc = FL_OK;

    while (rc == FL_OK && bytes.len > 0) {
        char four[4];
        size_t n = bytes.len < 3 ? bytes.len : 3;
        encode_three((fl_span){bytes.ptr, n}, four);
        for (size_t i = 0; i < sizeof four; i++)
            four[i] = to_url(four[i]); /* padding, too, which is left out */
        rc = fl_buf_append(out, (fl_span){four, n + 1});
        bytes = fl_span_from(bytes, n);
    }
    return settle(out, before, rc);
}

/* The six bits a character stands for, or -1. */
static int value_of(char byte)
{
    if (byte >= 'A' && byte <= 'Z')
        return byte - 'A';
    if (byte >= 'a' && byte <= 'z')
        return byte - 'a' + 26;
    if (byte >= '0' && byte <= '9')
        return byte - '0' + 52;
    return byte == '+' ? 62 : byte == '/' ? 63 : -1;
}

/* Four characters, the last `pad` of them padding. */
static bool decode_four(const char *from, size_t pad, char to[3])
{
    uint32_t word = 0;

    for (size_t i = 0; i < 4; i++) {
        int value = i < 4 - pad ? value_of(from[i]) : 0;
        if (value < 0)
            return false;
        word = word << 6 | (uint32_t)value;
    }
    for (size_t i = 0; i < 3; i++)
        to[i] = (char)(word >> (16 - 8 * i) & 0xff);
    return (word & ((1u << 8 * pad) - 1)) == 0; /* no bits left over */
}

static size_t count_padding(const char four[4])
{
    return four[3] != '=' ? 0 : four[2] != '=' ? 1 : 2;
}

fl_status fl_base64_decode(fl_span text, fl_buf *out)
{
    size_t before = fl_buf_len(out);
    fl_status rc = text.len % 4 == 0 ? FL_OK : FL_E_INVALID;

    while (rc == FL_OK && text.len > 0) {
        char three[3];
        size_t pad = text.len == 4 ? count_padding(text.ptr) : 0;
        if (!decode_four(text.ptr, pad, three))
            rc = FL_E_INVALID;
        else
            rc = fl_buf_append(out, (fl_span){three, 3 - pad});
        text = fl_span_from(text, 4);
    }
    return settle(out, before, rc);
}

fl_status fl_base64url_decode(fl_span text, fl_buf *out)
{
    size_t before = fl_buf_len(out);
    fl_status rc = text.len % 4 != 1 ? FL_OK : FL_E_INVALID;

    while (rc == FL_OK && text.len > 0) {
        char three[3], four[4] = "===";
        size_t n = text.len < 4 ? text.len : 4;
        for (size_t i = 0; i < n; i++)
            four[i] = from_url(text.ptr[i]);
        if (!decode_four(four, 4 - n, three))
            rc = FL_E_INVALID;
        else
            rc = fl_buf_append(out, (fl_span){three, n - 1});
        text = fl_span_from(text, n);
    }
    return settle(out, before, rc);
}
