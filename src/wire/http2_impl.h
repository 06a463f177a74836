/*
 * http2_impl.h - what the files of HTTP/2 share: the connection, its streams,
 * and the one rule about calls.
 *
 * nghttp2 may not be called back into from its own callbacks, and the owner
 * may free the connection from any event. So every function of http.h starts
 * with fl_http2_enter() and ends with fl_http2_leave(): what is to be written,
 * told or freed waits for the outermost leave.
 */
#ifndef FL_WIRE_HTTP2_IMPL_H
#define FL_WIRE_HTTP2_IMPL_H

#include "base/clock.h"
#include "base/list.h"
#include "wire/http_impl.h"

#include <nghttp2/nghttp2.h>

/* Where among the peer's frames its bytes have stopped. */
typedef struct fl_http2_place {
    size_t left;     /* of the preface, or of a frame's payload */
    uint8_t head[9]; /* of a frame */
    uint8_t have;    /* of these nine */
    bool begun;      /* something has come */
    bool greeted;    /* the preface has, and the SETTINGS after it */
    bool in_block;   /* a head has begun, and not ended */
} fl_http2_place;

/* Blocks of up to so many steps are kept when nghttp2 gives them back. */
enum { FL_HTTP2_STEP = 64, FL_HTTP2_STEPS = 32 };

/* Pseudo fields whose values are kept. */
enum { FL_HTTP2_PSEUDO = 4 };

typedef struct fl_http2 {
    fl_http base;
    nghttp2_session *session;
    fl_clock clock;
    fl_list streams; /* all there are */
    fl_list spares;  /* clean ones, for a client's next requests */
    size_t spare_count;
    fl_list news;   /* those the owner must be told something about */
    size_t open;    /* exchanges the owner has */
    size_t running; /* streams that nghttp2 has */
    fl_buf held;    /* frames that `write` was too busy to take */
    fl_list blocks; /* what nghttp2 has allocated, and what is kept of it */
    size_t heap;    /* how much that is */
    size_t spare;   /* of it, what is kept */
    struct fl_http2_block *spare_blocks[FL_HTTP2_STEPS];

    struct fl_http2_stream *latest; /* that was looked for; or NULL */
    size_t gathered; /* bytes of ours, about, that nghttp2 has not been asked
                        for */
    unsigned heads;  /* that we said */

    uint64_t second;  /* to which the two counts belong */
    unsigned resets;  /* requests that came to nothing */
    unsigned control; /* frames that carry nothing */
    uint64_t updates; /* of windows, that are owed for what we sent */
    fl_http2_place place;

    const fl_error *why; /* during lose() */
    uint32_t doom;       /* why the connection must end; 0: it need not */
    unsigned depth;      /* calls under way */
    int32_t newest;      /* request's stream */
    bool client;
    bool gathers;
    bool owing;     /* on_held was told: what is gathered will be asked for */
    bool busy;      /* nothing is written until drained() */
    bool ended;     /* the peer will say no more */
    bool noticed;   /* shut: the peer has been told to stop */
    bool departed;  /* shut: GOAWAY is on its way */
    bool exhausted; /* nghttp2 was refused memory: it is not called again */
    bool broken;    /* nothing is read or written any more */
    bool stopped;   /* we have sent a RST_STREAM */
    bool over;      /* on_over has been told */
    bool freed;     /* by the owner, in the middle of a call */
} fl_http2;

/* One exchange. The owner has it while `owned`, nghttp2 has it until `closed`;
 * it goes when neither has. */
typedef struct fl_http2_stream {
    fl_exchange base;
    fl_list node; /* in streams */
    fl_list news; /* in news, or alone */

    fl_head head;
    fl_field *fields;
    nghttp2_rcbuf **held; /* what the head's spans point into */
    uint16_t held_count;
    uint16_t count;
    uint16_t cap; /* of `fields` */
    uint16_t bad; /* a status: what is wrong with the head */
    const char *what;
    size_t list_size; /* RFC 9113 10.5.1, trailers included */

    fl_buf out;    /* our body, as far as it has not been framed */
    fl_span lent;  /* the same, if its owner keeps it for us */
    uint64_t left; /* of it, if `sized` */
    int32_t id;
    uint32_t error;  /* that it was closed with */
    size_t withheld; /* of the peer's window, while it is paused */
    size_t drain_at; /* what may wait in `out` when it is not starved */

    bool owned;
    bool closed;
    bool lost;      /* on_lost is due */
    bool announced; /* on_head or on_bad has been told */
    bool whole;     /* the peer's message is */
    bool is_head;   /* the method is HEAD */
    bool responded;
    bool sized;
    bool bodiless; /* END_STREAM goes with our HEADERS */
    bool finished; /* our message is whole */
    bool deferred; /* nghttp2 waits for more of it */
    bool starved;  /* on_writable is wanted */
    bool ours;     /* we broke it off ourselves */
    bool torn;     /* the rest of our body is not there any more */
    bool paused;   /* the owner will have no more for now */
} fl_http2_stream;

