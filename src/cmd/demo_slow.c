/*
 * demo_slow.c - the tool that takes its time.
 *
 * The pattern for any tool that cannot answer at once: defer the call, keep a
 * small struct beside it, go on from a timer, and when the client cancels (or
 * goes away) stop whatever is running and answer right then. There is one
 * place that ends it, whoever got there first.
 */
#include "cmd/demo.h"

#include "base/mem.h"
#include "io/timer.h"

#include <inttypes.h>
#include <stdio.h>

enum { STEPS = 5, STEPS_MAX = 10000, DELAY_MS = 200, DELAY_MAX_MS = 60000 };

struct slow {
    fl_call *call;
    fl_timer timer;
    int64_t steps;
    int64_t done;
    uint64_t delay_ms;
};

static void finish(struct slow *slow)
{
    fl_call *call = slow->call;
    int64_t done = slow->done, steps = slow->steps;

    fl_timer_stop(&slow->timer);
    fl_mem_free(slow);
    if (done < steps)
        fl_call_fail(call, "cancelled after %" PRId64 " of %" PRId64 " steps",
                     done, steps);
    else
        fl_call_replyf(call, "done, in %" PRId64 " steps", steps);
}

static void step(fl_timer *timer)
{
    struct slow *slow = FL_LIST_ENTRY(timer, struct slow, timer);
    char message[64];

    slow->done++;
    snprintf(message, sizeof message, "step %" PRId64 " of %" PRId64,
             slow->done, slow->steps);
    fl_call_progress(slow->call, (double)slow->done, (double)slow->steps,
                     message);
    if (slow->done < slow->steps)
        fl_timer_start(timer, slow->delay_ms);
    else
        finish(slow);
}

static void on_cancel(fl_call *call, void *user)
{
    (void)call;
    finish(user);
}

static void start(fl_call *call, int64_t steps, int64_t delay_ms)
{
    struct slow *slow = fl_mem_zalloc(sizeof *slow);

    if (slow == NULL) {
        fl_call_fail(call, "out of memory");
        return;
    }
    *slow = (struct slow){.steps = steps, .delay_ms = (uint64_t)delay_ms};
    slow->call = fl_call_as_task(call, 0);
    if (slow->call == NULL) {
        fl_mem_free(slow);
        return;
    }
    fl_timer_init(&slow->timer, fl_call_loop(slow->call), step);
    fl_call_on_cancel(slow->call, on_cancel, slow);
    fl_timer_start(&slow->timer, slow->delay_ms);
}

static int64_t integer_or(fl_call *call, const char *key, int64_t normal)
{
    return fl_call_has(call, key) ? fl_call_integer(call, key) : normal;
}

/* An argument of the wrong type reads as 0: the call ends at once, or nearly,
 * and its answer names the argument. */
void fl_demo_slow(fl_call *call, void *user)
{
    int64_t steps = integer_or(call, "steps", STEPS);
    int64_t delay_ms = integer_or(call, "delay_ms", DELAY_MS);

    (void)user;
    if (steps < 0 || steps > STEPS_MAX)
        fl_call_fail(call, "steps: %" PRId64 " is out of range, want 0 to %d",
                     steps, STEPS_MAX);
    else if (delay_ms < 0 || delay_ms > DELAY_MAX_MS)
        fl_call_fail(call,
                     "delay_ms: %" PRId64 " is out of range, want 0 to %d",
                     delay_ms, DELAY_MAX_MS);
    else if (steps == 0)
        fl_call_replyf(call, "done, in 0 steps");
    else
        start(call, steps, delay_ms);
}
