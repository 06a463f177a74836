/*
 * ws_rules.h - the bits of a frame's head (RFC 6455 5.2), and the rules that
 * a peer must keep; for ws.c and ws_frame.c alone.
 */
#ifndef FL_WIRE_WS_RULES_H
#define FL_WIRE_WS_RULES_H

#include "wire/ws.h"

enum {
    /* of the first byte */
    FL_WS_BIT_FIN = 0x80,
    FL_WS_BIT_RSV1 = 0x40,
    FL_WS_BITS_RESERVED = 0x30, /* RSV2, RSV3: no extension of ours has them */
    FL_WS_BITS_OPCODE = 0x0f,
    FL_WS_BIT_CONTROL = 0x08, /* of an opcode */

    /* of the second */
    FL_WS_BIT_MASKED = 0x80,
    FL_WS_BITS_LENGTH = 0x7f,
    FL_WS_LENGTH_16 = 126, /* the length is in the next two bytes, or eight */
    FL_WS_LENGTH_64 = 127,

    FL_WS_MASK_KEY = 4, /* bytes */
};

/* The size of a head, by its second byte. */
static inline size_t fl_ws_head_size(unsigned second)
{
    unsigned length = second & FL_WS_BITS_LENGTH;
    size_t extra = length < FL_WS_LENGTH_16    ? 0
                   : length == FL_WS_LENGTH_16 ? 2
                                               : 8;

    return 2 + extra + ((second & FL_WS_BIT_MASKED) != 0 ? FL_WS_MASK_KEY : 0);
}

/* The size of the head, if a message lies at the front of `in` like nearly all
 * that a server gets: text in one frame, masked, not packed, less than 64 KiB,
 * within the limit and all there. 0: something else. */
static inline size_t fl_ws_spot_plain(const fl_ws_settings *settings,
                                      fl_span in, size_t *len)
{
    const unsigned char *at = (const unsigned char *)in.ptr;
    size_t head = 2 + FL_WS_MASK_KEY;

    if (in.len < head + 2 || at[0] != (FL_WS_BIT_FIN | FL_WS_TEXT) ||
        at[1] <= FL_WS_BIT_MASKED || settings->client)
        return 0;
    *len = at[1] & FL_WS_BITS_LENGTH;
    if (*len >= FL_WS_LENGTH_16) {
        bool wide = *len == FL_WS_LENGTH_64;
        head += 2;
        *len = (size_t)at[2] << 8 | at[3];
        if (wide || *len < FL_WS_LENGTH_16)
            return 0;
    }
    return *len <= in.len - head && *len <= settings->max_message ? head : 0;
}

/* Each says which rule was broken, in static text, or NULL: none. */

/* The first two bytes of a head. */
const char *fl_ws_judge_head(const fl_ws *ws, unsigned first, unsigned second);

/* The length of a whole head. */
const char *fl_ws_read_length(const unsigned char *head, uint64_t *length);

/* The payload of a close, reason aside; `code` may be FL_WS_NO_CODE. */
const char *fl_ws_read_code(fl_span body, unsigned *code);

#endif
