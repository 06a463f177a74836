/*
 * http_rig.h - an HTTP client link, and servers for it that are plain sockets.
 *
 * The test plays the server: it accepts a connection, looks at the request
 * byte for byte, and says what a server would say, or what none should.
 */
#ifndef TESTS_UNIT_HTTP_RIG_H
#define TESTS_UNIT_HTTP_RIG_H

#include "base/span.h"
#include "raw_peer.h"
#include "support/ration.h"
#include "transport/link.h"

enum { RIG_LAST = 8, RIG_TEXT = 4096 };

typedef struct rig {
    fl_loop *loop;
    int listener;
    uint16_t port;
    const char *scheme; /* NULL: http */
    fl_link *link;
    int opened, downs, closed, writables, messages;
    fl_error why; /* of the end, or of the last outage */
    char heard[RIG_LAST][RIG_TEXT];
    fl_reply reply; /* to the last message */
    /* what it does in its callbacks */
    bool close_in_open, close_in_message, close_in_down;
} rig;

typedef struct http_request {
    char head[16 * 1024]; /* the lines, each with its LF only */
    char *body;           /* in the peer's room: until it hears more */
    size_t length;
} http_request;

static rig at;
static raw_peer one;
static raw_peer two __attribute__((unused)); /* not every test wants it */
static http_request req;

static inline void rig_on_open(fl_link *link)
{
    assert_int_equal(link->state, FL_LINK_ACTIVE);
    at.opened++;
    if (at.close_in_open)
        fl_link_close(link);
}

static inline void rig_on_message(fl_link *link, const fl_msg *msg,
                                  fl_reply reply)
{
    assert_int_equal(at.closed, 0);
    snprintf(at.heard[at.messages % RIG_LAST], RIG_TEXT, "%.*s",
             (int)msg->text.len, msg->text.ptr);
    at.messages++;
    at.reply = reply;
    if (at.close_in_message)
        fl_link_close(link);
}

static inline void rig_on_writable(fl_link *link)
{
    assert_int_equal(link->state, FL_LINK_ACTIVE);
    at.writables++;
}

static inline void rig_on_down(fl_link *link, const fl_error *why)
{
    assert_int_equal(link->state, FL_LINK_DISCONNECTED);
    at.downs++;
    at.why = *why;
    if (at.close_in_down)
        fl_link_close(link);
}

static inline void rig_on_closed(fl_link *link, const fl_error *why)
{
    assert_int_equal(link->state, FL_LINK_CLOSED);
    at.closed++;
    at.why = *why;
}

static const fl_link_events rig_events = {
    .on_open = rig_on_open,
    .on_message = rig_on_message,
    .on_writable = rig_on_writable,
    .on_down = rig_on_down,
    .on_closed = rig_on_closed,
};

static inline void rig_connect_to(const char *url, const fl_options *options)
{
    fl_error error = {0};

    if (fl_link_connect(at.loop, url, options, &rig_events, NULL, &at.link,
                        &error) != FL_OK)
        fail_msg("%s", error.text);
    assert_int_equal(at.opened, 0); /* never from inside the call */
    fl_link_ref(at.link);
}

static inline void rig_connect(const char *path, const fl_options *options)
{
    char url[256];

    snprintf(url, sizeof url, "%s://127.0.0.1:%u%s",
             at.scheme != NULL ? at.scheme : "http", at.port, path);
    rig_connect_to(url, options);
}

static inline void rig_begin(void)
{
    at = (rig){.loop = io_loop()};
    at.listener = raw_listen(&at.port);
}

/* A rig whose link is open. */
static inline void rig_open(const fl_options *options)
{
    rig_begin();
    rig_connect("/mcp", options);
    io_until(at.loop, at.opened == 1);
}

static inline void rig_end(void)
{
    fl_link_close(at.link);
    io_until(at.loop, at.closed == 1);
    fl_link_unref(at.link);
    close(at.listener);
    for (int i = 0; i < 20; i++)
        fl_loop_step(at.loop);
    fl_loop_free(at.loop);
}

static inline fl_status rig_send(const char *text)
{
    fl_span span = fl_span_of(text);

    return fl_link_send(at.link, &span, 1);
}

static inline void rig_sends(const char *text)
{
    assert_int_equal(rig_send(text), FL_OK);
}

/* The n-th message heard, from 0. */
static inline const char *rig_heard(int n)
{
    io_until(at.loop, at.messages > n);
    return at.heard[n % RIG_LAST];
}

static inline void rig_hears(int n, const char *text)
{
    assert_string_equal(rig_heard(n), text);
}

