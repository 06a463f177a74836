/*
 * ecma.c - from ECMA-262's regular expressions to PCRE2's.
 *
 * The two agree on most. Where they do not, the text is rewritten: \s is more
 * than ASCII, a dot is less than everything but a newline, \u and \c are
 * spelled otherwise, properties have long names. And what PCRE2 understands
 * but ECMA-262 does not is refused rather than understood: verbs, inline
 * options, comments, possessive quantifiers, \A and \Z, POSIX classes.
 *
 * Braces, brackets and hyphens that mean nothing are taken as themselves, as
 * browsers do without the u flag: too many patterns are written that way.
 */
#include "base/span.h"
#include "base/utf8.h"
#include "schema/pattern.h"
#include "json/token.h"

#include <stdio.h>

#define WHITE                                                                  \
    "\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}"         \
    "\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}"
#define NOT_WHITE                                                              \
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}"              \
    "\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}"                \
    "\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}"                \
    "\\x{ff00}-\\x{10ffff}"

typedef struct rewriter {
    fl_span rest;
    fl_buf *out;
    const char *why;
    bool in_class;
    bool after_set;  /* the class's last item was one of many characters */
    bool can_repeat; /* something a quantifier may follow came last */
} rewriter;

static fl_status refuse(rewriter *r, const char *why)
{
    r->why = why;
    return FL_E_INVALID;
}

static char peek(const rewriter *r, size_t ahead)
{
    return ahead < r->rest.len ? r->rest.ptr[ahead] : '\0';
}

static fl_status put(rewriter *r, const char *text)
{
    return fl_buf_append(r->out, fl_span_of(text));
}

/* Hands `n` bytes on as they are. */
static fl_status pass(rewriter *r, size_t n)
{
    fl_span part = {r->rest.ptr, n};

    r->rest = fl_span_from(r->rest, n);
    return fl_buf_append(r->out, part);
}

static fl_status put_code_point(rewriter *r, unsigned long code)
{
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return refuse(r, "half a surrogate pair, or no code point at all");
    return fl_buf_printf(r->out, "\\x{%lx}", code);
}

/* `count` hex digits from `from` on; -1 if they are not there. */
static long read_hex(const rewriter *r, size_t from, size_t count)
{
    long value = 0;

    for (size_t i = from; i < from + count; i++) {
        char digit = peek(r, i);
        if (!fl_json_is_hex(digit))
            return -1;
        value =
            value * 16 +
            (fl_json_is_digit(digit) ? digit - '0' : (digit | 0x20) - 'a' + 10);
    }
    return value;
}

/* \u{1F432}, the backslash being at the front. */
static fl_status take_braced(rewriter *r)
{
    enum { MOST = 6 };
    size_t end = 3;

    while (end < 3 + (size_t)MOST && fl_json_is_hex(peek(r, end)))
        end++;
    long code = read_hex(r, 3, end - 3);
    if (end == 3 || peek(r, end) != '}')
        return refuse(r, "a \\u{...} that is none");
    r->rest = fl_span_from(r->rest, end + 1);
    return put_code_point(r, (unsigned long)code);
}

static fl_status take_unicode(rewriter *r)
{
    long first = read_hex(r, 2, 4), second = -1;
    size_t len = 6;

    if (peek(r, 2) == '{')
        return take_braced(r);
    if (first < 0)
        return refuse(r, "a \\u without four hex digits");
    if (peek(r, 6) == '\\' && peek(r, 7) == 'u')
        second = read_hex(r, 8, 4);
    if (first >= 0xd800 && first <= 0xdbff && second >= 0xdc00 &&
        second <= 0xdfff) {
        first = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        len = 12;
    }
    r->rest = fl_span_from(r->rest, len);
    return put_code_point(r, (unsigned long)first);
}

