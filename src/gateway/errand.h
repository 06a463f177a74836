/*
 * errand.h - one request of a client, on its way to a server and back.
 *
 * It knows both ends: the front that asked, under which id and progress token,
 * in which revision; and the back it was given to, under which number. It ends
 * exactly once. Numbers are never used again, so that an answer which comes
 * after the end finds nobody, and never a stranger.
 *
 *   WAITING (for the back to be ready) -> SENT -> answered, failed
 *                                           |
 *                                           +--> PARKED: its client was asked
 *                                                something, and is to come back
 */
#ifndef FL_GATEWAY_ERRAND_H
#define FL_GATEWAY_ERRAND_H

#include "base/list.h"
#include "rpc/method.h"
#include "rpc/revision.h"
#include "server/batch.h"
#include "transport/link.h"

typedef struct fl_front fl_front;
typedef struct fl_back fl_back;
typedef struct fl_errand fl_errand;

/* Who asks, and where the answer goes. */
typedef struct fl_asker {
    fl_front *front;
    fl_reply reply;
    fl_batch *batch;             /* or NULL */
    const fl_revision *revision; /* of the request; NULL: of none */
    bool early; /* the request did not get as far as its method: what is wrong
                   with it is the envelope's word */
    unsigned retry_s; /* if it is refused: when to come back; 0: not said */
} fl_asker;

/* Answer a request that did not become an errand, or an errand's. */
void fl_asker_send(const fl_asker *asker, fl_span id, int code,
                   const fl_span *parts, size_t count);
void fl_asker_result(const fl_asker *asker, fl_span id, fl_span result);
void fl_asker_refuse(const fl_asker *asker, fl_span id, int code, fl_span text,
                     fl_span data);

typedef enum fl_errand_state {
    FL_ERRAND_WAITING,
    FL_ERRAND_SENT,
    FL_ERRAND_PARKED,
} fl_errand_state;

/* Ids, tokens and names are short; longer ones have memory of their own. */
enum { FL_ERRAND_ROOM = 96 };

/*
 * For requests of the gateway's own: each message that is about it. A response
 * is the last of them; NULL, with the reason, means that there will be none.
 */
typedef void fl_own_fn(void *user, const fl_msg *msg, const fl_error *why);

struct fl_errand {
    fl_list by_front; /* among those of its client, oldest first */
    fl_list by_back;  /* among those waiting or sent, by when they were seen */
    fl_back *back;
    fl_asker asker; /* its front is NULL if it is our own, or PARKED */
    fl_own_fn *own; /* or NULL */
    void *user;
    fl_method method;
    fl_errand_state state;
    bool as_task;        /* it is to be made a task of */
    unsigned char given; /* answers that came with it, and were asked for */
    bool standing; /* it is answered when it is ended: its time does not run */
    bool again;    /* it has been sent a second time; there is no third */
    bool in_turn;  /* WAITING for another's end: solo.h */
    unsigned char tries; /* to send it that came to nothing */
    uint64_t number;     /* its id upstream, while SENT or PARKED */
    uint64_t started_ms, seen_ms;
    fl_span id;     /* raw, as the client gave it */
    fl_span token;  /* of its progress, raw; or empty */
    fl_span object; /* what it is about: a raw name, URI or task; or empty */
    fl_msg *msg;    /* a copy of all of it, while that may be needed */
    fl_msg *copy;   /* where that is, or was */
    size_t copy_size;
    struct fl_park *park;     /* its questions to a modern client, or NULL */
    struct fl_rounds *rounds; /* those to a legacy one, or NULL */
    struct fl_listening *listening; /* to a legacy server, or NULL */
    char room[FL_ERRAND_ROOM];
};

/* NULL when there is no memory. With `whole` the message is copied. */
FL_MUST_USE fl_errand *fl_errand_new(const fl_asker *asker, const fl_msg *msg,
                                     fl_method method, bool whole);

/* A request of our own: see fl_back_ask(). NULL when there is no memory. */
FL_MUST_USE fl_errand *fl_errand_new_own(fl_back *back, fl_method method,
                                         fl_own_fn *own, void *user);

/* Keeps all of its message from here on. FL_E_NOMEM: nothing was changed. */
FL_MUST_USE fl_status fl_errand_keep(fl_errand *errand, const fl_msg *msg);

/* The answer, in parts that are one whole response, to whoever waits; `code`
 * is that of its error, or 0. No part at all: it is not answered. The errand
 * is gone on return. */
void fl_errand_end(fl_errand *errand, int code, const fl_span *parts,
                   size_t count);

/* The same for a result, JSON, that is of the client's revision. */
void fl_errand_result(fl_errand *errand, fl_span result);

/* The same for an error that is ours. `data` is JSON, or empty. */
void fl_errand_fail(fl_errand *errand, int code, fl_span text, fl_span data);

/* Nobody waits for it any more: it is gone on return, and was not answered.
 * Whoever calls tells the server (fl_back_call_off). */
void fl_errand_abandon(fl_errand *errand);

/* It has been answered in another way. */
void fl_errand_drop(fl_errand *errand);

/* Its client has been told to come back for it: it is PARKED, and has none
 * until another request takes it up. FL_E_NOMEM: nothing was changed. */
void fl_errand_park(fl_errand *errand);
FL_MUST_USE fl_status fl_errand_resume(fl_errand *errand, const fl_asker *asker,
                                       const fl_msg *msg);

/* Progress and the like, to whoever waits. */
fl_status fl_errand_tell(fl_errand *errand, const fl_span *parts, size_t count);

#endif
