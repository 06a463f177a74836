/*
 * log_mask.c - what of a value may be shown in a log.
 *
 * One pass, left to right. At each word we ask whether it announces a secret:
 *
 *     Bearer eyJ...            a scheme and its credentials
 *     https://user:pass@host   credentials in front of a host
 *     token=..., "token":"..." a secret's name, then its value
 *     --token ...              the same as a command line writes it
 *
 * What was announced is masked to its end, which is found in the whole text
 * and not only in the part that is shown: a password must not appear because
 * the '@' behind it was cut off. Masking comes first and cutting second.
 */
#include "base/log_mask.h"

#include "base/span.h"

#include <stdio.h>

enum {
    WINDOW = 8192,     /* bytes looked at: masks may stand for many */
    LONGEST_HOST = 262 /* 255 octets and ":65535" */
};

/* Folded; a name that ends in one of these holds a secret. "key" alone does
 * not: most keys in a log are harmless. */
static const char *const secret_words[] = {
    "authorization", "token",    "apikey",    "accesskey",  "secretkey",
    "privatekey",    "password", "passwd",    "passphrase", "secret",
    "cookie",        "session",  "sessionid", "credential", "credentials",
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name_byte(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

void fl_log_fold(fl_span name, char folded[FL_LOG_NAME])
{
    char reversed[FL_LOG_NAME];
    size_t len = 0;

    for (size_t i = name.len; i > 0 && len < FL_LOG_NAME - 1; i--)
        if (name.ptr[i - 1] != '-' && name.ptr[i - 1] != '_')
            reversed[len++] = lower(name.ptr[i - 1]);
    for (size_t i = 0; i < len; i++)
        folded[i] = reversed[len - 1 - i];
    folded[len] = '\0';
}

static bool ends_in(const char *folded, const char *word)
{
    size_t len = strlen(folded), end = strlen(word);

    return len >= end && memcmp(folded + len - end, word, end) == 0;
}

static bool is_known(const char *folded)
{
    /* MCP's progressToken is a number to count by, wanted in logs */
    if (strcmp(folded, "progresstoken") == 0)
        return false;
    for (size_t i = 0; i < sizeof secret_words / sizeof *secret_words; i++)
        if (ends_in(folded, secret_words[i]))
            return true;
    return false;
}

bool fl_log_is_secret(fl_span name, const char *more)
{
    char folded[FL_LOG_NAME];

    fl_log_fold(name, folded);
    for (; more != NULL && *more != '\0'; more += strlen(more) + 1)
        if (strcmp(folded, more) == 0)
            return true;
    return is_known(folded);
}

/* How many bytes at the front of `text` are not in `stops`. */
static size_t run_until(fl_span text, const char *stops)
{
    size_t n = 0;

    while (n < text.len &&
           (text.ptr[n] == '\0' || strchr(stops, text.ptr[n]) == NULL))
        n++;
    return n;
}

static size_t count_blanks(fl_span text)
{
    size_t n = 0;

    while (n < text.len && is_blank(text.ptr[n]))
        n++;
    return n;
}

static size_t count_dashes(fl_span text)
{
    size_t n = 0;

    while (n < text.len && text.ptr[n] == '-')
        n++;
    return n;
}

/* The length of the name at the front of `text`. */
static size_t count_name(fl_span text)
{
    size_t n = 0;

    while (n < text.len && is_name_byte(text.ptr[n]))
        n++;
    return n;
}

/* A quote, and the backslashes that escape it inside another string. */
static size_t count_quote(fl_span text, char *quote)
{
    size_t n = 0;

    *quote = '\0';
    while (n < text.len && text.ptr[n] == '\\')
        n++;
    if (n == text.len || (text.ptr[n] != '"' && text.ptr[n] != '\''))
        return 0;
    *quote = text.ptr[n];
    return n + 1;
}

/* Up to a `quote` that no more than `slashes` backslashes stand before. */
static size_t run_quoted(fl_span text, char quote, size_t slashes)
{
    size_t before = 0;

    for (size_t n = 0; n < text.len; n++) {
        if (text.ptr[n] == quote && before <= slashes)
            return n - before;
        before = text.ptr[n] == '\\' ? before + 1 : 0;
    }
    return text.len;
}

/* One thing to hide: skip bytes that are shown, then hide as many. */
typedef struct secret {
    size_t skip;
    size_t hide;
} secret;

/* The value after a name and its separator, from the quote on if it has one.
 * `whole` values, such as a header's, go on over blanks and commas. */
static secret find_value(fl_span text, bool whole)
{
    char quote;
    size_t skip = count_blanks(text);
    size_t quoted = count_quote(fl_span_from(text, skip), &quote);
    fl_span value = fl_span_from(text, skip + quoted);

    if (quoted > 0)
        return (secret){skip + quoted, run_quoted(value, quote, quoted - 1)};
    if (value.len > 0 && (value.ptr[0] == '{' || value.ptr[0] == '['))
        return (secret){skip, value.len};
    const char *stops = whole ? "\r\n\"" : " \t\r\n\"'&,;)]}>#";
    return (secret){skip, run_until(value, stops)};
}

static bool is_scheme(fl_span name)
{
    char folded[FL_LOG_NAME];

    fl_log_fold(name, folded);
    return strcmp(folded, "bearer") == 0 || strcmp(folded, "basic") == 0;
}

/* Values of these are whole header lines, with blanks in them. */
static bool is_header(fl_span name)
{
    char folded[FL_LOG_NAME];

    fl_log_fold(name, folded);
    return ends_in(folded, "authorization") || ends_in(folded, "cookie");
}

/* "key" is a secret's name in a query or as an option, nowhere else. */
static bool is_query_key(fl_span name, char before)
{
    char folded[FL_LOG_NAME];

    fl_log_fold(name, folded);
    return before != '\0' && strchr("?&;-", before) != NULL &&
           strcmp(folded, "key") == 0;
}

/* What follows a secret's name: `=v`, `: v`, `":"v"`; or, when the name is an
 * option, ` v` on a command line and `", "v"` in a list of arguments. */
static secret find_named(fl_span name, fl_span after, bool option)
{
    char quote;
    size_t skip = count_quote(after, &quote);

    skip += count_blanks(fl_span_from(after, skip));
    char next = skip < after.len ? after.ptr[skip] : '\0';
    bool separated = next == '=' || next == ':' || (option && next == ',');
    if (!separated && !(option && skip > 0))
        return (secret){0};

    skip += separated ? 1 : 0;
    secret value = find_value(fl_span_from(after, skip), is_header(name));
    return (secret){skip + value.skip, value.hide};
}

/* The secret that the word at `at` announces, counted from the word's end. */
static secret find_announced(fl_span text, size_t at, size_t len,
                             const char *more)
{
    fl_span word = {text.ptr + at, len};
    fl_span after = fl_span_from(text, at + len);
    size_t dashes = count_dashes(word);
    char before = at > 0 ? text.ptr[at - 1] : '\0';

    if (is_scheme(word)) {
        size_t blanks = count_blanks(after);
        fl_span token = fl_span_from(after, blanks);
        if (blanks > 0)
            return (secret){blanks, run_until(token, " \t\r\n\"'\\,;<>")};
    }
    if (fl_log_is_secret(word, more) ||
        is_query_key(word, dashes > 0 ? '-' : before))
        return find_named(word, after, dashes > 0);
    return (secret){0};
}

/* The credentials between "://", which `text` starts with, and an '@'. What is
 * too long for a host is credentials whose '@' lies out of sight. */
static secret find_userinfo(fl_span text)
{
    fl_span rest = fl_span_from(text, 3);
    size_t all = run_until(rest, "/?# \t\r\n\"'<>\\");
    size_t end = all;

    while (end > 0 && rest.ptr[end - 1] != '@')
        end--;
    if (end > 0)
        return (secret){3, end - 1};
    return (secret){3, all > LONGEST_HOST ? all : 0};
}

/* What is shown so far. Once something did not fit, nothing more is. */
typedef struct shown {
    char *out;
    size_t len;
    bool full;
} shown;

/* Says how many of the bytes fit. */
static size_t show(shown *to, fl_span bytes)
{
    size_t room = to->full ? 0 : FL_LOG_SHOWN - to->len;
    size_t n = bytes.len <= room ? bytes.len : room;

    memcpy(to->out + to->len, bytes.ptr, n);
    to->len += n;
    to->full = n < bytes.len;
    return n;
}

/* A mask is shown whole or not at all. */
static size_t show_mask(shown *to, size_t hidden)
{
    fl_span mask = FL_SPAN(FL_LOG_MASKED);

    to->full = to->full || mask.len > FL_LOG_SHOWN - to->len;
    if (to->full)
        return 0;
    show(to, mask);
    return hidden;
}

/* Shows the word or byte at `at` and what it announces; says how many bytes of
 * `text` that did away with. */
static size_t show_next(shown *to, fl_span text, size_t at, const char *more)
{
    fl_span here = fl_span_from(text, at);
    size_t word = count_name(here);
    secret found = {0};

    if (word > 0)
        found = find_announced(text, at, word, more);
    else if (fl_span_starts(here, FL_SPAN("://")))
        found = find_userinfo(here);
    if (found.hide == 0)
        return show(to, (fl_span){here.ptr, word > 0 ? word : 1});

    size_t done = show(to, (fl_span){here.ptr, word + found.skip});
    return done + show_mask(to, found.hide);
}

/* Takes back the start of a character whose end did not fit. */
static size_t take_back(shown *to, fl_span text, size_t at)
{
    for (int tails = 0; tails < 3 && at > 0 && to->len > 0 &&
                        ((unsigned char)text.ptr[at] & 0xc0) == 0x80;
         tails++) {
        at--;
        to->len--;
    }
    return at;
}

fl_span fl_log_mask(fl_span text, const char *more, char out[FL_LOG_VALUE])
{
    fl_span seen = {text.ptr, text.len < WINDOW ? text.len : WINDOW};
    shown to = {.out = out};
    size_t at = 0;

    while (at < seen.len && !to.full)
        at += show_next(&to, seen, at, more);
    if (at < text.len) {
        at = take_back(&to, text, at);
        int tail = snprintf(out + to.len, FL_LOG_VALUE - to.len,
                            "…(+%zu bytes)", text.len - at);
        to.len += tail > 0 ? (size_t)tail : 0;
    }
    return (fl_span){out, to.len};
}
