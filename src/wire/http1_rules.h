/*
 * http1_rules.h - what a head must be as a whole, once its lines are read.
 */
#ifndef FL_WIRE_HTTP1_RULES_H
#define FL_WIRE_HTTP1_RULES_H

#include "wire/http1_head.h"

/* Judge a message whose lines have been read, reduce its target to origin
 * form, and fill in how its body is framed. FL_OK, or FL_E_BAD_MESSAGE with
 * message->fault. */
FL_MUST_USE fl_status fl_http1_rules_request(fl_http1_message *message);
FL_MUST_USE fl_status fl_http1_rules_response(fl_http1_message *message);

/* HOST[:PORT] as RFC 3986 3.2 has it, without a user. */
bool fl_http1_rules_authority(fl_span text);

#endif
