/*
 * frames.c - bytes per second from a masked frame to a message.
 *
 * What a server does with what it reads from a WebSocket, one layer after the
 * other, without a system call:
 *
 *     unmask   fl_ws_mask() alone, from one buffer to another
 *     frames   the codec, for an owner who checks the text himself
 *     utf8     the codec, checking the text
 *     message  the codec and fl_msg_read(), which checks JSON and UTF-8: what
 *              a link does
 *
 * Input is a run of equal frames that comes in reads of 64 KiB, as it does
 * from a stream, so that long messages are gathered from two reads. Texts:
 *
 *     call   120 bytes, many in a read
 *     prose  64 KiB, one long string of ASCII with an escape now and then
 *     list   64 KiB, the answer to tools/list: short strings, much structure
 *     wide   64 KiB, one long string, most of it characters of two or three
 *            bytes
 *
 * Each figure is the median of several rounds, interleaved, in processor
 * time. The result is one line of JSON for each.
 */
#include "base/buf.h"
#include "base/span.h"
#include "client.h"
#include "rpc/msg.h"
#include "wire/ws.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_SIZE = 65536, LONG = 65536, CALL = 120, MAX_ROUNDS = 101 };
enum { RUN_SIZE = 1 << 20, ROUND_NS = 5 * 1000 * 1000, TEXT_MAX = 2 * LONG };

static const unsigned char key[4] = {0x9d, 0x37, 0x5a, 0xe1};

typedef struct bench_run {
    const char *name;
    fl_buf text;  /* of one message */
    fl_buf input; /* frames of it */
    size_t frames;
} bench_run;

typedef struct bench_layer {
    const char *name;
    bool unchecked; /* the codec leaves UTF-8 to others */
    bool reads;     /* and the message is read */
} bench_layer;

static const bench_layer layers[] = {
    {"unmask", false, false},
    {"frames", true, false},
    {"utf8", false, false},
    {"message", true, true},
};

enum { LAYERS = sizeof layers / sizeof *layers };

static void must(fl_status rc)
{
    errno = 0;
    if (rc != FL_OK)
        die("%s", fl_status_text(rc));
}

static void put(fl_buf *buf, const char *text)
{
    must(fl_buf_append(buf, fl_span_of(text)));
}

static void put_number(fl_buf *buf, size_t number)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%zu", number);
    put(buf, digits);
}

