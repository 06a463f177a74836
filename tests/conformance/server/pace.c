/*
 * pace.c - handlers that take their time, in steps.
 *
 * A timer that is under way cannot be called back. So when the client cancels
 * (or leaves), the call is answered at once and forgotten here, and the timer
 * finds out by itself that there is nothing left to do. And no timer is a long
 * one: a loop does not end before they all have.
 */
#include "fixture.h"

#include <stdlib.h>

enum { NAP_MS = 100 };

struct walk {
    fl_call *call; /* NULL: cancelled */
    step_fn *step;
    uint64_t ms;
    uint64_t left; /* until the next step */
    unsigned done;
};

static void on_cancel(fl_call *call, void *user)
{
    struct walk *walk = user;

    walk->call = NULL;
    fl_call_fail(call, "cancelled");
}

/* Whether there is more to come. */
static bool advance(struct walk *walk)
{
    if (walk->left > 0)
        return true;
    walk->left = walk->ms;
    return !walk->step(walk->call, walk->done++);
}

static void go_on(void *user)
{
    struct walk *walk = user;
    fl_call *call = walk->call;

    if (call != NULL && advance(walk)) {
        uint64_t nap = walk->left < NAP_MS ? walk->left : NAP_MS;
        walk->left -= nap;
        if (fl_loop_after(fl_call_loop(call), nap, go_on, walk) == FL_OK)
            return;
        fl_call_fail(call, "out of memory");
    }
    free(walk);
}

void pace(fl_call *call, uint64_t ms, step_fn *step)
{
    if (call == NULL)
        return;
    struct walk *walk = calloc(1, sizeof *walk);
    if (walk == NULL) {
        fl_call_fail(call, "out of memory");
        return;
    }
    *walk = (struct walk){.call = call, .step = step, .ms = ms};
    fl_call_on_cancel(call, on_cancel, walk);
    go_on(walk);
}
