/*
 * back_lose.c - requests that will not be answered where they are.
 *
 * What changes nothing is asked once more; of the rest nobody knows whether it
 * has run, so its client is told, with what the server said last.
 */
#include "gateway/cells.h"
#include "gateway/gateway.h"
#include "gateway/park.h"
#include "gateway/route.h"
#include "io/loop.h"

void fl_back_set_aside(fl_errand *errand)
{
    if (errand->number != 0)
        fl_numbers_remove(&errand->back->numbers, errand->number);
    errand->number = 0;
    errand->state = FL_ERRAND_WAITING;
    fl_list_remove(&errand->by_back);
}

/* Its number is void; it may be asked again. */
void fl_back_take_back(fl_errand *errand)
{
    fl_back_set_aside(errand);
    errand->tries += errand->again;
    errand->again = true;
    fl_list_append(&errand->back->waiting, &errand->by_back);
}

/* Twice is enough at a place where it comes to nothing. But one that was on its
 * way to where nobody is any more has had no second chance yet. */
static bool can_repeat(const fl_errand *errand)
{
    const fl_back *back = errand->back;
    bool moves =
        back->moving && errand->tries < back->route->upstream.connect_attempts;

    return (!errand->again || moves) && errand->msg != NULL &&
           errand->state != FL_ERRAND_PARKED &&
           fl_method_is(errand->method, FL_METHOD_SAFE);
}

static void fail_own(fl_errand *errand, const fl_error *why)
{
    fl_own_fn *own = errand->own;
    void *user = errand->user;

    fl_errand_drop(errand);
    own(user, NULL, why);
}

void fl_back_fail_with(fl_errand *errand, const fl_error *why, fl_span data,
                       unsigned retry_s)
{
    fl_asker asker = errand->asker;

    if (errand->own != NULL) {
        fail_own(errand, why);
        return;
    }
    if (errand->state == FL_ERRAND_PARKED) {
        fl_to_legacy_lost(errand, why);
        return;
    }
    bool opening = errand->method == FL_METHOD_INITIALIZE;
    asker.retry_s = retry_s;
    fl_gateway_refuse_with(&asker, errand->id, why, data);
    fl_errand_drop(errand);
    if (opening)
        fl_front_unwelcome(asker.front);
}

void fl_back_fail(fl_errand *errand, const fl_error *why)
{
    fl_span words = fl_buf_view(&errand->back->words);
    fl_error hushed = *why;

    if (fl_whose_words(errand)) {
        fl_back_fail_with(errand, why, words, 0);
        return;
    }
    fl_whose_hush(&hushed);
    fl_back_fail_with(errand, &hushed, (fl_span){0}, 0);
}

static void lose_parked(fl_back *back, const fl_error *why)
{
    fl_list lost, *node;

    fl_list_move(&lost, &back->parked);
    while ((node = fl_list_take(&lost)) != NULL) {
        fl_list_append(&back->parked, node);
        fl_to_legacy_lost(FL_LIST_ENTRY(node, fl_errand, by_back), why);
    }
}

/* It is not with the server, and goes there when its timer says so. */
static bool is_held(const fl_errand *errand)
{
    return errand->number == 0 && errand->park != NULL &&
           errand->park->stage == FL_PARK_HELD;
}

/* What was sent will not be answered. */
void fl_back_lose_sent(fl_back *back, const fl_error *why)
{
    fl_list lost;

    fl_list_move(&lost, &back->sent);
    while (!fl_list_empty(&lost)) {
        fl_errand *errand = FL_LIST_ENTRY(lost.next, fl_errand, by_back);
        if (is_held(errand) && !back->closing) {
            fl_list_remove(&errand->by_back);
            fl_list_append(&back->sent, &errand->by_back);
        } else if (can_repeat(errand) && !back->closing)
            fl_back_take_back(errand);
        else
            fl_back_fail(errand, why);
    }
    lose_parked(back, why);
}

void fl_back_lose(fl_errand *errand, const fl_error *why)
{
    if (can_repeat(errand) && !errand->back->closing) {
        fl_back *back = errand->back;
        fl_back_take_back(errand);
        if (!fl_back_divert(errand))
            fl_back_carry_waiting(back);
    } else {
        fl_back_fail(errand, why);
    }
}

void fl_back_carry_again(fl_errand *errand)
{
    fl_back *back = errand->back;

    if (back->closing) {
        fl_back_fail(errand, &back->why);
        return;
    }
    errand->seen_ms = fl_loop_now(back->route->gateway->loop);
    fl_list_append(&back->waiting, &errand->by_back);
    fl_back_watch_time(back);
    fl_back_carry_waiting(back);
}

void fl_back_fail_waiting(fl_back *back, const fl_error *why)
{
    fl_list lost;

    fl_list_move(&lost, &back->waiting);
    while (!fl_list_empty(&lost))
        fl_back_fail(FL_LIST_ENTRY(lost.next, fl_errand, by_back), why);
}
