/*
 * budget.c - how many bytes may be held for others at one time.
 *
 * The reserve is what lets a loaded server finish what it began: newcomers are
 * turned away while an eighth is still free, and that eighth belongs to work
 * that is under way.
 */
#include "guard/budget.h"

#include <assert.h>

enum { RESERVE_PART = 8 };

static size_t limit_of(const fl_budget *budget, bool under_way)
{
    return under_way ? budget->max : budget->max - budget->max / RESERVE_PART;
}

bool fl_budget_take(fl_budget *budget, size_t bytes, bool under_way)
{
    size_t limit = limit_of(budget, under_way);

    if (budget->used > limit || bytes > limit - budget->used)
        return false;
    budget->used += bytes;
    if (budget->used > budget->peak)
        budget->peak = budget->used;
    return true;
}

void fl_budget_charge(fl_budget *budget, size_t bytes)
{
    budget->used += bytes;
    if (budget->used > budget->peak)
        budget->peak = budget->used;
}

void fl_budget_give(fl_budget *budget, size_t bytes)
{
    assert(bytes <= budget->used);
    budget->used -= bytes;
}

bool fl_budget_open(const fl_budget *budget)
{
    return budget->used < limit_of(budget, false);
}
