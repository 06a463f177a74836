/*
 * rounds.h - what a modern server wants to know before it answers a legacy
 * client's call.
 *
 * Such a server answers "input_required", and is asked again with what it
 * wanted. Its client knows nothing of that: to it each entry is a request of
 * the server's, and its call just takes its time. A round is what there is to
 * know between one answer and the next try; it hangs on the errand, and goes
 * with it.
 *
 *   rounds.c       from the answer to the next try
 *   round_ask.c    its entries: questions to the client, pages it has seen
 */
#ifndef FL_GATEWAY_ROUNDS_H
#define FL_GATEWAY_ROUNDS_H

#include "gateway/inquiry.h"

typedef struct fl_rounds fl_rounds;

/* A page its client was asked to see. */
typedef struct fl_round_page {
    fl_list node;
    fl_buf params; /* as the server named it */
    char id[48];   /* the token of its elicitationId */
    bool accepted;
    bool wanted; /* by the latest answer */
} fl_round_page;

/* One thing the server wants to know. */
typedef struct fl_round_entry {
    fl_rounds *round;
    fl_span key;    /* raw, between its quotes */
    fl_span params; /* both lie in round->said */
    fl_method method;
    fl_inquiry *inquiry; /* while the client has not answered */
    fl_round_page *page; /* or NULL */
    fl_buf answer;       /* JSON; empty: there is none yet */
} fl_round_entry;

struct fl_rounds {
    fl_errand *errand;
    fl_timer timer; /* until the client has to answer, or to the next try */
    bool asking;
    unsigned asked; /* rounds in which the client was */
    uint64_t since_ms;
    uint64_t pause_ms; /* the latest */
    fl_buf said;       /* the server's latest answer */
    fl_span state;     /* its requestState, raw; or empty */
    fl_round_entry *entries;
    size_t count;
    size_t open; /* questions the client has not answered */
    fl_list pages;
    fl_buf members; /* what the next try says */

    fl_errand *own; /* a request of ours that all waits for, or NULL */
    unsigned pages_read;
    bool declares_tasks;
    bool polling;
    bool task_ended;
    fl_buf task; /* what comes of it is the answer: a token; or empty */
};

/* The errand's; NULL when there is no memory. */
fl_rounds *fl_rounds_of(fl_errand *errand);

/* An answer of the server's. True: it is not the last word, and taken care of.
 */
bool fl_rounds_takes(fl_errand *errand, const fl_msg *msg);

/* What a task wants to know. False: nothing. */
bool fl_rounds_hear(fl_rounds *rounds, fl_span state);

/* What params get beside what the client said: members, or empty. */
fl_span fl_rounds_members(const fl_errand *errand);

/* Harmless without one. The client is told that it need not answer; so its
 * call must not have been answered. */
void fl_rounds_free(fl_errand *errand);

/* round_ask.c: reads the entries of round->said. FL_E_UNSUPPORTED: the client
 * has not declared one. FL_E_NOMEM, FL_E_LIMIT. */
FL_MUST_USE fl_status fl_rounds_read(fl_rounds *round);
void fl_rounds_forget(fl_rounds *round);

/* Answers what needs no asking; how many entries are new to the client. */
size_t fl_rounds_recall(fl_rounds *round);

/* Asks the client for each that is not answered. FL_E_UNSUPPORTED: it has no
 * way to be asked. */
FL_MUST_USE fl_status fl_rounds_ask(fl_rounds *round);

/* Tells the client of each page that is done with: those not wanted any more,
 * or all. */
void fl_round_close_pages(fl_rounds *round, bool all);

/* rounds.c: an entry is answered, or what was asked cannot be; `error` is the
 * client's, raw, or empty. */
void fl_rounds_answered(fl_rounds *round);
void fl_rounds_stop(fl_rounds *round, const char *text, fl_span error);

#endif
