/*
 * leftovers.h - errands that have ended, kept for those that come.
 *
 * A busy gateway has as many errands under way as it had a moment ago, so what
 * one leaves behind the next one takes: no message costs an allocation. How
 * many are kept is bounded, and so is the memory for a message that stays with
 * each of them.
 */
#ifndef FL_GATEWAY_LEFTOVERS_H
#define FL_GATEWAY_LEFTOVERS_H

#include "gateway/errand.h"

/* Owned by whoever embeds it. Fields are private to leftovers.c. */
typedef struct fl_leftovers {
    fl_list list;
    unsigned count;
} fl_leftovers;

void fl_leftovers_init(fl_leftovers *leftovers);
void fl_leftovers_deinit(fl_leftovers *leftovers);

/* An errand that is zeroed but for its memory for a message, and in no list.
 * NULL when there is no memory. */
FL_MUST_USE fl_errand *fl_leftovers_take(fl_leftovers *leftovers);

/* Gives it back: it is in no list, and nothing hangs on it any more. */
void fl_leftovers_give(fl_leftovers *leftovers, fl_errand *errand);

#endif
