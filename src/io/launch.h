/*
 * launch.h - what a child does between fork() and being somebody else.
 *
 * For keeper.c only; system calls only, for the reason given in keeper.h.
 */
#ifndef FL_IO_LAUNCH_H
#define FL_IO_LAUNCH_H

#include "io/keeper.h"

/*
 * In the fork that is to become the child, whose parent is `keeper`: takes
 * the plan's every step and executes the program. Returns only on failure:
 * the step that failed, with the reason in errno.
 */
FL_MUST_USE fl_keeper_step fl_launch(const fl_keeper_plan *plan, pid_t keeper);

/* Handlers of our host must not run in its forks, and what it ignores a
 * child must not ignore. */
void fl_launch_reset_signals(void);

/* Closes the descriptors from `first` to `last`, if any. */
void fl_launch_close(unsigned first, unsigned last);

#endif
