/*
 * http.h - one HTTP connection without I/O, as either side, in either version.
 *
 * Bytes from the peer go in with fl_http_feed(); what they mean comes out as
 * events; what we say goes out through the `write` event. HTTP/1.1 and HTTP/2
 * make the same events, so that nothing above this room knows which it is.
 *
 * An exchange is one request with its response. On a server it is made by the
 * peer and is ours until fl_exchange_finish(), fl_exchange_reset() or on_lost;
 * on a client fl_http_request() makes it, and it is ours until on_end,
 * fl_exchange_reset() or on_lost. After that it must not be touched, and no
 * event about it comes.
 *
 * Events come from within fl_http_feed(), fl_http_end_input(),
 * fl_http_drained() and fl_http_lose(), never from within a call that sends,
 * on_pause, on_held and on_over aside. The codec may be freed from any event:
 * it sees to it that nothing is touched afterwards.
 */
#ifndef FL_WIRE_HTTP_H
#define FL_WIRE_HTTP_H

#include "base/clock.h"
#include "wire/field.h"

typedef struct fl_http fl_http;
typedef struct fl_http_recall fl_http_recall;
typedef struct fl_exchange fl_exchange;

enum {
    FL_HTTP_FIELDS_MAX = 128, /* in one head, whatever the limits say */
    FL_HTTP_STREAMED = -1,    /* a body whose length is not known before */
    /* HTTP/2: bytes of many exchanges that are worth a write of their own.
     * Somebody waits for answers, and may ask again when he has some; measured:
     * with 2 KiB for either a tenth fewer calls pass a gateway, 64 at a time */
    FL_HTTP2_ASKS = 8192,
    FL_HTTP2_ANSWERS = 4096,
};

typedef struct fl_http_limits {
    size_t max_head;      /* bytes of a head, all lines; 32 KiB: 431 */
    size_t max_target;    /* of the request target in it; 8 KiB: 414 */
    unsigned max_fields;  /* 100, and FL_HTTP_FIELDS_MAX at most: 431 */
    unsigned max_streams; /* HTTP/2: requests at one time; 100 */
    unsigned max_resets;  /* HTTP/2: requests the peer may take back per
                             second before it is turned away; 100 */
    unsigned max_control; /* HTTP/2: frames that carry nothing (PING, SETTINGS,
                             PRIORITY, unknown ones) per second; 100 */
    size_t high_water;    /* HTTP/2: bytes of one response waiting for its
                             window at which sending says FL_BUSY; 256 KiB */
    size_t max_message;   /* HTTP/2: the longest part of a body that is sent at
                             once, and may wait whole; 16 MiB */
    bool take_connect;    /* HTTP/2 server: offer extended CONNECT: a request
                             with a :protocol, which may be answered with a
                             streamed 200 before it has ended, and then goes
                             on in both directions */
    fl_http_recall *recall; /* HTTP/1.1 server: how heads begin; NULL: not kept.
                               No limit, but shared just like them */
} fl_http_limits;

/* What a connection can go by: defaults in place of zeroes, and no more than
 * can be. NULL: all are defaults. */
fl_http_limits fl_http_limits_fill(const fl_http_limits *given);

/* What a head says, as received. Good until the on_end of its message has
 * returned (fl_exchange_head() finds it until then), values and all. */
typedef struct fl_head {
    unsigned version;  /* 10, 11 or 20 */
    fl_span method;    /* requests: a token, in its own case */
    fl_span target;    /* requests: origin form, from the "/" on; "*" for
                          OPTIONS; other forms have been reduced to it */
    fl_span authority; /* requests: HOST[:PORT], from :authority, an absolute
                          target or Host; empty in HTTP/1.0 */
    fl_span protocol;  /* HTTP/2, with CONNECT: its :protocol (RFC 8441), and
                          `target` is a path; empty: none */
    unsigned status;   /* responses: 200 to 999, or 101 */
    bool has_body;     /* more than nothing may come */
    bool has_length;
    uint64_t length; /* of the body, if has_length */
    const fl_field *fields;
    size_t count;
    uint8_t at[FL_FIELD_COUNT]; /* index + 1 of the first of a kind, or 0 */
} fl_head;

/* The first value of this kind; {NULL, 0} when absent, {"", 0} when empty. */
static inline fl_span fl_head_get(const fl_head *head, fl_field_id id)
{
    return head->at[id] != 0 ? head->fields[head->at[id] - 1].value
                             : (fl_span){0};
}

static inline bool fl_head_has(const fl_head *head, fl_field_id id)
{
    return head->at[id] != 0;
}

