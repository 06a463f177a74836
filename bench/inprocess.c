/*
 * inprocess.c - messages per second when no system call is in the way.
 *
 * What the stack itself costs, one layer after the other, on a buffer that
 * holds as many 120-byte tools/call requests as a read of 64 KiB may bring:
 *
 *     read    cut the lines, check and classify each (rpc/msg)
 *     relay   and copy each to an output with another id, as a gateway does
 *     serve   and find the tool, and write the answer to its text: by hand
 *             what peer/ does for a tool, so the least that can cost
 *
 * Each is the median of several rounds, and the rounds of the layers are
 * interleaved, so that a noisy moment strikes them all. Time is processor
 * time: what others do with the machine is not ours to count. The result is
 * one line of JSON for each.
 */
#include "base/buf.h"
#include "base/span.h"
#include "client.h"
#include "rpc/msg.h"
#include "wire/lines.h"
#include "json/nav.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGES = 512, SIZE = 120, MAX_ROUNDS = 101 };
enum { ROUND_NS = 20 * 1000 * 1000 };

typedef struct bench_stage {
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
    fl_span name = fl_json_get(message->params, FL_SPAN("name"));
    fl_span arguments = fl_json_get(message->params, FL_SPAN("arguments"));

    if (!fl_msg_method_is(message, FL_SPAN("tools/call")) ||
        !fl_json_string_is(name, FL_SPAN("echo")))
        return false;
    return put(stage, FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":")) &&
           put(stage, message->id) &&
           put(stage, FL_SPAN(",\"result\":{\"content\":[{\"type\":\"text\","
                              "\"text\":")) &&
           put(stage, fl_json_get(arguments, FL_SPAN("text"))) &&
           put(stage, FL_SPAN("}]}}\n"));
}

static const struct {
    const char *name;
    bench_layer *layer;
} layers[] = {{"read", only_read}, {"relay", relay}, {"serve", serve}};

enum { LAYERS = sizeof layers / sizeof *layers };

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

int main(int argc, char **argv)
{
    static double rounds[LAYERS][MAX_ROUNDS];
    size_t count = argc > 1 ? number_of("rounds", argv[1], 1) : 21;
    bench_stage stage = {0};

    errno = 0;
    if (count > MAX_ROUNDS)
        die("at most %d rounds", MAX_ROUNDS);
    fl_buf_init(&stage.in, MESSAGES * SIZE);
    fl_buf_init(&stage.out, MESSAGES * SIZE * 2);
    fl_lines_init(&stage.lines, FL_LINES_ANY, SIZE);
    for (unsigned i = 0; i < MESSAGES; i++)
        add_request(&stage, 1000 + i);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < LAYERS; j++)
            rounds[j][i] = nanoseconds_each(&stage, layers[j].layer);
    for (size_t j = 0; j < LAYERS; j++)
        print(layers[j].name, rounds[j], count);
    fl_lines_deinit(&stage.lines);
    fl_buf_reset(&stage.in);
    fl_buf_reset(&stage.out);
    return 0;
}
