/*
 * hellos.h - what a server has said of itself, for those who come while it is
 * not there.
 *
 * A child may take a minute to boot, and hosts give up on an initialize that
 * takes that long. What it said the last time it will say again: the client is
 * told that at once, and what it asks next waits for the child.
 *
 * A legacy server may say another thing to each revision it is offered, so
 * that is what it is kept by; a modern one says the same to all.
 */
#ifndef FL_GATEWAY_HELLOS_H
#define FL_GATEWAY_HELLOS_H

#include "base/buf.h"
#include "rpc/revision.h"

enum { FL_HELLOS = FL_REVISION_2026_07_28 + 1 };

typedef struct fl_hello {
    const fl_revision *revision; /* that was agreed on; NULL: nothing was */
    fl_buf said;                 /* InitializeResult or DiscoverResult */
} fl_hello;

/* Owned by the route; zeroed memory holds none. Fields are private to
 * hellos.c. */
typedef struct fl_hellos {
    fl_hello by_offer[FL_HELLOS];
} fl_hellos;

void fl_hellos_deinit(fl_hellos *hellos);

/* `offered` NULL: the newest. Without memory nothing is kept. */
void fl_hellos_learn(fl_hellos *hellos, const fl_revision *offered,
                     const fl_revision *revision, fl_span said);

/* NULL: it is not known. */
const fl_hello *fl_hellos_find(const fl_hellos *hellos,
                               const fl_revision *offered);

#endif
