/*
 * write.c - writing JSON into a buffer.
 *
 * Two words of bits are the writer's whole memory: which open containers are
 * objects, and which have something in them already. Every value asks may()
 * first, which puts the comma and refuses what would not be JSON; every byte
 * goes through put(), which remembers the first failure.
 */
#include "json/write.h"

#include "base/base64.h"
#include "base/span.h"
#include "json/decimal.h"
#include "json/token.h"

#include <math.h>
#include <string.h>

void fl_json_writer_init(fl_json_writer *writer, fl_buf *out)
{
    *writer = (fl_json_writer){.out = out};
}

static void put(fl_json_writer *w, fl_span bytes)
{
    if (w->status == FL_OK)
        w->status = fl_buf_append(w->out, bytes);
}

void fl_json_fail(fl_json_writer *writer, fl_status status)
{
    if (writer->status == FL_OK)
        writer->status = status;
}

static uint64_t level(const fl_json_writer *w)
{
    return (uint64_t)1 << (w->depth - 1);
}

static bool in_object(const fl_json_writer *w)
{
    return w->depth > 0 && (w->objects & level(w)) != 0;
}

static void put_comma(fl_json_writer *w)
{
    if ((w->has_member & level(w)) != 0)
        put(w, FL_SPAN(","));
    w->has_member |= level(w);
}

/* May a value come here? If so, what goes in front of it is written. */
static bool may(fl_json_writer *w)
{
    if (w->depth == 0 ? w->done : in_object(w) && !w->after_key)
        fl_json_fail(w, FL_E_STATE);
    else if (w->depth == 0)
        w->done = true;
    else if (!w->after_key)
        put_comma(w);
    w->after_key = false;
    return w->status == FL_OK;
}

static void open(fl_json_writer *w, fl_span bracket, bool object)
{
    if (!may(w))
        return;
    if (w->depth == FL_JSON_WRITE_DEPTH) {
        fl_json_fail(w, FL_E_TOO_DEEP);
        return;
    }
    w->depth++;
    w->has_member &= ~level(w);
    w->objects = object ? w->objects | level(w) : w->objects & ~level(w);
    put(w, bracket);
}

static void shut(fl_json_writer *w, fl_span bracket, bool object)
{
    if (w->status != FL_OK)
        return;
    if (w->depth == 0 || in_object(w) != object || w->after_key) {
        fl_json_fail(w, FL_E_STATE);
        return;
    }
    w->depth--;
    put(w, bracket);
}

void fl_json_object(fl_json_writer *writer)
{
    open(writer, FL_SPAN("{"), true);
}

void fl_json_object_end(fl_json_writer *writer)
{
    shut(writer, FL_SPAN("}"), true);
}

void fl_json_array(fl_json_writer *writer)
{
    open(writer, FL_SPAN("["), false);
}

void fl_json_array_end(fl_json_writer *writer)
{
    shut(writer, FL_SPAN("]"), false);
}

void fl_json_end(fl_json_writer *writer)
{
    if (in_object(writer))
        fl_json_object_end(writer);
    else
        fl_json_array_end(writer);
}

/* The ASCII bytes that cannot stand for themselves. */
static void put_escape(fl_json_writer *w, char byte)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    static const char hex[] = "0123456789abcdef";
    char text[6] = {'\\', 'u', '0', '0'};

    for (size_t i = 0; i < sizeof plain - 1; i++) {
        if (byte == plain[i]) {
            text[1] = letters[i];
            put(w, (fl_span){text, 2});
            return;
        }
    }
    text[4] = hex[byte >> 4];
    text[5] = hex[byte & 0xf];
    put(w, (fl_span){text, sizeof text});
}

/* The longest front of [at, end) that needs no escape and is UTF-8. */
static const char *clean_run(const char *at, const char *end)
{
    for (;;) {
        at = fl_json_plain_run(at, end);
        const char *next = at;
        if (at == end || (unsigned char)*at < 0x80 ||
            !fl_json_take_sequence(&next, end))
            return at;
        at = next;
    }
}

bool fl_json_is_plain(fl_span text)
{
    return text.len == 0 ||
           clean_run(text.ptr, text.ptr + text.len) == text.ptr + text.len;
}

static void put_string(fl_json_writer *w, fl_span text)
{
    const char *at = text.ptr, *end = text.len > 0 ? at + text.len : at;

    put(w, FL_SPAN("\""));
    while (w->status == FL_OK && at < end) {
        const char *stop = clean_run(at, end);
        put(w, (fl_span){at, (size_t)(stop - at)});
        at = stop;
        if (at == end)
            break;
        if ((unsigned char)*at < 0x80) {
            put_escape(w, *at++);
        } else {
            const char *bad = at;
            (void)fl_json_take_sequence(&at, end);
            at = at > bad ? at : bad + 1;
            put(w, FL_SPAN("\xef\xbf\xbd"));
        }
    }
    put(w, FL_SPAN("\""));
}

