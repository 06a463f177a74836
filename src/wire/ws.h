/*
 * ws.h - the frames of a WebSocket (RFC 6455), without I/O, as either side.
 *
 * Bytes go in, whole messages and control frames come out, one at a call:
 *
 *     while ((rc = fl_ws_next(&ws, &in, &message)) == FL_OK)
 *         take(&message);
 *
 * so that whoever reads may stop between two of them. A message in one frame
 * that lies whole in the input is not gathered: unmasked it is lent as it is,
 * masked it is unmasked into the one buffer, which an idle socket gives back
 * to the pool. Limits hold before anything is kept: a length that is too
 * large is refused when it is announced.
 *
 * What goes out is a head, written by fl_ws_head(), and the payload; a client
 * masks it in place with fl_ws_mask().
 */
#ifndef FL_WIRE_WS_H
#define FL_WIRE_WS_H

#include "base/buf.h"
#include "base/pool.h"
#include "base/utf8.h"
#include "wire/ws_pack.h"

typedef enum fl_ws_kind {
    FL_WS_MORE = 0x0, /* a continuation; never the kind of a message */
    FL_WS_TEXT = 0x1,
    FL_WS_BINARY = 0x2,
    FL_WS_CLOSE = 0x8,
    FL_WS_PING = 0x9,
    FL_WS_PONG = 0xa,
} fl_ws_kind;

/* RFC 6455 7.4.1, and the registry it opened. */
enum {
    FL_WS_NORMAL = 1000,
    FL_WS_GOING_AWAY = 1001,
    FL_WS_PROTOCOL_ERROR = 1002,
    FL_WS_UNSUPPORTED = 1003,
    FL_WS_NO_CODE = 1005,  /* never sent: a close without one */
    FL_WS_ABNORMAL = 1006, /* never sent: no close at all */
    FL_WS_BAD_DATA = 1007,
    FL_WS_POLICY = 1008,
    FL_WS_TOO_BIG = 1009,
    FL_WS_INTERNAL = 1011,
    FL_WS_OVERLOAD = 1013,
};

enum {
    FL_WS_HEAD_MAX = 14,     /* bytes of a frame's head */
    FL_WS_CONTROL_MAX = 125, /* of a control frame's payload */
};

/* Shared by the sockets of one owner, which outlives them. */
typedef struct fl_ws_settings {
    bool client;         /* we are: the peer must not mask */
    size_t max_message;  /* bytes, unpacked, all fragments together */
    bool text_unchecked; /* text that comes in one piece is not checked to be
                            UTF-8, for its owner will; `checked` tells */
    bool refuse_binary;  /* 1003 at its first frame, before it is kept */
    fl_ws_packs *packs;  /* to unpack with; NULL: compression is never on */
} fl_ws_settings;

typedef struct fl_ws_message {
    fl_ws_kind kind;
    fl_span bytes; /* of a close: its reason */
    unsigned code; /* of a close: its code, or FL_WS_NO_CODE */
    bool checked;  /* text: known to be UTF-8 */
} fl_ws_message;

/* Owned by whoever embeds it. Fields are private to ws.c, `fault` aside. */
typedef struct fl_ws {
    const fl_ws_settings *settings;
    fl_pool *pool;
    fl_ws_unpack *unpack; /* this socket's own, with context; or NULL */
    fl_buf gathered;      /* what is there of the message in hand */
    uint64_t left;        /* of the payload of the frame in hand */
    fl_utf8_state utf8;
    unsigned char head[FL_WS_HEAD_MAX]; /* of the frame in hand, so far */
    unsigned char control[FL_WS_CONTROL_MAX];
    uint8_t head_len;
    uint8_t control_len;
    uint8_t kind;   /* of the message in hand; 0: none */
    uint8_t opcode; /* of the frame in hand */
    uint8_t phase;  /* of its mask */
    unsigned char key[4];
    bool in_payload;
    bool final;    /* the frame in hand is its message's last */
    bool packing;  /* permessage-deflate was agreed on */
    bool packed;   /* the message in hand is */
    bool lent;     /* `gathered` was lent with the last message */
    bool finished; /* a close came, or a fault: nothing more is read */
    struct {
        uint16_t code;    /* to close with */
        const char *what; /* static text, for the peer and the log */
    } fault;
} fl_ws;

/* `agreed` is what the handshake settled, or NULL: no extension. Keeps
 * `settings`, `pool`. FL_E_NOMEM. */
FL_MUST_USE fl_status fl_ws_init(fl_ws *ws, const fl_ws_settings *settings,
                                 const fl_ws_agreed *agreed, fl_pool *pool);
void fl_ws_deinit(fl_ws *ws);

/*
 * Takes input from the front of `in` up to the end of the next message or
 * control frame. FL_OK: `message` is one, good until the next call on `ws`
 * and as long as the input. FL_AGAIN: all of `in` has been taken, and more is
 * needed. FL_END: a close came before; what is left of `in` means nothing.
 * Below zero: the peer broke the rules (FL_E_BAD_MESSAGE), sent too much
 * (FL_E_TOO_BIG) or there is no memory; `fault` says with which code to
 * close. Final.
 */
FL_MUST_USE fl_status fl_ws_next(fl_ws *ws, fl_span *in,
                                 fl_ws_message *message);

/* Lets go of the last message and, if none is in hand, of the buffer: to be
 * called when the input is used up, so that an idle socket holds nothing. */
void fl_ws_rest(fl_ws *ws);

/* Whether a message has begun that is not whole. */
bool fl_ws_in_message(const fl_ws *ws);

/* Bytes of heap held for the message in hand, contexts included. */
size_t fl_ws_memory(const fl_ws *ws);

/* The head of a frame that is whole; `packed` sets RSV1; `key` NULL: not
 * masked. Returns its length. */
size_t fl_ws_head(char out[FL_WS_HEAD_MAX], fl_ws_kind kind, bool packed,
                  uint64_t len, const unsigned char *key);

/* dst[i] = src[i] ^ key[(phase + i) % 4]; the two may be the same. */
void fl_ws_mask(char *dst, const char *src, size_t len,
                const unsigned char key[4], size_t phase);

/* Whether a peer may send this code (RFC 6455 7.4.2). */
bool fl_ws_code_ok(unsigned code);

/* The payload of a close: the code, and of the reason what fits, cut between
 * characters, control characters and what is no UTF-8 made "?". FL_WS_NO_CODE:
 * empty. Returns its length. */
size_t fl_ws_close_body(char out[FL_WS_CONTROL_MAX], unsigned code,
                        fl_span reason);

#endif
