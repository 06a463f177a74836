/*
 * http_flow.h - one HTTP/1.1 connection under load, kept alive: one request
 * out, its answer in, the next request out.
 */
#ifndef BENCH_HTTP_FLOW_H
#define BENCH_HTTP_FLOW_H

#include "http_client.h"
#include "request.h"
#include "tally.h"

/* Owned by whoever embeds it. Fields are private to http_flow.c. */
typedef struct http_flow {
    int fd, epoll;
    const bench_request *request;
    bench_tally *tally;
    bool fixed; /* the server says the same to everybody */
    uint64_t id;
    uint64_t sent_at;
    char *out; /* the whole request; its id is overwritten */
    size_t out_size, id_at;
    size_t sent;  /* of the request under way */
    bool blocked; /* there was no room for the rest */
    char *in;
    size_t in_size, in_max, last_size;
    bench_check check;
} http_flow;

/*
 * The descriptor reports to `epoll` with the flow as data, and is closed by
 * http_flow_deinit(). If `fixed`, ids and text are not looked for: the server
 * is a reference whose answers are all the same.
 */
void http_flow_init(http_flow *flow, int fd, int epoll, const http_door *door,
                    const bench_request *request, bool fixed,
                    bench_tally *tally);
void http_flow_deinit(http_flow *flow);

/* Sends the first request. */
void http_flow_start(http_flow *flow);

/* Writes the last answer to a file, as it came if it came in one piece. */
void http_flow_save(const http_flow *flow, const char *path);

/* Takes what epoll has reported. The server's hanging up is fatal. */
void http_flow_ready(http_flow *flow, uint32_t events);

#endif
