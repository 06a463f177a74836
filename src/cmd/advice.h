/*
 * advice.h - what to do next when a server could not be talked to.
 */
#ifndef FL_CMD_ADVICE_H
#define FL_CMD_ADVICE_H

#include "cmd/exits.h"

#include <fairlead/types.h>

/* A sentence for people, or NULL when there is nothing useful to say. */
const char *fl_advice_for(fl_status status, bool is_child);

/* The same for what the server says: a JSON-RPC error, or nothing. `revision`
 * is the one it was said in; "": none is agreed on. */
const char *fl_advice_for_error(fl_span error, const char *revision);

/* How a conversation that ended with `status` ends the program. */
fl_exit fl_advice_exit(fl_status status);

#endif
