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
 * Those that judge say what is wrong, and leave the answer to whoever asked;
 * the others answer and return false, or return true.
 */
#ifndef FL_SERVER_LADDER_H
#define FL_SERVER_LADDER_H

#include "server/session.h"

#include <fairlead/server.h>

enum { FL_LADDER_TEXT = 256 };

/* Filled when a judgement is false; its data is to be reset then. An empty text
 * is the code's own. */
typedef struct fl_ladder_fault {
    int code;
    char text[FL_LADDER_TEXT];
    fl_buf data; /* JSON, or empty */
} fl_ladder_fault;

/* Up to the method. `revision` is the one that the answer is to be made in,
 * whatever the judgement. */
FL_MUST_USE bool fl_ladder_judge(fl_reply reply, bool fields_too,
                                 const fl_msg *msg,
                                 const fl_revision **revision,
                                 fl_ladder_fault *fault);
/* The name, the URI or the task the request is about. */
FL_MUST_USE bool fl_ladder_judge_name(fl_reply reply, bool fields_too,
                                      const fl_msg *msg,
                                      fl_ladder_fault *fault);
/* The arguments that a tool's schema (JSON) wants mirrored (mirror.h). */
FL_MUST_USE bool fl_ladder_judge_arguments(fl_reply reply, fl_span schema,
                                           fl_span arguments,
                                           fl_ladder_fault *fault);

/* Up to the method. Sets the revision. */
bool fl_ladder_claim(fl_return *to, const fl_msg *msg);

/* The name, the URI or the task the request is about. */
bool fl_ladder_name(const fl_return *to, const fl_msg *msg);

/* The arguments that the tool's schema wants mirrored (mirror.h). */
bool fl_ladder_arguments(const fl_return *to, const fl_msg *msg,
                         const fl_tool *tool, fl_span arguments);

#endif
