/*
 * signals.h - SIGINT and SIGTERM, and SIGHUP, as events on the loop.
 *
 * For programs, not for libraries: fl_server_run() and the command use it. The
 * second such signal is not caught any more, so that an impatient user can
 * end what does not end by itself.
 */
#ifndef FL_IO_SIGNALS_H
#define FL_IO_SIGNALS_H

#include <fairlead/loop.h>

typedef struct fl_signals fl_signals;

/* `task` is called at the first SIGINT or SIGTERM. NULL: no memory. It does
 * not keep the loop running. */
FL_MUST_USE fl_signals *fl_signals_watch(fl_loop *loop, fl_task *task,
                                         void *user);

/* `task` is called at each SIGHUP from now on, which else ends the program. */
void fl_signals_on_hangup(fl_signals *signals, fl_task *task);

/* Gives the signals back; may be called from the task. Its memory goes later,
 * on the loop. */
void fl_signals_close(fl_signals *signals);

#endif
