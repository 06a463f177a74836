/*
 * load.c - the load generator: N connections, M requests under way on each.
 *
 *     load --tcp HOST:PORT [options]
 *     load --http HOST:PORT [options]
 *     load --ws HOST:PORT [options]
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
#include "http_flow.h"
#include "load_options.h"
#include "ws_client.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EVENTS = 256, PATIENCE_MS = 30000, SILENCE_MS = 20 };

static const uint64_t WARMUP_MAX_NS = 30000000000U, WARMUP_STEP_NS = 50000000U;

/* What is read at the beginning and at the end of the measurement. */
typedef struct moment {
    uint64_t time, answers;
    uint64_t server_cpu, own_cpu;
    uint64_t allocations;
} moment;

typedef struct bench_load {
    load_options wanted;
    int epoll;
    bench_flow *flows;     /* of lines or frames, or */
    http_flow *http_flows; /* of HTTP requests */
    bench_request request;
    bench_tally tally;
    uint64_t start_ns; /* from the first connect or fork to the last greeting */
    const alloc_count *counts;
} bench_load;

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

static route reach(bench_load *load, unsigned neighbour)
{
    load_options *wanted = &load->wanted;
    route server =
        wanted->command != NULL
            ? spawn(wanted->command, wanted->server_cpu, &wanted->server)
            : connect_from(wanted->tcp, neighbour);

    errno = 0;
    if (wanted->init && !greet(server))
        die("the server did not answer initialize");
    return server;
}

static route reach_ws(const load_options *wanted, unsigned neighbour)
{
    route server = connect_from(wanted->ws, neighbour);

    errno = 0;
    if (!ws_open(server.in, wanted->ws))
        die("the server did not take the WebSocket");
    if (wanted->init && !ws_greet(server.in))
        die("the server did not answer initialize");
    return server;
}

/* A server that is not greeted gets requests of the same size all the same. */
static void open_http(const bench_load *load, http_flow *flow,
                      unsigned neighbour, bench_tally *tally)
{
    const load_options *wanted = &load->wanted;
    http_door door = {
        .address = wanted->http,
        .era = wanted->modern ? HTTP_STATELESS : HTTP_SESSIONS,
        .session = "0123456789abcdef0123456789abcdef",
    };
    int fd = connect_from(wanted->http, neighbour).in;

    if (wanted->modern || wanted->init)
        door.session[0] = '\0';
    errno = 0;
    if (wanted->init && !wanted->modern && !http_greet(fd, &door))
        die("the server did not answer initialize");
    http_flow_init(flow, fd, load->epoll, &door, &load->request, wanted->fixed,
                   tally);
}

static request_form form_of(const load_options *wanted)
{
    if (wanted->ws != NULL)
        return REQUEST_FRAME;
    if (wanted->http == NULL)
        return REQUEST_LINE;
    return wanted->modern ? REQUEST_MODERN : REQUEST_PLAIN;
}

/* 0: wherever the kernel likes to leave from. */
static unsigned neighbour_of(const load_options *wanted, size_t i)
{
    return wanted->addresses > 0 ? 2 + (unsigned)(i % wanted->addresses) : 0;
}

static void open_flow(bench_load *load, size_t i)
{
    const load_options *wanted = &load->wanted;
    unsigned neighbour = neighbour_of(wanted, i);

    if (wanted->http != NULL)
        open_http(load, &load->http_flows[i], neighbour, &load->tally);
    else
        flow_init(&load->flows[i],
                  wanted->ws != NULL ? reach_ws(wanted, neighbour)
                                     : reach(load, neighbour),
                  load->epoll, &load->request, wanted->inflight, &load->tally);
}

static void open_flows(bench_load *load)
{
    load_options *wanted = &load->wanted;
    uint64_t begin = now_ns();

    if (wanted->command != NULL)
        wanted->connections = 1;
    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (load->epoll < 0)
        die("start");
    load->flows = must_have(calloc(wanted->connections, sizeof *load->flows));
    load->http_flows =
        must_have(calloc(wanted->connections, sizeof *load->http_flows));
    request_init(&load->request, wanted->size, form_of(wanted));
    for (size_t i = 0; i < wanted->connections; i++)
        open_flow(load, i);
    load->start_ns = now_ns() - begin;
    load->counts = map_counts(wanted->alloc_file);
}

static void start_flows(bench_load *load)
{
    for (size_t i = 0; i < load->wanted.connections; i++)
        if (load->wanted.http != NULL)
            http_flow_start(&load->http_flows[i]);
        else
            flow_start(&load->flows[i]);
}

