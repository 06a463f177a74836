/*
 * rpc-server.c - a plain JSON-RPC 2.0 server, for suites that test one.
 *
 * It serves the methods of the examples in the JSON-RPC 2.0 specification,
 * batches included, one message per line on stdin and stdout, or one per
 * POST. Everything that matters is the library's: lines are cut by wire/lines,
 * messages read by rpc/msg, answers written by json/write and rpc/error. What
 * is left is arithmetic and a blocking loop, which is all a driver needs.
 *
 * Memory is bounded whatever comes: a batch is answered as it is walked, and
 * what has gathered leaves whenever there is a good pipe's worth of it.
 */
#include "http_front.h"

#include "base/span.h"
#include "rpc/error.h"
#include "rpc/msg.h"
#include "wire/lines.h"
#include "json/nav.h"
#include "json/write.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MESSAGE_MAX = 16 << 20,
    READ_SIZE = 64 << 10,
    FLUSH_SIZE = 64 << 10,
    ANSWER_MAX = MESSAGE_MAX + FLUSH_SIZE + 4096, /* an id may be that long */
};

/* Where answers go. In a batch the bracket waits for the first answer, for a
 * batch of notifications is answered with nothing at all. */
struct output {
    fl_buf buf;
    bool gather; /* nothing leaves before the end */
    bool in_batch;
    bool batch_open;
};

/* What a method came to: a result, or an error's code. */
struct outcome {
    int code;
    bool is_number;
    double number;
    fl_span json;
};

static void die(const char *what)
{
    fprintf(stderr, "rpc-server: %s\n", what);
    exit(1);
}

static void must(fl_status rc)
{
    if (rc != FL_OK)
        die(fl_status_text(rc));
}

static void flush(struct output *out)
{
    while (fl_buf_len(&out->buf) > 0) {
        fl_span held = fl_buf_view(&out->buf);
        ssize_t wrote = write(STDOUT_FILENO, held.ptr, held.len);
        if (wrote > 0)
            fl_buf_consume(&out->buf, (size_t)wrote);
        else if (errno != EINTR)
            die("cannot write");
    }
}

static void begin_answer(struct output *out)
{
    if (!out->in_batch)
        return;
    must(fl_buf_append(&out->buf,
                       out->batch_open ? FL_SPAN(",") : FL_SPAN("[")));
    out->batch_open = true;
}

static void end_answer(struct output *out)
{
    if (!out->in_batch)
        must(fl_buf_append(&out->buf, FL_SPAN("\n")));
    if (!out->gather && fl_buf_len(&out->buf) >= FLUSH_SIZE)
        flush(out);
}

static void answer_error(struct output *out, fl_span id, int code,
                         const char *message, fl_span data)
{
    begin_answer(out);
    must(fl_rpc_error_write(&out->buf, id, code, fl_span_of(message), data));
    end_answer(out);
}

static void write_number(fl_json_writer *writer, double number)
{
    const double exact = 9007199254740992; /* 2^53: beyond, doubles skip */

    if (fabs(number) <= exact && trunc(number) == number)
        fl_json_integer(writer, (int64_t)number);
    else
        fl_json_number(writer, number);
}

static void answer_result(struct output *out, fl_span id,
                          const struct outcome *outcome)
{
    fl_json_writer writer;

    begin_answer(out);
    fl_json_writer_init(&writer, &out->buf);
    fl_json_object(&writer);
    fl_json_key(&writer, "jsonrpc");
    fl_json_string(&writer, "2.0");
    fl_json_key(&writer, "result");
    if (outcome->is_number)
        write_number(&writer, outcome->number);
    else
        fl_json_raw(&writer, outcome->json);
    fl_json_key(&writer, "id");
    fl_json_raw(&writer, id);
    fl_json_object_end(&writer);
    must(fl_json_writer_end(&writer));
    end_answer(out);
}

static struct outcome number_or_bad_params(bool good, double number)
{
    if (!good || !isfinite(number))
        return (struct outcome){.code = FL_RPC_INVALID_PARAMS};
    return (struct outcome){.is_number = true, .number = number};
}

/* By name, or by position with nothing before or behind. */
static struct outcome subtract(fl_span params)
{
    fl_span values[2] = {fl_json_get(params, FL_SPAN("minuend")),
                         fl_json_get(params, FL_SPAN("subtrahend"))};
    double minuend = 0, subtrahend = 0;

    if (fl_json_type_of(params) == FL_JSON_ARRAY) {
        fl_json_member element;
        fl_json_walk walk;
        size_t count = 0;
        fl_json_walk_init(&walk, params);
        for (; fl_json_walk_next(&walk, &element); count++)
            if (count < 2)
                values[count] = element.value;
        if (count != 2)
            return number_or_bad_params(false, 0);
    }
    bool good = fl_json_double(values[0], &minuend) == FL_OK &&
                fl_json_double(values[1], &subtrahend) == FL_OK;
    return number_or_bad_params(good, minuend - subtrahend);
}

static struct outcome sum(fl_span params)
{
    fl_json_member element;
    fl_json_walk walk;
    double total = 0, value = 0;
    bool good = fl_json_type_of(params) == FL_JSON_ARRAY;

    fl_json_walk_init(&walk, params);
    while (good && fl_json_walk_next(&walk, &element)) {
        good = fl_json_double(element.value, &value) == FL_OK;
        total += value;
    }
    return number_or_bad_params(good, total);
}

