/*
 * line_input.c - what a line link takes in: bytes to lines to messages.
 *
 * A message that lies whole inside a read is never copied. A bad line costs
 * that line: a client is told what was wrong with it, a server's stray output
 * is logged and skipped. If what is too long was an answer, whoever waits for
 * it is told: its id is in the first bytes of the line or in the last, and
 * these are kept (rpc/edges.h).
 *
 * A server's link whose output is at the high water mark takes nothing in, in
 * the middle of a read if need be: the rest of the read is held, and taken up
 * again when the output has drained. So a peer that asks and never reads the
 * answers stops being served, not being remembered. A client's link always
 * reads: were both sides to wait for the other to read, neither ever would.
 */
#include "transport/line_input.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "rpc/edges.h"
#include "rpc/error.h"
#include "transport/link_input.h"

#include <inttypes.h>
#include <stdio.h>

enum { HELD_MAX = 1 << 20 }; /* a read is 64 KiB, a few TLS records more */

static fl_log *log_of(const fl_line_link *line)
{
    return fl_loop_log(line->link.loop);
}

static void refuse_size(fl_line_link *line)
{
    fl_link_info info;
    char data[64];
    int n = snprintf(data, sizeof data, "{\"limit\":%zu}",
                     line->settings->max_message);

    line->link.stats.errors++;
    fl_log_say(log_of(line), FL_LOG_WARN, "message longer than the limit",
               fl_link_named(&line->link, &info),
               fl_log_int("limit", (int64_t)line->settings->max_message));
    if (line->link.server)
        fl_line_link_complain(line, FL_RPC_MESSAGE_TOO_LARGE, (fl_span){0},
                              (fl_span){data, (size_t)n});
}

/* In place of the answer that was too long. */
static void answer_lost(fl_line_link *line, const fl_edges *lost)
{
    uint64_t id = fl_edges_answers(lost);
    char text[256];
    fl_msg msg;
    fl_msg_fault fault;
    int n =
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64
                 ",\"error\":{\"code\":%d,\"message\":\"the answer is longer "
                 "than a message may be: see --max-message\",\"data\":"
                 "{\"limit\":%zu}}}",
                 id, FL_RPC_INTERNAL_ERROR, line->settings->max_message);

    if (id != 0 &&
        fl_msg_read((fl_span){text, (size_t)n}, &msg, &fault) == FL_OK)
        fl_link_deliver(&line->link, &msg);
}

/* More of a line that is skipped. True: it ends there. */
static bool follow_lost(fl_line_link *line, fl_span *in)
{
    size_t len = fl_lines_find_end(*in);
    fl_span skipped = {in->ptr, len < in->len ? len + 1 : len}, none;
    fl_edges *lost = line->lost;

    fl_edges_add(lost, (fl_span){in->ptr, len});
    if (len == in->len)
        return false;
    *in = fl_span_from(*in, skipped.len);
    (void)!fl_lines_next(&line->lines, &skipped, &none);
    line->lost = NULL;
    answer_lost(line, lost);
    fl_mem_free(lost);
    return true;
}

/* Only where what was held and what has come may be too much for a line. */
static void keep_start(const fl_line_link *line, fl_span in, fl_edges *edges)
{
    fl_span held = fl_lines_held(&line->lines);

    edges->start_len = edges->end_len = 0;
    if (line->link.server || line->lost != NULL ||
        held.len + in.len <= line->settings->max_message)
        return;
    if (in.len > 0 && in.ptr[0] == '\n') /* of the CRLF before */
        in = fl_span_from(in, 1);
    fl_edges_add(edges, held);
    fl_edges_add(edges, (fl_span){in.ptr, fl_lines_find_end(in)});
}

/* A line of a server's was too long; if it goes on, so does the search for its
 * id. */
static void lose_line(fl_line_link *line, const fl_edges *edges, bool ended)
{
    if (line->link.server || line->link.state != FL_LINK_ACTIVE)
        return;
    if (ended) {
        answer_lost(line, edges);
        return;
    }
    line->lost = fl_mem_alloc(sizeof *line->lost);
    if (line->lost != NULL)
        *line->lost = *edges;
}

