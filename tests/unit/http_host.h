/*
 * http_host.h - a server behind HTTP, and raw clients that speak HTTP/1.1 by
 * hand: what they send leaves as it is written.
 */
#ifndef TESTS_UNIT_HTTP_HOST_H
#define TESTS_UNIT_HTTP_HOST_H

#include "server_host.h"

#include <strings.h>

enum { HTTP_HEAD_ROOM = 4096, HTTP_BODY_ROOM = 256 * 1024 };

typedef struct http_answer {
    int status;
    char head[HTTP_HEAD_ROOM]; /* all lines, each ended by LF alone */
    char body[HTTP_BODY_ROOM];
    size_t len;
    bool chunked;
} http_answer;

static inline void http_listen(server_host *host, const char *url,
                               const fl_options *options)
{
    fl_error error = {.text = ""};
    fl_status rc =
        fl_server_listen(host->server, host->loop, url, options, &error);

    if (rc != FL_OK)
        fail_msg("%s: %s", url, error.text);
}

static inline void http_begin(server_host *host, const fl_options *options)
{
    host_begin_bare(host);
    assert_int_equal(host_add_tools(host), FL_OK);
    http_listen(host, "http://127.0.0.1:0/mcp", options);
    host_dial(host, &host->peer);
}

/* The value of a header field, or "". */
static inline const char *http_field(const http_answer *answer,
                                     const char *name)
{
    static char value[HTTP_HEAD_ROOM];
    size_t len = strlen(name);

    for (const char *line = answer->head; line != NULL && *line != '\0';) {
        const char *end = strchr(line, '\n');
        if (strncasecmp(line, name, len) == 0 && line[len] == ':') {
            const char *from = line + len + 1;
            while (*from == ' ')
                from++;
            snprintf(value, sizeof value, "%.*s", (int)(end - from), from);
            return value;
        }
        line = end != NULL ? end + 1 : NULL;
    }
    return "";
}

static inline void http_hear_head(raw_peer *peer, http_answer *answer)
{
    const char *line;
    size_t at = 0;

    memset(answer, 0, offsetof(http_answer, body));
    answer->len = 0;
    answer->body[0] = '\0';
    for (bool first = true;; first = false) {
        line = raw_hear(peer);
        size_t len = strlen(line);
        assert_true(len > 0 && line[len - 1] == '\r');
        if (first) {
            assert_int_equal(strncmp(line, "HTTP/1.1 ", 9), 0);
            answer->status = (int)strtol(line + 9, NULL, 10);
        }
        if (len == 1)
            break;
        assert_true(at + len + 1 < sizeof answer->head);
        memcpy(answer->head + at, line, len - 1);
        at += len - 1;
        answer->head[at++] = '\n';
    }
    answer->head[at] = '\0';
    answer->chunked =
        strcasecmp(http_field(answer, "transfer-encoding"), "chunked") == 0;
}

/* So many bytes, exactly, appended to the body. */
static inline void http_hear_bytes(raw_peer *peer, http_answer *answer,
                                   size_t count)
{
    assert_true(answer->len + count < sizeof answer->body);
    io_until(peer->loop,
             (raw_read(peer), peer->end - peer->start >= count || peer->ended));
    assert_true(peer->end - peer->start >= count);
    memcpy(answer->body + answer->len, peer->room + peer->start, count);
    peer->start += count;
    answer->len += count;
    answer->body[answer->len] = '\0';
}

/* One chunk into the body, which is emptied before; false: the last one. */
static inline bool http_hear_chunk(raw_peer *peer, http_answer *answer)
{
    size_t size = strtoul(raw_hear(peer), NULL, 16);

    if (size > 0)
        http_hear_bytes(peer, answer, size);
    assert_string_equal(raw_hear(peer), "\r");
    return size > 0;
}

static inline void http_hear(raw_peer *peer, http_answer *answer)
{
    http_hear_head(peer, answer);
    if (answer->chunked) {
        while (http_hear_chunk(peer, answer)) {
        }
        return;
    }
    http_hear_bytes(peer, answer,
                    strtoul(http_field(answer, "content-length"), NULL, 10));
}

/* One event of a stream: its text, as it came, in the body. */
static inline const char *http_hear_event(raw_peer *peer, http_answer *answer)
{
    answer->len = 0;
    do
        assert_true(http_hear_chunk(peer, answer));
    while (answer->len < 2 ||
           memcmp(answer->body + answer->len - 2, "\n\n", 2) != 0);
    return answer->body;
}

static inline void http_send(raw_peer *peer, const char *method,
                             const char *path, const char *fields,
                             const char *body)
{
    static char text[HTTP_BODY_ROOM];
    int n = snprintf(text, sizeof text,
                     "%s %s HTTP/1.1\r\nHost: localhost\r\n%s"
                     "Content-Length: %zu\r\n\r\n%s",
                     method, path, fields, strlen(body), body);

    assert_true(n > 0 && (size_t)n < sizeof text);
    raw_put(peer, text, (size_t)n);
}

#define HTTP_POST_FIELDS                                                       \
    "Content-Type: application/json\r\n"                                       \
    "Accept: application/json, text/event-stream\r\n"

static inline void http_post(raw_peer *peer, const char *fields,
                             const char *body)
{
    char all[2048];

    snprintf(all, sizeof all, "%s%s", HTTP_POST_FIELDS, fields);
    http_send(peer, "POST", "/mcp", all, body);
}

static inline void http_get(raw_peer *peer, const char *path,
                            const char *fields)
{
    char text[2048];
    int n = snprintf(text, sizeof text,
                     "GET %s HTTP/1.1\r\nHost: localhost\r\n"
                     "Accept: text/event-stream\r\n%s\r\n",
                     path, fields);

    raw_put(peer, text, (size_t)n);
}

/* Opens a session; `fields` is what its requests carry from then on. */
static inline void http_open_session(raw_peer *peer, const char *revision,
                                     char fields[256])
{
    static http_answer answer;
    char body[512];

    snprintf(body, sizeof body, INITIALIZE("0", "%s"), revision);
    http_post(peer, "", body);
    http_hear(peer, &answer);
    assert_int_equal(answer.status, 200);
    assert_int_equal(strlen(http_field(&answer, "mcp-session-id")), 22);
    snprintf(fields, 256, "Mcp-Session-Id: %s\r\nMCP-Protocol-Version: %s\r\n",
             http_field(&answer, "mcp-session-id"), revision);
    http_post(peer, fields, INITIALIZED);
    http_hear(peer, &answer);
    assert_int_equal(answer.status, 202);
    assert_int_equal(answer.len, 0);
}

#define HTTP_META(more)                                                        \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","   \
    "\"io.modelcontextprotocol/clientCapabilities\":{},"                       \
    "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"raw\","                \
    "\"version\":\"0\"}" more "}"

#define HTTP_MODERN(method)                                                    \
    "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " method "\r\n"

#define HTTP_MODERN_CALL(id, name, arguments)                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name                  \
    "\",\"arguments\":" arguments "," HTTP_META("") "}}"

#endif
