/*
 * ws_host.h - a listener whose WebSocket links the test itself holds, and raw
 * clients that speak frames by hand. The clock is the test's to drive.
 */
#ifndef TESTS_UNIT_WS_HOST_H
#define TESTS_UNIT_WS_HOST_H

#include "http_host.h"
#include "transport/http_server.h"
#include "ws_frames.h"

enum { WS_LINKS = 16 };

typedef enum ws_host_close {
    WS_CLOSE_NEVER,
    WS_CLOSE_IN_LINK,
    WS_CLOSE_IN_MESSAGE,
    WS_CLOSE_IN_WRITABLE,
    WS_CLOSE_IN_CLOSED,
} ws_host_close;

typedef struct ws_host {
    uint64_t now;
    fl_loop *loop;
    fl_listener *listener;
    fl_link *link; /* the latest, while it is there */
    fl_link *all[WS_LINKS];
    int links;  /* that there are */
    int opened; /* ever */
    int messages, writables, closed;
    fl_error why; /* of the latest that closed */
    char last[8192];
    size_t answer; /* bytes of padding in each answer */
    bool ignores;  /* new links get no events */
    bool finished; /* the listener has closed */
    ws_host_close close_in;
    raw_peer peer;
} ws_host;

#define WS_ASK(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"m\"}"
#define WS_DONE(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":\"\"}"
#define WS_KEY "dGhlIHNhbXBsZSBub25jZQ=="
#define WS_ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
#define WS_VERSION "Sec-WebSocket-Version: 13\r\n"
#define WS_UPGRADE                                                             \
    "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"                \
    "Sec-WebSocket-Key: " WS_KEY "\r\n" WS_VERSION

static inline void ws_close_in(ws_host *host, fl_link *link, ws_host_close in)
{
    if (host->close_in == in)
        fl_link_close(link);
}

static inline void ws_on_message(fl_link *link, const fl_msg *msg,
                                 fl_reply reply)
{
    static char padding[WS_ROOM];
    ws_host *host = link->user;

    host->messages++;
    snprintf(host->last, sizeof host->last, "%.*s", (int)msg->text.len,
             msg->text.ptr);
    memset(padding, 'x', host->answer);
    if (msg->kind == FL_MSG_REQUEST) {
        fl_span parts[] = {FL_SPAN("{\"jsonrpc\":\"2.0\",\"id\":"),
                           msg->id,
                           FL_SPAN(",\"result\":\""),
                           {padding, host->answer},
                           FL_SPAN("\"}")};
        (void)fl_reply_end(reply, parts, 5);
    }
    ws_close_in(host, link, WS_CLOSE_IN_MESSAGE);
}

static inline void ws_on_writable(fl_link *link)
{
    ws_host *host = link->user;

    host->writables++;
    ws_close_in(host, link, WS_CLOSE_IN_WRITABLE);
}

static inline void ws_on_closed(fl_link *link, const fl_error *why)
{
    ws_host *host = link->user;
    int at = 0;

    host->closed++;
    host->why = *why;
    while (host->all[at] != link)
        at++;
    host->all[at] = host->all[--host->links];
    if (host->link == link)
        host->link = NULL;
    ws_close_in(host, link, WS_CLOSE_IN_CLOSED);
}

static const fl_link_events ws_host_events = {
    .on_message = ws_on_message,
    .on_writable = ws_on_writable,
    .on_closed = ws_on_closed,
};

static inline void ws_on_link(fl_listener *listener, fl_link *link, void *user)
{
    ws_host *host = user;

    (void)listener;
    assert_int_equal(link->state, FL_LINK_ACTIVE);
    host->opened++;
    if (host->ignores)
        return;
    link->events = &ws_host_events;
    link->user = host;
    host->link = link;
    assert_true(host->links < WS_LINKS);
    host->all[host->links++] = link;
    ws_close_in(host, link, WS_CLOSE_IN_LINK);
}

static inline void ws_on_finished(fl_listener *listener, void *user)
{
    (void)listener;
    ((ws_host *)user)->finished = true;
}

static const fl_listener_events ws_listener_events = {
    .on_link = ws_on_link,
    .on_closed = ws_on_finished,
};

