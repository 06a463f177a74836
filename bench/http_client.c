/*
 * http_client.c - what is said over HTTP before the load begins.
 *
 * The fields are those that the SDKs' clients send, in the case they send
 * them; a server that reads only what it must gets nothing less to skip.
 */
#include "http_client.h"

#include "client.h"
#include "hello.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_MS = 30000, ANSWER_MAX = 16384, REQUEST_MAX = 2048 };

static const char initialize[] = HELLO_INITIALIZE;
static const char initialized[] = HELLO_INITIALIZED;

static size_t fit(int size, size_t max)
{
    if (size < 0 || (size_t)size >= max)
        die("a head of more than %zu bytes", max);
    return (size_t)size;
}

static size_t write_session(const http_door *door, char *out, size_t max)
{
    if (door->session[0] == '\0')
        return 0;
    return fit(snprintf(out, max, "Mcp-Session-Id: %s\r\n", door->session),
               max);
}

size_t http_write_head(const http_door *door, size_t body, char *out,
                       size_t max)
{
    bool modern = door->era == HTTP_STATELESS;
    size_t n = fit(snprintf(out, max,
                            "POST /mcp HTTP/1.1\r\nHost: %s\r\n"
                            "Content-Type: application/json\r\n"
                            "Accept: application/json, text/event-stream\r\n"
                            "MCP-Protocol-Version: %s\r\n%s",
                            door->address, modern ? "2026-07-28" : "2025-11-25",
                            modern ? "Mcp-Method: tools/call\r\n"
                                     "Mcp-Name: echo\r\n"
                                   : ""),
                   max);

    n += write_session(door, out + n, max - n);
    n += fit(snprintf(out + n, max - n, "Content-Length: %zu\r\n\r\n", body),
             max - n);
    return n;
}

size_t http_write_get(const http_door *door, char *out, size_t max)
{
    size_t n = fit(snprintf(out, max,
                            "GET /mcp HTTP/1.1\r\nHost: %s\r\n"
                            "Accept: text/event-stream\r\n"
                            "MCP-Protocol-Version: 2025-11-25\r\n",
                            door->address),
                   max);

    n += write_session(door, out + n, max - n);
    n += fit(snprintf(out + n, max - n, "\r\n"), max - n);
    return n;
}

static bool post(int fd, const http_door *door, const char *body, size_t size)
{
    char request[REQUEST_MAX];
    size_t n = http_write_head(door, size, request, sizeof request);

    if (n + size > sizeof request)
        return false;
    memcpy(request + n, body, size);
    return write(fd, request, n + size) == (ssize_t)(n + size);
}

/* Reads one response, which nothing may follow yet. */
static bool hear(int fd, char bytes[ANSWER_MAX], http_answer *answer)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    size_t size = 0;

    while (size < ANSWER_MAX) {
        if (poll(&ready, 1, PATIENCE_MS) != 1)
            return false;
        ssize_t n = read(fd, bytes + size, ANSWER_MAX - size);
        if (n <= 0)
            return false;
        size += (size_t)n;
        if (http_answer_read(bytes, size, answer) > 0)
            return true;
    }
    return false;
}

static bool remember(http_door *door, const http_answer *answer)
{
    if (answer->session_size >= sizeof door->session)
        return false;
    if (answer->session_size > 0)
        memcpy(door->session, answer->session, answer->session_size);
    door->session[answer->session_size] = '\0';
    return true;
}

bool http_greet(int fd, http_door *door)
{
    char bytes[ANSWER_MAX];
    http_answer answer;

    return post(fd, door, initialize, sizeof initialize - 1) &&
           hear(fd, bytes, &answer) && answer.status == 200 &&
           memmem(answer.body, answer.body_size, "\"error\"", 7) == NULL &&
           remember(door, &answer) &&
           post(fd, door, initialized, sizeof initialized - 1) &&
           hear(fd, bytes, &answer) && answer.status / 100 == 2;
}
