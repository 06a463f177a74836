/*
 * link_host.h - an HTTP listener whose links the test itself holds, below any
 * server: it sends on them what it likes, when it likes, and counts what it is
 * told. The clock is the test's to drive.
 */
#ifndef TESTS_UNIT_LINK_HOST_H
#define TESTS_UNIT_LINK_HOST_H

#include "http_host.h"
#include "transport/http_server.h"
#include "transport/link.h"

enum { LINKS_MAX = 8 };

typedef struct link_host {
    uint64_t now;
    fl_loop *loop;
    fl_listener *listener;
    fl_link *link;  /* the latest */
    fl_reply reply; /* of the latest request, initialize aside */
    int requests;
    int writables;
    fl_link *all[LINKS_MAX];
    int links;     /* that there are */
    bool finished; /* the listener has closed */
    raw_peer peer;
} link_host;

#define NOTE(name) "{\"jsonrpc\":\"2.0\",\"method\":\"" name "\"}"
#define ASK(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"m\"}"
#define DONE(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}"

static inline void link_on_message(fl_link *link, const fl_msg *msg,
                                   fl_reply reply)
{
    link_host *host = link->user;
    fl_span hello = FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{"
                            "\"protocolVersion\":\"2025-06-18\"}}");

    if (fl_msg_method_is(msg, FL_SPAN("initialize"))) {
        assert_int_equal(fl_reply_end(reply, &hello, 1), FL_OK);
    } else if (msg->kind == FL_MSG_REQUEST) {
        host->reply = reply;
        host->requests++;
    }
}

static inline void link_on_writable(fl_link *link)
{
    ((link_host *)link->user)->writables++;
}

static inline void link_on_closed(fl_link *link, const fl_error *why)
{
    link_host *host = link->user;

    int at = 0;

    (void)why;
    while (host->all[at] != link)
        at++;
    host->all[at] = host->all[--host->links];
    if (host->link == link)
        host->link = NULL;
}

static const fl_link_events link_host_events = {
    .on_message = link_on_message,
    .on_writable = link_on_writable,
    .on_closed = link_on_closed,
};

static inline void link_on_link(fl_listener *listener, fl_link *link,
                                void *user)
{
    link_host *host = user;

    (void)listener;
    link->events = &link_host_events;
    link->user = host;
    host->link = link;
    assert_true(host->links < LINKS_MAX);
    host->all[host->links++] = link;
}

static inline void link_on_finished(fl_listener *listener, void *user)
{
    (void)listener;
    ((link_host *)user)->finished = true;
}

static const fl_listener_events link_listener_events = {
    .on_link = link_on_link,
    .on_closed = link_on_finished,
};

static inline void link_dial(link_host *host, raw_peer *peer)
{
    raw_take(peer, host->loop, raw_dial(host->listener->port));
}

/* Opens a session, too; `fields` is what its requests carry. */
static inline void link_begin(link_host *host, const fl_options *options,
                              char fields[256])
{
    fl_error error = {.text = ""};

    memset(host, 0, offsetof(link_host, peer));
    host->now = 1000;
    host->loop = io_driven_loop(&host->now);
    if (fl_link_listen(host->loop, "http://127.0.0.1:0/mcp", options,
                       &link_listener_events, host, &host->listener,
                       &error) != FL_OK)
        fail_msg("%s", error.text);
    link_dial(host, &host->peer);
    http_open_session(&host->peer, "2025-06-18", fields);
}

static inline fl_http_session *link_session(const link_host *host)
{
    assert_non_null(host->link);
    return (fl_http_session *)host->link;
}

static inline void link_end(link_host *host)
{
    for (int i = 0; i < host->links; i++) /* they go later, never now */
        fl_link_close(host->all[i]);
    if (host->peer.fd >= 0)
        raw_close(&host->peer);
    if (!host->finished)
        fl_listener_close(host->listener);
    io_until(host->loop,
             (host->now += 1000, host->finished && host->links == 0));
    fl_loop_free(host->loop);
}

/* Time passes, and what it brings about happens. */
static inline void link_pass(link_host *host, uint64_t ms)
{
    io_some_turns(host->loop);
    host->now += ms;
    io_some_turns(host->loop);
}

static inline void link_asked(link_host *host, int count)
{
    io_until(host->loop, host->requests >= count);
    assert_int_equal(host->requests, count);
}

static inline fl_status link_say(link_host *host, const char *text)
{
    fl_span span = fl_span_of(text);

    return fl_link_send(host->link, &span, 1);
}

static inline fl_status link_reply(link_host *host, const char *text)
{
    fl_span span = fl_span_of(text);

    return fl_reply_send(host->reply, &span, 1);
}

static inline fl_status link_answer(link_host *host, const char *text)
{
    fl_span span = fl_span_of(text);

    return fl_reply_end(host->reply, &span, 1);
}

/* A notification of exactly `len` bytes, or an answer to request 1. */
static inline const char *link_long(char *room, size_t len, bool answer)
{
    const char *head =
        answer ? "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":\""
               : "{\"jsonrpc\":\"2.0\",\"method\":\"";
    const char *tail = answer ? "\"}}" : "\"}";

    memset(room, 'x', len);
    memcpy(room, head, strlen(head));
    memcpy(room + len - strlen(tail), tail, strlen(tail) + 1);
    return room;
}

/* A GET on a connection of its own; its status. An empty `last`: none. */
static inline int link_listen(link_host *host, raw_peer *peer,
                              const char *fields, const char *last,
                              http_answer *answer)
{
    char all[512];

    if (peer->fd >= 0)
        raw_close(peer);
    link_dial(host, peer);
    snprintf(all, sizeof all, "%s%s%s%s", fields,
             last[0] != '\0' ? "Last-Event-ID: " : "", last,
             last[0] != '\0' ? "\r\n" : "");
    http_get(peer, "/mcp", all);
    http_hear_head(peer, answer);
    return answer->status;
}

#endif
