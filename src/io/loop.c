/*
 * loop.c - the event loop.
 *
 * A turn is: due timers, output, poll, what was polled, output. Whatever is
 * made with the loop only gathers work while callbacks run; then each stream
 * that was written to makes one system call. Work that comes up while that is
 * done keeps the poll from waiting, so that nothing is slept over.
 *
 * libuv is a guest in it: it has threads for files and look-ups, and signals.
 * What it waits for is one descriptor in our set, and it is run when that
 * becomes readable, or when something of its was started or closed, which it
 * sees to only when it runs.
 *
 * A write to a broken pipe raises SIGPIPE: a library may not change the host's
 * disposition, so the loop blocks the signal in its own thread for as long as
 * it runs.
 */
#include "io/loop.h"

#include "base/mem.h"
#include "io/loop_impl.h"
#include "io/stream_impl.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

enum {
    LAST_TURNS = 4,
    SCRATCH_MAX = 64 * 1024 * 1024,
    SCRATCH_KEPT = 1024 * 1024, /* one huge message is no reason to hold it */
};

static void read_clock(fl_loop *loop)
{
    if (loop->driven) {
        loop->now = fl_clock_now(&loop->clock);
        return;
    }
    uv_update_time(&loop->uv);
    loop->now = uv_now(&loop->uv);
}

void fl_loop_refresh(fl_loop *loop)
{
    if (loop->driven || !loop->running) /* else the turn did */
        read_clock(loop);
}

void fl_loop_eat_sigpipe(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigtimedwait(&set, NULL, &(struct timespec){0});
}

static void run_dirty(fl_loop *loop)
{
    fl_list dirty;
    fl_list *node;

    if (fl_list_empty(&loop->dirty))
        return;
    fl_list_move(&dirty, &loop->dirty);
    while ((node = fl_list_take(&dirty)) != NULL)
        fl_stream_turn(FL_LIST_ENTRY(node, fl_stream, dirty));
}

static void on_wake(uv_async_t *wake)
{
    fl_loop_run_posts(wake->data);
}

/* uv_run() does nothing when nothing is alive, and yet has something to do:
 * it enters descriptors in its set, and tells who was closed. */
static void run_guest(fl_loop *loop)
{
    loop->stirred = false;
    uv_ref((uv_handle_t *)&loop->wake);
    uv_run(&loop->uv, UV_RUN_NOWAIT);
    uv_unref((uv_handle_t *)&loop->wake);
}

static void on_guest(fl_watch *watch, unsigned events)
{
    (void)events;
    run_guest(FL_LIST_ENTRY(watch, fl_loop, guest));
}

static bool add_guest(fl_loop *loop)
{
    fl_watch_init(&loop->guest, on_guest);
    loop->guest.fd = uv_backend_fd(&loop->uv);
    return fl_poller_ask(&loop->poller, &loop->guest, EPOLLIN) == 0;
}

/* libuv's part, and the poller with it. */
static bool init_uv(fl_loop *loop)
{
    if (uv_loop_init(&loop->uv) != 0)
        return false;
    if (fl_poller_open(&loop->poller) != FL_OK)
        goto fail;
    if (!add_guest(loop) || uv_mutex_init(&loop->lock) != 0)
        goto fail_poller;
    if (uv_async_init(&loop->uv, &loop->wake, on_wake) != 0)
        goto fail_lock;
    loop->wake.data = loop;
    uv_unref((uv_handle_t *)&loop->wake); /* no reason for it to go on */
    return true;

fail_lock:
    uv_mutex_destroy(&loop->lock);
fail_poller:
    fl_poller_close(&loop->poller);
fail:
    uv_loop_close(&loop->uv);
    return false;
}

fl_loop *fl_loop_new_with(const fl_loop_options *options)
{
    fl_loop *loop = fl_mem_zalloc(sizeof *loop);

    if (loop == NULL)
        return NULL;
    loop->wheel = fl_mem_alloc(sizeof *loop->wheel);
    if (loop->wheel == NULL || !init_uv(loop)) {
        fl_mem_free(loop->wheel);
        fl_mem_free(loop);
        return NULL;
    }
    loop->log = options->log;
    loop->driven = options->clock != NULL;
    loop->clock = loop->driven ? *options->clock : fl_clock_system();
    fl_loop_refresh(loop);
    fl_wheel_init(loop->wheel, loop->now);
    fl_list_init(&loop->dirty);
    fl_list_init(&loop->afters);
    fl_list_init(&loop->roots);
    fl_list_init(&loop->waiting);
    fl_list_init(&loop->posts);
    fl_pool_init(&loop->pool);
    fl_buf_init(&loop->scratch, SCRATCH_MAX);
    run_guest(loop);
    return loop;
}

fl_loop *fl_loop_new(void)
{
    return fl_loop_new_with(&(fl_loop_options){0});
}

static void assert_closing(uv_handle_t *handle, void *user)
{
    (void)user;
    assert(uv_is_closing(handle));
}

