/*
 * signals.c - SIGINT and SIGTERM, and SIGHUP, as events on the loop.
 */
#include "io/signals.h"

#include "base/mem.h"
#include "io/loop_impl.h"

#include <signal.h>

enum { WATCHED = 2 };

struct fl_signals {
    uv_signal_t handles[WATCHED + 1]; /* and SIGHUP, if wanted */
    fl_loop *loop;
    fl_task *task;
    fl_task *hangup; /* or NULL */
    void *user;
    unsigned open;
    bool closing;
};

static void stop(fl_signals *signals)
{
    for (unsigned i = 0; i < signals->open; i++)
        uv_signal_stop(&signals->handles[i]);
}

static void on_signal(uv_signal_t *handle, int number)
{
    fl_signals *signals = handle->data;

    (void)number;
    stop(signals);
    signals->task(signals->user);
}

fl_signals *fl_signals_watch(fl_loop *loop, fl_task *task, void *user)
{
    static const int numbers[WATCHED] = {SIGINT, SIGTERM};
    fl_signals *signals = fl_mem_zalloc(sizeof *signals);

    if (signals == NULL)
        return NULL;
    signals->loop = loop;
    signals->task = task;
    signals->user = user;
    loop->live++;
    for (int i = 0; i < WATCHED; i++) {
        uv_signal_t *handle = &signals->handles[i];
        if (uv_signal_init(&loop->uv, handle) != 0)
            break;
        signals->open++;
        handle->data = signals;
        uv_unref((uv_handle_t *)handle);
        uv_signal_start(handle, on_signal, numbers[i]);
    }
    fl_loop_stir(loop);
    if (signals->open == 0) {
        loop->live--;
        fl_mem_free(signals);
        return NULL;
    }
    return signals;
}

static void on_hangup(uv_signal_t *handle, int number)
{
    fl_signals *signals = handle->data;

    (void)number;
    signals->hangup(signals->user);
}

void fl_signals_on_hangup(fl_signals *signals, fl_task *task)
{
    uv_signal_t *handle = &signals->handles[signals->open];

    if (signals->closing || signals->hangup != NULL ||
        uv_signal_init(&signals->loop->uv, handle) != 0)
        return;
    signals->hangup = task;
    signals->open++;
    handle->data = signals;
    uv_unref((uv_handle_t *)handle);
    uv_signal_start(handle, on_hangup, SIGHUP);
    fl_loop_stir(signals->loop);
}

static void on_closed(uv_handle_t *handle)
{
    fl_signals *signals = handle->data;

    if (--signals->open > 0)
        return;
    signals->loop->live--;
    fl_mem_free(signals);
}

void fl_signals_close(fl_signals *signals)
{
    if (signals == NULL || signals->closing)
        return;
    signals->closing = true;
    for (unsigned i = 0, n = signals->open; i < n; i++)
        uv_close((uv_handle_t *)&signals->handles[i], on_closed);
    fl_loop_stir(signals->loop);
}
