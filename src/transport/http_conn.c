/*
 * http_conn.c - one connection at our server: a stream on one side, a codec on
 * the other.
 *
 * The timer says what is being waited for: the first request (the lease), the
 * rest of a head (so that a slow one cannot hold a connection), or the next
 * request. It is not touched by requests that come and go: when it fires it
 * looks how long the silence really was.
 */
#include "transport/http_server.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "rpc/error.h"
#include "wire/http2_frame.h"

#include <string.h>

enum { FLUSH_MAX_MS = 30000 };

static uint64_t flush_ms(const fl_http_conn *conn)
{
    uint64_t ms = conn->caller->hub->options.send_timeout_ms;

    return ms < FLUSH_MAX_MS ? ms : FLUSH_MAX_MS;
}

/* Tells every exchange, then goes. */
void fl_http_conn_break(fl_http_conn *conn, fl_status status, const char *text)
{
    fl_error why;

    if (conn->closing)
        return;
    conn->closing = true;
    fl_timer_stop(&conn->timer);
    fl_error_set(&why, status, "%s", text);
    if (conn->http != NULL)
        fl_http_lose(conn->http, &why);
    fl_stream_close(conn->stream);
}

static fl_status write_out(void *user, const fl_span *parts, size_t count,
                           bool urgent)
{
    fl_http_conn *conn = user;

    return urgent ? fl_stream_write_urgent(conn->stream, parts, count)
                  : fl_stream_write(conn->stream, parts, count);
}

static void on_head(fl_exchange *exchange, const fl_head *head, void *user)
{
    fl_http_conn *conn = user;
    fl_http_turn *turn = fl_http_turn_new(conn, exchange);

    conn->heard = conn->past_head = true;
    if (turn == NULL)
        fl_exchange_reset(exchange);
    else
        fl_http_door_admit(turn, head);
}

static void on_bad(fl_exchange *exchange, unsigned status, const char *what,
                   void *user)
{
    fl_http_conn *conn = user;
    /* a body that went wrong belongs to a request that has its turn */
    fl_http_turn *turn = fl_exchange_user(exchange) != NULL
                             ? fl_exchange_user(exchange)
                             : fl_http_turn_new(conn, exchange);

    conn->past_head = true;
    if (turn == NULL)
        fl_exchange_reset(exchange);
    else
        fl_http_refuse_with(turn, status, FL_RPC_INVALID_REQUEST, what);
}

static void on_body(fl_exchange *exchange, fl_span bytes, void *user)
{
    fl_http_turn *turn = fl_exchange_user(exchange);

    (void)user;
    if (turn->socket)
        fl_ws_h2_take(turn, bytes);
    else
        fl_http_body_add(turn, bytes);
}

static void on_end(fl_exchange *exchange, void *user)
{
    fl_http_turn *turn = fl_exchange_user(exchange);

    (void)user;
    if (turn->socket)
        fl_ws_h2_end(turn);
    else
        fl_http_body_end(turn);
}

static void on_lost(fl_exchange *exchange, const fl_error *why, void *user)
{
    (void)user;
    fl_http_turn_lost(fl_exchange_user(exchange), why);
}

static void on_writable(fl_exchange *exchange, void *user)
{
    fl_http_turn *turn = fl_exchange_user(exchange);
    fl_link *link = turn->link;

    (void)user;
    if (link == NULL)
        return;
    if (turn->socket)
        fl_ws_h2_writable(turn);
    else if (link->transport == &fl_http_session_transport)
        fl_http_session_writable((fl_http_session *)link);
    else if (link->transport == &fl_http_sse_transport)
        fl_http_sse_writable(link);
    else if (link->events->on_writable != NULL)
        link->events->on_writable(link);
}

/* What a client says before it knows that it may. */
static void on_rest(fl_span bytes, void *user)
{
    fl_http_conn *conn = user;

    if (conn->socket != NULL && conn->socket->pipe != NULL)
        fl_ws_link_on_data(conn->socket, bytes);
}

static void on_pause(bool paused, void *user)
{
    fl_http_conn *conn = user;

    fl_stream_pause(conn->stream, paused);
}

static void on_held(void *user)
{
    fl_http_conn *conn = user;

    conn->held = true;
    fl_timer_start(&conn->timer, 0);
}

