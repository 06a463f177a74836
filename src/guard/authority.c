/*
 * authority.c - HOST[:PORT], taken apart strictly.
 *
 * Names are compared whole and never by how they begin: "localhost.evil.test"
 * begins well. An IPv4 address counts as one only in the usual form. Of the
 * others (0x7f.1, 2130706433, 127.1) some programs make an address and some a
 * name, which is reason enough not to know them.
 */
#include "guard/authority.h"

#include "base/span.h"

#include <arpa/inet.h>
#include <strings.h>

static bool is_same(fl_span a, fl_span b)
{
    return a.len == b.len &&
           (a.len == 0 || strncasecmp(a.ptr, b.ptr, a.len) == 0);
}

static bool is_letter_or_digit(char byte)
{
    char lower = (char)(byte | 0x20);

    return (lower >= 'a' && lower <= 'z') || (byte >= '0' && byte <= '9');
}

/* Labels of letters, digits, "-" and "_", none of them empty but for one at
 * the end: "example.org." is a name, and not the same as without the dot. */
static bool is_name(fl_span text)
{
    bool in_label = false;

    for (size_t i = 0; i < text.len; i++) {
        char byte = text.ptr[i];
        if (byte == '.' && !in_label)
            return false;
        in_label = byte != '.';
        if (in_label && !is_letter_or_digit(byte) && byte != '-' && byte != '_')
            return false;
    }
    return text.len > 0;
}

/* A longer text than the longest address is none. */
static bool parse_address(int family, fl_span text, void *out)
{
    char copy[INET6_ADDRSTRLEN];

    if (text.len == 0 || text.len >= sizeof copy)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return strlen(copy) == text.len && inet_pton(family, copy, out) == 1;
}

/* 1 to 65535, without needless zeroes. */
bool fl_authority_parse_port(fl_span text, uint16_t *port)
{
    unsigned value = 0;

    if (text.len == 0 || text.len > 5 || text.ptr[0] == '0')
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        value = value * 10 + (unsigned)(text.ptr[i] - '0');
    }
    *port = (uint16_t)value;
    return value <= UINT16_MAX;
}

/* Splits HOST[:PORT]; what comes after the colon is not looked at. */
static bool split(fl_span text, fl_authority *out, fl_span *port)
{
    bool bracketed = text.len > 0 && text.ptr[0] == '[';
    size_t skip = bracketed ? 1 : 0;
    fl_span rest = fl_span_from(text, skip);
    size_t end = fl_span_find(rest, bracketed ? ']' : ':');

    *out = (fl_authority){.name = {rest.ptr, end}, .is_ipv6 = bracketed};
    *port = (fl_span){0};
    if (bracketed && end == rest.len)
        return false;
    rest = fl_span_from(rest, end + skip);
    if (rest.len == 0)
        return true;
    *port = fl_span_from(rest, 1);
    return rest.ptr[0] == ':' && port->len > 0;
}

static bool is_host(fl_authority *authority)
{
    if (authority->is_ipv6)
        return parse_address(AF_INET6, authority->name, &authority->ipv6);
    return is_name(authority->name);
}

bool fl_authority_split(fl_span text, fl_authority *out, fl_span *port)
{
    return split(text, out, port) && is_host(out);
}

bool fl_authority_parse(fl_span text, fl_authority *out)
{
    fl_span port;

    return fl_authority_split(text, out, &port) &&
           (port.len == 0 || fl_authority_parse_port(port, &out->port));
}

bool fl_authority_same_host(const fl_authority *a, const fl_authority *b)
{
    if (a->is_ipv6 || b->is_ipv6)
        return a->is_ipv6 && b->is_ipv6 &&
               memcmp(&a->ipv6, &b->ipv6, sizeof a->ipv6) == 0;
    return is_same(a->name, b->name);
}

static bool is_localhost(fl_span name)
{
    const fl_span suffix = FL_SPAN("localhost");

    if (name.len <= suffix.len)
        return is_same(name, suffix);
    size_t front = name.len - suffix.len;
    return name.ptr[front - 1] == '.' &&
           is_same(fl_span_from(name, front), suffix);
}

/* By name or by number, both of them in full. */
bool fl_authority_is_address(const fl_authority *authority)
{
    struct in_addr ipv4;

    return authority->is_ipv6 || parse_address(AF_INET, authority->name, &ipv4);
}

bool fl_authority_is_loopback(const fl_authority *authority)
{
    struct in_addr ipv4;

    if (authority->is_ipv6)
        return IN6_IS_ADDR_LOOPBACK(&authority->ipv6);
    if (parse_address(AF_INET, authority->name, &ipv4))
        return ntohl(ipv4.s_addr) >> 24 == IN_LOOPBACKNET;
    return is_localhost(authority->name);
}