static inline void rig_hears_part(int n, const char *part)
{
    if (strstr(rig_heard(n), part) == NULL)
        fail_msg("no '%s' in '%s'", part, rig_heard(n));
}

static inline void http_accept(raw_peer *peer)
{
    raw_accept(peer, at.loop, at.listener);
}

static inline bool rig_nobody_comes(void)
{
    io_some_turns(at.loop);
    int fd = accept(at.listener, NULL, NULL);
    if (fd >= 0)
        close(fd);
    return fd < 0;
}

/* The value of a field of `req`, or NULL. */
static inline const char *http_field(const char *name)
{
    static char value[4096];
    char want[128];
    snprintf(want, sizeof want, "\n%s: ", name);
    const char *found = strcasestr(req.head, want);

    if (found == NULL)
        return NULL;
    found += strlen(want);
    snprintf(value, sizeof value, "%.*s", (int)strcspn(found, "\n"), found);
    return value;
}

static inline void http_has(const char *name, const char *value)
{
    const char *found = http_field(name);

    if (found == NULL)
        fail_msg("no field %s in:\n%s", name, req.head);
    assert_string_equal(found, value);
}

static inline void http_lacks(const char *name)
{
    if (http_field(name) != NULL)
        fail_msg("there is a field %s", name);
}

/* Reads one request into `req`: it begins with `line`. */
static inline void http_hear(raw_peer *peer, const char *line)
{
    size_t used = 0;

    req = (http_request){0};
    do {
        const char *text = raw_hear(peer);
        size_t len = strlen(text);
        assert_true(len > 0 && text[len - 1] == '\r');
        assert_true(used + len + 1 < sizeof req.head);
        memcpy(req.head + used, text, len - 1);
        used += len - 1;
        req.head[used++] = '\n';
    } while (used < 2 || req.head[used - 2] != '\n');
    if (strncmp(req.head, line, strlen(line)) != 0)
        fail_msg("'%s' instead of '%s'", req.head, line);
    const char *length = http_field("content-length");
    req.length = length != NULL ? strtoul(length, NULL, 10) : 0;
    io_until(at.loop, (raw_read(peer), peer->end - peer->start >= req.length));
    req.body = peer->room + peer->start;
    peer->start += req.length;
}

static inline void http_hears_body(const char *text)
{
    assert_int_equal(req.length, strlen(text));
    assert_memory_equal(req.body, text, req.length);
}

static inline void http_put(raw_peer *peer, const char *text)
{
    raw_put(peer, text, strlen(text));
}

/* A whole response with one body. `more` is further fields, or "". */
static inline void http_say(raw_peer *peer, const char *status,
                            const char *more, const char *body)
{
    char head[4096];

    snprintf(head, sizeof head, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n",
             status, more, strlen(body));
    http_put(peer, head);
    http_put(peer, body);
}

#define JSON "Content-Type: application/json\r\n"
#define EVENTS "Content-Type: text/event-stream\r\n"

static inline void http_say_json(raw_peer *peer, const char *body)
{
    http_say(peer, "200 OK", JSON, body);
}

/* The head of an event stream, whose end is the end of the chunks. */
static inline void http_say_events(raw_peer *peer, const char *more)
{
    char head[4096];

    snprintf(head, sizeof head,
             "HTTP/1.1 200 OK\r\n%s%sTransfer-Encoding: chunked\r\n\r\n",
             EVENTS, more);
    http_put(peer, head);
}

static inline void http_chunk(raw_peer *peer, const char *text)
{
    char size[32];

    snprintf(size, sizeof size, "%zx\r\n", strlen(text));
    http_put(peer, size);
    http_put(peer, text);
    http_put(peer, "\r\n");
}

static inline void http_end_chunks(raw_peer *peer)
{
    http_put(peer, "0\r\n\r\n");
}

#define ASK(id, method)                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"}"
#define ANSWER(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}"
#define NOTE(method) "{\"jsonrpc\":\"2.0\",\"method\":\"" method "\"}"
#define INITIALIZE                                                             \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{}}"
#define INITIALIZED NOTE("notifications/initialized")
#define WELCOME(version)                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"" version \
    "\"}}"

/* A session of this revision over connection `one`. */
static inline void rig_initialize(const char *welcome, const char *session)
{
    char more[256];

    snprintf(more, sizeof more, JSON "%s%s%s",
             session != NULL ? "Mcp-Session-Id: " : "",
             session != NULL ? session : "", session != NULL ? "\r\n" : "");
    rig_sends(INITIALIZE);
    http_accept(&one);
    http_hear(&one, "POST /mcp HTTP/1.1\n");
    http_say(&one, "200 OK", more, welcome);
    rig_hears(at.messages, welcome);
}

#endif
