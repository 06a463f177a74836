/*
 * http2_impl.h - what the files of HTTP/2 share: the connection, its streams,
 * and the one rule about calls.
 *
 *   http2.c          a connection, and its place among the codecs
 *   http2_in.c       the peer's bytes, cut into frames
 *   http2_control.c  frames about the connection, or about a stream's state
 *   http2_message.c  frames that are parts of messages
 *   http2_head.c     header fields, made into a head
 *   http2_flood.c    what a peer may do how often
 *   http2_window.c   how much either side may send
 *   http2_say.c      what we say: requests, responses, bodies
 *   http2_out.c      frames on their way out
 *   http2_stream.c   the life of one exchange
 *
 * The owner may free the connection from any event, and is told nothing from
 * inside a call that sends. So every function of http.h starts with
 * fl_http2_enter() and ends with fl_http2_leave(): what is to be told or freed
 * waits for the outermost leave.
 */
#ifndef FL_WIRE_HTTP2_IMPL_H
#define FL_WIRE_HTTP2_IMPL_H

#include "base/clock.h"
#include "base/list.h"
#include "wire/hpack.h"
#include "wire/http2_frame.h"
#include "wire/http2_rules.h"
#include "wire/http_impl.h"

typedef struct fl_http2_stream fl_http2_stream;

/* Where among the peer's frames its bytes have stopped. */
typedef struct fl_http2_place {
    fl_http2_frame frame;     /* the one they are in, if `in_frame` */
    uint32_t left;            /* of its payload, padding aside */
    uint32_t padding;         /* left, of a DATA frame */
    uint8_t preface;          /* bytes of it that have come */
    uint8_t have;             /* bytes of `head` */
    char head[FL_HTTP2_HEAD]; /* of the next frame */
    bool in_frame;
    bool in_body;  /* of a DATA frame: the length of its padding is known */
    bool greeted;  /* the first SETTINGS have come */
    bool in_block; /* a head has begun, and not ended */
    uint8_t block_flags;
    uint8_t continuations;
    uint32_t block_stream;
} fl_http2_place;

/* What a peer did in this second: all of it, and what was not made up for. */
typedef struct fl_http2_tally {
    unsigned open;
    unsigned all;
} fl_http2_tally;

typedef struct fl_http2 {
    fl_http base;
    fl_clock clock;
    fl_hpack_reader reader;
    fl_hpack_writer writer;

    fl_list streams;        /* all there are */
    fl_http2_stream **rows; /* by their numbers: chains */
    uint32_t row_bits;
    fl_http2_stream *latest;  /* that was looked for; or NULL */
    fl_http2_stream *telling; /* whose event is being told; or NULL */
    fl_list spares;           /* clean ones, for the next requests */
    size_t spare_count;
    fl_list news;   /* those the owner must be told something about */
    fl_list ready;  /* those that have something to send */
    size_t open;    /* exchanges the owner has */
    size_t running; /* streams that are not closed */

    fl_http2_place place;
    fl_buf in;    /* the payload of a frame that is not whole yet */
    fl_buf block; /* a head that is not whole yet */
    fl_buf held;  /* frames that wait to be written */
    size_t held_count;
    size_t waiting; /* bytes of bodies not framed, and that heads take */

    int64_t window;     /* what we may send, on all streams together */
    int64_t room;       /* what the peer may */
    uint32_t taken;     /* of that, what it need not know yet */
    uint32_t newest;    /* stream of the peer's, */
    uint32_t accepted;  /* and the newest that we have looked at */
    uint32_t next;      /* stream of ours */
    uint32_t to_stream; /* the peer's settings: a stream's first window, */
    uint32_t to_frame;  /* the longest payload, */
    uint32_t to_open;   /* and how many streams */

    uint64_t second;        /* to which the two counts belong */
    fl_http2_tally resets;  /* requests that came to nothing */
    fl_http2_tally control; /* frames that carry nothing */
    uint64_t updates;       /* of windows, that are owed for what we sent */

    const fl_error *why; /* during lose() */
    uint32_t doom;       /* why the connection must end; 0: it need not */
    unsigned depth;      /* calls under way */
    bool client;
    bool known;       /* the peer's settings have come, */
    bool acked;       /* and it knows ours */
    bool busy;        /* nothing is written until drained() */
    bool ended;       /* the peer will say no more */
    bool farewell;    /* the peer has sent GOAWAY */
    bool noticed;     /* shut: the peer has been told to stop */
    bool departed;    /* shut: the last GOAWAY has been sent */
    bool has_connect; /* the peer takes an extended CONNECT */
    bool unranked;    /* the peer knows no priorities */
    bool broken;      /* nothing is read or written any more */
    bool stopped;     /* we have sent what frames may have crossed with */
    bool over;        /* on_over has been told */
    bool freed;       /* by the owner, in the middle of a call */
} fl_http2;

