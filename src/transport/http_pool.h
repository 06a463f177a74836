/*
 * http_pool.h - the connections of one HTTP client to one server.
 *
 * Whoever wants something of the server embeds a call, and starts it. The pool
 * finds it a connection: one that is idle, one of HTTP/2 with room on it, or a
 * new one. So many are kept open when idle, some more are made at need; when
 * those are in use, too, starting says FL_BUSY.
 *
 * Urgent calls are never told so, for what they carry others are waiting for:
 * if answers had to queue behind the streams that wait for them, nothing would
 * move any more. They may double the number of connections; past that they
 * wait for their turn.
 */
#ifndef FL_TRANSPORT_HTTP_POOL_H
#define FL_TRANSPORT_HTTP_POOL_H

#include "base/list.h"
#include "io/connect.h"
#include "io/timer.h"
#include "wire/http.h"

typedef struct fl_dial fl_dial;
typedef struct fl_http_pool fl_http_pool;
typedef struct fl_http_call fl_http_call;

/* What a server may have made of a call that was lost. */
typedef enum fl_http_loss {
    FL_HTTP_LOSS_SENT,     /* perhaps it has acted on it: hands off */
    FL_HTTP_LOSS_UNSENT,   /* it cannot have: try again */
    FL_HTTP_LOSS_UNLINKED, /* nor was there a connection: try again later */
} fl_http_loss;

typedef struct fl_http_call_events {
    void (*on_head)(fl_http_call *call, const fl_head *head);
    void (*on_body)(fl_http_call *call, fl_span bytes);
    /* The response is whole; the call is over and may be started again. */
    void (*on_end)(fl_http_call *call);
    /* Likewise, but it is not. */
    void (*on_lost)(fl_http_call *call, const fl_error *why, fl_http_loss loss);
} fl_http_call_events;

/* Embedded in its owner. What heading and body point to must stay until the
 * call is over. */
struct fl_http_call {
    const fl_http_call_events *events;
    fl_heading heading;
    fl_span body;
    bool urgent;
    /* The rest is the pool's. Zero when it is not under way. */
    fl_list node; /* in `waiting`; unset before the first start */
    fl_http_pool *pool;
    fl_dial *dial;
    fl_exchange *exchange;
};

typedef struct fl_http_pool_options {
    fl_connect_options connect; /* strings are copied, tls is shared */
    unsigned version;           /* 11, 20, or 0: as ALPN says */
    unsigned keep, overflow;
    void (*on_room)(void *user); /* after a start said FL_BUSY */
    void (*on_gone)(void *user); /* closed; free it. Always later */
    void *user;
} fl_http_pool_options;

FL_MUST_USE fl_status fl_http_pool_new(fl_loop *loop,
                                       const fl_http_pool_options *options,
                                       fl_http_pool **out);

/* No call may be under way. What was written leaves first, for a moment. */
void fl_http_pool_close(fl_http_pool *pool);
/* Never used, or gone. */
void fl_http_pool_free(fl_http_pool *pool);

/* FL_OK, FL_BUSY, FL_E_NOMEM, FL_E_INVALID (a field that may not be sent).
 * No event comes from within. */
FL_MUST_USE fl_status fl_http_call_start(fl_http_pool *pool,
                                         fl_http_call *call);

/* Breaks it off, if it is under way; no event comes any more. */
void fl_http_call_cancel(fl_http_call *call);

static inline bool fl_http_call_is_open(const fl_http_call *call)
{
    return call->pool != NULL;
}

/* Connections, those under way to being one included. */
size_t fl_http_pool_count(const fl_http_pool *pool);

#endif
