/*
 * status.h - filling an fl_error, for code inside the library.
 */
#ifndef FL_BASE_STATUS_H
#define FL_BASE_STATUS_H

#include <fairlead/types.h>

/*
 * Writes status and text to `error`, if there is one, and returns `status`, so
 * that a function can fail in one statement. Control characters in the text
 * are replaced: it may quote a peer and end up on a terminal.
 */
fl_status fl_error_set(fl_error *error, fl_status status, const char *format,
                       ...) FL_PRINTF(3, 4);

#endif
