/*
 * ticker.c - a call at a time that is told in nanoseconds.
 *
 * A timerfd, watched by the loop. It is read when it fires, since a descriptor
 * that stays readable would keep the loop spinning.
 */
#include "io/ticker.h"

#include "base/mem.h"
#include "io/loop_impl.h"

#include <sys/timerfd.h>
#include <unistd.h>

enum { SECOND = 1000000000 };

struct fl_ticker {
    fl_watch watch;
    fl_timer end; /* once it is closing */
    fl_loop *loop;
    fl_task *task;
    void *user;
    bool closing;
};

static void on_tick(fl_watch *watch, unsigned events)
{
    fl_ticker *ticker = FL_LIST_ENTRY(watch, fl_ticker, watch);
    uint64_t times;

    (void)events;
    if (read(watch->fd, &times, sizeof times) != sizeof times)
        return; /* it was set anew meanwhile */
    ticker->task(ticker->user);
}

static void on_end(fl_timer *timer)
{
    fl_ticker *ticker = FL_LIST_ENTRY(timer, fl_ticker, end);

    ticker->loop->live--;
    fl_mem_free(ticker);
}

fl_ticker *fl_ticker_open(fl_loop *loop, fl_task *task, void *user)
{
    fl_ticker *ticker = fl_mem_zalloc(sizeof *ticker);

    if (ticker == NULL)
        return NULL;
    *ticker = (fl_ticker){.loop = loop, .task = task, .user = user};
    fl_timer_init(&ticker->end, loop, on_end);
    fl_watch_init(&ticker->watch, on_tick);
    ticker->watch.fd =
        timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (ticker->watch.fd < 0 ||
        fl_poller_ask(&loop->poller, &ticker->watch, EPOLLIN) < 0) {
        fl_poller_drop(&loop->poller, &ticker->watch);
        fl_mem_free(ticker);
        return NULL;
    }
    loop->live++;
    return ticker;
}

void fl_ticker_set(fl_ticker *ticker, uint64_t at_ns)
{
    uint64_t at = at_ns > 0 ? at_ns : 1; /* 0 would stop it */
    struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(at / SECOND),
                     .tv_nsec = (long)(at % SECOND)},
    };

    timerfd_settime(ticker->watch.fd, TFD_TIMER_ABSTIME, &when, NULL);
}

void fl_ticker_close(fl_ticker *ticker)
{
    if (ticker == NULL || ticker->closing)
        return;
    ticker->closing = true;
    fl_poller_drop(&ticker->loop->poller, &ticker->watch);
    fl_timer_start(&ticker->end, 0);
}
