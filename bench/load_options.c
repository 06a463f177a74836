/*
 * load_options.c - the load generator's command line.
 */
#include "load_options.h"

#include "client.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

enum { NEIGHBOURS = 250 };

static const struct option known[] = {
    {"tcp", required_argument, NULL, 't'},
    {"http", required_argument, NULL, 'h'},
    {"ws", required_argument, NULL, 'k'},
    {"spawn", no_argument, NULL, 'p'},
    {"connections", required_argument, NULL, 'c'},
    {"addresses", required_argument, NULL, 'n'},
    {"inflight", required_argument, NULL, 'f'},
    {"size", required_argument, NULL, 'z'},
    {"seconds", required_argument, NULL, 's'},
    {"milliseconds", required_argument, NULL, 'S'},
    {"warmup", required_argument, NULL, 'w'},
    {"warmup-cpu", required_argument, NULL, 'W'},
    {"messages", required_argument, NULL, 'm'},
    {"init", no_argument, NULL, 'i'},
    {"modern", no_argument, NULL, 'M'},
    {"fixed", no_argument, NULL, 'F'},
    {"cpu", required_argument, NULL, 'u'},
    {"server-cpu", required_argument, NULL, 'U'},
    {"server-pid", required_argument, NULL, 'P'},
    {"alloc-file", required_argument, NULL, 'a'},
    {"save", required_argument, NULL, 'A'},
    {0},
};

static const char usage[] =
    "usage: load --tcp HOST:PORT | --http HOST:PORT | --ws HOST:PORT |\n"
    "            --spawn -- COMMAND...\n"
    "  --connections N   (1)      --inflight M     requests on each (1)\n"
    "  --addresses N     of the loopback network to connect from, one after\n"
    "                    the other, up to 250; otherwise one\n"
    "  --size BYTES      of a request, newline included (120)\n"
    "  --seconds S       (2)      --milliseconds S\n"
    "  --warmup MS       (300)    --messages N     instead of a time\n"
    "  --warmup-cpu MS   and until the server has used so much of a processor\n"
    "  --init            greet as MCP asks before the first request\n"
    "  --modern          HTTP requests of 2026-07-28, which need no greeting\n"
    "  --fixed           all HTTP answers are the same: look at no ids\n"
    "  --cpu N           of this process   --server-cpu N  of the spawned one\n"
    "  --server-pid PID  whose processor time to read (--spawn knows it)\n"
    "  --alloc-file F    what alloc_count.so writes\n"
    "  --save FILE       the last HTTP answer of the first connection";

static void set_number(load_options *wanted, const struct option *option,
                       const char *text)
{
    const char *name = option->name;
    int which = option->val;

    if (which == 'c')
        wanted->connections = number_of(name, text, 1);
    else if (which == 'n')
        wanted->addresses = (unsigned)number_of(name, text, 1);
    else if (which == 'f')
        wanted->inflight = number_of(name, text, 1);
    else if (which == 'z')
        wanted->size = number_of(name, text, 1);
    else if (which == 's')
        wanted->duration_ns = number_of(name, text, 1) * 1000000000U;
    else if (which == 'S')
        wanted->duration_ns = number_of(name, text, 1) * 1000000U;
    else if (which == 'w')
        wanted->warmup_ns = number_of(name, text, 0) * 1000000U;
    else if (which == 'W')
        wanted->warmup_cpu_ns = number_of(name, text, 0) * 1000000U;
    else if (which == 'u')
        wanted->cpu = (int)number_of(name, text, 0);
    else if (which == 'U')
        wanted->server_cpu = (int)number_of(name, text, 0);
    else if (which == 'P')
        wanted->server = (pid_t)number_of(name, text, 1);
}

/* Those that are no numbers; false: it is one. */
static bool set_other(load_options *wanted, int which, const char *text)
{
    switch (which) {
    case 't':
        wanted->tcp = text;
        return true;
    case 'h':
        wanted->http = text;
        return true;
    case 'k':
        wanted->ws = text;
        return true;
    case 'i':
        wanted->init = true;
        return true;
    case 'M':
        wanted->modern = true;
        return true;
    case 'F':
        wanted->fixed = true;
        return true;
    case 'a':
        wanted->alloc_file = text;
        return true;
    case 'A':
        wanted->save = text;
        return true;
    case 'm':
        wanted->messages = number_of("--messages", text, 0);
        wanted->counted = true;
        return true;
    default:
        return false;
    }
}

static void check(const load_options *wanted)
{
    int servers = (wanted->tcp != NULL) + (wanted->http != NULL) +
                  (wanted->ws != NULL) + (wanted->command != NULL);

    errno = 0;
    if (servers != 1)
        die("%s", usage);
    if (wanted->addresses > NEIGHBOURS)
        die("at most %d addresses", NEIGHBOURS);
    if (wanted->http != NULL && wanted->inflight != 1)
        die("HTTP/1.1 has one request under way on a connection");
}

load_options load_options_parse(int argc, char **argv)
{
    load_options wanted = {.connections = 1,
                           .inflight = 1,
                           .size = 120,
                           .duration_ns = 2000000000U,
                           .warmup_ns = 300000000U,
                           .cpu = -1,
                           .server_cpu = -1};
    bool spawned = false;
    int which, index = 0;

    while ((which = getopt_long(argc, argv, "", known, &index)) != -1) {
        if (which == '?')
            exit(2);
        if (which == 'p')
            spawned = true;
        else if (!set_other(&wanted, which, optarg))
            set_number(&wanted, &known[index], optarg);
    }
    wanted.command = spawned && optind < argc ? argv + optind : NULL;
    check(&wanted);
    return wanted;
}
