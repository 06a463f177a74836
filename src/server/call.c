/*
 * call.c - one call, from its beginning to its answer.
 *
 * A call lives on the stack and borrows from the message, so that a handler
 * that answers at once costs no allocation. fl_call_defer() moves it to the
 * heap, with a copy of the message, and lists it with its session.
 */
#include "server/call.h"

#include "base/mem.h"
#include "base/span.h"
#include "io/loop.h"
#include "rpc/carry.h"
#include "rpc/error.h"
#include "server/tasks.h"
#include "json/nav.h"
#include "json/write.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHORT_TEXT = 512 };

/* A deferred call goes. */
static void leave(fl_call *call)
{
    fl_session *session = call->to.session;

    fl_entry_unref(call->entry);
    fl_list_remove(&call->node);
    session->deferred--;
    session->kept -= call->kept;
    if (session->link != NULL && !call->detached)
        fl_link_release(session->link);
    fl_mem_free(call);
    fl_session_settle(session);
}

/* The end of a call, answered or not. */
static void end(fl_call *call)
{
    call->ended = true;
    fl_call_free_strings(call);
    fl_content_free(call->content);
    fl_asking_free(call->asking);
    call->content = NULL;
    call->asking = NULL;
    if (call->running) {
        call->replied = true; /* it is gone for all but who runs it */
        call->on_cancel = NULL;
    } else if (call->deferred) {
        leave(call);
    } /* otherwise whoever runs it holds the entry */
}

/* `parts` is the whole response. */
static void answer(fl_call *call, const fl_span *parts, size_t count)
{
    if (call->ended)
        return;
    if (!call->replied)
        fl_return_send(&call->to, call->msg->id, parts, count);
    end(call);
}

void fl_call_end_whole(fl_call *call, const fl_span *parts, size_t count)
{
    answer(call, parts, count);
}

void fl_call_end_result(fl_call *call, fl_span result)
{
    if (call->ended)
        return;
    if (call->job != NULL)
        fl_job_result(call, result);
    else if (!call->replied)
        fl_return_foreign_result(&call->to, call->msg->id, result);
    end(call);
}

void fl_call_end_error(fl_call *call, int code, fl_span message, fl_span data)
{
    if (call->ended)
        return;
    if (call->job != NULL)
        fl_job_error(call, code, message, data);
    else if (!call->replied)
        fl_return_error(&call->to, call->msg->id, code, message, data);
    end(call);
}

static void answer_error(fl_call *call, int code, fl_span message)
{
    fl_call_end_error(call, code, message, (fl_span){0});
}

/* `text` is the inside of a JSON string. A part is a few dozen instructions
 * until it is sent, so what always stands together is one. */
static void send_text(fl_call *call, fl_span text, bool is_error)
{
    fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"),
        call->msg->id,
        fl_return_opening_text(&call->to),
        text,
        is_error ? FL_SPAN("\"}],\"isError\":true}}") : FL_SPAN("\"}]}}"),
    };

    answer(call, parts, 5);
}

static bool is_plain(const fl_call *call)
{
    return call->kind == FL_CALL_TOOL && call->content == NULL &&
           call->job == NULL;
}

static void answer_escaped(fl_call *call, fl_span text, bool is_error)
{
    fl_buf *out = fl_loop_scratch(fl_call_loop(call));
    fl_json_writer writer;

    fl_json_writer_init(&writer, out);
    fl_json_text(&writer, text);
    fl_status rc = fl_json_writer_end(&writer);
    fl_span string = fl_buf_view(out);
    if (rc == FL_OK && string.len >= 2)
        send_text(call, (fl_span){string.ptr + 1, string.len - 2}, is_error);
    else
        answer_error(call, FL_RPC_INTERNAL_ERROR, FL_SPAN("out of memory"));
}

/* The short way, for the answer nearly all tools give; other calls, and those
 * with more to say, go by way of their parts. What needs no escapes is sent
 * from where it is. */
static void answer_text(fl_call *call, fl_span text, bool is_error)
{
    if (fl_json_is_plain(text))
        send_text(call, text, is_error);
    else
        answer_escaped(call, text, is_error);
}

/* Wrong arguments: the model may do better the next time, if it is told. */
void fl_call_end_fault(fl_call *call)
{
    fl_span fault = call->fault;

    call->fault = (fl_span){0};
    if (call->kind != FL_CALL_TOOL ||
        !fl_revision_has(call->to.revision, FL_HAS_INPUT_ERRORS))
        answer_error(call, FL_RPC_INVALID_PARAMS, fault);
    else if (is_plain(call))
        answer_text(call, fault, true);
    else
        fl_content_fail(call, fault);
}

void fl_call_reply_text(fl_call *call, fl_span text)
{
    if (call->fault.len > 0) {
        fl_call_end_fault(call);
    } else if (is_plain(call)) {
        answer_text(call, text, false);
    } else {
        fl_call_add_text(call, text);
        fl_call_finish(call);
    }
}

static void fail_text(fl_call *call, fl_span text)
{
    if (call->fault.len > 0)
        fl_call_end_fault(call);
    else if (is_plain(call))
        answer_text(call, text, true);
    else if (call->kind == FL_CALL_TOOL)
        fl_content_fail(call, text);
    else
        answer_error(call, FL_RPC_INTERNAL_ERROR, text);
}

static void answer_format(fl_call *call, void (*say)(fl_call *, fl_span),
                          const char *format, va_list args) FL_PRINTF(3, 0);

