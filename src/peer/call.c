/*
 * call.c - one tool call, from its beginning to its answer.
 *
 * A call lives on the stack and borrows from the message, so that a tool that
 * answers at once costs no allocation. fl_call_defer() moves it to the heap,
 * with a copy of what it borrowed, and lists it with its session.
 */
#include "peer/call.h"

#include "base/mem.h"
#include "base/span.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "json/nav.h"
#include "json/write.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHORT_TEXT = 512 };

/* The end of a call, answered or not. */
static void end(fl_call *call)
{
    fl_session *session = call->to.session;

    call->ended = true;
    fl_call_free_strings(call);
    if (!call->deferred)
        return;
    fl_list_remove(&call->node);
    session->deferred--;
    session->kept -= call->kept;
    if (!call->cancelled)
        session->in_flight--;
    if (session->link != NULL)
        fl_link_release(session->link);
    fl_mem_free(call);
    fl_session_settle(session);
}

static void answer(fl_call *call, const fl_span *parts, size_t count)
{
    if (call->ended)
        return;
    if (!call->replied)
        fl_return_send(&call->to, call->id, parts, count);
    end(call);
}

static void answer_result(fl_call *call, fl_span result)
{
    if (call->ended)
        return;
    if (!call->replied)
        fl_return_foreign_result(&call->to, call->id, result);
    end(call);
}

static void answer_error(fl_call *call, int code, fl_span message)
{
    if (call->ended)
        return;
    if (!call->replied)
        fl_return_error(&call->to, call->id, code, message, (fl_span){0});
    end(call);
}

static void send_text(fl_call *call, fl_span text, bool is_error)
{
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"),
        call->id,
        fl_return_opening(&call->to),
        FL_SPAN("\"content\":[{\"type\":\"text\",\"text\":"),
        text,
        is_error ? FL_SPAN("}],\"isError\":true}}") : FL_SPAN("}]}}"),
    };

    answer(call, parts, 6);
}

static void answer_text(fl_call *call, fl_span text, bool is_error)
{
    fl_buf *out = fl_loop_scratch(fl_call_loop(call));
    fl_json_writer writer;

    if (call->fault.len > 0) {
        answer_error(call, FL_RPC_INVALID_PARAMS, call->fault);
        return;
    }
    fl_json_writer_init(&writer, out);
    fl_json_text(&writer, text);
    if (fl_json_writer_end(&writer) != FL_OK) {
        answer_error(call, FL_RPC_INTERNAL_ERROR, FL_SPAN("out of memory"));
        return;
    }
    send_text(call, fl_buf_view(out), is_error);
}

void fl_call_reply_text(fl_call *call, fl_span text)
{
    answer_text(call, text, false);
}

static void answer_format(fl_call *call, bool is_error, const char *format,
                          va_list args) FL_PRINTF(3, 0);

/* Formats on the stack if it fits, and in memory of its own if not. */
static void answer_format(fl_call *call, bool is_error, const char *format,
                          va_list args)
{
    char small[SHORT_TEXT];
    va_list again;

    va_copy(again, args);
    int len = vsnprintf(small, sizeof small, format, args);
    if (len >= 0 && (size_t)len < sizeof small) {
        answer_text(call, (fl_span){small, (size_t)len}, is_error);
    } else {
        char *large = len > 0 ? fl_mem_alloc((size_t)len + 1) : NULL;
        if (large != NULL) {
            vsnprintf(large, (size_t)len + 1, format, again);
            answer_text(call, (fl_span){large, (size_t)len}, is_error);
        } else {
            answer_error(call, FL_RPC_INTERNAL_ERROR, FL_SPAN("out of memory"));
        }
        fl_mem_free(large);
    }
    va_end(again);
}

void fl_call_replyf(fl_call *call, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    answer_format(call, false, format, args);
    va_end(args);
}

void fl_call_fail(fl_call *call, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    answer_format(call, true, format, args);
    va_end(args);
}

void fl_call_reply_json(fl_call *call, fl_span result)
{
    if (call->fault.len > 0) {
        answer_error(call, FL_RPC_INVALID_PARAMS, call->fault);
        return;
    }
    fl_json_top top;
    if (fl_json_scan(result, 0, &top, NULL) != FL_OK ||
        top.type != FL_JSON_OBJECT) {
        answer_error(call, FL_RPC_INTERNAL_ERROR,
                     FL_SPAN("the tool's result is not a JSON object"));
        return;
    }
    answer_result(call, top.value);
}

