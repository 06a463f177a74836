/*
 * listening.h - subscriptions/listen of modern clients, for legacy servers.
 *
 * The request stays open; what changes is told on it, tagged with its id. First
 * of all it is told what it was granted: what the server can tell of, and of
 * the resources those that the server let itself be subscribed to.
 */
#ifndef FL_GATEWAY_LISTENING_H
#define FL_GATEWAY_LISTENING_H

#include "gateway/watches.h"

enum { FL_LISTENING_URIS = 1024 }; /* of one listen; more are not granted */

typedef struct fl_listening fl_listening;

/* Takes the errand over, or fails it. */
void fl_listening_open(fl_errand *errand, const fl_msg *msg);

/* With its errand. */
void fl_listening_free(fl_listening *listening);

/* A notification of the server: a list or a resource has changed. */
void fl_listening_hear(fl_back *back, const fl_msg *msg, fl_method method);

/* There is room again toward this client. */
void fl_listening_catch_up(const fl_front *front);

/* The server was started again: what changed meanwhile is not known. */
void fl_listening_renew(fl_back *back);

/* listening_end.c: ends it in order; the errand is gone. And all of a back. */
void fl_listening_end(fl_errand *errand);
/* The same with an answer that is the server's: one whole response. */
void fl_listening_answer(fl_errand *errand, const fl_span *parts, size_t count);
void fl_listening_end_all(fl_back *back);

/* For the watches: one of its resources is settled. */
void fl_listening_settled(void *user);

#endif
