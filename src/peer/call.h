/*
 * call.h - the inside of an fl_call, for the files of this room only.
 */
#ifndef FL_PEER_CALL_H
#define FL_PEER_CALL_H

#include "peer/session.h"

#include <fairlead/server.h>

typedef struct fl_call_string fl_call_string;

struct fl_call {
    fl_return to;
    fl_span id; /* raw tokens; borrowed from the message until deferred */
    fl_span arguments;
    fl_span progress_token;
    fl_call_string *strings; /* what fl_call_text() had to unescape */
    size_t kept;             /* bytes of the message, if deferred */
    fl_list node;            /* among the session's, if deferred */
    fl_tool_fn *on_cancel;
    void *cancel_user;
    bool deferred;
    bool ended;
    bool cancelled;
    bool replied;  /* its reply has ended: what the handler says goes nowhere */
    fl_span fault; /* about the first argument that was wrong; or empty */
};

/* What was unescaped or said about the arguments goes. */
void fl_call_free_strings(fl_call *call);

/* Runs the tool on the message's parts, all borrowed. It is answered, or
 * deferred, on return. */
void fl_call_run(const fl_return *to, const fl_tool *tool, fl_span id,
                 fl_span arguments, fl_span progress_token);

/* The client cancelled it, or went: the handler is told. `call` may have been
 * answered, and so be gone, on return. */
void fl_call_cancel(fl_call *call);

#endif
