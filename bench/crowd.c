/*
 * crowd.c - many sessions, each with its standing event stream, that listen.
 *
 *     crowd --http HOST:PORT [--sessions N] [--addresses N]
 *
 * Each session has one connection: initialize, notifications/initialized and
 * then the GET whose answer does not end. They come from as many addresses of
 * the loopback network as are asked for, since servers count by address.
 *
 * Like `idle` it prints a line of JSON once all are there, and again for every
 * line on stdin: how many streams are open, how many marked messages (mark.h)
 * have come, and how many of each client's numbers were skipped or came
 * twice. At the end of stdin it exits.
 */
#include "client.h"
#include "http_client.h"
#include "latency.h"
#include "mark.h"
#include "request.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { EVENTS = 256, PATIENCE_MS = 30000, READ_SIZE = 16384 };
enum { KEEP_MAX = MARK_SIZE - 1, NEIGHBOURS = 250 };

typedef struct options {
    const char *address;
    size_t sessions;
    unsigned addresses;
} options;

typedef struct member {
    int fd; /* -1: the server closed it */
    size_t kept;
    char keep[KEEP_MAX]; /* the last bytes, in which a mark may begin */
    uint64_t last;       /* number heard */
} member;

typedef struct crowd {
    options wanted;
    int epoll;
    member *members;
    size_t open;
    uint64_t events, lost, twice;
    latency times;
} crowd;

static options parse(int argc, char **argv)
{
    static const struct option known[] = {
        {"http", required_argument, NULL, 'h'},
        {"sessions", required_argument, NULL, 's'},
        {"addresses", required_argument, NULL, 'a'},
        {0},
    };
    options wanted = {.sessions = 10000};
    int which;

    while ((which = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (which == 'h')
            wanted.address = optarg;
        else if (which == 's')
            wanted.sessions = number_of("--sessions", optarg, 1);
        else if (which == 'a')
            wanted.addresses = (unsigned)number_of("--addresses", optarg, 1);
        else
            exit(2);
    }
    errno = 0;
    if (wanted.address == NULL || wanted.addresses > NEIGHBOURS)
        die("usage: crowd --http HOST:PORT [--sessions N] [--addresses N]");
    return wanted;
}

static void hear(crowd *self, member *from, const char *mark, uint64_t now)
{
    uint64_t number, sent_at;

    if (!mark_read(mark, &number, &sent_at))
        return;
    self->events++;
    if (number <= from->last) {
        self->twice++;
        return;
    }
    self->lost += number - from->last - 1;
    from->last = number;
    latency_add(&self->times, now > sent_at ? now - sent_at : 0);
}

/* Finds the marks in what was kept and what has come, and keeps the end. */
static void scan(crowd *self, member *from, char *bytes, size_t size)
{
    char *at = bytes, *end = bytes + size, *mark;
    uint64_t now = now_ns();

    *end = '\0'; /* for sscanf */
    while ((mark = memmem(at, (size_t)(end - at), MARK, sizeof MARK - 1)) &&
           end - mark >= MARK_SIZE) {
        hear(self, from, mark, now);
        at = mark + MARK_SIZE;
    }
    size_t left = (size_t)(end - at);
    from->kept = left < KEEP_MAX ? left : KEEP_MAX;
    memcpy(from->keep, end - from->kept, from->kept);
}

static void leave(crowd *self, member *who)
{
    close(who->fd);
    who->fd = -1;
    self->open--;
}

static void ready(crowd *self, member *from)
{
    char bytes[KEEP_MAX + READ_SIZE + 1];

    memcpy(bytes, from->keep, from->kept);
    ssize_t n = read(from->fd, bytes + from->kept, READ_SIZE);
    if (n > 0)
        scan(self, from, bytes, from->kept + (size_t)n);
    else if (n == 0 || errno != EAGAIN)
        leave(self, from);
}

/* The head of the answer to GET; what comes after it is events. */
static bool await_stream(crowd *self, member *who)
{
    char bytes[READ_SIZE + 1];
    struct pollfd look = {.fd = who->fd, .events = POLLIN};
    http_answer answer;
    size_t size = 0;

    do {
        if (size == READ_SIZE || poll(&look, 1, PATIENCE_MS) != 1)
            return false;
        ssize_t n = read(who->fd, bytes + size, READ_SIZE - size);
        if (n <= 0)
            return false;
        size += (size_t)n;
    } while (!http_head_read(bytes, size, &answer));
    scan(self, who, bytes + answer.head_size, size - answer.head_size);
    return answer.status == 200;
}

static void join(crowd *self, member *who, unsigned neighbour)
{
    http_door door = {.address = self->wanted.address, .era = HTTP_SESSIONS};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = who};
    char get[HTTP_HEAD_MAX];

    who->fd = connect_from(door.address, neighbour).in;
    self->open++;
    if (!http_greet(who->fd, &door)) {
        leave(self, who);
        return;
    }
    size_t size = http_write_get(&door, get, sizeof get);
    if (write(who->fd, get, size) != (ssize_t)size ||
        !await_stream(self, who)) {
        leave(self, who);
        return;
    }
    make_nonblocking(who->fd);
    if (epoll_ctl(self->epoll, EPOLL_CTL_ADD, who->fd, &event) != 0)
        die("epoll_ctl");
}

static void report(const crowd *self)
{
    printf("{\"open\":%zu,\"events\":%" PRIu64 ",\"lost\":%" PRIu64
           ",\"twice\":%" PRIu64 ",\"p50_us\":%.1f,\"p99_us\":%.1f}\n",
           self->open, self->events, self->lost, self->twice,
           (double)latency_at(&self->times, 0.5) / 1e3,
           (double)latency_at(&self->times, 0.99) / 1e3);
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

static void listen_in(crowd *self)
{
    struct epoll_event events[EVENTS], input = {.events = EPOLLIN};
    bool more = true;

    if (epoll_ctl(self->epoll, EPOLL_CTL_ADD, STDIN_FILENO, &input) != 0)
        die("stdin must be a pipe");
    while (more) {
        int count = epoll_wait(self->epoll, events, EVENTS, -1);
        for (int i = 0; i < count; i++)
            if (events[i].data.ptr == NULL)
                more = obey(self);
            else
                ready(self, events[i].data.ptr);
    }
}

int main(int argc, char **argv)
{
    static crowd self;

    self.wanted = parse(argc, argv);
    self.members = must_have(calloc(self.wanted.sessions, sizeof(member)));
    self.epoll = epoll_create1(EPOLL_CLOEXEC);
    raise_file_limit();
    for (size_t i = 0; i < self.wanted.sessions; i++)
        join(&self, &self.members[i],
             self.wanted.addresses > 0
                 ? 2 + (unsigned)(i % self.wanted.addresses)
                 : 0);
    report(&self);
    listen_in(&self);
    free(self.members);
    return 0;
}
