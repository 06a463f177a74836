/*
 * http1.h - what both sides of an HTTP/1.1 connection have in common.
 *
 * Input that cannot be used yet is held: the beginning of a head, or requests
 * that came before the one in hand was answered. A connection that is freed
 * from within one of its events stays in memory until the call that made the
 * event has unwound; it is `dead` meanwhile, and says nothing any more.
 */
#ifndef FL_WIRE_HTTP1_H
#define FL_WIRE_HTTP1_H

#include "wire/http1_body.h"
#include "wire/http_impl.h"

typedef enum fl_http1_stage {
    FL_HTTP1_AT_HEAD,
    FL_HTTP1_IN_BODY,
    FL_HTTP1_DEAF,   /* input is dropped */
    FL_HTTP1_BEYOND, /* input is not HTTP any more: on_rest */
} fl_http1_stage;

/* First member of both sides. */
typedef struct fl_http1 {
    fl_http http;
    fl_buf *held; /* input that waits; NULL: none does */
    union {
        fl_http1_mark mark; /* AT_HEAD: of what is at the start of `held` */
        fl_http1_body body; /* IN_BODY: that is being read */
    };
    fl_http1_kept *kept; /* its head, if it does not lie in one read with it */
    unsigned pins;       /* calls on the stack that will touch it again */
    uint8_t stage;       /* fl_http1_stage */
    bool dead;
    bool over; /* on_over has been said */
} fl_http1;

/* The next thing to come is a head. */
static inline void fl_http1_await_head(fl_http1 *h)
{
    h->mark = (fl_http1_mark){0};
    h->stage = FL_HTTP1_AT_HEAD;
}

/* How many bytes are held. */
static inline size_t fl_http1_held(const fl_http1 *h)
{
    return h->held != NULL ? fl_buf_len(h->held) : 0;
}

/* Uses up what it can of `in`. True: the rest is the beginning of a head, and
 * more is needed. False: the rest has to wait. */
typedef bool fl_http1_run(fl_http1 *h, fl_span *in);

void fl_http1_init(fl_http1 *h, const fl_http_ops *ops,
                   const fl_http_options *options);

/* Around everything that makes events. */
static inline void fl_http1_enter(fl_http1 *h)
{
    h->pins++;
}
void fl_http1_leave(fl_http1 *h);

/* For the ops table. */
void fl_http1_free(fl_http *http);
/* Of the body nothing is left to come. */
bool fl_http1_is_ending(const fl_exchange *exchange);

/* Runs over what is held and over `bytes`, and holds the rest. FL_E_NOMEM,
 * FL_E_TOO_BIG: it could not be held. */
FL_MUST_USE fl_status fl_http1_take(fl_http1 *h, fl_span bytes,
                                    fl_http1_run *run);

/* Takes all of `in`, which is not HTTP any more. */
void fl_http1_pass(fl_http1 *h, fl_span *in);

/* Says on_over, once. */
void fl_http1_end(fl_http1 *h);

/* Bytes of heap apart from the connection itself. */
size_t fl_http1_held_memory(const fl_http1 *h);

/* Where the head of a message whose body has been set up is to be found until
 * it is whole: in `message`, or in a copy if more input must be waited for.
 * NULL: no memory. */
FL_MUST_USE const fl_head *fl_http1_settle_head(fl_http1 *h,
                                                const fl_http1_message *message,
                                                fl_span text, fl_span rest);

#endif
