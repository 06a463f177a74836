/*
 * inet.h - Internet addresses as text.
 */
#ifndef FL_IO_INET_H
#define FL_IO_INET_H

#include <fairlead/types.h>

#include <sys/socket.h>

enum {
    FL_INET_HOST = 64, /* an IPv6 address with a zone, and its NUL */
    FL_INET_NAME = 80, /* the same in brackets, with a port */
};

/* "192.0.2.1", "::1"; "" for anything that is not an Internet address. An
 * IPv4 peer of a dual-stack socket shows as what it is, IPv4. */
void fl_inet_host(const struct sockaddr *address, char host[FL_INET_HOST]);

/* "192.0.2.1:80", "[::1]:80". */
void fl_inet_name(const struct sockaddr *address, char name[FL_INET_NAME]);

/* "host:port" of text, the host in brackets when it is an IPv6 address. */
void fl_inet_join(const char *host, uint16_t port, char *out, size_t size);

/* False unless `host` is an address, not a name. */
bool fl_inet_parse(const char *host, uint16_t port,
                   struct sockaddr_storage *out);

/* 0 for anything that is not an Internet address. */
uint16_t fl_inet_port(const struct sockaddr *address);

#endif