static fl_span trim(fl_span text)
{
    while (text.len > 0 &&
           (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
        text.len--;
    return text;
}

static void take_line(fl_line_link *line, fl_span text)
{
    fl_msg msg;
    fl_msg_fault fault;

    text = trim(text);
    if (fl_span_starts(text, FL_SPAN("\xEF\xBB\xBF")))
        text = fl_span_from(text, 3); /* a byte order mark: RFC 8259 8.1 */
    if (text.len == 0)
        return;
    if (fl_msg_read(text, &msg, &fault) == FL_OK)
        fl_link_deliver(&line->link, &msg);
    else
        fl_link_refuse(&line->link, text, &msg, &fault);
}

static void take(fl_line_link *line, fl_status rc, fl_span text)
{
    if (rc == FL_OK)
        take_line(line, text);
    else if (rc == FL_E_TOO_BIG)
        refuse_size(line);
    else
        fl_link_complain(&line->link, (fl_span){0}, FL_RPC_INTERNAL_ERROR,
                         fl_status_text(rc), 0);
}

/* Keeps what is left of a read until the peer has read some answers. */
static void hold(fl_line_link *line, fl_span rest)
{
    fl_status rc = FL_OK;

    if (line->held == NULL) {
        line->held = fl_mem_alloc(sizeof *line->held);
        if (line->held != NULL)
            fl_buf_init(line->held, HELD_MAX);
        else
            rc = FL_E_NOMEM;
    }
    if (rc == FL_OK)
        rc = fl_buf_append(line->held, rest);
    if (rc != FL_OK) {
        fl_error why;
        fl_error_set(&why, rc, "cannot hold input back: %s",
                     fl_status_text(rc));
        fl_line_link_fail(line, &why);
        return;
    }
    fl_stream_pause(line->stream, true);
}

bool fl_line_input_is_full(const fl_line_link *line)
{
    return fl_stream_pending(line->stream) >= line->settings->high_water;
}

static bool is_end(char c)
{
    return c == '\n' || c == '\r';
}

/* One line, if it has ended. */
static fl_status feed_line(fl_line_link *line, fl_span *in)
{
    fl_edges edges;
    fl_span text;
    const char *from = in->ptr;

    keep_start(line, *in, &edges);
    fl_status rc = fl_lines_next(&line->lines, in, &text);
    if (rc != FL_AGAIN)
        take(line, rc, text);
    if (rc == FL_E_TOO_BIG)
        lose_line(line, &edges, in->ptr > from && is_end(in->ptr[-1]));
    return rc;
}

static void feed(fl_line_link *line, fl_span in)
{
    while (line->link.state == FL_LINK_ACTIVE) {
        if (in.len > 0 && line->link.server && fl_line_input_is_full(line)) {
            hold(line, in);
            return;
        }
        if (line->lost != NULL && follow_lost(line, &in))
            continue;
        if (feed_line(line, &in) == FL_AGAIN)
            break;
    }
    fl_lines_rest(&line->lines);
}

void fl_line_input_take(fl_line_link *line, fl_span bytes)
{
    line->link.stats.bytes_in += bytes.len;
    if (line->held != NULL)
        hold(line, bytes);
    else
        feed(line, bytes);
}

void fl_line_input_resume(fl_line_link *line)
{
    fl_buf *held = line->held;

    if (held == NULL)
        return;
    line->held = NULL; /* feed() may have to hold the rest again */
    feed(line, fl_buf_view(held));
    fl_buf_reset(held);
    fl_mem_free(held);
    if (line->held == NULL && line->link.state == FL_LINK_ACTIVE)
        fl_stream_pause(line->stream, false);
}

void fl_line_input_forget(fl_line_link *line)
{
    fl_mem_free(line->lost);
    line->lost = NULL;
    if (line->held == NULL)
        return;
    fl_buf_reset(line->held);
    fl_mem_free(line->held);
    line->held = NULL;
}

void fl_line_input_finish(fl_line_link *line)
{
    fl_span text;
    fl_status rc = fl_lines_finish(&line->lines, &text);

    if (rc != FL_END)
        take(line, rc, text);
}
