/*
 * oracle.h - nghttp2's opinion, for fuzz_http2_nghttp2.c, where ours is a
 * server, and for fuzz_http2_answers.c, where it is a client.
 *
 *   oracle.c           bytes for both, and what both have made of them
 *   oracle_server.c    a judge that reads what our server reads
 *   oracle_client.c    a judge that reads what our client reads
 *   oracle_listener.c  either side, hearing what ours says
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

/* What clients ask for, in turn. */
typedef enum question {
    GET,
    POST,
    HEAD,
    ENDLESS, /* a POST whose body has begun, and does not end */
    QUESTIONS,
} question;

enum { INPUT_MAX = 4096, MESSAGES_MAX = INPUT_MAX / FL_HTTP2_HEAD };
enum { PLENTY = 1000000 };

/* Of ours, and of theirs. */
#define BODY_TEXT "A body, which small windows cut into pieces."

typedef enum part {
    METHOD,
    PATH,
    AUTHORITY,
    PROTOCOL,
    STATUS,
    FIELDS,
    BODY,
    PARTS,
} part;

/* What was seen of a request, or of the response to one, summed up. What the
 * judge alone knows is about the exchange. */
typedef struct message {
    uint32_t id;
    bool whole;
    bool is_head;       /* judge: the method is HEAD */
    bool is_endless;    /* judge: its own body is */
    bool has_authority; /* judge: it need not be had from Host */
    bool in_trailers;   /* judge: what is being read are those */
    bool is_excused;    /* judge: we need not refuse it */
    bool is_odd;        /* judge: we need not take it */
    unsigned status;    /* judge: of the newest head, interim or not */
    uint64_t kinds;     /* judge: of fields in it, a bit for each we know */
    size_t field_count; /* judge: of fields in it */
    size_t list_size;   /* judge: of all heads, as in RFC 9113 6.5.2 */
    size_t given;       /* judge: of its own body */
    uint64_t sums[PARTS];
} message;

typedef struct view {
    message list[MESSAGES_MAX];
    size_t count;
} view;

static inline void require(bool fact)
{
    if (!fact)
        abort();
}

/* Some of the body, whose pieces are not always the same. */
void message_mix(message *m, part which, fl_span bytes);
/* A whole string. */
void message_add(message *m, part which, fl_span bytes);
message *view_find(view *v, uint32_t id);
message *view_begin(view *v, uint32_t id);
/* Each message that one has whole, the other has, too, and it is the same. */
void view_compare(const view *one, view *other);

/* The next frame of these bytes, or what there is of it. */
fl_span first_frame(fl_span bytes);
/* In pieces of so many bytes. */
void feed_ours(fl_http *http, fl_span bytes, size_t step);
/* How the input is cut the second time: bits 5 to 7, as in fuzz_http2.c. */
size_t piece_of(unsigned how);
/* What ends the connection for nghttp2 and not for us, on purpose, whoever
 * says it. With such a frame the trial is over. */
bool is_forgiven(const fl_http2_frame *frame, fl_span payload);

/* One that gets what ours gets. */
typedef struct oracle_judge {
    unsigned how;
    const fl_http_limits *limits;
    nghttp2_session *session;
    view seen;
    message *reading; /* whose head it is that comes */
    bool over;        /* the connection is at its end, by an error */
} oracle_judge;

nghttp2_option *oracle_options(void);
/* What a session has to say is said, and nobody hears it. */
void oracle_flush(nghttp2_session *session);
/* With settings as ours, of which some are those of its side. */
void oracle_settle(nghttp2_session *session, const fl_http_limits *limits,
                   const nghttp2_settings_entry *more, size_t count);
/* What both kinds of judges do alike. */
nghttp2_session_callbacks *oracle_judge_callbacks(void);
nghttp2_data_provider oracle_body(message *m);
/* A field of trailers. */
void oracle_judge_trailer(message *m, fl_span name);
void oracle_judge_feed(oracle_judge *judge, fl_span bytes);

bool is_answered(unsigned how, uint32_t id);
void oracle_server_open(oracle_judge *judge, const fl_http_limits *limits);

question question_of(unsigned how, uint32_t id);
fl_span method_of(question what);
void oracle_client_open(oracle_judge *judge, const fl_http_limits *limits);
/* The next request. False: it cannot make it now. */
bool oracle_client_ask(oracle_judge *judge);

/* One that hears what ours says, and may find no fault with it. */
typedef struct oracle_listener {
    nghttp2_session *session;
    bool is_server;
    uint32_t newest;               /* client: that it has asked for */
    bool lost;                     /* client: it cannot judge any more */
    size_t settings;               /* that ours has not acknowledged */
    uint32_t resets[MESSAGES_MAX]; /* streams that ours has reset */
    size_t reset_count;
} oracle_listener;

/* Its side, and the payload of the SETTINGS that ours gets first. */
void oracle_listener_open(oracle_listener *listener, bool is_server,
                          fl_span settings);
/* A client: it has made a request that ours has got; GET or HEAD is what
 * matters. */
void oracle_listener_ask(oracle_listener *listener, uint32_t id, bool is_head);
/* It has sent a frame that ours has got, as far as what we say depends on it:
 * settings, windows and resets. */
void oracle_listener_send(oracle_listener *listener,
                          const fl_http2_frame *frame, fl_span payload);
/* Whole frames of ours. */
void oracle_listener_hear(oracle_listener *listener, fl_span said);
/* Whether a RST_STREAM of ours was among them. */
bool oracle_listener_lost(const oracle_listener *listener, uint32_t id);

#endif
