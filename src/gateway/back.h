/*
 * back.h - one conversation with a server: a lane, and who is on it.
 *
 *   back.c        its life: opening, outages, starting again, the end
 *   back_lose.c   what it was carrying when it went
 *   back_move.c   going elsewhere, if the server runs in several places
 *   back_queue.c  what waits for a server that is not there: how much of it
 *   back_time.c   how long it is waited for
 *   back_carry.c  requests on their way out
 *   back_hear.c   what comes back
 *   back_words.c  its first words and its last
 *   inquiry.c    what the server asks its clients
 *   whose.c      whose it is what it says to nobody in particular
 *
 * A back outlives its lane: a child that dies is started again, after a while,
 * and what can be asked again is. Who leans on it is counted; one that nobody
 * leans on goes after a while, or at once if it was somebody's own or has no
 * lane. Nobody is sent to one that is closing, but conversations may still be
 * on it: their next request finds them another.
 */
#ifndef FL_GATEWAY_BACK_H
#define FL_GATEWAY_BACK_H

#include "adapt/adapt.h"
#include "base/numbers.h"
#include "client/lane.h"
#include "gateway/front.h"
#include "gateway/whose.h"
#include "io/timer.h"
#include "transport/backoff.h"

typedef struct fl_replica fl_replica;

struct fl_back {
    fl_list node; /* among the route's */
    fl_route *route;
    fl_replica *replica; /* with which of its places, for now */
    fl_client *lane;     /* NULL: between two */
    fl_buf key;          /* whose it is: route.h */
    fl_buf params;       /* of the client it is opened for; empty: of nobody */
    const fl_revision *offered;  /* that client's, if it is a legacy one */
    const fl_revision *revision; /* the server's; NULL until it was ready */
    fl_list fronts;              /* legacy conversations on it */
    fl_list waiting;             /* errands, oldest first */
    fl_list sent;                /* likewise, by when they were heard of last */
    fl_list parked;              /* those whose clients are to come back */
    fl_numbers numbers;          /* those that were sent, answered or not */
    uint64_t last_number;        /* of the lane before, and of those before */
    fl_list questions;           /* the server's, not answered yet */
    unsigned leans;              /* fronts and errands */
    uint64_t idle_since;         /* when there were none any more */
    uint64_t heard_ms;           /* the server said something on it, last; */
    uint64_t asked_ms;           /* was asked in vain whether it is there, */
    unsigned vain;               /* and how often since: probe.c */
    fl_outputs outputs;
    fl_timer timer;  /* deadlines, or idleness */
    uint64_t due_ms; /* when it ends, if it is for a deadline */
    fl_timer hold;   /* nothing is sent until it ends: there is no lane; or one
                        whose server cannot be reached all the same */
    fl_timer late;   /* the lane is not ready by its end, and that is said */
    fl_timer turn;   /* somebody's has come: solo.h */
    fl_backoff backoff;
    fl_error why; /* it went last, */
    fl_buf words; /* and what it said last: {"stderr":[...]}, or empty */
    fl_users users;
    fl_level level; /* of its log, as we have set it, */
    bool has_level; /* if we have */
    bool own;       /* of one conversation: goes with it */
    bool spare;     /* of nobody yet: spares.h */
    bool used;      /* the server was asked something by somebody */
    bool up;        /* this lane has been ready */
    bool closing;
    bool moving;        /* its lane is let go of for one elsewhere */
    bool knows_clients; /* it has shown that clients are not all the same to it
                         */
    struct fl_legacy *legacy; /* what its modern clients need kept, or NULL */
};

/* Opens it. `params` is the initialize of the client it is for, or empty: the
 * gateway itself. NULL: `error` says why. */
FL_MUST_USE fl_back *fl_back_new(fl_replica *replica, fl_span key,
                                 fl_span params, const fl_revision *offered,
                                 fl_error *error);

bool fl_back_is_ready(const fl_back *back);
bool fl_back_is_modern(const fl_back *back);
/* It is one client's, or that of clients who are alike: what they do to it is
 * nobody else's affair. */
bool fl_back_is_private(const fl_back *back);
/* Such a one with a child of its own, which is there: whether others could be
 * started is nothing to it. */
bool fl_back_stands(const fl_back *back);
/* What is to be expected of what it says: of a legacy server, whatever it has
 * agreed to, the newest. Many say yes to a client's revision and go on as
 * before. */
const fl_revision *fl_back_speaks(const fl_back *back);
const fl_revision *fl_revision_speaks(const fl_revision *agreed);
/* Client and server are of different eras. */
bool fl_errand_crosses(const fl_errand *errand);

/* Counts who needs it. After the last one it goes, now or in a while. */
void fl_back_lean(fl_back *back);
void fl_back_leave(fl_back *back);

/* Ends it: what is on it is failed with this. */
void fl_back_close(fl_back *back, const fl_error *why);

