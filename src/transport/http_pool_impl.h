/*
 * http_pool_impl.h - the inside of the client's connections, for http_pool.c,
 * which decides, and http_dial.c, which carries.
 */
#ifndef FL_TRANSPORT_HTTP_POOL_IMPL_H
#define FL_TRANSPORT_HTTP_POOL_IMPL_H

#include "transport/http_pool.h"

/* What ALPN said the last time. */
typedef enum fl_http_kind {
    FL_HTTP_KIND_UNKNOWN,
    FL_HTTP_KIND_ONE, /* one exchange at a time */
    FL_HTTP_KIND_MANY,
} fl_http_kind;

struct fl_http_pool {
    fl_loop *loop;
    fl_connect_options connect;
    char *host, *path, *server_name, *tunnel;
    unsigned version;
    unsigned keep, limit;
    fl_http_kind kind;
    fl_list dials;   /* usable, or about to be */
    fl_list dying;   /* closing */
    fl_list waiting; /* calls without a connection */
    size_t count;    /* of dials */
    size_t queued;   /* of waiting */
    fl_timer gone;
    bool closing;
    bool refused; /* somebody was told FL_BUSY */
    void (*on_room)(void *user);
    void (*on_gone)(void *user);
    void *user;
};

struct fl_dial {
    fl_list node;
    fl_http_pool *pool;
    fl_stream *stream;
    fl_http *http; /* NULL until it is open */
    fl_timer timer;
    size_t written; /* bytes since the last exchange began */
    bool heard;     /* the server has said something */
    bool dying;
    bool unsent;  /* what is lost now had not left yet */
    bool held;    /* the codec keeps input back */
    bool spent;   /* takes no more exchanges */
    bool broken;  /* those it has are to be lost */
    bool resting; /* idle, until its timer says it was so for too long */
};

/* http_dial.c */

/* A connection under way, in pool->dials. */
FL_MUST_USE fl_status fl_dial_open(fl_http_pool *pool);

/* Room for one more exchange, now. */
bool fl_dial_usable(const fl_dial *dial);

/* Idle, and the server has hung up: to be seen before something is sent, for
 * afterwards nobody could tell whether it was heard. */
bool fl_dial_is_stale(const fl_dial *dial);

FL_MUST_USE fl_status fl_dial_launch(fl_dial *dial, fl_http_call *call);

/* The end of this one; what is on it is lost by itself. */
void fl_dial_kill(fl_dial *dial);

/* Has fl_http_pool_settle() called from a fresh stack. */
void fl_dial_settle_later(fl_dial *dial);

/* It lies idle for so long, then it is closed. */
void fl_dial_rest(fl_dial *dial, uint64_t ms);

/* http_pool.c: what happened to a connection. */
void fl_http_pool_settle(fl_http_pool *pool, fl_dial *dial);
void fl_http_pool_failed(fl_http_pool *pool, const fl_error *why);
void fl_http_pool_dial_gone(fl_http_pool *pool);

#endif
