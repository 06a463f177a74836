/*
 * raw.c - the frame of the reference servers.
 *
 * One read for each report of epoll, and what came of it is written at once.
 * That is two system calls for a message on a connection of its own, besides
 * a share of epoll_wait: less cannot be done without a ring.
 */
#include "raw.h"

#include "client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 256, BACKLOG = 4096 };

typedef struct server {
    int epoll;
    int listener;
    const raw_program *program;
    raw_held *held; /* by descriptor */
    char buffer[RAW_READ_SIZE + RAW_SLACK];
} server;

bool raw_write(int fd, const char *bytes, size_t size)
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

void raw_forget(raw_held *part)
{
    free(part->bytes);
    *part = (raw_held){0};
}

bool raw_hold(raw_held *part, const char *bytes, size_t size)
{
    char *grown = part->size + size <= RAW_HELD_MAX
                      ? realloc(part->bytes, part->size + size)
                      : NULL;

    if (grown == NULL)
        return false;
    part->bytes = grown;
    memcpy(grown + part->size, bytes, size);
    part->size += size;
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
        if (self->program->came != NULL)
            watch(self, self->program->came(fd));
    }
}

static bool serve(server *self, int fd)
{
    const raw_program *program = self->program;
    raw_serve *how = fd == program->other ? program->hear : program->serve;
    ssize_t n = read(fd, self->buffer, RAW_READ_SIZE);

    if (n <= 0)
        return n < 0 && errno == EAGAIN;
    return how(fd, self->buffer, (size_t)n, &self->held[fd]);
}

static void ready(server *self, int fd)
{
    if (fd == self->listener) {
        accept_all(self);
    } else if (!serve(self, fd)) {
        if (fd == self->program->other)
            exit(0);
        raw_forget(&self->held[fd]);
        if (self->program->gone != NULL)
            self->program->gone(fd);
        close(fd);
    }
}

static server *start(const raw_program *program)
{
    struct rlimit files;
    server *self = calloc(1, sizeof *self);

    if (self == NULL || getrlimit(RLIMIT_NOFILE, &files) != 0)
        die("start");
    self->program = program;
    self->held = calloc(files.rlim_cur, sizeof *self->held);
    self->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (self->held == NULL || self->epoll < 0)
        die("start");
    self->listener = listen_on(program->port);
    watch(self, self->listener);
    if (program->other >= 0)
        watch(self, program->other);
    return self;
}

_Noreturn void raw_run_with(const raw_program *program)
{
    struct epoll_event events[EVENTS];
    server *self = start(program);

    for (;;) {
        int count = epoll_wait(self->epoll, events, EVENTS, -1);
        for (int i = 0; i < count; i++)
            ready(self, events[i].data.fd);
        if (program->after != NULL)
            program->after();
    }
}

_Noreturn void raw_run(uint16_t port, raw_serve *how)
{
    raw_program program = {.port = port, .serve = how, .other = -1};

    raw_run_with(&program);
}
