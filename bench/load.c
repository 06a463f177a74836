/*
 * load.c - the load generator: N connections, M requests under way on each.
 *
 *     load --tcp HOST:PORT [options]
 *     load [options] --spawn -- COMMAND...
 *
 * One thread and one epoll, closed loop: a new request leaves when an answer
 * has come. It measures from when the warm-up is over, then stops sending and
 * waits for what is under way, so that an answer that never comes is noticed.
 * The result is one line of JSON. It tells how busy both processes were, for
 * a rate says nothing about a server that was waiting for its client.
 */
#include "alloc_count.h"
#include "flow.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EVENTS = 256, PATIENCE_MS = 5000 };

typedef struct options {
    const char *address;
    char *const *command;
    size_t connections, inflight, size;
    uint64_t duration_ns, warmup_ns;
    uint64_t messages; /* instead of a duration, if `counted` */
    bool counted, init;
    int cpu, server_cpu;
    pid_t server;
    const char *alloc_file;
} options;

/* What is read at the beginning and at the end of the measurement. */
typedef struct moment {
    uint64_t time, answers;
    uint64_t server_cpu, own_cpu;
    uint64_t calls, allocations;
} moment;

typedef struct bench_load {
    options wanted;
    int epoll;
    bench_flow *flows;
    bench_request request;
    bench_tally tally;
    uint64_t start_ns; /* from the first connect or fork to the last greeting */
    const alloc_count *counts;
} bench_load;

static const struct option known[] = {
    {"tcp", required_argument, NULL, 't'},
    {"spawn", no_argument, NULL, 'p'},
    {"connections", required_argument, NULL, 'c'},
    {"inflight", required_argument, NULL, 'f'},
    {"size", required_argument, NULL, 'z'},
    {"seconds", required_argument, NULL, 's'},
    {"milliseconds", required_argument, NULL, 'S'},
    {"warmup", required_argument, NULL, 'w'},
    {"messages", required_argument, NULL, 'm'},
    {"init", no_argument, NULL, 'i'},
    {"cpu", required_argument, NULL, 'u'},
    {"server-cpu", required_argument, NULL, 'U'},
    {"server-pid", required_argument, NULL, 'P'},
    {"alloc-file", required_argument, NULL, 'a'},
    {0},
};

static const char usage[] =
    "usage: load --tcp HOST:PORT | --spawn -- COMMAND...\n"
    "  --connections N   (1)      --inflight M     requests on each (1)\n"
    "  --size BYTES      of a request, newline included (120)\n"
    "  --seconds S       (2)      --milliseconds S\n"
    "  --warmup MS       (300)    --messages N     instead of a time\n"
    "  --init            greet as MCP asks before the first request\n"
    "  --cpu N           of this process   --server-cpu N  of the spawned one\n"
    "  --server-pid PID  whose processor time to read (--spawn knows it)\n"
    "  --alloc-file F    what alloc_count.so writes";

static void set_number(options *wanted, const struct option *option,
                       const char *text)
{
    const char *name = option->name;
    int which = option->val;

    if (which == 'c')
        wanted->connections = number_of(name, text, 1);
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
    else if (which == 'u')
        wanted->cpu = (int)number_of(name, text, 0);
    else if (which == 'U')
        wanted->server_cpu = (int)number_of(name, text, 0);
    else if (which == 'P')
        wanted->server = (pid_t)number_of(name, text, 1);
}

static options parse(int argc, char **argv)
{
    options wanted = {.connections = 1,
                      .inflight = 1,
                      .size = 120,
                      .duration_ns = 2000000000U,
                      .warmup_ns = 300000000U,
                      .cpu = -1,
                      .server_cpu = -1};
    bool spawned = false;
    int which, index = 0;

    while ((which = getopt_long(argc, argv, "", known, &index)) != -1) {
        if (which == '?') {
            exit(2);
        } else if (which == 't') {
            wanted.address = optarg;
        } else if (which == 'p') {
            spawned = true;
        } else if (which == 'i') {
            wanted.init = true;
        } else if (which == 'a') {
            wanted.alloc_file = optarg;
        } else if (which == 'm') {
            wanted.messages = number_of("--messages", optarg, 0);
            wanted.counted = true;
        } else {
            set_number(&wanted, &known[index], optarg);
        }
    }
    wanted.command = spawned && optind < argc ? argv + optind : NULL;
    errno = 0;
    if ((wanted.address == NULL) == (wanted.command == NULL))
        die("%s", usage);
    return wanted;
}

static const alloc_count *map_counts(const char *path)
{
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;

    if (path == NULL)
        return NULL;
    void *counts =
        mmap(NULL, sizeof(alloc_count), PROT_READ, MAP_SHARED, fd, 0);
    if (counts == MAP_FAILED)
        die("%s", path);
    close(fd);
    return counts;
}

static route reach(bench_load *load)
{
    options *wanted = &load->wanted;
    route server =
        wanted->command != NULL
            ? spawn(wanted->command, wanted->server_cpu, &wanted->server)
            : connect_to(wanted->address);

    errno = 0;
    if (wanted->init && !greet(server))
        die("the server did not answer initialize");
    return server;
}

