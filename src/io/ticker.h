/*
 * ticker.h - a call at a time that is told in nanoseconds.
 *
 * The timers of the loop count in milliseconds, which is right for whatever
 * waits for a peer. Who has to do something a hundred thousand times a second
 * needs a finer one: a descriptor of the kernel's own timer, one for each
 * ticker.
 */
#ifndef FL_IO_TICKER_H
#define FL_IO_TICKER_H

#include <fairlead/loop.h>

typedef struct fl_ticker fl_ticker;

/* Does not keep the loop running. NULL: no memory, or no descriptor. */
FL_MUST_USE fl_ticker *fl_ticker_open(fl_loop *loop, fl_task *task, void *user);

/* Calls the task once, at fl_clock_ns() or soon after it; at once, if that has
 * passed. Takes the place of a time that was set before. */
void fl_ticker_set(fl_ticker *ticker, uint64_t at_ns);

/* May be called from the task; NULL is fine. Its memory goes later, on the
 * loop. */
void fl_ticker_close(fl_ticker *ticker);

#endif
