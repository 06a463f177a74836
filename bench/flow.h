/*
 * flow.h - one connection under load: requests out, answers in, as lines or,
 * if the request is a frame, over a WebSocket.
 *
 * A flow keeps `inflight` requests under way. Each has a slot, and the answer
 * that frees a slot is at once followed by the next request in it, so that k
 * answers in one read make k requests in one write. The id of a request is
 * that of the last one in its slot plus `inflight`: ids never repeat, and an
 * answer finds its slot without a search.
 */
#ifndef BENCH_FLOW_H
#define BENCH_FLOW_H

#include "client.h"
#include "request.h"
#include "tally.h"

typedef struct bench_slot {
    uint64_t id; /* 0: nothing under way */
    uint64_t sent_at;
} bench_slot;

/* Owned by whoever embeds it. Fields are private to flow.c. */
typedef struct bench_flow {
    route server;
    int epoll;
    const bench_request *request;
    bench_tally *tally;
    bench_slot *slots;
    size_t inflight;
    char *in;
    size_t in_size, in_max;
    char *out;
    size_t out_start, out_end;
    bool blocked; /* the rest of `out` waits for room */
    bench_check check;
} bench_flow;

/* The flow's descriptors report to `epoll` with the flow as data. */
void flow_init(bench_flow *flow, route server, int epoll,
               const bench_request *request, size_t inflight,
               bench_tally *tally);
void flow_deinit(bench_flow *flow);

/* Sends the first request of every slot. */
void flow_start(bench_flow *flow);

/* Does what the events allow. The server's hanging up is fatal. */
void flow_ready(bench_flow *flow, uint32_t events);

#endif
