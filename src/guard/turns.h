/*
 * turns.h - whose turn is it, among several with weights.
 *
 * Smooth weighted round robin: of weights 3 and 1 the turns are a a b a, not
 * a a a b. Each time everybody earns his weight, who has most is chosen, and
 * pays what all have earned. Nothing is left to chance: the same weights give
 * the same turns, and over as many turns as the weights add up to each has
 * exactly its share.
 */
#ifndef FL_GUARD_TURNS_H
#define FL_GUARD_TURNS_H

#include <fairlead/types.h>

/* Owned by whoever embeds it: set the weight, the rest is 0. */
typedef struct fl_turn {
    unsigned weight; /* 0 counts as 1 */
    int64_t credit;
} fl_turn;

/* The index of the one whose turn it is; `count` is 1 or more. Who is not
 * among them neither earns nor pays. */
size_t fl_turns_next(fl_turn *const *turns, size_t count);

#endif