void fl_call_error(fl_call *call, int code, const char *format, ...)
{
    char text[SHORT_TEXT];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    answer_error(call, code, fl_span_of(text));
}

/* Appends a copy of `from` to the block at `at` and makes it the slice. */
static fl_span move_in(char **at, fl_span from)
{
    fl_span moved = {*at, from.len};

    if (from.len > 0)
        memcpy(*at, from.ptr, from.len);
    *at += from.len;
    return moved;
}

fl_call *fl_call_defer(fl_call *call)
{
    if (call->deferred || call->ended)
        return call->ended ? NULL : call;
    fl_session *session = call->to.session;
    size_t size = call->id.len + call->arguments.len + call->progress_token.len;
    fl_call *kept = fl_mem_alloc(sizeof *kept + size);
    if (kept == NULL) {
        answer_error(call, FL_RPC_INTERNAL_ERROR, FL_SPAN("out of memory"));
        return NULL;
    }
    *kept = *call;
    char *at = (char *)(kept + 1);
    kept->id = move_in(&at, call->id);
    kept->arguments = move_in(&at, call->arguments);
    kept->progress_token = move_in(&at, call->progress_token);
    kept->deferred = true;
    kept->kept = size;
    fl_list_append(&session->calls, &kept->node);
    session->deferred++;
    session->kept += kept->kept;
    session->in_flight++;
    fl_link_hold(session->link);
    call->strings = NULL;
    call->ended = true; /* the copy carries on */
    return kept;
}

void fl_call_progress(fl_call *call, double progress, double total,
                      const char *message)
{
    fl_session *session = call->to.session;

    if (call->progress_token.len == 0 || call->cancelled ||
        session->link == NULL || call->to.batch != NULL)
        return;
    fl_buf *out = fl_loop_scratch(session->link->loop);
    fl_json_writer writer;
    fl_json_writer_init(&writer, out);
    fl_json_object(&writer);
    fl_json_key(&writer, "progressToken");
    fl_json_raw(&writer, call->progress_token);
    fl_json_key(&writer, "progress");
    fl_json_number(&writer, progress);
    if (total > 0) {
        fl_json_key(&writer, "total");
        fl_json_number(&writer, total);
    }
    if (message != NULL &&
        fl_revision_has(call->to.revision, FL_HAS_PROGRESS_MESSAGE)) {
        fl_json_key(&writer, "message");
        fl_json_string(&writer, message);
    }
    fl_json_object_end(&writer);
    if (fl_json_writer_end(&writer) != FL_OK)
        return;
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
                "\"params\":"),
        fl_buf_view(out),
        FL_SPAN("}"),
    };
    /* A peer too slow for progress gets the next one, or the answer. */
    (void)!fl_reply_send(call->to.reply, parts, 3);
}

bool fl_call_cancelled(const fl_call *call)
{
    return call->cancelled;
}

void fl_call_on_cancel(fl_call *call, fl_tool_fn *on_cancel, void *user)
{
    call->on_cancel = on_cancel;
    call->cancel_user = user;
}

fl_loop *fl_call_loop(const fl_call *call)
{
    return call->to.session->loop;
}

/* Whoever cancelled does not want to hear of it again (MCP, cancellation), and
 * where the reply is a stream need not wait for the handler to see it end. */
void fl_call_cancel(fl_call *call)
{
    if (call->cancelled)
        return;
    call->cancelled = true;
    call->to.session->in_flight--;
    if (!call->replied) {
        call->replied = true;
        fl_return_send(&call->to, call->id, NULL, 0);
    }
    if (call->on_cancel != NULL)
        call->on_cancel(call, call->cancel_user);
}

void fl_call_run(const fl_return *to, const fl_tool *tool, fl_span id,
                 fl_span arguments, fl_span progress_token)
{
    fl_call call = {
        .to = *to,
        .id = id,
        .arguments = arguments,
        .progress_token = progress_token,
    };

    tool->call(&call, tool->user);
    if (!call.ended)
        answer_error(&call, FL_RPC_INTERNAL_ERROR,
                     FL_SPAN("the tool did not answer"));
}
