/*
 * loop.h - the event loop: runs by itself, or inside somebody else's.
 *
 * One loop belongs to one thread, and so does everything made with it. Only
 * fl_loop_post() may be called from another thread.
 */
#ifndef FAIRLEAD_LOOP_H
#define FAIRLEAD_LOOP_H

#include <fairlead/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fl_loop fl_loop;

/* NULL when there is no memory or no descriptor left. */
FL_API FL_MUST_USE fl_loop *fl_loop_new(void);

/* Everything made with the loop must have been closed, and its last callback
 * run, before this. Asserts otherwise: a leak is our caller's mistake. Tasks
 * that have not run yet are dropped. */
FL_API void fl_loop_free(fl_loop *loop);

/*
 * Runs until fl_loop_stop() or until nothing is left that could happen.
 *
 * SIGPIPE is blocked in this thread while the loop runs or steps, and given
 * back as it was afterwards: a broken pipe is an error on its stream, and the
 * host's own handling of the signal is left alone. A thread or process started
 * from a callback inherits the mask.
 */
FL_API void fl_loop_run(fl_loop *loop);

/* From any callback: fl_loop_run() returns at the end of this turn. */
FL_API void fl_loop_stop(fl_loop *loop);

/*
 * For a foreign loop: watch fl_loop_fd() for reading, wait no longer than
 * fl_loop_timeout() milliseconds (-1: as long as you like), then call
 * fl_loop_step(), which never waits. It returns whether anything is left.
 */
FL_API int fl_loop_fd(const fl_loop *loop);
FL_API int fl_loop_timeout(const fl_loop *loop);
FL_API bool fl_loop_step(fl_loop *loop);

typedef void fl_task(void *user);

/* Has the loop's thread call `task` soon. The one call for other threads. */
FL_API FL_MUST_USE fl_status fl_loop_post(fl_loop *loop, fl_task *task,
                                          void *user);

/* Calls `task` once, `ms` milliseconds from now. */
FL_API FL_MUST_USE fl_status fl_loop_after(fl_loop *loop, uint64_t ms,
                                           fl_task *task, void *user);

#ifdef __cplusplus
}
#endif

#endif
