/*
 * link_input.h - what the links that are channels do with a text, whether it
 * came as a line or in a frame.
 */
#ifndef FL_TRANSPORT_LINK_INPUT_H
#define FL_TRANSPORT_LINK_INPUT_H

#include "base/log.h"
#include "transport/link.h"

/* Counts it and gives it to the link's owner, who may close the link. */
void fl_link_deliver(fl_link *link, const fl_msg *msg);

/* Who is at the other end, for the log; `info` holds the name. */
fl_log_field fl_link_named(const fl_link *link, fl_link_info *info);

/* fl_msg_read() has said what is wrong with `text`: logs it and, if the peer is
 * a client, tells it. */
void fl_link_refuse(fl_link *link, fl_span text, const fl_msg *msg,
                    const fl_msg_fault *fault);

/* There is no room for this request now: tells a client so. */
void fl_link_turn_away(fl_link *link, fl_span id, const char *reason);

/* Counts an error, and tells a client of it. */
void fl_link_complain(fl_link *link, fl_span id, int code, const char *reason,
                      size_t at);

#endif
