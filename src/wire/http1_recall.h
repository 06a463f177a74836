/*
 * http1_recall.h - how the last head began, for the next that begins like it.
 *
 * Clients say much the same in every head, and nearly all of one server's say
 * the same at its start. As far as the bytes are those of the head before, so
 * is what they mean: those lines are taken over, and the reading begins where
 * the two part.
 *
 * One is shared by all connections of a listener, so nothing is kept that is
 * one client's own: the beginning ends before the first field that could be a
 * secret, or that we do not know, and a target with a query is not learnt at
 * all. No time it takes can tell of such a one.
 */
#ifndef FL_WIRE_HTTP1_RECALL_H
#define FL_WIRE_HTTP1_RECALL_H

#include "wire/http1_head.h"

enum {
    FL_HTTP1_RECALL_TEXT = 768,
    FL_HTTP1_RECALL_FIELDS = 16,
};

/* Zeroes to begin with. */
struct fl_http_recall {
    size_t size; /* of the text: whole lines; 0: nothing is known */
    unsigned version;
    fl_span method; /* this and all that follows points into it */
    fl_span target;
    unsigned count;
    fl_field fields[FL_HTTP1_RECALL_FIELDS];
    char text[FL_HTTP1_RECALL_TEXT];
};

/* Fills in of `message`, which is empty, what `bytes` have in common with what
 * is known (limits->recall), as far as the limits allow it, and sets `mark`
 * behind it. Whole lines only; it may be none. */
void fl_http1_recall_use(const fl_http_limits *limits, fl_span bytes,
                         fl_http1_message *message, fl_http1_mark *mark);

/* Learns the beginning of a request that was read from `bytes`, of which `used`
 * fields were known. */
void fl_http1_recall_learn(fl_http_recall *recall, fl_span bytes,
                           const fl_http1_message *message, unsigned used);

#endif