/* It leaves the place where it is, and what was sent there is lost: from here
 * on it is with another, now or as soon as there is one. Not from under an
 * event of its lane. */
void fl_back_move(fl_back *back, const fl_error *why);
/* Where it is it may be asked; or it moves to where it may. */
void fl_back_attend(fl_back *back);

/* back_lose.c: what was sent on it is lost; what waits for it is failed. */
void fl_back_lose_sent(fl_back *back, const fl_error *why);
void fl_back_fail_waiting(fl_back *back, const fl_error *why);
/* It is answered with this error, and gone. `retry_s`: when to come back, or
 * 0. */
void fl_back_fail(fl_errand *errand, const fl_error *why);
void fl_back_fail_with(fl_errand *errand, const fl_error *why, fl_span data,
                       unsigned retry_s);

/* back_move.c: its request never reached the server: it is sent again, to
 * another place if one is well, a few times. */
void fl_back_defer(fl_errand *errand, const fl_error *why);
/* It may be sent once more: elsewhere, if it can be. True: it was. */
bool fl_back_divert(fl_errand *errand);

/* back_queue.c: whether there is room for one more that waits. False: it was
 * refused, and is gone. */
bool fl_back_queue_takes(fl_errand *errand);

/* back_words.c: whom the server gets to see, the client it is for, or us;
 * `text` holds what had to be said anew. And what its child said last is kept,
 * for those who are failed. */
fl_lane_hello fl_back_hello(const fl_back *back, fl_buf *text);
void fl_back_take_words(fl_back *back);

/* back_carry.c: whether an errand on it is to keep its whole message. */
bool fl_back_wants_all(const fl_back *back, const fl_asker *asker,
                       const fl_msg *msg, fl_method method);
/* An errand is the back's from here on; `msg` is what it was made of. */
void fl_back_carry(fl_back *back, fl_errand *errand, const fl_msg *msg);
/* Sends what waits, as far as it may. */
void fl_back_carry_waiting(fl_back *back);
/* Tells the server that nobody waits for it; harmless if it was not sent. */
void fl_back_call_off(fl_errand *errand, fl_span reason);
/* Sends it now. FL_BUSY, FL_E_STATE: it cannot be yet. */
FL_MUST_USE fl_status fl_back_send(fl_errand *errand, const fl_msg *msg);
/* It is heard of: its time begins anew. */
void fl_back_touch(fl_errand *errand);
/* Its answer was not the last word: it has no number and no time runs, until
 * it is carried once more. */
void fl_back_set_aside(fl_errand *errand);
void fl_back_carry_again(fl_errand *errand);
/* It has not run, and waits again. */
void fl_back_take_back(fl_errand *errand);
/* It will not be answered: it is asked once more, if that does no harm, or
 * failed. */
void fl_back_lose(fl_errand *errand, const fl_error *why);
/* It is not with the server (any more), and waits to be sent: which is tried
 * at once, or by fl_back_carry_waiting(). */
void fl_back_requeue(fl_errand *errand);
void fl_back_requeue_later(fl_errand *errand);
/* back_time.c: somebody's time runs; those whose time is over are failed. */
void fl_back_watch_time(fl_back *back);
/* There is no lane, or no server at its end. */
bool fl_back_is_out(const fl_back *back);
/* Something is at its end, ready or not. */
bool fl_back_is_reached(const fl_back *back);
void fl_back_expire(fl_back *back);
/* A notification of ours, with these params if any; one of a client's. */
void fl_back_notify(fl_back *back, fl_method method, fl_span params);
void fl_back_pass_on(fl_back *back, const fl_msg *msg, fl_method method);

/*
 * A request of our own; `params` is JSON, with the claim in it if the server is
 * modern, or empty. FL_E_STATE: it is not ready; FL_BUSY, FL_E_NOMEM: nothing
 * was sent. `errand`, if wanted, is good until the last call of `own`, and may
 * be given up before with fl_back_unask(), which tells the server.
 */
FL_MUST_USE fl_status fl_back_ask(fl_back *back, fl_method method,
                                  fl_span params, fl_own_fn *own, void *user,
                                  fl_errand **errand);
void fl_back_unask(fl_errand *errand);

/* back_hear.c: the lane's on_message. */
void fl_back_hear(void *user, const fl_msg *msg, fl_reply reply);
/* A notification or response that was kept. */
void fl_back_hear_again(fl_back *back, fl_span text);

/* Its answer, as the server gave it, in the client's words; and what is to be
 * known to find them. */
void fl_back_answer(fl_errand *errand, const fl_msg *msg);
fl_adapt fl_back_adapt(const fl_errand *errand);

/* The one on whose stream came what is being heard; NULL: that is not known. */
fl_errand *fl_back_about(const fl_back *back);

/* The oldest that waits for an answer, of this front if it is not NULL, and
 * may be asked back if `can_ask`; or NULL. */
fl_errand *fl_back_oldest(const fl_back *back, const fl_front *front,
                          bool can_ask);

#endif
