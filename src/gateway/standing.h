/*
 * standing.h - what a legacy client has asked for once and for all:
 * subscriptions, and how much of the log it wants.
 *
 * Between one client and a server of its own that is the server's to know. Of
 * a server that many share it is ours: each resource is subscribed to once,
 * and the log is as wordy as the most curious client wants it. And a server
 * that was started again has forgotten it all, and is told anew.
 */
#ifndef FL_GATEWAY_STANDING_H
#define FL_GATEWAY_STANDING_H

#include "gateway/back.h"

/* A request of a legacy client to a legacy server. True: it needs no answer of
 * the server's, has been answered and is gone. */
bool fl_standing_takes(fl_errand *errand, const fl_msg *msg);

/* The server refused what was asked for. */
void fl_standing_refused(const fl_errand *errand);

/* Whether a client wants to hear this message of a log. */
bool fl_standing_wants_log(const fl_front *front, const fl_msg *msg);

/* The server was started again: it is told all of it. */
void fl_standing_replay(fl_back *back);

/* Whether a legacy client has subscribed to it; a raw token. */
bool fl_standing_watches(const fl_back *back, fl_span uri);

/* A client leaves: what it alone wanted is not wanted any more. */
void fl_standing_leave(fl_front *front);

#endif
