/*
 * legacy.h - what a legacy server needs kept for it, since its modern clients
 * keep nothing.
 *
 *   legacy.c     the thing itself
 *   roots.c      roots that it wants to know when nobody can be asked
 *   replay.c     calls it refuses until a page was seen
 *   listening.h  who listens to its changes, and watches.h to which
 *   verbosity.h  how much of its log is wanted
 *   taskers.h    which of its tools are tasks, and wards.h what became of them
 *
 * One for each conversation with a server, made when it is first needed.
 */
#ifndef FL_GATEWAY_LEGACY_H
#define FL_GATEWAY_LEGACY_H

#include "gateway/back.h"
#include "gateway/park.h"
#include "gateway/taskers.h"
#include "gateway/verbosity.h"
#include "gateway/wards.h"
#include "gateway/watches.h"
#include "io/timer.h"

enum {
    FL_LEGACY_SETTLE_MS = 250, /* for a server that was just told its roots */
    FL_LEGACY_GRACE_MS = 50,   /* for one that has just come, to ask for them */
};

typedef struct fl_roots {
    fl_list held;      /* requests of the server, not answered yet */
    unsigned count;    /* of them */
    fl_timer patience; /* of who waits for a server that waits */
    fl_buf known;      /* the last answer, an object; or empty */
    uint64_t known_ms; /* when it was given */
    bool owed;         /* it was told that there are none: tell it of some */
    bool asked;        /* it has asked at least once */
} fl_roots;

typedef struct fl_legacy {
    fl_back *back;
    uint64_t ready_ms;
    bool renewed; /* it has been ready before */
    fl_roots roots;
    fl_list listens; /* listening.h */
    fl_watches watches;
    fl_verbosity verbosity;
    fl_taskers taskers;
    fl_wards wards;
} fl_legacy;

/* The back's; NULL when there is no memory. */
fl_legacy *fl_legacy_of(fl_back *back);
void fl_legacy_free(fl_back *back);

/* Whether the server said that it has this capability: {"tools",
 * "listChanged"}, or with no detail {"logging"}. */
bool fl_legacy_has(const fl_back *back, const char *name, const char *detail);

/* roots.c: the server wants to know them, and nobody can be asked yet. */
void fl_legacy_want_roots(fl_back *back, const fl_msg *msg, fl_reply reply);
/* A client of the legacy era is ready, and can be asked. */
void fl_legacy_hand_roots(fl_back *back, fl_front *front);
/* A client has said what they are. */
void fl_legacy_know_roots(fl_back *back, fl_span result);
/* The server takes its question back. True: it was one of ours. */
bool fl_legacy_withdraw_roots(fl_back *back, fl_span id);
/* A call that may ask its client: true if it is not to be sent yet. */
bool fl_legacy_asks_roots(fl_errand *errand);
void fl_roots_init(fl_roots *roots, fl_legacy *legacy);
void fl_roots_deinit(fl_roots *roots);
void fl_roots_lose(fl_roots *roots);

/* replay.c: an error -32042. It is answered, or held. */
void fl_replay_hear(fl_errand *errand, const fl_msg *msg);
/* A request whose client was asked to see a page. True: it is answered. */
bool fl_replay_return(fl_errand *errand, const fl_msg *msg,
                      const fl_park_token *token);
/* notifications/elicitation/complete */
void fl_replay_elicited(fl_back *back);

#endif
