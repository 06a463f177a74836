/*
 * watch.h - resources that a client wants to hear about when they change:
 * resources/subscribe of the legacy era. (The modern one says so on its
 * listen.)
 */
#ifndef FL_SERVER_WATCH_H
#define FL_SERVER_WATCH_H

#include "server/session.h"

/* URIs one client may watch at a time. */
enum { FL_WATCH_MAX = 1024 };

/* Tells the client, if it watches `uri`, now or when there is room; once,
 * however often it changed meanwhile. */
void fl_watch_updated(fl_session *session, fl_span uri);

/* There is room again: says what could not be said. */
void fl_watch_resume(fl_session *session);

/* The link has gone. Harmless when nothing was watched. */
void fl_watch_free(fl_session *session);

#endif
