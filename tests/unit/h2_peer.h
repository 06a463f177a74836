/*
 * h2_peer.h - a raw client that speaks HTTP/2 by hand, by prior knowledge.
 *
 * It does what no library would: shuts its windows, sends two requests in one
 * write, leaves bodies unfinished. Heads are literals without indexing (RFC
 * 7541 6.2.2), so nothing has to be remembered; the server's are not read.
 */
#ifndef TESTS_UNIT_H2_PEER_H
#define TESTS_UNIT_H2_PEER_H

#include "raw_peer.h"

#include <ctype.h>

enum {
    H2_DATA = 0,
    H2_HEADERS = 1,
    H2_RESET = 3,
    H2_SETTINGS = 4,
    H2_PING = 6,
    H2_GOAWAY = 7,
    H2_WINDOW_UPDATE = 8,
    H2_FRAME_HEAD = 9,
    H2_FRAME_MAX = 16384,
    H2_WINDOW = 65535, /* the initial one of RFC 9113 6.9.2 */
};

typedef struct h2_frame {
    unsigned type;
    unsigned flags;
    uint32_t stream;
    size_t len;
    char payload[H2_FRAME_MAX + 1]; /* ended by a NUL */
} h2_frame;

/* Frames are put together here, and leave with h2_flush(). */
typedef struct h2_text {
    char room[64 * 1024];
    size_t len;
} h2_text;

static inline void h2_bytes(h2_text *text, const void *bytes, size_t len)
{
    assert_true(len <= sizeof text->room - text->len);
    memcpy(text->room + text->len, bytes, len);
    text->len += len;
}

static inline void h2_add(h2_text *text, unsigned type, unsigned flags,
                          uint32_t stream, fl_span payload)
{
    const unsigned char head[H2_FRAME_HEAD] = {
        (unsigned char)(payload.len >> 16),
        (unsigned char)(payload.len >> 8),
        (unsigned char)payload.len,
        (unsigned char)type,
        (unsigned char)flags,
        (unsigned char)(stream >> 24),
        (unsigned char)(stream >> 16),
        (unsigned char)(stream >> 8),
        (unsigned char)stream,
    };

    h2_bytes(text, head, sizeof head);
    if (payload.len > 0)
        h2_bytes(text, payload.ptr, payload.len);
}

static inline void h2_flush(raw_peer *peer, h2_text *text)
{
    raw_put(peer, text->room, text->len);
    text->len = 0;
}

/* The preface, with so large a window for each answer. */
static inline void h2_begin(raw_peer *peer, uint32_t window)
{
    static h2_text text;
    const unsigned char setting[6] = {
        0,
        4, /* SETTINGS_INITIAL_WINDOW_SIZE */
        (unsigned char)(window >> 24),
        (unsigned char)(window >> 16),
        (unsigned char)(window >> 8),
        (unsigned char)window,
    };

    text.len = 0;
    h2_bytes(&text, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24);
    h2_add(&text, H2_SETTINGS, 0, 0, (fl_span){(const char *)setting, 6});
    h2_flush(peer, &text);
}

static inline void h2_literal(h2_text *head, const char *name, size_t name_len,
                              const char *value, size_t value_len)
{
    assert_true(name_len < 127 && value_len < 127);
    h2_bytes(head, "", 1);
    head->room[head->len++] = (char)name_len;
    for (size_t i = 0; i < name_len; i++)
        head->room[head->len++] = (char)tolower((unsigned char)name[i]);
    head->room[head->len++] = (char)value_len;
    h2_bytes(head, value, value_len);
}

/* `fields` as HTTP/1.1 writes them: "Name: value\r\n" each. */
static inline void h2_fields(h2_text *head, const char *fields)
{
    for (const char *end; (end = strstr(fields, "\r\n")) != NULL;
         fields = end + 2) {
        const char *colon = strchr(fields, ':');
        h2_literal(head, fields, (size_t)(colon - fields), colon + 2,
                   (size_t)(end - colon - 2));
    }
}

/* A POST to /mcp whose body is `body`, and more of it to come unless whole. */
static inline void h2_post(h2_text *text, uint32_t stream, const char *fields,
                           const char *body, bool whole)
{
    static h2_text head;

    head.len = 0;
    h2_literal(&head, ":method", 7, "POST", 4);
    h2_literal(&head, ":scheme", 7, "http", 4);
    h2_literal(&head, ":authority", 10, "localhost", 9);
    h2_literal(&head, ":path", 5, "/mcp", 4);
    h2_fields(&head, "content-type: application/json\r\n"
                     "accept: application/json, text/event-stream\r\n");
    h2_fields(&head, fields);
    h2_add(text, H2_HEADERS, 4, stream, (fl_span){head.room, head.len});
    h2_add(text, H2_DATA, whole ? 1 : 0, stream, (fl_span){body, strlen(body)});
}

static inline bool h2_has(raw_peer *peer, size_t count)
{
    io_until(peer->loop,
             (raw_read(peer), peer->ended || peer->end - peer->start >= count));
    return peer->end - peer->start >= count;
}

/* The next frame; false: the connection has ended. Questions of the server's
 * are answered. */
static inline bool h2_hear(raw_peer *peer, h2_frame *frame)
{
    static h2_text text;

    if (!h2_has(peer, H2_FRAME_HEAD))
        return false;
    const unsigned char *at = (const unsigned char *)peer->room + peer->start;
    frame->len = (size_t)at[0] << 16 | (size_t)at[1] << 8 | at[2];
    frame->type = at[3];
    frame->flags = at[4];
    frame->stream = (uint32_t)at[5] << 24 | (uint32_t)at[6] << 16 |
                    (uint32_t)at[7] << 8 | at[8];
    assert_true(frame->len <= H2_FRAME_MAX);
    assert_true(h2_has(peer, H2_FRAME_HEAD + frame->len));
    memcpy(frame->payload, peer->room + peer->start + H2_FRAME_HEAD,
           frame->len);
    frame->payload[frame->len] = '\0';
    peer->start += H2_FRAME_HEAD + frame->len;
    text.len = 0;
    if (frame->type == H2_SETTINGS && (frame->flags & 1) == 0)
        h2_add(&text, H2_SETTINGS, 1, 0, (fl_span){0});
    if (frame->type == H2_PING && (frame->flags & 1) == 0)
        h2_add(&text, H2_PING, 1, 0, (fl_span){frame->payload, frame->len});
    /* it may have gone already, and what it said is heard all the same */
    (void)!send(peer->fd, text.room, text.len, MSG_NOSIGNAL);
    return true;
}

/* The next frame of this type with something in it. */
static inline void h2_hear_type(raw_peer *peer, unsigned type, h2_frame *frame)
{
    do
        assert_true(h2_hear(peer, frame));
    while (frame->type != type || frame->len == 0);
}

static inline void h2_hears_end(raw_peer *peer)
{
    static h2_frame frame;

    while (h2_hear(peer, &frame)) {
    }
}

#endif
