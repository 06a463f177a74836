/*
 * raw_post.h - HTTP and MCP as the reference programs see them: where a
 * request ends, where its id is, and nothing else.
 */
#ifndef BENCH_RAW_POST_H
#define BENCH_RAW_POST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct raw_text {
    const char *bytes;
    size_t size;
} raw_text;

/* The size of a whole request, of which `body` is the end; or 0. */
size_t raw_request_size(const char *bytes, size_t size, raw_text *body);

/* The head of a 200 with JSON of this size; its own size. */
enum { RAW_HEAD_MAX = 128 };
size_t raw_write_head(char out[RAW_HEAD_MAX], size_t body);

/* The first id in a message; false: it is a notification. */
bool raw_find_id(raw_text message, raw_text *id);

/* What follows `key` up to the next quotation mark; empty if nothing does. */
raw_text raw_find_text(raw_text message, raw_text key);

#define RAW_TEXT(literal) ((raw_text){(literal), sizeof(literal) - 1})

/* Appends, and returns where to go on. */
char *raw_put(char *at, raw_text text);
char *raw_put_number(char *at, size_t number);

#endif
