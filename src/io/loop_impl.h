/*
 * loop_impl.h - the inside of the loop, for the files of this room only.
 */
#ifndef FL_IO_LOOP_IMPL_H
#define FL_IO_LOOP_IMPL_H

#include "base/list.h"
#include "io/loop.h"
#include "io/poller.h"
#include "io/timer.h"

#include <uv.h>

enum { FL_LOOP_READ = 64 * 1024 };

/* Each level counts in steps 64 times as long as those of the level below;
 * eight of them reach 2^48 ms, which is longer than anybody waits. */
enum {
    FL_WHEEL_LEVELS = 8,
    FL_WHEEL_BITS = 6,
    FL_WHEEL_SLOTS = 1 << FL_WHEEL_BITS,
};

typedef struct fl_wheel {
    uint64_t now;   /* the wheel has turned this far */
    size_t running; /* timers */
    fl_list soon;   /* timers that were due when they were started */
    uint64_t busy[FL_WHEEL_LEVELS]; /* a bit per slot that may hold some */
    fl_list slots[FL_WHEEL_LEVELS][FL_WHEEL_SLOTS];
} fl_wheel;

struct fl_loop {
    fl_poller poller;
    uv_loop_t uv;    /* a guest: threads, look-ups, signals, posts */
    uv_async_t wake; /* posts */
    fl_watch guest;  /* what libuv waits for */
    bool stirred;    /* it has to be run, for something of its has changed */
    bool running;
    bool stopping;
    bool driven; /* `clock` is a test's, and time is what it says */
    fl_clock clock;
    uint64_t now;
    fl_wheel *wheel;
    fl_list dirty;  /* streams that have something to do at the turn's end */
    fl_list afters; /* fl_loop_after() tasks that have not run */
    uv_mutex_t lock;
    fl_list posts; /* guarded by lock */
    fl_log *log;
    fl_pool pool;
    fl_buf scratch;
    char *plain;      /* what TLS decrypts into; NULL until needed */
    fl_list roots;    /* directories that files are being read below: file.c */
    fl_list waiting;  /* reads of files that are not let begin yet */
    unsigned reading; /* those that are */
    size_t live;      /* streams, acceptors, children: must be 0 at the end */
    char read[FL_LOOP_READ]; /* lent to whoever reads */
};

/* Brings fl_loop_now() up to date, outside of a turn: within one it is. */
void fl_loop_refresh(fl_loop *loop);

/* To be called when a handle of libuv's was started or closed. */
static inline void fl_loop_stir(fl_loop *loop)
{
    loop->stirred = true;
}

/*
 * A write to a pipe nobody reads raises SIGPIPE. The loop holds it back while
 * it runs; whoever sees EPIPE calls this, so that it is not delivered later.
 */
void fl_loop_eat_sigpipe(void);

/* Tasks, in task.c. They cannot be called off: _drop is for the loop's end. */
void fl_loop_run_posts(fl_loop *loop);
bool fl_loop_has_posts(fl_loop *loop);
void fl_loop_drop_tasks(fl_loop *loop);

/* The wheel, in timer.c. */
void fl_wheel_init(fl_wheel *wheel, uint64_t now);

/* Runs what is due by the loop's now. */
void fl_wheel_turn(fl_loop *loop);

/* When the wheel must turn next; false if nothing runs. */
bool fl_wheel_next(fl_wheel *wheel, uint64_t *due);

#endif
