/*
 * edges.h - which request a response is to that is too long to be read, from
 * its first bytes and its last.
 *
 * Some peers write the id before the result, some after it. What is between
 * the edges is never looked at, so they are read with care: from the first
 * brace on, and back from the last.
 */
#ifndef FL_RPC_EDGES_H
#define FL_RPC_EDGES_H

#include <fairlead/types.h>

enum { FL_EDGE = 256 };

typedef struct fl_edges {
    char start[FL_EDGE], end[FL_EDGE];
    size_t start_len, end_len;
} fl_edges;

/* More of the text: the first of it, and the last so far. */
void fl_edges_add(fl_edges *edges, fl_span text);

/* The number of the request; 0: it cannot be told, or it is no response. */
uint64_t fl_edges_answers(const fl_edges *edges);

#endif