/* By name, for fields we do not know by number. */
fl_span fl_head_find(const fl_head *head, fl_span name);

/* Whether a field like Connection lists `token`, on any of its lines. */
bool fl_head_lists(const fl_head *head, fl_field_id id, fl_span token);

/* What we say at the start of a message. Content-Length, Transfer-Encoding,
 * Connection and the like are the codec's business: leave them out. */
typedef struct fl_heading {
    unsigned status; /* of a response */
    fl_span method;  /* of a request: not empty */
    fl_span target;  /* starts with "/"; absolute form for a plain proxy,
                        HOST:PORT for CONNECT */
    fl_span scheme;  /* of a request: "http" or "https" */
    fl_span authority;
    const fl_fields *common; /* prepared ones, first; or NULL */
    const fl_fields *own;   /* prepared for this message alone, next; or NULL */
    const fl_field *fields; /* names in lower case */
    size_t count;
    int64_t length; /* of the body; FL_HTTP_STREAMED */
    bool close;     /* the connection ends after this exchange */
} fl_heading;

typedef struct fl_http_events {
    /* Bytes for the peer, all or nothing. `urgent` passes the high water mark.
     * FL_OK, FL_BUSY (not when urgent) or what is wrong. */
    fl_status (*write)(void *user, const fl_span *parts, size_t count,
                       bool urgent);

    /* A whole head: on a server a request's, and the exchange is new: give it
     * its `user` with fl_exchange_set_user(). It may be answered here and now:
     * then the rest of the request is dropped. On a client the response's. */
    void (*on_head)(fl_exchange *exchange, const fl_head *head, void *user);
    /* Good for this call only, or, if fl_exchange_is_ending(), until on_end has
     * returned. */
    void (*on_body)(fl_exchange *exchange, fl_span bytes, void *user);
    /* The message is whole. */
    void (*on_end)(fl_exchange *exchange, void *user);

    /* Server: what came is no request. Answer with `status` and finish; the
     * connection ends after that. `what` is static text. The exchange is new
     * and has no head, or it is one whose body went wrong. HTTP/2 tells the
     * peer by itself, with this or without. */
    void (*on_bad)(fl_exchange *exchange, unsigned status, const char *what,
                   void *user);

    /* HTTP/1.1, after a 101 that ended its exchange (or, on a client, after a
     * CONNECT that succeeded): bytes that are not HTTP any more. NULL: they
     * are dropped. */
    void (*on_rest)(fl_span bytes, void *user);

    /* The peer took it back, or the connection broke, before it was whole. */
    void (*on_lost)(fl_exchange *exchange, const fl_error *why, void *user);

    /* Room again after fl_exchange_send() said FL_BUSY. */
    void (*on_writable)(fl_exchange *exchange, void *user);

    /* Stop reading from the peer, or go on. */
    void (*on_pause)(bool paused, void *user);

    /* HTTP/1.1: input is being held back, and an exchange that stood in its way
     * has ended: call fl_http_feed() with nothing, from a fresh stack. */
    void (*on_held)(void *user);

    /* Nothing more will be said: let what was written leave, then close. */
    void (*on_over)(void *user);
} fl_http_events;

typedef struct fl_http_options {
    unsigned version; /* 11 or 20 */
    bool client;
    const fl_http_limits *limits; /* filled, and kept; NULL: the defaults */
    const fl_http_events *events; /* kept */
    void *user;
    const fl_clock *clock; /* copied; NULL: the system's */
} fl_http_options;

/* How heads begin, for all servers on one thread that share it: what they have
 * in common is read once. NULL: no memory. Free it after them. */
FL_MUST_USE fl_http_recall *fl_http_recall_new(void);
void fl_http_recall_free(fl_http_recall *recall);

FL_MUST_USE fl_status fl_http_new(const fl_http_options *options,
                                  fl_http **out);
/* Whatever is still open ends without a word. */
void fl_http_free(fl_http *http);

/* Which version a client speaks that did not say so by ALPN, from its first
 * bytes: 11 or 20 (RFC 9113 3.3, prior knowledge), or 0: more are needed. */
unsigned fl_http_sniff(fl_span first);

/* Bytes from the peer, good for this call only. May be empty: see on_held. */
void fl_http_feed(fl_http *http, fl_span bytes);

/* The peer has ended its side; what is whole is still answered. */
void fl_http_end_input(fl_http *http);

/* What waited for the peer has left: go on writing. */
void fl_http_drained(fl_http *http);

/* The connection broke: every exchange gets on_lost. */
void fl_http_lose(fl_http *http, const fl_error *why);

