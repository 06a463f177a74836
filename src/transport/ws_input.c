/*
 * ws_input.c - what a WebSocket link takes in: bytes to frames to messages.
 *
 * A text frame is one message, or several with newlines between them. Which it
 * is shows when it is read: JSON may have newlines of its own, so the whole is
 * tried first, and only what is no message as a whole is taken line by line.
 * That text is UTF-8 is seen by whoever reads the JSON; if that goes wrong it
 * is asked, for then the socket must end (RFC 6455 8.1).
 *
 * A server's link whose output is at the high water mark takes nothing in, in
 * the middle of a read or of a frame of many lines if need be: the rest is
 * held, and taken up again when the output has drained. A client's link always
 * reads: were both sides to wait for the other to read, neither ever would.
 */
#include "transport/ws_link_impl.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "base/utf8.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "rpc/extract.h"
#include "transport/link_input.h"

enum {
    HELD_MAX =
        1 << 20, /* a read is 64 KiB, a window of HTTP/2 four times that */
    DIALECT_MORE = 128, /* what a call in the dialect lacks */
};

/* In the order in which they are taken up. */
struct fl_ws_held {
    fl_buf lines; /* of a frame that was begun */
    fl_buf bytes;
};

bool fl_ws_input_is_full(const fl_ws_link *ws)
{
    return ws->pipe->pending(ws) >= ws->settings->high_water;
}

static bool must_wait(const fl_ws_link *ws)
{
    return ws->link.server && ws->link.state == FL_LINK_ACTIVE &&
           fl_ws_input_is_full(ws);
}

static void set_paused(fl_ws_link *ws, bool paused)
{
    if (ws->paused == paused)
        return;
    ws->paused = paused;
    fl_ws_watch_paused(ws);
    ws->pipe->pause(ws, paused);
}

static void fail_to_hold(fl_ws_link *ws, fl_status rc)
{
    fl_error why;

    fl_error_set(&why, rc, "cannot hold input back: %s", fl_status_text(rc));
    fl_ws_link_drop(ws, FL_WS_OVERLOAD, &why);
}

static fl_ws_held *make_held(fl_ws_link *ws)
{
    if (ws->held != NULL)
        return ws->held;
    ws->held = fl_mem_alloc(sizeof *ws->held);
    if (ws->held != NULL) {
        fl_buf_init(&ws->held->lines, ws->settings->max_message);
        fl_buf_init(&ws->held->bytes, HELD_MAX);
    }
    return ws->held;
}

static void free_held(fl_ws_held *held)
{
    fl_buf_reset(&held->lines);
    fl_buf_reset(&held->bytes);
    fl_mem_free(held);
}

