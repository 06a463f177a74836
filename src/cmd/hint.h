/*
 * hint.h - what to type instead, made of what was typed.
 */
#ifndef FL_CMD_HINT_H
#define FL_CMD_HINT_H

#include <fairlead/types.h>

enum { FL_HINT_SIZE = 512 };

/* Whether `text`, for which a conversation with `url` failed, shows that the
 * port speaks another protocol; then `out` is a sentence that names it. `url`
 * may be NULL. */
FL_MUST_USE bool fl_hint_of_port(const char *url, fl_span text,
                                 char out[FL_HINT_SIZE]);

/* Whether `said`, a server's refusal of a tool's `arguments`, asks for a string
 * where a number or the like was sent; then `out` says how to write one. */
FL_MUST_USE bool fl_hint_of_string(fl_span arguments, fl_span said,
                                   char out[FL_HINT_SIZE]);

#endif
