/*
 * raw_relay.c - the least that puts an HTTP server behind HTTP: a relay.
 *
 *     raw_relay PORT TO
 *
 * The yardstick for bridging HTTP to HTTP. Each connection gets one of its own
 * to 127.0.0.1:TO, and what is read on either side is written to the other.
 * It cannot be done with fewer system calls, and this one does nothing else.
 */
#include "client.h"
#include "raw.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

enum { CLIENTS_MAX = 65536, ADDRESS_MAX = 32 };

static int beyond[CLIENTS_MAX]; /* by descriptor; 0: it has gone */
static char address[ADDRESS_MAX];

static int reach(int fd)
{
    int to = connect_to(address).in;

    if (to >= CLIENTS_MAX || fd >= CLIENTS_MAX)
        die("too many connections");
    make_nonblocking(to);
    beyond[fd] = to;
    beyond[to] = fd;
    return to;
}

static bool relay(int fd, const char *bytes, size_t size, raw_held *part)
{
    (void)part;
    return beyond[fd] != 0 && raw_write(beyond[fd], bytes, size);
}

/* The other one is not closed yet: an event may be waiting for it. */
static void leave(int fd)
{
    int to = beyond[fd];

    beyond[fd] = 0;
    if (to == 0)
        return;
    beyond[to] = 0;
    shutdown(to, SHUT_RDWR);
}

int main(int argc, char **argv)
{
    errno = 0;
    if (argc != 3)
        die("usage: raw_relay PORT TO");
    snprintf(address, sizeof address, "127.0.0.1:%u",
             (unsigned)number_of("TO", argv[2], 1));
    raw_run_with(&(raw_program){
        .port = (uint16_t)number_of("PORT", argv[1], 1),
        .serve = relay,
        .other = -1,
        .came = reach,
        .gone = leave,
    });
}
