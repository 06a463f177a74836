/*
 * ws_link.c - the life of a WebSocket link: open, closed from either side,
 * gone.
 *
 * Whoever closes says so with a Close and waits, for a while, for the other's:
 * then both know that all that was said has been heard. What the peer says
 * meanwhile is read, for its Close comes after it, and dropped. Who has broken
 * the rules is told and not listened to any more. The pipe goes last, and the
 * link ends when it has gone.
 */
#include "transport/ws_link.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "transport/ws_link_impl.h"

#include <assert.h>

enum {
    FLUSH_MAX_MS = 30000, /* a link that is closing does close some time */
    PACK_FROM = 1024,     /* bytes: less gains nothing on the wire */
};

fl_ws_link_settings fl_ws_link_settings_from(const fl_options *full,
                                             bool client)
{
    const fl_websocket_settings *ws = &full->ws;

    return (fl_ws_link_settings){
        .frames = {.client = client,
                   .max_message = full->max_message,
                   .text_unchecked = true, /* JSON is, as it is read */
                   .refuse_binary = true},
        .packing = {.off = ws->no_compression,
                    .takeover = ws->context_takeover},
        .max_message = full->max_message,
        .high_water = ws->high_water,
        .pack_from = PACK_FROM,
        .lease_ms = full->lease_ms,
        .idle_ms = full->idle_timeout_ms,
        .ping_ms = ws->ping_ms,
        .fragment_ms = ws->fragment_ms,
        .stuck_ms = full->send_timeout_ms,
        .close_ms = ws->close_ms,
        .utf8_code = ws->utf8_code,
        .strict_lines = ws->strict_lines,
        .tool_dialect = !client && ws->tool_dialect,
    };
}

void fl_ws_link_init(fl_ws_link *ws, const fl_transport *transport,
                     fl_loop *loop, bool server, const fl_ws_hooks *hooks,
                     const fl_ws_link_settings *settings)
{
    fl_link_init(&ws->link, transport, loop, server);
    ws->hooks = hooks;
    ws->settings = settings;
    fl_timer_init(&ws->timer, loop, fl_ws_watch_run_out);
}

static void drop_frames(fl_ws_link *ws)
{
    if (ws->frames == NULL)
        return;
    fl_ws_deinit(ws->frames);
    fl_mem_free(ws->frames);
    ws->frames = NULL;
}

static fl_status make_frames(fl_ws_link *ws)
{
    ws->frames = fl_mem_alloc(sizeof *ws->frames);
    if (ws->frames == NULL)
        return FL_E_NOMEM;
    fl_status rc = fl_ws_init(ws->frames, &ws->settings->frames, &ws->agreed,
                              fl_loop_pool(ws->link.loop));
    if (rc == FL_OK)
        return FL_OK;
    fl_mem_free(ws->frames);
    ws->frames = NULL;
    return rc;
}

fl_status fl_ws_link_open(fl_ws_link *ws, const fl_ws_pipe *pipe,
                          const fl_ws_agreed *agreed)
{
    ws->agreed = agreed != NULL ? *agreed : (fl_ws_agreed){0};
    fl_status rc = make_frames(ws);
    if (rc == FL_OK)
        rc = fl_ws_output_open(ws);
    if (rc == FL_OK)
        rc = fl_link_move(&ws->link, FL_LINK_ACTIVE);
    if (rc != FL_OK) {
        fl_ws_output_forget(ws);
        drop_frames(ws);
        return rc;
    }
    ws->pipe = pipe;
    ws->close_code = 0;
    ws->close_sent = ws->close_heard = ws->paused = false;
    ws->written = 0;
    if (ws->stream != NULL)
        fl_stream_be_patient(ws->stream); /* ws_watch.c looks to that */
    fl_ws_watch_open(ws);
    return FL_OK;
}

void fl_ws_link_on_data(fl_ws_link *ws, fl_span bytes)
{
    bool was_leased = ws->link.stats.messages_in == 0;

    ws->pinged_ms = 0;
    fl_link_ref(&ws->link);
    fl_ws_input_take(ws, bytes);
    if (was_leased && ws->link.stats.messages_in > 0 &&
        ws->link.state == FL_LINK_ACTIVE)
        fl_ws_watch_again(ws);
    fl_link_unref(&ws->link);
}