static void close_flows(bench_load *load)
{
    for (size_t i = 0; i < load->wanted.connections; i++)
        if (load->wanted.http != NULL)
            http_flow_deinit(&load->http_flows[i]);
        else
            flow_deinit(&load->flows[i]);
    free(load->flows);
    free(load->http_flows);
    request_deinit(&load->request);
    close(load->epoll);
    if (load->wanted.command != NULL)
        waitpid(load->wanted.server, NULL, 0);
}

/* One look at what is ready; false when the server has fallen silent. */
static bool turn(const bench_load *load, int patience_ms)
{
    struct epoll_event events[EVENTS];
    int ready = epoll_wait(load->epoll, events, EVENTS, patience_ms);

    for (int i = 0; i < ready; i++)
        if (load->wanted.http != NULL)
            http_flow_ready(events[i].data.ptr, events[i].events);
        else
            flow_ready(events[i].data.ptr, events[i].events);
    return ready > 0;
}

static void run_until(const bench_load *load, uint64_t time, uint64_t answers)
{
    while (load->tally.answers < answers && now_ns() < time)
        if (!turn(load, PATIENCE_MS))
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
        .allocations = load->counts != NULL ? load->counts->calls : 0,
    };
}

static void drain(bench_load *load)
{
    load->tally.stop = true;
    while (load->tally.outstanding > 0 && turn(load, PATIENCE_MS))
        continue;
}

static void print_times(const latency *times)
{
    printf("\"p50_us\":%.2f,\"p95_us\":%.2f,\"p99_us\":%.2f,\"p999_us\":%.2f,",
           (double)latency_at(times, 0.5) / 1e3,
           (double)latency_at(times, 0.95) / 1e3,
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
    printf("\"capacity\":%.0f,", most > 0 ? messages / most * 1e9 : 0);
}

static void print(const bench_load *load, moment from, moment to)
{
    const load_options *wanted = &load->wanted;
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

/* A server's spare buffers are as many as it has needed in one turn. Whether
 * all connections ever meet in one is chance, on a busy machine even late; so
 * they are made to: the server is stopped until each of them has asked. */
static void make_them_meet(const bench_load *load)
{
    const load_options *wanted = &load->wanted;

    if (load->counts == NULL || wanted->server <= 0 ||
        kill(wanted->server, SIGSTOP) != 0)
        return;
    while (turn(load, SILENCE_MS))
        ; /* the answers that had left are taken, and asked after */
    kill(wanted->server, SIGCONT);
    run_until(load, now_ns() + WARMUP_STEP_NS, UINT64_MAX);
}

/* A server that compiles itself while it runs needs processor time for that,
 * and on a busy machine the clock on the wall does not tell how much it got. */
static void warm_up(const bench_load *load)
{
    const load_options *wanted = &load->wanted;
    uint64_t begin = now_ns(), used = cpu_ns(wanted->server);

    run_until(load, begin + wanted->warmup_ns, UINT64_MAX);
    while (cpu_ns(wanted->server) - used < wanted->warmup_cpu_ns &&
           now_ns() - begin < WARMUP_MAX_NS)
        run_until(load, now_ns() + WARMUP_STEP_NS, UINT64_MAX);
    make_them_meet(load);
}

/* No messages at all means that only the start is of interest. */
static void measure(bench_load *load)
{
    const load_options *wanted = &load->wanted;

    if (wanted->counted && wanted->messages == 0) {
        moment now = look(load);
        print(load, now, now);
        return;
    }
    start_flows(load);
    warm_up(load);
    load->tally.times = (latency){0};
    moment from = look(load);
    if (wanted->counted)
        run_until(load, UINT64_MAX, from.answers + wanted->messages);
    else
        run_until(load, from.time + wanted->duration_ns, UINT64_MAX);
    moment to = look(load);
    drain(load);
    if (wanted->http != NULL && wanted->save != NULL)
        http_flow_save(&load->http_flows[0], wanted->save);
    print(load, from, to);
}

int main(int argc, char **argv)
{
    static bench_load load;

    load.wanted = load_options_parse(argc, argv);
    pin_to(load.wanted.cpu);
    signal(SIGPIPE, SIG_IGN);
    raise_file_limit();
    open_flows(&load);
    measure(&load);
    close_flows(&load);
    return load.tally.bad > 0 || load.tally.outstanding > 0;
}
