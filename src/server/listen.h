/*
 * listen.h - subscriptions/listen: a request that stays open, to tell what
 * changes (MCP 2026-07-28, "Subscriptions").
 */
#ifndef FL_SERVER_LISTEN_H
#define FL_SERVER_LISTEN_H

#include "server/session.h"

typedef struct fl_listen fl_listen;

/* All of a session, which has this only while there are some. */
struct fl_listens {
    fl_list all;
    unsigned count;
};

/* On a link of one client. One that many share is bounded by max_in_flight. */
enum { FL_LISTEN_MAX = 64 };

/* How its filter asks for resources and tasks. */
#define FL_LISTEN_RESOURCES "resourceSubscriptions"
#define FL_LISTEN_TASKS "taskIds"

/* listen_filter.c: why the filter will not do, or NULL; and the offers whose
 * lists it wants to be told of. */
const char *fl_listen_check(fl_span filter);
unsigned fl_listen_wishes(fl_span filter);

/* listen_admit.c: false: it has been refused. */
bool fl_listen_admit(const fl_return *to, const fl_msg *msg, fl_span filter);

/* NULL when the session has none with this id. */
fl_listen *fl_listen_find(const fl_session *session, fl_span id);

/* The client wants no more of it. False: there is none with this id. */
bool fl_listen_cancel(fl_session *session, fl_span id);

/* The client hung up on it. False: this stream is none of ours. */
bool fl_listen_abandon(fl_session *session, const void *stream);

/* Tells each that wants to know, now or when there is room. */
void fl_listen_changed(fl_session *session, fl_offer offer);

/* The same for those that want to know of this resource. */
void fl_listen_updated(fl_session *session, fl_span uri);

/* Likewise of a task. */
void fl_listen_task(fl_session *session, fl_span id);

/* There is room again: says what could not be said. */
void fl_listen_resume(fl_session *session);

/* Ends all of them: the server is closing. */
void fl_listen_end(fl_session *session);

/* Forgets all of them: the link has gone, and with it whom to tell. */
void fl_listen_forget(fl_session *session);

#endif