/* Formats on the stack if it fits, and in memory of its own if not. */
static void answer_format(fl_call *call, void (*say)(fl_call *, fl_span),
                          const char *format, va_list args)
{
    char small[SHORT_TEXT];
    va_list again;

    va_copy(again, args);
    int len = vsnprintf(small, sizeof small, format, args);
    if (len >= 0 && (size_t)len < sizeof small) {
        say(call, (fl_span){small, (size_t)len});
    } else {
        char *large = len > 0 ? fl_mem_alloc((size_t)len + 1) : NULL;
        if (large != NULL) {
            vsnprintf(large, (size_t)len + 1, format, again);
            say(call, (fl_span){large, (size_t)len});
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
    answer_format(call, fl_call_reply_text, format, args);
    va_end(args);
}

void fl_call_fail(fl_call *call, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    answer_format(call, fail_text, format, args);
    va_end(args);
}

void fl_call_reply_json(fl_call *call, fl_span result)
{
    if (call->fault.len > 0) {
        fl_call_end_fault(call);
        return;
    }
    fl_json_top top;
    if (fl_json_scan(result, 0, &top, NULL) != FL_OK ||
        top.type != FL_JSON_OBJECT) {
        answer_error(call, FL_RPC_INTERNAL_ERROR,
                     FL_SPAN("the handler's result is not a JSON object"));
        return;
    }
    fl_call_end_result(call, top.value);
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

fl_call *fl_call_defer(fl_call *call)
{
    if (call->deferred || call->ended) {
        call->parked = true;
        return call->ended ? NULL : call;
    }
    fl_session *session = call->to.session;
    const fl_msg *msg = call->msg;
    fl_call *kept = fl_mem_alloc(sizeof *kept + sizeof *msg + msg->text.len);
    if (kept == NULL) {
        answer_error(call, FL_RPC_INTERNAL_ERROR, FL_SPAN("out of memory"));
        return NULL;
    }
    *kept = *call;
    fl_msg *copy = (fl_msg *)(kept + 1);
    fl_msg_copy(msg, (char *)(copy + 1), copy);
    kept->msg = copy;
    if (call->arguments.ptr == msg->inner.arguments.ptr)
        kept->arguments = copy->inner.arguments;
    kept->deferred = true;
    kept->kept = msg->text.len;
    fl_entry_ref(kept->entry);
    fl_list_append(&session->calls, &kept->node);
    session->deferred++;
    session->kept += kept->kept;
    if (!kept->detached)
        fl_link_hold(session->link);
    fl_job_moved(kept);
    call->strings = NULL;
    call->content = NULL;
    call->asking = NULL;
    call->ended = true; /* the copy carries on */
    return kept;
}

bool fl_call_cancelled(const fl_call *call)
{
    return call->cancelled;
}

void fl_call_on_cancel(fl_call *call, fl_call_fn *on_cancel, void *user)
{
    call->on_cancel = on_cancel;
    call->cancel_user = user;
}

/* The stream to let go is not ours, but that of whoever carries it on. */
static void ask_to_hang_up(const fl_call *call, uint64_t retry_ms)
{
    char retry[48];
    int n =
        snprintf(retry, sizeof retry, ",\"retryMs\":%" PRIu64 "}}", retry_ms);
    const fl_span parts[] = {
        FL_SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"" FL_CARRY_HANG_UP
                "\",\"params\":{\"requestId\":"),
        call->msg->id,
        {retry, (size_t)n},
    };

    (void)!fl_reply_send(call->to.reply, parts, 3); /* it is but a favour */
}

void fl_call_hang_up(fl_call *call, uint64_t retry_ms)
{
    const fl_session *session = call->to.session;

    if (!call->deferred || call->replied || call->job != NULL ||
        call->to.batch != NULL || session->link == NULL)
        return;
    if (fl_call_is_carried(call))
        ask_to_hang_up(call, retry_ms);
    else
        fl_reply_hang_up(call->to.reply, retry_ms);
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
    if (call->job != NULL)
        fl_job_cancelled(call);
    bool waiting = fl_asking_is_waiting(call); /* no handler is at work */
    if (waiting)
        fl_asking_cancel(call);
    if (!call->replied) {
        call->replied = true;
        fl_return_send(&call->to, call->msg->id, NULL, 0);
    }
    if (waiting) {
        end(call);
    } else if (call->on_cancel != NULL) {
        call->on_cancel(call, call->cancel_user);
    }
}

void fl_call_init(fl_call *call, const fl_call_start *start)
{
    *call = (fl_call){
        .to = *start->to,
        .kind = start->kind,
        .msg = start->msg,
        .arguments = start->msg->inner.arguments,
        .entry = start->entry,
        .run = start->run != NULL ? start->run : start->entry->run,
    };
}

/* A handler that returns must have answered, deferred or asked. True: it asked
 * for what is at hand, and is to be run again. */
static bool look_after(fl_call *call)
{
    if (call->ended || call->parked)
        return false;
    if (fl_asking_is_open(call))
        fl_call_ask(call);
    if (fl_asking_is_answered(call))
        return true;
    if (!call->ended && !fl_asking_is_waiting(call))
        answer_error(call, FL_RPC_INTERNAL_ERROR,
                     FL_SPAN("the handler did not answer"));
    return false;
}

/* It may remove what it was called for. */
void fl_call_run(fl_call *call)
{
    fl_entry *entry = fl_entry_ref(call->entry);

    if (fl_asking_begin(call)) {
        do
            call->run(call, entry->user);
        while (look_after(call));
    }
    fl_entry_unref(entry);
}

void fl_call_rerun(fl_call *call)
{
    fl_entry *entry = fl_entry_ref(call->entry);

    call->running = true;
    call->parked = false;
    do
        call->run(call, entry->user);
    while (look_after(call));
    call->running = false;
    if (call->ended)
        leave(call);
    fl_entry_unref(entry);
}
