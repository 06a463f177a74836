/*
 * drive.h - a call that has become a task, seen through to its end for a client
 * that knows nothing of tasks.
 */
#ifndef FL_GATEWAY_DRIVE_H
#define FL_GATEWAY_DRIVE_H

#include "gateway/back.h"

typedef struct fl_drive fl_drive;

/* The server has made `task`, an object, of the errand's call. False: it
 * cannot be followed (no id, no memory). */
bool fl_drive_begin(fl_errand *errand, fl_span task);

/* With the errand: a task that has not ended is cancelled. */
void fl_drive_free(fl_drive *drive);

/* Its end has come, and is being told: there is nothing more to wait for. */
bool fl_drive_is_over(const fl_drive *drive);

/* Whether it is this task, a raw token. */
bool fl_drive_is(const fl_drive *drive, fl_span task);

/* Params that name a task, and nothing else. */
FL_MUST_USE fl_status fl_drive_write(fl_span task, fl_buf *out);

/* An answer nobody waits for any more. If it says that the server, a legacy
 * one, has made a task of the call, that is cancelled: nobody will ever ask for
 * it. */
void fl_drive_disown(fl_back *back, const fl_msg *answer);

#endif
