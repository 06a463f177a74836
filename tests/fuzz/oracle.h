/*
 * oracle.h - nghttp2's opinion, for fuzz_http2_nghttp2.c: a server that reads
 * what ours reads, and a client that reads what ours says.
 */
#ifndef TESTS_FUZZ_ORACLE_H
#define TESTS_FUZZ_ORACLE_H

#include "wire/http.h"
#include "wire/http2_frame.h"

#include <nghttp2/nghttp2.h>
#include <stdlib.h>

/* How servers answer. */
enum {
    WITH_BODY = 1,    /* answers have one */
    WITH_CONNECT = 2, /* an extended CONNECT is offered */
    SLOW = 4,         /* every fourth request is not answered */
};

enum { INPUT_MAX = 4096, REQUESTS_MAX = INPUT_MAX / FL_HTTP2_HEAD };
enum { PLENTY = 1000000 };

/* Of an answer. */
#define BODY_TEXT "An answer, which small windows cut into pieces."

typedef enum part {
    METHOD,
    PATH,
    AUTHORITY,
    PROTOCOL,
    FIELDS,
    BODY,
    PARTS,
} part;

/* What was seen of a request, summed up. */
typedef struct request {
    uint32_t id;
    bool whole;
    bool is_head;       /* theirs: the method is HEAD */
    bool has_authority; /* theirs: it need not be had from Host */
    size_t given;       /* theirs: of the answer's body */
    uint64_t sums[PARTS];
} request;

typedef struct view {
    request list[REQUESTS_MAX];
    size_t count;
} view;

static inline void require(bool fact)
{
    if (!fact)
        abort();
}

/* Some of the body, whose pieces are not always the same. */
static inline void request_mix(request *r, part which, fl_span bytes)
{
    uint64_t *sum = &r->sums[which];

    for (size_t i = 0; i < bytes.len; i++)
        *sum = (*sum ^ (unsigned char)bytes.ptr[i]) * 0x100000001b3u;
}

/* A whole string. */
static inline void request_add(request *r, part which, fl_span bytes)
{
    r->sums[which] += 1 + bytes.len;
    request_mix(r, which, bytes);
}

static inline request *view_find(view *v, uint32_t id)
{
    for (size_t i = v->count; i > 0; i--)
        if (v->list[i - 1].id == id)
            return &v->list[i - 1];
    return NULL;
}

static inline request *view_begin(view *v, uint32_t id)
{
    require(v->count < REQUESTS_MAX && view_find(v, id) == NULL);
    request *r = &v->list[v->count++];
    *r = (request){.id = id, .sums[BODY] = 1};
    return r;
}

static inline bool is_answered(unsigned how, uint32_t id)
{
    return (how & SLOW) == 0 || id / 2 % 4 != 3;
}

nghttp2_option *oracle_options(void);
/* What a session has to say is said, and nobody hears it. */
void oracle_flush(nghttp2_session *session);

/* A server. */
typedef struct oracle_server {
    unsigned how;
    nghttp2_session *session;
    view seen;
    bool over; /* the connection is at its end, by an error */
} oracle_server;

/* With settings as ours. */
void oracle_server_open(oracle_server *server, const fl_http_limits *limits);
void oracle_server_feed(oracle_server *server, fl_span bytes);

/* A client, which may find no fault with what it hears. */
typedef struct oracle_client {
    nghttp2_session *session;
    uint32_t newest;               /* that it has asked for */
    bool lost;                     /* it does not know enough to judge */
    uint32_t resets[REQUESTS_MAX]; /* streams that ours has reset */
    size_t reset_count;
} oracle_client;

void oracle_client_open(oracle_client *client);
/* It has made a request that ours has got; GET or HEAD is what matters. */
void oracle_client_ask(oracle_client *client, uint32_t id, bool is_head);
/* It has sent a frame that ours has got, as far as what we say depends on it:
 * settings, windows and resets. */
void oracle_client_send(const oracle_client *client,
                        const fl_http2_frame *frame, fl_span payload);
/* Whole frames of ours. */
void oracle_client_hear(oracle_client *client, fl_span said);
/* Whether a RST_STREAM of ours was among them. */
bool oracle_client_lost(const oracle_client *client, uint32_t id);

#endif
