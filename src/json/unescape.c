/*
 * unescape.c - what the inside of a JSON string means.
 *
 * Few strings have escapes, and an escape is always longer than what it
 * means. So lengths decide most comparisons: a string as long as the text has
 * no escape if it is equal, a shorter one cannot be equal, and a longer one
 * only if there is a backslash in it.
 */
#include "json/unescape.h"

#include "base/span.h"
#include "base/utf8.h"

enum { REPLACEMENT = 0xfffd };

static unsigned hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return (unsigned)(digit - '0');
    return (unsigned)((digit | 0x20) - 'a') + 10;
}

/* Four hex digits behind a \u; false if there is no room for them. */
static bool take_unit(fl_span *raw, uint32_t *unit)
{
    enum { ESCAPE = 6 };

    if (raw->len < ESCAPE || raw->ptr[0] != '\\' || raw->ptr[1] != 'u')
        return false;
    *unit = 0;
    for (size_t i = 2; i < ESCAPE; i++)
        *unit = *unit << 4 | (hex_value(raw->ptr[i]) & 0xf);
    *raw = fl_span_from(*raw, ESCAPE);
    return true;
}

/* One code point from one \u or a pair of them. */
static uint32_t take_code_point(fl_span *raw)
{
    uint32_t first, second;

    if (!take_unit(raw, &first)) {
        *raw = fl_span_from(*raw, raw->len); /* cut short: not valid text */
        return REPLACEMENT;
    }
    if (first < 0xd800 || first > 0xdfff)
        return first;
    fl_span pair = *raw;
    if (first > 0xdbff || !take_unit(&pair, &second) || second < 0xdc00 ||
        second > 0xdfff)
        return REPLACEMENT;
    *raw = pair;
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

/* Takes the escape at the front; writes what it means, returns how long. */
static size_t take_escape(fl_span *raw, char out[4])
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";

    if (raw->len < 2 || raw->ptr[1] == 'u')
        return fl_utf8_encode(take_code_point(raw), out);
    out[0] = raw->ptr[1]; /* a quote, a slash or a backslash is itself */
    for (size_t i = 0; i < sizeof from - 1; i++)
        if (raw->ptr[1] == from[i])
            out[0] = to[i];
    *raw = fl_span_from(*raw, 2);
    return 1;
}

/* Never inline: its registers would be saved for every key compared. */
__attribute__((noinline)) static bool means_slowly(fl_span raw, fl_span text)
{
    while (raw.len > 0) {
        char meaning[4];
        fl_span run = {raw.ptr, fl_span_find(raw, '\\')};
        if (!fl_span_starts(text, run))
            return false;
        text = fl_span_from(text, run.len);
        raw = fl_span_from(raw, run.len);
        if (raw.len == 0)
            break;
        fl_span part = {meaning, take_escape(&raw, meaning)};
        if (!fl_span_starts(text, part))
            return false;
        text = fl_span_from(text, part.len);
    }
    return text.len == 0;
}

bool fl_json_unescape_is(fl_span raw, fl_span text)
{
    if (raw.len < text.len)
        return false;
    if (raw.len == text.len)
        return fl_span_same_name(raw, text) &&
               fl_span_find(raw, '\\') == raw.len;
    return fl_span_find(raw, '\\') < raw.len && means_slowly(raw, text);
}

fl_status fl_json_unescape(fl_span raw, fl_buf *out)
{
    fl_status rc = FL_OK;

    while (rc == FL_OK && raw.len > 0) {
        char meaning[4];
        fl_span run = {raw.ptr, fl_span_find(raw, '\\')};
        rc = fl_buf_append(out, run);
        raw = fl_span_from(raw, run.len);
        if (rc == FL_OK && raw.len > 0) {
            fl_span part = {meaning, take_escape(&raw, meaning)};
            rc = fl_buf_append(out, part);
        }
    }
    return rc;
}
