/*
 * ws_frame.h - the frames of a WebSocket as a load generator meets them:
 * whole messages in one frame each, masked on the way out, plain on the way
 * in (RFC 6455 5.2).
 */
#ifndef BENCH_WS_FRAME_H
#define BENCH_WS_FRAME_H

#include <stddef.h>

enum { WS_TEXT = 1, WS_CLOSE = 8, WS_PING = 9, WS_PONG = 10 };
enum { WS_HEAD_MAX = 14, WS_KEY_SIZE = 4 };

/*
 * All our frames have this key. A client must not be so predictable (5.3),
 * but to the server a key is as good as any other, and a request that is
 * masked once needs no masking for each sending.
 */
extern const unsigned char ws_key[WS_KEY_SIZE];

typedef struct ws_frame {
    unsigned opcode;
    const char *payload;
    size_t size;
} ws_frame;

/* The size of the frame of a server's that is at the start of `bytes`; 0:
 * it is not whole. A message in several frames ends the program. */
size_t ws_frame_read(const char *bytes, size_t size, ws_frame *frame);

/* A client's frame; its size, at most WS_HEAD_MAX more than `size`. */
size_t ws_frame_write(char *out, unsigned opcode, const char *payload,
                      size_t size);

/* Masks in place what is `at` bytes into a payload. */
void ws_mask(char *bytes, size_t size, size_t at);

#endif
