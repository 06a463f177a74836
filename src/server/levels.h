/*
 * levels.h - the levels of a log (RFC 5424, 6.2.1), by name.
 */
#ifndef FL_SERVER_LEVELS_H
#define FL_SERVER_LEVELS_H

#include "base/buf.h"

#include <fairlead/call.h>

#include <stdarg.h>

enum { FL_LEVELS_TEXT = 64 * 1024 }; /* room for what is formatted */

/* NULL for what is no level. */
const char *fl_levels_name(fl_level level);

/* A raw JSON string; FL_E_INVALID: it names no level. */
FL_MUST_USE fl_status fl_levels_read(fl_span token, fl_level *level);

/* The params of notifications/message. `data` is JSON. */
FL_MUST_USE fl_status fl_levels_write(fl_buf *out, fl_level level,
                                      const char *logger, fl_span data);

/* The same for a text, which is cut off where it is too long. */
FL_MUST_USE fl_status fl_levels_format(fl_buf *out, fl_level level,
                                       const char *logger, const char *format,
                                       va_list args) FL_PRINTF(4, 0);

#endif