static void on_over(void *user)
{
    fl_http_conn *conn = user;

    if (conn->closing)
        return;
    conn->closing = true;
    fl_timer_stop(&conn->timer);
    if (fl_http_was_cut(conn->http))
        fl_stream_close_after_peer(conn->stream, flush_ms(conn));
    else
        fl_stream_close_after_flush(conn->stream, flush_ms(conn));
}

static const fl_http_events http_events = {
    .write = write_out,
    .on_head = on_head,
    .on_body = on_body,
    .on_end = on_end,
    .on_bad = on_bad,
    .on_rest = on_rest,
    .on_lost = on_lost,
    .on_writable = on_writable,
    .on_pause = on_pause,
    .on_held = on_held,
    .on_over = on_over,
};

static void speak(fl_http_conn *conn, unsigned version)
{
    fl_http_options options = {
        .version = version,
        .limits = &conn->caller->hub->limits,
        .events = &http_events,
        .user = conn,
    };

    conn->version = (uint8_t)version;
    if (version == 20)
        fl_stream_gather(conn->stream, FL_HTTP2_ANSWERS);
    if (fl_http_new(&options, &conn->http) != FL_OK) {
        fl_http_conn_break(conn, FL_E_NOMEM, fl_status_text(FL_E_NOMEM));
        return;
    }
    if (conn->caller->hub->listener == NULL)
        fl_http_shut(conn->http);
    fl_http_feed(conn->http, (fl_span){0}); /* HTTP/2 has a word to say first */
}

static uint64_t patience(const fl_http_conn *conn)
{
    return conn->heard ? conn->caller->hub->options.idle_timeout_ms
                       : conn->caller->hub->options.lease_ms;
}

static void watch(fl_http_conn *conn, uint64_t ms)
{
    if (ms == FL_NEVER)
        fl_timer_stop(&conn->timer);
    else
        fl_timer_start(&conn->timer, ms);
}

/* Bodies have timers of their own, so that each request gets its time. */
static void time_bodies(fl_http_conn *conn)
{
    for (fl_list *node = conn->turns.next; node != &conn->turns;
         node = node->next) {
        fl_http_turn *turn = FL_LIST_ENTRY(node, fl_http_turn, node);
        if (turn->phase == FL_HTTP_RECEIVING &&
            !fl_timer_running(&turn->timer) &&
            conn->caller->hub->options.http.body_timeout_ms != FL_NEVER)
            fl_timer_start(&turn->timer,
                           conn->caller->hub->options.http.body_timeout_ms);
    }
}

/* After input: is part of a head waiting for the rest? */
static void settle(fl_http_conn *conn)
{
    if (conn->closing || conn->held)
        return;
    bool in_head = conn->http == NULL || fl_http_in_head(conn->http);
    bool first = conn->heard && !conn->leased;
    if (in_head && (!conn->in_head || conn->past_head))
        watch(conn, conn->caller->hub->options.http.head_timeout_ms);
    else if (!in_head && (conn->in_head || first))
        watch(conn, patience(conn)); /* the lease is over, or the head whole */
    conn->in_head = in_head;
    conn->past_head = false;
    conn->leased = conn->heard;
    time_bodies(conn);
    fl_http_backlog_charge(conn);
}

static void feed(fl_http_conn *conn, fl_span bytes)
{
    if (conn->http != NULL)
        fl_http_feed(conn->http, bytes);
    if (conn->socket == NULL) {
        settle(conn);
        return;
    }
    fl_http_free(conn->http); /* nothing here is HTTP any more */
    conn->http = NULL;
}

/* What the bytes and those before them tell. */
static unsigned sniff(fl_span before, fl_span bytes)
{
    char both[FL_HTTP2_PREFACE + 1];
    size_t room = sizeof both - before.len;
    size_t n = bytes.len < room ? bytes.len : room;

    if (before.len == 0)
        return fl_http_sniff(bytes);
    memcpy(both, before.ptr, before.len);
    memcpy(both + before.len, bytes.ptr, n);
    return fl_http_sniff((fl_span){both, before.len + n});
}

/* The version is known once the first bytes cannot be anything else; all but a
 * few clients say so in one piece. Bytes that do not tell it yet are the
 * beginning of HTTP/2's preface: how many there were is all there is to keep
 * of them. */