static struct outcome get_data(fl_span params)
{
    (void)params;
    return (struct outcome){.json = FL_SPAN("[\"hello\",5]")};
}

/* For methods that are called to be notified. */
static struct outcome nothing(fl_span params)
{
    (void)params;
    return (struct outcome){.json = FL_SPAN("null")};
}

static const struct {
    const char *name;
    struct outcome (*run)(fl_span params);
} methods[] = {
    {"subtract", subtract},    {"sum", sum},
    {"get_data", get_data},    {"update", nothing},
    {"notify_hello", nothing}, {"notify_sum", nothing},
};

static struct outcome call(const fl_msg *msg)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (fl_msg_method_is(msg, fl_span_of(methods[i].name)))
            return methods[i].run(msg->params);
    return (struct outcome){.code = FL_RPC_METHOD_NOT_FOUND};
}

/* Responses, good and bad, go unanswered: we asked for nothing. */
static void serve_message(struct output *out, fl_span text, fl_msg *msg)
{
    fl_msg_fault fault;

    if (fl_msg_read(text, msg, &fault) != FL_OK) {
        if (msg->result.len == 0 && msg->error.len == 0)
            answer_error(out, msg->id, fault.code, fault.what, (fl_span){0});
        return;
    }
    if (msg->kind != FL_MSG_REQUEST && msg->kind != FL_MSG_NOTIFICATION)
        return;
    struct outcome outcome = call(msg);
    if (msg->kind == FL_MSG_NOTIFICATION)
        return;
    if (outcome.code != 0)
        answer_error(out, msg->id, outcome.code, NULL, (fl_span){0});
    else
        answer_result(out, msg->id, &outcome);
}

static void serve_batch(struct output *out, fl_span batch)
{
    fl_json_member element;
    fl_json_walk walk;
    fl_msg msg;

    out->in_batch = true;
    out->batch_open = false;
    fl_json_walk_init(&walk, batch);
    while (fl_json_walk_next(&walk, &element)) {
        serve_message(out, element.value, &msg);
        if (msg.kind == FL_MSG_BATCH) /* a batch in a batch is no request */
            answer_error(out, (fl_span){0}, FL_RPC_INVALID_REQUEST,
                         "message must be an object", (fl_span){0});
    }
    out->in_batch = false;
    if (out->batch_open)
        must(fl_buf_append(&out->buf, FL_SPAN("]\n")));
}

static bool is_blank(fl_span line)
{
    while (line.len > 0 && (line.ptr[0] == ' ' || line.ptr[0] == '\t'))
        line = fl_span_from(line, 1);
    return line.len == 0;
}

static void serve_line(struct output *out, fl_status rc, fl_span line)
{
    fl_msg msg;

    if (rc == FL_E_TOO_BIG) {
        char data[64];
        snprintf(data, sizeof data, "{\"limit\":%d}", MESSAGE_MAX);
        answer_error(out, (fl_span){0}, FL_RPC_MESSAGE_TOO_LARGE, NULL,
                     fl_span_of(data));
        return;
    }
    must(rc);
    if (is_blank(line))
        return;
    serve_message(out, line, &msg);
    if (msg.kind == FL_MSG_BATCH)
        serve_batch(out, msg.text);
}

static void serve_read(struct output *out, fl_lines *lines, fl_span in)
{
    fl_status rc;
    fl_span line;

    while ((rc = fl_lines_next(lines, &in, &line)) != FL_AGAIN)
        serve_line(out, rc, line);
    fl_lines_rest(lines);
    flush(out);
}

static int serve_stdio(void)
{
    static char bytes[READ_SIZE];
    struct output out = {0};
    fl_lines lines;
    fl_span line;
    ssize_t got;

    fl_buf_init(&out.buf, ANSWER_MAX);
    fl_lines_init(&lines, FL_LINES_ANY, MESSAGE_MAX);
    while ((got = read(STDIN_FILENO, bytes, sizeof bytes)) != 0) {
        if (got > 0)
            serve_read(&out, &lines, (fl_span){bytes, (size_t)got});
        else if (errno != EINTR)
            die("cannot read");
    }
    fl_status rc = fl_lines_finish(&lines, &line);
    if (rc != FL_END)
        serve_line(&out, rc, line);
    flush(&out);
    fl_lines_deinit(&lines);
    fl_buf_reset(&out.buf);
    return 0;
}

/* What is answered with nothing has a status for that. */
static unsigned serve_post(const fl_head *head, fl_span body, fl_buf *answer)
{
    struct output out = {.gather = true};

    if (!fl_span_equal(head->method, FL_SPAN("POST")))
        return 405;
    fl_buf_init(&out.buf, ANSWER_MAX);
    serve_line(&out, FL_OK, body.len > 0 ? body : FL_SPAN("?"));
    fl_span said = fl_buf_view(&out.buf);
    unsigned status = said.len > 0 ? 200 : 204;
    if (fl_buf_append(answer, said) != FL_OK)
        status = 500;
    fl_buf_reset(&out.buf);
    return status;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--stdio") == 0)
        return serve_stdio();
    if (argc == 3 && strcmp(argv[1], "--http") == 0)
        return http_front_run(argv[2], "application/json", serve_post);
    fprintf(stderr, "usage: rpc-server --stdio | --http PORT\n");
    return 2;
}