static void open_flows(bench_load *load)
{
    options *wanted = &load->wanted;
    uint64_t begin = now_ns();

    if (wanted->command != NULL)
        wanted->connections = 1;
    load->flows = calloc(wanted->connections, sizeof *load->flows);
    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (load->flows == NULL || load->epoll < 0)
        die("start");
    request_init(&load->request, wanted->size);
    for (size_t i = 0; i < wanted->connections; i++)
        flow_init(&load->flows[i], reach(load), load->epoll, &load->request,
                  wanted->inflight, &load->tally);
    load->start_ns = now_ns() - begin;
    load->counts = map_counts(wanted->alloc_file);
}

static void close_flows(bench_load *load)
{
    for (size_t i = 0; i < load->wanted.connections; i++)
        flow_deinit(&load->flows[i]);
    free(load->flows);
    request_deinit(&load->request);
    close(load->epoll);
    if (load->wanted.command != NULL)
        waitpid(load->wanted.server, NULL, 0);
}

/* One look at what is ready; false when the server has fallen silent. */
static bool turn(const bench_load *load)
{
    struct epoll_event events[EVENTS];
    int ready = epoll_wait(load->epoll, events, EVENTS, PATIENCE_MS);

    for (int i = 0; i < ready; i++)
        flow_ready(events[i].data.ptr, events[i].events);
    return ready > 0;
}

static void run_until(const bench_load *load, uint64_t time, uint64_t answers)
{
    while (load->tally.answers < answers && now_ns() < time)
        if (!turn(load))
            die("no answer in %d ms, %zu are due", PATIENCE_MS,
                load->tally.outstanding);
}

static moment look(const bench_load *load)
{
    pid_t server = load->wanted.server;

    return (moment){
        .time = now_ns(),
        .answers = load->tally.answers,
        .server_cpu = server > 0 ? cpu_ns(server) : 0,
        .own_cpu = cpu_ns(getpid()),
        .calls = server > 0 ? read_write_calls(server) : 0,
        .allocations = load->counts != NULL ? load->counts->calls : 0,
    };
}

static void drain(bench_load *load)
{
    load->tally.stop = true;
    while (load->tally.outstanding > 0 && turn(load))
        continue;
}

static void print_times(const latency *times)
{
    printf("\"p50_us\":%.2f,\"p99_us\":%.2f,\"p999_us\":%.2f,",
           (double)latency_at(times, 0.5) / 1e3,
           (double)latency_at(times, 0.99) / 1e3,
           (double)latency_at(times, 0.999) / 1e3);
}

/* Capacity is the rate at which the busier side would have filled its
 * processor: what a machine shared with others does not take away. */
static void print_cost(moment from, moment to, double ns, double messages)
{
    double server = (double)(to.server_cpu - from.server_cpu);
    double own = (double)(to.own_cpu - from.own_cpu);
    double most = server > own ? server : own;
    double each = messages > 0 ? messages : 1;

    printf("\"server_cpu_us\":%.4f,\"server_busy\":%.3f,\"load_busy\":%.3f,",
           server / each / 1e3, server / ns, own / ns);
    printf("\"capacity\":%.0f,\"rw_calls\":%.4f,",
           most > 0 ? messages / most * 1e9 : 0,
           (double)(to.calls - from.calls) / each);
}

static void print(const bench_load *load, moment from, moment to)
{
    const options *wanted = &load->wanted;
    double messages = (double)(to.answers - from.answers);
    double ns = to.time > from.time ? (double)(to.time - from.time) : 1;

    printf("{\"connections\":%zu,\"inflight\":%zu,\"size\":%zu,",
           wanted->connections, wanted->inflight, wanted->size);
    printf("\"messages\":%.0f,\"seconds\":%.3f,\"rate\":%.0f,", messages,
           ns / 1e9, messages / ns * 1e9);
    print_times(&load->tally.times);
    print_cost(from, to, ns, messages);
    if (load->counts != NULL)
        printf("\"allocations\":%" PRIu64 ",",
               to.allocations - from.allocations);
    printf("\"start_us\":%.1f,\"total\":%" PRIu64 ",",
           (double)load->start_ns / 1e3, load->tally.answers);
    printf("\"bad\":%" PRIu64 ",\"lost\":%zu}\n", load->tally.bad,
           load->tally.outstanding);
}

/* No messages at all means that only the start is of interest. */
static void measure(bench_load *load)
{
    const options *wanted = &load->wanted;

    if (wanted->counted && wanted->messages == 0) {
        moment now = look(load);
        print(load, now, now);
        return;
    }
    for (size_t i = 0; i < wanted->connections; i++)
        flow_start(&load->flows[i]);
    run_until(load, now_ns() + wanted->warmup_ns, UINT64_MAX);
    load->tally.times = (latency){0};
    moment from = look(load);
    if (wanted->counted)
        run_until(load, UINT64_MAX, from.answers + wanted->messages);
    else
        run_until(load, from.time + wanted->duration_ns, UINT64_MAX);
    moment to = look(load);
    drain(load);
    print(load, from, to);
}

int main(int argc, char **argv)
{
    static bench_load load;

    load.wanted = parse(argc, argv);
    pin_to(load.wanted.cpu);
    signal(SIGPIPE, SIG_IGN);
    open_flows(&load);
    measure(&load);
    close_flows(&load);
    return load.tally.bad > 0 || load.tally.outstanding > 0;
}