/* One exchange. The owner has it while `owned`, the protocol has it until
 * `closed`; it goes when neither has. */
struct fl_http2_stream {
    fl_exchange base;
    fl_list node;                 /* in streams */
    fl_list news;                 /* in news, or alone */
    fl_list ready;                /* in ready, or alone */
    fl_http2_stream *next_in_row; /* while it is not closed */

    fl_head head;
    fl_field *fields;
    const fl_hpack_entry **held; /* what the head's spans point into */
    uint16_t held_count;
    uint16_t count;
    uint16_t cap; /* of `fields` */
    uint16_t bad; /* a status: what is wrong with the head */
    const char *what;
    size_t list_size; /* RFC 9113 10.5.1, trailers included */
    size_t head_size; /* bytes of memory that the head takes */

    fl_buf out;        /* our body, as far as it has not been framed */
    fl_span lent;      /* the same, if its owner keeps it for us */
    uint64_t left;     /* of it, if `sized` */
    uint64_t expected; /* of the peer's body, if `measured` */
    size_t drain_at;   /* what may wait in `out` when it is not starved */
    int64_t window;    /* what we may send */
    int64_t room;      /* what the peer may */
    uint32_t taken;    /* of that, what it need not know yet */
    uint32_t withheld; /* and must not, while it is paused */
    uint32_t moved;    /* of ours, since it was looked at; or enough */
    uint32_t id;
    uint32_t error;     /* that it was closed with */
    uint8_t pseudo;     /* fields of the head: a bit for each */
    bool malformed : 1; /* the head is no message */
    bool owned : 1;     /* from here on bits, for there may be many */
    bool closed : 1;    /* both sides have ended, or one broke it off */
    bool lost : 1;      /* on_lost is due */
    bool announced : 1; /* on_head or on_bad has been told */
    bool whole : 1;     /* the peer's message is */
    bool measured : 1;  /* it has said how long its body is */
    bool is_head : 1;   /* the method is HEAD */
    bool responded : 1; /* our HEADERS have been said */
    bool sized : 1;     /* we have said how long ours is */
    bool bodiless : 1;  /* END_STREAM goes with our HEADERS */
    bool finished : 1;  /* our message is whole */
    bool sent_end : 1;  /* and has left */
    bool starved : 1;   /* on_writable is wanted */
    bool ours : 1;      /* we broke it off ourselves */
    bool torn : 1;      /* the rest of our body is not there any more */
    bool paused : 1;    /* the owner will have no more for now */
    bool stuck : 1;     /* when it was looked at, its window was shut */
};

/* What a field takes of `fields` and of `held`. */
enum { FL_HTTP2_FIELD_ROOM = sizeof(fl_field) + sizeof(void *) };
/* Fields that there is room for at first; and what a stream takes with that. */
enum {
    FL_HTTP2_FIELDS = 16,
    FL_HTTP2_STREAM_SIZE =
        sizeof(fl_http2_stream) + FL_HTTP2_FIELDS * FL_HTTP2_FIELD_ROOM,
};

