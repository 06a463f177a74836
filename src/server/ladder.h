/*
 * ladder.h - what a request of the modern era must get past to be served.
 *
 * In this order, and the first rung that does not hold answers: the fields
 * MCP-Protocol-Version and Mcp-Method say what the message says (-32020); we
 * speak the version claimed (-32022); the client's capabilities are there, and
 * the log level, if there is one, is one (-32602); the method is known
 * (-32601: not here, but in methods.c); the field Mcp-Name says what the
 * message says, and so do those that mirror arguments (-32020). Rungs about
 * fields are for links that have them: a channel has none.
 *
 * Each function answers and returns false, or returns true.
 */
#ifndef FL_SERVER_LADDER_H
#define FL_SERVER_LADDER_H

#include "server/session.h"

#include <fairlead/server.h>

/* Up to the method. Sets the revision. */
bool fl_ladder_claim(fl_return *to, const fl_msg *msg);

/* The name, the URI or the task the request is about. */
bool fl_ladder_name(const fl_return *to, const fl_msg *msg);

/* The arguments that the tool's schema wants mirrored (mirror.h). */
bool fl_ladder_arguments(const fl_return *to, const fl_msg *msg,
                         const fl_tool *tool, fl_span arguments);

#endif
