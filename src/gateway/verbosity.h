/*
 * verbosity.h - how much of its log a legacy server is to tell, for requests
 * that each say how much they want to hear.
 *
 * A legacy server has one level for all. It is the most verbose that any
 * request in flight has asked for; when nobody has asked for a while, it is
 * relaxed. What a request has not asked for it does not hear.
 */
#ifndef FL_GATEWAY_VERBOSITY_H
#define FL_GATEWAY_VERBOSITY_H

#include "gateway/back.h"

enum { FL_VERBOSITY_IDLE_MS = 60000 };

typedef struct fl_verbosity {
    fl_timer timer;
} fl_verbosity;

void fl_verbosity_init(fl_verbosity *verbosity, fl_back *back);
void fl_verbosity_deinit(fl_verbosity *verbosity);

/* A request is about to be sent: the server is told first, if need be. */
void fl_verbosity_want(fl_errand *errand);

/* A message of the log, for the client of this request: on the stream of the
 * one it is about, or of that client's oldest that wants any. */
void fl_verbosity_hear(fl_errand *of, const fl_msg *msg);

#endif
