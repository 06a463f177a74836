/*
 * verbosity.c - how much of its log a legacy server is to tell.
 *
 * A log message names no request. Of those of the client it is for (whose.h)
 * it goes to the oldest in flight that wants a log at all.
 */
#include "gateway/verbosity.h"

#include "base/span.h"
#include "gateway/gateway.h"
#include "gateway/legacy.h"
#include "gateway/route.h"
#include "io/loop.h"
#include "server/levels.h"
#include "json/nav.h"

#include <stdio.h>

static bool level_of(const fl_errand *errand, fl_level *level)
{
    return errand->own == NULL && errand->msg != NULL &&
           !errand->asker.revision->legacy &&
           fl_levels_read(errand->msg->inner.claim.log_level, level) == FL_OK;
}

static void on_set(void *user, const fl_msg *msg, const fl_error *why)
{
    fl_back *back = user;

    if (why == NULL && msg->kind == FL_MSG_ERROR)
        fl_log_say(fl_loop_log(back->route->gateway->loop), FL_LOG_WARN,
                   "the server refused a log level",
                   fl_log_text("error", msg->error));
}

static void set(fl_back *back, fl_level level)
{
    char params[48];
    int n = snprintf(params, sizeof params, "{\"level\":\"%s\"}",
                     fl_levels_name(level));

    if (fl_back_ask(back, FL_METHOD_SET_LEVEL, (fl_span){params, (size_t)n},
                    on_set, back, NULL) != FL_OK)
        return; /* the next request tries again */
    back->level = level;
    back->has_level = true;
}

/* The most verbose that anybody wants who is there; the least there is if
 * nobody does. */
static fl_level wanted(const fl_back *back)
{
    const fl_list *lists[] = {&back->sent, &back->parked};
    fl_level lowest = FL_LEVEL_EMERGENCY, level;

    for (size_t i = 0; i < 2; i++)
        for (fl_list *node = lists[i]->next; node != lists[i];
             node = node->next)
            if (level_of(FL_LIST_ENTRY(node, fl_errand, by_back), &level) &&
                level < lowest)
                lowest = level;
    for (fl_list *node = back->fronts.next; node != &back->fronts;
         node = node->next) {
        const fl_front *front = FL_LIST_ENTRY(node, fl_front, by_back);
        if (front->wants_log && front->log_level < lowest)
            lowest = (fl_level)front->log_level;
    }
    return lowest;
}

static void on_timer(fl_timer *timer)
{
    fl_back *back = FL_LIST_ENTRY(timer, fl_legacy, verbosity.timer)->back;
    fl_level level = wanted(back);

    if (!back->has_level || !fl_back_is_ready(back))
        return;
    if (level > back->level)
        set(back, level);
    if (back->level < FL_LEVEL_EMERGENCY)
        fl_timer_start(timer, FL_VERBOSITY_IDLE_MS);
}

void fl_verbosity_init(fl_verbosity *verbosity, fl_back *back)
{
    fl_timer_init(&verbosity->timer, back->route->gateway->loop, on_timer);
}

void fl_verbosity_deinit(fl_verbosity *verbosity)
{
    fl_timer_stop(&verbosity->timer);
}

void fl_verbosity_want(fl_errand *errand)
{
    fl_back *back = errand->back;
    fl_level level;

    if (!level_of(errand, &level) || back->legacy == NULL ||
        !fl_legacy_has(back, "logging", NULL))
        return;
    if (!back->has_level || level < back->level)
        set(back, level);
    fl_timer_start(&back->legacy->verbosity.timer, FL_VERBOSITY_IDLE_MS);
}

/* The one on whose stream it came, if that is known; else the oldest. */
static fl_errand *choose(const fl_errand *of, fl_level *level)
{
    const fl_back *back = of->back;
    fl_errand *oldest = NULL, *about = fl_back_about(back);
    fl_level its;

    if (about != NULL)
        return about->state == FL_ERRAND_SENT && level_of(about, level) ? about
                                                                        : NULL;
    for (fl_list *node = back->sent.next; node != &back->sent;
         node = node->next) {
        fl_errand *errand = FL_LIST_ENTRY(node, fl_errand, by_back);
        if (errand->number != 0 && errand->asker.front == of->asker.front &&
            level_of(errand, &its) &&
            (oldest == NULL || errand->number < oldest->number)) {
            oldest = errand;
            *level = its;
        }
    }
    return oldest;
}

void fl_verbosity_hear(fl_errand *of, const fl_msg *msg)
{
    fl_level wanted_level = FL_LEVEL_EMERGENCY, level;
    fl_errand *errand = choose(of, &wanted_level);

    if (errand == NULL ||
        fl_levels_read(fl_json_get(msg->params, FL_SPAN("level")), &level) !=
            FL_OK ||
        level < wanted_level)
        return;
    fl_front_missed(errand->back->route, fl_errand_tell(errand, &msg->text, 1));
}
