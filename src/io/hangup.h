/*
 * hangup.h - tells when whoever is at the other end of a pipe has gone.
 *
 * Nothing is read: what was written and is not wanted stays where it is.
 */
#ifndef FL_IO_HANGUP_H
#define FL_IO_HANGUP_H

#include "io/poller.h"

typedef struct fl_hangup {
    fl_watch watch;
    fl_loop *loop; /* NULL: nothing is watched */
    fl_task *task;
    void *user;
} fl_hangup;

/* `task` is called once, when the other end is closed. What is neither pipe nor
 * socket has none: then nothing is watched, and that is fine. It does not keep
 * the loop running. */
FL_MUST_USE fl_status fl_hangup_init(fl_hangup *hangup, fl_loop *loop, int fd,
                                     fl_task *task, void *user);
/* The descriptor stays open. May be called from the task. */
void fl_hangup_deinit(fl_hangup *hangup);

#endif