/* A call of echo whose text is `phrase` again and again. */
static void make_call(fl_buf *text, size_t size, const char *phrase)
{
    put(text, "{\"jsonrpc\":\"2.0\",\"id\":10000000,\"method\":\"tools/call\","
              "\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"");
    while (fl_buf_len(text) + strlen(phrase) + 4 <= size)
        put(text, phrase);
    put(text, "\"}}}");
}

static void make_list(fl_buf *text, size_t size)
{
    put(text, "{\"jsonrpc\":\"2.0\",\"id\":17,\"result\":{\"tools\":[");
    for (size_t i = 0; fl_buf_len(text) + 512 < size; i++) {
        put(text, i > 0 ? ",{\"name\":\"tool_" : "{\"name\":\"tool_");
        put_number(text, i);
        put(text, "\",\"description\":\"Searches an index and returns the "
                  "best matches with their scores.\\nUse it when the user "
                  "asks for facts.\",\"inputSchema\":{\"type\":\"object\","
                  "\"properties\":{\"query\":{\"type\":\"string\","
                  "\"description\":\"What to look for\"},\"limit\":{\"type\":"
                  "\"integer\",\"minimum\":1,\"maximum\":500},\"deep\":{"
                  "\"type\":\"boolean\",\"default\":false}},\"required\":["
                  "\"query\"]}}");
    }
    put(text, "]}}");
}

static void add_frame(bench_run *run)
{
    fl_span text = fl_buf_view(&run->text);
    char head[FL_WS_HEAD_MAX];
    size_t size = fl_ws_head(head, FL_WS_TEXT, false, text.len, key);

    must(fl_buf_append(&run->input, (fl_span){head, size}));
    char *to = fl_buf_reserve(&run->input, text.len);
    if (to == NULL)
        die("memory");
    fl_ws_mask(to, text.ptr, text.len, key, 0);
    fl_buf_commit(&run->input, text.len);
    run->frames++;
}

static void make_runs(bench_run runs[4])
{
    static const char *const names[] = {"call", "prose", "list", "wide"};

    for (size_t i = 0; i < 4; i++) {
        runs[i].name = names[i];
        fl_buf_init(&runs[i].text, TEXT_MAX);
        fl_buf_init(&runs[i].input, RUN_SIZE + TEXT_MAX);
    }
    make_call(&runs[0].text, CALL, "x");
    make_call(&runs[1].text, LONG,
              "The rope runs through the fairlead and does not chafe, "
              "whichever way the ship lies. \\\"Make fast!\\\"\\n");
    make_list(&runs[2].text, LONG);
    make_call(&runs[3].text, LONG,
              "Съешь же ещё этих мягких французских булок, 吾輩は猫である。");
    for (size_t i = 0; i < 4; i++)
        while (fl_buf_len(&runs[i].input) < RUN_SIZE)
            add_frame(&runs[i]);
}

static void take(const bench_layer *layer, const fl_ws_message *message)
{
    fl_msg msg;
    fl_msg_fault fault;

    errno = 0;
    if (message->kind != FL_WS_TEXT)
        die("a frame was not understood");
    if (layer->reads && fl_msg_read(message->bytes, &msg, &fault) != FL_OK)
        die("a message was not understood: %s at %zu", fault.what, fault.at);
}

/* One pass over the run, read by read. */
static void pass(const bench_run *run, const bench_layer *layer, fl_ws *ws)
{
    fl_span all = fl_buf_view(&run->input);
    fl_ws_message message;
    size_t seen = 0;

    for (size_t at = 0; at < all.len; at += READ_SIZE) {
        size_t size = all.len - at < READ_SIZE ? all.len - at : READ_SIZE;
        fl_span in = {all.ptr + at, size};
        for (; fl_ws_next(ws, &in, &message) == FL_OK; seen++)
            take(layer, &message);
        fl_ws_rest(ws);
    }
    errno = 0;
    if (seen != run->frames)
        die("%zu of %zu frames", seen, run->frames);
}

static void pass_unmasking(const bench_run *run)
{
    static char to[TEXT_MAX];
    fl_span text = fl_buf_view(&run->text);

    for (size_t i = 0; i < run->frames; i++)
        fl_ws_mask(to, text.ptr, text.len, key, 0);
}

/* Nanoseconds for one message. */
static double measure(const bench_run *run, const bench_layer *layer,
                      fl_pool *pool)
{
    fl_ws_settings settings = {.max_message = 1 << 24,
                               .text_unchecked = layer->unchecked};
    uint64_t begin = cpu_ns(getpid()), end, passes = 0;
    fl_ws ws;

    must(fl_ws_init(&ws, &settings, NULL, pool));
    do {
        if (layer == layers)
            pass_unmasking(run);
        else
            pass(run, layer, &ws);
        passes++;
        end = cpu_ns(getpid());
    } while (end - begin < ROUND_NS);
    fl_ws_deinit(&ws);
    return (double)(end - begin) / (double)(passes * run->frames);
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static void print(const bench_run *run, const bench_layer *layer,
                  double *rounds, size_t count)
{
    size_t size = fl_buf_len(&run->text);

    qsort(rounds, count, sizeof *rounds, by_size);
    printf("{\"text\":\"%s\",\"layer\":\"%s\",\"size\":%zu,\"ns\":%.1f,"
           "\"gb_per_s\":%.3f,\"best_gb_per_s\":%.3f}\n",
           run->name, layer->name, size, rounds[count / 2],
           (double)size / rounds[count / 2], (double)size / rounds[0]);
}

int main(int argc, char **argv)
{
    static double rounds[4][LAYERS][MAX_ROUNDS];
    static bench_run runs[4];
    size_t count = argc > 1 ? number_of("rounds", argv[1], 1) : 21;
    fl_pool pool;

    errno = 0;
    if (count > MAX_ROUNDS)
        die("at most %d rounds", MAX_ROUNDS);
    fl_pool_init(&pool);
    make_runs(runs);
    for (size_t i = 0; i < count * 4 * LAYERS; i++)
        rounds[i % 4][i / 4 % LAYERS][i / 4 / LAYERS] =
            measure(&runs[i % 4], &layers[i / 4 % LAYERS], &pool);
    for (size_t i = 0; i < 4 * LAYERS; i++)
        print(&runs[i / LAYERS], &layers[i % LAYERS],
              rounds[i / LAYERS][i % LAYERS], count);
    for (size_t i = 0; i < 4; i++) {
        fl_buf_reset(&runs[i].text);
        fl_buf_reset(&runs[i].input);
    }
    fl_pool_deinit(&pool);
    return 0;
}
