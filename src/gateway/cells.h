/*
 * cells.h - the two ways between the eras, where more is to be done than to
 * find other words.
 *
 *   to_legacy.c   modern clients of legacy servers: discover, listen, parked
 *                 calls, log levels, tasks
 *   to_modern.c   legacy clients of modern servers: levels, subscriptions,
 *                 rounds of input, tasks
 *
 * Each is asked about every request and every answer on its way, and says
 * whether it has taken it over.
 */
#ifndef FL_GATEWAY_CELLS_H
#define FL_GATEWAY_CELLS_H

#include "gateway/back.h"

/* A request on its way out. True: it is taken care of, and may be gone. */
bool fl_to_legacy_takes(fl_errand *errand, const fl_msg *msg);
bool fl_to_modern_takes(fl_errand *errand, const fl_msg *msg);

/* Its answer. True: it is not the last word. */
bool fl_to_legacy_answers(fl_errand *errand, const fl_msg *msg);
bool fl_to_modern_answers(fl_errand *errand, const fl_msg *msg);

/* A question of a legacy server, whose oldest request is a modern client's, or
 * that has none: `errand` is NULL. True: it is taken care of. */
bool fl_to_legacy_asks(fl_back *back, fl_errand *errand, const fl_msg *msg,
                       fl_reply reply);
/* The server takes a question back. */
void fl_to_legacy_withdraws(fl_back *back, const fl_msg *msg);

/* Progress of a parked errand; a page was seen. */
void fl_to_legacy_progress(fl_errand *errand, const fl_msg *msg);
void fl_to_legacy_elicited(fl_back *back, const fl_msg *msg);

/* A log message of a server, for the client of this errand. */
void fl_cells_log(fl_errand *errand, const fl_msg *msg);

/* A list or a resource of a legacy server has changed: for modern listeners. */
void fl_to_legacy_changed(fl_back *back, const fl_msg *msg);

/* The server is ready, again perhaps; it goes. */
void fl_to_legacy_ready(fl_back *back);
void fl_to_modern_ready(fl_back *back);
/* An outage: what a legacy server has asked it does not wait for any more; it
 * will not come back. */
void fl_to_legacy_down(fl_back *back);
void fl_to_legacy_end(fl_back *back);
void fl_to_legacy_free(fl_back *back);
void fl_to_modern_free(fl_back *back);

/* A parked errand will not be answered: the server has gone. */
void fl_to_legacy_lost(fl_errand *errand, const fl_error *why);

/* An errand goes, and what hangs on it with it. */
void fl_cells_drop(fl_errand *errand);

/* A client has left, whose calls may be parked. */
void fl_to_legacy_left(const fl_front *front);

/* A client of a legacy conversation is ready; it has left. */
void fl_to_modern_began(fl_front *front);
void fl_to_modern_left(fl_front *front);

#endif
