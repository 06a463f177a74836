/*
 * authority.h - HOST[:PORT], taken apart strictly (RFC 9110 7.2).
 *
 * For deciding whose a name is, not for connecting to it: no text is accepted
 * about which we and a browser could disagree. (wire/url has its own, for this
 * room may not look into that one.)
 */
#ifndef FL_GUARD_AUTHORITY_H
#define FL_GUARD_AUTHORITY_H

#include <fairlead/types.h>

#include <netinet/in.h>

/* Borrowed from the text. */
typedef struct fl_authority {
    fl_span name;  /* without brackets */
    uint16_t port; /* 0: not given */
    bool is_ipv6;
    struct in6_addr ipv6;
} fl_authority;

/* A port, if there is one, is 1 to 65535. */
bool fl_authority_parse(fl_span text, fl_authority *out);

/* The same, except that the port is handed out unread; empty if there is
 * none. */
bool fl_authority_split(fl_span text, fl_authority *out, fl_span *port);

bool fl_authority_parse_port(fl_span text, uint16_t *port);

/* Names without case, IPv6 addresses by value; ports are not looked at. */
bool fl_authority_same_host(const fl_authority *a, const fl_authority *b);

/* An IP address, and no name. */
bool fl_authority_is_address(const fl_authority *authority);

/* localhost, *.localhost, 127.0.0.0/8 in four decimal numbers, [::1]. */
bool fl_authority_is_loopback(const fl_authority *authority);

#endif
