/*
 * flow.c - one connection under load.
 *
 * Per message: a search for the newline, or a look at the frame's length, the
 * id read and checked, the next request copied with its own. All that came in
 * one read is answered with one write.
 */
#include "flow.h"

#include "ws_frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { ANSWER_SLACK = 512, IN_LEAST = 65536 };

static void watch(bench_flow *flow, int operation, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = flow};

    if (epoll_ctl(flow->epoll, operation, fd, &event) != 0)
        die("epoll_ctl");
}

void flow_init(bench_flow *flow, route server, int epoll,
               const bench_request *request, size_t inflight,
               bench_tally *tally)
{
    size_t in_max = inflight * (request->size * 2 + ANSWER_SLACK);

    *flow = (bench_flow){
        .server = server,
        .epoll = epoll,
        .request = request,
        .tally = tally,
        .inflight = inflight,
        .in_max = in_max > IN_LEAST ? in_max : IN_LEAST,
        .slots = must_have(calloc(inflight, sizeof *flow->slots)),
        .out = must_have(malloc(inflight * request->size)),
    };
    flow->in = must_have(malloc(flow->in_max));
    make_nonblocking(server.in);
    make_nonblocking(server.out);
    watch(flow, EPOLL_CTL_ADD, server.in, EPOLLIN);
    if (server.out != server.in)
        watch(flow, EPOLL_CTL_ADD, server.out, 0);
}

void flow_deinit(bench_flow *flow)
{
    if (flow->server.out != flow->server.in)
        close(flow->server.out);
    close(flow->server.in);
    free(flow->slots);
    free(flow->in);
    free(flow->out);
    *flow = (bench_flow){0};
}

/* Asks to be told of room for output, or no longer. */
static void await_room(bench_flow *flow, bool wanted)
{
    uint32_t room = wanted ? EPOLLOUT : 0;
    bool one = flow->server.in == flow->server.out;

    if (flow->blocked == wanted)
        return;
    flow->blocked = wanted;
    watch(flow, EPOLL_CTL_MOD, flow->server.out, one ? EPOLLIN | room : room);
}

static void flush(bench_flow *flow)
{
    size_t size = flow->out_end - flow->out_start;

    if (size == 0)
        return;
    ssize_t n = write(flow->server.out, flow->out + flow->out_start, size);
    if (n < 0 && errno != EAGAIN)
        die("write to the server");
    flow->out_start += n > 0 ? (size_t)n : 0;
    if (flow->out_start == flow->out_end)
        flow->out_start = flow->out_end = 0;
    await_room(flow, flow->out_end > 0);
}

/* The buffer holds `inflight` requests, so there is room once it is tidy. */
static char *make_room(bench_flow *flow)
{
    size_t size = flow->request->size, max = flow->inflight * size;

    if (flow->out_end + size > max) {
        flow->out_end -= flow->out_start;
        memmove(flow->out, flow->out + flow->out_start, flow->out_end);
        flow->out_start = 0;
    }
    char *at = flow->out + flow->out_end;
    flow->out_end += size;
    return at;
}

static void ask(bench_flow *flow, bench_slot *slot, uint64_t id, uint64_t now)
{
    char *at = make_room(flow);

    memcpy(at, flow->request->bytes, flow->request->size);
    request_set_id(flow->request, at, id);
    slot->id = id;
    slot->sent_at = now;
    flow->tally->outstanding++;
}

void flow_start(bench_flow *flow)
{
    uint64_t now = now_ns();

    for (size_t i = 0; i < flow->inflight; i++)
        ask(flow, &flow->slots[i], FIRST_ID + i, now);
    flush(flow);
}

static void answered(bench_flow *flow, const char *line, size_t size,
                     uint64_t now)
{
    bench_tally *tally = flow->tally;
    uint64_t id = answer_id(&flow->check, line, size);
    size_t which = (size_t)(id - FIRST_ID) % flow->inflight;
    bench_slot *slot = &flow->slots[which];

    if (id < FIRST_ID || slot->id != id) {
        tally->bad++;
        return;
    }
    if (!answer_repeats(&flow->check, flow->request, line, size))
        tally->bad++;
    latency_add(&tally->times, now - slot->sent_at);
    tally->answers++;
    tally->outstanding--;
    slot->id = 0;
    id =
        id + flow->inflight <= LAST_ID ? id + flow->inflight : FIRST_ID + which;
    if (!tally->stop)
        ask(flow, slot, id, now);
}

/* Takes one line, or one frame, if it is whole: its size, or 0. */
static size_t take_line(bench_flow *flow, const char *at, size_t size,
                        uint64_t now)
{
    const char *newline = memchr(at, '\n', size);

    if (newline == NULL)
        return 0;
    answered(flow, at, (size_t)(newline - at), now);
    return (size_t)(newline + 1 - at);
}

/* A run is too short for pings to matter. */
static size_t take_frame(bench_flow *flow, const char *at, size_t size,
                         uint64_t now)
{
    ws_frame frame;
    size_t whole = ws_frame_read(at, size, &frame);

    errno = 0;
    if (whole > 0 && frame.opcode == WS_CLOSE)
        die("the server closed the socket");
    if (whole > 0 && frame.opcode < WS_CLOSE)
        answered(flow, frame.payload, frame.size, now);
    return whole;
}

/* Hands out the whole answers and keeps the start of the next one. */
static void cut(bench_flow *flow, uint64_t now)
{
    bool framed = flow->request->head > 0;
    char *at = flow->in, *end = flow->in + flow->in_size;
    size_t taken;

    do {
        size_t size = (size_t)(end - at);
        taken = framed ? take_frame(flow, at, size, now)
                       : take_line(flow, at, size, now);
        at += taken;
    } while (taken > 0 && at < end);
    flow->in_size = (size_t)(end - at);
    if (flow->in_size > 0)
        memmove(flow->in, at, flow->in_size);
    if (flow->in_size == flow->in_max)
        die("an answer of more than %zu bytes", flow->in_max);
}

static void fill(bench_flow *flow)
{
    ssize_t n = read(flow->server.in, flow->in + flow->in_size,
                     flow->in_max - flow->in_size);

    if (n < 0 && errno == EAGAIN)
        return;
    if (n < 0)
        die("read from the server");
    errno = 0;
    if (n == 0)
        die("the server closed the connection");
    flow->in_size += (size_t)n;
    cut(flow, now_ns());
}

void flow_ready(bench_flow *flow, uint32_t events)
{
    /* Of two pipes only one is ready; reading the other does no harm. */
    if ((events & ~(uint32_t)EPOLLOUT) != 0)
        fill(flow);
    flush(flow);
}
