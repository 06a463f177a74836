/*
 * methods.h - the methods a server knows.
 */
#ifndef FL_PEER_METHODS_H
#define FL_PEER_METHODS_H

#include "peer/session.h"

/* Answers a request, now or later, or refuses it. */
void fl_methods_request(fl_return to, const fl_msg *msg);

/* Heeds a notification; one that is unknown or out of place is ignored. */
void fl_methods_notify(fl_return to, const fl_msg *msg);

#endif
