/*
 * http_flow.c - one HTTP/1.1 connection under load.
 *
 * The request is made once, head and body in one piece, and only the eight
 * digits of its id change: a write is all that sending costs. Requests are
 * not pipelined, because no MCP client does that.
 */
#include "http_flow.h"

#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { ANSWER_SLACK = 65536 };

void http_flow_init(http_flow *flow, int fd, int epoll, const http_door *door,
                    const bench_request *request, bool fixed,
                    bench_tally *tally)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = flow};

    *flow = (http_flow){
        .fd = fd,
        .epoll = epoll,
        .request = request,
        .tally = tally,
        .fixed = fixed,
        .id = FIRST_ID,
        .out = must_have(malloc(HTTP_HEAD_MAX + request->size)),
        .in_max = request->size + ANSWER_SLACK,
    };
    flow->in = must_have(malloc(flow->in_max));
    size_t head =
        http_write_head(door, request->size, flow->out, HTTP_HEAD_MAX);
    memcpy(flow->out + head, request->bytes, request->size);
    flow->out_size = head + request->size;
    flow->id_at = head + request->id_at;
    make_nonblocking(fd);
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        die("epoll_ctl");
}

void http_flow_deinit(http_flow *flow)
{
    close(flow->fd);
    free(flow->in);
    free(flow->out);
    *flow = (http_flow){0};
}

/* Asks to be told of room for output, or no longer. */
static void await_room(http_flow *flow, bool wanted)
{
    struct epoll_event event = {.events = EPOLLIN | (wanted ? EPOLLOUT : 0),
                                .data.ptr = flow};

    if (flow->blocked == wanted)
        return;
    flow->blocked = wanted;
    if (epoll_ctl(flow->epoll, EPOLL_CTL_MOD, flow->fd, &event) != 0)
        die("epoll_ctl");
}

/* Only a long request takes more than one write. */
static void flush(http_flow *flow)
{
    ssize_t n =
        write(flow->fd, flow->out + flow->sent, flow->out_size - flow->sent);

    if (n < 0 && errno != EAGAIN)
        die("write to the server");
    flow->sent += n > 0 ? (size_t)n : 0;
    await_room(flow, flow->sent < flow->out_size);
}

static void ask(http_flow *flow)
{
    request_write_id(flow->out + flow->id_at, flow->id);
    flow->sent_at = now_ns();
    flow->tally->outstanding++;
    flow->sent = 0;
    flush(flow);
}

void http_flow_start(http_flow *flow)
{
    ask(flow);
}

static bool is_good(http_flow *flow, const http_answer *answer)
{
    if (answer->status != 200)
        return false;
    return flow->fixed || (answer_id(&flow->check, answer->body,
                                     answer->body_size) == flow->id &&
                           answer_repeats(&flow->check, flow->request,
                                          answer->body, answer->body_size));
}

static void answered(http_flow *flow, const http_answer *answer)
{
    bench_tally *tally = flow->tally;

    latency_add(&tally->times, now_ns() - flow->sent_at);
    if (!is_good(flow, answer))
        tally->bad++;
    tally->answers++;
    tally->outstanding--;
    flow->last_size = flow->in_size;
    flow->in_size = 0;
    flow->id = flow->id < LAST_ID ? flow->id + 1 : FIRST_ID;
    if (!tally->stop)
        ask(flow);
}

static void fill(http_flow *flow)
{
    http_answer answer;
    ssize_t n =
        read(flow->fd, flow->in + flow->in_size, flow->in_max - flow->in_size);

    if (n < 0 && errno == EAGAIN)
        return;
    if (n < 0)
        die("read from the server");
    errno = 0;
    if (n == 0)
        die("the server closed the connection");
    flow->in_size += (size_t)n;
    size_t whole = http_answer_read(flow->in, flow->in_size, &answer);
    if (whole == 0 && flow->in_size == flow->in_max)
        die("an answer of more than %zu bytes", flow->in_max);
    if (whole > 0 && whole < flow->in_size)
        die("the server says more than it was asked");
    if (whole > 0)
        answered(flow, &answer);
}

void http_flow_ready(http_flow *flow, uint32_t events)
{
    if (flow->blocked)
        flush(flow);
    if ((events & ~(uint32_t)EPOLLOUT) != 0)
        fill(flow);
}

void http_flow_save(const http_flow *flow, const char *path)
{
    FILE *file = fopen(path, "we");

    if (file == NULL ||
        fwrite(flow->in, 1, flow->last_size, file) != flow->last_size ||
        fclose(file) != 0)
        die("%s", path);
}
