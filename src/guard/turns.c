/*
 * turns.c - whose turn is it, among several with weights.
 */
#include "guard/turns.h"

size_t fl_turns_next(fl_turn *const *turns, size_t count)
{
    int64_t earned = 0;
    size_t most = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t weight = turns[i]->weight > 0 ? turns[i]->weight : 1;
        earned += weight;
        turns[i]->credit += weight;
        if (turns[i]->credit > turns[most]->credit)
            most = i;
    }
    turns[most]->credit -= earned;
    return most;
}
