/*
 * idle.c - opens many connections and then does nothing with them.
 *
 *     idle --tcp HOST:PORT [--connections N] [--addresses N] [--init]
 *
 * It prints how many the server holds open, as {"open":N}, once they are all
 * there and again for every line on stdin; at the end of stdin it exits. So
 * the runner decides when to look at the server, and learns whether a limit
 * or a timeout had taken some of the connections away by then.
 */
#include "client.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NEIGHBOURS = 250 };

typedef struct options {
    const char *address;
    size_t connections;
    unsigned addresses;
    bool init;
} options;

static options parse(int argc, char **argv)
{
    static const struct option known[] = {
        {"tcp", required_argument, NULL, 't'},
        {"connections", required_argument, NULL, 'c'},
        {"addresses", required_argument, NULL, 'a'},
        {"init", no_argument, NULL, 'i'},
        {0},
    };
    options wanted = {.connections = 10000};
    int which;

    while ((which = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (which == 't')
            wanted.address = optarg;
        else if (which == 'c')
            wanted.connections = number_of("--connections", optarg, 1);
        else if (which == 'a')
            wanted.addresses = (unsigned)number_of("--addresses", optarg, 1);
        else if (which == 'i')
            wanted.init = true;
        else
            exit(2);
    }
    errno = 0;
    if (wanted.address == NULL || wanted.addresses > NEIGHBOURS)
        die("usage: idle --tcp HOST:PORT [--connections N] [--addresses N] "
            "[--init]");
    return wanted;
}

static void close_if_refused(route *server, bool init)
{
    if (!init || greet(*server))
        return;
    close(server->in);
    server->in = server->out = -1;
}

/* Closed by the server, whatever it may have said before. */
static bool is_open(int fd)
{
    struct pollfd look = {.fd = fd, .events = POLLRDHUP};

    return fd >= 0 && poll(&look, 1, 0) == 0;
}

static void report(const route *servers, size_t count)
{
    size_t open = 0;

    for (size_t i = 0; i < count; i++)
        open += is_open(servers[i].in);
    printf("{\"open\":%zu}\n", open);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    options wanted = parse(argc, argv);
    route *servers = calloc(wanted.connections, sizeof *servers);
    char line[64];

    if (servers == NULL)
        die("memory");
    raise_file_limit();
    for (size_t i = 0; i < wanted.connections; i++) {
        servers[i] = connect_from(
            wanted.address,
            wanted.addresses > 0 ? 2 + (unsigned)(i % wanted.addresses) : 0);
        close_if_refused(&servers[i], wanted.init);
    }
    report(servers, wanted.connections);
    while (fgets(line, sizeof line, stdin) != NULL)
        report(servers, wanted.connections);
    free(servers);
    return 0;
}
