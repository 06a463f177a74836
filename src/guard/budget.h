/*
 * budget.h - how many bytes may be held for others at one time (A4).
 *
 * Whoever keeps a peer's bytes takes them from a budget first and gives them
 * back later. Past the maximum new work is refused, so that old work does not
 * suffer; past the reserve (the last eighth) only work that is under way may
 * take more.
 */
#ifndef FL_GUARD_BUDGET_H
#define FL_GUARD_BUDGET_H

#include <fairlead/types.h>

typedef struct fl_budget {
    size_t max;
    size_t used;
    size_t peak;
} fl_budget;

static inline void fl_budget_init(fl_budget *budget, size_t max)
{
    *budget = (fl_budget){.max = max};
}

/* False: refused, nothing was taken. */
bool fl_budget_take(fl_budget *budget, size_t bytes, bool under_way);
/* For what is there already, and cannot be refused any more. */
void fl_budget_charge(fl_budget *budget, size_t bytes);
void fl_budget_give(fl_budget *budget, size_t bytes);

/* Whether work that is new may begin. */
bool fl_budget_open(const fl_budget *budget);

#endif
