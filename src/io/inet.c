/*
 * inet.c - Internet addresses as text.
 */
#include "io/inet.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

static const struct sockaddr_in6 *as_ip6(const struct sockaddr *address)
{
    return (const struct sockaddr_in6 *)(const void *)address;
}

static const struct sockaddr_in *as_ip4(const struct sockaddr *address)
{
    return (const struct sockaddr_in *)(const void *)address;
}

void fl_inet_host(const struct sockaddr *address, char host[FL_INET_HOST])
{
    host[0] = '\0';
    if (address->sa_family == AF_INET) {
        uv_ip4_name(as_ip4(address), host, FL_INET_HOST);
    } else if (address->sa_family == AF_INET6) {
        const struct in6_addr *ip = &as_ip6(address)->sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(ip))
            uv_inet_ntop(AF_INET, &ip->s6_addr[12], host, FL_INET_HOST);
        else
            uv_ip6_name(as_ip6(address), host, FL_INET_HOST);
    }
}

uint16_t fl_inet_port(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohs(as_ip4(address)->sin_port);
    if (address->sa_family == AF_INET6)
        return ntohs(as_ip6(address)->sin6_port);
    return 0;
}

void fl_inet_join(const char *host, uint16_t port, char *out, size_t size)
{
    bool is_ip6 = strchr(host, ':') != NULL;

    snprintf(out, size, is_ip6 ? "[%s]:%u" : "%s:%u", host, port);
}

void fl_inet_name(const struct sockaddr *address, char name[FL_INET_NAME])
{
    char host[FL_INET_HOST];

    fl_inet_host(address, host);
    fl_inet_join(host, fl_inet_port(address), name, FL_INET_NAME);
}

bool fl_inet_parse(const char *host, uint16_t port,
                   struct sockaddr_storage *out)
{
    *out = (struct sockaddr_storage){0};
    return uv_ip4_addr(host, port, (struct sockaddr_in *)(void *)out) == 0 ||
           uv_ip6_addr(host, port, (struct sockaddr_in6 *)(void *)out) == 0;
}
