/*
 * flow.h - one connection under load: requests out, answers in.
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
#include "latency.h"

/* A tools/call of the tool echo; its id is overwritten for each sending. */
typedef struct bench_request {
    char *bytes;
    size_t size;
    size_t id_at;
    const char *text; /* what the answer must contain */
    size_t text_size;
} bench_request;

/* What all flows of a run count together. */
typedef struct bench_tally {
    uint64_t answers;
    uint64_t bad; /* lines with no known id, or without the text sent */
    size_t outstanding;
    bool stop; /* send no more */
    latency times;
} bench_tally;

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
    bool blocked;       /* the rest of `out` waits for room */
    size_t id_at;       /* where the last answer had its id */
    size_t answer_size; /* of the last one: ids have one width, so all have */
} bench_flow;

/* `size` counts the newline. */
void request_init(bench_request *request, size_t size);
void request_deinit(bench_request *request);

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
