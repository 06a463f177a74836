/*
 * solo.h - calls of modern clients that are not told apart, one at a time.
 *
 * A legacy server asks its questions about a call without naming it. On a
 * channel, where they come by no stream of their own, a question is taken for
 * that of the oldest call. While two run, it may be the other's. Between calls
 * of one client, or of one key, that is a matter of taste; but clients who are
 * known by no more than where they come from may be two people, and one would
 * be asked what the other was to be. So of theirs, if they can be asked at all,
 * one runs at a time, and the others wait for their turn.
 *
 * Who comes back with an answer never waits: a server that does one thing after
 * the other would wait for it, and so would the call that runs. Then two may
 * run after all, and a question that comes meanwhile is refused: better that
 * than to ask the wrong one.
 */
#ifndef FL_GATEWAY_SOLO_H
#define FL_GATEWAY_SOLO_H

#include "gateway/back.h"

/* Whether a request on its way to the server must wait for another's end. */
bool fl_solo_must_wait(const fl_errand *errand, const fl_msg *msg);

/* No call that may ask its client is running. */
bool fl_solo_is_free(const fl_back *back);

/* Several are, and a question that names none of them may be about any. */
bool fl_solo_is_unclear(const fl_back *back);

/* A call has ended, or its client has gone for an answer: whoever waits for a
 * turn gets one, soon. */
void fl_solo_pass(fl_back *back);

#endif
