/*
 * http_backlog.c - answers that a client does not take.
 *
 * What waits to leave counts against the memory budget from high water on;
 * less is the price of a connection. A stream that makes no progress is broken
 * off below us, but HTTP/2 has windows of its own, and a client may leave one
 * shut: so a backlog that does not move at all ends the connection, too.
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
    fl_timer stuck;      /* runs while there is anything */
    size_t charged;      /* to the budget */
    uint64_t written;    /* bytes, since there is one */
    uint64_t taken_then; /* of them, and of what waited before, when `stuck`
                            was started; modulo 2^64 */
};

/* One large answer is written at once, and may leave slowly all the same. */
static uint64_t taken(const fl_http_conn *conn)
{
    return conn->backlog->written - fl_stream_pending(conn->stream);
}

static void watch(fl_http_conn *conn)
{
    conn->backlog->taken_then = taken(conn);
    fl_timer_start(&conn->backlog->stuck,
                   conn->caller->hub->options.send_timeout_ms);
}

static void on_timer(fl_timer *timer)
{
    fl_http_conn *conn = FL_LIST_ENTRY(timer, fl_http_backlog, stuck)->conn;
    bool moved = taken(conn) != conn->backlog->taken_then;

    fl_http_backlog_charge(conn);
    if (conn->backlog == NULL || conn->closing)
        return;
    if (moved)
        watch(conn);
    else
        fl_http_conn_break(conn, FL_E_TIMEOUT,
                           "the client does not take its answers");
}

static bool begin(fl_http_conn *conn)
{
    conn->backlog = fl_mem_zalloc(sizeof *conn->backlog);
    if (conn->backlog == NULL)
        return false;
    conn->backlog->conn = conn;
    fl_timer_init(&conn->backlog->stuck, conn->caller->hub->loop, on_timer);
    return true;
}

void fl_http_backlog_add(fl_http_conn *conn, const fl_span *parts, size_t count)
{
    if (conn->backlog != NULL)
        conn->backlog->written += fl_span_total(parts, count);
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
        watch(conn);
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
