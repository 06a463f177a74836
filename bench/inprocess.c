/*
 * inprocess.c - messages per second when no system call is in the way.
 *
 * What the stack itself costs, one layer after the other, on a buffer that
 * holds as many 120-byte tools/call requests as a read of 64 KiB may bring:
 *
 *     read    cut the lines, check and classify each (rpc/msg)
 *     relay   and copy each to an output with another id, as a gateway does
 *     serve   and have an fl_server find the tool, run it and
 *             answer, on a link that only gathers what is sent
 *
 * Each is the median of several rounds, and the rounds of the layers are
 * interleaved, so that a noisy moment strikes them all. Time is processor
 * time: what others do with the machine is not ours to count. The result is
 * one line of JSON for each.
 *
 *     inprocess [ROUNDS]
 *     inprocess LAYER PASSES     no clock: for who counts instructions
 */
#include "base/buf.h"
#include "base/span.h"
#include "client.h"
#include "io/loop.h"
#include "rpc/msg.h"
#include "server/server.h"
#include "server/session.h"
#include "transport/transport.h"
#include "wire/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGES = 512, SIZE = 120, MAX_ROUNDS = 101 };
enum { ROUND_NS = 20 * 1000 * 1000 };

typedef struct bench_stage {
    fl_link link; /* first: what the server sends comes to `out` */
    fl_server *server;
    fl_lines lines;
    fl_buf in;
    fl_buf out;
} bench_stage;

/* What one layer does with a whole line. False if it is not as expected. */
typedef bool bench_layer(bench_stage *stage, const fl_msg *message);

static bool put(bench_stage *stage, fl_span bytes)
{
    return fl_buf_append(&stage->out, bytes) == FL_OK;
}

static bool only_read(bench_stage *stage, const fl_msg *message)
{
    (void)stage;
    return message->kind == FL_MSG_REQUEST;
}

static bool relay(bench_stage *stage, const fl_msg *message)
{
    fl_span parts[3];

    fl_msg_splice_id(message, FL_SPAN("123456"), parts);
    return put(stage, parts[0]) && put(stage, parts[1]) &&
           put(stage, parts[2]) && put(stage, FL_SPAN("\n"));
}

static bool serve(bench_stage *stage, const fl_msg *message)
{
    size_t before = fl_buf_len(&stage->out);

    stage->link.events->on_message(&stage->link, message,
                                   (fl_reply){.link = &stage->link});
    return fl_buf_len(&stage->out) > before;
}

static const struct {
    const char *name;
    bench_layer *layer;
} layers[] = {{"read", only_read}, {"relay", relay}, {"serve", serve}};

enum { LAYERS = sizeof layers / sizeof *layers };

/* A transport to nowhere. */

static fl_status gather(fl_link *link, void *stream, const fl_span *parts,
                        size_t count)
{
    bench_stage *stage = (bench_stage *)link;
    size_t total = fl_span_total(parts, count) + 1;
    char *to = fl_buf_reserve(&stage->out, total);

    (void)stream;
    if (to == NULL)
        return FL_E_NOMEM;
    for (size_t i = 0; i < count; to += parts[i].len, i++)
        memcpy(to, parts[i].ptr, parts[i].len);
    *to = '\n';
    fl_buf_commit(&stage->out, total);
    return FL_OK;
}

static fl_status answer(fl_link *link, void *stream, int code,
                        const fl_span *parts, size_t count)
{
    (void)code;
    return gather(link, stream, parts, count);
}

static void do_nothing(fl_link *link)
{
    (void)link;
}

static void tell_nothing(const fl_link *link, fl_link_info *info)
{
    (void)link;
    (void)info;
}

static const fl_transport nowhere = {
    .name = "nowhere",
    .traits = FL_LINK_CHANNEL,
    .send = gather,
    .answer = answer,
    .close = do_nothing,
    .free = do_nothing,
    .info = tell_nothing,
};

static void echo(fl_call *call, void *user)
{
    (void)user;
    fl_call_reply_text(call, fl_call_text(call, "text"));
}

static void hand_in(bench_stage *stage, fl_span text)
{
    fl_msg message;
    fl_msg_fault fault;

    if (fl_msg_read(text, &message, &fault) != FL_OK)
        die("%s", fault.what);
    stage->link.events->on_message(&stage->link, &message,
                                   (fl_reply){.link = &stage->link});
}

/* With a schema, as nearly all tools have one. */
static const fl_tool tool = {
    .name = "echo",
    .input_schema = "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":"
                    "\"string\"}},\"required\":[\"text\"],"
                    "\"additionalProperties\":false}",
    .call = echo,
};

