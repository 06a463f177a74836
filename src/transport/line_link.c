/*
 * line_link.c - one message per line over one stream: its life and its output.
 *
 * Answers may pass the high water mark, other messages may not; line_input.c
 * sees to it that few answers come up while the mark is reached.
 */
#include "transport/line_link.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "transport/line_input.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* A link that is closing does close some time. */
enum { FLUSH_MAX_MS = 30000 };

fl_line_settings fl_line_settings_from(const fl_options *full)
{
    return (fl_line_settings){
        .max_message = full->max_message,
        .high_water = full->high_water,
        .lease_ms = full->lease_ms,
        .idle_ms = full->idle_timeout_ms,
        .drain_ms = full->drain_ms,
        .flush_ms = full->send_timeout_ms < FLUSH_MAX_MS ? full->send_timeout_ms
                                                         : FLUSH_MAX_MS,
    };
}

void fl_line_link_complain(fl_line_link *line, int code, fl_span message,
                           fl_span data)
{
    fl_buf text;

    fl_buf_init(&text, 4096);
    fl_pool_lend(fl_loop_pool(line->link.loop), &text);
    if (fl_rpc_error_write(&text, (fl_span){0}, code, message, data) == FL_OK &&
        line->stream != NULL) {
        fl_span parts[] = {fl_buf_view(&text), FL_SPAN("\n")};
        if (fl_stream_write_urgent(line->stream, parts, 2) == FL_OK)
            line->link.stats.messages_out++;
    }
    fl_buf_consume(&text, fl_buf_len(&text));
    fl_pool_return(fl_loop_pool(line->link.loop), &text);
}

static uint64_t patience(const fl_line_link *line)
{
    return line->link.stats.messages_in == 0 ? line->settings->lease_ms
                                             : line->settings->idle_ms;
}

static void watch(fl_line_link *line)
{
    fl_timer_stop(&line->timer);
    if (line->link.server && patience(line) != FL_NEVER)
        fl_timer_start(&line->timer, patience(line));
}

static void on_data(void *user, fl_span bytes)
{
    fl_line_link *line = user;

    bool was_leased = line->link.stats.messages_in == 0;

    fl_link_ref(&line->link);
    fl_line_input_take(line, bytes);
    if (was_leased && line->link.stats.messages_in > 0 &&
        line->link.state == FL_LINK_ACTIVE)
        watch(line); /* the lease is over: from here on idleness counts */
    fl_link_unref(&line->link);
}

static void on_drain(void *user)
{
    fl_line_link *line = user;
    const fl_link_events *events = line->link.events;

    fl_link_ref(&line->link);
    fl_line_input_resume(line);
    if (line->link.state == FL_LINK_ACTIVE && !fl_line_input_is_full(line) &&
        events->on_writable != NULL)
        events->on_writable(&line->link);
    fl_link_unref(&line->link);
}

static void lose(fl_line_link *line, const fl_error *why)
{
    if (line->hooks->on_lost == NULL) {
        fl_line_link_fail(line, why);
        return;
    }
    fl_link_ref(&line->link);
    line->ended = false; /* or the retry timer would say it again */
    fl_timer_stop(&line->timer);
    line->hooks->on_lost(line, why);
    fl_link_unref(&line->link);
}

/* The peer will say no more, but may be waiting for answers. */
static void finish(fl_line_link *line, const fl_error *why)
{
    const fl_link_events *events = line->link.events;

    fl_line_input_finish(line);
    if (line->link.state == FL_LINK_ACTIVE && events->on_ended != NULL)
        events->on_ended(&line->link);
    if (line->link.state != FL_LINK_ACTIVE)
        return;
    if (line->link.holds == 0) {
        lose(line, why);
        return;
    }
    line->ended = true;
    fl_timer_start(&line->timer, line->settings->drain_ms);
}

static void on_end(void *user, const fl_error *why)
{
    fl_line_link *line = user;

    fl_link_ref(&line->link);
    if (why->status == FL_END && line->link.state == FL_LINK_ACTIVE)
        finish(line, why);
    else
        lose(line, why);
    fl_link_unref(&line->link);
}

