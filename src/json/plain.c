/*
 * plain.c - the kernel that runs anywhere, and the one that knows why.
 *
 * A loop over tokens: what may come next is one of five states, and the only
 * memory is a bit per open bracket. Inside strings eight plain bytes go by at
 * a time. It is the judge of last resort for the vector kernels, so it is
 * written to be read against RFC 8259, not to be fast.
 */
#include "json/kernel.h"
#include "json/token.h"

/* What may come next. */
typedef enum expected {
    WANT_VALUE,   /* a value, no way round it */
    WANT_ELEMENT, /* after [ : a value, or ] at once */
    WANT_MEMBER,  /* after { : a key, or } at once */
    WANT_KEY,     /* after , in an object */
    WANT_MORE,    /* after a value: a comma, or the bracket's end */
} expected;

typedef struct scanner {
    const char *at;
    const char *end;
    const char *start;
    fl_json_marks *marks;
    unsigned depth;
    unsigned max_depth;
    fl_status status;
    uint64_t objects[FL_JSON_MAX_DEPTH / 64]; /* bit n: depth n+1 is one */
} scanner;

static bool in_object(const scanner *s)
{
    unsigned top = s->depth - 1;

    return s->depth > 0 && (s->objects[top / 64] >> top % 64 & 1) != 0;
}

/* Always false. A byte outside ASCII may be wrong as text or as JSON only. */
static bool refuse(scanner *s)
{
    const char *at = s->at;

    s->status = at < s->end && !fl_json_take_sequence(&at, s->end)
                    ? FL_E_BAD_TEXT
                    : FL_E_BAD_JSON;
    return false;
}

static void note(scanner *s)
{
    if (s->depth > FL_JSON_LEVELS)
        return;
    fl_json_level *marks = &s->marks->level[s->depth - 1];
    if (marks->count < FL_JSON_MARKS)
        marks->at[marks->count] = (size_t)(s->at - s->start);
    marks->count++;
}

/* `at` is behind the opening quote, and then behind the closing one. */
static bool take_string(scanner *s)
{
    for (;;) {
        s->at = fl_json_plain_run(s->at, s->end);
        if (s->at == s->end)
            return refuse(s);
        if (*s->at == '"') {
            s->at++;
            return true;
        }
        if (*s->at == '\\') {
            s->at++;
            if (!fl_json_take_escape(&s->at, s->end))
                return refuse(s);
        } else if ((unsigned char)*s->at < 0x80) {
            return refuse(s); /* a control character */
        } else if (!fl_json_take_sequence(&s->at, s->end)) {
            s->status = FL_E_BAD_TEXT;
            return false;
        }
    }
}

static bool push(scanner *s, bool object)
{
    if (s->depth == s->max_depth) {
        s->status = FL_E_TOO_DEEP;
        return false;
    }
    uint64_t bit = (uint64_t)1 << s->depth % 64;
    uint64_t *word = &s->objects[s->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    s->depth++;
    s->at++;
    return true;
}

static void pop(scanner *s)
{
    note(s);
    s->depth--;
    s->at++;
}

static void skip_space(scanner *s)
{
    while (s->at < s->end && fl_json_is_space(*s->at))
        s->at++;
}

static bool take_value(scanner *s, expected *next)
{
    *next = WANT_MORE;
    switch (*s->at) {
    case '{':
        *next = WANT_MEMBER;
        return push(s, true);
    case '[':
        *next = WANT_ELEMENT;
        return push(s, false);
    case '"':
        s->at++;
        return take_string(s);
    default:
        if (!fl_json_take_scalar(&s->at, s->end))
            return refuse(s);
        return s->at == s->end || fl_json_is_end(*s->at) || refuse(s);
    }
}

static bool take_key(scanner *s, expected *next)
{
    if (*s->at != '"')
        return refuse(s);
    s->at++;
    if (!take_string(s))
        return false;
    skip_space(s);
    if (s->at == s->end || *s->at != ':')
        return refuse(s);
    note(s);
    s->at++;
    *next = WANT_VALUE;
    return true;
}

static bool take_more(scanner *s, expected *next)
{
    bool object = in_object(s);

    if (s->depth > 0 && *s->at == ',') {
        note(s);
        s->at++;
        *next = object ? WANT_KEY : WANT_VALUE;
        return true;
    }
    if (s->depth == 0 || *s->at != (object ? '}' : ']'))
        return refuse(s);
    pop(s);
    return true;
}

static bool take_token(scanner *s, expected *next)
{
    bool closed = (*next == WANT_ELEMENT && *s->at == ']') ||
                  (*next == WANT_MEMBER && *s->at == '}');

    if (closed) {
        pop(s);
        *next = WANT_MORE;
        return true;
    }
    if (*next == WANT_MORE)
        return take_more(s, next);
    if (*next == WANT_MEMBER || *next == WANT_KEY)
        return take_key(s, next);
    return take_value(s, next);
}

fl_status fl_json_plain_scan(fl_span text, unsigned max_depth,
                             fl_json_marks *marks, size_t *at)
{
    const char *start = text.len > 0 ? text.ptr : "";
    scanner s = {.at = start,
                 .start = start,
                 .end = start + text.len,
                 .marks = marks,
                 .max_depth = max_depth};
    expected next = WANT_VALUE;
    bool good = true;

    for (size_t i = 0; i < FL_JSON_LEVELS; i++)
        marks->level[i].count = 0;
    skip_space(&s);
    while (good && s.at < s.end) {
        good = take_token(&s, &next);
        if (good)
            skip_space(&s);
    }
    if (good && (next != WANT_MORE || s.depth > 0))
        s.status = FL_E_BAD_JSON;
    *at = (size_t)(s.at - s.start);
    return s.status;
}

static bool check(fl_span text, unsigned max_depth, fl_json_marks *marks)
{
    size_t at;

    return fl_json_plain_scan(text, max_depth, marks, &at) == FL_OK;
}

/* Behind the string whose opening quote is at `i`; text.len if it is cut. */
static size_t skip_string(fl_span text, size_t i)
{
    for (i++; i < text.len && text.ptr[i] != '"'; i++)
        if (text.ptr[i] == '\\')
            i++;
    return i < text.len ? i + 1 : text.len;
}

static size_t mark(fl_span text, size_t from, size_t want, size_t *at)
{
    size_t found = 0, depth = 0, i = from;

    while (i < text.len && found < want) {
        char byte = text.ptr[i];
        if (byte == '"') {
            i = skip_string(text, i);
            continue;
        }
        bool shut = byte == '}' || byte == ']';
        if (depth == 0 && (shut || byte == ',' || byte == ':'))
            at[found++] = i;
        if (shut && depth == 0)
            return found;
        if (shut)
            depth--;
        else if (byte == '{' || byte == '[')
            depth++;
        i++;
    }
    return found;
}

const fl_json_kernel fl_json_kernel_plain = {
    .name = "plain", .check = check, .mark = mark};
