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
    uv_poll_t poll;
    fl_loop *loop;
    fl_task *task;
    void *user;
    int fd;
    bool closing;
};

static void on_tick(uv_poll_t *poll, int status, int events)
{
    fl_ticker *ticker = poll->data;
    uint64_t times;

    (void)events;
    if (status < 0 || read(ticker->fd, &times, sizeof times) != sizeof times)
        return; /* it was set anew meanwhile */
    ticker->task(ticker->user);
}

fl_ticker *fl_ticker_open(fl_loop *loop, fl_task *task, void *user)
{
    fl_ticker *ticker = fl_mem_zalloc(sizeof *ticker);

    if (ticker == NULL)
        return NULL;
    *ticker = (fl_ticker){.loop = loop, .task = task, .user = user};
    ticker->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (ticker->fd < 0)
        goto fail;
    if (uv_poll_init(&loop->uv, &ticker->poll, ticker->fd) != 0)
        goto fail;
    ticker->poll.data = ticker;
    loop->live++;
    uv_unref((uv_handle_t *)&ticker->poll);
    uv_poll_start(&ticker->poll, UV_READABLE, on_tick);
    return ticker;

fail:
    if (ticker->fd >= 0)
        close(ticker->fd);
    fl_mem_free(ticker);
    return NULL;
}

void fl_ticker_set(fl_ticker *ticker, uint64_t at_ns)
{
    uint64_t at = at_ns > 0 ? at_ns : 1; /* 0 would stop it */
    struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(at / SECOND),
                     .tv_nsec = (long)(at % SECOND)},
    };

    timerfd_settime(ticker->fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void on_closed(uv_handle_t *handle)
{
    fl_ticker *ticker = handle->data;

    ticker->loop->live--;
    close(ticker->fd);
    fl_mem_free(ticker);
}

void fl_ticker_close(fl_ticker *ticker)
{
    if (ticker == NULL || ticker->closing)
        return;
    ticker->closing = true;
    uv_close((uv_handle_t *)&ticker->poll, on_closed);
}