static void say_ended(fl_line_link *line)
{
    fl_error why;

    fl_error_set(&why, FL_END, "the peer closed the connection");
    lose(line, &why);
}

void fl_line_link_released(fl_link *link)
{
    fl_line_link *line = (fl_line_link *)link;

    if (line->ended && link->state == FL_LINK_ACTIVE)
        fl_timer_start(&line->timer, 0); /* not from under the caller */
}

/* Links are looked at when their time is up, not touched at every message:
 * the timer then finds how long the silence has really been. */
static void check_idle(fl_line_link *line)
{
    uint64_t limit = patience(line);
    uint64_t since = line->link.stats.messages_in == 0
                         ? line->link.stats.opened_ms
                         : line->link.stats.last_seen_ms;
    uint64_t quiet = fl_loop_now(line->link.loop) - since;

    if (limit == FL_NEVER)
        return;
    if (line->link.holds > 0) {
        fl_timer_start(&line->timer, limit);
    } else if (quiet < limit) {
        fl_timer_start(&line->timer, limit - quiet);
    } else {
        fl_error why;
        fl_error_set(&why, FL_E_TIMEOUT,
                     line->link.stats.messages_in == 0
                         ? "nothing was said within the lease of %" PRIu64 " ms"
                         : "idle for %" PRIu64 " ms",
                     limit);
        fl_line_link_fail(line, &why);
    }
}

static void on_timer(fl_timer *timer)
{
    fl_line_link *line = FL_LIST_ENTRY(timer, fl_line_link, timer);

    if (line->link.state == FL_LINK_CLOSING)
        fl_line_link_end(line);
    else if (line->ended)
        say_ended(line);
    else if (line->link.state == FL_LINK_ACTIVE)
        check_idle(line);
    else if (line->link.state == FL_LINK_DISCONNECTED)
        line->hooks->on_retry(line);
}

static void activate(fl_line_link *line)
{
    if (fl_link_move(&line->link, FL_LINK_ACTIVE) != FL_OK)
        return;
    line->link.stats.last_seen_ms = fl_loop_now(line->link.loop);
    watch(line);
    line->hooks->on_active(line);
}

static void on_open(void *user)
{
    fl_line_link *line = user;

    fl_link_ref(&line->link);
    activate(line);
    fl_link_unref(&line->link);
}

static void on_stream_closed(void *user)
{
    fl_line_link *line = user;

    line->stream = NULL;
    if (line->hooks->on_stream_gone != NULL)
        line->hooks->on_stream_gone(line);
    else if (line->link.state == FL_LINK_CLOSING)
        fl_line_link_end(line);
}

static const fl_stream_events stream_events = {
    .on_open = on_open,
    .on_data = on_data,
    .on_end = on_end,
    .on_drain = on_drain,
    .on_closed = on_stream_closed,
};

void fl_line_link_init(fl_line_link *line, const fl_transport *transport,
                       fl_loop *loop, bool server, const fl_line_hooks *hooks,
                       const fl_line_settings *settings)
{
    fl_link_init(&line->link, transport, loop, server);
    line->hooks = hooks;
    line->settings = settings;
    fl_lines_init(&line->lines, FL_LINES_ANY, settings->max_message);
    fl_timer_init(&line->timer, loop, on_timer);
}

void fl_line_link_attach(fl_line_link *line, fl_stream *stream)
{
    line->stream = stream;
    line->ended = false;
    fl_line_input_forget(line);
    fl_lines_deinit(&line->lines);
    fl_lines_init(&line->lines, FL_LINES_ANY, line->settings->max_message);
    if (fl_stream_start(stream, &stream_events, line) == FL_OK)
        on_open(line);
}

void fl_line_link_join(char *text, size_t len)
{
    size_t at = fl_lines_find_end((fl_span){text, len});

    while (at < len) {
        text[at] = ' ';
        at += fl_lines_find_end((fl_span){text + at, len - at});
    }
}

