/*
 * http_client.h - what is said over HTTP before the load begins, and at the
 * head of each request after that.
 */
#ifndef BENCH_HTTP_CLIENT_H
#define BENCH_HTTP_CLIENT_H

#include "http_answer.h"

enum { HTTP_SESSION_MAX = 128, HTTP_HEAD_MAX = 1024 };

typedef enum http_era {
    HTTP_SESSIONS,  /* 2025-11-25: initialize, then Mcp-Session-Id */
    HTTP_STATELESS, /* 2026-07-28: every request says all */
} http_era;

/* One client of a server. */
typedef struct http_door {
    const char *address; /* HOST:PORT */
    http_era era;
    char session[HTTP_SESSION_MAX]; /* "" : none was given */
} http_door;

/* The head of a tools/call whose body has this size; its own size. */
size_t http_write_head(const http_door *door, size_t body, char *out,
                       size_t max);

/* A GET that opens the session's standing stream. */
size_t http_write_get(const http_door *door, char *out, size_t max);

/*
 * initialize, its answer, notifications/initialized, on a blocking socket.
 * False when the server closed the connection, refused or did not answer
 * within thirty seconds.
 */
bool http_greet(int fd, http_door *door);

#endif
