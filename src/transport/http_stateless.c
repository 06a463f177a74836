/*
 * http_stateless.c - requests that know of no other, on one connection.
 *
 * Revision 2026-07-28 has neither sessions nor a stream of the server's own:
 * each request is answered on its own stream, and hanging up cancels it. The
 * link stands for the connection, and goes with it; a client that uses several
 * of our endpoints on one connection has a link at each, in a chain, and so
 * have clients with different keys whose requests a proxy puts on one.
 */
#include "transport/http_server.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"
#include "rpc/error.h"

#include <stdio.h>

typedef struct stateless_link {
    fl_link link;
    fl_http_hub *hub;
    fl_http_conn *conn; /* NULL once it has gone */
    fl_link *next;      /* of the connection: another's */
    uint64_t principal; /* whose it is */
    fl_list turns;
    fl_timer timer; /* the end */
    bool ours;      /* the end was our wish, not the client's */
    char peer[48];
} stateless_link;

static void end(fl_timer *timer)
{
    stateless_link *self = FL_LIST_ENTRY(timer, stateless_link, timer);
    fl_list *node;
    fl_error why;

    while ((node = fl_list_take(&self->turns)) != NULL) {
        fl_http_turn *turn = FL_LIST_ENTRY(node, fl_http_turn, session_node);
        if (turn->phase == FL_HTTP_WAITING && turn->exchange != NULL) {
            fl_http_refuse_with(turn, 503, FL_RPC_BUSY,
                                "the server is closing");
            continue;
        }
        fl_http_turn_finish(turn);
        fl_http_turn_free(turn);
    }
    fl_error_set(&why, self->ours ? FL_OK : FL_END, "%s",
                 self->ours ? "closed" : "the client closed the connection");
    fl_link_ended(&self->link, &why);
}

static fl_link *make(const fl_http_turn *turn)
{
    fl_http_conn *conn = turn->conn;
    fl_http_hub *hub = conn->caller->hub;
    fl_listener *from = &hub->listener->listener;
    stateless_link *self = fl_mem_zalloc(sizeof *self);

    if (self == NULL)
        return NULL;
    fl_link_init(&self->link,
                 hub->options.http.stateless ? &fl_http_open_transport
                                             : &fl_http_stateless_transport,
                 hub->loop, true);
    self->link.endpoint = turn->endpoint;
    self->principal = turn->asked->principal;
    self->hub = fl_http_hub_ref(hub);
    self->conn = conn;
    fl_list_init(&self->turns);
    fl_timer_init(&self->timer, hub->loop, end);
    snprintf(self->peer, sizeof self->peer, "%s", conn->caller->name);
    if (fl_link_move(&self->link, FL_LINK_ACTIVE) != FL_OK) {
        fl_link_unref(&self->link);
        return NULL;
    }
    self->next = conn->stateless;
    conn->stateless = &self->link;
    from->events->on_link(from, &self->link, from->user);
    if (self->link.events == NULL)
        fl_link_close(&self->link);
    return self->link.state == FL_LINK_ACTIVE ? &self->link : NULL;
}

static bool is_for(const fl_link *link, const fl_http_turn *turn)
{
    return link->endpoint == turn->endpoint &&
           ((const stateless_link *)link)->principal == turn->asked->principal;
}

void fl_http_stateless_take(fl_http_turn *turn, const fl_msg *msg)
{
    fl_link *link = turn->conn->stateless;

    while (link != NULL && !is_for(link, turn))
        link = ((stateless_link *)link)->next;
    if (link == NULL || link->state != FL_LINK_ACTIVE)
        link = make(turn);
    if (link == NULL) {
        fl_http_refuse_with(turn, 503, FL_RPC_BUSY,
                            "the server takes no more requests");
        return;
    }
    link->stats.messages_in++;
    link->stats.bytes_in += msg->text.len;
    link->stats.last_seen_ms = fl_loop_now(link->loop);
    turn->link = fl_link_ref(link);
    fl_list_append(&((stateless_link *)link)->turns, &turn->session_node);
    fl_http_turn_deliver(turn, link, msg);
}

fl_status fl_http_stateless_send(fl_link *link, void *stream,
                                 const fl_span *parts, size_t count)
{
    return stream != NULL ? fl_http_turn_reply(link, stream, parts, count)
                          : FL_E_UNSUPPORTED;
}

fl_status fl_http_stateless_answer(fl_link *link, void *stream, int code,
                                   const fl_span *parts, size_t count)
{
    return fl_http_turn_end(link, stream, code, parts, count);
}

void fl_http_stateless_gone(fl_http_conn *conn)
{
    while (conn->stateless != NULL) {
        stateless_link *self = (stateless_link *)conn->stateless;
        conn->stateless = self->next;
        self->conn = NULL;
        fl_link_close(&self->link);
    }
}

/* The next request gets another. */
static void leave_conn(stateless_link *self)
{
    fl_link **at = &self->conn->stateless;

    while (*at != NULL && *at != &self->link)
        at = &((stateless_link *)*at)->next;
    if (*at != NULL)
        *at = self->next;
    self->conn = NULL;
}

void fl_http_stateless_close(fl_link *link)
{
    stateless_link *self = (stateless_link *)link;

    if (fl_link_move(link, FL_LINK_CLOSING) != FL_OK)
        return;
    self->ours = self->conn != NULL;
    if (self->conn != NULL)
        leave_conn(self);
    fl_timer_start(&self->timer, 0);
}

void fl_http_stateless_free(fl_link *link)
{
    stateless_link *self = (stateless_link *)link;

    fl_timer_stop(&self->timer);
    fl_http_hub_unref(self->hub);
    fl_mem_free(self);
}

void fl_http_stateless_info(const fl_link *link, fl_link_info *info)
{
    const stateless_link *self = (const stateless_link *)link;

    info->max_message = self->hub->options.max_message;
    info->principal = self->principal;
    snprintf(info->peer, sizeof info->peer, "%s", self->peer);
    if (self->conn != NULL)
        info->buffered = fl_stream_pending(self->conn->stream);
}
