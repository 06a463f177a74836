/*
 * matrix_table.h - what becomes of each feature between a client and a server
 * of any two revisions, as data.
 *
 * Every cell is proven: by the fact "FEATURE: CLIENT to SERVER" that
 * tests/gateway/test_pairs.py establishes for it, and by the cases named here.
 * tests/gateway/test_matrix.py holds the table to that.
 */
#ifndef FL_CMD_MATRIX_TABLE_H
#define FL_CMD_MATRIX_TABLE_H

#include "rpc/revision.h"

typedef enum fl_outcome {
    FL_OUTCOME_NONE,        /* who would begin it does not have it */
    FL_OUTCOME_CARRIED,     /* both have it, and it is passed on */
    FL_OUTCOME_SYNTHESISED, /* one has it not, or in another shape: it is made
                               of what there is */
    FL_OUTCOME_LOST,        /* it does not get through */
    FL_OUTCOMES,
} fl_outcome;

enum { FL_MATRIX_PROOFS = 5 };

/* Holds for clients and servers from one revision to another. */
typedef struct fl_matrix_rule {
    fl_revision_id client_from, client_to;
    fl_revision_id server_from, server_to;
    fl_outcome outcome;
    const char *why;
    const char *proofs[FL_MATRIX_PROOFS]; /* beside the pair's own; NULL ends
                                             them */
} fl_matrix_rule;

typedef struct fl_matrix_feature {
    const char *name; /* as on the command line */
    const char *what; /* for people */
    const fl_matrix_rule *rules;
    size_t count;
} fl_matrix_feature;

/* Ends with a name that is NULL. */
const fl_matrix_feature *fl_matrix_features(void);

/* The first rule that holds; never NULL. */
const fl_matrix_rule *fl_matrix_find(const fl_matrix_feature *feature,
                                     fl_revision_id client,
                                     fl_revision_id server);

#endif