/* \p{Name} or \p{Kind=Name}, or the same with a P. */
static fl_status take_property(rewriter *r)
{
    fl_span inner = fl_span_from(r->rest, 3), kind;
    char letter = peek(r, 1);

    inner.len = fl_span_find(inner, '}');
    if (peek(r, 2) != '{' || 3 + inner.len == r->rest.len)
        return refuse(r, "a \\p without a {name}");
    r->rest = fl_span_from(r->rest, 4 + inner.len);
    size_t equals = fl_span_find(inner, '=');
    kind = (fl_span){inner.ptr, equals < inner.len ? equals : 0};
    fl_span name = equals < inner.len ? fl_span_from(inner, equals + 1) : inner;
    const char *known = fl_ecma_category(name);
    const char *script = "";
    if (fl_span_equal(kind, FL_SPAN("Script")) ||
        fl_span_equal(kind, FL_SPAN("sc")))
        script = "sc:";
    else if (fl_span_equal(kind, FL_SPAN("Script_Extensions")) ||
             fl_span_equal(kind, FL_SPAN("scx")))
        script = "scx:";
    else if (kind.len > 0 && !fl_span_equal(kind, FL_SPAN("gc")) &&
             !fl_span_equal(kind, FL_SPAN("General_Category")))
        return refuse(r, "a \\p{...} of a kind that is not known");
    if (known != NULL && script[0] == '\0')
        return fl_buf_printf(r->out, "\\%c{%s}", letter, known);
    for (size_t i = 0; i < name.len; i++)
        if (!fl_json_is_digit(name.ptr[i]) && name.ptr[i] != '_' &&
            ((name.ptr[i] | 0x20) < 'a' || (name.ptr[i] | 0x20) > 'z'))
            return refuse(r, "a \\p{...} that is none");
    return fl_buf_printf(r->out, "\\%c{%s%.*s}", letter, script, (int)name.len,
                         name.ptr);
}

static fl_status take_white(rewriter *r, bool negated)
{
    r->rest = fl_span_from(r->rest, 2);
    if (r->in_class)
        return put(r, negated ? NOT_WHITE : WHITE);
    return put(r, negated ? "[^" WHITE "]" : "[" WHITE "]");
}

/* An escape that stands for one character of its own. */
static fl_status take_character(rewriter *r, unsigned long code, size_t len)
{
    r->rest = fl_span_from(r->rest, len);
    return put_code_point(r, code);
}

static fl_status take_control(rewriter *r)
{
    static const char from[] = "tnvfr", to[] = "\t\n\v\f\r";
    char letter = peek(r, 1), after = peek(r, 2);

    for (size_t i = 0; i < sizeof from - 1; i++)
        if (letter == from[i])
            return take_character(r, (unsigned char)to[i], 2);
    if (letter == 'b')
        return take_character(r, '\b', 2);
    if (letter == '0' && !fl_json_is_digit(after))
        return take_character(r, 0, 2);
    if (letter == 'c' && (after | 0x20) >= 'a' && (after | 0x20) <= 'z')
        return take_character(r, (unsigned char)after & 0x1f, 3);
    if (letter == 'x' && read_hex(r, 2, 2) >= 0)
        return take_character(r, (unsigned long)read_hex(r, 2, 2), 4);
    return refuse(r, "an escape that ECMA-262 does not have");
}

/* \1 and \k<name>. */
static fl_status take_back_reference(rewriter *r)
{
    size_t len = 1;

    if (peek(r, 1) == 'k') {
        len = fl_span_find(r->rest, '>') + 1;
        if (peek(r, 2) != '<' || len > r->rest.len)
            return refuse(r, "a \\k without a <name>");
        return pass(r, len);
    }
    while (fl_json_is_digit(peek(r, len)))
        len++;
    fl_status rc =
        fl_buf_printf(r->out, "\\g{%.*s}", (int)len - 1, r->rest.ptr + 1);
    r->rest = fl_span_from(r->rest, len);
    return rc;
}

static fl_status take_escape(rewriter *r)
{
    char letter = peek(r, 1);

    r->can_repeat = true;
    if (r->rest.len < 2)
        return refuse(r, "a backslash at the end");
    if (letter == 's' || letter == 'S')
        return take_white(r, letter == 'S');
    if (letter == 'u')
        return take_unicode(r);
    if (letter == 'p' || letter == 'P')
        return take_property(r);
    if (!r->in_class && (letter == 'b' || letter == 'B')) {
        r->can_repeat = false;
        return pass(r, 2);
    }
    if (letter == 'd' || letter == 'D' || letter == 'w' || letter == 'W')
        return pass(r, 2);
    if (!r->in_class && (letter == 'k' || (letter >= '1' && letter <= '9')))
        return take_back_reference(r);
    if (fl_json_is_digit(letter) ||
        ((letter | 0x20) >= 'a' && (letter | 0x20) <= 'z'))
        return take_control(r);
    if ((unsigned char)letter < 0x80)
        return pass(r, 2);
    r->rest = fl_span_from(r->rest, 1); /* not ASCII: it is itself */
    return FL_OK;
}

