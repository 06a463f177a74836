/*
 * file.h - reading a file below a directory, whole: here and now, or elsewhere
 * while the loop goes on.
 */
#ifndef FL_IO_FILE_H
#define FL_IO_FILE_H

#include "base/buf.h"
#include "io/below.h"

#include <fairlead/loop.h>

/* What to read. Nothing but a regular file is. */
typedef struct fl_file_place {
    int root; /* fl_below_root(); borrowed */
    const char *path;
    size_t max;   /* bytes it may have */
    unsigned how; /* fl_below_how */
} fl_file_place;

/*
 * Waits for the disk. Initialises `bytes`, which is the caller's to reset
 * whatever is returned. FL_E_TOO_BIG: more than `max`, also if it grew to that
 * while it was read; otherwise as fl_below_open().
 */
FL_MUST_USE fl_status fl_file_slurp(const fl_file_place *place, fl_buf *bytes);

typedef struct fl_file_result {
    fl_status status;
    fl_span bytes; /* borrowed */
    bool is_text;  /* valid UTF-8, and no NUL among it */
} fl_file_result;

typedef void fl_file_done(void *user, const fl_file_result *result);

typedef struct fl_file_read fl_file_read;

/*
 * Reads on another thread, then calls `done` on the loop's, once and always
 * later, unless it is cancelled before; only a few at a time. The place is
 * copied. FL_E_NOMEM, FL_E_IO and FL_E_LIMIT (descriptors): it is not called
 * at all.
 */
FL_MUST_USE fl_status fl_file_read_start(fl_loop *loop,
                                         const fl_file_place *place,
                                         fl_file_done *done, void *user,
                                         fl_file_read **read);

/* `done` will not be called any more. Each must be done or cancelled before
 * the loop is freed. */
void fl_file_read_cancel(fl_file_read *read);

#endif
