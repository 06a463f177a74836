/*
 * raw_echo.c - the least a server can do: give back what it reads.
 *
 * This is the yardstick. It parses nothing, knows no protocol and keeps no
 * state beyond a line that has not ended, so what fairlead takes on top of it
 * is the price of the whole stack and nothing else.
 *
 *     raw_echo --tcp PORT    every connection, by epoll, on 127.0.0.1
 *     raw_echo --stdio       stdin to stdout
 *
 * A read that ends in a newline goes back in one write. One that does not is
 * held until its end has come: a line server may not answer half a line.
 */
#include "client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_SIZE = 65536, EVENTS = 256, BACKLOG = 4096, HELD_MAX = 1 << 20 };

/* The start of a line whose end has not come. */
typedef struct held {
    char *bytes;
    size_t size;
} held;

typedef struct server {
    int epoll;
    int listener;
    held *held; /* by descriptor */
    char buffer[READ_SIZE];
} server;

/* Waits where it must: nobody else's answer is worth measuring meanwhile. */
static bool write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno == EAGAIN) {
            struct pollfd ready = {.fd = fd, .events = POLLOUT};
            poll(&ready, 1, -1);
        } else if (n < 0) {
            return false;
        } else {
            bytes += n;
            size -= (size_t)n;
        }
    }
    return true;
}

static int listen_on(uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(fd, (const struct sockaddr *)&at, sizeof at) != 0 ||
        listen(fd, BACKLOG) != 0)
        die("listen on port %u", port);
    return fd;
}

static void watch(const server *self, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    if (epoll_ctl(self->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        die("epoll_ctl");
}

static void accept_all(const server *self)
{
    int on = 1, fd;

    while ((fd = accept4(self->listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        watch(self, fd);
    }
}

static void forget(held *part)
{
    free(part->bytes);
    *part = (held){0};
}

static bool hold(held *part, const char *bytes, size_t size)
{
    char *grown = part->size + size <= HELD_MAX
                      ? realloc(part->bytes, part->size + size)
                      : NULL;

    if (grown == NULL)
        return false;
    part->bytes = grown;
    memcpy(grown + part->size, bytes, size);
    part->size += size;
    return true;
}

static bool echo(server *self, int fd)
{
    held *part = &self->held[fd];
    ssize_t n = read(fd, self->buffer, sizeof self->buffer);

    if (n <= 0)
        return n < 0 && errno == EAGAIN;
    if (self->buffer[n - 1] == '\n' && part->size == 0)
        return write_all(fd, self->buffer, (size_t)n);
    if (!hold(part, self->buffer, (size_t)n))
        return false;
    if (self->buffer[n - 1] != '\n')
        return true;
    bool sent = write_all(fd, part->bytes, part->size);
    forget(part);
    return sent;
}

static void serve(server *self, int fd)
{
    if (fd == self->listener) {
        accept_all(self);
    } else if (!echo(self, fd)) {
        forget(&self->held[fd]);
        close(fd);
    }
}

static _Noreturn void run_tcp(uint16_t port)
{
    struct epoll_event events[EVENTS];
    struct rlimit files;
    server *self = calloc(1, sizeof *self);

    if (self == NULL || getrlimit(RLIMIT_NOFILE, &files) != 0)
        die("start");
    self->held = calloc(files.rlim_cur, sizeof *self->held);
    self->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (self->held == NULL || self->epoll < 0)
        die("start");
    self->listener = listen_on(port);
    watch(self, self->listener);
    for (;;) {
        int ready = epoll_wait(self->epoll, events, EVENTS, -1);
        for (int i = 0; i < ready; i++)
            serve(self, events[i].data.fd);
    }
}

static int run_stdio(void)
{
    static char buffer[READ_SIZE];
    ssize_t n;

    while ((n = read(STDIN_FILENO, buffer, sizeof buffer)) > 0)
        if (!write_all(STDOUT_FILENO, buffer, (size_t)n))
            return 1;
    return n < 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--stdio") == 0)
        return run_stdio();
    if (argc == 3 && strcmp(argv[1], "--tcp") == 0)
        run_tcp((uint16_t)number_of("--tcp", argv[2], 1));
    errno = 0;
    die("usage: raw_echo --stdio | --tcp PORT");
}