/* How long {2}, {2,} or {2,3} is at the front; 0 if it is something else. */
static size_t braces_length(const rewriter *r)
{
    size_t at = 1;

    while (fl_json_is_digit(peek(r, at)))
        at++;
    if (at == 1)
        return 0;
    if (peek(r, at) == ',')
        at++;
    while (fl_json_is_digit(peek(r, at)))
        at++;
    return peek(r, at) == '}' ? at + 1 : 0;
}

static fl_status take_quantifier(rewriter *r, size_t len)
{
    if (!r->can_repeat)
        return refuse(r, "nothing to repeat");
    r->can_repeat = false; /* nor can this be followed by another one */
    return pass(r, len + (peek(r, len) == '?'));
}

static fl_status take_group(rewriter *r)
{
    static const char *const kinds[] = {"(?:", "(?=", "(?!", "(?<=", "(?<!"};

    r->can_repeat = false;
    if (peek(r, 1) != '?')
        return peek(r, 1) == '*' ? refuse(r, "nothing to repeat") : pass(r, 1);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (fl_span_starts(r->rest, fl_span_of(kinds[i])))
            return pass(r, strlen(kinds[i]));
    size_t end = fl_span_find(r->rest, '>');
    if (peek(r, 2) == '<' && end < r->rest.len)
        return pass(r, end + 1);
    return refuse(r, "a group that ECMA-262 does not have");
}

/* \d and its like: many characters, so no end of a range. */
static bool is_set(const rewriter *r, size_t ahead)
{
    return peek(r, ahead) == '\\' && peek(r, ahead + 1) != '\0' &&
           strchr("dDwWsSpP", peek(r, ahead + 1)) != NULL;
}

static fl_status take_class_byte(rewriter *r)
{
    char byte = r->rest.ptr[0];
    bool after_set = r->after_set;

    r->after_set = is_set(r, 0);
    if (byte == '\\')
        return take_escape(r);
    if (byte == '-' && (after_set || is_set(r, 1))) {
        r->rest = fl_span_from(r->rest, 1);
        return put(r, "\\-");
    }
    if (byte == ']') {
        r->in_class = false;
        r->can_repeat = true;
    }
    if (byte != '[')
        return pass(r, 1);
    r->rest = fl_span_from(r->rest, 1);
    return put(r, "\\[");
}

static fl_status take_class(rewriter *r)
{
    r->in_class = true;
    r->after_set = false;
    return pass(r, peek(r, 1) == '^' ? 2 : 1);
}

static fl_status take_byte(rewriter *r)
{
    char byte = r->rest.ptr[0];
    size_t braces = byte == '{' ? braces_length(r) : 0;

    if (byte == '\\')
        return take_escape(r);
    if (byte == '[')
        return take_class(r);
    if (byte == '(')
        return take_group(r);
    if (byte == '*' || byte == '+' || byte == '?')
        return take_quantifier(r, 1);
    if (braces > 0)
        return take_quantifier(r, braces);
    r->can_repeat = byte != '|' && byte != '^' && byte != '$';
    if (byte != '.' && byte != '{' && byte != '}' && byte != ']')
        return pass(r, 1);
    r->rest = fl_span_from(r->rest, 1);
    if (byte == '.')
        return put(r, "[^\\x{a}\\x{d}\\x{2028}\\x{2029}]");
    return fl_buf_printf(r->out, "\\%c", byte);
}

fl_status fl_ecma_rewrite(fl_span text, fl_buf *out, const char **why)
{
    rewriter r = {.rest = text, .out = out, .why = ""};
    fl_status rc = FL_OK;

    while (rc == FL_OK && r.rest.len > 0)
        rc = r.in_class ? take_class_byte(&r) : take_byte(&r);
    if (rc == FL_OK && r.in_class)
        rc = refuse(&r, "a [ without its ]");
    *why = r.why;
    return rc;
}
