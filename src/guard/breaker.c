/*
 * breaker.c - when to stop asking somebody who does not answer.
 */
#include "guard/breaker.h"

static void enter(fl_breaker *breaker, fl_breaker_state state, uint64_t now_ms)
{
    breaker->state = state;
    breaker->since_ms = now_ms;
    breaker->failed = 0;
    breaker->relented = false;
}

bool fl_breaker_would(const fl_breaker *breaker, uint64_t now_ms,
                      uint64_t *wait_ms)
{
    uint64_t passed = now_ms - breaker->since_ms;
    bool would = breaker->state == FL_BREAKER_CLOSED || breaker->relented ||
                 passed >= breaker->pause_ms;

    *wait_ms = would ? 0 : breaker->pause_ms - passed;
    return would;
}

bool fl_breaker_allow(fl_breaker *breaker, uint64_t now_ms, uint64_t *wait_ms)
{
    if (!fl_breaker_would(breaker, now_ms, wait_ms))
        return false;
    if (breaker->state != FL_BREAKER_CLOSED)
        enter(breaker, FL_BREAKER_HALF, now_ms);
    return true;
}

void fl_breaker_relent(fl_breaker *breaker)
{
    breaker->relented = breaker->state == FL_BREAKER_OPEN;
}

/* While it is open an answer is a late one, and yet an answer. */
void fl_breaker_succeed(fl_breaker *breaker)
{
    breaker->state = FL_BREAKER_CLOSED;
    breaker->failed = 0;
    breaker->relented = false;
}

void fl_breaker_fail(fl_breaker *breaker, uint64_t now_ms)
{
    if (breaker->failures == 0 || breaker->state == FL_BREAKER_OPEN)
        return; /* what was under way when it opened is no news */
    if (breaker->state == FL_BREAKER_HALF) {
        enter(breaker, FL_BREAKER_OPEN, now_ms);
        return;
    }
    if (breaker->failed == 0 ||
        now_ms - breaker->since_ms > breaker->window_ms) {
        breaker->failed = 0;
        breaker->since_ms = now_ms;
    }
    if (++breaker->failed >= breaker->failures)
        enter(breaker, FL_BREAKER_OPEN, now_ms);
}