static inline fl_http2 *fl_http2_of(const fl_http2_stream *stream)
{
    return (fl_http2 *)(void *)stream->base.http;
}

/* Of our body, what has not been framed. */
static inline size_t fl_http2_unsent(const fl_http2_stream *stream)
{
    return fl_buf_len(&stream->out) + stream->lent.len;
}

/* Whether events about the peer's message may still come. */
static inline bool fl_http2_is_heard(const fl_http2_stream *stream)
{
    return stream->owned && !stream->lost && stream->bad == 0;
}

/* The connection must end, and the peer is told why: the first reason. */
static inline void fl_http2_doom(fl_http2 *h, fl_http2_error why)
{
    if (h->doom == 0)
        h->doom = (uint32_t)why;
}

/* Whether there is any sense in going on. */
static inline bool fl_http2_is_alive(const fl_http2 *h)
{
    return !h->freed && !h->broken && h->doom == 0;
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
void fl_http2_shut(fl_http *http);

/* http2_in.c */
void fl_http2_take(fl_http2 *h, fl_span bytes);
/* Part of the greeting, or of a head, has come, and the rest has not. */
bool fl_http2_in_head(const fl_http2 *h);

/* http2_control.c: whole frames that have passed http2_in.c. */
void fl_http2_on_reset(fl_http2 *h, const fl_http2_frame *frame,
                       fl_span payload);
void fl_http2_on_settings(fl_http2 *h, const fl_http2_frame *frame,
                          fl_span payload);
void fl_http2_on_ping(fl_http2 *h, const fl_http2_frame *frame,
                      fl_span payload);
void fl_http2_on_goaway(fl_http2 *h, const fl_http2_frame *frame,
                        fl_span payload);
void fl_http2_on_update(fl_http2 *h, const fl_http2_frame *frame,
                        fl_span payload);
/* Our own settings, kept to be written first. */
FL_MUST_USE fl_status fl_http2_greet(fl_http2 *h);

/* http2_message.c */
void fl_http2_on_headers(fl_http2 *h, const fl_http2_frame *frame,
                         fl_span payload);
void fl_http2_on_continuation(fl_http2 *h, const fl_http2_frame *frame,
                              fl_span payload);
/* A DATA frame, as it comes: its head; some of its body; its end. Of a stream
 * that is not there, or not any more, nothing is told. */
void fl_http2_on_data(fl_http2 *h, const fl_http2_frame *frame);
void fl_http2_on_body(fl_http2 *h, const fl_http2_frame *frame, fl_span bytes);
void fl_http2_on_data_end(fl_http2 *h, const fl_http2_frame *frame);

/* http2_head.c: one field more, which is the head's from here on. What is
 * wrong is noted in `bad` and `malformed`. False: there is no memory. */
FL_MUST_USE bool fl_http2_head_add(fl_http2_stream *stream,
                                   const fl_hpack_entry *entry);
/* The head is whole, unless it is noted otherwise. */
void fl_http2_head_finish(fl_http2_stream *stream, bool has_body);
/* Forgets it, for the next one or for good. */
void fl_http2_head_drop(fl_http2_stream *stream);

/* http2_flood.c */
void fl_http2_count_frame(fl_http2 *h, const fl_http2_frame *frame);
/* A DATA frame of which nothing is left but padding. */
void fl_http2_count_padding(fl_http2 *h, const fl_http2_frame *frame);
void fl_http2_count_end(fl_http2 *h);
void fl_http2_count_reset(const fl_http2_stream *stream);
void fl_http2_count_refusal(fl_http2 *h);
/* A DATA frame of ours, of so many bytes, has been written. */
void fl_http2_count_sent(const fl_http2_stream *stream, size_t len);

/* http2_window.c */
/* So much comes in a DATA frame; the stream may be NULL. False: it is more
 * than was allowed, of the connection or of the stream: either is seen to. */
FL_MUST_USE bool fl_http2_charge(fl_http2 *h, fl_http2_stream *stream,
                                 uint32_t length);
/* So much of that has been dealt with: the peer may send as much again. */
void fl_http2_refund(fl_http2 *h, fl_http2_stream *stream, uint32_t length);
void fl_http2_refund_withheld(fl_http2_stream *stream);
void fl_http2_pause(fl_exchange *exchange, bool paused);
/* The peer's first window of a stream has changed. */
void fl_http2_rewindow(fl_http2 *h, uint32_t size);
/* So much has left. */
void fl_http2_note_moved(fl_http2_stream *stream, size_t length);
size_t fl_http2_look_for_stuck(fl_http *http, bool end);
/* What of a stream may leave now. */
size_t fl_http2_may_send(const fl_http2_stream *stream, size_t wanted);

/* http2_out.c */
enum { FL_HTTP2_PARTS = 16 }; /* of one write, at most */
/* Frames that must leave, in this order: kept while the writer is busy. */
void fl_http2_put(fl_http2 *h, const fl_span *parts, size_t count);
void fl_http2_put_frame(fl_http2 *h, fl_http2_type type, unsigned flags,
                        uint32_t stream, fl_span payload);
/* The same, of four bytes. */
void fl_http2_put_number(fl_http2 *h, fl_http2_type type, uint32_t stream,
                         uint32_t number);
void fl_http2_put_goaway(fl_http2 *h, uint32_t last, fl_http2_error why);
/* What was kept. */
void fl_http2_put_held(fl_http2 *h);
/* It has something to send. */
void fl_http2_make_ready(fl_http2_stream *stream);
/* Bodies, as far as windows and the writer allow. */
void fl_http2_pump(fl_http2 *h);
/* One frame of body, all of it or nothing: false if it cannot leave now. */
FL_MUST_USE bool fl_http2_put_data(fl_http2_stream *stream,
                                   const fl_span *parts, size_t count,
                                   bool ends);
/* A frame of so many bytes of body has left by another way. */
void fl_http2_sent_data(fl_http2_stream *stream, size_t length);
void fl_http2_drain_at(fl_exchange *exchange, size_t level);

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

/* http2_stream.c */
FL_MUST_USE fl_http2_stream *fl_http2_stream_new(fl_http2 *h, uint32_t id);
void fl_http2_stream_free(fl_http2_stream *stream);
/* What is kept for the next ones goes. */
void fl_http2_stream_free_spares(fl_http2 *h);
/* NULL: it was never opened, or it is closed. */
fl_http2_stream *fl_http2_find(fl_http2 *h, uint32_t id);
/* Nobody has used this number yet. */
bool fl_http2_is_idle(const fl_http2 *h, uint32_t id);
/* The owner is done with it. */
void fl_http2_stream_release(fl_http2_stream *stream);
/* The peer broke it off, or its connection did. */
void fl_http2_stream_close(fl_http2_stream *stream, uint32_t error);
/* We do, with RST_STREAM. */
void fl_http2_stream_break(fl_http2_stream *stream, fl_http2_error why);
/* Closes it if both sides have ended, or if we have and need no more of what
 * the peer says (RFC 9113 8.1), and frees it if nobody has it. */
void fl_http2_stream_settle(fl_http2_stream *stream);
/* The owner is to be told that it came to nothing. */
void fl_http2_stream_lose(fl_http2_stream *stream, uint32_t error);
/* What was lent is lent no more. */
void fl_http2_give_back(fl_http2_stream *stream);
/* Of what is in `out`, so much has left, or all of it never will. */
void fl_http2_stream_sent(fl_http2_stream *stream, size_t n);
void fl_http2_stream_drop_out(fl_http2_stream *stream);
/* Tells all news; false if there were none. */
bool fl_http2_tell(fl_http2 *h);

#endif
