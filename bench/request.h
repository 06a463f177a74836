/*
 * request.h - the message the load is made of, and the check of its answers.
 *
 * It is a tools/call of the tool echo. Its id is overwritten for each sending
 * and always eight digits wide, so that all requests have one length and all
 * answers, too: an answer whose length differs from the one before is looked
 * at closely, and a server that starts to answer with errors cannot hide.
 */
#ifndef BENCH_REQUEST_H
#define BENCH_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FIRST_ID = 10000000, LAST_ID = 99999999 };

/* What comes after the arguments. */
typedef enum request_form {
    REQUEST_LINE,   /* a newline */
    REQUEST_PLAIN,  /* nothing */
    REQUEST_MODERN, /* the claims that 2026-07-28 wants in each request */
    REQUEST_FRAME,  /* nothing, and all of it is in a WebSocket frame */
} request_form;

typedef struct bench_request {
    char *bytes; /* as they are sent */
    size_t size;
    size_t id_at;
    char *plain;      /* what a frame hides; otherwise NULL */
    const char *text; /* what the answer must contain */
    size_t text_size;
    size_t head; /* of the frame, if it is one */
} bench_request;

/* What is remembered of the last answer on one connection. */
typedef struct bench_check {
    size_t id_at;
    size_t size;
} bench_check;

/*
 * `size` is that of REQUEST_LINE, newline included. The other forms have the
 * same text in them, and so the same answer.
 */
void request_init(bench_request *request, size_t size, request_form form);
void request_deinit(bench_request *request);

/* Eight digits. */
void request_write_id(char *at, uint64_t id);

/* The same in a copy of the request's bytes, masked if they are. */
void request_set_id(const bench_request *request, char *copy, uint64_t id);

/* The id of an answer, or 0. */
uint64_t answer_id(bench_check *check, const char *answer, size_t size);

/* Whether the text sent is in the answer. */
bool answer_repeats(bench_check *check, const bench_request *request,
                    const char *answer, size_t size);

/* Ends the program when there is no memory. */
void *must_have(void *block);

#endif
