/*
 * ws_door.h - a WebSocket server on a plain socket, for clients under test.
 *
 * Nothing of fairlead's own is in it: the accept value is OpenSSL's, frames
 * are put together and taken apart here, byte by byte, and every frame of the
 * client must be masked.
 */
#ifndef TESTS_UNIT_WS_DOOR_H
#define TESTS_UNIT_WS_DOOR_H

#include "raw_peer.h"

#include <openssl/evp.h>

enum { DOOR_TEXT = 1, DOOR_CLOSE = 8, DOOR_PING = 9, DOOR_PONG = 10 };

typedef struct door_head {
    char text[4096]; /* of the request, up to its empty line */
    char key[64];
    char accept[64]; /* what the answer must have */
} door_head;

typedef struct door_frame {
    unsigned opcode;
    bool final, packed;
    unsigned char mask[4];
    size_t len;
    char body[1 << 17]; /* unmasked, and a NUL */
} door_frame;

static inline void door_accept_value(const char *key, char *out)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned len;
    char text[128];

    snprintf(text, sizeof text, "%.63s258EAFA5-E914-47DA-95CA-C5AB0DC85B11",
             key);
    assert_int_equal(
        EVP_Digest(text, strlen(text), digest, &len, EVP_sha1(), NULL), 1);
    EVP_EncodeBlock((unsigned char *)out, digest, (int)len);
}

/* The value of a field in the request, or "". */
static inline const char *door_field(const door_head *head, const char *name)
{
    static char value[512];
    char wanted[64];

    snprintf(wanted, sizeof wanted, "\r\n%s: ", name);
    const char *found = strcasestr(head->text, wanted);
    if (found == NULL)
        return "";
    found += strlen(wanted);
    snprintf(value, sizeof value, "%.*s", (int)strcspn(found, "\r"), found);
    return value;
}

/* Reads the client's request. */
static inline void door_hear_head(raw_peer *peer, door_head *head)
{
    char *end = NULL;

    io_until(peer->loop, (raw_read(peer), end = memmem(peer->room + peer->start,
                                                       peer->end - peer->start,
                                                       "\r\n\r\n", 4)) != NULL);
    size_t len = (size_t)(end - (peer->room + peer->start));
    assert_true(len + 3 < sizeof head->text);
    memcpy(head->text, peer->room + peer->start, len + 2);
    head->text[len + 2] = '\0';
    peer->start += len + 4;
    snprintf(head->key, sizeof head->key, "%.63s",
             door_field(head, "sec-websocket-key"));
    door_accept_value(head->key, head->accept);
}

static inline void door_answer(raw_peer *peer, const char *text)
{
    raw_put(peer, text, strlen(text));
}

#define DOOR_YES                                                               \
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"               \
    "Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n"

/* Takes a client in, with more fields in the answer if there are any. */
static inline void door_welcome(raw_peer *peer, const char *more)
{
    door_head head;
    char text[1024];

    door_hear_head(peer, &head);
    snprintf(text, sizeof text, DOOR_YES "%s\r\n", head.accept, more);
    door_answer(peer, text);
}

/* A whole frame into `out`; its length. */
static inline size_t door_pack(char *out, unsigned opcode, const char *body,
                               size_t len)
{
    size_t head = 2;

    assert_true(len < 65536);
    out[0] = (char)(0x80 | opcode);
    if (len < 126) {
        out[1] = (char)len;
    } else {
        out[1] = 126;
        out[2] = (char)(len >> 8);
        out[3] = (char)len;
        head = 4;
    }
    memcpy(out + head, body, len);
    return head + len;
}

static inline void door_put(raw_peer *peer, unsigned opcode, const char *body,
                            size_t len)
{
    static char frame[65536 + 4];

    raw_put(peer, frame, door_pack(frame, opcode, body, len));
}

static inline void door_say(raw_peer *peer, const char *text)
{
    door_put(peer, DOOR_TEXT, text, strlen(text));
}

static inline void door_say_close(raw_peer *peer, unsigned code,
                                  const char *reason)
{
    char body[125];
    int len = snprintf(body + 2, sizeof body - 2, "%s", reason);

    body[0] = (char)(code >> 8);
    body[1] = (char)code;
    door_put(peer, DOOR_CLOSE, body, 2 + (size_t)len);
}

/* Whether a whole frame has come; then it is taken. */
static inline bool door_take(raw_peer *peer, door_frame *frame)
{
    const unsigned char *in = (const unsigned char *)peer->room + peer->start;
    size_t have = peer->end - peer->start, head = 2;

    if (have < 2)
        return false;
    frame->opcode = in[0] & 0x0f;
    frame->final = in[0] & 0x80;
    frame->packed = in[0] & 0x40;
    assert_true(in[1] & 0x80); /* RFC 6455 5.1: a client masks */
    frame->len = in[1] & 0x7f;
    if (frame->len == 126) {
        frame->len = (size_t)in[2] << 8 | in[3];
        head = 4;
    } else if (frame->len == 127) {
        frame->len = 0;
        for (int i = 0; i < 8; i++)
            frame->len = frame->len << 8 | in[2 + i];
        head = 10;
    }
    if (have < head + 4 || have < head + 4 + frame->len)
        return false;
    assert_true(frame->len < sizeof frame->body);
    memcpy(frame->mask, in + head, 4);
    for (size_t i = 0; i < frame->len; i++)
        frame->body[i] = (char)(in[head + 4 + i] ^ frame->mask[i % 4]);
    frame->body[frame->len] = '\0';
    peer->start += head + 4 + frame->len;
    return true;
}

static inline void door_hear(raw_peer *peer, door_frame *frame)
{
    for (time_t begun = io_seconds(); !door_take(peer, frame);) {
        if (peer->ended)
            fail_msg("the connection ended instead of a frame");
        if (io_seconds() - begun > stretched(30))
            fail_msg("waited for a frame in vain");
        io_turn(peer->loop);
        raw_read(peer);
    }
}

/* The next frame is this text, whole. */
static inline void door_hears(raw_peer *peer, const char *text)
{
    static door_frame frame;

    door_hear(peer, &frame);
    assert_int_equal(frame.opcode, DOOR_TEXT);
    assert_true(frame.final);
    assert_string_equal(frame.body, text);
}

static inline void door_hears_close(raw_peer *peer, unsigned code)
{
    static door_frame frame;

    door_hear(peer, &frame);
    assert_int_equal(frame.opcode, DOOR_CLOSE);
    assert_true(frame.len >= 2);
    assert_int_equal(
        (unsigned char)frame.body[0] << 8 | (unsigned char)frame.body[1], code);
}

#endif
