/*
 * timer.h - timers small enough to have several per link.
 *
 * A uv_timer_t is 152 bytes; one of these is 40 and costs nothing while it is
 * not running. All of them hang in one hashed wheel per loop, driven by one
 * libuv timer. Resolution is 1 ms near, and coarser the further away the time
 * is: what waits for minutes may be late by a few milliseconds, never early.
 */
#ifndef FL_IO_TIMER_H
#define FL_IO_TIMER_H

#include "base/list.h"

#include <fairlead/loop.h>

typedef struct fl_timer fl_timer;
/* Whose timer it is FL_LIST_ENTRY tells: it lies in what it is for. */
typedef void fl_timer_fn(fl_timer *timer);

/* Owned by whoever embeds it. Fields are private to timer.c, but for `loop`,
 * which need not be kept a second time. */
struct fl_timer {
    fl_list node;
    fl_loop *loop;
    uint64_t due;
    fl_timer_fn *fn;
};

/* A running timer keeps fl_loop_run() going. */
void fl_timer_init(fl_timer *timer, fl_loop *loop, fl_timer_fn *fn);

/* Runs once, `ms` from now; restarts it when it was running. `fn` may start
 * it again, stop other timers, and free the memory the timer lies in. */
void fl_timer_start(fl_timer *timer, uint64_t ms);

/* Harmless when it is not running. Must have been stopped, or have run, before
 * its memory goes. */
void fl_timer_stop(fl_timer *timer);

static inline bool fl_timer_running(const fl_timer *timer)
{
    return !fl_list_empty(&timer->node);
}

#endif
