/*
 * http2_host.c - http2-host PORT: a server of HTTP/2 and nothing else, for
 * suites that test how frames are read and written.
 *
 * A real server of ours answers many a request by its head, and what is wrong
 * with the rest is then nobody's business any more. This one waits until a
 * request is whole, so that each verdict is the codec's own: over plain TCP,
 * by prior knowledge, a process for each connection, and blocking, for there is
 * nobody else to keep waiting. Port 0 lets the kernel choose; which it is, is
 * printed.
 */
#include "base/span.h"
#include "wire/http.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* The last words of a connection are lost if it is closed unread: so much time
 * the peer has to leave. */
enum { LINGER_SECONDS = 2 };
enum { READ_SIZE = 65536, PARTS_MAX = 32, BACKLOG = 64, USAGE = 2 };

typedef struct conn {
    int fd;
    bool over;
} conn;

/* All of it, for it blocks. */
static fl_status write_out(void *user, const fl_span *parts, size_t count,
                           bool urgent)
{
    const conn *c = user;
    struct iovec pieces[PARTS_MAX];

    (void)urgent;
    if (count > PARTS_MAX)
        return FL_E_LIMIT;
    for (size_t i = 0; i < count; i++)
        pieces[i] = (struct iovec){
            .iov_base = (void *)(uintptr_t)parts[i].ptr,
            .iov_len = parts[i].len,
        };
    ssize_t n = writev(c->fd, pieces, (int)count);
    return n == (ssize_t)fl_span_total(parts, count) ? FL_OK : FL_E_CLOSED;
}

static void answer(fl_exchange *exchange, unsigned status)
{
    static const char line[] = "A body that takes more than one window of a "
                               "few bytes, and less than one frame.\n";
    const fl_field type = FL_FIELD_SET(CONTENT_TYPE, FL_SPAN("text/plain"));
    const fl_heading heading = {.status = status, .fields = &type, .count = 1};
    const fl_span one = {line, sizeof line - 1};

    if (fl_exchange_answer(exchange, &heading, (fl_span[]){one, one, one}, 3) !=
        FL_OK)
        fl_exchange_reset(exchange);
}

static void on_head(fl_exchange *exchange, const fl_head *head, void *user)
{
    (void)exchange;
    (void)head;
    (void)user;
}

static void on_body(fl_exchange *exchange, fl_span bytes, void *user)
{
    (void)exchange;
    (void)bytes;
    (void)user;
}

static void on_end(fl_exchange *exchange, void *user)
{
    (void)user;
    answer(exchange, 200);
}

static void on_bad(fl_exchange *exchange, unsigned status, const char *what,
                   void *user)
{
    (void)what;
    (void)user;
    answer(exchange, status);
}

static void on_lost(fl_exchange *exchange, const fl_error *why, void *user)
{
    (void)exchange;
    (void)why;
    (void)user;
}

static void on_over(void *user)
{
    ((conn *)user)->over = true;
}

static const fl_http_events events = {
    .write = write_out,
    .on_head = on_head,
    .on_body = on_body,
    .on_end = on_end,
    .on_bad = on_bad,
    .on_lost = on_lost,
    .on_over = on_over,
};

static void feed(conn *c, fl_http *http, char *room)
{
    while (!c->over) {
        ssize_t n = recv(c->fd, room, READ_SIZE, 0);
        if (n > 0)
            fl_http_feed(http, (fl_span){room, (size_t)n});
        else if (n == 0)
            fl_http_end_input(http);
        if (n <= 0)
            return;
    }
}

/* Ours ends; the peer's is read away. */
static void say_goodbye(int fd, char *room)
{
    const struct timeval patience = {.tv_sec = LINGER_SECONDS};

    (void)shutdown(fd, SHUT_WR);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    while (recv(fd, room, READ_SIZE, 0) > 0)
        ;
}

static int serve(int fd)
{
    static char room[READ_SIZE];
    conn c = {.fd = fd};
    const fl_http_options options = {
        .version = 20, .events = &events, .user = &c};
    const int yes = 1;
    fl_http *http;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (fl_http_new(&options, &http) != FL_OK)
        return EXIT_FAILURE;
    feed(&c, http, room);
    say_goodbye(fd, room);
    fl_http_free(http);
    return EXIT_SUCCESS;
}

/* The socket, or -1; its port is printed. */
static int listen_on(const char *port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    socklen_t len = sizeof address;
    const int yes = 1;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (const struct sockaddr *)&address, len) != 0 ||
        listen(fd, BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) != 0)
        return -1;
    printf("%u\n", ntohs(address.sin_port));
    (void)fflush(stdout);
    return fd;
}

int main(int argc, char **argv)
{
    int door = argc == 2 ? listen_on(argv[1]) : -1;

    if (door < 0) {
        fprintf(stderr, "usage: http2-host PORT, which must be free\n");
        return USAGE;
    }
    (void)signal(SIGCHLD, SIG_IGN); /* nobody asks what became of them */
    (void)signal(SIGPIPE, SIG_IGN);
    for (;;) {
        int fd = accept(door, NULL, NULL);
        if (fd >= 0 && fork() == 0)
            return serve(fd);
        if (fd >= 0)
            (void)close(fd);
    }
}
