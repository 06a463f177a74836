/*
 * http_answer.h - one HTTP/1.1 response in a buffer: is it whole, and what
 * does it say?
 *
 * A response is looked at from its start each time more of it has come. That
 * costs nothing where answers come in one piece, and where they do not the
 * server has spent far more on the pieces.
 */
#ifndef BENCH_HTTP_ANSWER_H
#define BENCH_HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct http_answer {
    unsigned status;
    const char *session; /* the value of Mcp-Session-Id, or NULL */
    size_t session_size;
    size_t head_size;
    bool chunked;
    char *body; /* chunks have been joined */
    size_t body_size;
} http_answer;

/* Whether the head is whole. What is no HTTP/1.1 response ends the program. */
bool http_head_read(const char *bytes, size_t size, http_answer *answer);

/* The size of the whole response, after which the next one starts; 0: more of
 * it is to come. The body is in `bytes`, which may be rewritten. */
size_t http_answer_read(char *bytes, size_t size, http_answer *answer);

#endif