static bool may_name(fl_json_writer *writer)
{
    if (!in_object(writer) || writer->after_key) {
        fl_json_fail(writer, FL_E_STATE);
        return false;
    }
    put_comma(writer);
    writer->after_key = true;
    return true;
}

void fl_json_key(fl_json_writer *writer, const char *key)
{
    if (!may_name(writer))
        return;
    put_string(writer, fl_span_of(key));
    put(writer, FL_SPAN(":"));
}

void fl_json_raw_key(fl_json_writer *writer, fl_span key)
{
    if (!may_name(writer))
        return;
    put(writer, FL_SPAN("\""));
    put(writer, key);
    put(writer, FL_SPAN("\":"));
}

void fl_json_text(fl_json_writer *writer, fl_span text)
{
    if (may(writer))
        put_string(writer, text);
}

void fl_json_string(fl_json_writer *writer, const char *text)
{
    fl_json_text(writer, fl_span_of(text));
}

/* `size` zeroes, few of them. */
static void put_zeroes(fl_json_writer *w, int64_t size)
{
    for (; size > 0; size--)
        put(w, FL_SPAN("0"));
}

/* d.ddde-9 */
static void put_scientific(fl_json_writer *w, const fl_decimal *d,
                           int64_t point)
{
    put(w, (fl_span){d->digits, 1});
    if (d->len > 1) {
        put(w, FL_SPAN("."));
        put(w, (fl_span){d->digits + 1, d->len - 1});
    }
    if (w->status == FL_OK)
        w->status = fl_buf_printf(w->out, "e%+d", (int)point - 1);
}

/* As JavaScript does (ECMA-262, Number::toString): digits and a point while
 * that is short, a power of ten when it is not. `point` is where it goes. */
static void put_decimal(fl_json_writer *w, const fl_decimal *d)
{
    int64_t len = (int64_t)d->len, point = len + d->exponent;

    if (d->negative)
        put(w, FL_SPAN("-"));
    if (len == 0) {
        put(w, FL_SPAN("0"));
    } else if (point > 21 || point < -5) {
        put_scientific(w, d, point);
    } else if (point <= 0) {
        put(w, FL_SPAN("0."));
        put_zeroes(w, -point);
        put(w, (fl_span){d->digits, d->len});
    } else if (point >= len) {
        put(w, (fl_span){d->digits, d->len});
        put_zeroes(w, point - len);
    } else {
        put(w, (fl_span){d->digits, (size_t)point});
        put(w, FL_SPAN("."));
        put(w, (fl_span){d->digits + point, (size_t)(len - point)});
    }
}

void fl_json_number(fl_json_writer *writer, double number)
{
    fl_decimal decimal;

    if (!isfinite(number)) { /* JSON has no word for it; JavaScript's choice */
        fl_json_null(writer);
        return;
    }
    if (!may(writer))
        return;
    fl_decimal_shortest(&decimal, number);
    put_decimal(writer, &decimal);
}

void fl_json_integer(fl_json_writer *writer, int64_t number)
{
    char text[20], *at = text + sizeof text;
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;

    if (!may(writer))
        return;
    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0)
        *--at = '-';
    put(writer, (fl_span){at, (size_t)(text + sizeof text - at)});
}

void fl_json_bool(fl_json_writer *writer, bool value)
{
    fl_json_raw(writer, value ? FL_SPAN("true") : FL_SPAN("false"));
}

void fl_json_null(fl_json_writer *writer)
{
    fl_json_raw(writer, FL_SPAN("null"));
}

/* Coded where it is to lie, not copied there. */
void fl_json_base64(fl_json_writer *writer, fl_span bytes)
{
    if (!may(writer))
        return;
    put(writer, FL_SPAN("\""));
    fl_status rc = fl_base64_encode(bytes, writer->out);
    if (rc != FL_OK)
        fl_json_fail(writer, rc);
    put(writer, FL_SPAN("\""));
}

void fl_json_raw(fl_json_writer *writer, fl_span json)
{
    if (json.len == 0)
        fl_json_fail(writer, FL_E_INVALID);
    else if (may(writer))
        put(writer, json);
}

fl_status fl_json_writer_end(fl_json_writer *writer)
{
    if (writer->depth > 0 || !writer->done)
        fl_json_fail(writer, FL_E_STATE);
    return writer->status;
}
