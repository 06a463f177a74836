/*
 * dotenv.h - the variables of an env file.
 *
 *     # a remark
 *     NAME=value            up to a " #" or the end of the line
 *     export NAME="value"   in which \n, \" and \\ are what they are in JSON
 *     NAME='value'          as it stands
 */
#ifndef FL_CONFIG_DOTENV_H
#define FL_CONFIG_DOTENV_H

#include "base/buf.h"

/*
 * Takes the next variable off the front of `text`. FL_END when there is none;
 * FL_E_INVALID: a line is not of this form. `*line` counts lines, and starts
 * at 0; `value` is cleared first.
 */
FL_MUST_USE fl_status fl_dotenv_next(fl_span *text, size_t *line, fl_span *name,
                                     fl_buf *value);

#endif
