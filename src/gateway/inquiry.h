/*
 * inquiry.h - what a server asks one of its clients.
 *
 * A server of the legacy era asks by requests of its own; for one of the modern
 * era we do (rounds.h). The server's id is known to it alone; the client sees
 * one of ours, "g1", "g2" and so on, so that two servers, or one that was
 * started twice, never meet under one id. An inquiry ends exactly once: by its
 * answer, when the server takes it back, or when either end goes.
 */
#ifndef FL_GATEWAY_INQUIRY_H
#define FL_GATEWAY_INQUIRY_H

#include "gateway/back.h"

/* A request of the server. It is answered now, or passed on. */
void fl_inquiry_hear(fl_back *back, const fl_msg *msg, fl_reply reply);

/* One for roots that was held, for a client that can be asked now. */
void fl_inquiry_hand(fl_front *front, fl_back *back, fl_span id,
                     fl_reply reply);

/* The server takes it back: notifications/cancelled. */
void fl_inquiry_withdraw(fl_back *back, const fl_msg *msg);

/* A response of the client, and its progress. */
void fl_inquiry_answer(fl_front *front, const fl_msg *msg);
void fl_inquiry_progress(fl_front *front, const fl_msg *msg);

/*
 * A question of ours, on behalf of a modern server: it goes by the stream of
 * the call it is about. `fn` gets the response, and the inquiry is gone then;
 * NULL means that there will be none. FL_BUSY, FL_E_LIMIT, FL_E_NOMEM and what
 * a link says: it was not asked.
 */
typedef struct fl_inquiry fl_inquiry;
typedef void fl_inquiry_fn(void *user, const fl_msg *msg);
FL_MUST_USE fl_status fl_inquiry_ask(fl_errand *about, fl_method method,
                                     fl_span params, fl_inquiry_fn *fn,
                                     void *user, fl_inquiry **out);
/* Its answer is not wanted any more, and the client is told so. The call must
 * not have been answered yet. */
void fl_inquiry_drop(fl_inquiry *inquiry);

/* Either end has gone. */
void fl_inquiries_lose_front(fl_front *front);
void fl_inquiries_lose_back(fl_back *back);

/* Answer a request of a server: with an error, or with a result (JSON). */
void fl_inquiry_refuse(fl_reply reply, fl_span id, int code, fl_span text);
void fl_inquiry_give(fl_reply reply, fl_span id, fl_span result);

#endif
