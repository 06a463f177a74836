/*
 * back_time.c - how long a request waits: for its answer, and for a server
 * that is not there.
 *
 * Both lists are kept by when their errands were heard of last, so the first
 * of each is the first to be late. One timer runs to the earlier of the two.
 */
#include "base/span.h"
#include "base/status.h"
#include "gateway/gateway.h"
#include "gateway/route.h"
#include "io/loop.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t now_of(const fl_back *back)
{
    return fl_loop_now(back->route->gateway->loop);
}

bool fl_back_is_out(const fl_back *back)
{
    return !fl_back_is_ready(back) || fl_timer_running(&back->hold);
}

bool fl_back_is_reached(const fl_back *back)
{
    const fl_link *link = back->lane != NULL ? fl_lane_link(back->lane) : NULL;

    return link != NULL && link->state == FL_LINK_ACTIVE;
}

/* For what waits, and for what was sent. */
static uint64_t patience_of(const fl_back *back, const fl_list *list)
{
    const fl_upstream *upstream = &back->route->upstream;

    return list == &back->waiting && fl_back_is_out(back) &&
                   upstream->queue_ms < upstream->timeout_ms
               ? upstream->queue_ms
               : upstream->timeout_ms;
}

static uint64_t due_in(const fl_back *back, uint64_t now)
{
    uint64_t first = UINT64_MAX;
    const fl_list *lists[] = {&back->waiting, &back->sent};

    for (size_t i = 0; i < 2; i++)
        if (!fl_list_empty(lists[i])) {
            uint64_t due =
                FL_LIST_ENTRY(lists[i]->next, fl_errand, by_back)->seen_ms +
                patience_of(back, lists[i]);
            first = due < first ? due : first;
        }
    return first == UINT64_MAX ? first : first > now ? first - now : 1;
}

/* What was waited for in vain: one that never was there cannot come back. */
static const char *failing_of(const fl_back *back)
{
    if (fl_back_is_reached(back) && !fl_back_is_ready(back))
        return "has not answered initialize";
    return back->revision == NULL ? "could not be reached"
                                  : "did not come back";
}

/* It was not even sent. */
static void expire_queued(fl_errand *errand)
{
    const fl_back *back = errand->back;
    const fl_error *last = &back->replica->health.why;
    uint64_t waited = now_of(back) - errand->seen_ms;
    char data[64];
    fl_error why;

    fl_error_set(&why, FL_BUSY,
                 "Upstream unavailable: it %s within %" PRIu64
                 ".%03u s (queue time)%s%s",
                 failing_of(back), waited / 1000, (unsigned)(waited % 1000),
                 last->status != FL_OK ? "; last: " : "",
                 last->status != FL_OK ? last->text : "");
    int n = snprintf(data, sizeof data,
                     "{\"queueTime\":%" PRIu64 ",\"retryAfter\":1}",
                     back->route->upstream.queue_ms);
    fl_back_fail_with(errand, &why, (fl_span){data, (size_t)n}, 1);
}

/* One that speaks is at work on something else, or on this; and what a client
 * asks of a conversation of its own is no reason to refuse others. */
static bool is_the_servers(const fl_errand *errand)
{
    const fl_back *back = errand->back;

    return !fl_back_is_private(back) && back->heard_ms <= errand->seen_ms;
}

static void expire(fl_errand *errand)
{
    fl_error why;

    if (errand->state == FL_ERRAND_WAITING && errand->own == NULL &&
        fl_back_is_out(errand->back)) {
        expire_queued(errand);
        return;
    }
    if (errand->in_turn) { /* for another call: the server is at work */
        fl_error_set(&why, FL_E_TIMEOUT,
                     "Upstream timeout: another call of this address has not "
                     "ended, and they run one at a time");
        fl_back_fail(errand, &why);
        return;
    }
    fl_error_set(&why, FL_E_TIMEOUT, "Upstream timeout");
    if (is_the_servers(errand))
        fl_health_failed(errand->back->replica, &why);
    fl_back_call_off(errand, FL_SPAN("\"timeout\""));
    fl_back_fail(errand, &why);
}

/* Others wait for a client, or until somebody has heard enough. */
static bool is_timed(const fl_errand *errand)
{
    return !errand->standing && errand->state != FL_ERRAND_PARKED;
}

static void expire_late(fl_back *back, fl_list *list, uint64_t now)
{
    uint64_t patience = patience_of(back, list);

    while (!fl_list_empty(list)) {
        fl_errand *errand = FL_LIST_ENTRY(list->next, fl_errand, by_back);
        if (now - errand->seen_ms < patience)
            return;
        if (is_timed(errand)) {
            expire(errand);
            continue;
        }
        errand->seen_ms = now;
        fl_list_remove(&errand->by_back);
        fl_list_append(list, &errand->by_back);
    }
}

void fl_back_expire(fl_back *back)
{
    uint64_t now = now_of(back);

    expire_late(back, &back->sent, now);
    expire_late(back, &back->waiting, now);
}

void fl_back_watch_time(fl_back *back)
{
    uint64_t now = now_of(back), in = due_in(back, now);

    if (in == UINT64_MAX ||
        (fl_timer_running(&back->timer) && back->due_ms <= now + in))
        return;
    back->due_ms = now + in;
    fl_timer_start(&back->timer, in);
}
