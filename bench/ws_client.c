/*
 * ws_client.c - what a WebSocket client says before the load begins.
 *
 * The key of the handshake is the one in RFC 6455 1.3, and that the server
 * made the right accept value of it is believed: whether it does is asked by
 * the tests.
 */
#include "ws_client.h"

#include "client.h"
#include "hello.h"
#include "ws_frame.h"

#include <assert.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_MS = 30000, ANSWER_MAX = 16384, REQUEST_MAX = 512 };

/* Whether what has come so far is a whole answer. */
typedef bool is_whole(const char *bytes, size_t size);

static bool is_head(const char *bytes, size_t size)
{
    return memmem(bytes, size, "\r\n\r\n", 4) != NULL;
}

static bool is_frame(const char *bytes, size_t size)
{
    ws_frame frame;

    return ws_frame_read(bytes, size, &frame) > 0;
}

/* Reads one answer, which nothing may follow yet; its size, or 0. */
static size_t hear(int fd, char bytes[ANSWER_MAX], is_whole *whole)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    size_t size = 0;

    while (size < ANSWER_MAX) {
        if (poll(&ready, 1, PATIENCE_MS) != 1)
            return 0;
        ssize_t n = read(fd, bytes + size, ANSWER_MAX - size);
        if (n <= 0)
            return 0;
        size += (size_t)n;
        if (whole(bytes, size))
            return size;
    }
    return 0;
}

static bool say(int fd, const char *text, size_t size)
{
    char frame[REQUEST_MAX + WS_HEAD_MAX];
    size_t n = ws_frame_write(frame, WS_TEXT, text, size);

    return write(fd, frame, n) == (ssize_t)n;
}

bool ws_open(int fd, const char *address)
{
    static const char switching[] = "HTTP/1.1 101 ";
    char bytes[ANSWER_MAX];
    int n = snprintf(bytes, sizeof bytes,
                     "GET /mcp HTTP/1.1\r\nHost: %s\r\n"
                     "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                     "Sec-WebSocket-Version: 13\r\n"
                     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                     address);

    return write(fd, bytes, (size_t)n) == n && hear(fd, bytes, is_head) > 0 &&
           memcmp(bytes, switching, sizeof switching - 1) == 0;
}

bool ws_greet(int fd)
{
    static const char first[] = HELLO_INITIALIZE, second[] = HELLO_INITIALIZED;
    char bytes[ANSWER_MAX];
    size_t size;

    static_assert(sizeof first <= REQUEST_MAX, "a frame of it fits");
    return say(fd, first, sizeof first - 1) &&
           (size = hear(fd, bytes, is_frame)) > 0 &&
           memmem(bytes, size, "\"error\"", 7) == NULL &&
           say(fd, second, sizeof second - 1);
}