/* Keeps what is left until the peer has read some answers. */
static void hold(fl_ws_link *ws, fl_span lines, fl_span bytes)
{
    fl_ws_held *held = make_held(ws);
    fl_status rc = FL_E_NOMEM;

    if (held != NULL)
        rc = fl_buf_append(&held->lines, lines);
    if (rc == FL_OK)
        rc = fl_buf_append(&held->bytes, bytes);
    if (rc == FL_OK)
        set_paused(ws, true);
    else
        fail_to_hold(ws, rc);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static fl_span trim(fl_span text)
{
    while (text.len > 0 && is_blank(text.ptr[text.len - 1]))
        text.len--;
    while (text.len > 0 && is_blank(text.ptr[0]))
        text = fl_span_from(text, 1);
    return text;
}

static void refuse_text(fl_ws_link *ws)
{
    fl_error why;

    fl_error_set(&why, FL_E_BAD_TEXT, "%s", fl_status_text(FL_E_BAD_TEXT));
    fl_ws_link_drop(ws, ws->settings->utf8_code, &why);
}

/* While the budget is used up what was begun is finished, and nothing new is
 * begun (A4). */
static void deliver(fl_ws_link *ws, const fl_msg *msg)
{
    const fl_budget *budget = ws->settings->budget;
    bool is_work = msg->kind == FL_MSG_REQUEST || msg->kind == FL_MSG_BATCH;

    if (is_work && budget != NULL && !fl_budget_open(budget))
        fl_link_turn_away(&ws->link, msg->id,
                          "the memory budget (http.memory_budget) is used up, "
                          "try again");
    else
        fl_link_deliver(&ws->link, msg);
}

/* W7: a call in the dialect; all else is passed over. */
static void take_dialect(fl_ws_link *ws, fl_span text,
                         const fl_msg_fault *fault)
{
    fl_pool *pool = fl_loop_pool(ws->link.loop);
    fl_status rc = FL_E_BAD_MESSAGE;
    fl_msg_fault other;
    fl_msg msg;
    fl_buf call;

    fl_buf_init(&call, text.len + DIALECT_MORE);
    fl_pool_lend(pool, &call);
    if (fault->code == FL_RPC_INVALID_REQUEST)
        rc = fl_extract_tool_call(text, &call);
    if (rc == FL_OK)
        rc = fl_msg_read(fl_buf_view(&call), &msg, &other);
    if (rc == FL_OK)
        deliver(ws, &msg);
    else
        fl_log_say(fl_loop_log(ws->link.loop), FL_LOG_DEBUG,
                   "not a message, ignored", fl_log_text("text", text));
    fl_buf_truncate(&call, 0);
    fl_pool_return(pool, &call);
}

static void refuse(fl_ws_link *ws, fl_span text, const fl_msg *msg,
                   const fl_msg_fault *fault)
{
    if (ws->settings->tool_dialect)
        take_dialect(ws, text, fault);
    else
        fl_link_refuse(&ws->link, text, msg, fault);
}

static void take_line(fl_ws_link *ws, fl_span line, bool checked)
{
    fl_msg msg;
    fl_msg_fault fault;

    line = trim(line);
    if (line.len == 0)
        return;
    if (fl_msg_read(line, &msg, &fault) == FL_OK)
        deliver(ws, &msg);
    else if (!checked && !fl_utf8_valid(line))
        refuse_text(ws);
    else
        refuse(ws, line, &msg, &fault);
}

/* What was held counts as checked. */
static void hold_lines(fl_ws_link *ws, fl_span text, bool checked)
{
    if (checked || fl_utf8_valid(text))
        hold(ws, text, (fl_span){0});
    else
        refuse_text(ws);
}

static void take_lines(fl_ws_link *ws, fl_span text, bool checked)
{
    while (text.len > 0 && ws->link.state == FL_LINK_ACTIVE) {
        size_t end = fl_span_find(text, '\n');
        if (must_wait(ws)) {
            hold_lines(ws, text, checked);
            return;
        }
        fl_span line = {text.ptr, end};
        text = fl_span_from(text, end < text.len ? end + 1 : end);
        take_line(ws, line, checked);
    }
}

static void take_strictly(fl_ws_link *ws, const fl_ws_message *message)
{
    fl_span text = message->bytes;

    if (!message->checked && !fl_utf8_valid(text))
        refuse_text(ws);
    else if (text.len > 0 && text.ptr[text.len - 1] == '\n')
        take_lines(ws, text, true);
    else
        fl_link_complain(&ws->link, (fl_span){0}, FL_RPC_INVALID_REQUEST,
                         "a message must end in a newline (ws.strict_lines)",
                         text.len);
}

static void take_text(fl_ws_link *ws, const fl_ws_message *message)
{
    fl_span text = message->bytes;
    fl_msg msg;
    fl_msg_fault fault;

    if (ws->settings->strict_lines) {
        take_strictly(ws, message);
        return;
    }
    if (fl_msg_read(text, &msg, &fault) == FL_OK) {
        deliver(ws, &msg);
        return;
    }
    if (!message->checked && !fl_utf8_valid(text)) {
        refuse_text(ws);
        return;
    }
    text = trim(text);
    if (fl_span_find(text, '\n') < text.len)
        take_lines(ws, text, true);
    else if (text.len > 0)
        refuse(ws, text, &msg, &fault);
}

/* What comes after our Close is read for theirs alone. */
static void take(fl_ws_link *ws, const fl_ws_message *message)
{
    bool active = ws->link.state == FL_LINK_ACTIVE;

    switch (message->kind) {
    case FL_WS_TEXT:
        if (active)
            take_text(ws, message);
        break;
    case FL_WS_CLOSE:
        fl_ws_link_heard_close(ws, message);
        break;
    case FL_WS_PING: /* without memory it goes without its pong */
        if (active)
            (void)!fl_ws_link_control(ws, FL_WS_PONG, message->bytes);
        break;
    case FL_WS_PONG:
    case FL_WS_BINARY: /* refused before it comes to this */
    case FL_WS_MORE:
        break;
    }
}

static void refuse_frame(fl_ws_link *ws, fl_status rc)
{
    unsigned code = ws->frames->fault.code;
    fl_error why;

    if (code == FL_WS_BAD_DATA) /* found in a piece of the text, by the codec */
        code = ws->settings->utf8_code;

    if (rc == FL_E_TOO_BIG)
        fl_error_set(&why, rc, "message longer than max_message, %zu bytes",
                     ws->settings->max_message);
    else
        fl_error_set(&why, rc, "%s", ws->frames->fault.what);
    fl_log_say(fl_loop_log(ws->link.loop), FL_LOG_WARN, "WebSocket refused",
               fl_log_text("reason", fl_span_of(why.text)),
               fl_log_int("code", code));
    fl_ws_link_drop(ws, code, &why);
}

static size_t count_memory(const fl_ws_link *ws)
{
    size_t size = fl_ws_memory(ws->frames) + fl_ws_pack_memory(ws->pack);

    return ws->held == NULL ? size
                            : size + ws->held->lines.cap + ws->held->bytes.cap;
}

/* What is held counts as it grows; only the first of it is new work. */
static void charge(fl_ws_link *ws)
{
    fl_budget *budget = ws->settings->budget;
    size_t held = count_memory(ws);
    fl_error why;

    if (held == ws->charged || budget == NULL)
        return;
    if (held < ws->charged) {
        fl_budget_give(budget, ws->charged - held);
    } else if (!fl_budget_take(budget, held - ws->charged, ws->charged > 0)) {
        fl_error_set(&why, FL_E_LIMIT,
                     "the memory budget (http.memory_budget) is used up");
        fl_ws_link_drop(ws, FL_WS_OVERLOAD, &why);
        return;
    }
    ws->charged = held;
}

static void settle(fl_ws_link *ws)
{
    fl_ws_rest(ws->frames);
    fl_ws_watch_message(ws, fl_ws_in_message(ws->frames));
    charge(ws);
}

static void feed(fl_ws_link *ws, fl_span in)
{
    fl_ws_message message;

    while (fl_ws_link_hears(ws)) {
        if (in.len > 0 && (ws->held != NULL || must_wait(ws))) {
            hold(ws, (fl_span){0}, in);
            break;
        }
        fl_status rc = fl_ws_next(ws->frames, &in, &message);
        if (rc == FL_OK) {
            if (message.kind == FL_WS_TEXT)
                ws->begun_ms = 0; /* the next one has a time of its own */
            take(ws, &message);
            continue;
        }
        if (rc < 0)
            refuse_frame(ws, rc);
        break;
    }
    if (fl_ws_link_hears(ws))
        settle(ws);
}

void fl_ws_input_take(fl_ws_link *ws, fl_span bytes)
{
    ws->link.stats.bytes_in += bytes.len;
    feed(ws, bytes);
}

/* False: the peer has to read some more first. */
static bool take_held(fl_ws_link *ws, fl_buf *lines)
{
    while (fl_buf_len(lines) > 0 && ws->link.state == FL_LINK_ACTIVE) {
        fl_span text = fl_buf_view(lines);
        size_t end = fl_span_find(text, '\n');
        if (must_wait(ws))
            return false;
        take_line(ws, (fl_span){text.ptr, end}, true);
        fl_buf_consume(lines, end < text.len ? end + 1 : end);
    }
    return true;
}

void fl_ws_input_resume(fl_ws_link *ws)
{
    fl_ws_held *held = ws->held;

    if (held != NULL) {
        ws->held = NULL; /* a line may end the link, or what follows be held */
        if (!take_held(ws, &held->lines)) {
            ws->held = held;
            return;
        }
        feed(ws, fl_buf_view(&held->bytes));
        free_held(held);
    }
    if (ws->held == NULL && fl_ws_link_hears(ws))
        set_paused(ws, false);
}

void fl_ws_input_forget(fl_ws_link *ws)
{
    if (ws->held == NULL)
        return;
    free_held(ws->held);
    ws->held = NULL;
}
