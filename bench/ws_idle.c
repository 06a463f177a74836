/*
 * ws_idle.c - opens many WebSockets and then only answers their pings.
 *
 *     ws_idle --ws HOST:PORT [--sockets N] [--addresses N] [--init]
 *
 * The sockets come from as many addresses of the loopback network as are
 * asked for, since servers count by address. Like `idle` it prints a line of
 * JSON once all are there, and again for every line on stdin: how many are
 * open, and how many pings have come. At the end of stdin it exits.
 */
#include "client.h"
#include "request.h"
#include "ws_client.h"
#include "ws_frame.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { EVENTS = 256, READ_SIZE = 16384, NEIGHBOURS = 250, CONTROL_MAX = 125 };

typedef struct options {
    const char *address;
    size_t sockets;
    unsigned addresses;
    bool init;
} options;

typedef struct crowd {
    options wanted;
    int epoll;
    int *sockets; /* -1: the server closed it */
    size_t open;
    uint64_t pings;
} crowd;

static options parse(int argc, char **argv)
{
    static const struct option known[] = {
        {"ws", required_argument, NULL, 'k'},
        {"sockets", required_argument, NULL, 's'},
        {"addresses", required_argument, NULL, 'a'},
        {"init", no_argument, NULL, 'i'},
        {0},
    };
    options wanted = {.sockets = 10000};
    int which;

    while ((which = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (which == 'k')
            wanted.address = optarg;
        else if (which == 's')
            wanted.sockets = number_of("--sockets", optarg, 1);
        else if (which == 'a')
            wanted.addresses = (unsigned)number_of("--addresses", optarg, 1);
        else if (which == 'i')
            wanted.init = true;
        else
            exit(2);
    }
    errno = 0;
    if (wanted.address == NULL || wanted.addresses > NEIGHBOURS)
        die("usage: ws_idle --ws HOST:PORT [--sockets N] [--addresses N] "
            "[--init]");
    return wanted;
}

static void leave(crowd *self, int *socket)
{
    close(*socket);
    *socket = -1;
    self->open--;
}

static bool pong(int fd, const ws_frame *ping)
{
    char frame[CONTROL_MAX + WS_HEAD_MAX];

    if (ping->size > CONTROL_MAX)
        return false;
    size_t n = ws_frame_write(frame, WS_PONG, ping->payload, ping->size);
    return write(fd, frame, n) == (ssize_t)n;
}

/* So little is said to us that a frame always comes whole. */
static void ready(crowd *self, int *socket)
{
    char bytes[READ_SIZE];
    ssize_t n = read(*socket, bytes, sizeof bytes);
    size_t size = n > 0 ? (size_t)n : 0, at = 0, taken;
    ws_frame frame;
    bool well = n > 0;

    while (well && (taken = ws_frame_read(bytes + at, size - at, &frame)) > 0) {
        at += taken;
        if (frame.opcode != WS_PING)
            continue;
        self->pings++;
        well = pong(*socket, &frame);
    }
    if (!well || at < size)
        leave(self, socket);
}

static void join(crowd *self, int *socket, unsigned neighbour)
{
    const char *address = self->wanted.address;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = socket};

    *socket = connect_from(address, neighbour).in;
    self->open++;
    if (!ws_open(*socket, address) || (self->wanted.init && !ws_greet(*socket)))
        leave(self, socket);
    else if (epoll_ctl(self->epoll, EPOLL_CTL_ADD, *socket, &event) != 0)
        die("epoll_ctl");
}

static void report(const crowd *self)
{
    printf("{\"open\":%zu,\"pings\":%" PRIu64 "}\n", self->open, self->pings);
    fflush(stdout);
}

/* False at the end of stdin. */
static bool obey(const crowd *self)
{
    char line[64];

    if (read(STDIN_FILENO, line, sizeof line) <= 0)
        return false;
    report(self);
    return true;
}

/* What is there, waiting for it so long at most; false at the end of stdin. */
static bool look(crowd *self, int timeout_ms)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(self->epoll, events, EVENTS, timeout_ms);
    bool more = true;

    for (int i = 0; i < count; i++)
        if (events[i].data.ptr == NULL)
            more = obey(self);
        else
            ready(self, events[i].data.ptr);
    return more;
}

static void join_all(crowd *self)
{
    unsigned addresses = self->wanted.addresses;

    for (size_t i = 0; i < self->wanted.sockets; i++) {
        join(self, &self->sockets[i],
             addresses > 0 ? 2 + (unsigned)(i % addresses) : 0);
        look(self, 0); /* those that are there are pinged meanwhile */
    }
}

int main(int argc, char **argv)
{
    static crowd self;
    struct epoll_event input = {.events = EPOLLIN};

    self.wanted = parse(argc, argv);
    self.sockets = must_have(calloc(self.wanted.sockets, sizeof(int)));
    self.epoll = epoll_create1(EPOLL_CLOEXEC);
    raise_file_limit();
    join_all(&self);
    report(&self);
    if (epoll_ctl(self.epoll, EPOLL_CTL_ADD, STDIN_FILENO, &input) != 0)
        die("stdin must be a pipe");
    while (look(&self, -1))
        continue;
    free(self.sockets);
    return 0;
}
