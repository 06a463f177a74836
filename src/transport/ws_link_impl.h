/*
 * ws_link_impl.h - the parts of a WebSocket link, for its own files only:
 * ws_link.c is its life, ws_input.c what it takes in, ws_output.c what it
 * sends, and ws_watch.c its sense of time.
 */
#ifndef FL_TRANSPORT_WS_LINK_IMPL_H
#define FL_TRANSPORT_WS_LINK_IMPL_H

#include "transport/ws_link.h"

/* ws_input.c: bytes of the peer. The caller holds a reference: any message may
 * close the link. */
void fl_ws_input_take(fl_ws_link *ws, fl_span bytes);
/* The output has drained, or nothing more will be said: takes up what was
 * held. */
void fl_ws_input_resume(fl_ws_link *ws);
void fl_ws_input_forget(fl_ws_link *ws);
/* So much waits to leave that nothing more is taken in. */
bool fl_ws_input_is_full(const fl_ws_link *ws);

/* ws_output.c: FL_E_NOMEM: nothing was done. */
FL_MUST_USE fl_status fl_ws_output_open(fl_ws_link *ws);
/* There is room again: says what is owed. */
void fl_ws_output_drained(fl_ws_link *ws);
void fl_ws_output_forget(fl_ws_link *ws);
/* What waits to leave counts against the budget from high water on. */
void fl_ws_output_charge(fl_ws_link *ws, bool full);
/* A control frame, past high water; but then only the latest pong is kept. */
FL_MUST_USE fl_status fl_ws_link_control(fl_ws_link *ws, fl_ws_kind kind,
                                         fl_span body);

/* ws_watch.c: the timer, whatever it is for. */
void fl_ws_watch_run_out(fl_timer *timer);
/* The socket is open. */
void fl_ws_watch_open(fl_ws_link *ws);
/* The first message came: from here on idleness counts. */
void fl_ws_watch_again(fl_ws_link *ws);
/* After input: a message may be in hand that is not whole. */
void fl_ws_watch_message(fl_ws_link *ws, bool begun);
/* The peer is not heard any more, or again, and that is our doing. */
void fl_ws_watch_paused(fl_ws_link *ws);
/* After output: it may be at high water. */
void fl_ws_watch_output(fl_ws_link *ws);
/* Our Close has left, and theirs is waited for. */
void fl_ws_watch_close(fl_ws_link *ws);

/* ws_link.c: whether what the peer says still matters. */
static inline bool fl_ws_link_hears(const fl_ws_link *ws)
{
    return ws->link.state == FL_LINK_ACTIVE ||
           (ws->link.state == FL_LINK_CLOSING && ws->closing_ms != 0);
}
void fl_ws_link_heard_close(fl_ws_link *ws, const fl_ws_message *message);
/* The socket is lost: its owner may come back, or the link ends. What waits
 * may leave for `flush_ms`. */
void fl_ws_link_lose(fl_ws_link *ws, const fl_error *why, uint64_t flush_ms);
/* As fl_ws_link_fail(), but the peer is not listened to any more: it broke the
 * rules, or we lost what it said. */
void fl_ws_link_drop(fl_ws_link *ws, unsigned code, const fl_error *why);
/* Closes the pipe, letting what waits leave. */
void fl_ws_link_shut(fl_ws_link *ws);

#endif