static void listen_first(fl_http_conn *conn, fl_span bytes)
{
    fl_span before = {FL_HTTP2_PREFACE_TEXT, conn->prefaced};
    unsigned version = sniff(before, bytes);

    if (version == 0) {
        conn->prefaced += (uint8_t)bytes.len;
        settle(conn);
        return;
    }
    speak(conn, version);
    if (!conn->closing && before.len > 0)
        feed(conn, before);
    if (!conn->closing)
        feed(conn, bytes);
}

static void on_data(void *user, fl_span bytes)
{
    fl_http_conn *conn = user;

    if (conn->http != NULL)
        feed(conn, bytes);
    else
        listen_first(conn, bytes);
}

static bool is_streaming(const fl_http_conn *conn)
{
    bool streaming = false;

    for (fl_list *node = conn->turns.next; node != &conn->turns;
         node = node->next)
        streaming |=
            FL_LIST_ENTRY(node, fl_http_turn, node)->phase == FL_HTTP_STREAMING;
    return streaming;
}

/* Half a close is how some say that their request is whole; a client that
 * only listens has no reason to. So what is being worked on gets a little
 * time, and an event stream none. */
static void on_end_of_input(void *user, const fl_error *why)
{
    fl_http_conn *conn = user;

    if (why->status != FL_END || conn->http == NULL) {
        fl_http_conn_break(conn, why->status, why->text);
        return;
    }
    bool streaming = is_streaming(conn);
    if (!streaming)
        fl_http_end_input(conn->http);
    if (conn->closing)
        return;
    if (streaming || fl_list_empty(&conn->turns)) {
        fl_http_conn_break(conn, FL_E_CLOSED,
                           "the client closed the connection");
        return;
    }
    conn->ended = true;
    watch(conn, conn->caller->hub->options.drain_ms);
}

static void on_drain(void *user)
{
    fl_http_conn *conn = user;

    if (conn->http != NULL)
        fl_http_drained(conn->http);
    fl_http_backlog_charge(conn);
}

static void on_open(void *user)
{
    fl_http_conn *conn = user;
    fl_span alpn = fl_stream_alpn(conn->stream);

    conn->quiet_since = fl_loop_now(conn->caller->hub->loop);
    watch(conn, patience(conn));
    if (fl_span_equal(alpn, FL_SPAN("h2")))
        speak(conn, 20);
    else if (fl_span_equal(alpn, FL_SPAN("http/1.1")))
        speak(conn, 11);
}

void fl_http_conn_gone(fl_http_conn *conn)
{
    fl_http_hub *hub = conn->caller->hub;
    fl_error why;

    fl_error_set(&why, FL_E_CLOSED, "the connection closed");
    if (conn->http != NULL)
        fl_http_lose(conn->http, &why);
    fl_http_stateless_gone(conn);
    fl_http_free(conn->http);
    conn->http = NULL;
    fl_http_backlog_clear(conn);
    fl_timer_stop(&conn->timer);
    fl_list_remove(&conn->node);
    conn->caller->connections--;
    fl_http_hub_let_go(hub, conn->caller);
    if (conn->refusal == FL_HTTP_WELCOME)
        hub->connections--;
    else
        hub->refused--;
    fl_mem_free(conn);
    fl_http_listener_settle(hub);
    fl_http_hub_unref(hub);
}

static void on_closed(void *user)
{
    fl_http_conn_gone(user);
}

static const fl_stream_events stream_events = {
    .on_open = on_open,
    .on_data = on_data,
    .on_end = on_end_of_input,
    .on_drain = on_drain,
    .on_closed = on_closed,
};

static void check_idle(fl_http_conn *conn)
{
    uint64_t limit = patience(conn);
    uint64_t quiet = fl_loop_now(conn->caller->hub->loop) - conn->quiet_since;

    if (conn->shut && fl_http_conn_has_sockets_only(conn))
        fl_http_listener_settle(
            conn->caller->hub); /* for them it need not wait */
    fl_http_backlog_charge(conn);
    if (!fl_list_empty(&conn->turns))
        watch(conn, limit);
    else if (quiet < limit)
        watch(conn, limit - quiet);
    else if (conn->http != NULL && !conn->shut)
        fl_http_conn_shut(conn); /* HTTP/2 says good-bye */
    else
        fl_http_conn_break(conn, FL_E_TIMEOUT, "idle for too long");
}

