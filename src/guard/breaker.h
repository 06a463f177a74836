/*
 * breaker.h - when to stop asking somebody who does not answer.
 *
 *   CLOSED --failures in a row--> OPEN --a while--> HALF --an answer--> CLOSED
 *                                   ^                |
 *                                   +---a failure----+
 *
 * While it is open nobody is let through, so that nobody waits for what will
 * not come; after a while one is, to find out. The clock is passed in.
 */
#ifndef FL_GUARD_BREAKER_H
#define FL_GUARD_BREAKER_H

#include <fairlead/types.h>

typedef enum fl_breaker_state {
    FL_BREAKER_CLOSED, /* all is well: everybody may */
    FL_BREAKER_OPEN,   /* nobody may */
    FL_BREAKER_HALF,   /* somebody was let through, to find out */
} fl_breaker_state;

/* Owned by whoever embeds it: set the first three, the rest is 0. */
typedef struct fl_breaker {
    unsigned failures;  /* in a row, to open it; 0: it never opens */
    uint64_t window_ms; /* within which they must come */
    uint64_t pause_ms;  /* that it stays open */
    fl_breaker_state state;
    unsigned failed;   /* in a row, so far */
    uint64_t since_ms; /* the first of these failed; or it opened; or somebody
                          was let through */
    bool relented;     /* OPEN, and yet the next one may */
} fl_breaker;

/* Would it? Nobody has asked yet. */
bool fl_breaker_would(const fl_breaker *breaker, uint64_t now_ms,
                      uint64_t *wait_ms);

/* May somebody ask now? If not, `wait_ms` says when to come back. A trial that
 * is neither a success nor a failure within the pause is forgotten: whoever
 * made it has gone. */
bool fl_breaker_allow(fl_breaker *breaker, uint64_t now_ms, uint64_t *wait_ms);

/* Something speaks for it: the next one may find out, pause or not. */
void fl_breaker_relent(fl_breaker *breaker);

/* How it went, for anybody who asked. */
void fl_breaker_succeed(fl_breaker *breaker);
void fl_breaker_fail(fl_breaker *breaker, uint64_t now_ms);

#endif
