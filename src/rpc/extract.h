/*
 * extract.h - the little that a transport wants to know of a message's inside.
 *
 * Nothing is validated again: the message has been read.
 */
#ifndef FL_RPC_EXTRACT_H
#define FL_RPC_EXTRACT_H

#include "base/buf.h"
#include "rpc/msg.h"
#include "rpc/revision.h"

/*
 * The name, URI or task a request is about: the token of params.name for
 * tools/call and prompts/get, of params.uri for resources/read, of
 * params.taskId for tasks/... Empty when there is none, or it is no string.
 */
fl_span fl_extract_object(const fl_msg *msg);

/* The same member whether it is there or not, of whatever type; NULL when the
 * method has none. */
const fl_span *fl_extract_named(const fl_msg *msg);

/* What stands between the quotes of a string, as a method does; of other tokens
 * nothing. */
fl_span fl_extract_inside(fl_span token);

/* Append what that, or the token of a string, means. Other tokens mean
 * nothing. */
FL_MUST_USE fl_status fl_extract_meaning(fl_span inside, fl_buf *out);
FL_MUST_USE fl_status fl_extract_text(fl_span token, fl_buf *out);

/* What an answer to initialize has settled on; NULL: it does not say, or says
 * what we do not know. */
const fl_revision *fl_extract_revision(const fl_msg *msg);

/* Appends what {"id", "name", "arguments"} means, a dialect's tool call, as a
 * request of tools/call. `text` is valid JSON. FL_E_BAD_MESSAGE: it is none. */
FL_MUST_USE fl_status fl_extract_tool_call(fl_span text, fl_buf *out);

/* Of an error response; 0 when it is none. */
int64_t fl_extract_error_code(const fl_msg *msg);
/* The token of its message; empty when there is none. */
fl_span fl_extract_error_message(const fl_msg *msg);

#endif
