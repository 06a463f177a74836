/*
 * format_uri.c - URIs, IRIs and templates of them.
 *
 * RFC 3986 to the letter: which bytes may stand where, and that a percent sign
 * is followed by two hex digits. An IRI (RFC 3987) may have characters beyond
 * ASCII where a URI has letters, but for private ones outside of a query.
 */
#include "base/span.h"
#include "schema/format.h"
#include "json/token.h"

static bool is_letter(char byte)
{
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}

/* Letters, digits, "-._~" and sub-delims, which may stand nearly anywhere. */
static bool is_common(char byte)
{
    return is_letter(byte) || fl_json_is_digit(byte) ||
           (byte != '\0' && strchr("-._~!$&'()*+,;=", byte) != NULL);
}

static bool is_triplet(fl_span text)
{
    return text.len >= 3 && text.ptr[0] == '%' && fl_json_is_hex(text.ptr[1]) &&
           fl_json_is_hex(text.ptr[2]);
}

/* Nothing but what may stand anywhere, and `more`. */
static bool is_made_of(fl_span text, const char *more, bool wide)
{
    for (size_t i = 0; i < text.len; i++) {
        char byte = text.ptr[i];
        if (byte == '%' && is_triplet(fl_span_from(text, i)))
            i += 2;
        else if (!is_common(byte) &&
                 (byte == '\0' || strchr(more, byte) == NULL) &&
                 !(wide && (unsigned char)byte >= 0x80))
            return false;
    }
    return true;
}

static fl_span take(fl_span *rest, size_t len)
{
    fl_span part = {rest->ptr, len};

    *rest = fl_span_from(*rest, len);
    return part;
}

static size_t find_any(fl_span text, const char *bytes)
{
    size_t at = 0;

    while (at < text.len &&
           (text.ptr[at] == '\0' || strchr(bytes, text.ptr[at]) == NULL))
        at++;
    return at;
}

static bool is_port(fl_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!fl_json_is_digit(text.ptr[i]))
            return false;
    return true;
}

/* What is in brackets: an IPv6 address, or one of the future: "v1.x". */
static bool is_bracketed(fl_span text)
{
    if (text.len > 0 && (text.ptr[0] | 0x20) == 'v') {
        size_t dot = fl_span_find(text, '.');
        bool hex = dot > 1 && dot + 1 < text.len;
        for (size_t i = 1; i < dot && i < text.len; i++)
            hex = hex && fl_json_is_hex(text.ptr[i]);
        return hex && is_made_of(fl_span_from(text, dot + 1), ":", false) &&
               fl_span_find(text, '%') == text.len;
    }
    return fl_format_ipv6(text);
}

static bool is_authority(fl_span text, bool wide)
{
    size_t at = text.len;

    while (at > 0 && text.ptr[at - 1] != '@')
        at--;
    if (at > 0 && !is_made_of((fl_span){text.ptr, at - 1}, ":", wide))
        return false;
    text = fl_span_from(text, at);
    if (text.len > 0 && text.ptr[0] == '[') {
        size_t end = fl_span_find(text, ']');
        if (end == text.len || !is_bracketed((fl_span){text.ptr + 1, end - 1}))
            return false;
        text = fl_span_from(text, end + 1);
    } else if (!is_made_of(take(&text, fl_span_find(text, ':')), "", wide)) {
        return false;
    }
    return text.len == 0 ||
           (text.ptr[0] == ':' && is_port(fl_span_from(text, 1)));
}

static size_t scheme_length(fl_span text)
{
    size_t len = 0;

    while (len < text.len && text.ptr[len] != '\0' &&
           (is_letter(text.ptr[len]) ||
            (len > 0 && (fl_json_is_digit(text.ptr[len]) ||
                         strchr("+-.", text.ptr[len]) != NULL))))
        len++;
    return len > 0 && len < text.len && text.ptr[len] == ':' ? len + 1 : 0;
}

static bool is_reference(fl_span text, bool wide, bool absolute)
{
    size_t scheme = scheme_length(text);

    if (absolute && scheme == 0)
        return false;
    take(&text, scheme);
    bool authority = fl_span_starts(text, FL_SPAN("//"));
    if (authority) {
        take(&text, 2);
        if (!is_authority(take(&text, find_any(text, "/?#")), wide))
            return false;
    }
    fl_span path = take(&text, find_any(text, "?#"));
    if (!is_made_of(path, "/:@", wide))
        return false;
    /* or it would read as a scheme */
    if (scheme == 0 && !authority &&
        fl_span_find(path, ':') < fl_span_find(path, '/'))
        return false;
    fl_span query = take(&text, fl_span_find(text, '#'));
    if (query.len > 0 && !is_made_of(fl_span_from(query, 1), "/?:@", wide))
        return false;
    return text.len == 0 || is_made_of(fl_span_from(text, 1), "/?:@", wide);
}

bool fl_format_uri(fl_span text)
{
    return is_reference(text, false, true);
}

bool fl_format_uri_reference(fl_span text)
{
    return is_reference(text, false, false);
}

bool fl_format_iri(fl_span text)
{
    return is_reference(text, true, true);
}

bool fl_format_iri_reference(fl_span text)
{
    return is_reference(text, true, false);
}

/* name, name:3 or name*; a name has letters, digits, "_" and single dots. */
static bool is_variable(fl_span text)
{
    size_t at = 0, digits = 0;
    bool dot = true;

    for (; at < text.len; at++) {
        fl_span rest = fl_span_from(text, at);
        if (text.ptr[at] == '.'
                ? dot
                : !is_letter(text.ptr[at]) && !fl_json_is_digit(text.ptr[at]) &&
                      text.ptr[at] != '_' && !is_triplet(rest))
            break;
        dot = text.ptr[at] == '.';
        at += text.ptr[at] == '%' ? 2 : 0;
    }
    if (at == 0 || dot)
        return false;
    text = fl_span_from(text, at);
    if (text.len == 0 || fl_span_equal(text, FL_SPAN("*")))
        return true;
    while (digits + 1 < text.len && fl_json_is_digit(text.ptr[digits + 1]))
        digits++;
    return text.ptr[0] == ':' && digits >= 1 && digits <= 4 &&
           digits + 1 == text.len && text.ptr[1] != '0';
}

static bool is_expression(fl_span text)
{
    if (text.len > 0 && text.ptr[0] != '\0' &&
        strchr("+#./;?&", text.ptr[0]) != NULL)
        take(&text, 1);
    while (is_variable(take(&text, fl_span_find(text, ',')))) {
        if (text.len == 0)
            return true;
        take(&text, 1);
    }
    return false;
}

static bool is_template_literal(fl_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (byte == '%' && !is_triplet(fl_span_from(text, i)))
            return false;
        if (byte <= ' ' || byte == 0x7f || strchr("\"<>\\^`|}", byte) != NULL)
            return false;
    }
    return true;
}

bool fl_format_uri_template(fl_span text)
{
    while (is_template_literal(take(&text, fl_span_find(text, '{')))) {
        if (text.len == 0)
            return true;
        size_t end = fl_span_find(text, '}');
        if (end == text.len || !is_expression((fl_span){text.ptr + 1, end - 1}))
            return false;
        take(&text, end + 1);
    }
    return false;
}
