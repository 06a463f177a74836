/*
 * ws_frames.h - WebSocket frames put together and taken apart by hand, for
 * tests that play the other side.
 */
#ifndef TESTS_UNIT_WS_FRAMES_H
#define TESTS_UNIT_WS_FRAMES_H

#include "base/span.h"
#include "io_probe.h"
#include "wire/ws.h"

enum { WS_ROOM = 1 << 20 };

typedef struct ws_text {
    size_t len;
    char room[WS_ROOM];
} ws_text;

typedef struct ws_frame {
    unsigned kind;
    bool final;
    bool packed;
    bool masked;
    size_t len;
    char body[WS_ROOM + 1]; /* unmasked, ended by a NUL */
} ws_frame;

/* `first` is the first byte as it is: final, reserved bits, opcode. */
static inline void ws_add_raw(ws_text *text, unsigned first, bool masked,
                              fl_span body)
{
    static const unsigned char key[4] = {0x37, 0xfa, 0x21, 0x3d};
    char *at = text->room + text->len;
    size_t n = 0;

    assert_true(body.len + FL_WS_HEAD_MAX <= WS_ROOM - text->len);
    at[n++] = (char)first;
    unsigned mask = masked ? 0x80 : 0;
    if (body.len < 126) {
        at[n++] = (char)(mask | body.len);
    } else if (body.len < 65536) {
        at[n++] = (char)(mask | 126);
        at[n++] = (char)(body.len >> 8);
        at[n++] = (char)body.len;
    } else {
        at[n++] = (char)(mask | 127);
        for (int shift = 56; shift >= 0; shift -= 8)
            at[n++] = (char)(body.len >> shift);
    }
    if (masked) {
        memcpy(at + n, key, 4);
        n += 4;
    }
    for (size_t i = 0; i < body.len; i++)
        at[n++] = (char)(body.ptr[i] ^ (masked ? key[i % 4] : 0));
    text->len += n;
}

static inline void ws_add(ws_text *text, unsigned kind, bool masked,
                          const char *body)
{
    ws_add_raw(text, 0x80 | kind, masked, fl_span_of(body));
}

static inline void ws_add_close(ws_text *text, bool masked, unsigned code,
                                const char *reason)
{
    char body[FL_WS_CONTROL_MAX];
    size_t len = fl_ws_close_body(body, code, fl_span_of(reason));

    ws_add_raw(text, 0x80 | FL_WS_CLOSE, masked, (fl_span){body, len});
}

/* Takes one frame off the front; 0: it is not whole. */
static inline size_t ws_cut(fl_span in, ws_frame *frame)
{
    const unsigned char *at = (const unsigned char *)in.ptr;
    size_t n = 2, len;

    if (in.len < 2)
        return 0;
    frame->kind = at[0] & 15;
    frame->final = (at[0] & 0x80) != 0;
    frame->packed = (at[0] & 0x40) != 0;
    frame->masked = (at[1] & 0x80) != 0;
    len = at[1] & 127;
    size_t wide = len == 126 ? 2 : len == 127 ? 8 : 0;
    if (in.len < n + wide + (frame->masked ? 4 : 0))
        return 0;
    if (wide > 0)
        len = 0;
    for (size_t i = 0; i < wide; i++)
        len = len << 8 | at[n++];
    const unsigned char *key = at + n;
    n += frame->masked ? 4 : 0;
    if (in.len - n < len)
        return 0;
    assert_true(len <= WS_ROOM);
    for (size_t i = 0; i < len; i++)
        frame->body[i] =
            (char)(in.ptr[n + i] ^ (frame->masked ? key[i % 4] : 0));
    frame->body[len] = '\0';
    frame->len = len;
    return n + len;
}

static inline unsigned ws_close_code(const ws_frame *frame)
{
    assert_int_equal(frame->kind, FL_WS_CLOSE);
    if (frame->len == 0)
        return FL_WS_NO_CODE;
    assert_true(frame->len >= 2);
    return (unsigned)(unsigned char)frame->body[0] << 8 |
           (unsigned char)frame->body[1];
}

#endif