void fl_ws_link_on_drain(fl_ws_link *ws)
{
    const fl_link_events *events = ws->link.events;

    fl_link_ref(&ws->link);
    if (ws->pipe != NULL && fl_ws_link_hears(ws)) {
        fl_ws_watch_output(ws);
        fl_ws_output_drained(ws);
        fl_ws_input_resume(ws);
    }
    if (ws->link.state == FL_LINK_ACTIVE && !fl_ws_input_is_full(ws) &&
        events->on_writable != NULL)
        events->on_writable(&ws->link);
    fl_link_unref(&ws->link);
}

static uint64_t flush_ms(const fl_ws_link *ws)
{
    uint64_t ms = ws->settings->stuck_ms;

    return ms < FLUSH_MAX_MS ? ms : FLUSH_MAX_MS;
}

static void blame(fl_ws_link *ws, const fl_error *why)
{
    ws->failed = why->status;
    if (ws->why == NULL)
        ws->why = fl_mem_alloc(sizeof *ws->why);
    if (ws->why != NULL)
        *ws->why = *why;
}

/* False: it is closing already. */
static bool begin_close(fl_ws_link *ws, const fl_error *why)
{
    if (fl_link_move(&ws->link, FL_LINK_CLOSING) != FL_OK)
        return false;
    if (why != NULL)
        blame(ws, why);
    fl_timer_stop(&ws->timer);
    return true;
}

void fl_ws_link_shut(fl_ws_link *ws)
{
    ws->closing_ms = 0;
    fl_timer_stop(&ws->timer);
    ws->pipe->close(ws, flush_ms(ws));
}

/* Once: after it nothing may be said. */
static fl_status say_close(fl_ws_link *ws, unsigned code, fl_span reason)
{
    char body[FL_WS_CONTROL_MAX];
    size_t len = fl_ws_close_body(body, code, reason);

    if (ws->close_sent)
        return FL_OK;
    fl_status rc = fl_ws_link_control(ws, FL_WS_CLOSE, (fl_span){body, len});
    ws->close_sent = true;
    return rc;
}

/* For who is told no more than that: there is no socket, or it is broken. */
static void leave(fl_ws_link *ws)
{
    if (ws->pipe != NULL)
        fl_ws_link_shut(ws);
    else if (ws->stream != NULL)
        fl_stream_close(ws->stream); /* nothing was written to it yet */
    else
        fl_timer_start(&ws->timer, 0); /* on_closed comes later, always */
}

/* `listen`: for the peer's own Close. */
static void close_with(fl_ws_link *ws, unsigned code, const fl_error *why,
                       bool listen)
{
    fl_span reason = why != NULL ? fl_span_of(why->text) : (fl_span){0};

    if (!begin_close(ws, why))
        return;
    if (ws->pipe == NULL) {
        leave(ws);
        return;
    }
    ws->close_code = (uint16_t)code;
    if (say_close(ws, code, reason) == FL_OK && listen && !ws->close_heard) {
        fl_ws_watch_close(ws);
        fl_ws_input_resume(ws); /* it may have said so already */
    } else {
        fl_ws_input_forget(ws);
        fl_ws_link_shut(ws);
    }
}

void fl_ws_link_fail(fl_ws_link *ws, unsigned code, const fl_error *why)
{
    close_with(ws, code, why, true);
}

void fl_ws_link_drop(fl_ws_link *ws, unsigned code, const fl_error *why)
{
    ws->link.stats.errors++;
    if (ws->link.state == FL_LINK_CLOSING) { /* it was its last word, anyway */
        fl_ws_link_shut(ws);
    } else if (ws->hooks->on_lost != NULL) { /* another socket may do better */
        ws->close_code = (uint16_t)code;
        (void)!say_close(ws, code, fl_span_of(why->text));
        fl_ws_input_forget(ws);
        fl_ws_link_lose(ws, why, flush_ms(ws));
    } else {
        close_with(ws, code, why, false);
    }
}

void fl_ws_link_give_up(fl_ws_link *ws, const fl_error *why)
{
    if (begin_close(ws, why))
        leave(ws);
}

void fl_ws_link_close(fl_link *link)
{
    fl_ws_link *ws = (fl_ws_link *)link;

    close_with(ws, ws->settings->leaving ? FL_WS_GOING_AWAY : FL_WS_NORMAL,
               NULL, true);
}