static fl_status write_line(fl_line_link *line, const fl_span *parts,
                            size_t count, size_t len, bool urgent)
{
    fl_span with_end[FL_LINK_PARTS + 1];

    memcpy(with_end, parts, count * sizeof *parts);
    with_end[count] = FL_SPAN("\n");

    fl_status rc =
        urgent ? fl_stream_write_urgent(line->stream, with_end, count + 1)
               : fl_stream_write(line->stream, with_end, count + 1);
    if (rc != FL_OK)
        return rc;

    fl_line_link_join(fl_stream_last_write(line->stream, len + 1), len);
    return FL_OK;
}

static fl_status deliver(fl_line_link *line, const fl_span *parts, size_t count,
                         bool urgent)
{
    size_t len = fl_span_total(parts, count);

    assert(count > 0 && count <= FL_LINK_PARTS);
    if (len > line->settings->max_message)
        return FL_E_TOO_BIG;
    if (line->link.state == FL_LINK_ACTIVE)
        return write_line(line, parts, count, len, urgent);
    return line->hooks->on_unsent != NULL
               ? line->hooks->on_unsent(line, parts, count)
               : FL_E_STATE;
}

fl_status fl_line_link_send(fl_link *link, void *reply_stream,
                            const fl_span *parts, size_t count)
{
    (void)reply_stream;
    return deliver((fl_line_link *)link, parts, count, false);
}

fl_status fl_line_link_answer(fl_link *link, void *reply_stream, int code,
                              const fl_span *parts, size_t count)
{
    (void)reply_stream;
    (void)code;
    return count > 0 ? deliver((fl_line_link *)link, parts, count, true)
                     : FL_OK;
}

static void begin_close(fl_line_link *line)
{
    bool was_open = line->link.state == FL_LINK_ACTIVE;

    if (fl_link_move(&line->link, FL_LINK_CLOSING) != FL_OK)
        return;
    fl_timer_stop(&line->timer);
    if (line->stream != NULL && !was_open)
        fl_stream_close(line->stream); /* nothing was written to it yet */
    else if (line->stream != NULL)
        fl_stream_close_after_flush(line->stream, line->settings->flush_ms);
    else
        fl_timer_start(&line->timer, 0); /* on_closed comes later, always */
}

void fl_line_link_close(fl_link *link)
{
    begin_close((fl_line_link *)link);
}

void fl_line_link_blame(fl_line_link *line, const fl_error *why)
{
    line->failed = why->status;
    if (line->why == NULL)
        line->why = fl_mem_alloc(sizeof *line->why);
    if (line->why != NULL)
        *line->why = *why;
}

void fl_line_link_fail(fl_line_link *line, const fl_error *why)
{
    if (line->link.state == FL_LINK_CLOSING)
        return;
    if (line->why == NULL)
        fl_line_link_blame(line, why);
    begin_close(line);
}

void fl_line_link_end(fl_line_link *line)
{
    fl_error why;

    fl_timer_stop(&line->timer);
    if (line->why != NULL)
        why = *line->why;
    else
        fl_error_set(&why, line->failed, "%s",
                     line->failed == FL_OK ? "closed"
                                           : fl_status_text(line->failed));
    fl_link_ended(&line->link, &why);
}

void fl_line_link_free(fl_link *link)
{
    fl_line_link *line = (fl_line_link *)link;

    assert(line->stream == NULL && !fl_timer_running(&line->timer));
    fl_lines_deinit(&line->lines);
    fl_line_input_forget(line);
    fl_mem_free(line->why);
    line->hooks->free(line);
}

void fl_line_link_info(const fl_link *link, fl_link_info *info)
{
    const fl_line_link *line = (const fl_line_link *)link;

    info->max_message = line->settings->max_message;
    if (line->stream == NULL)
        return;
    info->buffered = fl_stream_pending(line->stream);
    static_assert(sizeof info->peer >= FL_STREAM_NAME, "holds a stream's name");
    fl_stream_peer_name(line->stream, info->peer);
}