void fl_loop_free(fl_loop *loop)
{
    if (loop == NULL)
        return;
    fl_loop_drop_tasks(loop);
    /* what was given up before it was started needs a turn or two to go */
    for (int i = 0; i < LAST_TURNS && loop->live > 0; i++)
        fl_loop_step(loop);
    assert(loop->live == 0);
    assert(loop->wheel->running == 0);
    assert(loop->poller.wanted == 0);
    uv_close((uv_handle_t *)&loop->wake, NULL);
    uv_walk(&loop->uv, assert_closing, NULL);
    /* A look-up whose stream was closed may still be on its thread. */
    while (uv_loop_close(&loop->uv) != 0)
        uv_run(&loop->uv, UV_RUN_ONCE);
    fl_poller_close(&loop->poller);
    uv_mutex_destroy(&loop->lock);
    fl_pool_deinit(&loop->pool);
    fl_buf_reset(&loop->scratch);
    fl_mem_free(loop->plain);
    fl_mem_free(loop->wheel);
    fl_mem_free(loop);
}

static bool is_left(fl_loop *loop)
{
    return loop->poller.wanted > 0 || loop->wheel->running > 0 ||
           loop->stirred || !fl_list_empty(&loop->dirty) ||
           uv_loop_alive(&loop->uv) || fl_loop_has_posts(loop);
}

/* Until the wheel must turn, by a clock that is read now: a foreign loop may
 * have been busy for a while since the last turn. */
static int until_due(const fl_loop *loop)
{
    uint64_t due;

    if (!fl_wheel_next(loop->wheel, &due))
        return -1;
    uint64_t now =
        loop->driven ? fl_clock_now(&loop->clock) : uv_hrtime() / 1000000;
    uint64_t wait = due > now ? due - now : 0;
    return wait < INT_MAX ? (int)wait : INT_MAX;
}

/* How long the poll may wait. A clock that is driven moves when it is told to,
 * not while we wait. */
static int patience(fl_loop *loop)
{
    if (!fl_list_empty(&loop->dirty) || loop->stirred || loop->stopping ||
        !fl_list_empty(&loop->wheel->soon) || !is_left(loop))
        return 0;
    return loop->driven ? -1 : until_due(loop);
}

static void turn(fl_loop *loop, bool may_wait)
{
    fl_polled polled;

    fl_wheel_turn(loop);
    run_dirty(loop);
    if (loop->stirred)
        run_guest(loop);
    fl_poller_wait(&loop->poller, may_wait ? patience(loop) : 0, &polled);
    read_clock(loop);
    fl_poller_tell(&polled);
    run_dirty(loop);
    run_dirty(loop); /* those that had nothing left, and closed */
}

static void enter(fl_loop *loop, sigset_t *mask)
{
    sigset_t block;

    assert(!loop->running); /* not from inside a callback */
    sigemptyset(&block);
    sigaddset(&block, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &block, mask);
    fl_loop_refresh(loop);
    loop->running = true;
    fl_loop_run_posts(loop);
    run_dirty(loop);
}

static void leave(fl_loop *loop, const sigset_t *mask)
{
    loop->running = false;
    loop->stopping = false;
    pthread_sigmask(SIG_SETMASK, mask, NULL);
}

void fl_loop_run(fl_loop *loop)
{
    sigset_t mask;

    enter(loop, &mask);
    while (!loop->stopping && is_left(loop))
        turn(loop, true);
    leave(loop, &mask);
}

void fl_loop_stop(fl_loop *loop)
{
    loop->stopping = true;
}

int fl_loop_fd(const fl_loop *loop)
{
    return loop->poller.set;
}

/* A post has made the descriptor readable, so it needs no look here. */
int fl_loop_timeout(const fl_loop *loop)
{
    if (!fl_list_empty(&loop->dirty) || loop->stirred)
        return 0;
    return until_due(loop);
}

bool fl_loop_step(fl_loop *loop)
{
    sigset_t mask;

    enter(loop, &mask);
    turn(loop, false);
    bool left = is_left(loop);
    leave(loop, &mask);
    return left;
}

uint64_t fl_loop_now(const fl_loop *loop)
{
    return loop->now;
}

uint64_t fl_loop_unix(const fl_loop *loop)
{
    return loop->driven ? loop->now : (uint64_t)fl_clock_unix() * 1000;
}

fl_log *fl_loop_log(const fl_loop *loop)
{
    return loop->log;
}

void fl_loop_set_log(fl_loop *loop, fl_log *log)
{
    loop->log = log;
}

fl_pool *fl_loop_pool(fl_loop *loop)
{
    return &loop->pool;
}

fl_buf *fl_loop_scratch(fl_loop *loop)
{
    if (loop->scratch.cap > SCRATCH_KEPT)
        fl_buf_reset(&loop->scratch);
    else
        fl_buf_truncate(&loop->scratch, 0);
    return &loop->scratch;
}