void fl_ws_link_lose(fl_ws_link *ws, const fl_error *why, uint64_t flush)
{
    fl_link_ref(&ws->link);
    fl_timer_stop(&ws->timer);
    ws->closing_ms = 0;
    if (ws->link.state == FL_LINK_CLOSING || ws->hooks->on_lost == NULL)
        (void)begin_close(ws, why);
    else
        ws->hooks->on_lost(ws, why);
    if (ws->pipe != NULL)
        ws->pipe->close(ws, flush);
    fl_link_unref(&ws->link);
}

/* What the peer gives as its reason is cleaned as our own is: it may come to
 * a terminal. */
static void describe(const fl_ws_message *message, fl_error *why)
{
    unsigned code = message->code;
    bool in_order = code == FL_WS_NORMAL || code == FL_WS_GOING_AWAY ||
                    code == FL_WS_NO_CODE;
    char clean[FL_WS_CONTROL_MAX];
    size_t len = fl_ws_close_body(clean, FL_WS_NORMAL, message->bytes) - 2;

    fl_error_set(why, in_order ? FL_END : FL_E_CLOSED,
                 "the peer closed the WebSocket (%u%s%.*s)", code,
                 len > 0 ? ": " : "", (int)len, clean + 2);
}

/* RFC 6455 5.5.1: the answer usually repeats the code. */
void fl_ws_link_heard_close(fl_ws_link *ws, const fl_ws_message *message)
{
    fl_error why;

    ws->close_heard = true;
    if (ws->link.state == FL_LINK_CLOSING) {
        fl_ws_link_shut(ws);
        return;
    }
    ws->close_code = (uint16_t)message->code;
    describe(message, &why);
    (void)!say_close(ws, message->code, (fl_span){0});
    fl_ws_link_lose(ws, &why, flush_ms(ws));
}

void fl_ws_link_on_end(fl_ws_link *ws, const fl_error *why)
{
    uint64_t flush = why->status == FL_END ? flush_ms(ws) : 0;
    fl_error abrupt;

    if (ws->link.state != FL_LINK_CLOSING) {
        ws->close_code = FL_WS_ABNORMAL;
        if (why->status == FL_END) {
            fl_error_set(&abrupt, FL_E_CLOSED,
                         "the peer ended the connection without a WebSocket "
                         "Close");
            why = &abrupt;
        }
    }
    fl_ws_link_lose(ws, why, flush);
}

static void forget(fl_ws_link *ws)
{
    fl_ws_input_forget(ws);
    fl_ws_output_forget(ws);
    drop_frames(ws);
    if (ws->settings->budget != NULL)
        fl_budget_give(ws->settings->budget, ws->charged + ws->charged_out);
    ws->charged = ws->charged_out = 0;
}

void fl_ws_link_on_gone(fl_ws_link *ws)
{
    ws->pipe = NULL;
    ws->stream = NULL;
    forget(ws);
    if (ws->hooks->on_gone != NULL)
        ws->hooks->on_gone(ws);
    else if (ws->link.state == FL_LINK_CLOSING)
        fl_ws_link_end(ws);
}

void fl_ws_link_end(fl_ws_link *ws)
{
    fl_error why;

    fl_timer_stop(&ws->timer);
    if (ws->why != NULL)
        why = *ws->why;
    else
        fl_error_set(&why, ws->failed, "%s",
                     ws->failed == FL_OK ? "closed"
                                         : fl_status_text(ws->failed));
    fl_link_ended(&ws->link, &why);
}

void fl_ws_link_free(fl_link *link)
{
    fl_ws_link *ws = (fl_ws_link *)link;

    assert(ws->pipe == NULL && !fl_timer_running(&ws->timer));
    forget(ws);
    fl_mem_free(ws->why);
    ws->hooks->free(ws);
}

void fl_ws_link_info(const fl_link *link, fl_link_info *info)
{
    const fl_ws_link *ws = (const fl_ws_link *)link;

    info->max_message = ws->settings->max_message;
    info->principal = ws->principal;
    if (ws->pipe == NULL)
        return;
    info->buffered = ws->pipe->pending(ws);
    static_assert(sizeof info->peer >= FL_STREAM_NAME, "holds a stream's name");
    ws->pipe->name(ws, info->peer);
}
