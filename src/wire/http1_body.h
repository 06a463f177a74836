/*
 * http1_body.h - where the body of an HTTP/1.1 message ends (RFC 9112 6, 7).
 *
 * Pure, and without a buffer: pieces of the body are handed out where they
 * lie in the caller's bytes. The caller pulls:
 *
 *     while ((rc = fl_http1_body_next(&body, &in, &piece)) == FL_OK)
 *         take(piece);
 */
#ifndef FL_WIRE_HTTP1_BODY_H
#define FL_WIRE_HTTP1_BODY_H

#include "wire/http1_head.h"

enum {
    FL_HTTP1_EXT_MAX = 256,         /* of one chunk */
    FL_HTTP1_EXT_TOTAL = 16 * 1024, /* of all chunks of a body */
};

/* Fields are private to http1_body.c. */
typedef struct fl_http1_body {
    union {
        uint64_t left;    /* of the body, or of the chunk in hand */
        const char *what; /* is wrong, from then on; static text */
    };
    uint32_t room;   /* bytes that may yet come in trailers */
    uint16_t fields; /* trailers that may */
    uint16_t line;   /* bytes of this size or extension */
    uint16_t ext;    /* bytes of extensions so far */
    uint8_t name_len;
    uint8_t state;
    char name[20]; /* of the trailer in hand, as far as it fits */
} fl_http1_body;

/* Nothing; so many bytes; chunks; whatever comes until the connection ends. */
void fl_http1_body_none(fl_http1_body *body);
void fl_http1_body_length(fl_http1_body *body, uint64_t length);
void fl_http1_body_chunked(fl_http1_body *body, const fl_http_limits *limits);
void fl_http1_body_endless(fl_http1_body *body);

/*
 * Takes the next piece of the body off the front of `in`.
 *
 * FL_OK             `piece` is not empty, and borrows from `in`.
 * FL_END            The body is whole. Said again when asked again.
 * FL_AGAIN          `in` is used up.
 * FL_E_BAD_MESSAGE  See body->what. Said again when asked again.
 */
FL_MUST_USE fl_status fl_http1_body_next(fl_http1_body *body, fl_span *in,
                                         fl_span *piece);

/* Whether the rest of it, for better or worse, lies within `in`. */
bool fl_http1_body_within(const fl_http1_body *body, fl_span in);

/* Whether it will be whole after `max` more bytes at most, surely. */
bool fl_http1_body_ends_soon(const fl_http1_body *body, uint64_t max);

/* Whether the end of the connection is its end. */
bool fl_http1_body_is_endless(const fl_http1_body *body);

#endif
