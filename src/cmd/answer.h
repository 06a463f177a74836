/*
 * answer.h - what a server wants to know of the user, asked on his terminal.
 */
#ifndef FL_CMD_ANSWER_H
#define FL_CMD_ANSWER_H

#include "cmd/term.h"

#include <fairlead/client.h>

typedef struct fl_answerer {
    fl_term term;               /* where it is shown */
    int in;                     /* where the answers are typed */
    bool accept_defaults;       /* nobody is asked */
    bool decline;               /* likewise */
    const char *const *answers; /* FIELD=VALUE, NULL-terminated; the rest is
                                   left to its defaults. None: NULL */
} fl_answerer;

/* Whether there is anybody to ask, or a word about it: otherwise the server is
 * not told that it may. */
bool fl_answerer_can(const fl_answerer *answerer);

/* Each answers the ask before it returns. What the user types is waited for,
 * and meanwhile nothing else happens; an interrupt cancels. */
void fl_answer_form(const fl_answerer *answerer, fl_ask *ask);
void fl_answer_url(const fl_answerer *answerer, fl_ask *ask);

#endif
