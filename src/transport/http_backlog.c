/*
 * http_backlog.c - answers that a client does not take.
 *
 * What waits to leave counts against the memory budget from high water on;
 * less is the price of a connection. A socket that takes nothing is broken off
 * below us, but HTTP/2 has windows of its own, and a client may leave one shut:
 * so while there is a backlog, answers that do not get any further are broken
 * off here.
 *
 * Few connections ever have one. Where there is no memory to note it down, it
 * is noted down when more is written, or when the connection's timer looks.
 */
#include "transport/http_server.h"

#include "base/mem.h"
#include "base/span.h"
#include "io/loop.h"

struct fl_http_backlog {
    fl_http_conn *conn;
    fl_timer stuck; /* runs while there is anything */
    size_t charged; /* to the budget */
};

/* Whoever is told of it may do anything to the connection but free it. */
static void on_timer(fl_timer *timer)
{
    fl_http_conn *conn = FL_LIST_ENTRY(timer, fl_http_backlog, stuck)->conn;
    fl_http_hub *hub = conn->caller->hub;
    size_t ended =
        conn->http != NULL ? fl_http_look_for_stuck(conn->http, true) : 0;

    if (ended > 0)
        fl_log_say(fl_loop_log(hub->loop), FL_LOG_WARN,
                   "answers that the client did not take were broken off",
                   fl_log_int("answers", (int64_t)ended),
                   fl_log_text("peer", fl_span_of(conn->caller->name)));
    fl_http_backlog_charge(conn);
}

static bool begin(fl_http_conn *conn)
{
    conn->backlog = fl_mem_zalloc(sizeof *conn->backlog);
    if (conn->backlog == NULL)
        return false;
    conn->backlog->conn = conn;
    fl_timer_init(&conn->backlog->stuck, conn->caller->hub->loop, on_timer);
    if (conn->http != NULL)
        (void)fl_http_look_for_stuck(conn->http, false);
    return true;
}

static size_t measure(const fl_http_conn *conn)
{
    size_t held = fl_stream_pending(conn->stream);

    if (conn->http != NULL)
        held += fl_http_waiting(conn->http);
    return held >= conn->caller->hub->options.high_water ? held : 0;
}

void fl_http_backlog_charge(fl_http_conn *conn)
{
    uint64_t patience = conn->caller->hub->options.send_timeout_ms;

    if (conn->closing)
        return;
    size_t held = measure(conn);
    if (held == 0) {
        fl_http_backlog_clear(conn);
        return;
    }
    if (conn->backlog == NULL && !begin(conn))
        return;
    fl_budget_give(&conn->caller->hub->budget, conn->backlog->charged);
    fl_budget_charge(&conn->caller->hub->budget, held);
    conn->backlog->charged = held;
    if (patience != FL_NEVER && !fl_timer_running(&conn->backlog->stuck))
        fl_timer_start(&conn->backlog->stuck, patience);
}

void fl_http_backlog_clear(fl_http_conn *conn)
{
    if (conn->backlog == NULL)
        return;
    fl_timer_stop(&conn->backlog->stuck);
    fl_budget_give(&conn->caller->hub->budget, conn->backlog->charged);
    fl_mem_free(conn->backlog);
    conn->backlog = NULL;
}
