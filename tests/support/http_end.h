/*
 * http_end.h - one end of an HTTP/2 connection, for tests that join two of
 * them in memory, or play the other one by hand with raw frames.
 *
 * What an end writes is kept until the test delivers it. What it is told is
 * counted, and noted down if the test wants it so. A test that has something
 * to do from inside an event gives an `act`.
 */
#ifndef TESTS_SUPPORT_HTTP_END_H
#define TESTS_SUPPORT_HTTP_END_H

#include "support/chop.h"
#include "wire/http.h"

typedef enum http_event {
    HTTP_HEAD,
    HTTP_BODY,
    HTTP_END,
    HTTP_BAD,
    HTTP_LOST,
    HTTP_WRITABLE,
    HTTP_OVER,
    HTTP_EVENTS, /* how many there are */
} http_event;

typedef struct http_end http_end;
struct http_end {
    fl_http *http;
    fl_http_limits limits;
    size_t told[HTTP_EVENTS];
    fl_exchange *exchange; /* of the latest event, or request */
    unsigned status;       /* of the latest response, or of on_bad */
    fl_status lost;        /* the latest */
    size_t body;           /* bytes of bodies heard, all together */

    char *out; /* written, not delivered yet */
    size_t out_len;
    size_t writes;
    bool urgent;      /* some of it */
    fl_status refuse; /* what `write` says, if not FL_OK */

    uint64_t now_ms;
    chop_notes *notes;
    void (*act)(http_end *end, http_event event, fl_exchange *exchange);
    void *user; /* the test's */
};

/* `limits` NULL, and zeroes in it: the defaults. False: there was no memory. */
bool http_end_open(http_end *end, bool client, const fl_http_limits *limits);
void http_end_close(http_end *end);

/* What one has written is fed to the other; false if it was nothing. */
bool http_end_deliver(http_end *from, http_end *to);
/* To and fro, until neither has anything to say. */
void http_end_settle(http_end *a, http_end *b);
void http_end_forget(http_end *end);

/* GET, or POST with a body of this length to come. NULL: it was refused. */
fl_exchange *http_end_get(http_end *end, const char *target);
fl_exchange *http_end_post(http_end *end, int64_t length);
/* 200 with this text. */
void http_end_answer(fl_exchange *exchange, const char *text);
/* An `act` that answers each request when it is whole. */
void http_end_answer_all(http_end *end, http_event event,
                         fl_exchange *exchange);

/* Raw frames: put together in `end->out`, as if the end had written them. */
void http_end_preface(http_end *end);
void http_end_frame(http_end *end, unsigned type, unsigned flags,
                    uint32_t stream, fl_span payload);
/* HEADERS of a plain GET of "/", with END_STREAM or without. */
void http_end_raw_get(http_end *end, uint32_t stream, bool whole);

/* Among the frames that an end wrote: how many there are of a type, and the
 * error code of the last GOAWAY or RST_STREAM, or -1. */
size_t http_end_count(const http_end *end, unsigned type);
int64_t http_end_error(const http_end *end, unsigned type);

#endif
