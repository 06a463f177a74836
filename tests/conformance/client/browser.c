/*
 * browser.c - a browser whose user says yes to everything: it visits a page
 * and tells where that sends him on to.
 *
 * The pages are the suite's own, on this machine, and answer at once.
 */
#include "talk.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD_MAX = 16384 };

struct place {
    char host[128];
    char port[8];
    const char *path;
};

static bool parse(const char *url, struct place *place)
{
    int at = 0;

    if (sscanf(url, "http://%127[^:/]:%7[0-9]%n", place->host, place->port,
               &at) < 2)
        return false;
    place->path = url + at;
    return place->path[0] == '/';
}

static int dial(const struct place *place)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    int fd = -1;

    if (getaddrinfo(place->host, place->port, &hints, &found) != 0)
        return -1;
    for (struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    return fd;
}

/* The head of the answer, NUL-terminated, and perhaps more. */
static bool fetch(int fd, const struct place *place, char *head)
{
    size_t len = 0;

    dprintf(fd, "GET %s HTTP/1.1\r\nHost: %s:%s\r\nConnection: close\r\n\r\n",
            place->path, place->host, place->port);
    while (len < HEAD_MAX - 1) {
        ssize_t got = read(fd, head + len, HEAD_MAX - 1 - len);
        if (got <= 0)
            break;
        len += (size_t)got;
    }
    head[len] = '\0';
    return len > 0;
}

char *visit(const char *url)
{
    struct place place;
    int fd = parse(url, &place) ? dial(&place) : -1;
    char *head = malloc(HEAD_MAX), *to = NULL;

    if (fd >= 0 && head != NULL && fetch(fd, &place, head)) {
        char *line = strcasestr(head, "\r\nlocation:");
        if (line != NULL) {
            line += strlen("\r\nlocation:");
            line += strspn(line, " ");
            to = strndup(line, strcspn(line, "\r\n"));
        }
    }
    if (fd >= 0)
        close(fd);
    free(head);
    return to;
}
