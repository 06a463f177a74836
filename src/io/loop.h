/*
 * loop.h - what the rooms above io need of the loop besides its public face.
 */
#ifndef FL_IO_LOOP_H
#define FL_IO_LOOP_H

#include "base/clock.h"
#include "base/log.h"
#include "base/pool.h"

#include <fairlead/loop.h>

typedef struct fl_loop_options {
    const fl_clock *clock; /* NULL: the system's; copied. Tests drive theirs:
                              a timer is due when this clock says so */
    fl_log *log;           /* borrowed for the loop's life; NULL: silent */
} fl_loop_options;

FL_MUST_USE fl_loop *fl_loop_new_with(const fl_loop_options *options);

/* Milliseconds, as of the start of this turn: cheap enough for each message. */
uint64_t fl_loop_now(const fl_loop *loop);

/* Milliseconds since 1970, for what others than this process go by; a test's
 * clock drives it too. It may jump: nothing is timed with it. */
uint64_t fl_loop_unix(const fl_loop *loop);

fl_log *fl_loop_log(const fl_loop *loop);
void fl_loop_set_log(fl_loop *loop, fl_log *log);

/* Spare buffer memory, shared by everything on this loop. */
fl_pool *fl_loop_pool(fl_loop *loop);

/*
 * An empty buffer to compose one message in, for use within one callback and
 * not across a call that may want it too. Its memory is kept for the next.
 */
fl_buf *fl_loop_scratch(fl_loop *loop);

#endif