/* False: there was no memory. */
static inline bool ws_listen(ws_host *host, const char *url,
                             const fl_options *options)
{
    fl_error error = {.text = ""};

    memset(host, 0, offsetof(ws_host, peer));
    host->now = 1000;
    host->peer.fd = -1;
    host->loop = fl_loop_new_with(
        &(fl_loop_options){.clock = &(fl_clock){io_read_clock, &host->now}});
    if (host->loop == NULL)
        return false;
    fl_status rc = fl_link_listen(host->loop, url, options, &ws_listener_events,
                                  host, &host->listener, &error);
    if (rc == FL_OK)
        return true;
    fl_loop_free(host->loop);
    if (rc != FL_E_NOMEM)
        fail_msg("%s: %s", url, error.text);
    return false;
}

static inline void ws_dial(ws_host *host, raw_peer *peer)
{
    raw_take(peer, host->loop, raw_dial(host->listener->port));
}

/* The status of a GET with these fields. */
static inline int ws_ask(raw_peer *peer, const char *path, const char *fields,
                         http_answer *answer)
{
    char text[2048];
    int n =
        snprintf(text, sizeof text,
                 "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", path, fields);

    raw_put(peer, text, (size_t)n);
    http_hear_head(peer, answer);
    return answer->status;
}

static inline void ws_begin(ws_host *host, const char *url,
                            const fl_options *options)
{
    assert_true(ws_listen(host, url, options));
    ws_dial(host, &host->peer);
}

/* ... and shakes hands at /mcp. */
static inline void ws_open(ws_host *host, const fl_options *options)
{
    static http_answer answer;

    ws_begin(host, "http://127.0.0.1:0/mcp", options);
    assert_int_equal(ws_ask(&host->peer, "/mcp", WS_UPGRADE, &answer), 101);
    assert_int_equal(host->opened, 1);
}

static inline void ws_end(ws_host *host)
{
    for (int i = 0; i < host->links; i++) /* they go later, never now */
        fl_link_close(host->all[i]);
    if (host->peer.fd >= 0)
        raw_close(&host->peer);
    if (!host->finished)
        fl_listener_close(host->listener);
    io_until(host->loop,
             (host->now += 1000, host->finished && host->links == 0));
    fl_loop_run(host->loop);
    fl_loop_free(host->loop);
}

static inline void ws_pass(ws_host *host, uint64_t ms)
{
    io_some_turns(host->loop);
    host->now += ms;
    io_some_turns(host->loop);
}

/* A few turns that hardly wait: for what is done many times over. */
static inline void ws_hurry(ws_host *host)
{
    struct pollfd watch = {.fd = fl_loop_fd(host->loop), .events = POLLIN};

    for (int i = 0; i < 12; i++) {
        poll(&watch, 1, 1);
        fl_loop_step(host->loop);
    }
}

static inline void ws_put(raw_peer *peer, ws_text *text)
{
    raw_put(peer, text->room, text->len);
    text->len = 0;
}

static inline void ws_say(raw_peer *peer, unsigned kind, const char *body)
{
    static ws_text text;

    text.len = 0;
    ws_add(&text, kind, true, body);
    ws_put(peer, &text);
}

static inline void ws_say_close(raw_peer *peer, unsigned code)
{
    static ws_text text;

    text.len = 0;
    ws_add_close(&text, true, code, "");
    ws_put(peer, &text);
}

/* The next frame; false: the connection has ended. */
static inline bool ws_hear(raw_peer *peer, ws_frame *frame)
{
    size_t n = 0;

    io_until(peer->loop,
             (raw_read(peer), (n = ws_cut((fl_span){peer->room + peer->start,
                                                    peer->end - peer->start},
                                          frame)) > 0 ||
                                  peer->ended));
    peer->start += n;
    assert_false(n > 0 && frame->masked);
    return n > 0;
}

static inline void ws_hears(raw_peer *peer, unsigned kind, const char *body)
{
    static ws_frame frame;

    assert_true(ws_hear(peer, &frame));
    assert_int_equal(frame.kind, kind);
    assert_string_equal(frame.body, body);
}

static inline void ws_hears_close(raw_peer *peer, unsigned code)
{
    static ws_frame frame;

    assert_true(ws_hear(peer, &frame));
    assert_int_equal(ws_close_code(&frame), code);
}

#endif