static void open_session(bench_stage *stage, fl_loop *loop)
{
    stage->server = fl_server_new("bench", "1");
    if (stage->server == NULL ||
        fl_server_add_tool(stage->server, &tool) != FL_OK)
        die("memory");
    fl_link_init(&stage->link, &nowhere, loop, true);
    if (fl_link_move(&stage->link, FL_LINK_ACTIVE) != FL_OK ||
        fl_session_open(stage->server, &stage->link, 1) != FL_OK)
        die("memory");
    stage->server->links++;
    hand_in(stage, FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":"
                           "\"initialize\",\"params\":{\"protocolVersion\":"
                           "\"2025-11-25\",\"capabilities\":{},"
                           "\"clientInfo\":{}}}"));
    hand_in(stage, FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":"
                           "\"notifications/initialized\"}"));
}

static void close_session(bench_stage *stage)
{
    fl_error why = {.status = FL_OK};

    stage->link.events->on_closed(&stage->link, &why);
    fl_server_free(stage->server);
}

static void add_request(bench_stage *stage, unsigned id)
{
    char text[SIZE + 1];
    int n = snprintf(text, sizeof text,
                     "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"tools/call\","
                     "\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"",
                     id);

    memset(text + n, 'x', (size_t)(SIZE - 5 - n));
    memcpy(text + SIZE - 5, "\"}}}\n", 5);
    if (fl_buf_append(&stage->in, (fl_span){text, SIZE}) != FL_OK)
        die("memory");
}

/* One pass over the buffer, as if it had just been read. */
static void pass(bench_stage *stage, bench_layer *layer)
{
    fl_span in = fl_buf_view(&stage->in), line;
    fl_msg message;
    fl_msg_fault fault;

    fl_buf_consume(&stage->out, fl_buf_len(&stage->out));
    while (fl_lines_next(&stage->lines, &in, &line) == FL_OK)
        if (fl_msg_read(line, &message, &fault) != FL_OK ||
            !layer(stage, &message))
            die("a message was not understood");
}

static double nanoseconds_each(bench_stage *stage, bench_layer *layer)
{
    uint64_t begin = cpu_ns(getpid()), end, passes = 0;

    do {
        pass(stage, layer);
        passes++;
        end = cpu_ns(getpid());
    } while (end - begin < ROUND_NS);
    return (double)(end - begin) / (double)(passes * MESSAGES);
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static void print(const char *name, double *rounds, size_t count)
{
    qsort(rounds, count, sizeof *rounds, by_size);
    printf("{\"name\":\"%s\",\"rate\":%.0f,\"ns\":%.1f,\"best_ns\":%.1f}\n",
           name, 1e9 / rounds[count / 2], rounds[count / 2], rounds[0]);
}

static void measure(bench_stage *stage, size_t count)
{
    static double rounds[LAYERS][MAX_ROUNDS];

    errno = 0;
    if (count > MAX_ROUNDS)
        die("at most %d rounds", MAX_ROUNDS);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < LAYERS; j++)
            rounds[j][i] = nanoseconds_each(stage, layers[j].layer);
    for (size_t j = 0; j < LAYERS; j++)
        print(layers[j].name, rounds[j], count);
}

static void repeat(bench_stage *stage, const char *name, size_t passes)
{
    size_t which = 0;

    while (which < LAYERS && strcmp(layers[which].name, name) != 0)
        which++;
    errno = 0;
    if (which == LAYERS)
        die("no layer is named %s", name);
    for (size_t i = 0; i < passes; i++)
        pass(stage, layers[which].layer);
    printf("{\"name\":\"%s\",\"total\":%zu}\n", name, passes * MESSAGES);
}

int main(int argc, char **argv)
{
    static bench_stage stage;
    fl_loop *loop = fl_loop_new();

    fl_buf_init(&stage.in, MESSAGES * SIZE);
    fl_buf_init(&stage.out, MESSAGES * SIZE * 2);
    fl_lines_init(&stage.lines, FL_LINES_ANY, SIZE);
    for (unsigned i = 0; i < MESSAGES; i++)
        add_request(&stage, 1000 + i);
    if (loop == NULL)
        die("no loop");
    open_session(&stage, loop);
    if (argc > 2)
        repeat(&stage, argv[1], number_of("passes", argv[2], 0));
    else
        measure(&stage, argc > 1 ? number_of("rounds", argv[1], 1) : 21);
    close_session(&stage);
    fl_loop_free(loop);
    fl_lines_deinit(&stage.lines);
    fl_buf_reset(&stage.in);
    fl_buf_reset(&stage.out);
    return 0;
}
