/*
 * yaml_scalar.c - what a YAML scalar is in JSON.
 *
 * Numbers are passed on as they are written, digit for digit, so that none
 * loses any; only what JSON would not take is mended: a plus sign, zeros in
 * front, a point with nothing on one side of it.
 */
#include "json/yaml_scalar.h"

#include "base/span.h"

#include <string.h>

enum { NUMBER_MAX = 1024 }; /* longer ones are text */

typedef enum kind {
    TEXT,
    NOTHING,
    TRUE,
    FALSE,
    WHOLE,
    BASED,
    REAL,
    NO_REAL
} kind;

static bool is_any(fl_span text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (fl_span_equal(text, fl_span_of(*words)))
            return true;
    return false;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* The value of a digit, or 99. */
static unsigned digit_of(char byte)
{
    if (is_digit(byte))
        return (unsigned)(byte - '0');
    if (byte >= 'a' && byte <= 'f')
        return (unsigned)(byte - 'a') + 10;
    return byte >= 'A' && byte <= 'F' ? (unsigned)(byte - 'A') + 10 : 99;
}

/* A number as it is written, cut up. */
typedef struct digits {
    bool negative;
    fl_span whole;    /* before the point */
    fl_span fraction; /* after it */
    fl_span exponent; /* with its sign, without its letter */
    bool is_real;     /* has a point or an exponent */
} digits;

static fl_span take_digits(fl_span *text)
{
    size_t n = 0;

    while (n < text->len && is_digit(text->ptr[n]))
        n++;
    fl_span taken = {text->ptr, n};
    *text = fl_span_from(*text, n);
    return taken;
}

static bool take(fl_span *text, char a, char b)
{
    if (text->len == 0 || (text->ptr[0] != a && text->ptr[0] != b))
        return false;
    *text = fl_span_from(*text, 1);
    return true;
}

static bool take_exponent(fl_span *text, digits *out)
{
    const char *begin = text->ptr;

    (void)take(text, '+', '-');
    fl_span power = take_digits(text);
    out->exponent = (fl_span){begin, (size_t)(text->ptr - begin)};
    return power.len > 0;
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static bool cut(fl_span text, digits *out)
{
    *out = (digits){.negative = text.len > 0 && text.ptr[0] == '-'};
    (void)take(&text, '-', '+');
    out->whole = take_digits(&text);
    if (take(&text, '.', '.')) {
        out->is_real = true;
        out->fraction = take_digits(&text);
    }
    if (out->whole.len + out->fraction.len == 0)
        return false;
    if (take(&text, 'e', 'E')) {
        out->is_real = true;
        if (!take_exponent(&text, out))
            return false;
    }
    return text.len == 0;
}

/* 0o17 and 0x1F; no sign. Those that fit 64 bits are numbers. */
static bool read_based(fl_span text, uint64_t *value)
{
    unsigned base = 0;

    *value = 0;
    if (fl_span_starts(text, FL_SPAN("0o")))
        base = 8;
    else if (fl_span_starts(text, FL_SPAN("0x")))
        base = 16;
    if (base == 0 || text.len == 2)
        return false;
    for (size_t i = 2; i < text.len; i++) {
        unsigned digit = digit_of(text.ptr[i]);
        if (digit >= base || *value > ((uint64_t)INT64_MAX - digit) / base)
            return false;
        *value = *value * base + digit;
    }
    return true;
}

static kind kind_of(fl_span text)
{
    static const char *const nothing[] = {"",     "~",    "null",
                                          "Null", "NULL", NULL};
    static const char *const yes[] = {"true", "True", "TRUE", NULL};
    static const char *const no[] = {"false", "False", "FALSE", NULL};
    static const char *const none[] = {
        ".inf",  ".Inf",  ".INF", "+.inf", "+.Inf", "+.INF", "-.inf",
        "-.Inf", "-.INF", ".nan", ".NaN",  ".NAN",  NULL};
    uint64_t value;
    digits parts;

    if (is_any(text, nothing))
        return NOTHING;
    if (is_any(text, yes))
        return TRUE;
    if (is_any(text, no))
        return FALSE;
    if (is_any(text, none))
        return NO_REAL;
    if (read_based(text, &value))
        return BASED;
    if (text.len > NUMBER_MAX || !cut(text, &parts))
        return TEXT;
    return parts.is_real ? REAL : WHOLE;
}

static fl_span without_zeros(fl_span whole)
{
    while (whole.len > 1 && whole.ptr[0] == '0')
        whole = fl_span_from(whole, 1);
    return whole.len > 0 ? whole : FL_SPAN("0");
}

static void put(char *out, size_t *len, fl_span part)
{
    if (part.len > 0)
        memcpy(out + *len, part.ptr, part.len);
    *len += part.len;
}

static void write_decimal(fl_json_writer *writer, fl_span text)
{
    char out[NUMBER_MAX + 8];
    size_t len = 0;
    digits parts;

    (void)cut(text, &parts);
    put(out, &len, parts.negative ? FL_SPAN("-") : FL_SPAN(""));
    put(out, &len, without_zeros(parts.whole));
    if (parts.fraction.len > 0) {
        put(out, &len, FL_SPAN("."));
        put(out, &len, parts.fraction);
    }
    if (parts.exponent.len > 0) {
        put(out, &len, FL_SPAN("e"));
        put(out, &len, parts.exponent);
    }
    fl_json_raw(writer, (fl_span){out, len});
}

static void write_kind(fl_json_writer *writer, fl_span text, kind what)
{
    uint64_t value;

    switch (what) {
    case TEXT:
        fl_json_text(writer, text);
        break;
    case NOTHING:
    case NO_REAL:
        fl_json_null(writer);
        break;
    case TRUE:
    case FALSE:
        fl_json_bool(writer, what == TRUE);
        break;
    case BASED:
        (void)read_based(text, &value);
        fl_json_integer(writer, (int64_t)value);
        break;
    case WHOLE:
    case REAL:
        write_decimal(writer, text);
        break;
    }
}

/* Whether what it looks like is what its tag says. */
static bool fits(const char *tag, kind what)
{
    if (strcmp(tag, "null") == 0)
        return what == NOTHING;
    if (strcmp(tag, "bool") == 0)
        return what == TRUE || what == FALSE;
    if (strcmp(tag, "int") == 0)
        return what == WHOLE || what == BASED;
    return strcmp(tag, "float") == 0 &&
           (what == WHOLE || what == REAL || what == NO_REAL);
}

bool fl_yaml_scalar_write(fl_json_writer *writer, fl_span text, const char *tag,
                          bool plain)
{
    bool untagged = tag[0] == '\0';
    kind what = kind_of(text);

    if (strcmp(tag, "str") == 0 || (untagged && !plain))
        what = TEXT;
    else if (!untagged && !fits(tag, what))
        return false;
    write_kind(writer, text, what);
    return true;
}