static inline fl_http2 *fl_http2_of(const fl_http2_stream *stream)
{
    return (fl_http2 *)(void *)stream->base.http;
}

/* Of our body, what has not been framed. */
static inline size_t fl_http2_unsent(const fl_http2_stream *stream)
{
    return fl_buf_len(&stream->out) + stream->lent.len;
}

/* What was lent is lent no more. */
static inline void fl_http2_give_back(fl_http2_stream *stream)
{
    stream->torn = stream->torn || stream->lent.len > 0;
    stream->lent = (fl_span){0};
}

/* http2.c */
static inline void fl_http2_enter(fl_http2 *h)
{
    h->depth++;
}
/* Writes what is due, tells what may be told now, frees what was freed. */
void fl_http2_leave(fl_http2 *h, bool may_tell);
/* shut: the last GOAWAY. */
void fl_http2_depart(fl_http2 *h);
/* Counts one more; past `max` in one second the connection is doomed. */
bool fl_http2_overdone(fl_http2 *h, unsigned *count, unsigned max);

/* http2_stream.c */
FL_MUST_USE fl_http2_stream *fl_http2_stream_new(fl_http2 *h);
void fl_http2_stream_free(fl_http2_stream *stream);
void fl_http2_stream_free_spares(fl_http2 *h);
/* The owner is done with it. */
void fl_http2_stream_release(fl_http2_stream *stream);
/* nghttp2 is done with it. */
void fl_http2_stream_close(fl_http2_stream *stream, uint32_t error);
/* The owner is to be told that it came to nothing. */
void fl_http2_stream_lose(fl_http2_stream *stream, uint32_t error);
/* Tells all news; false if there were none. */
bool fl_http2_tell(fl_http2 *h);

/* http2_head.c: one field more; FL_E_NOMEM costs the stream. What else is
 * wrong is noted in `bad`. */
FL_MUST_USE fl_status fl_http2_head_add(fl_http2_stream *stream,
                                        nghttp2_rcbuf *name,
                                        nghttp2_rcbuf *value);
/* The head is whole, unless `bad` says otherwise. */
void fl_http2_head_finish(fl_http2_stream *stream, bool has_body);
/* Forgets it, for the next one or for good. */
void fl_http2_head_drop(fl_http2_stream *stream);

/* http2_place.c */
void fl_http2_place_init(fl_http2_place *place);
void fl_http2_place_feed(fl_http2_place *place, fl_span bytes);
/* Part of the greeting, or of a head, has come, and the rest has not. */
bool fl_http2_place_in_head(const fl_http2_place *place);

/* http2_in.c */
void fl_http2_listen(nghttp2_session_callbacks *callbacks);
void fl_http2_pause(fl_exchange *exchange, bool paused);

/* http2_session.c */
FL_MUST_USE fl_status fl_http2_session_open(fl_http2 *h);
void fl_http2_session_close(fl_http2 *h);

/* http2_out.c */
/* nghttp2's way to a stream's body. */
ssize_t fl_http2_read(nghttp2_session *session, int32_t id, uint8_t *to,
                      size_t length, uint32_t *flags,
                      nghttp2_data_source *source, void *user);
void fl_http2_drain_at(fl_exchange *exchange, size_t level);
void fl_http2_pull(fl_http2 *h);
void fl_http2_write_held(fl_http2 *h, bool urgent);

/* http2_say.c */
FL_MUST_USE fl_status fl_http2_request(fl_http *http, const fl_heading *heading,
                                       void *exchange_user, fl_exchange **out);
FL_MUST_USE fl_status fl_http2_ask(fl_http *http, const fl_heading *heading,
                                   fl_span body, void *exchange_user,
                                   fl_exchange **out);
FL_MUST_USE fl_status fl_http2_respond(fl_exchange *exchange,
                                       const fl_heading *heading);
FL_MUST_USE fl_status fl_http2_send(fl_exchange *exchange, const fl_span *parts,
                                    size_t count, bool urgent);
void fl_http2_finish(fl_exchange *exchange);
FL_MUST_USE fl_status fl_http2_answer(fl_exchange *exchange,
                                      const fl_heading *heading,
                                      const fl_span *parts, size_t count);
void fl_http2_reset(fl_exchange *exchange);
bool fl_http2_available(const fl_http *http);

#endif
