/*
 * redial.c - what a client link does when it has no connection.
 *
 * Messages are kept as lines, whatever the transport makes of them later: a
 * JSON text has no raw line end that could not be a space, so that one buffer
 * holds them all and their ends can be found again.
 */
#include "transport/redial.h"

#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "transport/line_link.h"

enum { LASTING_MS = 5000 }; /* a connection that stood so long was a success */

void fl_redial_init(fl_redial *redial, const fl_options *options)
{
    size_t room = options->high_water + options->max_message;

    *redial = (fl_redial){
        .backoff = {.first_ms = options->reconnect_first_ms,
                    .max_ms = options->reconnect_max_ms,
                    .attempts = options->reconnect_attempts},
        .reconnects = !options->no_reconnect,
    };
    fl_buf_init(&redial->unsent,
                options->outage_queue < room ? options->outage_queue : room);
}

void fl_redial_deinit(fl_redial *redial)
{
    fl_buf_reset(&redial->unsent);
}

fl_status fl_redial_wait(fl_redial *redial, const fl_link *link,
                         fl_timer *timer)
{
    uint64_t wait_ms;

    if (!redial->reconnects ||
        fl_backoff_next(&redial->backoff, &wait_ms) != FL_OK)
        return FL_E_LIMIT;
    if (wait_ms < redial->asked_ms)
        wait_ms = redial->asked_ms;
    redial->asked_ms = 0;
    fl_log_say(fl_loop_log(link->loop), FL_LOG_INFO, "reconnecting",
               fl_log_text("reason", fl_span_of(redial->last.text)),
               fl_log_int("wait_ms", (int64_t)wait_ms));
    fl_timer_start(timer, wait_ms);
    return FL_OK;
}

/* A server that takes connections only to drop them is as good as none: its
 * clients wait longer each time, too. */
static bool lasted(const fl_redial *redial, const fl_link *link)
{
    uint64_t enough = redial->backoff.max_ms < LASTING_MS
                          ? redial->backoff.max_ms
                          : LASTING_MS;

    return link->state == FL_LINK_ACTIVE &&
           fl_loop_now(link->loop) - link->stats.opened_ms >= enough;
}

void fl_redial_lost(fl_redial *redial, const fl_link *link, const fl_error *why)
{
    redial->last = *why;
    if (lasted(redial, link))
        fl_backoff_reset(&redial->backoff);
}

fl_status fl_redial_keep(fl_redial *redial, const fl_span *parts, size_t count)
{
    fl_buf *unsent = &redial->unsent;
    size_t before = fl_buf_len(unsent);
    fl_status rc = fl_buf_append_all(unsent, parts, count);

    if (rc == FL_OK)
        rc = fl_buf_append(unsent, FL_SPAN("\n"));
    if (rc == FL_OK) {
        fl_line_link_join(unsent->ptr + unsent->start + before,
                          fl_buf_len(unsent) - before - 1);
        return FL_OK;
    }
    fl_buf_truncate(unsent, before);
    if (rc != FL_E_TOO_BIG)
        return rc;
    redial->refused = true;
    return FL_BUSY;
}

void fl_redial_sent(fl_redial *redial)
{
    fl_buf_reset(&redial->unsent);
}

void fl_redial_tell(fl_redial *redial, fl_link *link)
{
    const fl_link_events *events = link->events;

    if (events->on_open != NULL)
        events->on_open(link);
    if (!redial->refused || link->state != FL_LINK_ACTIVE)
        return;
    redial->refused = false;
    if (events->on_writable != NULL)
        events->on_writable(link);
}
