/*
 * park.h - a call of a modern client to a legacy server that has questions.
 *
 *   park.c         its life: gathering questions, the round, the end
 *   park_ask.c     the server asks, and takes back what it asked
 *   park_return.c  the client comes back
 *
 * A legacy server asks while it works; a modern client is answered that input
 * is required, and comes back with it. So the call stays in flight upstream
 * while its client has gone: it is parked. Who comes back with the right token
 * (park_token.h) takes it up from there.
 *
 *   RUNNING -> GATHERING (siblings of a question) -> ASKED -> RUNNING ...
 *      |
 *      +-> HELD: something is to be waited for before it goes on
 */
#ifndef FL_GATEWAY_PARK_H
#define FL_GATEWAY_PARK_H

#include "gateway/back.h"
#include "gateway/parks.h"
#include "gateway/questions.h"
#include "io/timer.h"

enum {
    FL_PARK_GATHER_MS = 20,
    FL_PARK_ROUNDS = 16,
    FL_PARK_TEXT = 64 * 1024 * 1024,
};

typedef enum fl_park_stage {
    FL_PARK_RUNNING,
    FL_PARK_GATHERING,
    FL_PARK_ASKED,
    FL_PARK_HELD,
} fl_park_stage;

typedef void fl_park_fn(fl_park *park);

struct fl_park {
    fl_errand *errand;
    fl_parks *parks;
    unsigned char id[FL_PARK_ID];
    fl_park_token bound; /* what its tokens are bound to */
    fl_park_stage stage;
    const fl_front *owner; /* who alone can come back, or NULL */
    fl_questions questions;
    unsigned rounds;
    uint32_t generation;
    bool lost;              /* it will not be answered, and is not remembered */
    fl_timer timer;         /* the end of its stage */
    fl_park_fn *due;        /* of HELD */
    uint64_t held_ms;       /* since when; 0: never */
    bool awaits_tools;      /* it was held until the server's are known */
    struct fl_drive *drive; /* of the task it has become, or NULL */
    bool promised;          /* its client has said that it shows `pages` */
    unsigned char pages[FL_PARK_ID];
    fl_buf progress; /* the last message of it while nobody was there */
    fl_buf result;   /* the answer, likewise */
};

/* The errand's, made if there is none yet. FL_E_LIMIT: its principal has too
 * many; FL_E_NOMEM, FL_E_IO. */
FL_MUST_USE fl_status fl_park_of(fl_errand *errand, fl_park **out);
/* With the errand. What the server still wants to know it is told it will not.
 */
void fl_park_free(fl_park *park);

/* Its client is told now. The errand may be gone. */
void fl_park_ask_client(fl_park *park);
/* Fills in what a token for this request is bound to, and when it is made. */
FL_MUST_USE fl_status fl_park_bind(const fl_parks *parks,
                                   const fl_errand *errand,
                                   fl_park_token *token);
/* The gateway's; NULL when there is no memory. */
fl_parks *fl_park_all(const fl_errand *errand);
/* It is not with the server; `due` comes in a while, unless it goes first. */
void fl_park_hold(fl_park *park, uint64_t ms, fl_park_fn *due);
/* To the server with it, as if it had come just now. */
void fl_park_send(fl_park *park);

/* A client has left, and with it those that it alone could come back to. */
void fl_park_leave(const fl_front *front);

/* park_ask.c: a request of the server that is about this errand's call. It is
 * answered, or kept. */
void fl_park_hear(fl_errand *errand, const fl_msg *msg, fl_reply reply);
/* The server takes a question back. True: it was of one of these. */
bool fl_park_withdraw(fl_back *back, fl_span id);

/* park_return.c: a request with a requestState. True: it is taken care of, and
 * gone; false: it is to be sent. */
bool fl_park_return(fl_errand *errand, const fl_msg *msg);
/* What is heard while nobody is there. */
void fl_park_keep_progress(fl_errand *errand, const fl_msg *msg);
void fl_park_keep_result(fl_errand *errand, const fl_msg *msg);

#endif
