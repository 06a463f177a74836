/*
 * format_net.c - addresses, host names and mail addresses.
 *
 * Host names are RFC 1123's: letters, digits and hyphens. What an "xn--" label
 * stands for is not looked into; that takes the tables of IDNA.
 */
#include "base/span.h"
#include "schema/format.h"
#include "json/token.h"

static fl_span take_until(fl_span *rest, char byte)
{
    fl_span part = {rest->ptr, fl_span_find(*rest, byte)};

    *rest = fl_span_from(*rest, part.len);
    return part;
}

static bool is_octet(fl_span part)
{
    int value = 0;

    if (part.len == 0 || part.len > 3 || (part.len > 1 && part.ptr[0] == '0'))
        return false;
    for (size_t i = 0; i < part.len; i++) {
        if (!fl_json_is_digit(part.ptr[i]))
            return false;
        value = value * 10 + (part.ptr[i] - '0');
    }
    return value <= 255;
}

bool fl_format_ipv4(fl_span text)
{
    for (int i = 0; i < 4; i++) {
        if (!is_octet(take_until(&text, '.')))
            return false;
        if (i < 3 && text.len == 0)
            return false;
        text = fl_span_from(text, i < 3);
    }
    return text.len == 0;
}

static bool is_group(fl_span part)
{
    for (size_t i = 0; i < part.len; i++)
        if (!fl_json_is_hex(part.ptr[i]))
            return false;
    return part.len >= 1 && part.len <= 4;
}

/* Groups with colons between them; how many, or -1. An IPv4 address at the
 * end counts as two. */
static int count_groups(fl_span text, bool at_end)
{
    int count = 0;

    while (text.len > 0) {
        fl_span part = take_until(&text, ':');
        if (text.len == 0 && at_end && fl_format_ipv4(part))
            return count + 2;
        if (!is_group(part) || (text.len == 1))
            return -1;
        text = fl_span_from(text, text.len > 0);
        count++;
    }
    return count;
}

bool fl_format_ipv6(fl_span text)
{
    enum { GROUPS = 8 };
    size_t gap = 0;

    while (gap + 1 < text.len &&
           (text.ptr[gap] != ':' || text.ptr[gap + 1] != ':'))
        gap++;
    if (gap + 1 >= text.len)
        return count_groups(text, true) == GROUPS;
    int before = count_groups((fl_span){text.ptr, gap}, false);
    int after = count_groups(fl_span_from(text, gap + 2), true);
    return before >= 0 && after >= 0 && before + after < GROUPS;
}

static bool is_letter_or_digit(char byte)
{
    return fl_json_is_digit(byte) ||
           ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

static bool is_label(fl_span label, bool wide)
{
    enum { LONGEST = 63 };

    if (label.len == 0 || label.len > LONGEST || label.ptr[0] == '-' ||
        label.ptr[label.len - 1] == '-')
        return false;
    for (size_t i = 0; i < label.len; i++)
        if (!is_letter_or_digit(label.ptr[i]) && label.ptr[i] != '-' &&
            !(wide && (unsigned char)label.ptr[i] >= 0x80))
            return false;
    return true;
}

static bool is_host(fl_span text, bool wide)
{
    enum { LONGEST = 253 };
    bool more = text.len > 0 && text.len <= LONGEST;

    while (more) {
        if (!is_label(take_until(&text, '.'), wide))
            return false;
        more = text.len > 0;
        text = fl_span_from(text, more);
        if (more && text.len == 0)
            return false;
        if (!more)
            return true;
    }
    return false;
}

bool fl_format_hostname(fl_span text)
{
    return is_host(text, false);
}

/* RFC 5321's atom: what may stand in a local part without quotes. */
static bool is_atom(fl_span text, bool wide)
{
    for (size_t i = 0; i < text.len; i++) {
        char byte = text.ptr[i];
        if (!is_letter_or_digit(byte) &&
            (byte == '\0' || strchr("!#$%&'*+-/=?^_`{|}~", byte) == NULL) &&
            !(wide && (unsigned char)byte >= 0x80))
            return false;
    }
    return text.len > 0;
}

static bool is_dotted(fl_span text, bool wide)
{
    while (is_atom(take_until(&text, '.'), wide)) {
        if (text.len == 0)
            return true;
        text = fl_span_from(text, 1);
    }
    return false;
}

static bool is_quoted(fl_span text, bool wide)
{
    if (text.len < 2 || text.ptr[0] != '"' || text.ptr[text.len - 1] != '"')
        return false;
    for (size_t i = 1; i + 1 < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (byte == '\\' && i + 2 < text.len)
            byte = (unsigned char)text.ptr[++i];
        else if (byte == '"' || byte == '\\')
            return false;
        if (byte < ' ' || byte == 0x7f || (byte > 0x7f && !wide))
            return false;
    }
    return true;
}

static bool is_literal(fl_span text)
{
    const fl_span six = FL_SPAN("IPv6:");

    if (text.len < 2 || text.ptr[0] != '[' || text.ptr[text.len - 1] != ']')
        return false;
    text = (fl_span){text.ptr + 1, text.len - 2};
    return fl_span_starts(text, six)
               ? fl_format_ipv6(fl_span_from(text, six.len))
               : fl_format_ipv4(text);
}

static bool is_mailbox(fl_span text, bool wide)
{
    size_t at = text.len;

    while (at > 0 && text.ptr[at - 1] != '@')
        at--;
    if (at == 0)
        return false;
    fl_span local = {text.ptr, at - 1}, domain = fl_span_from(text, at);
    return (is_dotted(local, wide) || is_quoted(local, wide)) &&
           (is_host(domain, wide) || is_literal(domain));
}

bool fl_format_email(fl_span text)
{
    return is_mailbox(text, false);
}

bool fl_format_idn_email(fl_span text)
{
    return is_mailbox(text, true);
}