/* Server: takes no new requests, finishes what is open, then on_over. */
void fl_http_shut(fl_http *http);

/* Whether part of a head has come, and the rest has not. */
bool fl_http_in_head(const fl_http *http);

/* Server: the rest of a head was waited for long enough. HTTP/1.1 says so with
 * on_bad, HTTP/2 ends the connection. False: there is no such head. */
bool fl_http_give_up(fl_http *http, unsigned status, const char *what);

/* After on_over: the peer was in the middle of saying something. Unless that is
 * read away, what we said last may never reach it. */
bool fl_http_was_cut(const fl_http *http);

/* How many exchanges are open. */
size_t fl_http_open(const fl_http *http);

/* Client: whether fl_http_request() could make one more now. */
bool fl_http_available(const fl_http *http);

/* Bytes of heap it holds, the object included. */
size_t fl_http_memory(const fl_http *http);

/* Of these, what waits: ours until the peer takes it, the peer's until the rest
 * of it comes, and the exchanges themselves. HTTP/2; what HTTP/1.1 has to say
 * is written at once. */
size_t fl_http_waiting(const fl_http *http);

/*
 * HTTP/2: looks at what the peer keeps waiting behind windows that it leaves
 * shut. With `end`, what waited so at the last look, and has hardly moved
 * since, is broken off, and told; without it nothing is told. Says how many
 * exchanges were broken off.
 */
size_t fl_http_look_for_stuck(fl_http *http, bool end);

/*
 * Client: starts an exchange. FL_BUSY: not now (HTTP/1.1: one at a time;
 * HTTP/2: the peer's limit). FL_E_STATE: the connection takes no more.
 * FL_E_INVALID: a field or target that may not be sent. With length 0 the
 * request is whole; otherwise send the body, then fl_exchange_finish().
 */
FL_MUST_USE fl_status fl_http_request(fl_http *http, const fl_heading *heading,
                                      void *exchange_user, fl_exchange **out);

/* The same with the whole body, in one write: nothing is left to send. The body
 * is lent, and must stay as it is until the exchange is over. `heading->length`
 * is set by this. */
FL_MUST_USE fl_status fl_http_ask(fl_http *http, const fl_heading *heading,
                                  fl_span body, void *exchange_user,
                                  fl_exchange **out);

/* Server: the response's head. With length 0 too it wants a finish. Once. A
 * body is left out by itself where there must be none (HEAD, 204, 304). */
FL_MUST_USE fl_status fl_exchange_respond(fl_exchange *exchange,
                                          const fl_heading *heading);

/* More of our body. FL_BUSY: nothing was taken, wait for on_writable. `urgent`
 * is never busy. */
FL_MUST_USE fl_status fl_exchange_send(fl_exchange *exchange,
                                       const fl_span *parts, size_t count,
                                       bool urgent);

/* Our message is whole. On a server that ends the exchange. */
void fl_exchange_finish(fl_exchange *exchange);

/* All three at once, in one write: a server's whole answer. `heading->length`
 * is set by this. On failure the exchange is still ours, and unanswered. */
FL_MUST_USE fl_status fl_exchange_answer(fl_exchange *exchange,
                                         const fl_heading *heading,
                                         const fl_span *parts, size_t count);

/* Breaks it off: RST_STREAM, or the end of an HTTP/1.1 connection. */
void fl_exchange_reset(fl_exchange *exchange);

/* Has the peer keep the rest of its message, or go on: what it has sent by
 * then still comes, at most a window of it in HTTP/2. HTTP/1.1 asks for it
 * with on_pause. Over when the exchange is. */
void fl_exchange_pause(fl_exchange *exchange, bool paused);

/* HTTP/2: on_writable is to come when what the peer has not taken, which is
 * more, has fallen to `level`, once, although nothing was refused: for who has
 * a high water mark of his own. */
void fl_exchange_drain_at(fl_exchange *exchange, size_t level);

/* From within on_body: these bytes are the last, and on_end comes before
 * anything else. */
bool fl_exchange_is_ending(const fl_exchange *exchange);

/* Bytes of our body the peer has not taken from us yet (HTTP/2 windows). */
size_t fl_exchange_pending(const fl_exchange *exchange);

/* Good until on_end has returned; NULL when there is none yet, or any more. */
const fl_head *fl_exchange_head(const fl_exchange *exchange);

void fl_exchange_set_user(fl_exchange *exchange, void *user);
void *fl_exchange_user(const fl_exchange *exchange);

/* "Not Found", for HTTP/1.1 and for people; "Unknown" if it is. */
const char *fl_http_reason(unsigned status);

#endif