/* A head that does not come. */
static void time_out_head(fl_http_conn *conn)
{
    if (conn->http == NULL || !fl_http_give_up(conn->http, 408,
                                               "the head of the request was "
                                               "not whole in time"))
        fl_http_conn_break(conn, FL_E_TIMEOUT, "no whole head in time");
}

static void on_timer(fl_timer *timer)
{
    fl_http_conn *conn = FL_LIST_ENTRY(timer, fl_http_conn, timer);

    if (conn->held) {
        conn->held = conn->in_head = false;
        watch(conn, conn->ended ? conn->caller->hub->options.drain_ms
                                : patience(conn));
        feed(conn, (fl_span){0});
    } else if (conn->ended) {
        fl_http_conn_break(conn, FL_E_CLOSED,
                           "the client closed the connection");
    } else if (conn->in_head) {
        time_out_head(conn);
    } else {
        check_idle(conn);
    }
}

void fl_http_conn_open(fl_http_hub *hub, fl_stream *stream,
                       fl_http_caller *caller, fl_http_turned_away refusal,
                       uint64_t retry_ms)
{
    fl_http_conn *conn = fl_mem_zalloc(sizeof *conn);

    if (conn == NULL) {
        fl_http_hub_let_go(hub, caller);
        fl_stream_close(stream);
        return;
    }
    fl_http_hub_ref(hub);
    conn->caller = caller;
    conn->stream = stream;
    conn->refusal = (uint8_t)refusal;
    conn->retry_ms = retry_ms < UINT32_MAX ? (uint32_t)retry_ms : UINT32_MAX;
    caller->connections++;
    if (refusal == FL_HTTP_WELCOME)
        hub->connections++;
    else
        hub->refused++;
    fl_timer_init(&conn->timer, hub->loop, on_timer);
    fl_list_init(&conn->turns);
    fl_list_append(&hub->conns, &conn->node);
    if (fl_stream_start(stream, &stream_events, conn) == FL_OK)
        on_open(conn);
}

/* Requests that are not whole yet will not be served. */
static void refuse_halves(fl_http_conn *conn)
{
    for (fl_list *node = conn->turns.next; node != &conn->turns;) {
        fl_http_turn *turn = FL_LIST_ENTRY(node, fl_http_turn, node);
        node = node->next;
        if (turn->phase == FL_HTTP_RECEIVING)
            fl_http_refuse_with(turn, 503, FL_RPC_BUSY,
                                "the server is closing");
    }
}

void fl_http_conn_shut(fl_http_conn *conn)
{
    if (conn->closing)
        return;
    conn->shut = true;
    if (conn->http == NULL) {
        fl_http_conn_break(conn, FL_E_CLOSED, "the server is closing");
        return;
    }
    refuse_halves(conn);
    fl_http_shut(conn->http);
    if (!conn->closing)
        watch(conn, flush_ms(conn));
}

bool fl_http_conn_is_busy(const fl_http_conn *conn)
{
    for (fl_list *node = conn->turns.next; node != &conn->turns;
         node = node->next) {
        fl_http_turn *turn = FL_LIST_ENTRY(node, fl_http_turn, node);
        if (turn->link != NULL && turn->link->state == FL_LINK_ACTIVE)
            return true;
    }
    return false;
}

bool fl_http_conn_has_sockets_only(const fl_http_conn *conn)
{
    for (fl_list *node = conn->turns.next; node != &conn->turns;
         node = node->next)
        if (!FL_LIST_ENTRY(node, fl_http_turn, node)->socket)
            return false;
    return !fl_list_empty(&conn->turns);
}

void fl_http_conn_yield(fl_http_conn *conn, fl_ws_link *socket)
{
    conn->socket = socket;
    fl_timer_stop(&conn->timer);
    fl_http_backlog_clear(conn);
    fl_list_remove(&conn->node); /* a listener does not wait for sockets */
    fl_list_append(&conn->caller->hub->yielded, &conn->node);
    fl_http_stateless_gone(conn);
    fl_stream_rebind(conn->stream, &fl_ws_stream_events, socket);
}
