/*
 * poller.h - tells who watches a descriptor what the system has for it.
 *
 * The loop waits in an epoll set of our own, in which libuv's is one entry
 * among many. libuv watches by level: each descriptor that was ready is asked
 * again in the next poll, to pause or to wait for room is a system call, and a
 * handle of its is 248 bytes. A stream enters its descriptor once and is told
 * of edges; what it last heard it remembers itself.
 */
#ifndef FL_IO_POLLER_H
#define FL_IO_POLLER_H

#include <fairlead/loop.h>

#include <sys/epoll.h>

typedef struct fl_watch fl_watch;

/* `events` are epoll's. The watch may be dropped from within, but its memory
 * must stay until the turn has ended. */
typedef void fl_watch_fn(fl_watch *watch, unsigned events);

struct fl_watch {
    fl_watch_fn *fn;
    int fd;         /* -1: none */
    uint32_t asked; /* for these events; 0: not entered */
};

typedef struct fl_poller {
    int set;
    size_t wanted; /* reasons for the loop to go on */
} fl_poller;

static inline void fl_watch_init(fl_watch *watch, fl_watch_fn *fn)
{
    *watch = (fl_watch){.fn = fn, .fd = -1};
}

/* What is watched must not block. Below zero: a negated errno. */
FL_MUST_USE int fl_watch_unblock(int fd);

/* Part of a loop. */
FL_MUST_USE fl_status fl_poller_open(fl_poller *poller);
void fl_poller_close(fl_poller *poller);

/* What one poll brings; what is left over comes with the next. */
typedef struct fl_polled {
    int count;
    struct epoll_event events[256];
} fl_polled;

/* Waits for so long, or (-1) for ever; and tells what has come. */
void fl_poller_wait(const fl_poller *poller, int ms, fl_polled *out);
void fl_poller_tell(const fl_polled *polled);

/* From here on these events are told, as levels or, with EPOLLET, as edges;
 * what is there already counts as one. Below zero: a negated errno. */
FL_MUST_USE int fl_poller_ask(fl_poller *poller, fl_watch *watch,
                              unsigned events);

/* Nothing is told any more; _drop closes the descriptor, too. */
void fl_poller_stop(fl_poller *poller, fl_watch *watch);
void fl_poller_drop(fl_poller *poller, fl_watch *watch);

#endif
