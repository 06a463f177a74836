/*
 * loop.c - the event loop.
 *
 * A turn of libuv's loop is: poll, callbacks, check, close callbacks, prepare.
 * Everything made with the loop only gathers work while callbacks run; the
 * check (after what was read) and the prepare (after timers, posts and
 * closings, before the poll may wait) do it: due timers, then one system call
 * for each stream that was written to. Work that comes up during prepare
 * itself wakes the poll at once, so that nothing is slept over.
 *
 * Two things libuv does not do for us. Its timers are large, so one of them
 * drives our wheel. And a write to a broken pipe raises SIGPIPE: a library may
 * not change the host's disposition, so the loop blocks the signal in its own
 * thread for as long as it runs.
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

void fl_loop_refresh(fl_loop *loop)
{
    if (loop->driven) {
        loop->now = fl_clock_now(&loop->clock);
        return;
    }
    if (!loop->running) /* else libuv did, when its poll returned */
        uv_update_time(&loop->uv);
    loop->now = uv_now(&loop->uv);
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

static void on_tick(uv_timer_t *tick)
{
    fl_loop *loop = tick->data;

    loop->tick_armed = false; /* the wheel turns before the next poll */
}

/* Sees to it that the poll ends in time. A tick that is armed too early costs
 * one idle turn; to rearm it whenever an idle timeout moves would cost more. */
static void arm_tick(fl_loop *loop)
{
    uint64_t due;

    if (loop->driven || loop->wheel->running == 0 ||
        !fl_wheel_next(loop->wheel, &due))
        return;
    if (loop->tick_armed && loop->tick_due <= due)
        return;
    uv_timer_start(&loop->tick, on_tick, due > loop->now ? due - loop->now : 0,
                   0);
    loop->tick_due = due;
    loop->tick_armed = true;
}

static void on_before_poll(uv_prepare_t *prepare)
{
    fl_loop *loop = prepare->data;

    fl_loop_refresh(loop);
    fl_wheel_turn(loop);
    run_dirty(loop);
    arm_tick(loop);
    if (!fl_list_empty(&loop->dirty))
        uv_async_send(&loop->wake);
}

static void on_after_poll(uv_check_t *check)
{
    fl_loop *loop = check->data;

    fl_loop_refresh(loop);
    run_dirty(loop);
}

static void init_handles(fl_loop *loop)
{
    uv_prepare_init(&loop->uv, &loop->before_poll);
    uv_check_init(&loop->uv, &loop->after_poll);
    uv_timer_init(&loop->uv, &loop->tick);
    loop->before_poll.data = loop->after_poll.data = loop;
    loop->tick.data = loop->wake.data = loop;
    uv_prepare_start(&loop->before_poll, on_before_poll);
    uv_check_start(&loop->after_poll, on_after_poll);
    /* None of these is a reason for the loop to go on. */
    uv_unref((uv_handle_t *)&loop->before_poll);
    uv_unref((uv_handle_t *)&loop->after_poll);
    uv_unref((uv_handle_t *)&loop->tick);
    uv_unref((uv_handle_t *)&loop->wake);
}

/* libuv's part; what cannot fail comes last. */
static bool init_uv(fl_loop *loop)
{
    if (uv_loop_init(&loop->uv) != 0)
        return false;
    if (uv_mutex_init(&loop->lock) != 0)
        goto fail;
    if (uv_async_init(&loop->uv, &loop->wake, on_wake) != 0)
        goto fail_lock;
    init_handles(loop);
    return true;

fail_lock:
    uv_mutex_destroy(&loop->lock);
fail:
    uv_loop_close(&loop->uv);
    return false;
}

/* One turn that does not wait. uv_run() would not poll when nothing is alive,
 * and a foreign loop needs the poll for two things: it enters our descriptors
 * in the backend, and it quiets a wake-up whose posts have been run. */
static void poll_once(fl_loop *loop)
{
    uv_ref((uv_handle_t *)&loop->wake);
    uv_run(&loop->uv, UV_RUN_NOWAIT);
    if (loop->wheel->running == 0)
        uv_unref((uv_handle_t *)&loop->wake);
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
    poll_once(loop);
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
    uv_close((uv_handle_t *)&loop->before_poll, NULL);
    uv_close((uv_handle_t *)&loop->after_poll, NULL);
    uv_close((uv_handle_t *)&loop->tick, NULL);
    uv_close((uv_handle_t *)&loop->wake, NULL);
    uv_walk(&loop->uv, assert_closing, NULL);
    /* A look-up whose stream was closed may still be on its thread. */
    while (uv_loop_close(&loop->uv) != 0)
        uv_run(&loop->uv, UV_RUN_ONCE);
    uv_mutex_destroy(&loop->lock);
    fl_pool_deinit(&loop->pool);
    fl_buf_reset(&loop->scratch);
    fl_mem_free(loop->plain);
    fl_mem_free(loop->wheel);
    fl_mem_free(loop);
}

static bool is_left(fl_loop *loop)
{
    return uv_loop_alive(&loop->uv) || !fl_list_empty(&loop->dirty) ||
           fl_loop_has_posts(loop);
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
    while (!loop->stopping && is_left(loop)) {
        uv_run(&loop->uv, UV_RUN_DEFAULT);
        fl_loop_run_posts(loop);
        run_dirty(loop);
    }
    leave(loop, &mask);
}

void fl_loop_stop(fl_loop *loop)
{
    loop->stopping = true;
    uv_stop(&loop->uv);
}

int fl_loop_fd(const fl_loop *loop)
{
    return uv_backend_fd(&loop->uv);
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

int fl_loop_timeout(const fl_loop *loop)
{
    if (!fl_list_empty(&loop->dirty))
        return 0;
    /* A post has made the descriptor readable, so it needs no look here; and
     * libuv says 0 when it has nothing to wait for, where we mean "never". */
    int wait = until_due(loop);
    int uv = uv_loop_alive(&loop->uv) ? uv_backend_timeout(&loop->uv) : -1;
    return uv >= 0 && (wait < 0 || uv < wait) ? uv : wait;
}

bool fl_loop_step(fl_loop *loop)
{
    sigset_t mask;

    enter(loop, &mask);
    poll_once(loop);
    run_dirty(loop);
    bool left = is_left(loop);
    leave(loop, &mask);
    return left;
}

/* What libuv read when its poll returned: our own note is of before, and the
 * poll may have slept for an hour. */
uint64_t fl_loop_now(const fl_loop *loop)
{
    return loop->driven || !loop->running ? loop->now : uv_now(&loop->uv);
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
