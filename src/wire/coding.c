/*
 * coding.c - the names of content codings, and which one to use (RFC 9110
 * 8.4.1 and 12.5.3).
 *
 * Of what a client may say about codings only three things matter here: what
 * it thinks of gzip, of identity, and of those it does not name. Weights are
 * kept in thousandths, which is all the precision they may have.
 */
#include "wire/deflate.h"

#include "base/span.h"

#include <strings.h>

enum { UNSAID = -1, FULL = 1000 };

static bool is_name(fl_span name, fl_span wanted)
{
    return name.len == wanted.len &&
           (name.len == 0 || strncasecmp(name.ptr, wanted.ptr, name.len) == 0);
}

static bool is_gzip(fl_span name)
{
    return is_name(name, FL_SPAN("gzip")) || is_name(name, FL_SPAN("x-gzip"));
}

fl_coding fl_coding_find(fl_span name)
{
    if (name.len == 0 || is_name(name, FL_SPAN("identity")))
        return FL_CODING_IDENTITY;
    if (is_gzip(name))
        return FL_CODING_GZIP;
    if (is_name(name, FL_SPAN("deflate")))
        return FL_CODING_DEFLATE;
    return FL_CODING_UNKNOWN;
}

static fl_span trim(fl_span text)
{
    while (text.len > 0 && (*text.ptr == ' ' || *text.ptr == '\t'))
        text = fl_span_from(text, 1);
    while (text.len > 0 &&
           (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
        text.len--;
    return text;
}

/* What comes before the first `byte`, which is taken off with it. */
static fl_span take_until(fl_span *rest, char byte)
{
    size_t n = fl_span_find(*rest, byte);
    fl_span front = {rest->ptr, n};

    *rest = fl_span_from(*rest, n < rest->len ? n + 1 : n);
    return trim(front);
}

/* "q=0.5" as 500. Nothing is 1; what is no weight is 0, for in doubt the
 * plain form is taken by everybody. */
static int weight_of(fl_span parameter)
{
    if (parameter.len == 0)
        return FULL;
    if (parameter.len < 3 || parameter.len > 7 ||
        (parameter.ptr[0] | 0x20) != 'q' || parameter.ptr[1] != '=' ||
        (parameter.len > 3 && parameter.ptr[3] != '.'))
        return 0;
    int weight = 0;
    for (size_t i = 2; i < 7; i++) {
        char byte = i < parameter.len ? parameter.ptr[i] : '0';
        if (i == 3)
            continue;
        if (byte < '0' || byte > '9')
            return 0;
        weight = weight * 10 + (byte - '0');
    }
    return weight <= FULL ? weight : 0;
}

fl_coding fl_coding_choose(fl_span accept_encoding)
{
    int gzip = UNSAID, identity = UNSAID, others = UNSAID;

    while (accept_encoding.len > 0) {
        fl_span one = take_until(&accept_encoding, ',');
        fl_span name = take_until(&one, ';');
        int weight = weight_of(trim(one));
        if (is_gzip(name))
            gzip = weight;
        else if (is_name(name, FL_SPAN("identity")))
            identity = weight;
        else if (is_name(name, FL_SPAN("*")))
            others = weight;
    }
    if (gzip == UNSAID)
        gzip = others;
    return gzip > 0 && gzip >= identity ? FL_CODING_GZIP : FL_CODING_IDENTITY;
}
